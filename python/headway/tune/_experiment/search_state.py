"""The searcher of an experiment: asked for configurations, told results, kept over restores."""

from __future__ import annotations

import functools
import glob
import itertools
import os
import time
from collections.abc import Callable, Mapping
from typing import Any

import cloudpickle

from headway import _core
from headway._values.log import notice, warn
from headway.tune._experiment.records import Records, TrialRecord
from headway.tune._experiment.space_filling import filled
from headway.tune._experiment.tune_config import TuneConfig
from headway.tune._space.variants import Path
from headway.tune.search.basic_variant import BasicVariantGenerator
from headway.tune.search.searcher import Searcher, kept_state, metric_value, set_properties, take_up

_FILE = "searcher-state-{}.pkl"
# Saving may cost this part of the time, and is not done more often than this.
_SAVING_SHARE = 0.05
_SAVING_PAUSE_S = 0.1

# Trials that are ready before there is a place for them. A searcher that learns suggests them
# without the results of those that run.
_SUGGESTED_AHEAD = 2

# How many suggestions that a state lacks are asked for again: one takes a library up to 0.1 s.
_ASKED_AGAIN_MAX = 100

# Marks, in its folder's name, a trial that the search has not suggested: its configuration was
# tried before.
_AGAIN: Path = ("again",)
_MARK = "_again=True_"

Suggestion = tuple[dict[str, Any], dict[Path, Any]]


class SearchState:
    """Asks and tells a searcher.

    Args:
        space: ``param_space``.
        config: How the experiment searches.
        path: The experiment's folder.
    """

    def __init__(self, space: dict[str, Any], config: TuneConfig, path: str):
        self._space = space
        self._path = path
        self._samples = config.num_samples
        self._asked = 0
        # What the searcher has suggested for trials that have not ended.
        self._live: dict[str, dict[str, Any] | None] = {}
        # Suggestions of a driver before for trials that its journal does not have.
        self._kept: dict[str, dict[str, Any] | None] = {}
        self._told = 0
        # Trials that resume and that the searcher does not know; each gives its configuration.
        self._unknown: dict[str, Callable[[], dict[str, Any]]] = {}
        self._searcher: Searcher = config.search_alg or BasicVariantGenerator()
        self._is_basic = isinstance(self._searcher, BasicVariantGenerator)
        set_properties(self._searcher, config.metric, config.mode, space, num_samples=config.num_samples)
        #: Whether the searcher wants each report, or the ends of trials alone.
        self.hears_results = type(self._searcher).on_trial_result is not Searcher.on_trial_result
        self._file = _FILE.format(time.strftime("%Y-%m-%d_%H-%M-%S"))
        self._saved_at, self._saving_s = time.monotonic(), 0.0
        #: How many of the experiment's trials other searches had suggested before.
        self.first = 0
        #: Trials, with their configurations, that are tried once more before the search goes on.
        self.restarts: list[tuple[str, dict[str, Any]]] = []
        #: The trial that the newest suggestion tries once more.
        self.replaces: str | None = None
        if config.max_concurrent_trials is not None:
            self._searcher.set_max_concurrency(config.max_concurrent_trials)

    @property
    def needs(self) -> list[str]:
        """Metrics that each report must have."""
        metric = None if self._is_basic else self._searcher.metric
        return [metric] if isinstance(metric, str) else list(metric or ())

    def prepares(self, at_once: int | None) -> int:
        """How many trials are suggested before there is a place for them.

        Args:
            at_once: How many may run at once. Of one at a time, each is suggested with the results
                of all before it.
        """
        if self._is_basic:
            return _core.trials_ready
        return _SUGGESTED_AHEAD if at_once is None else min(_SUGGESTED_AHEAD, at_once - 1)

    @property
    def total(self) -> int | None:
        """How many trials there will be, if that is known."""
        if self._is_basic:
            return self._searcher.total_samples  # type: ignore[attr-defined]
        return None if self._samples == -1 else self._samples

    def next(self, trial_id: str) -> Suggestion | str | None:
        """A configuration and what was chosen in it; None if there is none now, ``FINISHED``."""
        self.replaces = None
        if self.restarts:
            self.replaces, config = self.restarts.pop(0)
            return config, {_AGAIN: True}
        if not self._is_basic and self._samples != -1 and self._asked >= self._samples:
            return Searcher.FINISHED
        suggestion: dict[str, Any] | str | None = self._take_kept(trial_id)
        if suggestion is None:
            suggestion = self._searcher.suggest(trial_id)
        if not isinstance(suggestion, dict):
            return suggestion
        self._asked += 1
        self._live[trial_id] = None if self._is_basic else suggestion
        if isinstance(self._searcher, BasicVariantGenerator):
            return suggestion, self._searcher.drawn
        return filled(self._space, suggestion)

    def _take_kept(self, trial_id: str) -> dict[str, Any] | None:
        """What a driver before had suggested for the trial. Nobody needs what it had for others."""
        suggestion = self._kept.pop(trial_id, None)
        if suggestion is None:
            for other in self._kept:
                self._searcher.on_trial_complete(other, None, error=True)
            self._kept.clear()
        return suggestion

    def heard(self, trial_id: str, line: dict[str, Any]) -> None:
        """A report."""
        if self.hears_results and trial_id in self._live and self._has_needs(line):
            self._searcher.on_trial_result(trial_id, line)

    def ended(self, trial_id: str, last: Mapping[str, Any] | None, *, error: bool) -> None:
        """A trial's end."""
        if trial_id in self._live:
            del self._live[trial_id]
            self._told += 1
            result = dict(last) if last and self._has_needs(last) else None
            self._searcher.on_trial_complete(trial_id, result, error=error)
        elif trial_id in self._unknown:
            config = self._unknown.pop(trial_id)
            if last and not error:
                self._learn(config, last)

    def _has_needs(self, line: Mapping[str, Any]) -> bool:
        """Whether a report has what the searcher needs; it is its trial's error if not."""
        try:
            values = [metric_value(line, name) for name in self.needs]
        except ValueError:
            return False
        return all(isinstance(value, (int, float)) for value in values)

    def save(self, *, now: bool = False) -> None:
        """Keeps the searcher's state; not too often unless ``now``."""
        since = time.monotonic() - self._saved_at
        if not now and since < max(_SAVING_PAUSE_S, self._saving_s / _SAVING_SHARE):
            return
        begun = time.monotonic()
        target = os.path.join(self._path, self._file)
        try:
            state = {"searcher": kept_state(self._searcher), "live": self._live, "asked": self._asked}
            state["first"] = self.first
            with open(f"{target}.tmp", "wb") as file:
                cloudpickle.dump(state, file)
            os.replace(f"{target}.tmp", target)
        except Exception as error:
            warn(f"the searcher's state cannot be kept: {type(error).__name__}: {error}")
        self._saved_at = time.monotonic()
        self._saving_s = self._saved_at - begun

    def restore(self, records: Records, *, unfinished: bool = True, errored: bool = False) -> None:
        """Resumes the search of an experiment.

        Args:
            records: Its trials.
            unfinished: Whether those that had not ended resume.
            errored: Whether those that had failed do.
        """
        suggested = [record for record in itertools.islice(records, self.first, None) if _MARK not in record.folder]
        known = self._load(len(suggested))
        self._asked = len(suggested)
        if self._is_basic:
            # What the state does not know is drawn again, so that grids and seeded draws go on
            # behind what was suggested.
            for record in itertools.islice(suggested, known, self.total):
                if self._searcher.suggest(record.trial_id) == Searcher.FINISHED:
                    break
                self._searcher.on_trial_complete(record.trial_id)
            over = ("terminated", "errored")
            self._live = {record.trial_id: None for record in suggested if record.state not in over}
            return
        there = {record.trial_id for record in suggested}
        self._kept = {trial_id: self._live.pop(trial_id) for trial_id in [*self._live] if trial_id not in there}
        asks_again = not self._kept and len(suggested) - known <= _ASKED_AGAIN_MAX
        for index, record in enumerate(suggested):
            asks_again = asks_again and (index < known or self._ask_again(records, record))
            trial_id, ended = record.trial_id, record.state in ("terminated", "errored")
            was_live = trial_id in self._live
            if ended or not unfinished:
                self.ended(trial_id, record.last or None, error=record.state != "terminated")
            if record.state == "terminated" and not was_live and index >= known:
                self._learn(functools.partial(records.config, record), record.last)
            resumes = errored if record.state == "errored" else unfinished and not ended
            if resumes and trial_id not in self._live:
                self._unknown[trial_id] = functools.partial(records.config, record)

    def _ask_again(self, records: Records, record: TrialRecord) -> bool:
        """Asks for a suggestion that the state lacks and the journal has. With a seed it is the
        same one, and the search resumes as if it had not been interrupted. Another one is
        withdrawn, so that a seed does not draw again what trials have been made of.

        Returns:
            Whether there was a suggestion.
        """
        suggestion = self._searcher.suggest(record.trial_id)
        if not isinstance(suggestion, dict):
            return False
        if _same(filled(self._space, suggestion)[0], records.config(record)):
            self._live[record.trial_id] = suggestion
        else:
            self._searcher.on_trial_complete(record.trial_id, None, error=True)
        return True

    def _load(self, suggested: int) -> int:
        """The newest state; how many trials it knows, of those that were suggested."""
        found = glob.glob(os.path.join(glob.escape(self._path), _FILE.format("*")))
        if not found:
            return 0
        newest = max(found, key=os.path.getmtime)
        try:
            with open(newest, "rb") as file:
                state = cloudpickle.load(file)
            # Another search's, which no trial of this one has replaced; or one that knows of more
            # configurations than the journal: these are drawn again.
            if state.get("first", 0) != self.first or (self._is_basic and state["asked"] > suggested):
                return 0
            take_up(self._searcher, state["searcher"])
        except Exception as error:
            warn(f"the searcher's state in {newest} cannot be loaded: {type(error).__name__}: {error}")
            return 0
        self._live = state["live"]
        asked: int = state["asked"]
        return asked

    def _learn(self, config: Callable[[], dict[str, Any]], last: Mapping[str, Any]) -> None:
        """A result that the searcher's state does not have; ``config`` gives its configuration."""
        names = self.needs
        if not names or not self._has_needs(last):
            return
        values = [metric_value(last, name) for name in names]
        try:
            self._searcher.add_evaluated_point(config(), values if len(values) > 1 else values[0])
        except (NotImplementedError, TypeError) as error:
            notice(f"the searcher does not learn from a trial of the driver before: {error}")


def _same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two configurations are equal; values that cannot be compared are not."""
    try:
        return bool(one == other)
    except ValueError:
        return False
