"""What is known of nodes that are taken away, where newer code imports it from."""

from headway.train import PreemptionInfo

__all__ = ["PreemptionInfo"]
