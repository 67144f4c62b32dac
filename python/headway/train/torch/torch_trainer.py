"""The trainer for PyTorch."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from headway._values.arguments import check_instance
from headway.train._common_arguments import RestoreArguments, TrainerArguments, shown_as
from headway.train.data_parallel_trainer import DataParallelTrainer, TrainLoop
from headway.train.torch.config import TorchConfig, choose_backend

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack


class TorchTrainer(DataParallelTrainer):
    """A data-parallel trainer whose workers are the ranks of a ``torch.distributed`` process group.

    Args:
        train_loop_per_worker, train_loop_config, scaling_config, run_config, datasets,
        dataset_config, metadata, resume_from_checkpoint, validation_config: As for
        :class:`headway.train.DataParallelTrainer`.
        torch_config: The process group's settings.

    Raises:
        ImportError: torch is not installed.
        ValueError: NCCL for workers without GPUs.

    Example:
        >>> from headway import train
        >>> from headway.train.torch import TorchTrainer, prepare_model
        >>> def loop():
        ...     import torch
        ...     model = prepare_model(torch.nn.Linear(4, 1))
        ...     model(torch.randn(8, 4)).sum().backward()
        ...     train.report({"gradient": model.module.weight.grad.norm().item()})
        >>> trainer = TorchTrainer(loop, scaling_config=train.ScalingConfig(num_workers=2))
        >>> result = trainer.fit()  # doctest: +SKIP
    """

    _backend_argument = "torch_config"

    @shown_as(DataParallelTrainer.__init__)
    def __init__(
        self,
        train_loop_per_worker: TrainLoop,
        *,
        torch_config: TorchConfig | None = None,
        **arguments: Unpack[TrainerArguments],
    ):
        if importlib.util.find_spec("torch") is None:
            raise ImportError("TorchTrainer needs torch, which is not installed: pip install torch")
        check_instance("torch_config", torch_config, TorchConfig, "a TorchConfig or None")
        super().__init__(train_loop_per_worker, backend_config=torch_config or TorchConfig(), **arguments)
        if not self.scaling_config.use_gpu:
            choose_backend((torch_config or TorchConfig()).backend, gpus_of_rank=[], gpus_shared=False)

    @classmethod
    @shown_as(DataParallelTrainer.restore)
    def restore(  # type: ignore[override]
        cls,
        path: str | os.PathLike[str],
        train_loop_per_worker: TrainLoop | None = None,
        train_loop_config: Mapping[str, Any] | None = None,
        *,
        torch_config: TorchConfig | None = None,
        **arguments: Unpack[RestoreArguments],
    ) -> Self:
        """As :meth:`headway.train.DataParallelTrainer.restore`, with ``torch_config`` for the
        process group.
        """
        check_instance("torch_config", torch_config, TorchConfig, "a TorchConfig or None")
        return super().restore(path, train_loop_per_worker, train_loop_config, backend_config=torch_config, **arguments)
