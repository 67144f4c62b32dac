"""What suggests configurations, and learns from the results."""

from __future__ import annotations

import glob
import inspect
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import cloudpickle

from headway._values.arguments import check_str, refuse

#: A metric's name, or several of them.
Names: TypeAlias = "str | list[str] | None"

_MODES = ("min", "max")


class Searcher:
    """Suggests configurations, and hears of the results. Subclass it and override ``suggest`` and
    ``on_trial_complete``.

    All methods are called on the thread that called ``fit()``.

    Args:
        metric: What is optimised; a list where the searcher can optimise several. Default: that of
            ``TuneConfig``.
        mode: ``"min"`` or ``"max"``, or a list of as many.

    Example:
        >>> from headway.tune.search import Searcher
        >>> class Halving(Searcher):
        ...     lr = 1.0
        ...     def suggest(self, trial_id):
        ...         self.lr /= 2
        ...         return {"lr": self.lr}
        ...     def on_trial_complete(self, trial_id, result=None, error=False):
        ...         pass
        >>> Halving().suggest("trial")
        {'lr': 0.5}
    """

    #: What ``suggest`` returns when there will never be another configuration.
    FINISHED = "FINISHED"
    _FILES = "searcher-state-{}.pkl"

    def __init__(self, metric: Names = None, mode: Names = None):
        self._metric = metric
        self._mode = mode
        check_objective(metric, mode)

    @property
    def metric(self) -> Names:
        """What is optimised."""
        return self._metric

    @property
    def mode(self) -> Names:
        """Whether higher is better."""
        return self._mode

    def _take_objective(self, metric: str | None, mode: str | None) -> bool:
        """Takes what this searcher was made without; whether there was any of it."""
        taken = False
        for name, value in (("_metric", metric), ("_mode", mode)):
            if getattr(self, name) is None and value is not None:
                setattr(self, name, value)
                taken = True
        return taken

    def set_search_properties(self, metric: str | None, mode: str | None, config: dict[str, Any], **spec: Any) -> bool:
        """Hears of ``TuneConfig`` and of the search space before the first suggestion.

        Args:
            metric: ``TuneConfig.metric``.
            mode: ``TuneConfig.mode``.
            config: The search space.
            spec: More about the experiment.

        Returns:
            Whether the searcher takes them. One that was made with all that it needs says False.
        """
        return False

    def suggest(self, trial_id: str) -> dict[str, Any] | str | None:
        """A configuration for a new trial; None if there is none now, ``FINISHED`` if there is none
        any more.

        Args:
            trial_id: The new trial.
        """
        raise NotImplementedError(f"{type(self).__name__} has no suggest(trial_id)")

    def on_trial_result(self, trial_id: str, result: dict[str, Any]) -> None:
        """Hears of a report.

        Args:
            trial_id: Whose it is.
            result: The report.
        """

    def on_trial_complete(self, trial_id: str, result: dict[str, Any] | None = None, error: bool = False) -> None:
        """Hears of a trial's end.

        Args:
            trial_id: The trial.
            result: Its last report; None if there was none.
            error: Whether it has failed.
        """
        raise NotImplementedError(f"{type(self).__name__} has no on_trial_complete(trial_id, result, error)")

    def add_evaluated_point(
        self,
        parameters: dict[str, Any],
        value: float | list[float],
        error: bool = False,
        pruned: bool = False,
        intermediate_values: list[float] | None = None,
    ) -> None:
        """Hears of a result that is known beforehand.

        Args:
            parameters: The configuration.
            value: What it has reached.
            error: Whether it has failed.
            pruned: Whether it was stopped early.
            intermediate_values: What it reported before.
        """
        raise NotImplementedError(f"{type(self).__name__} does not learn from results of earlier experiments")

    def get_state(self) -> dict[str, Any]:
        """What ``save`` keeps: everything that the searcher has."""
        return self.__dict__.copy()

    def set_state(self, state: dict[str, Any]) -> None:
        """Takes up a state of ``get_state``.

        Args:
            state: The state.
        """
        self.__dict__.update(state)

    def save(self, checkpoint_path: str) -> None:
        """Writes the state to a file; the file is there as a whole, or as it was.

        Args:
            checkpoint_path: The file.
        """
        beside = f"{checkpoint_path}.{os.getpid()}"
        with open(beside, "wb") as file:
            cloudpickle.dump(self.get_state(), file)
        os.replace(beside, checkpoint_path)

    def restore(self, checkpoint_path: str) -> None:
        """Takes up the state of a file that ``save`` has written.

        Args:
            checkpoint_path: The file.
        """
        with open(checkpoint_path, "rb") as file:
            self.set_state(cloudpickle.load(file))

    def save_to_dir(self, checkpoint_dir: str, session_str: str = "default") -> None:
        """As ``save``, to a file in an experiment's folder.

        Args:
            checkpoint_dir: The folder.
            session_str: What tells this file from those of other sessions.
        """
        self.save(os.path.join(checkpoint_dir, self._FILES.format(session_str)))

    def restore_from_dir(self, checkpoint_dir: str) -> None:
        """As ``restore``, from the newest such file of a folder.

        Args:
            checkpoint_dir: The folder.

        Raises:
            FileNotFoundError: there is none.
        """
        found = glob.glob(os.path.join(glob.escape(checkpoint_dir), self._FILES.format("*")))
        if not found:
            raise FileNotFoundError(f"checkpoint_dir is {checkpoint_dir!r}, where no searcher's state is")
        self.restore(max(found, key=os.path.getmtime))

    def set_max_concurrency(self, max_concurrent: int) -> bool:
        """Hears how many trials will run at once.

        Args:
            max_concurrent: ``TuneConfig.max_concurrent_trials``.

        Returns:
            Whether the searcher keeps to it by itself.
        """
        return False


def check_objective(metric: object, mode: object) -> None:
    """Metric and mode of a searcher."""
    allowed = "the name of a metric, or a list of them"
    names = metric if isinstance(metric, (list, tuple)) else [metric]
    modes = mode if isinstance(mode, (list, tuple)) else [mode]
    for each in names:
        if each is not None:
            check_str("metric", each, allowed)
    for each in modes:
        if each is not None and each not in _MODES:
            refuse_mode(each)
    several = isinstance(mode, (list, tuple)) or (mode is not None and len(names) > 1)
    if several and len(modes) != len(names):
        raise ValueError(f"mode is {mode!r} and metric {metric!r}; allowed: as many modes as metrics")


def refuse_mode(mode: object) -> None:
    """Raises for what is no mode."""
    if not isinstance(mode, str):
        refuse("mode", mode, '"min" or "max"')
    raise ValueError(f'mode is {mode!r}; allowed: "min" or "max"')


def metric_value(result: Mapping[str, Any], metric: str) -> Any:
    """A metric of a report: ``"eval/loss"`` is ``result["eval"]["loss"]`` as well.

    Raises:
        ValueError: the report does not have it.
    """
    if metric in result:
        return result[metric]
    value: Any = result
    for key in metric.split("/"):
        if not isinstance(value, Mapping) or key not in value:
            there = ", ".join(map(str, result)) or "nothing"
            raise ValueError(f"metric is {metric!r}, which was not reported; there is {there}")
        value = value[key]
    return value


def set_properties(
    searcher: Searcher, metric: str | None, mode: str | None, config: dict[str, Any], **spec: Any
) -> bool:
    """Calls a searcher's ``set_search_properties``, which has no ``**spec`` in older searchers."""
    parameters = inspect.signature(searcher.set_search_properties).parameters
    takes_all = any(each.kind is each.VAR_KEYWORD for each in parameters.values())
    taken = spec if takes_all else {name: value for name, value in spec.items() if name in parameters}
    return searcher.set_search_properties(metric, mode, config, **taken)


def kept_state(searcher: Searcher) -> Any:
    """What an experiment keeps of a searcher: its state, or the file that its ``save`` writes."""
    if type(searcher).save is Searcher.save:
        return searcher.get_state()
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "searcher.pkl")
        searcher.save(path)
        with open(path, "rb") as file:
            return _OwnFile(file.read())


def take_up(searcher: Searcher, kept: Any) -> None:
    """Takes up what :func:`kept_state` has given."""
    if not isinstance(kept, _OwnFile):
        searcher.set_state(kept)
        return
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "searcher.pkl")
        with open(path, "wb") as file:
            file.write(kept.content)
        searcher.restore(path)


@dataclass(frozen=True)
class _OwnFile:
    """What a searcher's own ``save`` has written."""

    content: bytes
