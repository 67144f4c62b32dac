"""What the thread in ``Tuner.fit()`` does: it serves the experiment that the core runs."""

from __future__ import annotations

import collections
import json
import os
import select
import sys
from collections.abc import Callable
from typing import Any

from headway._callbacks.stopper import Stopper
from headway._callbacks.trial import Trial
from headway._storage import locations
from headway.train import RunConfig
from headway.train._config import shown_config
from headway.train._errors.exceptions import load_exception, to_exception
from headway.train._errors.worker_failures import failure_of
from headway.train._run.wakeup import signals_wake
from headway.tune._experiment.callbacks import ExperimentCallbacks
from headway.tune._experiment.display import ExperimentDisplay
from headway.tune._experiment.front_scheduler import FrontScheduler, decides
from headway.tune._experiment.hooks import TrialHooks
from headway.tune._experiment.naming import TrialNames, folder_of, tag_of
from headway.tune._experiment.records import Numbers, Records, ReportNumbers, TrialRecord
from headway.tune._experiment.search_state import SearchState
from headway.tune._experiment.trial_start import TrialStart, name_of
from headway.tune._experiment.tune_config import TuneConfig
from headway.tune.schedulers.trial_scheduler import CopyAsked, FIFOScheduler
from headway.tune.search.errors import TuneError
from headway.tune.search.searcher import Searcher


class ExperimentLoop:
    """Serves one experiment's events until its end.

    Args:
        experiment: The core's.
        trainable: What the user gave to ``Tuner``.
        start: Makes trials' runs.
        search: What suggests configurations.
        records: The trials so far.
        tune_config: How the experiment searches.
        run_config: Its stop conditions, display.
        callbacks: Its callbacks.
    """

    def __init__(
        self,
        experiment: Any,
        trainable: Any,
        start: TrialStart,
        search: SearchState,
        records: Records,
        tune_config: TuneConfig,
        run_config: RunConfig,
        callbacks: ExperimentCallbacks,
    ):
        self._experiment = experiment
        self._name = name_of(trainable)
        self._start = start
        self._search = search
        self._records = records
        self._folder_name = tune_config.trial_dirname_creator
        self._trial_name_creator = tune_config.trial_name_creator
        self._trial_names: dict[str, str] = {}
        self._samples = tune_config.num_samples
        self._scheduler = tune_config.scheduler or FIFOScheduler()
        self._front: FrontScheduler | None = None
        if decides(self._scheduler):
            self._front = FrontScheduler(self._scheduler, experiment, records, self._name, tune_config.search_alg)
        self._names = TrialNames(len(records), records.newest_id)
        self._stop = run_config.stop if callable(run_config.stop) else None
        self._is_over = False
        self._callbacks = callbacks
        self._objective = (tune_config.metric, tune_config.mode)
        reports = run_config.progress_reporter is not None
        self._display = ExperimentDisplay(run_config.verbose or 0, *self._objective, records, reports=reports)
        self._hooks = TrialHooks(experiment, self._wait, self._display.say)
        self._configs: dict[str, dict[str, Any]] = {}
        self._trainers: dict[str, Callable[[], Any]] = {}  # They hold their runs' data sets.
        self._last: dict[str, dict[str, Any]] = {}
        self._events: collections.deque[Any] = collections.deque()
        experiment.take_each_report(bool(callbacks) or search.hears_results or self._display.hears_reports)
        self._poll = select.poll()
        self._poll.register(experiment.event_fd, select.POLLIN)
        #: How it ended.
        self.end: Any = None
        self._handlers: dict[str, Callable[[Any], None]] = {
            "SuggestionsWanted": self._suggest,
            "TrialStartWanted": self._start_trial,
            "TrialChoiceAsked": self._choose,
            "ConfigAsked": self._configure,
            "TrialStarted": self._started,
            "TrialReported": self._reported,
            "VerdictAsked": self._decide,
            "TrialAttemptFailed": self._attempt_failed,
            "TrialEnded": self._ended,
            "TrialHook": self._hooks.call,
            "Notice": lambda event: self._display.say("notice", event.text),
            "RunWarning": lambda event: self._display.say("warning", event.text),
            "ExperimentEnded": self._finish,
        }

    def serve(self) -> None:
        """Until the end. An error of this thread (of a callback, a searcher, Ctrl-C) stops the
        experiment, whose trials can be restored, and is raised when its processes are gone.
        """
        try:
            self._display.begin(locations.shown(self._records.location), self._search.total)
            for record in self._records if self._front is not None else ():
                self._tell_front(record, self._config(record))
            self._callbacks.setup(self._samples, self._search.total, *self._objective)
            self._until_end()
        except BaseException as error:
            interrupted = isinstance(error, KeyboardInterrupt)
            self._experiment.stop("Ctrl-C" if interrupted else f"{type(error).__name__}: {error}")
            self._drain()
            self._callbacks.leave()
            self._warn()
            raise
        finally:
            self._search.save(now=True)
            if self._front is not None:
                self._front.save()
        self._callbacks.finish()
        self._warn()

    def _until_end(self) -> None:
        while self.end is None:
            self._wait()
            while self._events:
                event = self._events.popleft()
                self._handlers[type(event).__name__](event)
                self._warn()

    def _wait(self) -> None:
        """Until there are events; answers of ranks go to the hook that waits for them."""
        if self._events and not self._hooks.waits:
            return
        with signals_wake(self._poll):
            self._poll.poll()
        for event in self._experiment.take_events():
            if not self._hooks.take(event):
                self._events.append(event)

    def _drain(self) -> None:
        """Takes what comes until the end, and keeps what trials came to."""
        while self.end is None:
            while self._events:
                event = self._events.popleft()
                kind = type(event).__name__
                if kind == "TrialEnded":
                    self._take_end(event)
                elif kind == "ExperimentEnded":
                    self.end = event
                elif kind == "SuggestionsWanted":
                    self._experiment.no_suggestion()
                elif kind == "TrialChoiceAsked":
                    self._experiment.choose("")
                elif kind == "TrialHook":
                    self._hooks.leave_out(event)
            if self.end is None:
                self._wait()

    def _suggest(self, event: Any) -> None:
        for _ in range(event.count):
            if self._is_over:
                self._experiment.search_over()
                return
            number, trial_id = self._names.next_number, self._names.next_id()
            suggestion = self._search.next(trial_id)
            if not isinstance(suggestion, tuple):
                self._names.give_back()
                over = suggestion == Searcher.FINISHED
                (self._experiment.search_over if over else self._experiment.no_suggestion)()
                return
            config, drawn = suggestion
            drawn = {**drawn, **{(name,): value for name, value in self._scheduler.complete(config).items()}}
            tag = tag_of(number, drawn)
            record = TrialRecord(trial_id, self._folder(trial_id, tag, config))
            self._records.write_config(record, config)
            self._records.add(record)
            self._configs[trial_id] = config
            if self._front is not None:
                self._tell_front(record, config)
            self._search.save()
            replaces = self._search.replaces
            if replaces is not None:
                self._records[replaces].replaced = True
            named = tag if self._scheduler.has_copies else None
            self._experiment.suggest(trial_id, shown_json(config), record.folder, replaces=replaces, tag=named)

    def _tell_front(self, record: TrialRecord, config: dict[str, Any]) -> None:
        """The user's scheduler hears of a trial."""
        assert self._front is not None
        name = self._trial_name(record.trial_id, config)
        self._front.add(record, config, name, self._start.resources(config))

    def _folder(self, trial_id: str, tag: str, config: dict[str, Any]) -> str:
        if self._folder_name is None:
            return folder_of(self._name, trial_id, tag)
        name = str(self._folder_name(self._trial(trial_id, config)))
        if name in ("", ".", "..") or "/" in name:
            raise ValueError(f"trial_dirname_creator returned {name!r}; allowed: a folder's name without '/'")
        is_there = os.path.lexists(os.path.join(self._records.path, name)) or self._records.has_folder(name)
        return f"{name}_{trial_id}" if is_there else name

    def _trial(self, trial_id: str, config: dict[str, Any]) -> Trial:
        """A trial as functions that name it see it."""
        return Trial(trial_id, f"{self._name}_{trial_id}", self._name, config, "")

    def _trial_name(self, trial_id: str, config: dict[str, Any]) -> str:
        """What the user's function says, which is called once for a trial."""
        name = self._trial_names.get(trial_id)
        if name is None:
            trial = self._trial(trial_id, config)
            name = trial.trial_name if self._trial_name_creator is None else str(self._trial_name_creator(trial))
            self._trial_names[trial_id] = name
        return name

    def _start_trial(self, event: Any) -> None:
        record = self._records[event.trial_id]
        record.state = "running"
        if event.copied:
            self._records.take_next_config(record)
            self._configs.pop(event.trial_id, None)
        config = self._config(record)
        try:
            changed = self._front.starting(record, config) if self._front is not None else None
            name = self._trial_name(event.trial_id, config)
            prepared = self._start.prepared(config, event.trial_id, record.folder, name, changed)
        except Exception as error:
            self._refuse(event, record, error)
            return
        self._trainers[event.trial_id] = prepared.trainer
        self._callbacks.prepared(record, prepared.trainer)
        if prepared.arguments["hooks"]:
            self._hooks.add(event.trial_id, prepared.trainer())
        try:
            self._experiment.start_trial(event.trial_id, event.start, **prepared.arguments)
        except Exception as error:
            self._refuse(event, record, error)

    def _config(self, record: TrialRecord) -> dict[str, Any]:
        config = self._configs.get(record.trial_id)
        if config is None:
            config = self._configs[record.trial_id] = self._records.config(record)
        return config

    def _configure(self, event: Any) -> None:
        """A trial goes on as a copy of a donor."""
        history = json.loads(event.history_json) if event.history_json else []
        asked = CopyAsked(event.number, event.trial_id, event.donor_id, history)
        explored = self._scheduler.explored(self._config(self._records[event.donor_id]), asked)
        self._records.write_next_config(self._records[event.trial_id], explored.config)
        self._experiment.configure(event.trial_id, event.number, shown_json(explored.config))
        if explored.words:
            self._display.changed(event.trial_id, event.donor_id, explored.words)

    def _refuse(self, event: Any, record: TrialRecord, error: Exception) -> None:
        self._trainers.pop(event.trial_id, None)
        self._hooks.remove(event.trial_id)
        record.error = error
        self._experiment.refuse_trial(event.trial_id, event.start, f"{type(error).__name__}: {error}")

    def _started(self, event: Any) -> None:
        config = self._configs.get(event.trial_id, {})
        name = self._trial_name(event.trial_id, config)
        self._display.started()
        self._callbacks.started(self._records[event.trial_id], name, config, resumes=event.start > 1)

    def _reported(self, event: Any) -> None:
        record = self._records[event.trial_id]
        record.last, record.reports = ReportNumbers(event.line), event.number
        self._last[event.trial_id] = event.line
        self._search.heard(event.trial_id, event.line)
        self._display.reported(record, event.line)
        self._callbacks.reported(record, event.line, event.metrics)

    def _attempt_failed(self, event: Any) -> None:
        raised = _loaded(event.exception)
        by_rank = {
            each.rank: failure_of(each, raised if each.rank == event.raised_rank else None)
            for each in event.attempt.failure.ranks
        }
        self._callbacks.failed(self._records[event.trial_id], by_rank)

    def _decide(self, event: Any) -> None:
        decision, reason = "continue", ""
        if self._says_stop(event):
            decision, reason = "stop", f"{_shown(self._stop)} (RunConfig.stop) says so after report {event.number}"
        elif self._front is not None:
            decision, reason = self._front.decide(event)
        self._experiment.decide(event.trial_id, event.number, decision, reason)

    def _choose(self, _event: Any) -> None:
        self._experiment.choose(self._front.choose() if self._front is not None else "")

    def _says_stop(self, event: Any) -> bool:
        """Whether ``RunConfig.stop`` ends a trial."""
        stop = self._stop
        said = bool(stop is not None and stop(event.trial_id, event.line))
        if isinstance(stop, Stopper) and stop.stop_all():
            self._end_all(event.trial_id)
            said = True
        return said

    def _end_all(self, asking: str) -> None:
        """Ends all trials; the one that asks hears it as its verdict."""
        if self._is_over:
            return
        self._is_over = True
        reason = f"{_shown(self._stop)} (RunConfig.stop) ends the experiment"
        for record in self._records:
            if record.state in ("waiting", "running", "paused") and record.trial_id != asking:
                self._experiment.stop_trial(record.trial_id, reason)

    def _ended(self, event: Any) -> None:
        record = self._take_end(event)
        self._trainers.pop(event.trial_id, None)
        self._hooks.remove(event.trial_id)
        last = self._last.get(event.trial_id) or record.last or None
        trial = self._trial(event.trial_id, self._configs.get(event.trial_id, {}))
        trial.trial_name = self._trial_names.get(event.trial_id, trial.trial_name)
        self._display.left()
        if record.state in ("terminated", "errored"):
            for known in (self._configs, self._last, self._trial_names):
                known.pop(event.trial_id, None)
            self._search.ended(event.trial_id, last, error=record.state == "errored")
            self._display.ended(record)
        self._callbacks.ended(record, trial)
        if self._front is not None:
            self._front.ended(record)
            self._front.save()
        self._search.save()

    def _take_end(self, event: Any) -> TrialRecord:
        record = self._records[event.trial_id]
        record.state, record.reason = sys.intern(event.state), sys.intern(event.reason)
        if record.last:
            record.last = Numbers(record.last)
        if event.state == "errored":
            record.error = _error_of(event, self._records.folder(record)) or record.error
        return record

    def _finish(self, event: Any) -> None:
        self.end = event
        self._display.finish(event.state, event.reason, event.all_ended)
        if event.state == "failed":
            where = locations.shown(self._records.location)
            raise TuneError(
                f"the experiment in {where} failed: {event.reason}. What it has kept can be restored: "
                f"Tuner.restore({where!r}, trainable)"
            )

    def _warn(self) -> None:
        for text in self._callbacks.take_warnings():
            self._display.say("warning", text)


def abandon(experiment: Any, error: BaseException) -> None:
    """Ends an experiment that nobody has served, and waits for its end."""
    experiment.stop(f"{type(error).__name__}: {error}")
    poll = select.poll()
    poll.register(experiment.event_fd, select.POLLIN)
    while True:
        with signals_wake(poll):
            poll.poll()
        if any(type(event).__name__ == "ExperimentEnded" for event in experiment.take_events()):
            return


def shown_json(config: dict[str, Any]) -> str:
    """A configuration for the journal; what JSON does not have is text."""
    return json.dumps(shown_config.as_json(config))


def _error_of(event: Any, folder: str) -> Exception | None:
    """The user's exception, with the rank's traceback as its cause."""
    failure = event.outcome.failure if event.outcome is not None else None
    raised = _loaded(event.exception)
    if failure is None:
        return raised
    cause, _ = to_exception(failure, event.outcome.attempts, {}, folder)
    if not isinstance(raised, Exception):
        return cause
    raised.__cause__ = cause
    return raised


def _loaded(pickled: bytes | None) -> Exception | None:
    """An exception of a rank, unless it is one that ends processes."""
    loaded = load_exception(pickled)
    return loaded if isinstance(loaded, Exception) else None


def _shown(function: Any) -> str:
    return getattr(function, "__qualname__", None) or type(function).__name__
