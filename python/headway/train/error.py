"""What a function that belongs into a training function raises elsewhere, where older code imports it from."""

from headway._worker.session import SessionMisuseError

__all__ = ["SessionMisuseError"]
