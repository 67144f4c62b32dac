"""Ctrl-C: the ranks end within a second, what was reported is kept, and the script ends as one that
was interrupted.
"""

import json
import os
import signal
import time

import processes
import pytest

pytestmark = pytest.mark.both_starts

BUSY = """
import os, signal, subprocess, sys, tempfile, threading
from headway import train

def loop():
    rank = train.get_context().get_world_rank()
    with tempfile.TemporaryDirectory() as directory:
        with open(os.path.join(directory, "x"), "w") as file:
            file.write("1")
        train.report({"n": 1}, checkpoint=train.Checkpoint(directory) if rank == 0 else None)
    subprocess.Popen(["tail", "-f", "/dev/null"], start_new_session=True)
    if DEAF:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    print("at work", flush=True)
    threading.Event().wait()

train.DataParallelTrainer(
    loop,
    scaling_config=train.ScalingConfig(num_workers=2),
    run_config=train.RunConfig(name="run"),
).fit()
"""


@pytest.mark.parametrize("deaf", [False, True], ids=["listening", "deaf"])
def test_ctrl_c_once(script, deaf):
    in_shared_memory = processes.orphans_in_shared_memory()
    script.start(BUSY.replace("DEAF", str(deaf)))
    script.wait_for("at work", count=2)
    begun = time.monotonic()
    os.killpg(script.process.pid, signal.SIGINT)
    status, output = script.finish(10)
    took_s = time.monotonic() - begun
    assert status == 130
    assert output.splitlines()[-1] == (
        f"headway: stopped by Ctrl-C; what was reported so far is in {script.storage}/run; "
        "the same name and storage path resume the run"
    )
    assert "Traceback" not in output
    assert processes.wait_gone(script.processes, 0.5) == {}
    # The ranks have a second; the rest is Python's own end on a machine that others use as well.
    assert took_s < 3
    folder = os.path.join(script.storage, "run")
    with open(os.path.join(folder, "result.json")) as lines:
        assert [json.loads(line)["n"] for line in lines] == [1]
    with open(os.path.join(folder, "run.json")) as file:
        journal = json.load(file)
    assert journal["state"] == "aborted"
    assert [entry["name"] for entry in journal["checkpoints"]] == ["checkpoint_000000"]
    assert os.path.exists(os.path.join(folder, "checkpoint_000000", "x"))
    assert processes.orphans_in_shared_memory() <= in_shared_memory


def test_ctrl_c_while_a_backend_sets_up(script):
    script.start(
        """
        import threading
        from headway import train

        class Hooks(train.Backend):
            def on_start(self, worker_group, backend_config):
                worker_group.execute(lambda: print("at work", flush=True) or threading.Event().wait())

        class Config(train.BackendConfig):
            @property
            def backend_cls(self):
                return Hooks

        train.DataParallelTrainer(
            print, backend_config=Config(), scaling_config=train.ScalingConfig(num_workers=2)
        ).fit()
        """
    )
    script.wait_for("at work", count=2)
    os.killpg(script.process.pid, signal.SIGINT)
    status, output = script.finish(10)
    assert status == 130, output
    assert processes.wait_gone(script.processes, 0.5) == {}


def test_a_program_goes_on_after_ctrl_c(script):
    status, output = script.run(
        """
        import os, signal, threading
        from headway import train

        def loop():
            if train.get_context().get_world_rank() == 0:
                os.kill(DRIVER, signal.SIGINT)
            threading.Event().wait()

        DRIVER = os.getpid()
        scaling = train.ScalingConfig(num_workers=2)
        try:
            train.DataParallelTrainer(loop, scaling_config=scaling).fit()
        except KeyboardInterrupt:
            print("interrupted")
        print(train.DataParallelTrainer(lambda: "again", scaling_config=scaling).fit().return_value)
        """
    )
    assert status == 0, output
    assert "interrupted\n" in output
    assert output.endswith("again\n")


def test_ctrl_c_in_local_mode_shows_where_the_training_function_was(script):
    script.start(
        """
        import signal
        from headway import train

        def loop():
            print("at work", flush=True)
            while True:  # A signal between the line above and pause() would be missed.
                signal.sigtimedwait([], 0.1)

        train.DataParallelTrainer(loop, scaling_config=train.ScalingConfig(num_workers=0)).fit()
        """
    )
    script.wait_for("at work", count=1)
    os.killpg(script.process.pid, signal.SIGINT)
    status, output = script.finish(10)
    assert status == 130
    assert "stopped by Ctrl-C; what was reported so far is in" in output
    assert ", in loop\n" in output
    assert "headway/train" not in output


def test_another_error_after_ctrl_c_has_its_frames(script):
    status, output = script.run(
        """
        import os, signal, threading
        from headway import train

        def loop():
            os.kill(DRIVER, signal.SIGINT)
            threading.Event().wait()

        DRIVER = os.getpid()
        try:
            train.DataParallelTrainer(loop).fit()
        except KeyboardInterrupt:
            pass
        raise ValueError("of the program")
        """
    )
    assert status == 1
    assert "Traceback" in output
    assert output.endswith("ValueError: of the program\n")
