"""Accelerate's plugin for FSDP in ranks on CPUs."""

from __future__ import annotations

import functools
from typing import Any

from headway._values.after_import import after_import

_described = False


def describe_rank(device: str) -> None:
    """Before training; see :func:`headway.train.torch._libraries.describe_rank`."""
    global _described
    if device == "cpu" and not _described:
        _described = True  # A process may be a rank of one run after the other: local mode.
        after_import("accelerate.state", _shard_on_cpus)


def _shard_on_cpus(module: Any) -> None:
    """Accelerate takes FSDP for something of GPUs: on CPUs it would train with DDP instead, and say
    nothing.
    """
    make = module.AcceleratorState.__init__

    @functools.wraps(make)
    def make_state(self: Any, *args: Any, **kwargs: Any) -> None:
        make(self, *args, **kwargs)
        plugin = kwargs.get("fsdp_plugin")
        if plugin is None or self.distributed_type != module.DistributedType.MULTI_CPU:
            return
        if self.mixed_precision != "no":
            plugin.set_mixed_precision(self.mixed_precision)
        for config in (plugin.state_dict_config, plugin.optim_state_dict_config):
            if getattr(config, "offload_to_cpu", False):
                config.offload_to_cpu = False
        _keep_whole_states()
        self.fsdp_plugin = plugin
        self.distributed_type = module.DistributedType.FSDP
        # Torch's FSDP takes no CPU with a number.
        self.device = module.torch.device("cpu")
        module.PartialState._shared_state.update(distributed_type=self.distributed_type, device=self.device)

    module.AcceleratorState.__init__ = make_state


def _keep_whole_states() -> None:
    """Accelerate gathers a whole state with an offload to the CPU, which crashes torch where the
    state is on the CPU already.
    """
    from torch.distributed.fsdp.api import FullStateDictConfig

    make = FullStateDictConfig.__init__

    @functools.wraps(make)
    def make_config(self: Any, *args: Any, **kwargs: Any) -> None:
        make(self, *args, **kwargs)
        self.offload_to_cpu = False

    FullStateDictConfig.__init__ = make_config
