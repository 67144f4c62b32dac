"""An experiment as a value: for ``tune.run`` and ``run_experiments``."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from headway._values.arguments import check_str, refuse
from headway.tune._experiment.registry import resolved


class Experiment:
    """What ``tune.run`` is to run, as a value.

    Args:
        name: The experiment's name.
        run: A function, a subclass of :class:`Trainable`, a trainer, or a registered name.
        stop: As :func:`run` takes it; so are those below.
        time_budget_s: The same.
        config: The search space.
        resources_per_trial: The same as for :func:`run`.
        num_samples: The same.
        storage_path: The same.
        storage_filesystem: The same.
        checkpoint_config: The same.
        sync_config: The same.
        trial_name_creator: The same.
        trial_dirname_creator: The same.
        log_to_file: The same.
        export_formats: The same.
        max_failures: The same.
        restore: The same.

    Attributes:
        name: The name.
        spec: The other arguments, by name.

    Example:
        >>> from headway import tune
        >>> def trial(config):
        ...     tune.report({"loss": config["x"]})
        >>> experiment = tune.Experiment("first", trial, config={"x": tune.grid_search([1, 2])})
        >>> tune.run(experiment, metric="loss", mode="min", verbose=0).best_config
        {'x': 1}
    """

    #: What belongs to an experiment, of the arguments of ``tune.run``.
    ARGUMENTS: frozenset[str] = frozenset()

    def __init__(
        self,
        name: str,
        run: Any,
        *,
        stop: Any = None,
        time_budget_s: Any = None,
        config: dict[str, Any] | None = None,
        resources_per_trial: Any = None,
        num_samples: int = 1,
        storage_path: Any = None,
        storage_filesystem: Any = None,
        checkpoint_config: Any = None,
        sync_config: Any = None,
        trial_name_creator: Any = None,
        trial_dirname_creator: Any = None,
        log_to_file: Any = False,
        export_formats: Any = None,
        max_failures: int = 0,
        restore: Any = None,
    ):
        given = {key: value for key, value in locals().items() if key in Experiment.ARGUMENTS}
        self.name = check_str("name", name, "a folder name")
        resolved(run)
        self.spec: dict[str, Any] = {**given, "run": run}
        del self.spec["name"]

    @classmethod
    def from_json(cls, name: str, spec: Mapping[str, Any]) -> Experiment:
        """An experiment of a dict of arguments.

        Args:
            name: The experiment's name.
            spec: The other arguments; ``"run"`` is needed.

        Raises:
            ValueError: there is no ``"run"``.
            TypeError: an argument that there is not.
        """
        if not isinstance(spec, Mapping):
            refuse("spec", spec, "a dict of arguments of Experiment")
        if "run" not in spec:
            raise ValueError(f'spec is {dict(spec)!r:.200}; allowed: a dict with "run", the function or class')
        return cls(name, **spec)


Experiment.ARGUMENTS = frozenset(inspect.signature(Experiment).parameters) - {"run"}
