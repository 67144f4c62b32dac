"""``report``: metrics and checkpoints on their way to the driver and to storage."""

from __future__ import annotations

import enum
import json
import traceback
from collections.abc import Callable, Mapping
from typing import Any

from headway import _session as worker_session
from headway._checkpoint import dict_checkpoint
from headway._checkpoint.checkpoint import Checkpoint
from headway._storage import locations
from headway._values.arguments import check_bool, check_instance, check_str, is_utf8, refuse
from headway._values.metrics import to_json
from headway._values.spans import span
from headway.train._validation import request
from headway.train._validation.config import ValidationTaskConfig


class CheckpointUploadMode(enum.Enum):
    """When :func:`report` returns for a checkpoint.

    Example:
        >>> from headway import train
        >>> def save(directory):
        ...     checkpoint = train.Checkpoint(directory)
        ...     train.report({}, checkpoint, checkpoint_upload_mode=train.CheckpointUploadMode.ASYNC)
    """

    SYNC = "SYNC"
    """When it is committed."""
    ASYNC = "ASYNC"
    """Before; it is stored and committed while training goes on."""
    NO_UPLOAD = "NO_UPLOAD"
    """When it is recorded: its files lie in the run's folder already, or will."""


UploadFunction = Callable[[Checkpoint, str], Checkpoint]


def report(
    metrics: Mapping[str, Any],
    checkpoint: Checkpoint | None = None,
    checkpoint_dir_name: str | None = None,
    checkpoint_upload_mode: CheckpointUploadMode = CheckpointUploadMode.SYNC,
    delete_local_checkpoint_after_upload: bool | None = None,
    checkpoint_upload_fn: UploadFunction | None = None,
    validation: bool | ValidationTaskConfig = False,
    validate_fn: Callable[..., Mapping[str, Any]] | None = None,
    validate_config: Mapping[str, Any] | None = None,
    reduce: str | Mapping[str, str] | None = None,
) -> None:
    """Reports metrics and, if given, a checkpoint. A barrier: every rank must call it equally
    often.

    Rank 0's metrics are recorded, reduced over the ranks where ``reduce`` asks for it. Any rank may
    give a checkpoint; the files of all of them make one, and a file name that several give is taken
    from the lowest of them. When ``report`` returns, the checkpoint is committed: files, then a
    manifest with their sizes and checksums, all of it fsynced.

    Args:
        metrics: Numbers, strings, booleans, None, and lists and dicts of them, by name.
        checkpoint: A checkpoint of local files, which are copied to the run's folder.
        checkpoint_dir_name: The checkpoint's name in the run's folder; default:
            ``checkpoint_000000`` and so on. A rank without a checkpoint may give it too, so that
            all ranks can make the same call.
        checkpoint_upload_mode: ``SYNC`` returns when the checkpoint is committed. ``ASYNC`` returns
            as soon as every rank has reported, and the files are stored while training goes on:
            leave the directory alone from then on. Commits keep the order of the reports; with two
            under way, the next report waits. ``fit()`` waits for them. If one fails, the next
            ``report`` raises in every rank, or ``fit()`` when none follows. ``NO_UPLOAD`` records a
            directory that lies right in the run's folder
            (``get_context().get_storage().build_checkpoint_path_from_name(name)``) as is, even if
            still empty.
        delete_local_checkpoint_after_upload: True hands the local directory over: its files are
            moved where they can be, and the directory is removed. None means True for ``ASYNC``,
            else False. With ``NO_UPLOAD`` the directory is the checkpoint, and stays. A committed
            checkpoint, and a directory that contains the current one, are copied and stay.
        checkpoint_upload_fn: Called in each rank that gives a checkpoint, with it and with the
            checkpoint's name, in place of Headway's own upload. It puts the files into the run's
            folder and returns the checkpoint there, the same directory in all ranks; its files are
            recorded without checksums. With ``ASYNC`` it is called on a separate thread while
            training continues.
        validation: True has the checkpoint validated by the trainer's ``validation_config``, beside
            the training; a ``ValidationTaskConfig`` does so with other arguments and another time
            limit. Rank 0's counts, other ranks may give it too. ``report`` does not wait for it.
        validate_fn: The older form: a function ``validate_fn(checkpoint, config)`` that returns
            metrics.
        validate_config: Its second argument; default: an empty dict.
        reduce: How metrics are reduced over the ranks, in the barrier that ``report`` is anyway:
            ``"mean"``, ``"sum"``, ``"min"`` or ``"max"`` for all numbers, or a dict from metrics
            (``"eval/loss"`` for a nested one) to these for some. A rank without the metric does not
            count for it. None: rank 0's values. Rank 0's argument counts.

    Raises:
        RuntimeError: called outside of a training function, or in a rank in which Accelerate trains
            alone.
        TypeError, ValueError: a bad argument or metric, named; nothing was reported.
        OSError: the checkpoint could not be stored. It is raised in every rank, and nothing of the
            report is recorded.

    Example:
        >>> from headway import train
        >>> def loop():
        ...     for epoch in range(3):
        ...         train.report({"epoch": epoch, "loss": 1.0 / (epoch + 1)}, reduce={"loss": "mean"})
    """
    core = worker_session.current("report()").core
    check_instance("checkpoint", checkpoint, Checkpoint, "a headway.train.Checkpoint or None")
    if checkpoint_dir_name is not None:
        allowed = "None or a folder name"
        if not is_utf8(check_str("checkpoint_dir_name", checkpoint_dir_name, allowed)):
            raise ValueError(f"checkpoint_dir_name is {checkpoint_dir_name!r}; allowed: {allowed} that UTF-8 has")
    if not isinstance(checkpoint_upload_mode, CheckpointUploadMode):
        refuse(
            "checkpoint_upload_mode", checkpoint_upload_mode, "a member of CheckpointUploadMode: SYNC, ASYNC, NO_UPLOAD"
        )
    if checkpoint_upload_fn is not None and not callable(checkpoint_upload_fn):
        refuse("checkpoint_upload_fn", checkpoint_upload_fn, "None or a function of a checkpoint and its name")
    asynchronous = checkpoint_upload_mode is CheckpointUploadMode.ASYNC
    move = asynchronous
    if delete_local_checkpoint_after_upload is not None:
        move = check_bool("delete_local_checkpoint_after_upload", delete_local_checkpoint_after_upload)
    placed = checkpoint_upload_mode is CheckpointUploadMode.NO_UPLOAD
    if placed:
        if checkpoint_upload_fn is not None:
            given = f"checkpoint_upload_fn is {checkpoint_upload_fn!r} with NO_UPLOAD"
            raise ValueError(f"{given}, which takes the checkpoint as it lies; allowed: None")
    elif checkpoint is not None and checkpoint_upload_fn is None and locations.is_remote(checkpoint._location):
        raise ValueError(f"checkpoint is {checkpoint!r}; allowed: a checkpoint of a local directory")
    if asynchronous and checkpoint is not None:
        dict_checkpoint.keep(checkpoint._held)
    worker_session.check_rank()
    asked_for = request.asked_for(checkpoint, validation, validate_fn, validate_config)
    store = None
    if checkpoint is not None and checkpoint_upload_fn is not None:
        store = _storing(checkpoint_upload_fn, checkpoint)
    _keep_positions()
    try:
        with span("report", checkpoint=checkpoint is not None):
            core.report(
                to_json(metrics),
                checkpoint._location if checkpoint is not None else None,
                checkpoint_dir_name,
                move,
                asynchronous,
                placed and checkpoint is not None,
                store,
                asked_for,
                _reduction(reduce),
            )
    except RuntimeError:
        if core.over:
            worker_session.leave()
        raise


def _keep_positions() -> None:
    """Has the report's checkpoint keep where the data sets stand."""
    session = worker_session.current("report()")
    if not session.shards:
        return
    from headway.data._iterator import position_of

    positions = position_of(session.shards)
    if positions is not None:
        session.core.set_data_cursors(positions)


def _reduction(reduce: str | Mapping[str, str] | None) -> str | None:
    """As the core reads it."""
    if reduce is None:
        return None
    allowed = 'None, "mean", "sum", "min", "max", or a dict from metrics to these'
    ways = ("mean", "sum", "min", "max")
    if isinstance(reduce, Mapping):
        for name, way in reduce.items():
            check_str("a metric in reduce", name, allowed)
            if check_str(f"reduce[{name!r}]", way, allowed) not in ways:
                raise ValueError(f"reduce[{name!r}] is {way!r}; allowed: {allowed}")
        return json.dumps({"by_metric": dict(reduce)})
    if check_str("reduce", reduce, allowed) not in ways:
        raise ValueError(f"reduce is {reduce!r}; allowed: {allowed}")
    return json.dumps({"all": reduce, "by_metric": {}})


def _storing(function: UploadFunction, checkpoint: Checkpoint) -> Callable[[str], str]:
    def store(name: str) -> str:
        try:
            stored = function(checkpoint, name)
            if not isinstance(stored, Checkpoint):
                refuse("what checkpoint_upload_fn returned", stored, "a headway.train.Checkpoint in the run's folder")
        except Exception:
            traceback.print_exc()
            raise
        return stored._location

    return store
