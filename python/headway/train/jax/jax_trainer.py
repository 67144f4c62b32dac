"""The trainer for JAX."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from headway._values.arguments import check_instance
from headway.train._common_arguments import RestoreArguments, TrainerArguments, shown_as
from headway.train.data_parallel_trainer import DataParallelTrainer, TrainLoop
from headway.train.jax.config import JaxConfig

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack


class JaxTrainer(DataParallelTrainer):
    """A trainer whose ranks are the processes of one JAX program: ``jax.devices()`` in the training
    function has the devices of all ranks.

    Args:
        train_loop_per_worker, train_loop_config, scaling_config, run_config, datasets,
        dataset_config, metadata, resume_from_checkpoint, validation_config: As for
        :class:`headway.train.DataParallelTrainer`.
        jax_config: Which devices JAX uses.

    Example:
        >>> from headway import train
        >>> from headway.train.jax import JaxTrainer
        >>> def loop():
        ...     import jax
        ...     train.report({"devices": jax.device_count(), "own": jax.local_device_count()})
        >>> trainer = JaxTrainer(loop, scaling_config=train.ScalingConfig(num_workers=2))
        >>> trainer.fit().metrics["devices"]  # doctest: +SKIP
        2
    """

    _backend_argument = "jax_config"

    @shown_as(DataParallelTrainer.__init__)
    def __init__(
        self,
        train_loop_per_worker: TrainLoop,
        *,
        jax_config: JaxConfig | None = None,
        **arguments: Unpack[TrainerArguments],
    ):
        check_instance("jax_config", jax_config, JaxConfig, "a JaxConfig or None")
        super().__init__(train_loop_per_worker, backend_config=jax_config or JaxConfig(), **arguments)
        if (jax_config or JaxConfig()).use_gpu and not self.scaling_config.use_gpu:
            raise ValueError(
                "JaxConfig.use_gpu is True while the workers have no GPU; allowed: False, or "
                "ScalingConfig(use_gpu=True)"
            )

    @classmethod
    @shown_as(DataParallelTrainer.restore)
    def restore(  # type: ignore[override]
        cls,
        path: str | os.PathLike[str],
        train_loop_per_worker: TrainLoop | None = None,
        train_loop_config: Mapping[str, Any] | None = None,
        *,
        jax_config: JaxConfig | None = None,
        **arguments: Unpack[RestoreArguments],
    ) -> Self:
        """As :meth:`headway.train.DataParallelTrainer.restore`, with ``jax_config`` for the
        framework.
        """
        check_instance("jax_config", jax_config, JaxConfig, "a JaxConfig or None")
        return super().restore(path, train_loop_per_worker, train_loop_config, backend_config=jax_config, **arguments)
