"""Optuna as a searcher: the study is asked for configurations and told the results."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from headway._values.arguments import check_int, check_str, refuse
from headway._values.named_arguments import offer
from headway.tune._space.domains import Categorical, Domain, Float, Integer, Numbers
from headway.tune._space.laws import LogUniform, Normal
from headway.tune.search._parameters import flattened, parameters, unflattened, without_law
from headway.tune.search.basic_variant import check_points
from headway.tune.search.searcher import Names, Searcher, metric_value

__all__ = ["OptunaSearch"]

#: The table of places has a module below this one, with Ray's name.
__path__: list[str] = []

_SPACE = "None, a dict from parameters to distributions of Optuna or of headway.tune, or a function of a trial"
_PLAIN = (bool, int, float, str, type(None))


class OptunaSearch(Searcher):
    """Searches with `Optuna <https://optuna.org>`_: by default with its TPE sampler.

    Args:
        space: The search space. Default: ``param_space`` of the tuner. A dict may hold Optuna's
            distributions; a function takes an Optuna trial, calls its ``suggest_...`` methods
            (define-by-run), and may return a dict of further values for the configuration.
        metric: What is optimised; a list for several objectives. Default: that of ``TuneConfig``.
        mode: ``"min"`` or ``"max"``, or a list of as many.
        points_to_evaluate: Configurations to begin with.
        sampler: A sampler of Optuna. Default: ``TPESampler``.
        study_name: The study's name in its storage.
        storage: A storage of Optuna, which other programs may read while this one searches.
            Default: memory.
        seed: Seeds the default sampler.
        evaluated_rewards: What ``points_to_evaluate`` have reached, if it is known: they are
            learned from and not tried again.

    Example:
        >>> from headway import tune
        >>> from headway.tune.search.optuna import OptunaSearch
        >>> search = OptunaSearch({"lr": tune.loguniform(1e-4, 1)}, metric="loss", mode="min", seed=1)
        >>> config = search.suggest("trial")
        >>> search.on_trial_complete("trial", {"loss": config["lr"] ** 2})
        >>> 1e-4 <= config["lr"] <= 1
        True
    """

    def __init__(
        self,
        space: Mapping[str, Any] | Callable[[Any], dict[str, Any] | None] | None = None,
        metric: Names = None,
        mode: Names = None,
        points_to_evaluate: Sequence[dict[str, Any]] | None = None,
        sampler: Any = None,
        study_name: str | None = None,
        storage: Any = None,
        seed: int | None = None,
        evaluated_rewards: Sequence[Any] | None = None,
    ):
        _optuna()
        super().__init__(metric, mode)
        self._space: Any = None
        self._choices: dict[str, list[Any]] = {}
        #: All of a space that is a dict, constants too.
        self._names: set[str] = set()
        self._points = check_points(points_to_evaluate)
        self._rewards = _check_rewards(evaluated_rewards, len(self._points))
        self._sampler = _sampler(sampler, seed)
        self._seed = seed
        self._study_name = None if study_name is None else check_str("study_name", study_name, "None or a name")
        self._storage = _check_storage(storage)
        self._study: Any = None
        self._trials: dict[str, Any] = {}
        self._constants: dict[str, Any] = {}
        if space is not None:
            self._take_space(space)
            self._start_if_ready()

    def set_search_properties(self, metric: str | None, mode: str | None, config: dict[str, Any], **spec: Any) -> bool:
        """Takes what was not given when it was made.

        Args:
            metric: ``TuneConfig.metric``.
            mode: ``TuneConfig.mode``.
            config: The search space.
            spec: Without effect.
        """
        taken = False
        if self._space is None and config:
            self._take_space(config)
            taken = True
        taken = self._take_objective(metric, mode) or taken
        self._start_if_ready()
        return taken

    def suggest(self, trial_id: str) -> dict[str, Any] | str | None:
        """What the study says.

        Args:
            trial_id: The new trial.

        Raises:
            ValueError: the space, metric or mode is missing.
        """
        study = self._ready_study()
        if callable(self._space):
            trial = self._trials[trial_id] = study.ask()
            more = self._space(trial)
            if more is not None and not isinstance(more, Mapping):
                refuse("what the function space returns", more, "None or a dict of further values")
            return unflattened({**trial.params, **(more or {})})
        trial = self._trials[trial_id] = study.ask(fixed_distributions=self._space)
        return unflattened({**self._constants, **{name: self._chosen(name, v) for name, v in trial.params.items()}})

    def on_trial_result(self, trial_id: str, result: dict[str, Any]) -> None:
        """Reports an intermediate value, unless there are several objectives."""
        if isinstance(self._metric, str) and trial_id in self._trials:
            value = float(metric_value(result, self._metric))
            self._trials[trial_id].report(value, int(result.get("training_iteration", 0)))

    def on_trial_complete(self, trial_id: str, result: dict[str, Any] | None = None, error: bool = False) -> None:
        """Tells the study what a trial has reached."""
        trial = self._trials.pop(trial_id, None)
        if trial is None:
            return
        state = _optuna().trial.TrialState
        if result is None or error:
            self._study.tell(trial, state=state.FAIL if error else state.PRUNED)
            return
        names = [self._metric] if isinstance(self._metric, str) else self._metric or []
        values = [float(metric_value(result, name)) for name in names]
        if any(math.isnan(value) for value in values):
            self._study.tell(trial, state=state.FAIL)
        else:
            self._study.tell(trial, values)

    def add_evaluated_point(
        self,
        parameters: dict[str, Any],
        value: float | Sequence[float],
        error: bool = False,
        pruned: bool = False,
        intermediate_values: list[float] | None = None,
    ) -> None:
        """Has the study learn from a result that is known beforehand.

        Args:
            parameters: The configuration.
            value: What it has reached; a list for several objectives.
            error: Whether it has failed.
            pruned: Whether it was stopped early.
            intermediate_values: What it reported before.

        Raises:
            TypeError: the space is a function, whose parameters are known only when it is called.
        """
        study = self._ready_study()
        if callable(self._space):
            refuse("space", self._space, "a dict, where results of earlier trials are to be learned")
        optuna = _optuna()
        state = optuna.trial.TrialState
        end = state.FAIL if error else state.PRUNED if pruned else state.COMPLETE
        values = list(value) if isinstance(value, Sequence) else [value]
        known = {
            name: self._position(name, v)
            for name, v in flattened(parameters, whole=self._choices).items()
            if name in self._space
        }
        steps = dict(enumerate(intermediate_values or []))
        trial = optuna.trial.create_trial(
            state=end,
            params=known,
            distributions={name: self._space[name] for name in known},
            values=values if end == state.COMPLETE else None,
            intermediate_values=steps,
        )
        study.add_trial(trial)

    def _take_space(self, space: object) -> None:
        if callable(space):
            self._space = space
            return
        if not isinstance(space, Mapping):
            refuse("space", space, _SPACE)
        optuna = _optuna()
        own = {name: each for name, each in space.items() if isinstance(each, optuna.distributions.BaseDistribution)}
        rest = {name: each for name, each in space.items() if name not in own}
        found = {name: self._distribution(name, each) for name, each in parameters(rest, "OptunaSearch").items()}
        if not own and not found:
            raise ValueError(f"space is {space!r}; allowed: at least one parameter to search")
        self._space = {**own, **found}
        self._names = {*flattened(space), *self._space}

    def _distribution(self, name: str, domain: Domain) -> Any:
        """Optuna's distribution for a domain."""
        kinds = _optuna().distributions
        if isinstance(domain, Categorical):
            if all(isinstance(each, _PLAIN) for each in domain.categories):
                return kinds.CategoricalDistribution(domain.categories)
            # The study sees positions: it keeps plain values only.
            self._choices[name] = list(domain.categories)
            return kinds.CategoricalDistribution(range(len(domain.categories)))
        if not isinstance(domain, Numbers) or isinstance(domain.base_law, Normal):
            raise without_law(name, domain, "OptunaSearch")
        log = isinstance(domain.base_law, LogUniform)
        if isinstance(domain, Integer):
            step = int(domain.q or 1)
            last = domain.upper if step > 1 else domain.upper - 1
            # Optuna has no steps on a logarithmic scale.
            return kinds.IntDistribution(int(domain.lower), int(last), step=1 if log else step, log=log)
        assert isinstance(domain, Float)
        return kinds.FloatDistribution(domain.lower, domain.upper, step=None if log else domain.q, log=log)

    def _start_if_ready(self) -> None:
        if self._study is None and self._space is not None and self._metric is not None and self._mode is not None:
            self._start()

    def _start(self) -> None:
        for point in self._points:
            self._positions(point)
        directions = [f"{mode}imize" for mode in ([self._mode] if isinstance(self._mode, str) else self._mode or [])]
        optuna = _optuna()
        with _quiet(optuna):
            self._study = optuna.create_study(
                storage=self._storage,
                sampler=self._sampler,
                study_name=self._study_name,
                directions=directions,
                load_if_exists=True,
            )
        for index, point in enumerate(self._points):
            if self._rewards is None:
                self._study.enqueue_trial(self._positions(point))
            else:
                self.add_evaluated_point(point, self._rewards[index])

    def _ready_study(self) -> Any:
        self._start_if_ready()
        if self._study is None:
            missing = "space" if self._space is None else "metric" if self._metric is None else "mode"
            raise ValueError(f"OptunaSearch has no {missing}: give it, or give it to TuneConfig or Tuner")
        return self._study

    def _chosen(self, name: str, value: Any) -> Any:
        return self._choices[name][value] if name in self._choices else value

    def _positions(self, point: Mapping[str, Any]) -> dict[str, Any]:
        """A point to begin with, as the study sees it.

        Raises:
            ValueError: it has a parameter or a choice that the space does not have.
        """
        found = {}
        for name, value in flattened(point, whole=self._choices).items():
            if not callable(self._space) and name not in self._names:
                known = ", ".join(self._space)
                raise ValueError(f"points_to_evaluate has {name!r}; allowed: parameters of the search space: {known}")
            if name in self._choices and value not in self._choices[name]:
                raise ValueError(
                    f"points_to_evaluate: {name!r} is {value!r}; allowed: its choices, {self._choices[name]!r}"
                )
            found[name] = self._position(name, value)
        return found

    def _position(self, name: str, value: Any) -> Any:
        return self._choices[name].index(value) if name in self._choices else value


offer(globals(), __all__)


def _optuna() -> Any:
    try:
        import optuna
    except ImportError:
        raise ImportError("OptunaSearch needs Optuna, which is not installed: pip install optuna") from None
    return optuna


@contextlib.contextmanager
def _quiet(optuna: Any) -> Iterator[None]:
    """Without the line that a study was created, unless the program has asked for more."""
    before = optuna.logging.get_verbosity()
    if before == optuna.logging.INFO:
        optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        yield
    finally:
        optuna.logging.set_verbosity(before)


def _sampler(sampler: Any, seed: object) -> Any:
    samplers = _optuna().samplers
    if seed is not None:
        check_int("seed", seed, "None or an integer")
    if sampler is None:
        # Trials run side by side: those that run count as bad ones, and are not suggested again.
        return samplers.TPESampler(seed=seed, constant_liar=True)
    if not isinstance(sampler, samplers.BaseSampler):
        refuse("sampler", sampler, "a sampler of Optuna, such as optuna.samplers.TPESampler()")
    if seed is not None:
        raise ValueError(f"seed is {seed}, beside a sampler; allowed: one of them, since the sampler has its own seed")
    return sampler


def _check_storage(storage: Any) -> Any:
    if storage is not None and not isinstance(storage, (str, _optuna().storages.BaseStorage)):
        refuse("storage", storage, "None, a URL, or a storage of Optuna")
    return storage


def _check_rewards(rewards: object, points: int) -> list[Any] | None:
    if rewards is None:
        return None
    if isinstance(rewards, str) or not isinstance(rewards, Sequence):
        refuse("evaluated_rewards", rewards, "None, or a list with a value for each of points_to_evaluate")
    if len(rewards) != points:
        raise ValueError(
            f"evaluated_rewards has {len(rewards)} values; allowed: one for each of points_to_evaluate, of which there "
            f"are {points}"
        )
    return list(rewards)
