"""Experiment trackers: loggers that send what a run reports to Weights & Biases, MLflow and others,
and what sets a tracker up within a training function.
"""
