"""What all ranks do together, where newer code imports it from."""

from headway.train.collective import barrier, broadcast_from_rank_zero

__all__ = ["barrier", "broadcast_from_rank_zero"]
