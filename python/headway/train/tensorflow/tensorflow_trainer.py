"""The trainer for TensorFlow."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from headway._values.arguments import one_of
from headway.train._common_arguments import RestoreArguments, TrainerArguments, shown_as
from headway.train.data_parallel_trainer import DataParallelTrainer, TrainLoop
from headway.train.tensorflow.config import TensorflowConfig

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack


class TensorflowTrainer(DataParallelTrainer):
    """A trainer whose ranks are the workers of TensorFlow's cluster: a
    ``MultiWorkerMirroredStrategy`` in the training function trains with all of them.

    Args:
        train_loop_per_worker, train_loop_config, scaling_config, run_config, datasets,
        dataset_config, metadata, resume_from_checkpoint, validation_config: As for
        :class:`headway.train.DataParallelTrainer`.
        tensorflow_config: The cluster's settings.
        tensorflow_backend: Another name of ``tensorflow_config``, as Ray's guides have it.

    Example:
        >>> from headway import train
        >>> from headway.train.tensorflow import TensorflowTrainer
        >>> from headway.train.tensorflow.keras import ReportCheckpointCallback
        >>> def loop():
        ...     import tensorflow as tf
        ...     with tf.distribute.MultiWorkerMirroredStrategy().scope():
        ...         model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
        ...         model.compile("sgd", "mse")
        ...     model.fit(features, labels, epochs=3, callbacks=[ReportCheckpointCallback()])
        >>> trainer = TensorflowTrainer(loop, scaling_config=train.ScalingConfig(num_workers=2))
        >>> result = trainer.fit()  # doctest: +SKIP
    """

    _backend_argument = "tensorflow_config"

    @shown_as(DataParallelTrainer.__init__)
    def __init__(
        self,
        train_loop_per_worker: TrainLoop,
        *,
        tensorflow_config: TensorflowConfig | None = None,
        tensorflow_backend: TensorflowConfig | None = None,
        **arguments: Unpack[TrainerArguments],
    ):
        tensorflow_config = one_of(
            "tensorflow_config", tensorflow_config, "tensorflow_backend", tensorflow_backend, TensorflowConfig
        )
        super().__init__(train_loop_per_worker, backend_config=tensorflow_config or TensorflowConfig(), **arguments)

    @classmethod
    @shown_as(DataParallelTrainer.restore)
    def restore(  # type: ignore[override]
        cls,
        path: str | os.PathLike[str],
        train_loop_per_worker: TrainLoop | None = None,
        train_loop_config: Mapping[str, Any] | None = None,
        *,
        tensorflow_config: TensorflowConfig | None = None,
        tensorflow_backend: TensorflowConfig | None = None,
        **arguments: Unpack[RestoreArguments],
    ) -> Self:
        """As :meth:`headway.train.DataParallelTrainer.restore`, with ``tensorflow_config`` for the
        framework.
        """
        tensorflow_config = one_of(
            "tensorflow_config", tensorflow_config, "tensorflow_backend", tensorflow_backend, TensorflowConfig
        )
        return super().restore(
            path, train_loop_per_worker, train_loop_config, backend_config=tensorflow_config, **arguments
        )
