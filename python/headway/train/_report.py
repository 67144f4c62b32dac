"""``report``: metrics and checkpoints on their way to the driver and to storage."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from typing import Any

from headway._arguments import check_bool, check_instance, check_str
from headway._worker import session as worker_session
from headway.train import _metrics
from headway.train._checkpoint import Checkpoint
from headway.train._remote import is_url


def report(
    metrics: Mapping[str, Any],
    checkpoint: Checkpoint | None = None,
    checkpoint_dir_name: str | None = None,
    delete_local_checkpoint_after_upload: bool | None = None,
) -> None:
    """Reports metrics and, if given, a checkpoint. A barrier: every rank must call it equally often.

    Rank 0's metrics are recorded. Any rank may give a checkpoint; the files of all of them make one, and a file name
    that several give is taken from the lowest of them. When ``report`` returns, the checkpoint is committed: files,
    then a manifest with their sizes and checksums, all of it fsynced.

    Args:
        metrics: Numbers, strings, booleans, None, and lists and dicts of them, by name.
        checkpoint: A checkpoint of local files, which are copied to the run's folder.
        checkpoint_dir_name: The checkpoint's name in the run's folder; default: ``checkpoint_000000`` and so on.
        delete_local_checkpoint_after_upload: True hands the local directory over: its files are moved where they can
            be, and the directory is removed. None means False.

    Raises:
        RuntimeError: called outside of a training function.
        TypeError, ValueError: a bad argument or metric, named; nothing was reported.
        OSError: the checkpoint could not be stored. It is raised in every rank, and nothing of the report is recorded.

    Example:
        >>> from headway import train
        >>> def loop():
        ...     for epoch in range(3):
        ...         train.report({"epoch": epoch, "loss": 1.0 / (epoch + 1)})
    """
    core = worker_session.current("report()").core
    check_instance("checkpoint", checkpoint, Checkpoint, "a headway.train.Checkpoint or None")
    if checkpoint is not None and is_url(checkpoint.path):
        raise ValueError(f"checkpoint is {checkpoint!r}; allowed: a checkpoint of a local directory")
    if checkpoint_dir_name is not None:
        check_str("checkpoint_dir_name", checkpoint_dir_name, "None or a folder name")
        if checkpoint is None:
            raise ValueError(
                f"checkpoint_dir_name is {checkpoint_dir_name!r} without a checkpoint; allowed: only with one"
            )
    move = delete_local_checkpoint_after_upload
    if move is not None:
        check_bool("delete_local_checkpoint_after_upload", move)
    directory = checkpoint.path if checkpoint is not None else None
    core.report(_metrics.to_json(metrics), directory, checkpoint_dir_name, bool(move))
    if move and directory is not None and os.path.isdir(directory):
        shutil.rmtree(directory, ignore_errors=True)
