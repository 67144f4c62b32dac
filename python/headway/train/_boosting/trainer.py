"""The trainer of XGBoost and LightGBM: by a training function, or by parameters."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from headway._checkpoint.checkpoint import Checkpoint
from headway.train._boosting.parameters import Form
from headway.train._common_arguments import TrainerArguments
from headway.train._config.config import RunConfig, ScalingConfig
from headway.train._validation.config import ValidationConfig
from headway.train.backend import BackendConfig
from headway.train.data_parallel_trainer import DataParallelTrainer, TrainLoop


class BoostingArguments(TrainerArguments, total=False):
    """What a framework's trainer hands on to :class:`BoostingTrainer` as it is, beside the
    arguments of the framework's ``train``.
    """

    label_column: str | None
    params: Mapping[str, Any] | None
    num_boost_round: int | None
    dmatrix_params: Mapping[str, Mapping[str, Any]] | None


class BoostingTrainer(DataParallelTrainer):
    """A trainer with a training function, or with the parameters of its framework."""

    _form: ClassVar[Form]

    def __init__(
        self,
        train_loop_per_worker: TrainLoop | None = None,
        *,
        train_loop_config: Mapping[str, Any] | None = None,
        backend_config: BackendConfig,
        scaling_config: ScalingConfig | None = None,
        run_config: RunConfig | None = None,
        datasets: Mapping[str, Any] | None = None,
        dataset_config: Any = None,
        metadata: Mapping[str, Any] | None = None,
        resume_from_checkpoint: Checkpoint | None = None,
        validation_config: ValidationConfig | None = None,
        label_column: str | None = None,
        params: Mapping[str, Any] | None = None,
        num_boost_round: int | None = None,
        dmatrix_params: Mapping[str, Mapping[str, Any]] | None = None,
        **train_kwargs: Any,
    ):
        function, config = self._form.checked(
            train_loop_per_worker,
            train_loop_config,
            datasets=datasets,
            label_column=label_column,
            params=params,
            num_boost_round=num_boost_round,
            dmatrix_params=dmatrix_params,
            train_kwargs=train_kwargs,
            run_config=run_config,
        )
        by_parameters = isinstance(function, self._form.loop)
        if by_parameters:
            self._parameters = {
                "label_column": label_column,
                "params": params,
                "num_boost_round": num_boost_round,
                "dmatrix_params": dmatrix_params,
                "dataset_config": dataset_config,
                **train_kwargs,
            }
        super().__init__(
            function,
            train_loop_config=config,
            backend_config=backend_config,
            scaling_config=scaling_config,
            run_config=run_config,
            datasets=datasets,
            dataset_config=self._split(dataset_config, datasets) if by_parameters else dataset_config,
            metadata=metadata,
            resume_from_checkpoint=resume_from_checkpoint,
            validation_config=validation_config,
        )

    def _split(self, dataset_config: Any, datasets: Any) -> Any:
        """How data sets are split over ranks that train by parameters."""
        return dataset_config
