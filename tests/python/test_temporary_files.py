"""Temporary files of ranks: they go with the attempt, however its processes end."""

import getpass
import os
import re
import shutil
import signal
import tempfile

import processes
import pytest


@pytest.fixture
def short_staging(monkeypatch):
    """A staging directory with a path as short as the default one's."""
    path = tempfile.mkdtemp(prefix="hw", dir="/tmp")
    monkeypatch.setenv("HEADWAY_STAGING_DIR", path)
    yield path
    shutil.rmtree(path, ignore_errors=True)


LEAVING = """
    import multiprocessing, os, signal, tempfile, threading
    from headway import train
    from headway.train import collective

    def loop():
        directory = tempfile.mkdtemp(prefix="mine-")
        assert directory.startswith(os.environ["HEADWAY_STAGING_DIR"]), directory
        manager = multiprocessing.get_context("fork").Manager()  # It listens on a socket in there.
        manager.list([1]).append(2)
        print("in", os.environ["TMPDIR"], flush=True)
        collective.barrier()
        END
"""


FIT = """
    try:
        train.DataParallelTrainer(loop, scaling_config=train.ScalingConfig(num_workers=2)).fit()
    except train.TrainingFailedError:
        print("FAILED", flush=True)
"""


def start(script, end):
    script.start(LEAVING.replace("END", end) + FIT)


def test_killed_ranks_leave_no_temporary_files(script, short_staging):
    start(script, "os.kill(os.getpid(), signal.SIGKILL)")
    status, output = script.finish()
    assert status == 0, output
    assert "FAILED" in output
    assert os.listdir(short_staging) == []


def test_a_killed_driver_leaves_no_temporary_files_of_its_ranks(script, short_staging):
    start(script, "threading.Event().wait()")
    output = script.wait_for("in ", count=2)
    assert f"in {short_staging}/tmp/" in output
    os.kill(script.process.pid, signal.SIGKILL)
    assert processes.wait_gone(script.processes, 10) == {}
    assert os.listdir(short_staging) == []


def test_ranks_share_a_directory_and_one_that_the_user_has_chosen_stays(script, short_staging, monkeypatch):
    # PyTorch may have set it in this process, for a test before.
    monkeypatch.delenv("TORCHINDUCTOR_CACHE_DIR", raising=False)
    status, output = script.run(
        """
        import os, tempfile
        from headway import train

        def loop():
            return tempfile.gettempdir(), os.environ.get("TORCHINDUCTOR_CACHE_DIR")

        def fit(**options):
            return train.DataParallelTrainer(loop, run_config=train.RunConfig(**options)).fit().return_value

        print("ours", *fit())
        print("chosen", *fit(worker_runtime_env={"env_vars": {"TMPDIR": "/var/tmp"}}))
        """
    )
    assert status == 0, output
    user = getpass.getuser()
    assert re.search(
        f"^ours {short_staging}/tmp/[0-9.-]+/1.1 {tempfile.gettempdir()}/torchinductor_{user}$", output, re.M
    )
    assert re.search("^chosen /var/tmp None$", output, re.M)
