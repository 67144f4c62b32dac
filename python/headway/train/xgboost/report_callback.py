"""Reports of ``xgboost.train``."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from headway import _session as worker_session
from headway._checkpoint.checkpoint import Checkpoint
from headway._values.late_base import LateBase
from headway.train._boosting.rounds import Rounds, model_file


class ReportCallback(LateBase):
    """Reports the evaluation of each round of ``xgboost.train``, and the model as a checkpoint.
    Ray's name for it is ``RayTrainReportCallback``.

    A metric is named as XGBoost prints it: the data's name in ``evals``, ``-``, and the metric's.
    XGBoost computes it over the rows of all ranks. All ranks need the callback, because a report is
    a barrier; rank 0 writes the model. Put ``EarlyStopping(save_best=True)`` before it: then the
    last checkpoint has the model up to the best round.

    Args:
        metrics: Which metrics are reported: one, a list, or a dict from names in the report to
            metrics. None: all.
        filename: The model's file in a checkpoint; its ending tells XGBoost the format.
        frequency: A checkpoint after so many rounds; 0: none before the end.
        checkpoint_at_end: Whether there is a checkpoint after the last round.
        results_postprocessing_fn: Called with the metrics; returns what is reported.

    Attributes:
        CHECKPOINT_NAME: ``"model.ubj"``.

    Raises:
        ImportError: xgboost is not installed.
        TypeError, ValueError: a bad argument, named.

    Example:
        >>> from headway import train
        >>> from headway.train.xgboost import ReportCallback
        >>> def loop():
        ...     import xgboost
        ...     model = ReportCallback.get_model(c) if (c := train.get_checkpoint()) else None
        ...     rounds = 100 - (model.num_boosted_rounds() if model else 0)
        ...     callbacks = [ReportCallback(frequency=10)]
        ...     xgboost.train({}, rows, rounds, evals=[(rows, "train")], xgb_model=model, callbacks=callbacks)
    """

    CHECKPOINT_NAME: ClassVar[str] = "model.ubj"

    @classmethod
    def _late_base(cls) -> type:
        from xgboost.callback import TrainingCallback

        return TrainingCallback

    def __init__(
        self,
        metrics: str | Sequence[str] | Mapping[str, str] | None = None,
        filename: str = CHECKPOINT_NAME,
        frequency: int = 0,
        checkpoint_at_end: bool = True,
        results_postprocessing_fn: Callable[[dict[str, Any]], Mapping[str, Any]] | None = None,
    ):
        super().__init__()
        self._rounds = Rounds(metrics, filename, frequency, checkpoint_at_end, results_postprocessing_fn)

    @classmethod
    def get_model(cls, checkpoint: Checkpoint, filename: str = CHECKPOINT_NAME) -> Any:
        """The model of a checkpoint.

        Args:
            checkpoint: A checkpoint that this callback has reported.
            filename: The callback's ``filename``.

        Returns:
            An ``xgboost.Booster``.

        Raises:
            TypeError, ValueError: a bad argument, named.
            FileNotFoundError: the checkpoint has no such file.
        """
        with model_file(checkpoint, filename) as path:
            import xgboost

            return xgboost.Booster(model_file=path)

    def model_of(self, checkpoint: Checkpoint) -> Any:
        """The model of a checkpoint that this callback, or one like it, has reported."""
        return self.get_model(checkpoint, self._rounds.filename)

    def after_iteration(self, model: Any, epoch: int, evals_log: Mapping[str, Mapping[str, Any]]) -> bool:
        """Reports a round."""
        _check_ranks()
        values = {f"{data}-{name}": log[-1] for data, logs in evals_log.items() for name, log in logs.items()}
        # The models of xgboost.cv cannot be saved.
        self._rounds.report(epoch, values, model.num_boosted_rounds(), lambda path: model.save_model(path))
        return False

    def after_training(self, model: Any) -> Any:
        """Reports the model, unless the last round has."""
        self._rounds.finish(model.num_boosted_rounds(), lambda path: model.save_model(path))
        return model


def _check_ranks() -> None:
    """Refuses a model that each rank builds alone."""
    import xgboost.collective

    ranks = worker_session.current("ReportCallback").context["world_size"]
    together = xgboost.collective.get_world_size()
    if ranks > 1 and together != ranks:
        raise RuntimeError(
            f"XGBoost trains with {together} of the run's {ranks} ranks, so each rank builds a model alone; "
            "use headway.train.xgboost.XGBoostTrainer, whose ranks are one communicator"
        )
