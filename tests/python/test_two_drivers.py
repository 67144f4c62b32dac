"""Two drivers on one run's folder: one has it, the other hears who."""

import json
import os
import pathlib
import re
import signal
import threading

import pytest
from headway import train

WAITS = """
import os, threading
from headway import train

def loop():
    train.report({"x": 1})
    print("at work", flush=True)
    threading.Event().wait()

train.DataParallelTrainer(loop, run_config=train.RunConfig(name="run")).fit()
"""


def owner_in(folder):
    """Whose the run is, as its journal and its lease say."""
    journal = json.loads(pathlib.Path(folder, "run.json").read_bytes())
    return journal["owner"], journal["owner_epoch"], pathlib.Path(folder, ".headway.owner").read_bytes()


def fit_in(storage, loop=lambda: "mine"):
    return train.DataParallelTrainer(loop, run_config=train.RunConfig(name="run", storage_path=storage)).fit()


def test_the_second_driver_hears_at_once_who_has_the_run(script):
    script.start(WAITS)
    script.wait_for("at work")
    folder = os.path.join(script.storage, "run")
    before = owner_in(folder)
    with pytest.raises(FileExistsError) as caught:
        fit_in(script.storage)
    told = str(caught.value)
    assert re.match(
        rf"the run in {re.escape(folder)} has a driver already: pid {script.process.pid} on \S+ since \d", told
    )
    assert "another RunConfig.name" in told
    assert owner_in(folder) == before
    with pytest.raises(FileExistsError, match=f"pid {script.process.pid} "):
        train.DataParallelTrainer.restore(folder).fit()


def test_a_driver_that_was_killed_has_the_run_no_more(script):
    script.start(WAITS)
    script.wait_for("at work")
    os.kill(script.process.pid, signal.SIGKILL)
    # At once: the end of what it had started is waited for.
    assert fit_in(script.storage).return_value == "mine"
    assert script.processes() == {}
    owner = json.loads(pathlib.Path(script.storage, "run", ".headway.owner").read_text())
    assert owner["driver"]["pid"] == os.getpid()


def test_a_stopped_driver_still_has_the_run(script):
    script.start(WAITS)
    script.wait_for("at work")
    os.kill(script.process.pid, signal.SIGSTOP)
    with pytest.raises(FileExistsError, match=f"pid {script.process.pid} "):
        fit_in(script.storage)


def test_two_runs_of_one_name_in_one_process(storage, tmp_path):
    gate = tmp_path / "gate"
    os.mkfifo(gate)

    def loop(config):
        with open(config["gate"]) as opened:
            return opened.read()

    first = train.DataParallelTrainer(
        loop,
        train_loop_config={"gate": str(gate)},
        run_config=train.RunConfig(name="run", storage_path=storage),
    )
    results = []
    thread = threading.Thread(target=lambda: results.append(first.fit()))
    thread.start()
    with open(gate, "w") as opened:  # The function is at work.
        with pytest.raises(FileExistsError, match="is under way in this process already"):
            fit_in(storage)
        opened.write("through")
    thread.join()
    assert results[0].return_value == "through"
    assert fit_in(storage).return_value == "mine", "the run's end gave the folder up"


def test_a_forked_child_of_the_driver_does_not_keep_the_run(script):
    script.start(
        """
        import os, threading
        from headway import train

        def loop():
            print("at work", flush=True)
            threading.Event().wait()

        class Hooks(train.Backend):
            def on_training_start(self, worker_group, backend_config):
                child = os.fork()
                if child == 0:
                    os.setsid()
                    threading.Event().wait()

        class Config(train.BackendConfig):
            @property
            def backend_cls(self):
                return Hooks

        train.DataParallelTrainer(loop, backend_config=Config(), run_config=train.RunConfig(name="run")).fit()
        """
    )
    script.wait_for("at work")
    os.kill(script.process.pid, signal.SIGKILL)
    assert fit_in(script.storage).return_value == "mine"


def test_an_owner_that_was_overtaken_stops_at_its_next_commit_and_leaves_the_rest_alone(storage):
    """Where files can't be locked between machines, a second driver takes the run up: it says so in
    run.json.
    """

    def loop():
        import tempfile

        folder = train.get_context().get_storage().trial_fs_path
        with tempfile.TemporaryDirectory() as directory:
            train.report({"x": 1}, checkpoint=train.Checkpoint(directory))
            with open(os.path.join(folder, "run.json")) as file:
                journal = json.load(file)
            journal["owner_epoch"] += 1
            journal["owner"] = "pid 7 on host-b since 2026-01-31 12:00:00"
            with open(os.path.join(folder, "run.json"), "w") as file:
                json.dump(journal, file)
            train.report({"x": 2}, checkpoint=train.Checkpoint(directory))

    with pytest.raises(train.ControllerError) as caught:
        fit_in(storage, loop)
    assert str(caught.value).startswith("another driver has taken this run over: pid 7 on host-b")
    folder = pathlib.Path(storage, "run")
    assert json.loads((folder / "run.json").read_text())["owner"].startswith("pid 7 on host-b")
    assert not (folder / "checkpoint_000001" / ".headway.json").exists()


def test_checkpoints_without_a_run_json_are_not_taken_for_a_run(fit, storage):
    def loop():
        import tempfile

        with tempfile.TemporaryDirectory() as directory:
            train.report({}, checkpoint=train.Checkpoint(directory))

    fit(loop, workers=1, name="run")
    os.remove(os.path.join(storage, "run", "run.json"))
    with pytest.raises(FileExistsError, match=r"holds checkpoints \(checkpoint_000000\) and no run.json"):
        fit_in(storage)
