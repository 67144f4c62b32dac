"""Validation of checkpoints beside the training."""
