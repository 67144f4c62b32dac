"""Reports of rounds of boosting, with the model as a checkpoint."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from headway import _session as worker_session
from headway._checkpoint.checkpoint import Checkpoint
from headway._values.arguments import check_bool, check_int, check_str, refuse
from headway._values.metric_names import metric_names, renamed
from headway.train import report


class Rounds:
    """A callback's reports.

    Args:
        metrics, filename, frequency, checkpoint_at_end, results_postprocessing_fn: As the callbacks
            have them.
        reduce: As for :func:`headway.train.report`.

    Raises:
        TypeError, ValueError: a bad argument, named.
    """

    def __init__(
        self,
        metrics: Any,
        filename: Any,
        frequency: Any,
        checkpoint_at_end: Any,
        results_postprocessing_fn: Any,
        reduce: str | None = None,
    ):
        self._metrics = metric_names(metrics)
        self.filename = check_filename(filename)
        self._frequency = check_int("frequency", frequency, "a number of rounds, from 0")
        if self._frequency < 0:
            raise ValueError(f"frequency is {frequency}; allowed: a number of rounds, from 0")
        self._at_end = check_bool("checkpoint_at_end", checkpoint_at_end)
        if results_postprocessing_fn is not None and not callable(results_postprocessing_fn):
            refuse("results_postprocessing_fn", results_postprocessing_fn, "None or a function of the metrics")
        self._process: Callable[[dict[str, Any]], Mapping[str, Any]] | None = results_postprocessing_fn
        self._reduce = reduce
        self._last: Mapping[str, Any] | None = None
        # The rounds of the model in the last report.
        self._saved: int | None = None

    def report(self, number: int, values: dict[str, Any], rounds: int, save: Callable[[str], Any]) -> None:
        """Reports a round.

        Args:
            number: The round's, from 0.
            values: What was evaluated.
            rounds: Those that the model has.
            save: Writes the model to a path.
        """
        rank = worker_session.current("ReportCallback").context["plan"]["rank"]
        # A report has what rank 0 evaluates; the other ranks may leave it at that.
        if values or rank == 0:
            values = renamed(values, self._metrics)
            self._last = values if self._process is None else self._process(values)
        else:
            self._last = {}
        self._saved = rounds if self._frequency > 0 and (number + 1) % self._frequency == 0 else None
        self._report(save)

    def finish(self, rounds: int, save: Callable[[str], Any]) -> None:
        """After the last round: reports it with the model, unless it has been. Early stopping may
        have taken the rounds after the best one from the model.
        """
        if self._at_end and self._saved != rounds and self._last is not None:
            self._saved = rounds
            self._report(save)

    def _report(self, save: Callable[[str], Any]) -> None:
        """Rank 0 writes the model."""
        assert self._last is not None
        rank = worker_session.current("ReportCallback").context["plan"]["rank"]
        if self._saved is None or rank != 0:
            report(self._last, reduce=self._reduce)
            return
        with tempfile.TemporaryDirectory(prefix="headway_boosting_") as folder:
            save(os.path.join(folder, self.filename))
            report(self._last, Checkpoint.from_directory(folder), reduce=self._reduce)


@contextlib.contextmanager
def model_file(checkpoint: Checkpoint, filename: str) -> Iterator[str]:
    """The path of a checkpoint's model.

    Raises:
        TypeError, ValueError: a bad argument, named.
        FileNotFoundError: the checkpoint has no such file.
    """
    if not isinstance(checkpoint, Checkpoint):
        refuse("checkpoint", checkpoint, "a headway.train.Checkpoint")
    check_filename(filename)
    with checkpoint.as_directory() as folder:
        path = os.path.join(folder, filename)
        if not os.path.exists(path):
            raise FileNotFoundError(f"filename is {filename!r}; {checkpoint} has: {', '.join(os.listdir(folder))}")
        yield path


def check_filename(filename: object) -> str:
    """The name of a file.

    Raises:
        TypeError, ValueError: it is none.
    """
    name = check_str("filename", filename, "a file's name")
    if not name or "/" in name or "\0" in name:
        raise ValueError(f"filename is {name!r}; allowed: a file's name without '/'")
    return name
