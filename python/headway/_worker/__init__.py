"""The worker's side: the factory that forks workers, and what a worker does with its life."""
