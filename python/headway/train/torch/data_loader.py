"""A data loader made ready for a rank: its own share of the data, on its own device."""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from headway import _session as worker_session
from headway._values.arguments import check_bool, check_epoch, refuse
from headway.train.torch import _loop_progress
from headway.train.torch.devices import get_device

if TYPE_CHECKING:
    from torch.utils.data import DataLoader


def prepare_data_loader(
    data_loader: DataLoader[Any],
    add_dist_sampler: bool = True,
    move_to_device: bool = True,
    auto_transfer: bool = True,
    *,
    even: bool = True,
) -> DataLoader[Any]:
    """A loader whose rank sees its own share of the data set, on its device.

    The same loop runs with 0, 1 and any number of workers: the loader that this returns always has
    ``set_epoch``.

    Args:
        data_loader: A ``torch.utils.data.DataLoader`` or a subclass of it; all of its settings are
            kept.
        add_dist_sampler: Whether to replace its sampler by a ``DistributedSampler`` (which shuffles
            if the loader did) when there is more than one rank. A loader with a custom sampler or
            batch sampler, or over an iterable data set, is left as it is.
        move_to_device: Whether batches come on this rank's device. Tensors are found in lists,
            tuples and mappings; an object with a method ``to`` is asked to move itself.
        auto_transfer: Whether the next batch is copied to a GPU while the present one is computed
            with, through pinned memory and on a separate stream. A batch is then loaded one step
            earlier than it is needed. Without ``move_to_device``, or on a CPU, it changes nothing.
        even: True (default): all ranks get equally many samples, as training needs it; a data set
            whose size is no multiple of the number of ranks is padded, so up to ``ranks - 1``
            samples come twice in an epoch. False: each sample comes exactly once, as an evaluation
            needs it; the first ranks may get one more than the others, so do not call collectives
            (DDP's backward is one) once a batch.

    Returns:
        A loader with ``set_epoch(epoch)``, also as ``.sampler.set_epoch`` for samplers that Headway
        set or that torch made. It names the epoch before a pass over the loader; the order is then
        fixed by the seed and the epoch. If nobody calls it, each pass is one epoch later than the
        pass before. With one rank a loader shuffles by torch's random numbers, and ``set_epoch``
        changes nothing. On a loader that is left as it is ``set_epoch`` is passed on to its own
        sampler, batch sampler and data set where they have that method.

    Raises:
        RuntimeError: called outside of a training function.
        TypeError: a bad argument, named.

    Example:
        >>> from headway.train.torch import prepare_data_loader
        >>> def loop():
        ...     from torch.utils.data import DataLoader
        ...     loader = prepare_data_loader(DataLoader(range(100), batch_size=8, shuffle=True))
        ...     for epoch in range(2):
        ...         loader.set_epoch(epoch)
        ...         print(sum(len(batch) for batch in loader), "of 100 are mine")
    """
    context = worker_session.current("prepare_data_loader()").context
    from torch.utils.data import DataLoader, RandomSampler

    if not isinstance(data_loader, DataLoader):
        refuse("data_loader", data_loader, "a torch.utils.data.DataLoader")
    check_bool("add_dist_sampler", add_dist_sampler)
    check_bool("move_to_device", move_to_device)
    check_bool("auto_transfer", auto_transfer)
    check_bool("even", even)
    sampler = _plain_sampler(data_loader) if add_dist_sampler and context["world_size"] > 1 else None
    if sampler is not None:
        from headway.train.torch._epoch_sampler import EpochSampler

        shuffle = type(sampler) is RandomSampler
        share = EpochSampler(data_loader.dataset, context["world_size"], context["plan"]["rank"], shuffle, even)
        data_loader = _with_sampler(data_loader, share)
    _offer_set_epoch(data_loader)
    _loop_progress.watch_steps()
    device = get_device()
    if not move_to_device or device.type == "cpu":
        return data_loader
    from headway.train.torch._device_loader import DeviceLoader

    return DeviceLoader(data_loader, device, auto_transfer)


def _plain_sampler(loader: DataLoader[Any]) -> Any:
    """The loader's sampler if it is one of those that ``DataLoader(...)`` makes by itself; None
    when it is another.
    """
    from torch.utils.data import BatchSampler, IterableDataset, RandomSampler, SequentialSampler

    batches = loader.batch_sampler
    if isinstance(loader.dataset, IterableDataset) or type(batches) not in (BatchSampler, type(None)):
        return None
    sampler = batches.sampler if batches is not None else loader.sampler
    if type(sampler) is RandomSampler:
        return sampler if not sampler.replacement and sampler._num_samples is None else None
    return sampler if type(sampler) is SequentialSampler else None


def _with_sampler(loader: DataLoader[Any], sampler: Any) -> DataLoader[Any]:
    """A copy, so that it is of the same class and has all that the user's own has, whatever a
    subclass may add.
    """
    from torch.utils.data import BatchSampler

    changed: dict[str, Any] = {"sampler": sampler, "_iterator": None}
    if loader.batch_sampler is not None:
        batches: Any = loader.batch_sampler
        changed["batch_sampler"] = BatchSampler(sampler, batches.batch_size, batches.drop_last)
    prepared = copy.copy(loader)
    for name, value in changed.items():
        # A loader refuses a new sampler, since its iterators would not know of it; the copy has
        # none yet.
        object.__setattr__(prepared, name, value)
    return prepared


def _offer_set_epoch(loader: DataLoader[Any]) -> None:
    """Gives the loader, and a sampler that torch made, a ``set_epoch``; one that is there already
    stays.
    """
    epochs = _loop_progress.EpochCount()
    _loop_progress.count_batches(loader, epochs)
    sampler = _plain_sampler(loader)
    if sampler is not None and not hasattr(sampler, "set_epoch"):
        # A sampler of torch's draws another order in each pass, whatever its number.
        sampler.set_epoch = epochs.set_epoch
    if hasattr(loader, "set_epoch"):
        return
    takers = [getattr(loader, name, None) for name in ("sampler", "batch_sampler", "dataset")]
    calls = [call for taker in takers if callable(call := getattr(taker, "set_epoch", None))]
    object.__setattr__(loader, "set_epoch", partial(_set_epoch_of, [*calls, epochs.set_epoch]))


def _set_epoch_of(calls: list[Callable[[int], Any]], epoch: int) -> None:
    check_epoch(epoch)
    for call in calls:
        call(epoch)
