"""kill -9 of any process of a run: nothing of it is left, wherever it hides."""

import os
import re
import signal

import processes
import pytest
import texts
from headway import train

pytestmark = pytest.mark.both_starts

# Each rank has a child of a DataLoader's kind, a grandchild in another session, and one whose
# parent has gone.
BUSY = """
import multiprocessing, os, signal, subprocess, sys, threading
from headway import train

def child(ready):
    ready.send("up")
    threading.Event().wait()

def daemon():
    up, there = os.pipe()
    parent = os.fork()
    if parent == 0:
        os.setsid()
        if os.fork() > 0:
            os._exit(0)
        os.write(there, b"u")
        signal.pause()
    os.read(up, 1)
    os.waitpid(parent, 0)

def loop():
    ready, there = multiprocessing.get_context("fork").Pipe()
    multiprocessing.get_context("fork").Process(target=child, args=(there,), daemon=True).start()
    ready.recv()
    subprocess.Popen(["tail", "-f", "/dev/null"], start_new_session=True)
    daemon()
    print("at work", os.getpid(), os.getppid(), flush=True)
    threading.Event().wait()

try:
    train.DataParallelTrainer(loop, scaling_config=train.ScalingConfig(num_workers=2)).fit()
except train.TrainingFailedError as error:
    print("FAILED:", error)
"""


@pytest.fixture
def busy(script):
    """The script at work: 2 ranks with 3 more processes each, a factory, a guard and the driver."""
    script.start(BUSY)
    output = script.wait_for("at work", count=2)
    script.workers = {int(pid): int(parent) for pid, parent in re.findall(r"at work (\d+) (\d+)", output)}
    script.factory = set(script.workers.values()).pop()
    script.guard = next(pid for pid, line in script.processes().items() if processes.is_guard_line(line))
    assert processes.children(script.guard) == {script.factory}
    assert len(script.processes()) >= 3 + 2 * 4
    return script


@pytest.fixture(autouse=True)
def shared_memory_stays_as_it_was():
    before = processes.orphans_in_shared_memory()
    yield
    assert processes.orphans_in_shared_memory() <= before


def kill(pid):
    os.kill(pid, signal.SIGKILL)


def test_the_driver_is_killed(busy):
    kill(busy.process.pid)
    assert processes.wait_gone(busy.processes, 5) == {}


def test_the_factory_is_killed(busy):
    kill(busy.factory)
    status, output = busy.finish(20)
    assert status == 0, output
    assert "its worker factory died, and it with it" in output
    assert processes.wait_gone(busy.processes, 5) == {}


def test_the_guard_is_killed(busy):
    kill(busy.guard)
    status, output = busy.finish(20)
    assert status == 0, output
    assert "FAILED:" in output
    assert processes.wait_gone(busy.processes, 5) == {}


def test_a_worker_is_killed(busy):
    worker = min(busy.workers)
    kill(worker)
    status, output = busy.finish(20)
    assert status == 0, output
    assert re.search(rf"FAILED: {texts.named('[0-9]', worker)} {re.escape(texts.killed(9))}", output)
    assert processes.wait_gone(busy.processes, 5) == {}


def test_the_driver_and_the_guard_are_killed_at_once(busy):
    kill(busy.guard)
    kill(busy.process.pid)
    assert processes.wait_gone(busy.processes, 5) == {}


def test_a_driver_that_ends_without_a_word(script):
    status, output = script.run(
        """
        import os, threading
        from headway import train

        def hard_exit():
            os._exit(3)

        class Hooks(train.Backend):
            def on_training_start(self, worker_group, backend_config):
                worker_group.execute(lambda: __import__("subprocess").Popen(["tail", "-f", "/dev/null"]).pid)
                os._exit(3)

        class Config(train.BackendConfig):
            @property
            def backend_cls(self):
                return Hooks

        train.DataParallelTrainer(print, backend_config=Config()).fit()
        """
    )
    assert status == 3, output
    assert processes.wait_gone(script.processes, 5) == {}


def test_what_a_worker_started_ends_with_it_in_a_run_that_succeeds(fit):
    def loop():
        import subprocess

        return subprocess.Popen(["tail", "-f", "/dev/null"], start_new_session=True).pid

    pid = fit(loop, workers=1).return_value
    # It was killed before fit() returned; when it is dead the kernel says.
    assert processes.wait_gone(lambda: {pid: line} if (line := processes.command_line(pid)) else {}, 5) == {}


def test_temporary_folders_are_removed(script, tmp_path):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    status, output = script.run(
        """
        from headway import train
        train.DataParallelTrainer(lambda: train.report({}), scaling_config=train.ScalingConfig(num_workers=2)).fit()
        """,
        TMPDIR=str(temporary),
        HEADWAY_STAGING_DIR="",  # Where it is by default.
    )
    assert status == 0, output
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_temporary_folders_are_removed_when_the_driver_has_no_time_to(script, tmp_path, end):
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    script.start(BUSY, TMPDIR=str(temporary), HEADWAY_STAGING_DIR="", HEADWAY_NOTICE_PERIOD_S="0")
    script.wait_for("at work", count=2)
    assert [path.name for path in temporary.iterdir()] == [f"headway-staging-{os.geteuid()}"]
    script.process.send_signal(end)
    script.finish(20)
    assert processes.wait_gone(script.processes, 10) == {}
    assert list(temporary.iterdir()) == []


def test_a_run_that_is_over_holds_no_file_of_its_folder_open(fit):
    result = fit(lambda: train.report({"x": 1}), workers=1)
    links = [f"/proc/self/fd/{number}" for number in os.listdir("/proc/self/fd")]
    assert [link for link in links if os.path.realpath(link).startswith(result.path)] == []
