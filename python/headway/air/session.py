"""The training function's functions, where older code imports them from."""

from headway.train.session import (
    get_checkpoint,
    get_dataset_shard,
    get_experiment_name,
    get_local_rank,
    get_local_world_size,
    get_metadata,
    get_node_rank,
    get_storage,
    get_trial_dir,
    get_trial_id,
    get_trial_name,
    get_trial_resources,
    get_world_rank,
    get_world_size,
    report,
)

__all__ = [
    "get_checkpoint",
    "get_dataset_shard",
    "get_experiment_name",
    "get_local_rank",
    "get_local_world_size",
    "get_metadata",
    "get_node_rank",
    "get_storage",
    "get_trial_dir",
    "get_trial_id",
    "get_trial_name",
    "get_trial_resources",
    "get_world_rank",
    "get_world_size",
    "report",
]
