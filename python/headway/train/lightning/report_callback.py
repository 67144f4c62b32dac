"""Reports of a Lightning ``Trainer``."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from typing import Any, ClassVar

from headway import _session as worker_session
from headway._values.arguments import check_instance, check_int, refuse
from headway._values.late_base import LateBase
from headway.train import Checkpoint, CheckpointUploadMode, ValidationTaskConfig, report
from headway.train.lightning._package import lightning


class ReportCallback(LateBase):
    """Reports what a Lightning ``Trainer`` has logged, with a checkpoint, at the end of each epoch.
    Ray's name for it is ``RayTrainReportCallback``.

    The metrics are ``trainer.callback_metrics``, ``epoch`` and ``step``. The checkpoint has a file
    ``checkpoint.ckpt`` (with sharded strategies a directory of that name), from which
    ``trainer.fit(ckpt_path=...)`` resumes. All ranks need the callback, because a report is a
    barrier.

    Args:
        every_n_train_steps: Also report within an epoch, after so many optimizer steps. None:
            epochs only.
        checkpoint_upload_mode: As for :func:`headway.train.report`; None is ``SYNC``.
        validation: As for :func:`headway.train.report`.

    Attributes:
        CHECKPOINT_NAME: ``"checkpoint.ckpt"``.

    Raises:
        ImportError: Lightning is not installed.
        TypeError, ValueError: a bad argument, named.

    Example:
        >>> from headway import train
        >>> from headway.train.lightning import ReportCallback
        >>> def loop():
        ...     import lightning
        ...     trainer = lightning.Trainer(callbacks=[ReportCallback(every_n_train_steps=100)])
        ...     if checkpoint := train.get_checkpoint():
        ...         with checkpoint.as_directory() as folder:
        ...             trainer.fit(model, loader, ckpt_path=f"{folder}/{ReportCallback.CHECKPOINT_NAME}")
        ...     else:
        ...         trainer.fit(model, loader)
    """

    CHECKPOINT_NAME: ClassVar[str] = "checkpoint.ckpt"

    @classmethod
    def _late_base(cls) -> type:
        return lightning("callbacks").Callback

    def __init__(
        self,
        *,
        every_n_train_steps: int | None = None,
        checkpoint_upload_mode: CheckpointUploadMode | None = None,
        validation: bool | ValidationTaskConfig = False,
    ):
        super().__init__()
        if every_n_train_steps is not None:
            allowed = "None or a number of steps, from 1"
            if check_int("every_n_train_steps", every_n_train_steps, allowed) < 1:
                raise ValueError(f"every_n_train_steps is {every_n_train_steps}; allowed: {allowed}")
        allowed = "None or a member of CheckpointUploadMode"
        check_instance("checkpoint_upload_mode", checkpoint_upload_mode, CheckpointUploadMode, allowed)
        if not isinstance(validation, (bool, ValidationTaskConfig)):
            refuse("validation", validation, "True, False or a ValidationTaskConfig")
        self._every = every_n_train_steps
        self._mode = checkpoint_upload_mode or CheckpointUploadMode.SYNC
        self._validation = validation
        self._reported_step = 0

    def setup(self, trainer: Any, pl_module: Any, stage: str) -> None:
        """Refuses a Trainer that does not train with the other ranks."""
        ranks = worker_session.current("ReportCallback").context["world_size"]
        if trainer.world_size != ranks:
            raise RuntimeError(
                f"this Trainer trains with {trainer.world_size} of the run's {ranks} ranks; allowed: a Trainer "
                "with strategy=DDPStrategy(), FSDPStrategy() or DeepSpeedStrategy() and "
                "plugins=[LightningEnvironment()] of headway.train.lightning"
            )

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        """The step that it resumes from has been reported."""
        self._reported_step = trainer.global_step

    def on_train_batch_end(self, trainer: Any, pl_module: Any, outputs: Any, batch: Any, batch_idx: int) -> None:
        """Reports a step whose turn it is; the last one of an epoch is reported with the epoch."""
        step = trainer.global_step
        if self._every is None or step % self._every or step == self._reported_step or trainer.is_last_batch:
            return
        self._report(trainer)

    def on_train_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        """Reports the epoch."""
        self._report(trainer)

    def _report(self, trainer: Any) -> None:
        self._reported_step = trainer.global_step
        metrics = {name: value.item() for name, value in trainer.callback_metrics.items()}
        metrics |= {"epoch": trainer.current_epoch, "step": trainer.global_step}
        folder = tempfile.mkdtemp(prefix="headway_lightning_")
        try:
            checkpoint = self._save(trainer, folder)
            report(
                metrics,
                checkpoint,
                checkpoint_upload_mode=self._mode,
                delete_local_checkpoint_after_upload=True,
                validation=self._validation if checkpoint is not None else False,
            )
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise

    def _save(self, trainer: Any, folder: str) -> Checkpoint | None:
        """Saves in all ranks; the checkpoint of what this one has written, if it has."""
        own_paths = getattr(trainer.strategy, "own_paths", contextlib.nullcontext)
        path = os.path.join(folder, self.CHECKPOINT_NAME)
        with own_paths():
            trainer.save_checkpoint(path, weights_only=False)
        if os.path.exists(path):
            return Checkpoint.from_directory(folder)
        os.rmdir(folder)
        return None
