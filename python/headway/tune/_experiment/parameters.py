"""Objects for a function or a class beside its configuration."""

from __future__ import annotations

import functools
from typing import Any

from headway._values.arguments import refuse
from headway.tune._experiment.trainable import Trainable


def with_parameters(trainable: Any, **kwargs: Any) -> Any:
    """A trainable that gets more than its configuration, such as a data set.

    Args:
        trainable: A function, which is called with them by name, or a subclass of
            :class:`Trainable`, whose ``setup`` is.
        kwargs: What it gets.

    Example:
        >>> from headway import tune
        >>> def trial(config, data):
        ...     tune.report({"loss": sum(data) * config["x"]})
        >>> tuner = tune.Tuner(tune.with_parameters(trial, data=[1, 2, 3]))
    """
    if isinstance(trainable, type) and issubclass(trainable, Trainable):
        return _class_with(trainable, kwargs)
    if not callable(trainable):
        refuse("trainable", trainable, "a function or a subclass of headway.tune.Trainable")
    partial = functools.partial(trainable, **kwargs)
    functools.update_wrapper(partial, trainable)
    return partial


def _class_with(trainable: type[Trainable], kwargs: dict[str, Any]) -> type[Trainable]:
    def setup(self: Trainable, config: dict[str, Any]) -> None:
        trainable.setup(self, config, **kwargs)

    return type(trainable.__name__, (trainable,), {"setup": setup, "__doc__": trainable.__doc__})
