"""Checkpoints of one model."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from headway._checkpoint.checkpoint import Checkpoint
from headway._checkpoint.dict_checkpoint import portable_state_dict
from headway._checkpoint.preprocessor import keep_preprocessor, kept_preprocessor
from headway._values.arguments import refuse

if TYPE_CHECKING:
    import torch


class TorchCheckpoint(Checkpoint):
    """A checkpoint that holds a model, or its parameters, in the file ``model.pt``.

    :meth:`from_model` and :meth:`from_state_dict` make a temporary directory. Whoever reports it
    hands it over with ``delete_local_checkpoint_after_upload=True``; else it is the caller's to
    remove.

    Example:
        >>> from headway import train
        >>> from headway.train.torch import TorchCheckpoint
        >>> def loop():
        ...     import torch
        ...     model = torch.nn.Linear(4, 1)
        ...     checkpoint = TorchCheckpoint.from_state_dict(model.state_dict())
        ...     train.report({}, checkpoint, delete_local_checkpoint_after_upload=True)
        ...     newest = train.get_checkpoint()
        ...     newest = TorchCheckpoint(newest.path, newest.filesystem)
        ...     model = newest.get_model(torch.nn.Linear(4, 1))
    """

    MODEL_FILENAME = "model.pt"

    @classmethod
    def from_state_dict(cls, state_dict: Mapping[str, Any], *, preprocessor: Any = None) -> TorchCheckpoint:
        """A checkpoint of a model's parameters and buffers.

        Args:
            state_dict: What ``model.state_dict()`` gives. That of a model which is wrapped for DDP
                is stored under the names that the model itself has, without ``module.``.
            preprocessor: What prepares data for the model; see :meth:`set_preprocessor`.

        Raises:
            TypeError: it is no mapping, or the preprocessor cannot be pickled.
        """
        if not isinstance(state_dict, Mapping):
            refuse("state_dict", state_dict, "what model.state_dict() gives")
        return cls._saved(portable_state_dict(state_dict), preprocessor)

    @classmethod
    def from_model(cls, model: torch.nn.Module, *, preprocessor: Any = None) -> TorchCheckpoint:
        """A checkpoint of a whole model, pickled: its class must be importable where it is loaded.

        Args:
            model: A model; one that ``prepare_model`` has wrapped for DDP is taken out of its
                wrapper.
            preprocessor: What prepares data for the model; see :meth:`set_preprocessor`.

        Raises:
            TypeError: it is no ``torch.nn.Module``, or the preprocessor cannot be pickled.
            ValueError: its parameters are spread over the ranks; ``torch.distributed.checkpoint``
                saves such a model.
        """
        import torch

        if not isinstance(model, torch.nn.Module):
            refuse("model", model, "a torch.nn.Module")
        if isinstance(model, torch.nn.parallel.DistributedDataParallel):
            model = model.module
        if _is_sharded(model):
            raise ValueError(
                f"model is a {type(model).__name__} whose parameters are spread over the ranks; allowed: a whole model "
                "(save this one with torch.distributed.checkpoint, or its full state dict with from_state_dict)"
            )
        return cls._saved(model, preprocessor)

    def set_preprocessor(self, preprocessor: Any) -> None:
        """Keeps what prepares data for the model in the checkpoint's metadata, pickled.

        Args:
            preprocessor: Any object that can be pickled, such as a fitted scaler. Keep it small.

        Raises:
            TypeError: it cannot be pickled.
        """
        keep_preprocessor(self, preprocessor)

    def get_preprocessor(self) -> Any:
        """What :meth:`set_preprocessor` has kept; None when there is nothing.

        Loading runs code that the metadata names: open only checkpoints that you trust.
        """
        return kept_preprocessor(self)

    def get_model(self, model: torch.nn.Module | None = None) -> torch.nn.Module:
        """The model, on the CPU. Loading runs code that the file names: open only checkpoints that
        you trust.

        Args:
            model: Takes over the checkpoint's parameters; needed for a checkpoint of
                :meth:`from_state_dict`.

        Returns:
            ``model``, or the stored one when None is given.

        Raises:
            FileNotFoundError: the checkpoint has no ``model.pt``.
            TypeError: ``model`` is no ``torch.nn.Module``.
            ValueError: the checkpoint has only parameters and ``model`` is None.
        """
        import torch

        if model is not None and not isinstance(model, torch.nn.Module):
            refuse("model", model, "a torch.nn.Module or None")
        with self.as_directory() as directory:
            path = os.path.join(directory, self.MODEL_FILENAME)
            if not os.path.isfile(path):
                raise FileNotFoundError(
                    f"{self!r} has no file {self.MODEL_FILENAME}; allowed: one of TorchCheckpoint's"
                )
            stored = torch.load(path, map_location="cpu", weights_only=False)
        if model is None:
            if not isinstance(stored, torch.nn.Module):
                raise ValueError(
                    f"model is None for {self!r}, which has only parameters; allowed: a model of their shape"
                )
            return stored
        wrapped = isinstance(model, torch.nn.parallel.DistributedDataParallel)
        state = stored.state_dict() if isinstance(stored, torch.nn.Module) else stored
        (model.module if wrapped else model).load_state_dict(portable_state_dict(state))
        return model

    @classmethod
    def _saved(cls, content: Any, preprocessor: Any) -> TorchCheckpoint:
        import torch

        directory = tempfile.mkdtemp(prefix="headway_torch_checkpoint_")
        torch.save(content, os.path.join(directory, cls.MODEL_FILENAME))
        checkpoint = cls(directory)
        if preprocessor is not None:
            checkpoint.set_preprocessor(preprocessor)
        return checkpoint


def _is_sharded(model: torch.nn.Module) -> bool:
    from torch.distributed.fsdp import FullyShardedDataParallel

    wrapped = any(isinstance(module, FullyShardedDataParallel) for module in model.modules())
    return wrapped or any(hasattr(parameter, "full_tensor") for parameter in model.parameters())
