"""Population based training, and the replay of what it has found."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

from headway._values.arguments import check_bool, check_number, check_str, refuse
from headway.tune.schedulers._explore import check_mutations, explore, fill, shown_changes
from headway.tune.schedulers.trial_scheduler import CopyAsked, Explored, FIFOScheduler, SavePlan, objective
from headway.tune.search.basic_variant import BasicVariantGenerator
from headway.tune.search.errors import TuneError
from headway.tune.search.searcher import Searcher


class PopulationBasedTraining(FIFOScheduler):
    """Trains a population: the worst trials go on as copies of the best, with changed
    configurations (PBT).

    Every ``perturbation_interval`` a trial is compared with the others. One of the worst
    ``quantile_fraction`` continues from the checkpoint of one of the best, with a configuration
    that differs a little from that one's. So report a checkpoint at least that often; a
    ``Trainable`` is saved at each perturbation by itself. More trials than there are places take
    turns: the one that has trained least is next.

    Args:
        time_attr: How far a trial is: a metric that grows, such as ``training_iteration``.
        metric: What is compared. Default: that of ``TuneConfig``.
        mode: ``"min"`` or ``"max"``. Default: that of ``TuneConfig``.
        perturbation_interval: A trial is compared after so much of ``time_attr``.
        burn_in_period: No trial is compared before.
        hyperparam_mutations: By name, what a parameter may become: a list of values, of which one
            goes to a neighbour; a search space or a function, by which a parameter is drawn anew,
            or is multiplied by one of ``perturbation_factors``; or a dict of such. Parameters that
            a configuration lacks are drawn by it, too.
        quantile_fraction: How many are the worst, and how many the best; at most 0.5.
        resample_probability: How often a parameter is drawn anew.
        perturbation_factors: What numbers are multiplied by.
        custom_explore_fn: Called with the changed configuration; returns it.
        log_config: Whether ``pbt_global.txt`` and ``pbt_policy_<trial>.txt`` are written to the
            experiment's folder.
        require_attrs: Whether each report must have ``time_attr``.
        synch: Whether all trials wait for each other before they are compared.

    Example:
        >>> from headway import tune
        >>> scheduler = tune.schedulers.PopulationBasedTraining(
        ...     time_attr="training_iteration",
        ...     perturbation_interval=5,
        ...     hyperparam_mutations={"lr": tune.loguniform(1e-4, 1e-1), "units": [32, 64, 128]},
        ... )
    """

    has_copies = True
    _label = "PBT"

    def __init__(
        self,
        time_attr: str = "time_total_s",
        metric: str | None = None,
        mode: str | None = None,
        perturbation_interval: float = 60.0,
        burn_in_period: float = 0.0,
        hyperparam_mutations: dict[str, Any] | None = None,
        quantile_fraction: float = 0.25,
        resample_probability: float = 0.25,
        perturbation_factors: tuple[float, float] = (1.2, 0.8),
        custom_explore_fn: Callable[[dict[str, Any]], dict[str, Any]] | None = None,
        log_config: bool = True,
        require_attrs: bool = True,
        synch: bool = False,
    ):
        self.time_attr = check_str("time_attr", time_attr, "the name of a metric that grows")
        self.metric, self.mode = objective(metric, mode)
        self.perturbation_interval = _number("perturbation_interval", perturbation_interval, "a number above 0")
        if self.perturbation_interval <= 0:
            raise ValueError(f"perturbation_interval is {perturbation_interval!r}; allowed: a number above 0")
        self.burn_in_period = _number("burn_in_period", burn_in_period, "a number")
        self.hyperparam_mutations = check_mutations(hyperparam_mutations)
        if custom_explore_fn is not None and not callable(custom_explore_fn):
            refuse("custom_explore_fn", custom_explore_fn, "None, or a function of a configuration")
        if not self.hyperparam_mutations and custom_explore_fn is None:
            raise TuneError(
                f"{type(self).__name__} has neither hyperparam_mutations nor custom_explore_fn; allowed: at least one"
            )
        self.quantile_fraction = _share("quantile_fraction", quantile_fraction, 0.5)
        self.resample_probability = _share("resample_probability", resample_probability, 1)
        self.perturbation_factors = _factors(perturbation_factors)
        self.custom_explore_fn = custom_explore_fn
        self.log_config = check_bool("log_config", log_config)
        self.require_attrs = check_bool("require_attrs", require_attrs)
        self.synch = check_bool("synch", synch)

    def for_core(self) -> dict[str, Any]:
        """As the core reads it."""
        names = ("time_attr", "metric", "mode", "perturbation_interval", "burn_in_period", "quantile_fraction")
        flags = ("log_config", "require_attrs", "synch")
        return {"kind": "pbt", "label": self._label, **{name: getattr(self, name) for name in (*names, *flags)}}

    def check_search(self, search_alg: Searcher | None, total: int | None) -> None:
        """Configurations change as it says, not as a searcher does."""
        if search_alg is not None and not isinstance(search_alg, BasicVariantGenerator):
            raise ValueError(
                f"Search algorithms cannot be used with {type(self).__name__} schedulers. "
                f"Please remove {type(search_alg).__name__}."
            )

    def complete(self, config: dict[str, Any]) -> dict[str, Any]:
        """Draws the parameters that a new trial's configuration lacks, and returns them."""
        return fill(config, self.hyperparam_mutations)

    def save_plan(self) -> SavePlan:
        """When a class has a checkpoint."""
        return SavePlan(self.time_attr, self.perturbation_interval, self.burn_in_period)

    def explored(self, donor_config: dict[str, Any], asked: CopyAsked) -> Explored:
        """The configuration of a trial that goes on as a copy of a donor."""
        new, done = explore(
            donor_config,
            self.hyperparam_mutations,
            self.resample_probability,
            self.perturbation_factors,
            self.custom_explore_fn,
        )
        return Explored(new, shown_changes(donor_config, new, done))


class PopulationBasedTrainingReplay(FIFOScheduler):
    """Trains one trial by the schedule of configurations that PBT has found.

    Args:
        policy_file: The file ``pbt_policy_<trial>.txt`` of an experiment with PBT.

    Example:
        >>> from headway import tune
        >>> replay = tune.schedulers.PopulationBasedTrainingReplay("pbt_policy_1.txt")  # doctest: +SKIP
    """

    def __init__(self, policy_file: str):
        if not isinstance(policy_file, (str, os.PathLike)):
            refuse("policy_file", policy_file, "the path of a file pbt_policy_<trial>.txt")
        path = os.path.expanduser(os.fspath(policy_file))
        if not os.path.exists(path):
            raise ValueError(f"Policy file not found: {path}")
        self.policy_file = path
        self.config, self._policy = _policy_of(path)

    def for_core(self) -> dict[str, Any]:
        """As the core reads it."""
        return {"kind": "pbt_replay", "changes": [step for step, _ in self._policy]}

    def check_search(self, search_alg: Searcher | None, total: int | None) -> None:
        """One trial has one schedule."""
        if total != 1:
            raise ValueError(
                f"{'no end of' if total is None else total} trials are planned for the replay of one; allowed: 1, "
                "so num_samples=1 and no grid_search"
            )

    def complete(self, config: dict[str, Any]) -> dict[str, Any]:
        """The trial begins with the schedule's first configuration."""
        if self._policy:
            config.clear()
            config.update(self.config)
        elif not config:
            raise ValueError(f"{self.policy_file} has no change, and the trial has no configuration; allowed: one")
        return {}

    def save_plan(self) -> SavePlan:
        """When a class has a checkpoint."""
        return SavePlan("training_iteration", 0, at=tuple(step for step, _ in self._policy))

    def explored(self, donor_config: dict[str, Any], asked: CopyAsked) -> Explored:
        """The schedule's next configuration."""
        return Explored(dict(self._policy[asked.number - 1][1]), "")


def _policy_of(path: str) -> tuple[dict[str, Any], list[tuple[float, dict[str, Any]]]]:
    """The first configuration, and the later ones with their iterations. From the end to the start:
    what comes before a change of tags was overwritten.
    """
    with open(path) as file:
        try:
            rows = [json.loads(line) for line in file]
            changes: list[tuple[float, dict[str, Any]]] = []
            first: dict[str, Any] = {}
            tag = None
            for old_tag, new_tag, _, step, old, new in reversed(rows):
                if tag and old_tag != tag:
                    break
                tag, first = new_tag, old
                changes.append((step, new))
        except (ValueError, TypeError) as error:
            raise ValueError(f"Could not read PBT policy file: {path}.") from error
    return first, changes[::-1]


def _number(name: str, value: object, allowed: str) -> float:
    number = check_number(name, value, allowed)
    if number != number or abs(number) == float("inf"):
        raise ValueError(f"{name} is {value!r}; allowed: {allowed}")
    return number


def _share(name: str, value: object, most: float) -> float:
    allowed = f"a number from 0 to {most}"
    share = check_number(name, value, allowed)
    if not 0 <= share <= most:
        raise ValueError(f"{name} is {value!r}; allowed: {allowed}")
    return share


def _factors(given: Any) -> tuple[float, ...]:
    allowed = "a list of numbers, such as (1.2, 0.8)"
    if not isinstance(given, (list, tuple)) or not given:
        refuse("perturbation_factors", given, allowed)
    for index, each in enumerate(given):
        check_number(f"perturbation_factors[{index}]", each, allowed)
    return tuple(given)
