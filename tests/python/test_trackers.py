"""What trackers' callbacks have in common: one thread that logs, the run's id, failures, the time
at the end. The tracker is a small class of this file; test_wandb.py and others have real ones.
"""

import json
import os
import pickle
import signal
import subprocess
import sys
import threading

import pytest
from headway import train
from headway._storage import locations
from headway._trackers import sender as senders
from headway._trackers.callback import TrackerCallback
from headway._trackers.sender import Sender
from headway._trackers.tracker import TrackedRun, Tracker
from headway._trackers.values import metrics_of, numbers_of, plain


class Memory(Tracker):
    """Keeps what it is given; what ``then`` names is done when a method is called."""

    def __init__(self, calls, then):
        self.calls = calls
        self.then = then

    def _hear(self, *call):
        self.calls.append(call)
        self.then.get(call[0], lambda: None)()

    def open(self, run, earlier):
        self._hear("open", run.name, run.config, earlier)
        return earlier or f"id-{len(self.calls)}"

    def log(self, step, metrics):
        self._hear("log", step, metrics["loss"])

    def checkpoint(self, step, location, shown):
        self._hear("checkpoint", step, os.path.basename(shown))

    def close(self, *, failed):
        self._hear("close", failed)


class MemoryCallback(TrackerCallback):
    label, module, package = "Memory", "json", "memory-tracker"

    def __init__(self, **then):
        self.calls = []
        self.then = then

    def _tracker(self):
        return "memory", Memory(self.calls, self.then)


def trainer(storage, loop, callback, max_failures=0, **options):
    run = train.RunConfig(
        name="run",
        storage_path=storage,
        callbacks=[callback],
        failure_config=train.FailureConfig(max_failures),
    )
    options.setdefault("train_loop_config", {"lr": 0.1, "seed": {1}})
    return train.DataParallelTrainer(loop, scaling_config=train.ScalingConfig(num_workers=1), run_config=run, **options)


def report_twice(config):
    train.report({"loss": 2.0}, checkpoint=train.Checkpoint.from_dict({"step": 1}))
    train.report({"loss": 1.0})


def raises(error):
    def call():
        raise error

    return call


def test_reports_and_checkpoints_are_logged_in_order_with_the_run_s_steps(storage):
    callback = MemoryCallback()
    trainer(storage, report_twice, callback).fit()
    assert callback.calls == [
        ("open", "run", {"lr": 0.1, "seed": "{1}"}, None),
        ("log", 1, 2.0),
        ("checkpoint", 1, "checkpoint_000000"),
        ("log", 2, 1.0),
        ("close", False),
    ]
    with open(f"{storage}/run/trackers/ids.json") as file:
        assert json.load(file) == {"memory": "id-1"}


def test_a_later_driver_resumes_the_run_with_its_id_and_steps(storage):
    first, second = MemoryCallback(), MemoryCallback()
    trainer(storage, report_twice, first).fit()
    trainer(storage, report_twice, second).fit()
    assert second.calls[:2] == [("open", "run", {"lr": 0.1, "seed": "{1}"}, "id-1"), ("log", 3, 2.0)]


@pytest.mark.parametrize("killed", [False, True])
def test_a_restarted_group_is_the_same_run(storage, tmp_path, killed):
    def loop():
        train.report({"loss": 2.0})
        if not (tmp_path / "failed").exists():
            (tmp_path / "failed").touch()
            if killed:
                os.kill(os.getpid(), signal.SIGKILL)
            raise ValueError("once")

    callback = MemoryCallback()
    trainer(storage, loop, callback, max_failures=1, train_loop_config=None).fit()
    assert [call[:2] for call in callback.calls] == [("open", "run"), ("log", 1), ("log", 2), ("close", False)]


def test_a_failed_run_is_closed_as_failed(storage):
    callback = MemoryCallback()
    with pytest.raises(train.WorkerGroupError):
        trainer(storage, raises(ValueError("bad batch")), callback, train_loop_config=None).fit()
    assert callback.calls[1:] == [("close", True)]


def test_one_callback_logs_several_runs_at_a_time(storage):
    callback = MemoryCallback()
    handles = [trainer(f"{storage}/{name}", report_twice, callback).start() for name in ("a", "b")]
    for handle in handles:
        handle.wait()
    names = [call[0] for call in callback.calls]
    assert {name: names.count(name) for name in names} == {"open": 2, "log": 4, "checkpoint": 2, "close": 2}


@pytest.mark.parametrize(
    ("method", "error", "words"),
    [
        ("open", ConnectionError("no route to host\nmore"), "nothing of this run is logged to Memory: ConnectionError"),
        ("open", SystemExit("not logged in"), "nothing of this run is logged to Memory: SystemExit: not logged in;"),
        ("log", OSError("disk full"), "a part of this run is not logged to Memory: OSError: disk full;"),
        ("checkpoint", OSError(), "a part of this run is not logged to Memory: OSError;"),
        ("close", TimeoutError("slow"), "a part of this run is not logged to Memory: TimeoutError: slow;"),
    ],
)
def test_a_tracker_that_raises_is_warned_of_once_and_the_run_finishes(storage, capsys, method, error, words):
    callback = MemoryCallback(**{method: raises(error)})
    result = trainer(storage, report_twice, callback).fit()
    assert result.error is None
    assert result.metrics["loss"] == 1.0
    printed = capsys.readouterr().err
    assert f"headway: warning: {words}" in printed
    assert printed.count("warning:") == 1
    assert "the run itself is not affected" in printed
    assert ("close", False) in callback.calls or method == "open"


def test_a_tracker_that_never_answers_holds_up_neither_the_run_nor_its_end(storage, capsys, monkeypatch):
    monkeypatch.setenv("HEADWAY_TRACKER_END_S", "0.2")
    answer = threading.Event()
    callback = MemoryCallback(log=answer.wait)
    result = trainer(storage, report_twice, callback).fit()
    assert result.metrics["training_iteration"] == 2
    assert callback.calls[1:] == [("log", 1, 2.0)]
    assert "warning: Memory had not taken everything 0.2 s after the run's end;" in capsys.readouterr().err
    answer.set()


def tracked_run(storage):
    os.makedirs(storage)
    return TrackedRun("run", storage, storage, True)


def test_what_a_slow_tracker_leaves_waiting_is_bounded(storage, monkeypatch):
    monkeypatch.setattr(senders, "ENTRIES_MAX", 2)
    answer, calls = threading.Event(), []
    sender = Sender("Memory", "memory", Memory(calls, {"open": answer.wait}), tracked_run(storage))
    for step in range(4):
        sender.put(lambda tracker, step=step: tracker.log(step, {"loss": 0.0}))
    answer.set()
    sender.end(failed=False, limit_s=60)
    assert [call[:2] for call in calls] == [("open", "run"), ("log", 0), ("log", 1), ("close", False)]
    problem = sender.take_problem()
    assert problem.startswith("2 reports wait for Memory; further ones are not logged there")
    assert sender.take_problem() is None


def test_a_run_that_another_driver_has_is_left_alone_at_the_tracker(storage, release):
    path, let_go = release
    logged = threading.Event()
    first = MemoryCallback(log=logged.set)

    def loop(config):
        train.report({"loss": 1.0})
        while not os.path.exists(path):
            os.sched_yield()

    code = """
import sys
from headway import train
from test_trackers import MemoryCallback, trainer
callback = MemoryCallback()
try:
    trainer(sys.argv[1], print, callback, train_loop_config=None).fit()
except FileExistsError:
    print(callback.calls)
"""
    handle = trainer(storage, loop, first).start()
    assert logged.wait(60)
    here = os.path.dirname(__file__)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([here, *sys.path])}
    done = subprocess.run(
        [sys.executable, "-c", code, storage], capture_output=True, text=True, env=environment, check=False
    )
    let_go(None)
    handle.wait()
    assert done.stdout == "[]\n", done.stderr
    assert [call[0] for call in first.calls] == ["open", "log", "close"]


def test_a_library_that_is_not_installed_is_an_error_before_anything_starts(storage):
    callback = MemoryCallback()
    callback.module = "no_such_library"
    with pytest.raises(ImportError, match=r"needs the package memory-tracker, .* run: pip install memory-tracker"):
        trainer(storage, print, callback).fit()
    assert not os.path.exists(storage)


@pytest.mark.parametrize("value", ["soon", "-1", "nan", "inf"])
def test_a_bad_time_for_the_end_is_an_error_before_anything_starts(storage, monkeypatch, value):
    monkeypatch.setenv("HEADWAY_TRACKER_END_S", value)
    with pytest.raises(ValueError, match=f"HEADWAY_TRACKER_END_S is '{value}'; allowed: seconds, at least 0"):
        trainer(storage, print, MemoryCallback()).fit()
    assert not os.path.exists(storage)


def test_a_callback_can_be_pickled_while_it_logs():
    callback = MemoryCallback()
    callback._senders()["trial"] = threading.Lock()
    assert pickle.loads(pickle.dumps(callback)).__dict__ == {"calls": [], "then": {}}


def test_metrics_have_flat_names_and_only_times_of_the_automatic_ones():
    line = {"date": "x", "hostname": "a", "time_total_s": 1.5, "training_iteration": 3, "timestamp": 7}
    line |= {"report_index": 2, "eval": {"loss": 0.5, "best": True}, "note": "good", "config": {"lr": 1}}
    metrics = metrics_of(line)
    assert metrics == {
        "time_total_s": 1.5, "training_iteration": 3, "timestamp": 7,
        "eval/loss": 0.5, "eval/best": True, "note": "good",
    }  # fmt: skip
    assert numbers_of(metrics) == {
        "time_total_s": 1.5, "training_iteration": 3.0, "timestamp": 7.0, "eval/loss": 0.5, "eval/best": 1.0
    }  # fmt: skip


def test_what_json_does_not_have_is_text_in_a_configuration():
    class Silent:
        def __str__(self):
            raise RuntimeError

    found = plain({"a": [1, (2.5, None)], 3: {"model": dict}, "f": print, "bad": Silent()})
    assert found.pop("bad").startswith("<test_trackers.")
    assert found == {"a": [1, [2.5, None]], "3": {"model": "dict"}, "f": "print"}


def test_ids_of_several_trackers_are_kept_beside_each_other(storage):
    run = tracked_run(storage)
    for key in ("a", "b"):
        Sender("Memory", key, Memory([], {}), run).end(failed=False, limit_s=60)
    assert json.loads(locations.read_file(f"{storage}/trackers/ids.json")) == {"a": "id-1", "b": "id-1"}
