"""The trainer for Horovod."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from headway._values.arguments import one_of
from headway.train._common_arguments import RestoreArguments, TrainerArguments, shown_as
from headway.train.data_parallel_trainer import DataParallelTrainer, TrainLoop
from headway.train.horovod.config import HorovodConfig, check_installed

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack


class HorovodTrainer(DataParallelTrainer):
    """A trainer whose ranks are one Horovod group: the training function calls ``hvd.init()``, and
    the rest is as under ``horovodrun``.

    Horovod must be installed with PyTorch: ``make horovod`` in Headway's source tree builds it.

    Args:
        train_loop_per_worker, train_loop_config, scaling_config, run_config, datasets,
        dataset_config, metadata, resume_from_checkpoint, validation_config: As for
        :class:`headway.train.DataParallelTrainer`.
        horovod_config: Settings of the group.
        tensorflow_backend: Another name of ``horovod_config``, as Ray's guides have it.

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

    @shown_as(DataParallelTrainer.__init__)
    def __init__(
        self,
        train_loop_per_worker: TrainLoop,
        *,
        horovod_config: HorovodConfig | None = None,
        tensorflow_backend: HorovodConfig | None = None,
        **arguments: Unpack[TrainerArguments],
    ):
        horovod_config = one_of(
            "horovod_config", horovod_config, "tensorflow_backend", tensorflow_backend, HorovodConfig
        )
        check_installed("HorovodTrainer")
        super().__init__(train_loop_per_worker, backend_config=horovod_config or HorovodConfig(), **arguments)

    @classmethod
    @shown_as(DataParallelTrainer.restore)
    def restore(  # type: ignore[override]
        cls,
        path: str | os.PathLike[str],
        train_loop_per_worker: TrainLoop | None = None,
        train_loop_config: Mapping[str, Any] | None = None,
        *,
        horovod_config: HorovodConfig | None = None,
        tensorflow_backend: HorovodConfig | None = None,
        **arguments: Unpack[RestoreArguments],
    ) -> Self:
        """As :meth:`headway.train.DataParallelTrainer.restore`, with ``horovod_config`` for the
        framework.
        """
        horovod_config = one_of(
            "horovod_config", horovod_config, "tensorflow_backend", tensorflow_backend, HorovodConfig
        )
        return super().restore(
            path, train_loop_per_worker, train_loop_config, backend_config=horovod_config, **arguments
        )
