"""Whoever keeps a run waiting is named, with its stack, and whoever merely takes long is left
alone.

A hang ends here when the test has heard of it: ``hears`` does something the moment a warning is
printed.
"""

import os
import re
import shutil
import signal
import socket
import time

import processes
import pytest
import texts
from headway import train
from headway.train.backend import Backend, BackendConfig
from hearing import awaited_pid

pytestmark = pytest.mark.both_starts

SOON = train.FailureConfig(hang_warn_s=0.5)


def endless(path):
    """As endless as the file is missing."""
    while not os.path.exists(path):
        pass


def report_after(hold):
    """A training function in which rank 1 does ``hold`` before its report."""

    def loop():
        if train.get_context().get_world_rank() == 1:
            hold()
        train.report({"x": 1})

    return loop


def test_a_rank_in_an_endless_loop_is_named_to_those_that_wait_in_report(fit, hears, release):
    path, let_go = release
    ear = hears("has not come to report", let_go)

    def endless_loop():
        while not os.path.exists(path):
            pass

    fit(report_after(endless_loop), failure=SOON)
    assert re.search(
        r"rank 1 has not come to report #1, in which rank 0 has waited for (?:0\.[5-9]|[1-9]\d*\.\d) s", ear.heard
    )
    assert re.search(r"rank 1 \(pid \d+ on .+\):\n +running\n", ear.heard)
    assert re.search(r"endless_loop \(.*test_hangs.py:\d+\)", ear.heard)
    assert "_worker" not in ear.heard, "our own frames are not shown"
    assert re.search(r"rank 0: waiting in report #1 for \d+\.\d s", ear.heard)
    assert re.search(r"every rank has come to report #1, after \d+\.\d s", ear.heard)


def test_a_stopped_rank_is_told_as_stopped(fit, hears):
    ear = hears("has not come to report", lambda text: os.kill(awaited_pid(text), signal.SIGCONT))

    def stop_here():
        os.kill(os.getpid(), signal.SIGSTOP)

    fit(report_after(stop_here), failure=SOON)
    assert re.search(r"stopped \(SIGSTOP\); `kill -CONT \d+` resumes it", ear.heard)
    assert re.search(r"stop_here \(.*test_hangs.py:\d+\)", ear.heard)


def test_a_rank_that_is_locked_up_in_c_shows_the_native_frame(fit, hears, release):
    path, let_go = release
    ear = hears("has not come to report", let_go)

    def lock_twice():
        import ctypes
        import threading

        libc = ctypes.CDLL(None)
        mutex = ctypes.create_string_buffer(64)
        libc.pthread_mutex_lock(mutex)
        threading.Thread(target=lambda: (endless(path), libc.pthread_mutex_unlock(mutex))).start()
        libc.pthread_mutex_lock(mutex)

    fit(report_after(lock_twice), failure=SOON)
    assert "pthread_mutex_lock (libc.so.6)" in ear.heard
    assert re.search(r"lock_twice \(.*test_hangs.py:\d+\)", ear.heard)


def test_the_limit_ends_the_run_and_its_error_names_the_rank_and_the_call(fail):
    def endless_loop():
        while True:
            pass

    error = fail(report_after(endless_loop), failure=train.FailureConfig(hang_warn_s=None, hang_fail_s=3))
    assert re.match(rf"{texts.did_not_come(1, 0, report=1)}, in attempt 1\n", str(error))
    assert texts.LIMIT_OF_HANGS in str(error)
    assert "endless_loop (" in str(error)
    hung = error.worker_failures[1]
    assert type(hung) is train.WorkerHung
    assert (hung.rank, hung.attempt, hung.host) == (1, 1, socket.gethostname())
    assert re.match(texts.did_not_come(1, 0, report=1), str(hung))


def test_the_limit_counts_as_a_failure_and_the_next_attempt_goes_on(fit, tmp_path):
    first = tmp_path / "first"

    def loop():
        if train.get_context().get_world_rank() == 1 and not first.exists():
            first.touch()
            while True:
                pass
        train.report({"x": 1})

    result = fit(loop, failure=train.FailureConfig(max_failures=1, hang_warn_s=None, hang_fail_s=3))
    assert result.metrics["attempt"] == 2


def test_a_long_step_is_no_hang(fit, hears):
    ear = hears("has not come")

    def loop():
        until = time.monotonic() + 1.5
        while time.monotonic() < until:
            pass
        train.report({"x": 1})

    fit(loop, workers=1, failure=train.FailureConfig(hang_warn_s=0.5, hang_fail_s=1))
    assert "warning" not in ear.heard


BY_EXEC = os.environ.get("HEADWAY_WORKER_START") == "exec"


ASLEEP = "open({release!r}).read()"
AT_WORK = "\n    while not os.stat({release!r}).st_mode & 0o100: pass"


def start_importing(script, tmp_path, how=ASLEEP, **limits):
    """A run of two ranks whose imports take until a file, which is returned, is let_go.

    Forked workers wait for their factory's imports; those that are started by exec for their own.
    """
    release = tmp_path / "release"
    os.mkfifo(release, 0o600)
    (tmp_path / "slow_to_import.py").write_text(
        f"import os\ndef wait_at_import(): {how.format(release=str(release))}\nwait_at_import()\n"
    )
    if BY_EXEC:
        (tmp_path / "sitecustomize.py").write_text(
            "import sys\nif 'headway._worker.main import' in ' '.join(sys.orig_argv): import slow_to_import\n"
        )
    packages = os.path.dirname(os.path.dirname(os.path.abspath(train.__path__[0])))
    script.start(
        """
        import headway
        from headway import train
        headway.init(preload=["slow_to_import"])
        try:
            train.DataParallelTrainer(
                lambda: train.report({"x": 1}), scaling_config=train.ScalingConfig(num_workers=2)
            ).fit()
        except train.WorkerGroupError as error:
            print("ERROR", error, flush=True)
        """,
        PYTHONPATH=os.pathsep.join([str(tmp_path), packages]),
        **limits,
    )
    return release


def let_go(release):
    """Ends the imports of :func:`start_importing`."""
    release.chmod(0o700)
    # Opens for one that reads; without any it goes on too.
    os.close(os.open(release, os.O_RDWR))


def test_a_start_that_is_at_work_is_slow_and_not_hung(script, tmp_path):
    release = start_importing(script, tmp_path, AT_WORK, HEADWAY_HANG_WARN_S="1", HEADWAY_HANG_FAIL_S="2")
    text = script.wait_for("have been starting for", count=3)
    assert re.search(r"ranks 0, 1 have been starting for \d+\.\d s: importing slow_to_import", text)
    let_go(release)
    status, rest = script.finish()
    assert status == 0
    assert "ERROR" not in rest
    assert "every rank is ready, after" in rest


def test_a_rank_that_does_not_become_ready_is_named(script, tmp_path):
    release = start_importing(script, tmp_path, HEADWAY_HANG_WARN_S="2")
    text = script.wait_for("not become ready") + script.wait_for("What the ranks are doing")
    assert re.search(r"ranks 0, 1 have not become ready for \d+\.\d s", text)
    assert ("worker factory" in text) != BY_EXEC
    assert "wait_at_import" in text
    let_go(release)
    status, rest = script.finish()
    assert status == 0
    assert "every rank is ready, after" in rest


def test_an_import_that_takes_longer_than_the_limit_is_what_the_error_tells_of(script, tmp_path):
    start_importing(script, tmp_path, HEADWAY_HANG_WARN_S="1", HEADWAY_HANG_FAIL_S="3")
    status, text = script.finish()
    assert status == 0, text
    assert re.search(r"ERROR ranks 0, 1 have not become ready for \d+\.\d s, in attempt 1\n", text), text
    assert "wait_at_import" in text.partition("ERROR")[2]
    assert "exited" not in text, "nobody waits for workers that have not begun"
    assert processes.wait_gone(script.processes, 10) == {}


def hook_config(**hooks):
    """A backend's configuration with these hooks."""
    backend = type("Hooked", (Backend,), hooks)

    class Config(BackendConfig):
        @property
        def backend_cls(self):
            return backend

    return Config()


def test_a_hook_that_does_not_return_is_shown_while_it_holds_up_the_thread_in_fit(fit, hears, release):
    path, let_go = release
    ear = hears("on_start", let_go)

    def on_start(self, group, config):
        endless(path)

    fit(lambda: train.report({"x": 1}), backend_config=hook_config(on_start=on_start), failure=SOON)
    assert re.search(r"the backend's set-up \(on_start, on_training_start\) has not returned for \d+\.\d s", ear.heard)
    assert re.search(
        r"The thread that called fit\(\):\n.*\n +(exists .*\n +)?endless \(.*\n +on_start \(.*test_hangs.py", ear.heard
    )
    assert "on_training_start) has returned, after" in ear.heard


def test_a_hook_that_waits_for_a_rank_names_it_and_shows_its_stack(fit, hears, release):
    path, let_go = release
    ear = hears("has not answered", let_go)

    def in_rank():
        if train.get_context().get_world_rank() == 1:
            endless(path)

    def on_start(self, group, config):
        group.execute(in_rank)

    # A rank that was started by exec imports this file, and so pytest, to get the function.
    later = train.FailureConfig(hang_warn_s=4)
    fit(lambda: train.report({"x": 1}), backend_config=hook_config(on_start=on_start), failure=later)
    assert "rank 1 has not answered a call of the backend's set-up (on_start, on_training_start)" in ear.heard
    assert "in_rank (" in ear.heard


def test_a_hook_is_interrupted_at_the_limit(fail, fit, hears):
    def endless_hook(self, group, config):
        while True:
            pass

    limit = train.FailureConfig(hang_warn_s=None, hang_fail_s=3)
    error = fail(lambda: None, backend_config=hook_config(on_start=endless_hook), failure=limit)
    assert re.match(r"the backend's set-up \(on_start, on_training_start\) has not returned for \d+\.\d s", str(error))
    assert "endless_hook (" in str(error)
    ear = hears("result stands")
    result = fit(lambda: train.report({"x": 1}), backend_config=hook_config(on_shutdown=endless_hook), failure=limit)
    assert result.metrics["x"] == 1
    assert "the backend's on_shutdown has not returned for" in ear.heard


def test_an_upload_that_does_not_end_is_named(fit, hears, tmp_path, storage):
    fifo = tmp_path / "fifo"

    def let_go(text):
        os.close(os.open(fifo, os.O_WRONLY))

    ear = hears("has been storing", let_go)

    def loop():
        def upload(checkpoint, name):
            os.mkfifo(fifo)
            os.close(os.open(fifo, os.O_RDONLY))
            return train.Checkpoint(shutil.copytree(checkpoint.path, os.path.join(storage, "run", name)))

        checkpoint = None
        if train.get_context().get_world_rank() == 1:
            os.makedirs(tmp_path / "checkpoint")
            checkpoint = train.Checkpoint.from_directory(str(tmp_path / "checkpoint"))
        train.report({"x": 1}, checkpoint=checkpoint, checkpoint_upload_fn=upload)

    fit(loop, failure=SOON, name="run")
    assert re.search(
        r"rank 1 has been storing files of checkpoint_000000 for \d+\.\d s, and ranks 0, 1 wait", ear.heard
    )
    assert re.search(r"upload \(.*test_hangs.py:\d+\)", ear.heard)
    assert "the files of report #1 are stored, after" in ear.heard


def test_the_environment_gives_the_defaults(monkeypatch):
    assert (train.FailureConfig().hang_warn_s, train.FailureConfig().hang_fail_s) == (30, None)
    monkeypatch.setenv("HEADWAY_HANG_WARN_S", "5")
    monkeypatch.setenv("HEADWAY_HANG_FAIL_S", "7.5")
    assert (train.FailureConfig().hang_warn_s, train.FailureConfig().hang_fail_s) == (5, 7.5)
    assert train.FailureConfig(hang_warn_s=None).hang_warn_s is None
    monkeypatch.setenv("HEADWAY_HANG_WARN_S", "soon")
    with pytest.raises(ValueError, match='HEADWAY_HANG_WARN_S is "soon" in the environment; allowed: 0'):
        train.FailureConfig()
