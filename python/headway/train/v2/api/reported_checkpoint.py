"""What is known of a checkpoint, where newer code imports it from."""

from headway.train import ReportedCheckpoint, ReportedCheckpointStatus

__all__ = ["ReportedCheckpoint", "ReportedCheckpointStatus"]
