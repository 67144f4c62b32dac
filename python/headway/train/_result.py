"""What ``fit()`` returns, and what a run's folder gives again later."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from headway import _core
from headway._arguments import check_str
from headway.train._checkpoint import Checkpoint
from headway.train._errors import to_exception

if TYPE_CHECKING:
    import pandas
    import pyarrow.fs


@dataclass
class Result:
    """The outcome of a run.

    Attributes:
        metrics: The last report's, with or without a checkpoint, and beside the user's the automatic ones
            (``training_iteration``, ``time_total_s`` in seconds, ``timestamp`` in seconds since 1970, ...); None
            without any.
        checkpoint: The newest committed checkpoint, or None.
        error: Why the run failed, or None.
        path: The run's folder.
        best_checkpoints: ``(checkpoint, its report's metrics)`` of all that are kept, oldest first.
        config: The training function's configuration; what JSON does not have comes as text from :meth:`from_path`.
        return_value: What rank 0's training function returned; None from :meth:`from_path`.
    """

    metrics: dict[str, Any] | None
    checkpoint: Checkpoint | None
    error: Exception | None
    path: str
    best_checkpoints: list[tuple[Checkpoint, dict[str, Any]]] = field(default_factory=list)
    config: dict[str, Any] | None = None
    return_value: Any = None

    @classmethod
    def from_path(cls, path: str | os.PathLike[str]) -> Result:
        """The result of the run in a folder, from this or another process, while it runs or later.

        Raises:
            FileNotFoundError: there is no run in ``path``.

        Example:
            >>> from headway import train
            >>> result = train.Result.from_path("~/headway_results/digits")  # doctest: +SKIP
        """
        folder = os.path.abspath(os.path.expanduser(os.fspath(path)))
        journal = _read_json(os.path.join(folder, "run.json"))
        if journal is None:
            raise FileNotFoundError(f"path is {folder!r}, which holds no run (no run.json)")
        manifests = json.loads(_core.list_checkpoints(folder))
        kept = [(Checkpoint(os.path.join(folder, each["checkpoint"])), each["metrics"]) for each in manifests]
        config = _read_json(os.path.join(folder, "params.json"))
        return cls(
            metrics=last_metrics(folder, config, done=journal["state"] == "finished"),
            checkpoint=kept[-1][0] if kept else None,
            error=_stored_error(journal, folder),
            path=folder,
            best_checkpoints=kept,
            config=config,
        )

    @property
    def metrics_dataframe(self) -> pandas.DataFrame | None:
        """Every report, a row each, as a pandas DataFrame; None when there was none."""
        reports = read_reports(self.path)
        if not reports:
            return None
        import pandas

        return pandas.DataFrame(reports)

    @property
    def log_dir(self) -> str:
        """The older name of ``path``."""
        return self.path

    @property
    def filesystem(self) -> pyarrow.fs.FileSystem:
        """The file system that ``path`` is on."""
        import pyarrow.fs

        return pyarrow.fs.LocalFileSystem()

    def get_best_checkpoint(self, metric: str, mode: str) -> Checkpoint | None:
        """Of the kept checkpoints the one with the highest (``mode="max"``) or lowest (``"min"``) metric.

        Args:
            metric: A metric's key, ``/`` between nested keys.
            mode: ``"max"`` or ``"min"``.

        Returns:
            The checkpoint, the newer one of equals; None when none is kept.

        Raises:
            ValueError: a bad mode, or no kept checkpoint has the metric as a number.
        """
        check_str("metric", metric, "the key of a reported metric")
        if mode not in ("max", "min"):
            raise ValueError(f'mode is {mode!r}; allowed: "max" or "min"')
        if not self.best_checkpoints:
            return None
        best = _core.best_of(json.dumps([metrics for _, metrics in self.best_checkpoints]), metric, mode)
        if best is None:
            there = sorted({key for _, metrics in self.best_checkpoints for key in metrics})
            raise ValueError(f"metric is {metric!r}, which no kept checkpoint has as a number; there are: {there}")
        return self.best_checkpoints[best][0]


def read_reports(path: str) -> list[dict[str, Any]]:
    """The lines of a run's result.json."""
    try:
        with open(os.path.join(path, "result.json"), encoding="utf-8") as lines:
            return [json.loads(line) for line in lines if line.endswith("\n")]
    except FileNotFoundError:
        return []


def last_metrics(path: str, config: dict[str, Any] | None, done: bool) -> dict[str, Any] | None:
    """The last report of a run with what is known of the run itself."""
    line = _last_line(os.path.join(path, "result.json"))
    return {**json.loads(line), "done": done, "config": config} if line else None


def _last_line(path: str, chunk_bytes: int = 1 << 16) -> bytes | None:
    """Of a file whose lines end with a newline; read from its end, for it may be long."""
    try:
        with open(path, "rb") as file:
            start = file.seek(0, os.SEEK_END)
            tail = b""
            while start > 0 and tail.rstrip(b"\n").count(b"\n") < 2:
                size = min(chunk_bytes, start)
                start = file.seek(start - size)
                tail = file.read(size) + tail
    except FileNotFoundError:
        return None
    whole = tail[: tail.rfind(b"\n") + 1].splitlines()
    return whole[-1] if whole else None


def _read_json(path: str) -> dict[str, Any] | None:
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except FileNotFoundError:
        return None


def _stored_error(journal: dict[str, Any], path: str) -> Exception | None:
    if "failure" not in journal:
        return None
    end = {
        "kind": journal["failure_kind"],
        "message": journal["failure"],
        "ranks": journal["failed_ranks"],
        "attempts": journal["attempt"],
    }
    return to_exception(end, {}, path)[0]
