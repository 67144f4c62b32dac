"""What ``fit()`` returns, and what a run's folder gives again later."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from headway import _core
from headway._checkpoint.checkpoint import Checkpoint
from headway._plots import inline, panels
from headway._storage import locations, run_files
from headway._values.arguments import check_str
from headway._values.metrics import AUTOMATIC, RESERVED, ReportedMetrics
from headway.train._errors.exceptions import to_exception
from headway.train._run import result_text

if TYPE_CHECKING:
    import pandas
    import pyarrow.fs


@dataclass(repr=False)
class Result:
    """The outcome of a run. It is shown in a line, and in a notebook as a table above the charts of
    the dashboard.

    Attributes:
        metrics: What the last report gave, with or without a checkpoint; None without a report. The
            automatic metrics (``training_iteration``, ``time_total_s`` in seconds, ``timestamp`` in
            seconds since 1970, ...) are found by key, and in ``metrics.automatic``; they are not
            shown and not compared.
        checkpoint: The newest committed checkpoint, or None.
        error: Why the run failed, or None.
        path: The run's folder, on ``filesystem``.
        best_checkpoints: ``(checkpoint, its report's metrics)`` of all that are kept, oldest first.
        config: The training function's configuration; what JSON does not have comes as text from
            :meth:`from_path`.
        return_value: What rank 0's training function returned; None from :meth:`from_path`.
        dropped_checkpoints: How many checkpoints could not be stored and were dropped
            (``CheckpointConfig(on_upload_failure="warn")``).

    Example:
        >>> from headway import train
        >>> def loop():
        ...     for epoch in range(2):
        ...         train.report({"epoch": epoch}, train.Checkpoint.from_dict({"epoch": epoch}))
        >>> result = train.DataParallelTrainer(loop, run_config=train.RunConfig(verbose=0)).fit()
        >>> result.metrics, result.checkpoint.to_dict(), len(result.best_checkpoints)
        ({'epoch': 1}, {'epoch': 1}, 2)
        >>> result.metrics["training_iteration"]
        2
    """

    metrics: dict[str, Any] | None
    checkpoint: Checkpoint | None
    error: Exception | None
    path: str
    best_checkpoints: list[tuple[Checkpoint, dict[str, Any]]] = field(default_factory=list)
    config: dict[str, Any] | None = None
    return_value: Any = None
    dropped_checkpoints: int = 0
    _location: str = field(default="", repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self._location:
            self._location = self.path

    @classmethod
    def _at(
        cls,
        location: str,
        *,
        checkpoints: Sequence[tuple[str, dict[str, Any]]],
        config: dict[str, Any] | None,
        done: bool,
        last: dict[str, Any] | None,
        error: Exception | None = None,
        return_value: Any = None,
        dropped_checkpoints: int = 0,
    ) -> Result:
        """The result of the run at a location: its checkpoints' names and metrics, oldest first;
        its last report.
        """
        kept = [(Checkpoint._at(locations.join(location, name)), metrics) for name, metrics in checkpoints]
        reported = None
        if last is not None:
            reported = ReportedMetrics.of_line(last)
            reported.automatic.update(done=done, config=config)
            if checkpoints and last.get("checkpoint_dir_name") == checkpoints[-1][0]:
                # With what its validation has found since.
                reported.update({key: value for key, value in checkpoints[-1][1].items() if key not in RESERVED})
        return cls(
            metrics=reported,
            checkpoint=kept[-1][0] if kept else None,
            error=error,
            path=locations.path_of(location),
            best_checkpoints=kept,
            config=config,
            return_value=return_value,
            dropped_checkpoints=dropped_checkpoints,
            _location=location,
        )

    @classmethod
    def from_path(cls, path: str | os.PathLike[str], storage_filesystem: pyarrow.fs.FileSystem | None = None) -> Result:
        """The result of the run in a folder, from this or another process, while it runs or later.

        A checkpoint whose manifest is damaged is left out, with a warning that says what is wrong
        with it and which is the newest good one.

        Args:
            path: The run's folder: a path or a URL; with ``storage_filesystem`` a path on that.
            storage_filesystem: A ``pyarrow.fs.FileSystem``; default: the URL's, or the local one.

        Raises:
            RuntimeError: there is no run in ``path``.
            OSError: the storage could not be read, the run's journal is damaged, or a newer version
                of Headway wrote it.

        Example:
            >>> from headway import train
            >>> result = train.Result.from_path("~/headway_results/digits")  # doctest: +SKIP
        """
        location = locations.location_of(path, storage_filesystem, filesystem_argument="storage_filesystem")
        journal = run_files.read_journal(location)
        if journal is None:
            raise RuntimeError(f"path is {locations.shown(location)!r}, which holds no run (no run.json)")
        found = json.loads(_core.survey(location))
        _warn_of_damage(location, found["unreadable"])
        return cls._at(
            location,
            checkpoints=run_files.with_validations(found["checkpoints"], journal),
            config=run_files.read_json(location, "params.json"),
            done=journal["state"] == "finished",
            last=run_files.last_report(location),
            error=_stored_error(journal, locations.shown(location)),
            dropped_checkpoints=journal.get("dropped_checkpoints") or 0,
        )

    @property
    def uri(self) -> str:
        """The run's folder as :meth:`from_path` and the command ``headway`` take it: a path, or a
        URL with all that it needs, its keys too. That of a Python filesystem is known in this
        process alone.
        """
        return self._location

    def __repr__(self) -> str:
        return f"Result({', '.join([*result_text.outcome(self), locations.shown(self._location)])})"

    def _repr_html_(self) -> str:
        return result_text.html(self, locations.shown(self._location)) + inline.html(self._location)

    @property
    def metrics_dataframe(self) -> pandas.DataFrame | None:
        """Every report, a row each, as a pandas DataFrame; None when there was none.

        A nested metric has a column such as ``eval/loss``, as in ``progress.csv``.

        Raises:
            ImportError: pandas is not installed.
        """
        reports = [run_files.flat(report) for report in run_files.read_reports(self._location)]
        if not reports:
            return None
        try:
            import pandas
        except ImportError as error:
            raise ImportError("metrics_dataframe needs pandas, which is not installed: pip install pandas") from error
        return pandas.DataFrame(reports)

    def plot(
        self, path: str | os.PathLike[str] | None = None, metrics: str | Sequence[str] | None = None
    ) -> str | panels.Picture:
        """Draws metrics over the reports, into a file or below a notebook's cell.

        Args:
            path: The file, which ends with ``.svg`` or ``.png``; PNG needs Pillow. None: no file.
            metrics: One or several, ``/`` between nested keys. Default: all numbers, up to eight.

        Returns:
            The file's path; without one the picture, which a notebook shows; its text is ``svg``.

        Raises:
            ValueError: another kind of file, or no report has such a metric.
            ImportError: Pillow is not installed.

        Example:
            >>> from headway import train
            >>> def loop():
            ...     for step in range(3):
            ...         train.report({"loss": 1 / (step + 1)})
            >>> result = train.DataParallelTrainer(loop, run_config=train.RunConfig(verbose=0)).fit()
            >>> result.plot("/tmp/loss.svg", "loss")
            '/tmp/loss.svg'
        """
        reports = [run_files.flat(report) for report in run_files.read_reports(self._location)]
        numbers = [
            name
            for name in dict.fromkeys(name for report in reports for name in report)
            if name not in AUTOMATIC and all(_is_number(report.get(name, 0)) for report in reports)
        ]
        wanted = [metrics] if isinstance(metrics, str) else numbers[:8] if metrics is None else list(metrics)
        for name in wanted:
            if name not in numbers:
                raise ValueError(
                    f"metrics has {name!r}; allowed: {', '.join(numbers) or 'nothing: there are no reports'}"
                )
        if not wanted:
            raise ValueError(f"{self.path} has no reports with numbers, so there is nothing to draw")
        return panels.write(path, panels.of_run(reports, wanted))

    @property
    def step_times(self) -> dict[int, list[dict[str, Any]]]:
        """How long each rank took, by the number of the attempt: a dict for each rank, as
        ``step_times_<attempt>.json`` in the run's folder has it. Read anew each time.

        ``"rank"``, ``"hostname"``; ``"steps"`` and ``"reports"`` are None or have ``"count"``,
        ``"total_s"``, ``"median_s"``, ``"p95_s"`` and ``"max_s"``: from one optimizer step, or
        report, to the next; ``"waiting_share"`` is the share of ``"steps"`` in collectives and
        reports, ``"forward_s"`` and ``"backward_s"`` are the seconds of ``"steps"`` in these passes
        of the model, None where they are not known (docs/debugging.md). An attempt without two
        steps or reports is left out.

        Raises:
            OSError: the run's folder could not be read, or one of these files is damaged.

        Example:
            >>> from headway import train
            >>> def loop():
            ...     for epoch in range(3):
            ...         train.report({"epoch": epoch})
            >>> result = train.DataParallelTrainer(loop, run_config=train.RunConfig(verbose=0)).fit()
            >>> result.step_times[1][0]["reports"]["count"]
            2
        """
        return run_files.step_times(self._location)

    @property
    def data_waits(self) -> dict[str, Any] | None:
        """How long ranks waited for data, as ``data_waits.json`` in the run's folder has it; None
        for a run without data sets. Read anew each time.

        ``"verdict"`` has ``"is_data_bound"``, ``"waiting_share"``, ``"stage"`` (the one that the
        others waited for, where it is data-bound) and ``"words"``; it is about ``"dataset"``, the
        one that ranks waited for the longest. ``"datasets"`` has ``"ranks"`` and ``"stages"`` of
        each (docs/data-performance.md).

        Raises:
            OSError: the run's folder could not be read, or the file is damaged.

        Example:
            >>> import headway.data
            >>> from headway import train
            >>> def loop():
            ...     for batch in train.get_dataset_shard("train").iter_batches(batch_size=10):
            ...         pass
            >>> result = train.DataParallelTrainer(
            ...     loop, datasets={"train": headway.data.range(100)}, run_config=train.RunConfig(verbose=0)
            ... ).fit()
            >>> result.data_waits["dataset"]
            'train'
        """
        return run_files.read_json(self._location, "data_waits.json")

    @property
    def log_dir(self) -> str:
        """The older name of ``path``."""
        return self.path

    @property
    def filesystem(self) -> pyarrow.fs.FileSystem:
        """The filesystem that ``path`` is on."""
        return locations.split(self._location)[1]

    def get_best_checkpoint(self, metric: str, mode: str) -> Checkpoint:
        """Of the kept checkpoints the one with the highest (``mode="max"``) or lowest (``"min"``)
        metric.

        Args:
            metric: A metric's key, ``/`` between nested keys.
            mode: ``"max"`` or ``"min"``.

        Returns:
            The checkpoint, the newer one of equals.

        Raises:
            ValueError: a bad mode.
            RuntimeError: no checkpoint is kept, or none that is kept has the metric as a number.
        """
        check_str("metric", metric, "the key of a reported metric")
        if mode not in ("max", "min"):
            raise ValueError(f'mode is {mode!r}; allowed: "max" or "min"')
        if not self.best_checkpoints:
            raise RuntimeError(f"the run in {locations.shown(self._location)} has kept no checkpoint")
        best = _core.best_of(json.dumps([metrics for _, metrics in self.best_checkpoints]), metric, mode)
        if best is None:
            there = sorted({key for _, metrics in self.best_checkpoints for key in run_files.flat(metrics)})
            raise RuntimeError(f"metric is {metric!r}, which no kept checkpoint has as a number; there are: {there}")
        return self.best_checkpoints[best][0]


def _warn_of_damage(location: str, unreadable: Sequence[str]) -> None:
    """Reads checkpoints whole, to say which is good, only when there is something to warn of."""
    if not unreadable:
        return
    name = _core.newest_good(location)
    good = (
        f"the newest good checkpoint is {locations.shown(locations.join(location, name))}" if name else "none is good"
    )
    for text in unreadable:
        warnings.warn(f"a checkpoint is damaged and left out: {text}; {good}", stacklevel=3)


def _stored_error(journal: dict[str, Any], path: str) -> Exception | None:
    if journal.get("failure") is None:
        return None
    stored = {
        "kind": journal["failure_kind"],
        "message": journal["failure"],
        "ranks": journal["failed_ranks"] or [],
        "in_collective": bool(journal.get("failed_in_collective")),
        "preemption": journal.get("preemption"),
        "source": journal.get("failure_source") or "group",
    }
    failure = _core.RunFailure.from_json(json.dumps(stored))
    return to_exception(failure, journal["attempt"], {}, path)[0]


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
