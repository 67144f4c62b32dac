"""Reports of Keras. Importing this module does not import tensorflow."""

from __future__ import annotations

import functools
import shutil
from collections.abc import Mapping, Sequence
from typing import Any

from headway import _session as worker_session
from headway._values.arguments import check_texts
from headway._values.late_base import LateBase
from headway._values.metric_names import metric_names, renamed
from headway._values.named_arguments import offer
from headway.train import report
from headway.train.tensorflow._package import keras
from headway.train.tensorflow.tensorflow_checkpoint import TensorflowCheckpoint

__all__ = ["ReportCheckpointCallback"]

_PARTS = ("epoch", "train", "train_batch", "test", "test_batch", "predict", "predict_batch")
_EVENTS = tuple(f"{part}_{end}" for part in _PARTS for end in ("begin", "end"))


class ReportCheckpointCallback(LateBase):
    """Reports what Keras has logged, with the model as a checkpoint, at the end of each epoch or at
    other events.

    An event is what a method of Keras's callbacks is named after: ``"epoch_end"``,
    ``"train_batch_end"``, ``"train_end"``, ... All ranks need the callback, because a report is a
    barrier, and writing a model is a collective; rank 0's file is kept. The checkpoint's metadata
    has ``epoch``, the number of complete epochs, and ``step``, that of the optimizer's steps.

    Args:
        checkpoint_on: The event, or a list of them, at which a report has a checkpoint.
        report_metrics_on: The event, or a list of them, at which there is a report without one.
        metrics: Which metrics are reported: one, a list, or a dict from names in the report to
            metrics. None: all.

    Raises:
        ImportError: Keras is not installed.
        TypeError, ValueError: a bad argument, named.

    Example:
        >>> from headway import train
        >>> from headway.train.tensorflow import TensorflowCheckpoint
        >>> from headway.train.tensorflow.keras import ReportCheckpointCallback
        >>> def loop():
        ...     import tensorflow as tf
        ...     epoch, checkpoint = 0, train.get_checkpoint()
        ...     with tf.distribute.MultiWorkerMirroredStrategy().scope():
        ...         if checkpoint:
        ...             model = TensorflowCheckpoint(checkpoint.path, checkpoint.filesystem).get_model()
        ...             epoch = checkpoint.get_metadata()["epoch"]
        ...         else:
        ...             model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        ...             model.compile("sgd", "mse")
        ...     model.fit(data, epochs=10, initial_epoch=epoch, callbacks=[ReportCheckpointCallback()])
    """

    @classmethod
    def _late_base(cls) -> type:
        return keras().callbacks.Callback

    def __init__(
        self,
        checkpoint_on: str | Sequence[str] = "epoch_end",
        report_metrics_on: str | Sequence[str] = "epoch_end",
        metrics: str | Sequence[str] | Mapping[str, str] | None = None,
    ):
        super().__init__()
        self._checkpoint_on = _events("checkpoint_on", checkpoint_on)
        self._metrics = metric_names(metrics)
        self._events = {*self._checkpoint_on, *_events("report_metrics_on", report_metrics_on)}
        self._epochs: int | None = None
        for event in self._events - {"epoch_begin", "epoch_end"}:
            # Only those: Keras waits for each batch's numbers if there is a method for batches.
            setattr(self, f"on_{event}", functools.partial(self._report, event))

    def set_model(self, model: Any) -> None:
        """Refuses a model that each rank would train alone."""
        super().set_model(model)
        ranks = worker_session.current("ReportCheckpointCallback").context["world_size"]
        strategy = getattr(model, "distribute_strategy", None)
        if ranks > 1 and getattr(strategy, "cluster_resolver", None) is None:
            raise RuntimeError(
                f"each of the run's {ranks} ranks trains this model alone; allowed: a model that is made or loaded "
                "within tf.distribute.MultiWorkerMirroredStrategy().scope()"
            )

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:
        """Keras calls it."""
        self._epochs = epoch
        if "epoch_begin" in self._events:
            self._report("epoch_begin", epoch, logs)

    def on_epoch_end(self, epoch: int, logs: Any = None) -> None:
        """Keras calls it."""
        self._epochs = epoch + 1
        if "epoch_end" in self._events:
            self._report("epoch_end", epoch, logs)

    def _report(self, event: str, *args: Any, **kwargs: Any) -> None:
        """The arguments are Keras's: a number (of an epoch, of a batch) or none, and what is
        logged.
        """
        logs = kwargs.get("logs", args[-1] if args else None)
        values = {name: float(value) for name, value in logs.items()} if isinstance(logs, Mapping) else {}
        values = renamed(values, self._metrics)
        if event not in self._checkpoint_on:
            report(values)
            return
        checkpoint = TensorflowCheckpoint.from_model(self.model)
        if worker_session.current("ReportCheckpointCallback").context["plan"]["rank"] != 0:
            shutil.rmtree(checkpoint.path)
            report(values)
            return
        done = {} if self._epochs is None else {"epoch": self._epochs}
        checkpoint.update_metadata({**done, "step": int(self.model.optimizer.iterations.numpy())})
        report(values, checkpoint, delete_local_checkpoint_after_upload=True)


def _events(argument: str, value: Any) -> list[str]:
    """One or several events as a list."""
    allowed = f"an event or a list of events: {', '.join(_EVENTS)}"
    events = [value] if isinstance(value, str) else check_texts(argument, value, allowed)
    for event in events:
        if event not in _EVENTS:
            raise ValueError(f"{argument} has {event!r}; allowed: {allowed}")
    return events


offer(globals(), __all__)
