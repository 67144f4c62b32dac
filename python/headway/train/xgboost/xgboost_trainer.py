"""The trainer for XGBoost."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from headway._checkpoint.checkpoint import Checkpoint
from headway._values.arguments import check_instance
from headway.train._boosting.trainer import BoostingArguments, BoostingTrainer
from headway.train._common_arguments import RestoreArguments, shown_as
from headway.train.data_parallel_trainer import DataParallelTrainer, TrainLoop
from headway.train.xgboost.config import XGBoostConfig
from headway.train.xgboost.parameters import FORM, TrainArguments
from headway.train.xgboost.report_callback import ReportCallback

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack


class _Arguments(BoostingArguments, TrainArguments, total=False):
    pass


class XGBoostTrainer(BoostingTrainer):
    """A trainer whose workers build one XGBoost model of the rows of all ranks: by
    ``xgboost.train`` in a training function, or by parameters alone.

    Args:
        train_loop_per_worker, train_loop_config, scaling_config, run_config, datasets,
        dataset_config, metadata, resume_from_checkpoint, validation_config: As for
        :class:`headway.train.DataParallelTrainer`.
        xgboost_config: The communicator's settings.
        label_column: Instead of a training function: the column of the labels. All other columns of
            ``datasets["train"]`` are trained on; the other data sets are evaluated.
        params: The parameters of ``xgboost.train``.
        num_boost_round: The rounds of the whole run, over all restarts; default: 10.
        dmatrix_params: By data set, further arguments of
            :func:`headway.train.xgboost.to_dmatrix`. Except for columns, those of ``"train"``
            hold for the others too.
        train_kwargs: Further arguments of ``xgboost.train``, such as ``callbacks``.
            ``CheckpointConfig`` says after how many rounds there is a checkpoint.

    Raises:
        TypeError, ValueError: a bad argument; both forms, or neither.

    Example:
        >>> from headway import train
        >>> from headway.train.xgboost import ReportCallback, XGBoostTrainer
        >>> def loop():
        ...     import xgboost
        ...     rows = xgboost.DMatrix(features, labels)  # this rank's share
        ...     xgboost.train({}, rows, 10, evals=[(rows, "train")], callbacks=[ReportCallback()])
        >>> trainer = XGBoostTrainer(loop, scaling_config=train.ScalingConfig(num_workers=2))
        >>> model = XGBoostTrainer.get_model(trainer.fit().checkpoint)  # doctest: +SKIP

        The same by parameters:

        >>> import headway.data
        >>> rows = headway.data.from_items([{"x": float(n), "y": n % 2} for n in range(100)])
        >>> trainer = XGBoostTrainer(label_column="y", params={}, datasets={"train": rows})
    """

    _backend_argument = "xgboost_config"
    _form = FORM

    @shown_as(BoostingTrainer.__init__)
    def __init__(
        self,
        train_loop_per_worker: TrainLoop | None = None,
        *,
        xgboost_config: XGBoostConfig | None = None,
        **arguments: Unpack[_Arguments],
    ):
        check_instance("xgboost_config", xgboost_config, XGBoostConfig, "an XGBoostConfig or None")
        super().__init__(train_loop_per_worker, backend_config=xgboost_config or XGBoostConfig(), **arguments)

    @classmethod
    @shown_as(DataParallelTrainer.restore)
    def restore(  # type: ignore[override]
        cls,
        path: str | os.PathLike[str],
        train_loop_per_worker: TrainLoop | None = None,
        train_loop_config: Mapping[str, Any] | None = None,
        *,
        xgboost_config: XGBoostConfig | None = None,
        **arguments: Unpack[RestoreArguments],
    ) -> Self:
        """As :meth:`headway.train.DataParallelTrainer.restore`, with ``xgboost_config`` for the
        communicator.
        """
        check_instance("xgboost_config", xgboost_config, XGBoostConfig, "an XGBoostConfig or None")
        return super().restore(
            path, train_loop_per_worker, train_loop_config, backend_config=xgboost_config, **arguments
        )

    @classmethod
    def get_model(cls, checkpoint: Checkpoint, filename: str = ReportCallback.CHECKPOINT_NAME) -> Any:
        """The model of a checkpoint; as :meth:`ReportCallback.get_model`."""
        return ReportCallback.get_model(checkpoint, filename)
