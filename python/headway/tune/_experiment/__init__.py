"""Experiments: trials of a trainable over a search space, from their start to their results."""
