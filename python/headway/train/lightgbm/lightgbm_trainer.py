"""The trainer for LightGBM."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from headway._checkpoint.checkpoint import Checkpoint
from headway._values.arguments import check_instance
from headway.train._config.config import RunConfig, ScalingConfig
from headway.train._validation.config import ValidationConfig
from headway.train.data_parallel_trainer import DataParallelTrainer, TrainLoop
from headway.train.lightgbm.config import LightGBMConfig
from headway.train.lightgbm.report_callback import ReportCallback

if TYPE_CHECKING:
    import pyarrow.fs
    from typing_extensions import Self


class LightGBMTrainer(DataParallelTrainer):
    """A trainer whose workers build one LightGBM model: ``lightgbm.train`` in the training function
    has the rows of all ranks.

    Args:
        train_loop_per_worker, train_loop_config, scaling_config, run_config, datasets,
        dataset_config, metadata, resume_from_checkpoint, validation_config: As for
        :class:`headway.train.DataParallelTrainer`.
        lightgbm_config: The network's settings.

    Example:
        >>> from headway import train
        >>> from headway.train.lightgbm import LightGBMTrainer, ReportCallback, get_network_params
        >>> def loop():
        ...     import lightgbm
        ...     rows = lightgbm.Dataset(features, labels)  # this rank's share
        ...     parameters = {"tree_learner": "data", "pre_partition": True, **get_network_params()}
        ...     lightgbm.train(parameters, rows, valid_sets=[rows], callbacks=[ReportCallback()])
        >>> trainer = LightGBMTrainer(loop, scaling_config=train.ScalingConfig(num_workers=2))
        >>> model = LightGBMTrainer.get_model(trainer.fit().checkpoint)  # doctest: +SKIP
    """

    _backend_argument = "lightgbm_config"

    def __init__(
        self,
        train_loop_per_worker: TrainLoop,
        *,
        train_loop_config: Mapping[str, Any] | None = None,
        lightgbm_config: LightGBMConfig | None = None,
        scaling_config: ScalingConfig | None = None,
        run_config: RunConfig | None = None,
        datasets: Mapping[str, Any] | None = None,
        dataset_config: Any = None,
        metadata: Mapping[str, Any] | None = None,
        resume_from_checkpoint: Checkpoint | None = None,
        validation_config: ValidationConfig | None = None,
    ):
        check_instance("lightgbm_config", lightgbm_config, LightGBMConfig, "a LightGBMConfig or None")
        super().__init__(
            train_loop_per_worker,
            train_loop_config=train_loop_config,
            backend_config=lightgbm_config or LightGBMConfig(),
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
        lightgbm_config: LightGBMConfig | None = None,
        scaling_config: ScalingConfig | None = None,
        run_config: RunConfig | None = None,
        datasets: Mapping[str, Any] | None = None,
        dataset_config: Any = None,
        metadata: Mapping[str, Any] | None = None,
        storage_filesystem: pyarrow.fs.FileSystem | None = None,
        resume_from_checkpoint: Checkpoint | None = None,
        validation_config: ValidationConfig | None = None,
    ) -> Self:
        """As :meth:`headway.train.DataParallelTrainer.restore`, with ``lightgbm_config`` for the
        network.
        """
        check_instance("lightgbm_config", lightgbm_config, LightGBMConfig, "a LightGBMConfig or None")
        return super().restore(
            path,
            train_loop_per_worker,
            train_loop_config,
            backend_config=lightgbm_config,
            scaling_config=scaling_config,
            run_config=run_config,
            datasets=datasets,
            dataset_config=dataset_config,
            metadata=metadata,
            storage_filesystem=storage_filesystem,
            resume_from_checkpoint=resume_from_checkpoint,
            validation_config=validation_config,
        )

    @classmethod
    def get_model(cls, checkpoint: Checkpoint, filename: str = ReportCallback.CHECKPOINT_NAME) -> Any:
        """The model of a checkpoint; as :meth:`ReportCallback.get_model`."""
        return ReportCallback.get_model(checkpoint, filename)
