"""What is looked at in a trainable before an experiment: whether it can be sent, saved and
restored, and what takes long.
"""

from __future__ import annotations

import inspect
import os
import tempfile
import time
from collections.abc import Mapping
from typing import Any

from headway._values import pickling
from headway._values.arguments import check_bool, check_number, check_str, refuse
from headway._values.log import warn
from headway._values.named_arguments import offer
from headway.train import CheckpointConfig, Result
from headway.tune._experiment.analysis import ExperimentAnalysis
from headway.tune._experiment.resources import with_resources
from headway.tune._experiment.run import run
from headway.tune._experiment.trainable import Trainable

__all__ = ["diagnose_serialization", "validate_save_restore", "warn_if_slow"]

_THRESHOLD_VARIABLE = "TUNE_WARN_THRESHOLD_S"
_STEPS = 3


def diagnose_serialization(trainable: Any) -> bool | set[str]:
    """Whether a function or class can be sent to trials, and if not, which of the variables that it
    uses are to blame. What is found is printed, too.

    Args:
        trainable: The function or class.

    Returns:
        True, or the names of the variables that can't be pickled; an empty set where none of them
        is to blame.

    Example:
        >>> from headway.tune.utils import diagnose_serialization
        >>> def trial(config):
        ...     return {"loss": config["x"]}
        >>> diagnose_serialization(trial)
        'trial' can be sent to trials
        True
    """
    if not callable(trainable):
        refuse("trainable", trainable, "a function or a class")
    name = getattr(trainable, "__qualname__", type(trainable).__name__)
    try:
        pickling.dumps((trainable,), ("trainable",), "trainable")
    except TypeError as error:
        print(f"{name!r} cannot be sent to trials: {error}")
    else:
        print(f"{name!r} can be sent to trials")
        return True
    culprits = {known for known, value in _variables(trainable).items() if not _can_be_sent(value)}
    for known in sorted(culprits):
        print(f"  the variable {known!r} cannot be pickled: make it inside of {name!r}")
    return culprits


def _variables(trainable: Any) -> dict[str, Any]:
    """Those outside of it that it uses. A class's functions use them."""
    functions = [trainable] if inspect.isfunction(trainable) else []
    if inspect.isclass(trainable):
        functions = [member for member in vars(trainable).values() if inspect.isfunction(member)]
    found: dict[str, Any] = {}
    for function in functions:
        used = inspect.getclosurevars(function)
        found.update({**used.globals, **used.nonlocals})
    return found


def _can_be_sent(value: Any) -> bool:
    try:
        pickling.dumps((value,), ("value",))
    except TypeError:
        return False
    return True


def validate_save_restore(
    trainable_cls: type[Trainable], config: Mapping[str, Any] | None = None, num_gpus: float = 0
) -> bool:
    """Whether a class resumes from its checkpoint: one trial makes three steps and is saved, and
    another one continues from there with two more.

    Args:
        trainable_cls: A subclass of :class:`Trainable` with ``save_checkpoint`` and
            ``load_checkpoint``.
        config: The configuration of both trials.
        num_gpus: The GPUs of each.

    Returns:
        True.

    Raises:
        Exception: what a trial raised.
        AssertionError: there was no checkpoint, or the second trial did not continue behind it.

    Example:
        >>> from headway import tune
        >>> from headway.tune.utils import validate_save_restore
        >>> class Counter(tune.Trainable):
        ...     def setup(self, config):
        ...         self.count = 0
        ...     def step(self):
        ...         self.count += 1
        ...         return {"count": self.count}
        ...     def save_checkpoint(self, directory):
        ...         return {"count": self.count}
        ...     def load_checkpoint(self, checkpoint):
        ...         self.count = checkpoint["count"]
        >>> validate_save_restore(Counter)
        True
    """
    if not (inspect.isclass(trainable_cls) and issubclass(trainable_cls, Trainable)):
        refuse("trainable_cls", trainable_cls, "a subclass of headway.tune.Trainable")
    if config is not None and not isinstance(config, Mapping):
        refuse("config", config, "None or a dict")
    if check_number("num_gpus", num_gpus, "at least 0") < 0:
        raise ValueError(f"num_gpus is {num_gpus}; allowed: at least 0")
    trainable = with_resources(trainable_cls, {"cpu": 1, "gpu": num_gpus}) if num_gpus else trainable_cls
    with tempfile.TemporaryDirectory() as folder:
        given: dict[str, Any] = {
            "config": dict(config or {}),
            "storage_path": folder,
            "verbose": 0,
            "raise_on_failed_trial": False,
        }
        at_end = CheckpointConfig(checkpoint_at_end=True)
        saved = run(trainable, name="saved", stop={"training_iteration": _STEPS}, checkpoint_config=at_end, **given)
        checkpoint = _only_result(saved).checkpoint
        if checkpoint is None:
            raise AssertionError(f"{trainable_cls.__name__} has made no checkpoint after {_STEPS} steps")
        continued = _Continued.of(trainable_cls)
        if num_gpus:
            continued = with_resources(continued, {"cpu": 1, "gpu": num_gpus})
        resumed = run(continued, name="resumed", stop={_Continued.KEY: _STEPS + 2}, restore=checkpoint.path, **given)
        frame = _only_result(resumed).metrics_dataframe
        steps = [] if frame is None else frame[_Continued.KEY].tolist()
    if steps != [_STEPS + 1, _STEPS + 2]:
        raise AssertionError(
            f"{trainable_cls.__name__} was saved after step {_STEPS}, and its next steps are {steps} where it was "
            "restored"
        )
    return True


def _only_result(experiment: ExperimentAnalysis) -> Result:
    """That of the one trial; its error is raised."""
    result = experiment._result(experiment.trials[0])
    if result.error is not None:
        raise result.error
    return result


class _Continued:
    """A class that reports how many steps its trial has made, its checkpoint's included."""

    KEY = "steps_in_all"

    @staticmethod
    def of(kind: type[Trainable]) -> type[Trainable]:
        """The class that a user gave, with that."""

        class Continued(kind):  # type: ignore[misc, valid-type]
            def step(self) -> dict[str, Any]:
                return {**super().step(), _Continued.KEY: self.iteration + 1}

        Continued.__name__ = Continued.__qualname__ = kind.__name__
        return Continued


class warn_if_slow:  # noqa: N801
    """A context that warns when what is done within it takes long.

    Args:
        name: What it is, for the warning.
        threshold: Seconds. Default: ``TUNE_WARN_THRESHOLD_S`` of the environment, or 0.5.
        message: The warning's text, with ``{name}`` and ``{duration}`` in it.
        disable: Whether nothing is said.

    Attributes:
        too_slow: Whether it took longer.

    Example:
        >>> from headway.tune.utils import warn_if_slow
        >>> with warn_if_slow("nothing") as watch:
        ...     pass
        >>> watch.too_slow
        False
    """

    DEFAULT_MESSAGE = "{name} took {duration:.3f} s, in which nothing else was done"

    def __init__(self, name: str, threshold: float | None = None, message: str | None = None, disable: bool = False):
        self.name = check_str("name", name, "what is done")
        if threshold is not None:
            check_number("threshold", threshold, "seconds, or None")
        if message is not None:
            check_str("message", message, "a text with {name} and {duration} in it, or None")
        self.threshold = threshold or float(os.environ.get(_THRESHOLD_VARIABLE, "0.5"))
        self.message = message or self.DEFAULT_MESSAGE
        self.disable = check_bool("disable", disable)
        self.too_slow = False

    def __enter__(self) -> warn_if_slow:
        self._began = time.monotonic()
        return self

    def __exit__(self, *exception: object) -> None:
        duration = time.monotonic() - self._began
        self.too_slow = duration > self.threshold and not self.disable
        if self.too_slow:
            warn(self.message.format(name=self.name, duration=duration))


offer(globals(), __all__)
