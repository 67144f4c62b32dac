"""A data loader made ready for a rank: its own share of the data, on its own device."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from headway._arguments import check_bool, refuse
from headway._worker import session as worker_session
from headway.train.torch.devices import get_device

if TYPE_CHECKING:
    from torch.utils.data import DataLoader


def prepare_data_loader(
    data_loader: DataLoader[Any],
    add_dist_sampler: bool = True,
    move_to_device: bool = True,
    auto_transfer: bool = True,
) -> DataLoader[Any]:
    """A loader whose rank sees its own share of the data set, on its device.

    Args:
        data_loader: A ``torch.utils.data.DataLoader`` or a subclass of it; all of its settings are kept.
        add_dist_sampler: Whether to replace its sampler by a ``DistributedSampler`` (which shuffles if the loader
            did) when there is more than one rank. A loader with a sampler or batch sampler of its own kind, or over an
            iterable data set, is left as it is.
        move_to_device: Whether batches come on this rank's device. Tensors are found in lists, tuples and mappings; an
            object with a method ``to`` of its own is asked to move itself.
        auto_transfer: Whether the next batch is copied to a GPU while the present one is computed with, through pinned
            memory and on a stream of its own. A batch is then loaded one step earlier than it is needed. Without
            ``move_to_device``, or on a CPU, it changes nothing.

    Returns:
        A loader. Call ``.sampler.set_epoch(epoch)`` at the start of each epoch if it shuffles and there are several
        ranks.

    Raises:
        RuntimeError: called outside of a training function.
        TypeError: a bad argument, named.

    Example:
        >>> from headway.train.torch import prepare_data_loader
        >>> def loop():
        ...     from torch.utils.data import DataLoader
        ...     loader = prepare_data_loader(DataLoader(range(100), batch_size=8))
        ...     print(sum(len(batch) for batch in loader), "of 100 are mine")
    """
    context = worker_session.current("prepare_data_loader()").context
    from torch.utils.data import DataLoader, RandomSampler

    if not isinstance(data_loader, DataLoader):
        refuse("data_loader", data_loader, "a torch.utils.data.DataLoader")
    check_bool("add_dist_sampler", add_dist_sampler)
    check_bool("move_to_device", move_to_device)
    check_bool("auto_transfer", auto_transfer)
    sampler = _plain_sampler(data_loader) if add_dist_sampler and context["world_size"] > 1 else None
    if sampler is not None:
        shuffle = type(sampler) is RandomSampler
        data_loader = _with_dist_sampler(data_loader, shuffle, context["plan"]["rank"], context["world_size"])
    device = get_device()
    if not move_to_device or device.type == "cpu":
        return data_loader
    from headway.train.torch._device_loader import DeviceLoader

    return DeviceLoader(data_loader, device, auto_transfer)


def _plain_sampler(loader: DataLoader[Any]) -> Any:
    """The loader's sampler if it is one of those that ``DataLoader(...)`` makes by itself; None when it is another."""
    from torch.utils.data import BatchSampler, IterableDataset, RandomSampler, SequentialSampler

    batches = loader.batch_sampler
    if isinstance(loader.dataset, IterableDataset) or type(batches) not in (BatchSampler, type(None)):
        return None
    sampler = batches.sampler if batches is not None else loader.sampler
    if type(sampler) is RandomSampler:
        return sampler if not sampler.replacement and sampler._num_samples is None else None
    return sampler if type(sampler) is SequentialSampler else None


def _with_dist_sampler(loader: DataLoader[Any], shuffle: bool, rank: int, world_size: int) -> DataLoader[Any]:
    """A copy, so that it is of the same class and has all that the user's own has, whatever a subclass may add."""
    from torch.utils.data import BatchSampler, DistributedSampler

    sampler = DistributedSampler(loader.dataset, world_size, rank, shuffle=shuffle)
    changed: dict[str, Any] = {"sampler": sampler, "_iterator": None}
    if loader.batch_sampler is not None:
        batches: Any = loader.batch_sampler
        changed["batch_sampler"] = BatchSampler(sampler, batches.batch_size, batches.drop_last)
    prepared = copy.copy(loader)
    for name, value in changed.items():
        # A loader refuses a new sampler, since its iterators would not know of it; the copy has none yet.
        object.__setattr__(prepared, name, value)
    return prepared
