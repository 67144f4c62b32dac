"""DeepSpeed in a rank: it trains on CPUs without building anything, and resumes with another number
of ranks.

DeepSpeed is called by users, by Accelerate, by Transformers and by Lightning. So what it lacks is
added to its own modules, when they are imported.
"""

from __future__ import annotations

import functools
import os
import re
import tempfile
from argparse import Namespace
from typing import Any

from headway import _session as worker_session
from headway._values.after_import import after_import

_SHARD = re.compile(r"(?:bf16_|fp16_)?zero_pp_rank_(\d+)_mp_rank_\d+_optim_states\.pt")
_SHARED_MEMORY = "deepspeed_shm_comm"
_described = False


def describe_rank(device: str) -> None:
    """Before training; see :func:`headway.train.torch._libraries.describe_rank`."""
    global _described
    plan = worker_session.current("the torch backend").context["plan"]
    if _described:
        return  # A process that is a rank of one run after the other: local mode.
    _described = True
    if device == "cpu":
        os.environ.setdefault("DS_ACCELERATOR", "cpu")
        os.environ.setdefault("LOCAL_SIZE", str(plan["local_world_size"]))
        after_import("deepspeed.comm.torch", _build_nothing)
        after_import("accelerate.state", _use_gloo)
        after_import("transformers.training_args", _prefer_deepspeed)
    after_import("deepspeed.runtime.engine", _resume_with_other_ranks)


def _build_nothing(module: Any) -> None:
    """DeepSpeed would compile a library for collectives through shared memory, in each rank's first
    minutes; Gloo does without, with the same numbers. One that was built at DeepSpeed's
    installation is used.
    """
    from deepspeed.git_version_info import installed_ops

    if not installed_ops.get(_SHARED_MEMORY):
        module.build_shm_op = lambda: None


def _use_gloo(module: Any) -> None:
    """Accelerate takes DeepSpeed for something of GPUs: on CPUs it would train with DDP instead, or
    alone.
    """
    partial, whole = module.PartialState.__init__, module.AcceleratorState.__init__

    @functools.wraps(partial)
    def make_partial(self: Any, cpu: bool = False, **kwargs: Any) -> None:
        if _wants_deepspeed():
            cpu, kwargs["backend"] = False, kwargs.get("backend") or "gloo"
        partial(self, cpu, **kwargs)

    @functools.wraps(whole)
    def make_whole(self: Any, *args: Any, **kwargs: Any) -> None:
        if _wants_deepspeed():
            os.environ.pop("ACCELERATE_USE_CPU", None)
        whole(self, *args, **kwargs)

    module.PartialState.__init__ = make_partial
    module.AcceleratorState.__init__ = make_whole


def _wants_deepspeed() -> bool:
    """Accelerate has set the variable if it was given a plugin."""
    return os.environ.get("ACCELERATE_USE_DEEPSPEED", "").lower() == "true"


def _prefer_deepspeed(module: Any) -> None:
    """Transformers would forget its argument ``deepspeed`` where Accelerate is to use CPUs."""
    check = module.TrainingArguments.__post_init__

    @functools.wraps(check)
    def post_init(self: Any) -> None:
        if self.deepspeed:
            os.environ.pop("ACCELERATE_USE_CPU", None)
        check(self)

    module.TrainingArguments.__post_init__ = post_init


def _resume_with_other_ranks(module: Any) -> None:
    """Has ``load_checkpoint`` take the checkpoint of another number of ranks."""
    engine_class = module.DeepSpeedEngine
    load_checkpoint = engine_class.load_checkpoint

    @functools.wraps(load_checkpoint)
    def load(self: Any, load_dir: Any, tag: Any = None, *args: Any, **kwargs: Any) -> Any:
        tag = _tag_of(load_dir) if tag is None else tag
        if not _is_of_other_ranks(self, load_dir, tag):
            return load_checkpoint(self, load_dir, tag, *args, **kwargs)
        with tempfile.TemporaryDirectory(prefix="headway_deepspeed_") as own:
            folder = _converted(os.path.join(load_dir, tag), own)
            self._config.load_universal_checkpoint = True
            try:
                return load_checkpoint(self, folder, tag, *args, **kwargs)
            finally:
                self._config.load_universal_checkpoint = False
                _wait_for_all()  # The others of this node read the same files.

    engine_class.load_checkpoint = load


def _tag_of(folder: Any) -> str | None:
    """Of the newest checkpoint in a folder; None where DeepSpeed will say what is missing."""
    try:
        with open(os.path.join(folder, "latest"), encoding="utf-8") as file:
            return file.read().strip()
    except OSError:
        return None


def _is_of_other_ranks(engine: Any, folder: Any, tag: str | None) -> bool:
    if tag is None or engine.load_universal_checkpoint() or not engine.zero_optimization():
        return False
    path = os.path.join(folder, tag)
    names = os.listdir(path) if os.path.isdir(path) else []
    ranks = {found[1] for found in map(_SHARD.fullmatch, names) if found}
    return len(ranks) not in (0, engine.seq_dp_world_size)


def _converted(shards: str, own: str) -> str:
    """The checkpoint in DeepSpeed's universal form, which has no number of ranks: one rank of each
    node converts it, for all of that node.

    Args:
        shards: The folder that has the files of all ranks.
        own: A folder of this rank's.

    Returns:
        The folder to load from.
    """
    import torch.distributed as dist

    plan = worker_session.current("the torch backend").context["plan"]
    if plan["local_rank"] == 0:
        from deepspeed.checkpoint.ds_to_universal import main

        # Stages 1 and 2 do not save what is only in ZeRO's universal form.
        main(
            Namespace(
                input_folder=shards,
                output_folder=os.path.join(own, os.path.basename(shards)),
                num_extract_workers=1,
                num_merge_workers=1,
                keep_temp_folder=False,
                strict=True,
                inject_missing_state=True,
            )
        )
    if not dist.is_initialized():
        return own
    folders: list[Any] = [None] * dist.get_world_size()
    dist.all_gather_object(folders, (plan["node_rank"], plan["local_rank"], own))
    return next(path for node, local_rank, path in folders if (node, local_rank) == (plan["node_rank"], 0))


def _wait_for_all() -> None:
    import torch.distributed as dist

    if dist.is_initialized():
        dist.barrier()
