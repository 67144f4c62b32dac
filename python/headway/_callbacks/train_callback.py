"""The base of the callbacks that hear of a training run."""

from __future__ import annotations


class TrainCallback:
    """The base of what ``RunConfig(callbacks=[...])`` takes, beside :class:`headway.tune.Callback`.

    Example:
        >>> from headway import train
        >>> from headway.train.v2.api.callback import RayTrainCallback
        >>> issubclass(train.UserCallback, RayTrainCallback)
        True
    """
