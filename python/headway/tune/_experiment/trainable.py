"""A trial as a class: set-up, steps, checkpoints."""

from __future__ import annotations

from typing import Any


class Trainable:
    """A trial as a class. Subclass it, override ``setup`` and ``step``, and for checkpoints
    ``save_checkpoint`` and ``load_checkpoint``.

    ``step`` is called again and again, and each of its results is a report; the trial ends when a
    result has ``done=True``, and where the scheduler or ``RunConfig.stop`` says so.

    Attributes:
        config: The configuration.
        iteration: How many steps have been made; it counts on from a checkpoint.
        trial_id: The trial's id.
        trial_name: The trial's name.
        trial_resources: What the trial may use.
        logdir: The directory that the trial works in.

    Example:
        >>> from headway import tune
        >>> class Halving(tune.Trainable):
        ...     def setup(self, config):
        ...         self.value = config["start"]
        ...     def step(self):
        ...         self.value /= 2
        ...         return {"value": self.value, "done": self.value < 0.1}
        >>> tuner = tune.Tuner(Halving, param_space={"start": tune.grid_search([1.0, 8.0])})
    """

    iteration: int = 0
    trial_id: str = ""
    trial_name: str = ""
    trial_resources: Any = None
    logdir: str = ""

    def __init__(self, config: dict[str, Any] | None = None):
        self.config: dict[str, Any] = config or {}

    def setup(self, config: dict[str, Any]) -> None:
        """Called once in each process of the trial, before anything else.

        Args:
            config: The configuration.
        """

    def step(self) -> dict[str, Any]:
        """One iteration; returns its metrics. ``done=True`` ends the trial, and
        ``should_checkpoint=True`` asks for a checkpoint.
        """
        raise NotImplementedError(f"{type(self).__name__} has no step()")

    def save_checkpoint(self, checkpoint_dir: str) -> Any:
        """Writes a checkpoint to a directory, or returns a dict that is one.

        Args:
            checkpoint_dir: An empty directory.
        """
        raise NotImplementedError(f"{type(self).__name__} has no save_checkpoint(checkpoint_dir)")

    def load_checkpoint(self, checkpoint: Any) -> None:
        """Takes up a checkpoint.

        Args:
            checkpoint: The directory, or the dict that ``save_checkpoint`` has returned.
        """
        raise NotImplementedError(f"{type(self).__name__} has no load_checkpoint(checkpoint)")

    def reset_config(self, new_config: dict[str, Any]) -> bool:
        """Whether the object takes up another configuration; without effect yet.

        Args:
            new_config: The other configuration.
        """
        return False

    def log_result(self, result: dict[str, Any]) -> None:
        """Hears of each result before it is reported.

        Args:
            result: The result.
        """

    def cleanup(self) -> None:
        """Called at the end."""

    @classmethod
    def default_resource_request(cls, config: dict[str, Any]) -> Any:
        """What a trial may use where ``with_resources`` does not say it; None: one CPU.

        Args:
            config: The trial's configuration.
        """
        return None
