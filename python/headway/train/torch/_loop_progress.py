"""What a rank's training loop does, counted for the driver: optimizer steps and batches. Nothing
here changes what is computed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from headway import _session as worker_session
from headway._values.arguments import check_epoch
from headway.train.torch import _pass_times

if TYPE_CHECKING:
    from torch.utils.data import DataLoader


class EpochCount:
    """Numbers the passes over a loader: each is one later than the pass before, unless
    :meth:`set_epoch` named it. The first is 0.
    """

    def __init__(self) -> None:
        self._next = 0

    def set_epoch(self, epoch: int) -> None:
        """Names the next pass.

        Args:
            epoch: Its number.

        Raises:
            TypeError, ValueError: it is none.
        """
        self._next = check_epoch(epoch)

    def take(self) -> int:
        """The number of the pass that begins."""
        epoch, self._next = self._next, self._next + 1
        return epoch


def count_batches(loader: DataLoader[Any], epochs: EpochCount) -> None:
    """Has a loader count its batches. It stays the same object, and an instance of its class.

    Args:
        loader: The loader; one that counts already stays as it is.
        epochs: Numbers its passes where its sampler does not.
    """
    if "epochs_counted" not in vars(loader):
        object.__setattr__(loader, "epochs_counted", epochs)
        loader.__class__ = _counting_class(type(loader))


def watch_steps() -> None:
    """Has the steps of all optimizers of this process counted, from the first call on."""
    global _watches
    if not _watches:
        from torch.optim.optimizer import register_optimizer_step_post_hook

        register_optimizer_step_post_hook(_stepped)
        _watches = True


_watches = False
_counting_classes: dict[type[Any], type[Any]] = {}


def _stepped(optimizer: Any, _args: Any, _kwargs: Any) -> None:
    core = worker_session.active_core()
    if core is not None and core.stepped(id(optimizer)):
        _pass_times.tell_passes(core)
        core.send_progress()


def _counting_class(kind: type[Any]) -> type[Any]:
    """The subclass whose instances count. It has one base, so that an object of that can become one
    of this.
    """
    if kind in _counting_classes.values():
        return kind
    if kind not in _counting_classes:

        def begin(self: Any) -> Iterator[Any]:
            batches = kind.__iter__(self)
            core = worker_session.active_core()
            # Some frameworks make a loader anew, of the class of a prepared one.
            prepared = "epochs_counted" in vars(self)
            return _counted(core, self, batches) if core is not None and prepared else batches

        own = {"__iter__": begin, "__doc__": kind.__doc__, "__module__": __name__}
        _counting_classes[kind] = type(kind.__name__, (kind,), own)
    return _counting_classes[kind]


def _counted(core: Any, loader: Any, batches: Iterator[Any]) -> Iterator[Any]:
    number = id(loader)
    begun = False
    for batch in batches:
        if not begun:  # Only now the sampler knows its epoch.
            lengths = _length_of(loader), loader.batch_size, _length_of(loader.sampler)
            core.begin_pass(number, _epoch_of(loader), *lengths)
            begun = True
        core.next_batch(number)
        yield batch
    core.end_pass(number)


def _epoch_of(loader: Any) -> int:
    from headway.train.torch._epoch_sampler import EpochSampler

    counted: int = loader.epochs_counted.take()
    epoch = getattr(loader.sampler, "epoch", 0)
    return epoch if isinstance(loader.sampler, EpochSampler) or (isinstance(epoch, int) and epoch > 0) else counted


def _length_of(sized: Any) -> int | None:
    try:
        return len(sized)
    except (TypeError, NotImplementedError):
        return None
