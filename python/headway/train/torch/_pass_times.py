"""How long forward and backward passes take, as ``DistributedDataParallel`` itself measures it in
its first ten iterations and in each hundredth one. Nothing is added to a step but a count.
"""

from __future__ import annotations

import collections
import statistics
import weakref
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

# A median of so many: the first iterations of a run are slower than the others.
_SAMPLES_MAX = 9
_FIRST_ITERATIONS = 10
_NANOSECONDS = 1e-9


class PassTimes:
    """Of one model.

    Args:
        model: A ``DistributedDataParallel``.
    """

    def __init__(self, model: torch.nn.Module):
        self.model = weakref.ref(model)
        self._backwards = 0
        self._told = 0
        self._iteration = 0
        self._samples: collections.deque[tuple[float, float]] = collections.deque(maxlen=_SAMPLES_MAX)
        self._unknown = False

    def backward_begins(self) -> None:
        """Counts a backward pass. In the first ones it is seen whether each has one call of the
        model, for DDP measures them all.
        """
        self._backwards += 1
        if self._backwards <= _FIRST_ITERATIONS:
            self._look()

    def of_passes(self) -> tuple[float, float] | None:
        """Seconds of the forward and of the backward passes since the last call, from their number
        and the newest measurements. None when nothing is measured yet.

        Raises:
            LookupError: it will never be known, because the model is called more often than it is
                trained with, or this torch does not measure it.
        """
        self._look()
        if self._unknown:
            raise LookupError
        if not self._samples:
            return None
        passes, self._told = self._backwards - self._told, self._backwards
        forward_s, backward_s = (statistics.median(each) for each in zip(*self._samples, strict=True))
        return passes * forward_s, passes * backward_s

    def _look(self) -> None:
        """Takes the newest measurement: how long from the call of the model to the first gradient,
        and from there to the last one.
        """
        try:
            data = self.model()._get_ddp_logging_data()  # type: ignore[union-attr]
            iteration, has_error = data.get("iteration", 0), data.get("has_error", 0)
        except (AttributeError, RuntimeError, AssertionError):
            self._unknown = True
            return
        # With an iteration for each call that wants gradients: more of them than backward passes.
        self._unknown = self._unknown or bool(has_error) or iteration > self._backwards + 1
        took = data.get("forward_compute_time", 0), data.get("backward_compute_time", 0)
        if iteration != self._iteration and min(took) > 0:
            self._iteration = iteration
            self._samples.append((took[0] * _NANOSECONDS, took[1] * _NANOSECONDS))


_watched: list[PassTimes] = []
_steps_told = 0


def watch_passes(model: torch.nn.Module) -> PassTimes:
    """Has a model's passes measured.

    Args:
        model: A ``DistributedDataParallel`` whose backward passes are counted.

    Returns:
        What counts them.
    """
    _watched.append(PassTimes(model))
    return _watched[-1]


def tell_passes(core: Any) -> None:
    """Says how long the passes of a step took, where that is known of all models.

    Args:
        core: The session.
    """
    global _steps_told
    _watched[:] = [each for each in _watched if each.model() is not None]
    steps = core.steps_taken
    if not _watched or steps <= _steps_told:
        return
    try:
        took = [each.of_passes() for each in _watched]
    except LookupError:
        core.passes_took(None, None)
        return
    known = [each for each in took if each is not None]
    if len(known) < len(took):
        return
    forward_s, backward_s = (sum(each) / (steps - _steps_told) for each in zip(*known, strict=True))
    core.passes_took(forward_s, backward_s)
    _steps_told = steps
