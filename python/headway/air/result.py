"""The result of a run, where older code imports it from."""

from headway.train import Result

__all__ = ["Result"]
