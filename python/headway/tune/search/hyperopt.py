"""HyperOpt as a searcher."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from typing import Any

from headway._values.arguments import check_int, check_number
from headway._values.named_arguments import offer
from headway.tune._space.domains import Categorical, Domain, Float, Integer, Numbers
from headway.tune._space.laws import Normal
from headway.tune._space.variants import open_values
from headway.tune.search._library import LibrarySearcher, ends, is_log, library
from headway.tune.search._parameters import without_law

__all__ = ["HyperOptSearch"]

#: The table of places has a module below this one, with Ray's name.
__path__: list[str] = []

_SEED_END = 2**31 - 1


class HyperOptSearch(LibrarySearcher):
    """Searches with TPE of `HyperOpt <http://hyperopt.github.io/hyperopt>`_.

    Args:
        space: The search space. Default: ``param_space`` of the tuner. A dict may hold HyperOpt's
            own expressions, such as ``hp.uniform("x", 0, 1)``.
        metric: What is optimised. Default: that of ``TuneConfig``.
        mode: ``"min"`` or ``"max"``.
        points_to_evaluate: Configurations to begin with.
        n_initial_points: How many trials are drawn at random before the model is asked.
        random_state_seed: Seeds the draws.
        gamma: The share of the best trials in the model.

    Example:
        >>> from headway import tune
        >>> from headway.tune.search.hyperopt import HyperOptSearch
        >>> search = HyperOptSearch({"x": tune.uniform(0, 1)}, "loss", "min")  # doctest: +SKIP
    """

    def __init__(
        self,
        space: Mapping[str, Any] | None = None,
        metric: str | None = None,
        mode: str | None = None,
        points_to_evaluate: Sequence[dict[str, Any]] | None = None,
        n_initial_points: int = 20,
        random_state_seed: int | None = None,
        gamma: float = 0.25,
    ):
        _hyperopt()
        import numpy as np

        if check_int("n_initial_points", n_initial_points, "an integer of at least 0") < 0:
            raise ValueError(f"n_initial_points is {n_initial_points}; allowed: an integer of at least 0")
        if not 0 < check_number("gamma", gamma, "a number in (0, 1)") < 1:
            raise ValueError(f"gamma is {gamma}; allowed: a number in (0, 1)")
        if random_state_seed is not None:
            check_int("random_state_seed", random_state_seed, "None or an integer")
        self._n_initial_points, self._gamma = n_initial_points, gamma
        self._random = np.random.default_rng(random_state_seed)
        super().__init__(space, metric, mode, points_to_evaluate)

    def _own_space(self, space: Any) -> Any:
        is_own = isinstance(space, Mapping) and space and not any(True for _ in open_values(dict(space)))
        return dict(space) if is_own else None

    def _check_domain(self, name: str, domain: Domain) -> None:
        if not isinstance(domain, (Categorical, Float, Integer)):
            raise without_law(name, domain, type(self).__name__)

    def _open(self) -> None:
        hyperopt = _hyperopt()
        space = self._native
        if space is None:
            space = {name: _expression(hyperopt.hp, name, domain) for name, domain in self._domains.items()}
        self._trials = hyperopt.Trials()
        self._domain = hyperopt.base.Domain(_same, space)
        self._algorithm = functools.partial(
            hyperopt.tpe.suggest, n_startup_jobs=self._n_initial_points, gamma=self._gamma
        )

    def _ask(self) -> tuple[Any, dict[str, Any]] | str | None:
        hyperopt = _hyperopt()
        (tid,) = self._trials.new_trial_ids(1)
        self._trials.refresh()
        docs = self._algorithm([tid], self._domain, self._trials, int(self._random.integers(_SEED_END)))
        self._trials.insert_trial_docs(docs)
        self._trials.refresh()
        chosen = hyperopt.base.spec_from_misc(docs[0]["misc"])
        memo = self._domain.memo_from_config(chosen)
        values: dict[str, Any] = hyperopt.pyll.rec_eval(self._domain.expr, memo=memo)
        return tid, dict(values)

    def _given(self, values: dict[str, Any]) -> Any:
        (tid,) = self._trials.new_trial_ids(1)
        misc = {
            "tid": tid,
            "cmd": self._domain.cmd,
            "workdir": self._domain.workdir,
            "idxs": {name: [tid] for name in values},
            "vals": {name: [value] for name, value in values.items()},
        }
        self._trials.insert_trial_docs(self._trials.new_trial_docs([tid], [None], [{"status": "new"}], [misc]))
        self._trials.refresh()
        return tid

    def _tell(self, handle: Any, value: float, result: Mapping[str, Any]) -> None:
        hyperopt = _hyperopt()
        doc = self._doc(handle)
        doc["state"] = hyperopt.base.JOB_STATE_DONE
        doc["result"] = {"loss": self._least * value, "status": hyperopt.STATUS_OK}
        self._trials.refresh()

    def _lost(self, handle: Any, *, failed: bool) -> None:
        self._doc(handle)["state"] = _hyperopt().base.JOB_STATE_ERROR
        self._trials.refresh()

    def _doc(self, tid: int) -> dict[str, Any]:
        found: dict[str, Any] = next(each for each in reversed(self._trials._dynamic_trials) if each["tid"] == tid)
        return found


offer(globals(), __all__)


def _hyperopt() -> Any:
    return library("hyperopt", "HyperOptSearch", "pip install hyperopt")


def _same(space: Any) -> Any:
    return space


def _expression(hp: Any, name: str, domain: Domain) -> Any:
    """HyperOpt's expression for a domain."""
    if isinstance(domain, Categorical):
        return hp.choice(name, list(range(len(domain.categories))))
    assert isinstance(domain, Numbers)
    q = domain.q
    law = domain.base_law
    if isinstance(law, Normal):
        return hp.qnormal(name, law.mean, law.sd, q) if q else hp.normal(name, law.mean, law.sd)
    low, high = ends(domain)
    if is_log(domain):
        logs = (math.log(low), math.log(high))
        step = q or (1 if isinstance(domain, Integer) else None)
        return hp.qloguniform(name, *logs, step) if step else hp.loguniform(name, *logs)
    if q and q != 1:
        return hp.quniform(name, low, high, q)
    if isinstance(domain, Integer):
        return hp.randint(name, int(low), int(high) + 1)
    return hp.uniform(name, low, high)
