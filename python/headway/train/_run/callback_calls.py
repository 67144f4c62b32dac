"""Calls a run's callbacks, its stop function and its progress reporter, in the order of what
happened.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headway._callbacks.callback import Callback
from headway._callbacks.progress_reporter import CLIReporter, ProgressReporter
from headway._callbacks.stopper import Stopper
from headway._callbacks.trial import Trial
from headway._checkpoint.checkpoint import Checkpoint
from headway._storage import locations
from headway.train._run.user_callback import TrainRunContext, UserCallback

# How many reports ranks may be ahead of callbacks that have no say in the run's end.
_LAG_MAX = 16


class CallbackError(Exception):
    """A callback has raised; ``failure`` is what. Its text names it."""

    def __init__(self, text: str, failure: Exception):
        super().__init__(text)
        self.failure = failure


class CallbackCalls:
    """One run's callbacks.

    Args:
        context: What user callbacks hear of the run.
        trial: What the older callbacks hear of it.

    Raises:
        ImportError, OSError, ValueError: a logger could not do its work; nothing was started.
    """

    def __init__(self, context: TrainRunContext, trial: Trial):
        config = context.run_config
        self._context = context
        self._trial = trial
        self._location = ""
        self._user = [each for each in config.callbacks or () if isinstance(each, UserCallback)]
        self._older = [each for each in config.callbacks or () if isinstance(each, Callback)]
        self._stop = config.stop if callable(config.stop) else None
        reporter = config.progress_reporter
        self._reporter = reporter if not isinstance(reporter, CLIReporter) else None
        self._started = False
        self._was_ready = False
        self._iteration = 0
        for callback in self._older:
            callback._check()

    def lag_max(self) -> int | None:
        """How many reports ranks may be ahead; None when there is nobody to hear them."""
        if self._stop is not None:
            return 0
        return _LAG_MAX if self._user or self._older or self._reporter is not None else None

    def start(self, location: str) -> None:
        """The run starts, in this folder."""
        self._location = location
        self._trial.path = locations.path_of(location)
        self._started = True
        for callback in self._older:
            _call(callback.setup, stop=self._context.run_config.stop, num_samples=1, total_num_samples=1)
        self._tell("on_trial_start")
        if self._reporter is not None:
            _call(self._reporter.setup)

    def ready(self, attempt: int) -> None:
        """A group of workers is ready."""
        if not self._was_ready:
            self._was_ready = True
            for callback in self._older:
                _call(callback._on_ready, self._trial, self._location)
        if attempt > 1:
            self._begun_again()

    def take_warnings(self) -> list[str]:
        """What callbacks warn the user of, each text once."""
        return [text for callback in self._older for text in callback._take_warnings()]

    def reported(self, line: dict[str, Any], metrics: list[dict[str, Any]]) -> str | None:
        """A report is recorded. Returns why the run is to stop with it, if it is.

        Args:
            line: As in result.json.
            metrics: What each rank reported.
        """
        line = {**line, "config": self._context.train_loop_config}
        self._iteration = line["training_iteration"]
        self._trial.last_result = line
        name = line.get("checkpoint_dir_name")
        checkpoint = Checkpoint._at(locations.join(self._location, name)) if name else None
        for user in self._user:
            _call(user.after_report, run_context=self._context, metrics=metrics, checkpoint=checkpoint)
        self._tell_older(line, checkpoint)
        self._report_progress(done=False)
        return self._reason_to_stop(line)

    def _tell_older(self, line: dict[str, Any], checkpoint: Checkpoint | None) -> None:
        trials = [self._trial]
        for callback in self._older:
            _call(callback.on_step_begin, self._iteration, trials)
        for callback in self._older:
            _call(callback.on_trial_result, self._iteration, trials, self._trial, line)
        if checkpoint is not None:
            self._trial.checkpoint = checkpoint
            for callback in self._older:
                _call(callback.on_checkpoint, self._iteration, trials, self._trial, checkpoint)
            self._tell("on_trial_save")
        for callback in self._older:
            _call(callback.on_step_end, self._iteration, trials)

    def _reason_to_stop(self, line: dict[str, Any]) -> str | None:
        stop = self._stop
        if stop is None:
            return None
        said = _call(stop, self._trial.trial_id, line)
        if isinstance(stop, Stopper):
            said = _call(stop.stop_all) or said
        return f"{_name(stop)} (RunConfig.stop) says so after report {self._iteration}" if said else None

    def failed(self, exceptions: dict[int, Exception]) -> None:
        """An attempt has failed."""
        for user in self._user:
            _call(user.after_exception, run_context=self._context, worker_exceptions=exceptions)

    def _begun_again(self) -> None:
        """Another attempt has begun."""
        self._tell("on_trial_recover")
        if self._trial.checkpoint is not None:
            self._tell("on_trial_restore")

    def end(self, *, failed: bool) -> None:
        """The run has ended. Every callback hears it; the first one's error is raised in the
        end.
        """
        if not self._started:
            return
        self._started = False
        self._trial.status = "ERROR" if failed else "TERMINATED"
        last: list[tuple[Callable[..., Any], tuple[Any, ...]]] = []
        for callback in self._older:
            over = callback.on_trial_error if failed else callback.on_trial_complete
            last.append((over, (self._iteration, [self._trial], self._trial)))
        last += [(callback.on_experiment_end, ([self._trial],)) for callback in self._older]
        errors = []
        for function, arguments in last:
            try:
                _call(function, *arguments)
            except CallbackError as error:
                errors.append(error)
        try:
            self._report_progress(done=True)
        except CallbackError as error:
            errors.append(error)
        if errors:
            raise errors[0]

    def _tell(self, method: str) -> None:
        for callback in self._older:
            _call(getattr(callback, method), self._iteration, [self._trial], self._trial)

    def _report_progress(self, *, done: bool) -> None:
        reporter: ProgressReporter | None = self._reporter
        if reporter is not None and _call(reporter.should_report, [self._trial], done=done):
            _call(reporter.report, [self._trial], done)


def _call(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    try:
        return function(*args, **kwargs)
    except Exception as error:
        text = f"the callback {_name(function)} raised {type(error).__name__}: {error}"
        raise CallbackError(text, error) from error


def _name(function: Any) -> str:
    """``Printer.after_report``, ``my_stop_function`` or ``MyStopper``."""
    owner = getattr(function, "__self__", None)
    if owner is not None:
        return f"{type(owner).__name__}.{function.__name__}"
    return getattr(function, "__qualname__", None) or type(function).__name__
