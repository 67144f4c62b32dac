"""``fit()`` in local mode: this process, or torchrun's, are the run's ranks."""

from __future__ import annotations

import contextlib
import json
import socket
import sys
import threading
from collections.abc import Callable
from typing import Any, Protocol

from headway import _core
from headway._runtime import early_factory
from headway._runtime.runtime import get_runtime
from headway._storage import locations
from headway.train._config.config import RunConfig, ScalingConfig
from headway.train._errors.exceptions import ControllerError, PreemptionError, to_exception
from headway.train._local import ranks
from headway.train._run import saved_trainer
from headway.train._run.callback_calls import CallbackCalls
from headway.train._run.display import Display
from headway.train._run.loop import RunLoop
from headway.train._run.result import Result
from headway.train._run.surroundings import surroundings
from headway.train._run.uncaught import TERMINATED_STATUS, interrupted, terminated
from headway.train._validation.config import ValidationConfig
from headway.train.backend import BackendConfig

_one_at_a_time = threading.Lock()
# How long a training function may take to leave a run that SIGTERM has ended, in seconds.
_LEAVE_S = 1


class LocalTrainer(Protocol):
    """What local mode needs of a trainer."""

    backend_config: BackendConfig
    run_config: RunConfig
    scaling_config: ScalingConfig
    train_loop_config: dict[str, Any]
    validation_config: ValidationConfig | None
    _args: tuple[Any, ...]

    def _function(self) -> Callable[..., Any]: ...

    def _parts(self) -> dict[str, Any]: ...

    def _worker_side(self, spec: dict[str, Any]) -> dict[str, Any]: ...

    def _result(self, end: _core.Finished, loop: Any, path: str) -> Result: ...


class _Served(threading.Thread):
    """Serves the run's events beside the thread that is busy with the training function: hooks,
    display, callbacks.
    """

    def __init__(self, loop: RunLoop, path: str):
        super().__init__(name="headway-run", daemon=True)
        self._loop = loop
        self._path = path
        self.error: BaseException | None = None
        #: Set once the training function has been left.
        self.left = threading.Event()
        self.start()

    def run(self) -> None:
        """Until the run has ended."""
        try:
            self._loop.serve()
        except BaseException as error:
            self.error = error
            self._loop.abort(error)
        self._end_terminated_process()

    def _end_terminated_process(self) -> None:
        """SIGTERM ends this process, even if the training function never asks whether it came."""
        end = self._loop.end
        if end is None or end.outcome.failure is None:
            return
        failure, _ = to_exception(end.outcome.failure, end.outcome.attempts, {}, self._path)
        if not isinstance(failure, PreemptionError) or not failure.of_driver or self.left.wait(_LEAVE_S):
            return
        terminated(failure, self._path)
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):  # It may be closed.
                stream.flush()
        _core.exit_now(TERMINATED_STATUS)

    def wait(self) -> _core.Finished:
        """How the run ended."""
        self.join()
        assert self._loop.end is not None
        return self._loop.end


class _Returned:
    """What the training function returned here, where ``fit()`` looks for rank 0's."""

    def __init__(self, value: Any):
        self._value = value

    def load_return_value(self) -> Any:
        """It."""
        return self._value


class LocalRun:
    """A run whose rank is this process; see :class:`headway.train._run.handle.StartedRun`.

    Args:
        trainer: Whose run it is.
        spec: The run's.
        callbacks: Its callbacks; they are called on another thread than the training function.

    Raises:
        RuntimeError: another thread of this process is in local mode: a process is one rank at a
            time.
    """

    def __init__(self, trainer: LocalTrainer, spec: dict[str, Any], callbacks: CallbackCalls | None):
        if not _one_at_a_time.acquire(blocking=False):
            raise RuntimeError(
                "fit() with ScalingConfig(num_workers=0) was called while another thread of this process is in one; "
                "allowed: one run after the other, or num_workers of at least 1"
            )
        self._trainer = trainer
        self._run: _core.Run | None = None
        self.path: str | None = None
        self.listeners: list[Callable[[Any], None]] = []
        early_factory.drop()
        try:
            self._place = ranks.find_place()
            if self._place.rank == 0:
                self._lead(spec, callbacks)
        except BaseException:
            _one_at_a_time.release()
            raise

    def _lead(self, spec: dict[str, Any], callbacks: CallbackCalls | None) -> None:
        """Starts the run: this process is its driver as well as a rank."""
        trainer, place = self._trainer, self._place
        spec = {**spec, "local_ranks": place.world_size, "enter_working_directory": False}
        spec["failure"] = {**spec["failure"], "max_failures": 0}
        here, there = socket.socketpair()
        # Validations have separate processes here, too; they are no ranks of torchrun's.
        told_workers = {**surroundings(), **trainer._worker_side(spec)}
        told_workers["env"] = ranks.without_torchrun(told_workers["env"])
        self._run = get_runtime().start_run(
            spec_json=json.dumps(spec),
            worker_setup_json=json.dumps(told_workers),
            task=b"",
            trainer=saved_trainer.dumps(type(trainer).__name__, trainer._parts()),
            validation=trainer.validation_config._dumps() if trainer.validation_config is not None else None,
            local_sessions=[there.detach(), *ranks.gather(place)],
        )
        self._session_fd = here.detach()
        self.path = locations.shown(self._run.path)
        config = trainer.backend_config
        display = Display(trainer.run_config, trainer.train_loop_config)
        self._loop = RunLoop(self._run, config.backend_cls(), config, display, callbacks)
        self.listeners = self._loop.listeners

    def stop(self, reason: str) -> None:
        """Ends it as finished, once the training function reports.

        Raises:
            RuntimeError: in another rank of torchrun than the first, which has the run.
        """
        if self._run is None:
            raise RuntimeError(
                f"stop() was called in rank {self._place.rank} of torchrun's; call it in rank 0, which has the run"
            )
        self._run.stop(reason)

    def abort(self, reason: str) -> bool:
        """Ends it as aborted; False in torchrun's other ranks."""
        if self._run is None:
            return False
        self._run.abort(reason)
        return True

    def serve(self) -> Result:
        """Runs the training function on this thread, until the run has ended."""
        try:
            return _follow(self._trainer, self._place) if self._run is None else self._serve(self._run)
        finally:
            _one_at_a_time.release()

    def _serve(self, run: _core.Run) -> Result:
        served = _Served(self._loop, str(self.path))
        outcome, refusal = ranks.Outcome(), None
        try:
            try:
                outcome = _take_part(self._trainer, self._session_fd, self._place)
            finally:
                served.left.set()
        except BaseException as error:
            by_user = isinstance(error, KeyboardInterrupt)
            run.abort("Ctrl-C" if by_user else f"fit() was left by {type(error).__name__}: {error}")
            end = served.wait()
            if not isinstance(error, Exception):
                if isinstance(error, KeyboardInterrupt):
                    interrupted(error, self.path, shows_frames=True)
                raise
            refusal = error
        end = served.wait()
        ranks.tell_others(self._place, end, run.path)
        if served.error is not None:
            raise served.error
        if outcome.error is not None:
            raise outcome.error
        if refusal is not None and end.outcome.state == "aborted":
            raise refusal
        if self._loop.callback_error is not None:
            failure = self._loop.callback_error.failure
            raise ControllerError(failure, str(self._loop.callback_error)) from failure
        return _result(self._trainer, end, outcome, run.path)


def _follow(trainer: LocalTrainer, place: ranks.Place) -> Result:
    try:
        outcome = _take_part(trainer, ranks.join(place), place)
    except (RuntimeError, OSError) as error:
        # Rank 0 could not start the run: it knows why, and may be ended before it has said so
        # itself.
        if not ranks.has_ended(place):
            raise RuntimeError(
                "rank 0 of torchrun's could not start the run, or has ended; its own error says why"
            ) from error
        outcome = ranks.Outcome()
    end, path = ranks.hear_end(place)
    if outcome.error is not None:
        raise outcome.error
    return _result(trainer, end, outcome, path)


def _take_part(trainer: LocalTrainer, fd: int, place: ranks.Place) -> ranks.Outcome:
    return ranks.take_part(fd, place, trainer._function(), trainer._args, trainer.scaling_config.use_gpu)


def _result(trainer: LocalTrainer, end: _core.Finished, outcome: ranks.Outcome, path: str) -> Result:
    if end.outcome.failure is not None:
        failure, cause = to_exception(end.outcome.failure, end.outcome.attempts, {}, locations.shown(path))
        if isinstance(failure, PreemptionError) and failure.of_driver:
            terminated(failure, locations.shown(path))
        raise failure from cause
    return trainer._result(end, _Returned(outcome.value), path)
