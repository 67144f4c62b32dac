"""Asynchronous checkpoints: training continues while they are stored, and nothing of them is lost
or left behind.
"""

import json
import os
import resource
import tempfile
from pathlib import Path

import pytest
from headway import train

ASYNC = train.CheckpointUploadMode.ASYNC


def save(content):
    directory = tempfile.mkdtemp()
    with open(os.path.join(directory, f"rank_{train.get_context().get_world_rank()}"), "w") as file:
        file.write(content)
    return train.Checkpoint.from_directory(directory)


def report_twice(checkpoint):
    """The first waits behind the one that fails, unless that has failed already; the second hears
    of it then.
    """
    train.report({"x": 1}, checkpoint=checkpoint)
    train.report({"x": 1}, checkpoint=checkpoint)


def run(loop, tmp_path, workers=2, **config):
    return train.DataParallelTrainer(
        loop,
        train_loop_config={"tmp": str(tmp_path)},
        scaling_config=train.ScalingConfig(num_workers=workers),
        run_config=train.RunConfig(storage_path=tmp_path / "storage", name="run", **config),
    ).fit()


def test_every_rank_s_files_are_committed_in_order_and_handed_over_directories_are_removed(tmp_path):
    def loop(config):
        tempfile.tempdir = config["tmp"]
        for epoch in range(5):
            train.report({"epoch": epoch}, checkpoint=save(str(epoch)), checkpoint_upload_mode=ASYNC)
        train.report({"epoch": 5})

    result = run(loop, tmp_path)
    assert [metrics["epoch"] for _, metrics in result.best_checkpoints] == [0, 1, 2, 3, 4]
    for checkpoint, metrics in result.best_checkpoints:
        with checkpoint.as_directory() as directory:
            parts = [Path(directory, f"rank_{rank}").read_text() for rank in (0, 1)]
        assert parts == [str(metrics["epoch"])] * 2
    assert list(result.metrics_dataframe["epoch"]) == [0, 1, 2, 3, 4, 5]
    assert [entry.name for entry in tmp_path.iterdir()] == ["storage"]


def test_a_file_that_cannot_be_stored_is_told_by_a_report_that_follows_in_every_rank(tmp_path):
    def loop(config):
        small, large = save("x"), save("x" * 4096)
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1024, limits[1]))  # As if the disk were full.
        train.report({"x": 0}, large, checkpoint_upload_mode=ASYNC, delete_local_checkpoint_after_upload=False)
        with pytest.raises(OSError, match="checkpoint_000000 of report #1 was not stored"):
            report_twice(small)
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        train.report({"x": 2}, checkpoint=small)

    result = run(loop, tmp_path)
    assert result.metrics["x"] == 2
    assert 0 not in list(result.metrics_dataframe["x"])


def test_the_last_one_fails_and_fit_says_so(tmp_path):
    def loop(config):
        checkpoint = save("x" * 4096)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))
        train.report({"x": 0}, checkpoint, checkpoint_upload_mode=ASYNC, delete_local_checkpoint_after_upload=False)

    with pytest.raises(train.TrainingFailedError, match="checkpoint_000000 of report #1 was not stored"):
        run(loop, tmp_path, workers=1)


def test_get_checkpoint_gives_the_newest_one_that_is_stored(tmp_path):
    def loop(config):
        train.report({"x": 0}, checkpoint=save("0"), checkpoint_upload_mode=ASYNC)
        train.report({"x": 1}, checkpoint=save("1"))  # Synchronous: it waits for the one before it.
        return train.get_checkpoint().path

    result = run(loop, tmp_path)
    assert result.return_value == result.checkpoint.path
    manifests = [
        json.loads(Path(c.path, ".headway.json").read_text())["metrics"]["x"] for c, _ in result.best_checkpoints
    ]
    assert manifests == [0, 1]


def test_kept_local_when_asked(tmp_path):
    def loop(config):
        checkpoint = save("0")
        train.report(
            {"x": 0},
            checkpoint=checkpoint,
            checkpoint_upload_mode=ASYNC,
            delete_local_checkpoint_after_upload=False,
        )
        return os.listdir(checkpoint.path)

    assert run(loop, tmp_path, workers=1).return_value == ["rank_0"]


def test_a_committed_checkpoint_that_is_reported_again_stays_where_it_is(tmp_path):
    def first(config):
        train.report({"x": 0}, checkpoint=save("0"))

    def second(config):
        train.report({"x": 1}, checkpoint=train.get_checkpoint(), checkpoint_upload_mode=ASYNC)
        inner = os.path.join(train.get_checkpoint().path, "sub")
        os.mkdir(inner)
        train.report({"x": 2}, train.Checkpoint(inner), delete_local_checkpoint_after_upload=True)
        train.report({"x": 3}, checkpoint=train.get_checkpoint(), delete_local_checkpoint_after_upload=True)
        return os.path.exists(inner)

    pretrained = run(first, tmp_path, workers=1)
    tuned = train.DataParallelTrainer(
        second,
        train_loop_config={},
        run_config=train.RunConfig(storage_path=tmp_path / "storage", name="tuned"),
        resume_from_checkpoint=pretrained.checkpoint,
    ).fit()
    assert tuned.return_value is True
    for checkpoint in (pretrained.checkpoint, tuned.best_checkpoints[0][0]):
        assert Path(checkpoint.path, "rank_0").read_text() == "0"
        assert Path(checkpoint.path, ".headway.json").exists()
    assert train.Result.from_path(pretrained.path).checkpoint == pretrained.checkpoint
    os.truncate(os.path.join(tuned.best_checkpoints[0][0].path, "rank_0"), 0)
    assert Path(pretrained.checkpoint.path, "rank_0").read_text() == "0", "no file is in two checkpoints"


def test_the_directory_that_ranks_work_in_is_copied_and_stays(tmp_path):
    def loop(config):
        Path("weights").write_text("7")
        train.report({"x": 0}, train.Checkpoint("."), checkpoint_upload_mode=ASYNC)
        train.report({"x": 1}, train.Checkpoint("."), delete_local_checkpoint_after_upload=True)
        return Path("weights").read_text()

    result = run(loop, tmp_path, workers=1)
    assert result.return_value == "7"
    assert [Path(checkpoint.path, "weights").read_text() for checkpoint, _ in result.best_checkpoints] == ["7", "7"]
