"""The training function's functions, where newer code imports them from."""

from headway.train import get_checkpoint, get_context, get_dataset_shard, report

__all__ = ["get_checkpoint", "get_context", "get_dataset_shard", "report"]
