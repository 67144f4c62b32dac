"""Reports of ``lightgbm.train`` in a function trial."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from headway._values.named_arguments import offer
from headway.train.lightgbm import ReportCallback

__all__ = ["TuneReportCallback", "TuneReportCheckpointCallback"]


class TuneReportCheckpointCallback(ReportCallback):
    """Reports the evaluation of each round to the trial, and the model as a checkpoint.

    Args:
        metrics: Which metrics are reported: one, a list, or a dict from names in the report to
            metrics. None: all.
        filename: The model's file in a checkpoint.
        frequency: A checkpoint after so many rounds; 0: none before the end.
        checkpoint_at_end: Whether there is a checkpoint after the last round.
        results_postprocessing_fn: Called with the metrics; returns what is reported.

    Example:
        >>> from headway import tune
        >>> from headway.tune.integration.lightgbm import TuneReportCheckpointCallback
        >>> def trial(config):
        ...     import lightgbm
        ...     callbacks = [TuneReportCheckpointCallback({"loss": "test-binary_logloss"})]
        ...     lightgbm.train(config, rows, valid_sets=[rows], valid_names=["test"], callbacks=callbacks)
        >>> tuner = tune.Tuner(trial, param_space={"num_leaves": tune.randint(4, 32)})
    """


class TuneReportCallback(TuneReportCheckpointCallback):
    """The same without checkpoints.

    Args:
        metrics: Which metrics are reported.
        results_postprocessing_fn: Called with the metrics; returns what is reported.

    Example:
        >>> from headway.tune.integration.lightgbm import TuneReportCallback
        >>> callback = TuneReportCallback("test-binary_logloss")  # doctest: +SKIP
    """

    def __init__(
        self,
        metrics: str | Sequence[str] | Mapping[str, str] | None = None,
        results_postprocessing_fn: Callable[[dict[str, Any]], Mapping[str, Any]] | None = None,
    ):
        super().__init__(metrics, checkpoint_at_end=False, results_postprocessing_fn=results_postprocessing_fn)


offer(globals(), __all__)
