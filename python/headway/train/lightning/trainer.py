"""A Lightning ``Trainer`` that fits the run."""

from __future__ import annotations

from typing import Any, TypeVar

from headway._values.arguments import refuse
from headway.train.lightning._package import lightning
from headway.train.lightning.environment import LightningEnvironment
from headway.train.lightning.strategies import DDPStrategy, DeepSpeedStrategy, FSDPStrategy

_Trainer = TypeVar("_Trainer")


def prepare_trainer(trainer: _Trainer) -> _Trainer:
    """Checks that a Lightning ``Trainer`` trains with the ranks of the run, which is easily missed:
    Lightning takes another environment when one of Slurm or torchrun seems to be there.

    Args:
        trainer: The Trainer, before ``fit``.

    Returns:
        The same Trainer.

    Raises:
        TypeError: it is no Trainer.
        RuntimeError: its strategy or its environment is not one of :mod:`headway.train.lightning`.

    Example:
        >>> from headway.train.lightning import DDPStrategy, LightningEnvironment, prepare_trainer
        >>> def loop():
        ...     import lightning
        ...     trainer = lightning.Trainer(strategy=DDPStrategy(), plugins=[LightningEnvironment()])
        ...     trainer = prepare_trainer(trainer)
    """
    made: Any = trainer
    if not isinstance(made, lightning().Trainer):
        refuse("trainer", trainer, f"a Trainer of {lightning().__name__}")
    if not isinstance(made.strategy, (DDPStrategy, DeepSpeedStrategy, FSDPStrategy)):
        raise RuntimeError(
            f"Invalid strategy class: {type(made.strategy).__name__}; allowed: strategy=DDPStrategy(), "
            "FSDPStrategy() or DeepSpeedStrategy() of headway.train.lightning"
        )
    environment = made.strategy.cluster_environment
    if not isinstance(environment, LightningEnvironment):
        raise RuntimeError(
            f"Invalid cluster environment plugin: {type(environment).__name__}; allowed: "
            "plugins=[LightningEnvironment()] of headway.train.lightning"
        )
    return trainer
