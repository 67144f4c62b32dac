"""The trainer for LightGBM."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from headway._checkpoint.checkpoint import Checkpoint
from headway._values.arguments import check_instance
from headway.train._boosting.trainer import BoostingArguments, BoostingTrainer
from headway.train._common_arguments import RestoreArguments, shown_as
from headway.train.data_parallel_trainer import DataParallelTrainer, TrainLoop
from headway.train.lightgbm.config import LightGBMConfig
from headway.train.lightgbm.parameters import FORM, TrainArguments, whole_but_the_trained
from headway.train.lightgbm.report_callback import ReportCallback

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack


class _Arguments(BoostingArguments, TrainArguments, total=False):
    pass


class LightGBMTrainer(BoostingTrainer):
    """A trainer whose workers build one LightGBM model of the rows of all ranks: by
    ``lightgbm.train`` in a training function, or by parameters alone.

    Args:
        train_loop_per_worker, train_loop_config, scaling_config, run_config, datasets,
        dataset_config, metadata, resume_from_checkpoint, validation_config: As for
        :class:`headway.train.DataParallelTrainer`.
        lightgbm_config: The network's settings.
        label_column: Instead of a training function: the column of the labels. All other columns of
            ``datasets["train"]`` are trained on; the other data sets are evaluated.
        params: The parameters of ``lightgbm.train``.
        num_boost_round: The rounds of the whole run, over all restarts; default: 10.
        dmatrix_params: By data set, further arguments of
            :func:`headway.train.lightgbm.to_dataset`. Except for columns, those of ``"train"``
            hold for the others too.
        train_kwargs: Further arguments of ``lightgbm.train``, such as ``callbacks``.
            ``CheckpointConfig`` says after how many rounds there is a checkpoint.

    Raises:
        TypeError, ValueError: a bad argument; both forms, or neither.

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

        The same by parameters:

        >>> import headway.data
        >>> rows = headway.data.from_items([{"x": float(n), "y": n % 2} for n in range(100)])
        >>> trainer = LightGBMTrainer(label_column="y", params={}, datasets={"train": rows})
    """

    _backend_argument = "lightgbm_config"
    _form = FORM

    @shown_as(BoostingTrainer.__init__)
    def __init__(
        self,
        train_loop_per_worker: TrainLoop | None = None,
        *,
        lightgbm_config: LightGBMConfig | None = None,
        **arguments: Unpack[_Arguments],
    ):
        check_instance("lightgbm_config", lightgbm_config, LightGBMConfig, "a LightGBMConfig or None")
        super().__init__(train_loop_per_worker, backend_config=lightgbm_config or LightGBMConfig(), **arguments)

    @classmethod
    @shown_as(DataParallelTrainer.restore)
    def restore(  # type: ignore[override]
        cls,
        path: str | os.PathLike[str],
        train_loop_per_worker: TrainLoop | None = None,
        train_loop_config: Mapping[str, Any] | None = None,
        *,
        lightgbm_config: LightGBMConfig | None = None,
        **arguments: Unpack[RestoreArguments],
    ) -> Self:
        """As :meth:`headway.train.DataParallelTrainer.restore`, with ``lightgbm_config`` for the
        network.
        """
        check_instance("lightgbm_config", lightgbm_config, LightGBMConfig, "a LightGBMConfig or None")
        return super().restore(
            path, train_loop_per_worker, train_loop_config, backend_config=lightgbm_config, **arguments
        )

    def _split(self, dataset_config: Any, datasets: Any) -> Any:
        """Each rank evaluates all rows of the data sets that are not trained on."""
        return whole_but_the_trained(dataset_config, datasets)

    @classmethod
    def get_model(cls, checkpoint: Checkpoint, filename: str = ReportCallback.CHECKPOINT_NAME) -> Any:
        """The model of a checkpoint; as :meth:`ReportCallback.get_model`."""
        return ReportCallback.get_model(checkpoint, filename)
