"""Runs whose folder is deleted or moved, and runs whose storage goes silent for good."""

import contextlib
import os
import signal
import time

import object_store
import pytest
from headway import train

import cluster

# What a whole outage may take: the attempts of one patience, and a request that is under way.
PATIENCE_S = 6


def test_a_folder_that_moves_under_a_run_with_checkpoints_ends_it_at_once(fit, tmp_path):
    def loop(config):
        import tempfile

        context = train.get_context()
        if context.get_world_rank() == 0:
            with open(os.path.join(config["notes"], str(os.getpid())), "w"):
                pass
        for step in range(3):
            with tempfile.TemporaryDirectory() as directory:
                with open(os.path.join(directory, "step"), "w") as file:
                    file.write(str(step))
                train.report({"step": step}, checkpoint=train.Checkpoint(directory))
            if step == 1 and context.get_world_rank() == 0:
                folder = context.get_storage().trial_fs_path
                os.rename(folder, folder + ".moved")

    notes = tmp_path / "notes"
    notes.mkdir()
    with pytest.raises(train.ControllerError, match=r"the run's folder .* was deleted or moved while the run went on"):
        fit(loop, max_failures=3, config={"notes": str(notes)})
    assert len(list(notes.iterdir())) == 1  # No other attempt was begun.


LOOP = """
    import os, tempfile
    from headway import train

    def save(step):
        directory = tempfile.mkdtemp()
        with open(os.path.join(directory, "step"), "w") as file:
            file.write(str(step))
        train.report({"step": step}, checkpoint=train.Checkpoint(directory))

    def fit(loop, failures=0):
        return train.DataParallelTrainer(
            loop,
            scaling_config=train.ScalingConfig(num_workers=1),
            run_config=train.RunConfig(
                name="run",
                storage_path=STORAGE,
                failure_config=train.FailureConfig(max_failures=failures, hang_warn_s=2),
            ),
        ).fit()
"""


def test_a_folder_that_is_deleted_in_s3_ends_its_run_at_once():
    with object_store.serve() as store:
        output = object_store.run(
            f"    STORAGE = {store.url('runs')!r}\n"
            + LOOP
            + f"""
    def loop():
        from pyarrow import fs
        save(0)
        s3 = fs.S3FileSystem(access_key="key", secret_key="secret", region="us-east-1",
                             endpoint_override="http://127.0.0.1:{store.port}")
        s3.delete_dir("runs/run")
        print("ATTEMPT")
        save(1)
        save(2)

    try:
        fit(loop, failures=3)
    except train.ControllerError as error:
        print("ERROR", error)
    """
        )
    assert output.count("ATTEMPT") == 1, output
    assert "ERROR the run's folder s3://runs/run" in output
    assert "was deleted or moved" in output


SILENT = """
    def loop():
        save(0)
        print("CUT NOW", flush=True)
        with open(CUT) as fifo:  # Until the test writes to it.
            fifo.read()
        save(1)

    try:
        fit(loop)
    except train.TrainingFailedError as error:
        print("FAILED", flush=True)
    except KeyboardInterrupt:
        print("INTERRUPTED", flush=True)
"""


@contextlib.contextmanager
def silent_s3(script, tmp_path, **env):
    """A script whose storage goes silent after its first report."""
    with object_store.serve() as store, contextlib.closing(cluster.Proxy(f"127.0.0.1:{store.port}")) as proxy:
        url = store.url("runs").replace(str(store.port), proxy.address.rsplit(":", 1)[1])
        cut = tmp_path / "cut"
        os.mkfifo(cut)
        names = f"    STORAGE, CUT = {url!r}, {str(cut)!r}\n"
        env = {"HEADWAY_STAGING_DIR": str(tmp_path / "staging"), **object_store.CREDENTIALS, **env}
        script.start(names + LOOP + SILENT, **env)
        script.wait_for("CUT NOW")
        proxy.cut()
        cut.write_text("")
        yield


def test_the_end_of_a_run_waits_once_for_storage_that_is_silent_for_good(script, tmp_path):
    with silent_s3(script, tmp_path, HEADWAY_STORAGE_RETRY_S=str(PATIENCE_S)):
        said = script.wait_for("storage does not answer")
        failed_at = time.monotonic()
        status, rest = script.finish(60)
    took = time.monotonic() - failed_at
    said += rest
    assert status == 0, said
    assert "FAILED" in said
    assert "storage has answered" not in said
    assert "so nothing more is tried" in said
    assert "they are in " in said
    # Each of the last steps would have taken as long by itself.
    assert took < 3 * PATIENCE_S, said


def test_ctrl_c_shortens_the_wait_for_silent_storage(script, tmp_path):
    with silent_s3(script, tmp_path, HEADWAY_STORAGE_RETRY_S="300", HEADWAY_STORAGE_ATTEMPTS="100"):
        script.wait_for("storage has not answered")
        script.process.send_signal(signal.SIGINT)
        status, said = script.finish(60)
    assert status == 0, said
    assert "INTERRUPTED" in said
    assert "they are in " in said
