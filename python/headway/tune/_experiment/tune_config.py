"""How an experiment searches."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from headway._values.arguments import check_bool, check_instance, check_int, check_number, check_str, refuse
from headway.train import ScalingConfig
from headway.tune._space.variants import open_values
from headway.tune.schedulers.trial_scheduler import TrialScheduler
from headway.tune.search.searcher import Searcher, refuse_mode

_COUNT = "an integer of at least 1, or -1 for trials without end"


@dataclass
class TuneConfig:
    """How an experiment searches.

    Attributes:
        metric: What is optimised; ``/`` between nested keys.
        mode: ``"min"`` or ``"max"``.
        search_alg: What suggests configurations; default: grids and random search.
        scheduler: What ends trials early; default: nothing.
        num_samples: How many trials, times the points of the grids; -1: without end.
        max_concurrent_trials: At most so many at once; default: as many as there is room for.
        time_budget_s: Seconds, or a ``datetime.timedelta``, until the experiment is stopped.
        reuse_actors: Without effect: each trial is a fresh process, forked from one that has the
            imports already.
        trial_name_creator: A function of a :class:`Trial` that gives its name, which callbacks,
            trackers and ``get_context().get_trial_name()`` have.
        trial_dirname_creator: A function of a :class:`Trial` that gives its folder's name.
        chdir_to_trial_dir: Of an older API, to be left out.

    Example:
        >>> from headway import tune
        >>> config = tune.TuneConfig(metric="loss", mode="min", num_samples=20)
    """

    metric: str | None = None
    mode: str | None = None
    search_alg: Searcher | None = None
    scheduler: TrialScheduler | None = None
    num_samples: int = 1
    max_concurrent_trials: int | None = None
    time_budget_s: float | datetime.timedelta | None = None
    reuse_actors: bool = False
    trial_name_creator: Callable[[Any], str] | None = None
    trial_dirname_creator: Callable[[Any], str] | None = None
    chdir_to_trial_dir: bool | None = None

    def __post_init__(self) -> None:
        if self.metric is not None:
            check_str("TuneConfig.metric", self.metric, "None or the name of a metric")
        if self.mode not in (None, "min", "max"):
            refuse_mode(self.mode)
        check_instance("TuneConfig.search_alg", self.search_alg, Searcher, "a Searcher or None")
        check_instance("TuneConfig.scheduler", self.scheduler, TrialScheduler, "a scheduler of headway.tune.schedulers")
        check_int("TuneConfig.num_samples", self.num_samples, _COUNT)
        if self.num_samples != -1 and self.num_samples < 1:
            raise ValueError(f"TuneConfig.num_samples is {self.num_samples}; allowed: {_COUNT}")
        if self.max_concurrent_trials is not None:
            allowed = "None or an integer of at least 1"
            if check_int("TuneConfig.max_concurrent_trials", self.max_concurrent_trials, allowed) < 1:
                raise ValueError(
                    f"TuneConfig.max_concurrent_trials is {self.max_concurrent_trials}; allowed: {allowed}"
                )
        check_bool("TuneConfig.reuse_actors", self.reuse_actors)
        for name in ("trial_name_creator", "trial_dirname_creator"):
            if getattr(self, name) is not None and not callable(getattr(self, name)):
                refuse(f"TuneConfig.{name}", getattr(self, name), "None or a function of a Trial")
        if self.chdir_to_trial_dir is not None:
            raise DeprecationWarning(
                "TuneConfig.chdir_to_trial_dir is of an older API; set HEADWAY_CHDIR_TO_TRIAL_DIR=0 instead"
            )
        self.time_budget()

    def time_budget(self) -> float | None:
        """The budget in seconds."""
        if self.time_budget_s is None:
            return None
        allowed = "None, seconds above 0, or a datetime.timedelta"
        given = self.time_budget_s
        given = given.total_seconds() if isinstance(given, datetime.timedelta) else given
        seconds = check_number("TuneConfig.time_budget_s", given, allowed)
        if not 0 < seconds < math.inf:
            raise ValueError(f"TuneConfig.time_budget_s is {given!r}; allowed: {allowed}")
        return seconds


def check_space(space: object) -> dict[str, Any]:
    """``Tuner``'s ``param_space`` as a dict."""
    if hasattr(space, "to_dict"):
        space = space.to_dict()
    if space is None:
        return {}
    if not isinstance(space, dict):
        raise ValueError(f"param_space is {space!r} ({type(space).__name__}); allowed: None or a dict")
    for name, config in (("run_config", "RunConfig"), ("tune_config", "TuneConfig")):
        if name in space:
            raise ValueError(
                f"param_space has {name!r}; allowed: what trials may differ in. Give {config} to the Tuner"
            )
    # Its fields are as good as a dict's keys, where one of them is open.
    space = {
        name: value._searched() or value if isinstance(value, ScalingConfig) else value for name, value in space.items()
    }
    for path, _ in open_values(space):
        if any(isinstance(key, str) and "/" in key for key in path):
            raise ValueError(f"param_space has {'/'.join(map(str, path))!r}; allowed: names without '/'")
    return space
