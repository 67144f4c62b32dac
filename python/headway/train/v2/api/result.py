"""The result of a run, where newer code imports it from."""

from headway.train import Result

__all__ = ["Result"]
