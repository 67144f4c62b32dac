"""Reports of a Transformers ``Trainer``."""

from __future__ import annotations

import os
import shutil
import tempfile
from typing import Any, ClassVar

from headway import _session as worker_session
from headway._values.late_base import LateBase
from headway.train import Checkpoint, report
from headway.train.collective import barrier
from headway.train.huggingface.transformers._package import transformers


class ReportCallback(LateBase):
    """Reports what a Transformers ``Trainer`` has logged whenever it saves; the checkpoint is what
    it has saved. Ray's name for it is ``RayTrainReportCallback``.

    ``TrainingArguments(save_strategy=..., save_steps=...)`` says when that is. The metrics are the
    newest of each name in the Trainer's log, with ``epoch`` and ``step``. The checkpoint has the
    directory ``checkpoint``, which ``trainer.train(resume_from_checkpoint=...)`` resumes from. All
    ranks need the callback, because a report is a barrier; the ranks of a node have one
    ``output_dir``.

    Attributes:
        CHECKPOINT_NAME: ``"checkpoint"``.

    Raises:
        ImportError: transformers is not installed.

    Example:
        >>> from headway import train
        >>> from headway.train.huggingface.transformers import ReportCallback
        >>> def loop():
        ...     import transformers
        ...     arguments = transformers.TrainingArguments(save_strategy="epoch")
        ...     trainer = transformers.Trainer(model, arguments, callbacks=[ReportCallback()])
        ...     if checkpoint := train.get_checkpoint():
        ...         with checkpoint.as_directory() as folder:
        ...             trainer.train(resume_from_checkpoint=f"{folder}/{ReportCallback.CHECKPOINT_NAME}")
        ...     else:
        ...         trainer.train()
    """

    CHECKPOINT_NAME: ClassVar[str] = "checkpoint"

    @classmethod
    def _late_base(cls) -> type:
        return transformers().TrainerCallback

    def on_save(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Reports; called in every rank."""
        metrics = {name: value for entry in state.log_history for name, value in entry.items()}
        metrics |= {"epoch": state.epoch, "step": state.global_step}
        barrier()  # Every rank has written its files.
        saved = os.path.join(args.output_dir, f"checkpoint-{state.global_step}")
        first = worker_session.current("ReportCallback").context["plan"]["local_rank"] == 0
        if not first or not os.path.isdir(saved):
            report(metrics)
            return
        with tempfile.TemporaryDirectory(prefix="headway_transformers_") as folder:
            shutil.copytree(saved, os.path.join(folder, self.CHECKPOINT_NAME), copy_function=_link)
            report(metrics, Checkpoint.from_directory(folder))


def _link(source: str, target: str) -> None:
    """The same file under another name, which is there even if the Trainer deletes its own; a copy
    where that is on another filesystem.
    """
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
