"""Local mode: the training function runs in the user's own process, or in torchrun's."""
