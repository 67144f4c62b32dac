"""A training's whole state as a checkpoint: model, optimizer, scheduler and whatever else, sharded
or not.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from headway import _session as worker_session
from headway._checkpoint.checkpoint import Checkpoint
from headway._values.arguments import refuse
from headway.train.torch.model import unwrap_model

if TYPE_CHECKING:
    import torch

_MODEL = "model.pt"
_OPTIMIZER = "optimizer.pt"
_STATE = "state.pt"
_SHARDS = "shards"  # What torch.distributed.checkpoint writes, for sharded models.


def save_checkpoint(
    folder: str | os.PathLike[str],
    *,
    model: torch.nn.Module | None = None,
    optimizer: torch.optim.Optimizer | None = None,
    scheduler: Any = None,
    **state: Any,
) -> Checkpoint | None:
    """Writes a training's state into a folder, for ``report``. All ranks call it, whatever the
    model is.

    The model decides who writes. A plain model and one wrapped in DDP are written by rank 0. A
    model that FSDP or ``fully_shard`` has sharded is written by all ranks, each its own shards, by
    ``torch.distributed.checkpoint``; no rank ever holds the whole model. :func:`load_checkpoint`
    reads both kinds into both kinds of models, with any number of ranks.

    Args:
        folder: An existing directory of this rank.
        model: The model, as ``prepare_model`` returned it or before. ``model.pt`` has the names of
            the model itself, without DDP's prefix, so ``TorchCheckpoint.get_model`` reads it too
            (unless it is sharded).
        optimizer: Its optimizer.
        scheduler: A learning-rate scheduler, or anything else with ``state_dict``.
        **state: Whatever else belongs to it, such as ``epoch=3``. Of objects with ``state_dict`` (a
            ``GradScaler``, an averaged model) that is saved, of others the value, pickled.

    Returns:
        The checkpoint to report, or None in a rank that has written nothing.

    Raises:
        RuntimeError: called outside of a training function.
        TypeError: a bad argument, named.

    Example:
        >>> from headway import train
        >>> from headway.train.torch import save_checkpoint
        >>> def loop():
        ...     with tempfile.TemporaryDirectory() as folder:
        ...         saved = save_checkpoint(folder, model=model, optimizer=optimizer, epoch=epoch)
        ...         train.report({"loss": loss}, checkpoint=saved)
    """
    context = worker_session.current("save_checkpoint()").context
    import torch

    folder = _directory(folder)
    _check(model, optimizer, scheduler)
    sharded = model is not None and _is_sharded(model)
    first = context["plan"]["rank"] == 0
    if sharded:
        _save_shards(os.path.join(folder, _SHARDS), model, optimizer)
    if not first:
        return Checkpoint.from_directory(folder) if sharded else None
    if not sharded:
        if model is not None:
            torch.save(unwrap_model(model).state_dict(), os.path.join(folder, _MODEL))
        if optimizer is not None:
            names = _names_of(optimizer, model) if model is not None else None
            torch.save({"state": optimizer.state_dict(), "names": names}, os.path.join(folder, _OPTIMIZER))
    values = {"scheduler": scheduler, **state} if scheduler is not None else state
    torch.save({name: _state_of(value) for name, value in values.items()}, os.path.join(folder, _STATE))
    return Checkpoint.from_directory(folder)


def load_checkpoint(
    checkpoint: Checkpoint | str | os.PathLike[str] | None,
    *,
    model: torch.nn.Module | None = None,
    optimizer: torch.optim.Optimizer | None = None,
    scheduler: Any = None,
    **state: Any,
) -> dict[str, Any]:
    """Loads what :func:`save_checkpoint` wrote into a model, an optimizer and whatever else is
    named.

    All ranks call it, with any number of ranks and any strategy: a checkpoint of two ranks under
    FSDP loads into four, or into a plain model in one process outside of a training function.

    Args:
        checkpoint: What ``train.get_checkpoint()`` returned, or a checkpoint's directory. None:
            nothing is loaded.
        model: The model, as ``prepare_model`` returned it.
        optimizer: Its optimizer, made after ``prepare_model``.
        scheduler: The scheduler, or whatever was saved as one.
        **state: Objects with ``load_state_dict`` by the names under which they were saved.

    Returns:
        The values that were saved under other names, such as ``{"epoch": 3}``; empty when
        ``checkpoint`` is None.

    Raises:
        TypeError: a bad argument, named.
        KeyError: something is to be loaded that the checkpoint does not have; the message lists
            what it has.
        RuntimeError: a file is damaged, and named (of shards the folder); or parameters of another
            name or shape, as ``load_state_dict`` raises it.

    Note:
        Values are unpickled: open only checkpoints that you trust.

    Example:
        >>> from headway import train
        >>> from headway.train.torch import load_checkpoint
        >>> def loop():
        ...     saved = load_checkpoint(train.get_checkpoint(), model=model, optimizer=optimizer)
        ...     for epoch in range(saved.get("epoch", -1) + 1, 10):
        ...         ...
    """
    if checkpoint is None:
        return {}
    _check(model, optimizer, scheduler)
    targets = {"scheduler": scheduler, **state} if scheduler is not None else state
    for name, target in targets.items():
        if not hasattr(target, "load_state_dict"):
            refuse(name, target, "an object with load_state_dict")
    with _opened(checkpoint) as folder:
        if os.path.isdir(os.path.join(folder, _SHARDS)):
            _load_shards(os.path.join(folder, _SHARDS), model, optimizer)
        else:
            _load_whole(folder, model, optimizer)
        values = _read(folder, _STATE)
    for name, target in targets.items():
        if name not in values:
            raise _missing(name, values)
        target.load_state_dict(values.pop(name))
    return values


def _check(model: Any, optimizer: Any, scheduler: Any) -> None:
    import torch

    if model is not None and not isinstance(model, torch.nn.Module):
        refuse("model", model, "a torch.nn.Module")
    if optimizer is not None and not isinstance(optimizer, torch.optim.Optimizer):
        refuse("optimizer", optimizer, "a torch.optim.Optimizer")
    if scheduler is not None and not hasattr(scheduler, "state_dict"):
        refuse("scheduler", scheduler, "an object with state_dict")


def _directory(folder: Any) -> str:
    if not isinstance(folder, (str, os.PathLike)):
        refuse("folder", folder, "the path of a directory")
    path = os.fspath(folder)
    if not os.path.isdir(path):
        raise NotADirectoryError(f"folder is {path!r}, which is no directory")
    return path


@contextlib.contextmanager
def _opened(checkpoint: Any) -> Iterator[str]:
    if isinstance(checkpoint, Checkpoint):
        with checkpoint.as_directory() as folder:
            yield folder
    elif isinstance(checkpoint, (str, os.PathLike)):
        yield _directory(checkpoint)
    else:
        refuse("checkpoint", checkpoint, "a Checkpoint, the path of a directory or None")


def _is_sharded(model: torch.nn.Module) -> bool:
    from torch.distributed.fsdp import FullyShardedDataParallel

    return any(isinstance(module, FullyShardedDataParallel) for module in model.modules()) or any(
        hasattr(parameter, "full_tensor") for parameter in model.parameters()
    )


def _state_of(value: Any) -> Any:
    return value.state_dict() if hasattr(value, "state_dict") else value


def _read(folder: str, name: str) -> Any:
    import torch

    path = os.path.join(folder, name)
    try:
        return torch.load(path, map_location="cpu", weights_only=False)
    except (EOFError, RuntimeError, pickle.UnpicklingError) as error:
        raise RuntimeError(f"{path} cannot be read, it may be damaged: {error or type(error).__name__}") from error


def _missing(name: str, there: Any) -> KeyError:
    return KeyError(f"the checkpoint has no {name!r}; it has: {', '.join(sorted(there)) or 'nothing'}")


def _names_of(optimizer: Any, model: torch.nn.Module) -> list[str | None]:
    """The model's name of each of the optimizer's parameters, in the optimizer's order."""
    names = {id(parameter): name for name, parameter in unwrap_model(model).named_parameters()}
    return [names.get(id(parameter)) for group in optimizer.param_groups for parameter in group["params"]]


def _save_shards(folder: str, model: torch.nn.Module, optimizer: Any) -> None:
    from torch.distributed import checkpoint as sharded
    from torch.distributed.checkpoint.state_dict import get_model_state_dict, get_optimizer_state_dict

    parts: dict[str, Any] = {"model": get_model_state_dict(model)}
    if optimizer is not None:
        parts["optimizer"] = get_optimizer_state_dict(model, _plain(optimizer))
    # Each rank has a folder; the report brings their files together.
    os.makedirs(folder, exist_ok=True)
    sharded.save(parts, checkpoint_id=folder)


def _load_shards(folder: str, model: torch.nn.Module | None, optimizer: Any) -> None:
    from torch.distributed import checkpoint as sharded
    from torch.distributed.checkpoint import state_dict as parts_of

    there = {name.split(".")[0] for name in sharded.FileSystemReader(folder).read_metadata().state_dict_metadata}
    if model is None:
        if optimizer is not None:
            raise TypeError("model is None; the shards of an optimizer are loaded together with those of its model")
        return
    parts: dict[str, Any] = {"model": parts_of.get_model_state_dict(model)}
    if optimizer is not None:
        if "optimizer" not in there:
            raise _missing("optimizer", there)
        parts["optimizer"] = parts_of.get_optimizer_state_dict(model, _plain(optimizer))
    # Flattening drops the names of tensors of which a rank has no shard, which torch then takes for
    # an old format.
    try:
        with warnings.catch_warnings():
            # Without a process group, as in a validation, this process loads alone: that is meant.
            warnings.filterwarnings("ignore", "torch.distributed is disabled, unavailable or uninitialized")
            sharded.load(parts, checkpoint_id=folder, planner=sharded.DefaultLoadPlanner(flatten_sharded_tensors=False))
    except sharded.CheckpointException as error:  # A BaseException, with that of each rank.
        cause = next(iter(error.failures.values()))[0]
        raise RuntimeError(f"{folder} cannot be loaded: {cause}") from error
    parts_of.set_model_state_dict(model, parts["model"])
    if optimizer is not None:
        parts_of.set_optimizer_state_dict(model, _plain(optimizer), parts["optimizer"])


def _load_whole(folder: str, model: torch.nn.Module | None, optimizer: Any) -> None:
    from torch.distributed.checkpoint import state_dict as parts_of

    for given, name in ((model, _MODEL), (optimizer, _OPTIMIZER)):
        if given is not None and not os.path.exists(os.path.join(folder, name)):
            raise _missing(name.removesuffix(".pt"), [file.removesuffix(".pt") for file in os.listdir(folder)])
    sharded = model is not None and _is_sharded(model)
    whole = parts_of.StateDictOptions(full_state_dict=True)
    if model is not None and sharded:
        parts_of.set_model_state_dict(model, _read(folder, _MODEL), options=whole)
    elif model is not None:
        unwrap_model(model).load_state_dict(_read(folder, _MODEL))
    if optimizer is None:
        return
    saved = _read(folder, _OPTIMIZER)
    if sharded:
        by_name = _by_name(saved["state"], saved["names"])
        parts_of.set_optimizer_state_dict(model, _plain(optimizer), by_name, options=whole)
    else:
        optimizer.load_state_dict(saved["state"])


def _by_name(state: dict[str, Any], names: list[str | None] | None) -> dict[str, Any]:
    """An optimizer's state by the model's names instead of by numbers, as sharded models load
    it.
    """
    if names is None or None in names:
        raise ValueError(
            "the checkpoint's optimizer has parameters that its model does not have, so it cannot be sharded; "
            'load it with an unsharded model (parallel_strategy="ddp")'
        )
    return {
        "state": {names[number]: values for number, values in state["state"].items()},
        "param_groups": [
            {**group, "params": [names[number] for number in group["params"]]} for group in state["param_groups"]
        ],
    }


def _plain(optimizer: Any) -> Any:
    """The optimizer itself where ``prepare_optimizer`` has wrapped it."""
    return getattr(optimizer, "_optimizer", optimizer)
