"""Storage that cannot be written, is taken or is full: said before workers start, or raised in
every rank's report.
"""

import contextlib
import ctypes
import json
import os
import re
import resource
import socket
import subprocess
import tempfile
from pathlib import Path

import headway
import processes
import pytest
import texts
from headway import train


@pytest.fixture
def no_worker_starts():
    """The run must be refused before a worker exists; a factory may have been started meanwhile."""
    headway.shutdown()


def run_in(path, name=None, loop=lambda: None):
    config = train.RunConfig(name=name, storage_path=str(path))
    return train.DataParallelTrainer(loop, run_config=config, scaling_config=train.ScalingConfig(num_workers=2)).fit()


def must_not_run():
    with open(os.environ["HEADWAY_TEST_RAN"], "w"):
        pass


def assert_nothing_ran(tmp_path, monkeypatch, path, kind, *told, name="run"):
    monkeypatch.setenv("HEADWAY_TEST_RAN", str(tmp_path / "ran"))
    with pytest.raises(kind) as caught:
        run_in(path, name, must_not_run)
    for text in told:
        assert text in str(caught.value)
    assert not (tmp_path / "ran").exists()
    guards = [pid for pid in processes.children(os.getpid()) if processes.is_guard(pid)]
    factories = [child for guard in guards for child in processes.children(guard)]
    assert [child for factory in factories for child in processes.children(factory)] == [], "no worker was started"


@pytest.mark.usefixtures("no_worker_starts")
def test_a_storage_path_that_is_a_file(tmp_path, monkeypatch):
    file = tmp_path / "file"
    file.write_text("mine")
    assert_nothing_ran(tmp_path, monkeypatch, file, OSError, str(file), "not a directory")
    assert_nothing_ran(tmp_path, monkeypatch, file / "deeper", OSError, str(file))
    assert file.read_text() == "mine"


@pytest.mark.usefixtures("no_worker_starts")
def test_a_storage_path_that_cannot_be_made(tmp_path, monkeypatch):
    assert_nothing_ran(tmp_path, monkeypatch, "/proc/nothing/here", OSError, "/proc/nothing")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
@pytest.mark.usefixtures("no_worker_starts")
def test_a_storage_path_without_permission(tmp_path, monkeypatch):
    folder = tmp_path / "read_only"
    folder.mkdir(mode=0o555)
    assert_nothing_ran(tmp_path, monkeypatch, folder, OSError, str(folder), "permission denied")


def test_a_complete_run_is_gone_on_with_when_its_script_runs_again(tmp_path, capfd):
    first = run_in(tmp_path / "storage", "run", lambda: train.report({"x": 1}))
    second = run_in(tmp_path / "storage", "run", lambda: train.report({"x": 2}))
    assert second.path == first.path
    told = capfd.readouterr().err
    assert f"The run in {first.path} is complete (1 report) and has no checkpoint: it trains again from" in told
    assert "another RunConfig.name starts a new run" in told
    reports = second.metrics_dataframe
    assert list(reports["attempt"]) == [1, 2]
    assert list(reports["training_iteration"]) == [1, 2]
    assert len(set(reports["trial_id"])) == 1


@pytest.mark.usefixtures("no_worker_starts")
@pytest.mark.parametrize(
    ("content", "what"),
    [
        ('{"name": "not a run of ours"}', "is not the journal of a run: it has no version"),
        ('{"version": 2, "state": "runn', "is not the journal of a run"),
        ('{"version": 1000, "state": "running", "spec": {}}', "was written by a newer Headway (version 1000"),
    ],
)
def test_a_run_json_of_something_else(tmp_path, monkeypatch, content, what):
    (tmp_path / "storage" / "run").mkdir(parents=True)
    (tmp_path / "storage" / "run" / "run.json").write_text(content)
    assert_nothing_ran(tmp_path, monkeypatch, tmp_path / "storage", OSError, "run.json", what)
    assert (tmp_path / "storage" / "run" / "run.json").read_text() == content


def test_a_folder_that_holds_other_things_is_used(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "notes.txt").write_text("mine")
    run_in(tmp_path, "run")
    assert (tmp_path / "run" / "notes.txt").read_text() == "mine"


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 1 MiB; None where this user may not mount one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=1m", "headway-test", str(folder)]
    if subprocess.run(command, capture_output=True, timeout=10, check=False).returncode != 0:
        pytest.skip("this user cannot mount a small file system")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], timeout=10, check=True)


@pytest.mark.usefixtures("no_worker_starts")
def test_a_disk_that_is_full_before_the_run(small_disk, tmp_path, monkeypatch):
    filler = os.open(small_disk / "filler", os.O_WRONLY | os.O_CREAT)
    with contextlib.suppress(OSError):
        while os.write(filler, bytes(4096)):
            pass
    os.close(filler)
    assert_nothing_ran(tmp_path, monkeypatch, small_disk, OSError, "no space left on device", str(small_disk))


def keep_a_checkpoint_busy(config):
    """Three checkpoints, of which the first cannot be deleted: a file system is mounted in it."""
    local = Path(config["local"])
    for step in range(3):
        train.report({"step": step}, checkpoint=train.Checkpoint.from_directory(local))
        if step == 0:
            subprocess.run(["mount", "--bind", config["disk"], config["busy"]], timeout=10, check=True)


def test_a_checkpoint_that_cannot_be_deleted_ends_no_run(small_disk, tmp_path, fit, capfd):
    local, folder = tmp_path / "local", tmp_path / "storage" / "run"
    (local / "busy").mkdir(parents=True)
    (local / "busy" / "model.pt").write_text("weights")
    busy = folder / "checkpoint_000000" / "busy"
    config = {"local": str(local), "disk": str(small_disk), "busy": str(busy)}
    result = fit(keep_a_checkpoint_busy, 1, config=config, name="run", keep=train.CheckpointConfig(num_to_keep=1))
    left = folder / ".headway.part.removed.checkpoint_000000" / "busy"
    subprocess.run(["umount", "-l", str(left)], timeout=10, check=True)
    assert [os.path.basename(kept.path) for kept, _ in result.best_checkpoints] == ["checkpoint_000002"]
    assert sorted(path.name for path in folder.glob("checkpoint_*")) == ["checkpoint_000002"]
    assert json.loads((folder / "run.json").read_text())["to_delete"] == ["checkpoint_000000"]
    warnings = [line for line in capfd.readouterr().err.splitlines() if "old checkpoint" in line]
    assert len(warnings) == 2
    assert "checkpoint_000000 could not be deleted" in warnings[0]
    assert "checkpoint_000000 is still there" in warnings[1]


def report_with_2_mb_from_rank_1(config):
    """Tries a checkpoint that is too large, then one that is not; prints the error."""
    import tempfile

    rank = train.get_context().get_world_rank()
    with tempfile.TemporaryDirectory() as directory:
        checkpoint = train.Checkpoint.from_directory(directory)
        path = os.path.join(directory, f"rank_{rank}")
        with open(path, "wb") as file:
            file.write(bytes(2_000_000 if rank == 1 else 10))
        if config["limit"] and rank == 1:
            resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, resource.RLIM_INFINITY))
        try:
            train.report({"n": 1}, checkpoint=checkpoint)
        except OSError as error:
            print("refused:", error)
        with open(path, "wb") as file:
            file.write(b"small")
        train.report({"n": 2}, checkpoint=checkpoint)


def assert_every_rank_was_told(result, reason, blamed=1):
    for rank in range(2):
        with open(os.path.join(result.path, "logs", f"rank_{rank}.log")) as log:
            text = log.read()
        assert re.match(rf"refused: rank {blamed} could not store its part of the checkpoint", text), text
        assert reason in text
    assert list(result.metrics_dataframe["n"]) == [2]
    folders = [name for name in os.listdir(result.path) if "checkpoint" in name]
    assert folders == [os.path.basename(result.checkpoint.path)], "the failed one is swept"
    with open(os.path.join(result.checkpoint.path, "rank_1"), "rb") as file:
        assert file.read() == b"small"


def test_a_disk_that_is_full_during_a_report(fit, small_disk):
    headway.init(ignore_reinit_error=True)
    trainer = train.DataParallelTrainer(
        report_with_2_mb_from_rank_1,
        train_loop_config={"limit": False},
        scaling_config=train.ScalingConfig(num_workers=2),
        run_config=train.RunConfig(name="run", storage_path=str(small_disk)),
    )
    # Rank 0 fails first where rank 1's file has filled the disk before.
    assert_every_rank_was_told(trainer.fit(), "no space left on device", "[01]")


def test_a_disk_that_fills_up_costs_lines_and_logs_and_is_told_once(small_disk, capfd):
    def loop():
        print("x" * 2_000_000)
        for step in range(50):
            train.report({"step": step})

    headway.init(ignore_reinit_error=True)
    result = run_in(small_disk, "run", loop)
    assert result.metrics["step"] == 49
    told = capfd.readouterr().err
    assert told.count("a report is not in result.json") == 1
    assert re.search(r"of the reports, \d+ are not in result.json", told)
    assert re.search(r"logs/rank_\d.log lacks a part of the output: No space left on device", told)
    assert len(told.splitlines()) < 20


def test_a_file_that_may_not_be_so_large(fit):
    assert_every_rank_was_told(fit(report_with_2_mb_from_rank_1, config={"limit": True}), "file too large")


def test_a_run_folder_that_disappears_fails_the_report_in_every_rank(fit):
    def loop():
        import tempfile

        context = train.get_context()
        train.report({"n": 1})
        if context.get_world_rank() == 0:
            folder = context.get_storage().trial_fs_path
            # In one step: the driver still writes down the report that has returned.
            os.rename(folder, folder + ".gone")
            open(folder, "w").close()
        with tempfile.TemporaryDirectory() as directory:
            with open(os.path.join(directory, "x"), "w") as file:
                file.write("x")
            train.report({"n": 2}, checkpoint=train.Checkpoint(directory))

    # Whoever notices first tells it: the commit of the checkpoint, or the line of the report
    # before.
    with pytest.raises(train.TrainingFailedError, match=r"(?:the checkpoint could not be begun|was deleted or moved)"):
        fit(loop)


def test_a_run_that_only_reports_metrics_ends_when_its_folder_is_deleted(fit):
    def loop():
        import shutil

        context = train.get_context()
        train.report({"n": 1})
        if context.get_world_rank() == 0:
            shutil.rmtree(context.get_storage().trial_fs_path)
        train.report({"n": 2})
        while True:
            train.report({"n": 3})

    with pytest.raises(train.ControllerError, match=r"the run's folder .* was deleted or moved while the run went on"):
        fit(loop, max_failures=-1)


SCRIPT_THAT_DIES_IN_AN_UPLOAD = """
import os, tempfile
from headway import train

def loop():
    rank = train.get_context().get_world_rank()
    newest = train.get_checkpoint()
    if newest is not None:
        return sorted(os.listdir(train.get_context().get_storage().trial_fs_path)), newest.path
    directory = tempfile.mkdtemp()
    with open(os.path.join(directory, f"rank_{rank}"), "w") as file:
        file.write("x")
    train.report({}, checkpoint=train.Checkpoint(directory), checkpoint_dir_name="first")
    train.report({}, checkpoint=train.Checkpoint(directory))
    raise AssertionError("the second upload was to end this process")

names, newest = train.DataParallelTrainer(
    loop,
    scaling_config=train.ScalingConfig(num_workers=2),
    run_config=train.RunConfig(failure_config=train.FailureConfig(max_failures=1)),
).fit().return_value
print("newest:", newest)
print("names:", names)
"""


def test_an_unfinished_checkpoint_is_swept_at_a_restart(script):
    status, output = script.run(SCRIPT_THAT_DIES_IN_AN_UPLOAD, HEADWAY_FAULT_POINT="upload.file_copied:2")
    assert status == 0, output
    assert texts.killed(9) in output
    assert re.search("newest: .*/first\n", output)
    names = re.search("names: (.*)", output)[1]
    assert "first" in names
    assert "checkpoint_" not in names


def hide(path):
    """Puts an empty file system over ``path``, in this thread's view alone, as on a node that does
    not share it.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    new_namespace, private, recursive = 0x00020000, 1 << 18, 1 << 14
    steps = (
        libc.unshare(new_namespace),
        libc.mount(b"none", b"/", None, private | recursive, None),
        libc.mount(b"none", str(path).encode(), b"tmpfs", 0, None),
    )
    assert steps == (0, 0, 0), os.strerror(ctypes.get_errno())


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can have a separate mount")
def test_a_path_that_a_node_does_not_share_fails_the_first_checkpoint_but_no_metrics(tmp_path):
    storage = tmp_path / "storage"

    def loop():
        if train.get_context().get_world_rank() == 1:
            hide(storage)
        train.report({"x": 1})
        directory = tempfile.mkdtemp(dir=tmp_path)
        Path(directory, f"rank_{train.get_context().get_world_rank()}").write_text("weights")
        checkpoint = train.Checkpoint.from_directory(directory)
        with pytest.raises(OSError, match=rf"storage is not shared by all nodes: .* {socket.gethostname()} \(rank 1\)"):
            train.report({"x": 2}, checkpoint)
        train.report({"x": 3})

    result = train.DataParallelTrainer(
        loop,
        scaling_config=train.ScalingConfig(num_workers=2),
        run_config=train.RunConfig(storage_path=storage, name="run"),
    ).fit()
    assert list(result.metrics_dataframe["x"]) == [1, 3]
    assert result.checkpoint is None
