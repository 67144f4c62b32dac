"""What runs in a trial's process: a function, or the steps of a class."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import cloudpickle

from headway import _session as worker_session
from headway import train
from headway._values.arguments import refuse
from headway.train._training_function.signature import BuiltInLoop
from headway.tune._experiment.context import get_context
from headway.tune._experiment.trainable import Trainable
from headway.tune.schedulers.trial_scheduler import SavePlan

#: Beside a class's own files in a checkpoint: how far it was.
_STATE = ".trainable.json"
_DICT = ".trainable_checkpoint.pkl"


@dataclass
class FunctionTrial:
    """Calls a user's function, and reports what it returns or yields.

    Attributes:
        pickled: The function, as a tuple of one. It was pickled once for all trials.
        name: The trial's.
    """

    pickled: bytes
    name: str = ""

    def __call__(self, config: dict[str, Any]) -> Any:
        """What the function returns."""
        worker_session.begin_trial(self.name)
        (function,) = cloudpickle.loads(self.pickled)
        value = function(config)
        if hasattr(value, "__next__"):
            for each in value:
                _report(each)
            return None
        if value is not None:
            _report(value)
        return value


def _report(value: Any) -> None:
    """Metrics, or a number, which is the metric ``_metric``."""
    if not isinstance(value, Mapping) and not hasattr(value, "__float__"):
        refuse("what the training function returns or yields", value, "a dict of metrics, or a number")
    train.report(value if isinstance(value, Mapping) else {"_metric": value})


@dataclass
class ClassTrial(BuiltInLoop):
    """Goes through the steps of a :class:`Trainable`.

    Attributes:
        pickled: The class, as a tuple of one.
        frequency: A checkpoint after every so many steps; 0: none.
        at_end: Whether the end has one too.
        stop: ``RunConfig.stop`` where it is a dict: the last report is known beforehand.
        plan: When the scheduler wants a checkpoint, too.
        name: The trial's.
    """

    pickled: bytes
    frequency: int
    at_end: bool
    stop: dict[str, float]
    plan: SavePlan | None = None
    name: str = ""

    def __call__(self, config: dict[str, Any]) -> None:
        """Until a result says that it is done; else ``report`` ends the process."""
        worker_session.begin_trial(self.name)
        saves = PlannedSaves(self.plan)
        trainable = self._made(config, saves)
        try:
            while True:
                result = _checked(trainable.step(), trainable)
                trainable.iteration += 1
                trainable.log_result(result)
                done = bool(result.get("done"))
                last = done or self._reaches_limit(result, trainable.iteration)
                wanted = result.pop("should_checkpoint", False) or (last and self.at_end)
                wanted = saves.due(trainable.iteration, result) or wanted
                if wanted or (self.frequency and trainable.iteration % self.frequency == 0):
                    _report_checkpoint(trainable, result, saves.last)
                else:
                    train.report(result)
                if done:
                    return
        finally:
            trainable.cleanup()

    def _made(self, config: dict[str, Any], saves: PlannedSaves) -> Trainable:
        kind: type[Trainable]
        (kind,) = cloudpickle.loads(self.pickled)
        trainable = kind(config)
        context = get_context()
        trainable.config = config
        trainable.trial_id, trainable.trial_name = context.get_trial_id(), context.get_trial_name()
        trainable.trial_resources, trainable.logdir = context.get_trial_resources(), context.get_trial_dir()
        trainable.setup(config)
        checkpoint = train.get_checkpoint()
        if checkpoint is not None:
            with checkpoint.as_directory() as directory:
                _load(trainable, directory, saves)
        return trainable

    def _reaches_limit(self, result: dict[str, Any], iteration: int) -> bool:
        known = {"training_iteration": iteration, **result}
        return any(
            isinstance(known.get(name), (int, float)) and known[name] >= limit for name, limit in self.stop.items()
        )


class PlannedSaves:
    """Knows when a checkpoint is due by a scheduler's plan.

    Args:
        plan: The plan; None: never.
    """

    #: Only the driver knows a trial's time: so often in an interval of time a trial is saved.
    _OFTEN = 8

    def __init__(self, plan: SavePlan | None):
        self._plan = plan
        self._begun_s = time.monotonic()
        #: Where the trial was when it was due last.
        self.last = 0.0

    def due(self, iteration: int, result: Mapping[str, Any]) -> bool:
        """Whether the trial is saved now.

        Args:
            iteration: How many steps it has made.
            result: Of the last one.
        """
        if self._plan is None:
            return False
        plan, known = self._plan, {"training_iteration": iteration, **result}.get(self._plan.attr)
        interval, start = plan.interval, plan.start
        if isinstance(known, (int, float)):
            there = float(known)
        else:
            there, interval, start = time.monotonic() - self._begun_s, interval / self._OFTEN, 0.0
        planned = any(self.last < each <= there for each in plan.at)
        if not planned and (not interval or there < start or there - self.last < interval):
            return False
        self.last = there
        return True

    def take_up(self, last: float) -> None:
        """The trial resumes."""
        self.last = last
        self._begun_s = time.monotonic() - last


def _checked(result: Any, trainable: Trainable) -> dict[str, Any]:
    if not isinstance(result, Mapping):
        refuse(f"what {type(trainable).__name__}.step() returns", result, "a dict of metrics")
    return dict(result)


def _copy(given: str | os.PathLike[str], directory: str, trainable: Trainable) -> None:
    """Takes files that ``save_checkpoint`` has written elsewhere."""
    if os.path.isdir(given):
        shutil.copytree(given, directory, dirs_exist_ok=True)
    elif not os.path.exists(given):
        raise FileNotFoundError(f"{type(trainable).__name__}.save_checkpoint() returned {given!r}, which is not there")
    elif os.path.dirname(os.path.realpath(given)) != os.path.realpath(directory):
        shutil.copy(given, directory)


def _report_checkpoint(trainable: Trainable, result: dict[str, Any], due: float) -> None:
    directory = tempfile.mkdtemp()
    try:
        given = trainable.save_checkpoint(directory)
        if isinstance(given, Mapping):
            with open(os.path.join(directory, _DICT), "wb") as file:
                cloudpickle.dump(given, file)
        elif isinstance(given, (str, os.PathLike)):
            if os.path.realpath(given) != os.path.realpath(directory):
                _copy(given, directory, trainable)
        elif given is not None:
            name = f"what {type(trainable).__name__}.save_checkpoint() returns"
            refuse(name, given, "None, a dict, or the path of a file or folder")
        with open(os.path.join(directory, _STATE), "w") as file:
            json.dump({"iteration": trainable.iteration, "due": due}, file)
        train.report(result, checkpoint=train.Checkpoint.from_directory(directory))
    finally:
        shutil.rmtree(directory, ignore_errors=True)


def _load(trainable: Trainable, directory: str, saves: PlannedSaves) -> None:
    state = os.path.join(directory, _STATE)
    if os.path.exists(state):
        with open(state) as file:
            known = json.load(file)
        trainable.iteration = known["iteration"]
        saves.take_up(known.get("due", 0.0))
    pickled = os.path.join(directory, _DICT)
    if not os.path.exists(pickled):
        trainable.load_checkpoint(directory)
        return
    with open(pickled, "rb") as file:
        trainable.load_checkpoint(cloudpickle.load(file))
