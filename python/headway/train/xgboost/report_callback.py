"""Reports of ``xgboost.train``."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from headway import _session as worker_session
from headway._checkpoint.checkpoint import Checkpoint
from headway._values.arguments import check_bool, check_int, check_str, refuse
from headway._values.late_base import LateBase
from headway.train import report

_METRICS = "None, a metric such as 'train-rmse', a list of them, or a dict from names to metrics"


class ReportCallback(LateBase):
    """Reports the evaluation of each round of ``xgboost.train``, and the model as a checkpoint.
    Ray's name for it is ``RayTrainReportCallback``.

    A metric is named as XGBoost prints it: the data's name in ``evals``, ``-``, and the metric's.
    XGBoost computes it over the rows of all ranks. All ranks need the callback, because a report is
    a barrier; rank 0 writes the model.

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
        self._metrics = _names_of(metrics)
        self._filename = _check_filename(filename)
        self._frequency = check_int("frequency", frequency, "a number of rounds, from 0")
        if self._frequency < 0:
            raise ValueError(f"frequency is {frequency}; allowed: a number of rounds, from 0")
        self._at_end = check_bool("checkpoint_at_end", checkpoint_at_end)
        if results_postprocessing_fn is not None and not callable(results_postprocessing_fn):
            refuse("results_postprocessing_fn", results_postprocessing_fn, "None or a function of the metrics")
        self._process = results_postprocessing_fn
        self._last: Mapping[str, Any] | None = None
        self._saved = False

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
        if not isinstance(checkpoint, Checkpoint):
            refuse("checkpoint", checkpoint, "a headway.train.Checkpoint")
        _check_filename(filename)
        import xgboost

        with checkpoint.as_directory() as folder:
            path = os.path.join(folder, filename)
            if not os.path.exists(path):
                raise FileNotFoundError(f"filename is {filename!r}; {checkpoint} has: {', '.join(os.listdir(folder))}")
            return xgboost.Booster(model_file=path)

    def after_iteration(self, model: Any, epoch: int, evals_log: Mapping[str, Mapping[str, Any]]) -> bool:
        """Reports a round."""
        values = {f"{data}-{name}": log[-1] for data, logs in evals_log.items() for name, log in logs.items()}
        self._last = self._of_report(values)
        self._saved = self._frequency > 0 and (epoch + 1) % self._frequency == 0
        self._report(model)
        return False

    def after_training(self, model: Any) -> Any:
        """Reports the model, unless the last round has."""
        if self._at_end and not self._saved and self._last is not None:
            self._saved = True
            self._report(model)
        return model

    def _of_report(self, values: dict[str, Any]) -> Mapping[str, Any]:
        if self._metrics is not None:
            missing = [metric for metric in self._metrics.values() if metric not in values]
            if missing:
                raise ValueError(f"metrics has {missing[0]!r}; xgboost evaluates: {', '.join(values) or 'nothing'}")
            values = {name: values[metric] for name, metric in self._metrics.items()}
        return values if self._process is None else self._process(values)

    def _report(self, model: Any) -> None:
        assert self._last is not None
        rank = worker_session.current("ReportCallback").context["plan"]["rank"]
        if not self._saved or rank != 0:
            report(self._last)
            return
        with tempfile.TemporaryDirectory(prefix="headway_xgboost_") as folder:
            model.save_model(os.path.join(folder, self._filename))
            report(self._last, Checkpoint.from_directory(folder))


def _names_of(metrics: Any) -> dict[str, str] | None:
    """By their names in a report."""
    if metrics is None:
        return None
    if isinstance(metrics, str):
        metrics = [metrics]
    if not isinstance(metrics, (Sequence, Mapping)):
        refuse("metrics", metrics, _METRICS)
    named = metrics if isinstance(metrics, Mapping) else {each: each for each in metrics}
    for name, metric in named.items():
        check_str("a name in metrics", name, _METRICS)
        check_str(f"metrics[{name!r}]", metric, _METRICS)
    return dict(named)


def _check_filename(filename: object) -> str:
    name = check_str("filename", filename, "a file's name")
    if not name or "/" in name or "\0" in name:
        raise ValueError(f"filename is {name!r}; allowed: a file's name without '/'")
    return name
