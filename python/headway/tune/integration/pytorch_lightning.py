"""Reports of a Lightning ``Trainer`` in a function trial."""

from __future__ import annotations

import functools
import os
import tempfile
from collections.abc import Mapping, Sequence
from typing import Any

from headway import _session as worker_session
from headway._values.arguments import check_bool, check_str, refuse
from headway._values.late_base import LateBase
from headway._values.named_arguments import offer
from headway.train import Checkpoint, report
from headway.train.lightning._package import lightning

__all__ = ["TuneCallback", "TuneReportCallback", "TuneReportCheckpointCallback"]


class TuneCallback(LateBase):
    """What calls ``_handle(trainer, pl_module)`` at hooks of a Lightning ``Trainer``. Subclass it.

    Args:
        on: A hook or a list of them, without ``on_``: ``"validation_end"``, ``"train_epoch_end"``,
            ...

    Example:
        >>> from headway.tune.integration.pytorch_lightning import TuneCallback
        >>> class Prints(TuneCallback):
        ...     def _handle(self, trainer, pl_module):
        ...         print(trainer.current_epoch)
    """

    @classmethod
    def _late_base(cls) -> type:
        found: type = lightning("callbacks").Callback
        return found

    def __init__(self, on: str | Sequence[str] = "validation_end"):
        super().__init__()
        hooks = [on] if isinstance(on, str) else on
        known = sorted(each.removeprefix("on_") for each in dir(self._late_base()) if each.startswith("on_"))
        if not isinstance(hooks, Sequence):
            refuse("on", on, "a hook of Lightning without `on_`, or a list of them")
        for hook in hooks:
            if hook not in known:
                raise ValueError(f"on has {hook!r}; allowed: {', '.join(known)}")
            setattr(self, f"on_{hook}", functools.partial(self._called))

    def _called(self, trainer: Any, pl_module: Any, *args: Any, **kwargs: Any) -> None:
        self._handle(trainer, pl_module)

    def _handle(self, trainer: Any, pl_module: Any) -> None:
        raise NotImplementedError(f"{type(self).__name__} has no _handle(trainer, pl_module)")


class TuneReportCheckpointCallback(TuneCallback):
    """Reports what a Lightning ``Trainer`` has logged to the trial, with a checkpoint, after each
    validation or at other hooks.

    Args:
        metrics: Which metrics of ``trainer.callback_metrics`` are reported: one, a list, or a dict
            from names in the report to metrics. None: all. Those that are not there are left out.
        filename: The file in a checkpoint, from which ``trainer.fit(ckpt_path=...)`` resumes.
        save_checkpoints: Whether a report has a checkpoint.
        on: The hook, or a list of them, without ``on_``.

    Example:
        >>> from headway import tune
        >>> from headway.tune.integration.pytorch_lightning import TuneReportCheckpointCallback
        >>> def trial(config):
        ...     trainer = lightning.Trainer(callbacks=[TuneReportCheckpointCallback({"loss": "val_loss"})])
        ...     trainer.fit(Model(config), loader, loader)
        >>> tuner = tune.Tuner(trial, param_space={"lr": tune.loguniform(1e-4, 1e-1)})
    """

    def __init__(
        self,
        metrics: str | Sequence[str] | Mapping[str, str] | None = None,
        filename: str = "checkpoint",
        save_checkpoints: bool = True,
        on: str | Sequence[str] = "validation_end",
    ):
        super().__init__(on)
        names = [metrics] if isinstance(metrics, str) else metrics
        if isinstance(names, Mapping):
            self._metrics: dict[str, str] | None = dict(names)
        elif names is None or isinstance(names, Sequence):
            self._metrics = dict(zip(names, names, strict=True)) if names else None
        else:
            refuse("metrics", metrics, "None, a name, a list of names, or a dict from names to metrics")
        self._filename = check_str("filename", filename, "the name of a file")
        self._saves = check_bool("save_checkpoints", save_checkpoints)

    def _handle(self, trainer: Any, pl_module: Any) -> None:
        if trainer.sanity_checking:
            return
        worker_session.current(type(self).__name__)
        there = {name: value.item() for name, value in trainer.callback_metrics.items()}
        chosen = there
        if self._metrics is not None:
            chosen = {name: there[metric] for name, metric in self._metrics.items() if metric in there}
        if not chosen:
            return
        if not self._saves:
            report(chosen)
            return
        with tempfile.TemporaryDirectory() as folder:
            trainer.save_checkpoint(os.path.join(folder, self._filename))
            report(chosen, Checkpoint.from_directory(folder))


class TuneReportCallback(TuneReportCheckpointCallback):
    """The same without checkpoints.

    Args:
        metrics: Which metrics are reported: one, a list, or a dict from names in the report to
            metrics. None: all.
        on: The hook, or a list of them, without ``on_``.

    Example:
        >>> from headway.tune.integration.pytorch_lightning import TuneReportCallback
        >>> callback = TuneReportCallback({"loss": "val_loss"})  # doctest: +SKIP
    """

    def __init__(
        self,
        metrics: str | Sequence[str] | Mapping[str, str] | None = None,
        on: str | Sequence[str] = "validation_end",
    ):
        super().__init__(metrics, save_checkpoints=False, on=on)


offer(globals(), __all__)
