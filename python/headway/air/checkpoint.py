"""Checkpoints, where older code imports them from."""

from headway.train import Checkpoint

__all__ = ["Checkpoint"]
