"""The trainer for Horovod."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from headway._checkpoint.checkpoint import Checkpoint
from headway._values.arguments import check_instance
from headway.train._config.config import RunConfig, ScalingConfig
from headway.train._validation.config import ValidationConfig
from headway.train.data_parallel_trainer import DataParallelTrainer, TrainLoop
from headway.train.horovod.config import HorovodConfig, check_installed

if TYPE_CHECKING:
    import pyarrow.fs
    from typing_extensions import Self


class HorovodTrainer(DataParallelTrainer):
    """A trainer whose ranks are one Horovod group: the training function calls ``hvd.init()``, and
    the rest is as under ``horovodrun``.

    Horovod must be installed with PyTorch: ``make horovod`` in Headway's source tree builds it.

    Args:
        train_loop_per_worker, train_loop_config, scaling_config, run_config, datasets,
        dataset_config, metadata, resume_from_checkpoint, validation_config: As for
        :class:`headway.train.DataParallelTrainer`.
        horovod_config: Settings of the group.

    Raises:
        ImportError: Horovod is not installed.

    Example:
        >>> from headway import train
        >>> from headway.train.horovod import HorovodTrainer
        >>> def loop():
        ...     import horovod.torch as hvd
        ...     hvd.init()
        ...     train.report({"ranks": hvd.size()})
        >>> trainer = HorovodTrainer(loop, scaling_config=train.ScalingConfig(num_workers=2))  # doctest: +SKIP
        >>> trainer.fit().metrics["ranks"]  # doctest: +SKIP
        2
    """

    _backend_argument = "horovod_config"

    def __init__(
        self,
        train_loop_per_worker: TrainLoop,
        *,
        train_loop_config: Mapping[str, Any] | None = None,
        horovod_config: HorovodConfig | None = None,
        scaling_config: ScalingConfig | None = None,
        run_config: RunConfig | None = None,
        datasets: Mapping[str, Any] | None = None,
        dataset_config: Any = None,
        metadata: Mapping[str, Any] | None = None,
        resume_from_checkpoint: Checkpoint | None = None,
        validation_config: ValidationConfig | None = None,
    ):
        check_instance("horovod_config", horovod_config, HorovodConfig, "a HorovodConfig or None")
        check_installed("HorovodTrainer")
        super().__init__(
            train_loop_per_worker,
            train_loop_config=train_loop_config,
            backend_config=horovod_config or HorovodConfig(),
            scaling_config=scaling_config,
            run_config=run_config,
            datasets=datasets,
            dataset_config=dataset_config,
            metadata=metadata,
            resume_from_checkpoint=resume_from_checkpoint,
            validation_config=validation_config,
        )

    @classmethod
    def restore(  # type: ignore[override]
        cls,
        path: str | os.PathLike[str],
        train_loop_per_worker: TrainLoop | None = None,
        train_loop_config: Mapping[str, Any] | None = None,
        *,
        horovod_config: HorovodConfig | None = None,
        scaling_config: ScalingConfig | None = None,
        run_config: RunConfig | None = None,
        datasets: Mapping[str, Any] | None = None,
        dataset_config: Any = None,
        metadata: Mapping[str, Any] | None = None,
        storage_filesystem: pyarrow.fs.FileSystem | None = None,
        resume_from_checkpoint: Checkpoint | None = None,
        validation_config: ValidationConfig | None = None,
    ) -> Self:
        """As :meth:`headway.train.DataParallelTrainer.restore`, with ``horovod_config`` for the
        framework.
        """
        check_instance("horovod_config", horovod_config, HorovodConfig, "a HorovodConfig or None")
        return super().restore(
            path,
            train_loop_per_worker,
            train_loop_config,
            backend_config=horovod_config,
            scaling_config=scaling_config,
            run_config=run_config,
            datasets=datasets,
            dataset_config=dataset_config,
            metadata=metadata,
            storage_filesystem=storage_filesystem,
            resume_from_checkpoint=resume_from_checkpoint,
            validation_config=validation_config,
        )
