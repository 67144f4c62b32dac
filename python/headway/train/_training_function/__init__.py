"""What a training function may call, and how it is called."""
