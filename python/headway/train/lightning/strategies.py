"""Lightning's strategies on the ranks and devices of a run."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from headway import _session as worker_session
from headway._values.late_base import LateBase
from headway.train.lightning._package import lightning
from headway.train.torch import get_device

if TYPE_CHECKING:
    import torch


class _OnRanks(LateBase):
    """What all strategies have in common."""

    @property
    def root_device(self) -> torch.device:
        """The rank's device, as :func:`headway.train.torch.get_device` says."""
        return get_device()

    @property
    def distributed_sampler_kwargs(self) -> dict[str, int]:
        """Which share of the data is this rank's."""
        context = worker_session.current(type(self).__name__).context
        return {"num_replicas": context["world_size"], "rank": context["plan"]["rank"]}

    @contextlib.contextmanager
    def own_paths(self) -> Iterator[None]:
        """Meanwhile each rank saves and loads at the path that it names itself."""
        yield


class DDPStrategy(_OnRanks):
    """Lightning's ``DDPStrategy`` for a ``Trainer`` in a training function. Ray's name for it is
    ``RayDDPStrategy``.

    Args:
        *args, **kwargs: Those of Lightning's class.

    Raises:
        ImportError: Lightning is not installed.

    Example:
        >>> from headway.train.lightning import DDPStrategy, LightningEnvironment
        >>> def loop():
        ...     import lightning
        ...     strategy = DDPStrategy(find_unused_parameters=True)
        ...     trainer = lightning.Trainer(strategy=strategy, plugins=[LightningEnvironment()])
    """

    @classmethod
    def _late_base(cls) -> type:
        return lightning("strategies").DDPStrategy


class _Sharded(_OnRanks):
    """What strategies have in common that write a directory with files of all ranks."""

    _names_own_paths = False

    @contextlib.contextmanager
    def own_paths(self) -> Iterator[None]:
        """Lightning would have all ranks use rank 0's path, which other nodes do not have."""
        self._names_own_paths = True
        try:
            yield
        finally:
            self._names_own_paths = False

    def broadcast(self, obj: Any, src: int = 0) -> Any:
        """As Lightning's; but a path that is each rank's own stays so."""
        return obj if self._names_own_paths else super().broadcast(obj, src)

    def load_checkpoint(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        """As Lightning's, from the path that this rank names: a downloaded checkpoint has another
        on each node.
        """
        with self.own_paths():
            return super().load_checkpoint(*args, **kwargs)


class FSDPStrategy(_Sharded):
    """Lightning's ``FSDPStrategy`` for a ``Trainer`` in a training function, on GPUs and CPUs.
    Ray's name for it is ``RayFSDPStrategy``.

    With ``state_dict_type="sharded"`` each rank writes its own shards, and a report of
    :class:`ReportCallback` has those of all ranks, on any number of nodes.

    Args:
        *args, **kwargs: Those of Lightning's class.

    Raises:
        ImportError: Lightning is not installed.

    Example:
        >>> from headway.train.lightning import FSDPStrategy, LightningEnvironment
        >>> def loop():
        ...     import lightning
        ...     strategy = FSDPStrategy(state_dict_type="sharded")
        ...     trainer = lightning.Trainer(strategy=strategy, plugins=[LightningEnvironment()])
    """

    @classmethod
    def _late_base(cls) -> type:
        return lightning("strategies").FSDPStrategy

    def lightning_module_state_dict(self) -> dict[str, Any]:
        """As Lightning's. On CPUs a whole state stays where it is gathered: torch crashes when it
        copies that from the CPU to the CPU.
        """
        if not self._gathers_on_cpus():
            return super().lightning_module_state_dict()
        with self._gathering():
            return self.model.state_dict()

    def optimizer_state(self, optimizer: torch.optim.Optimizer) -> Mapping[str, Any]:
        """As Lightning's; the whole state on CPUs as for the module."""
        if not self._gathers_on_cpus():
            return super().optimizer_state(optimizer)
        from torch.distributed.fsdp import FullyShardedDataParallel, OptimStateKeyType

        with self._gathering():
            state = FullyShardedDataParallel.optim_state_dict(self.model, getattr(optimizer, "_optimizer", optimizer))
        return FullyShardedDataParallel.rekey_optim_state_dict(state, OptimStateKeyType.PARAM_ID, self.model)

    def _gathers_on_cpus(self) -> bool:
        return self._state_dict_type == "full" and self.root_device.type == "cpu"

    def _gathering(self) -> contextlib.AbstractContextManager[None]:
        from torch.distributed import fsdp

        return fsdp.FullyShardedDataParallel.state_dict_type(
            self.model,
            fsdp.StateDictType.FULL_STATE_DICT,
            fsdp.FullStateDictConfig(offload_to_cpu=False, rank0_only=False),
            fsdp.FullOptimStateDictConfig(offload_to_cpu=False, rank0_only=False),
        )

    def _setup_model(self, model: torch.nn.Module) -> torch.nn.Module:
        """On CPUs torch wants the device's name, where Lightning gives it the number of a GPU."""
        from torch.distributed.fsdp import FullyShardedDataParallel

        wrapped = any(isinstance(module, FullyShardedDataParallel) for module in model.modules())
        if self.root_device.type == "cpu" and not wrapped:
            model = FullyShardedDataParallel(
                model,
                cpu_offload=self.cpu_offload,
                mixed_precision=self.mixed_precision_config,
                sharding_strategy=self.sharding_strategy,
                device_id=self.root_device,
                **self.kwargs,
            )
            self.kwargs.pop("auto_wrap_policy", None)
        return super()._setup_model(model)


class DeepSpeedStrategy(_Sharded):
    """Lightning's ``DeepSpeedStrategy`` for a ``Trainer`` in a training function, on GPUs and CPUs.
    Ray's name for it is ``RayDeepSpeedStrategy``.

    Each rank writes its own shards, and a report of :class:`ReportCallback` has those of all ranks,
    on any number of nodes. Training resumes with any number of ranks.

    Args:
        *args, **kwargs: Those of Lightning's class.

    Raises:
        ImportError: Lightning or DeepSpeed is not installed.

    Example:
        >>> from headway.train.lightning import DeepSpeedStrategy, LightningEnvironment
        >>> def loop():
        ...     import lightning
        ...     strategy = DeepSpeedStrategy(stage=3)
        ...     trainer = lightning.Trainer(strategy=strategy, plugins=[LightningEnvironment()])
    """

    @classmethod
    def _late_base(cls) -> type:
        return lightning("strategies").DeepSpeedStrategy

    @property
    def root_device(self) -> torch.device:
        """As the others', with a number: Lightning gives DeepSpeed the number alone."""
        import torch

        device = get_device()
        return device if device.index is not None else torch.device(device.type, 0)

    def setup_environment(self) -> None:
        """As Lightning's, without its refusal of CPUs."""
        if self.root_device.type != "cpu":
            super().setup_environment()
        else:
            # What Lightning's class calls once it has found a GPU.
            late: Any = self._late_base()
            super(late, self).setup_environment()

    def setup_distributed(self) -> None:
        """As Lightning's, without its check of the numbers of GPUs where there are none."""
        if self.root_device.type != "cpu":
            super().setup_distributed()
            return
        self.set_world_ranks()
        self._init_deepspeed_distributed()
