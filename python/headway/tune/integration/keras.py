"""Reports of Keras in a function trial."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from headway._values.named_arguments import offer
from headway.train.tensorflow.keras import ReportCheckpointCallback

__all__ = ["TuneReportCallback", "TuneReportCheckpointCallback"]


class TuneReportCheckpointCallback(ReportCheckpointCallback):
    """Reports what Keras has logged to the trial, with the model as a checkpoint, at the end of
    each epoch or at other events.

    Args:
        checkpoint_on: The event, or a list of them, at which a report has a checkpoint.
        report_metrics_on: The event, or a list of them, at which there is a report without one.
        metrics: Which metrics are reported: one, a list, or a dict from names in the report to
            metrics. None: all.

    Example:
        >>> from headway import tune
        >>> from headway.tune.integration.keras import TuneReportCheckpointCallback
        >>> def trial(config):
        ...     model = keras.Sequential([keras.layers.Dense(config["units"])])
        ...     model.compile("sgd", "mse")
        ...     model.fit(x, y, epochs=10, callbacks=[TuneReportCheckpointCallback(metrics="loss")])
        >>> tuner = tune.Tuner(trial, param_space={"units": tune.randint(4, 32)})
    """


class TuneReportCallback(ReportCheckpointCallback):
    """The same without checkpoints.

    Args:
        metrics: Which metrics are reported: one, a list, or a dict from names in the report to
            metrics. None: all.
        on: The event, or a list of them, at which there is a report.

    Example:
        >>> from headway.tune.integration.keras import TuneReportCallback
        >>> callback = TuneReportCallback({"mean_loss": "loss"})  # doctest: +SKIP
    """

    def __init__(
        self, metrics: str | Sequence[str] | Mapping[str, str] | None = None, on: str | Sequence[str] = "epoch_end"
    ):
        super().__init__(checkpoint_on=[], report_metrics_on=on, metrics=metrics)


offer(globals(), __all__)
