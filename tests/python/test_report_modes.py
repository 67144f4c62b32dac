"""Checkpoints that the training function stores itself: NO_UPLOAD, and checkpoint_upload_fn."""

import json
import os
import re
import shutil
import tempfile
from pathlib import Path

import pytest
from headway import train

NO_UPLOAD = train.CheckpointUploadMode.NO_UPLOAD
ASYNC = train.CheckpointUploadMode.ASYNC


def run(loop, tmp_path, workers=2, **config):
    return train.DataParallelTrainer(
        loop,
        train_loop_config={"run": str(tmp_path / "storage" / "run")},
        scaling_config=train.ScalingConfig(num_workers=workers),
        run_config=train.RunConfig(storage_path=tmp_path / "storage", name="run", **config),
    ).fit()


def local(content):
    directory = tempfile.mkdtemp()
    Path(directory, f"rank_{train.get_context().get_world_rank()}").write_text(content)
    return train.Checkpoint.from_directory(directory)


def test_no_upload_records_each_rank_s_files_where_they_lie_and_a_restart_goes_on_from_them(tmp_path):
    def loop(config):
        rank = train.get_context().get_world_rank()
        start = 0
        if train.get_checkpoint():
            start = int(Path(train.get_checkpoint().path, f"rank_{rank}").read_text()) + 1
        for epoch in range(start, 3):
            directory = Path(config["run"], f"epoch_{epoch}")
            directory.mkdir(exist_ok=True)
            (directory / f"rank_{rank}").write_text(str(epoch))
            train.report({"epoch": epoch}, train.Checkpoint(directory), checkpoint_upload_mode=NO_UPLOAD)
            if epoch == 1 and start == 0 and rank == 1:
                os._exit(3)

    result = run(loop, tmp_path, failure_config=train.FailureConfig(max_failures=1))
    assert [Path(each.path).name for each, _ in result.best_checkpoints] == ["epoch_0", "epoch_1", "epoch_2"]
    assert [metrics["epoch"] for _, metrics in result.best_checkpoints] == [0, 1, 2]
    assert sorted(os.listdir(result.checkpoint.path)) == [".headway.json", "rank_0", "rank_1"]
    again = train.Result.from_path(result.path)
    assert [each.path for each, _ in again.best_checkpoints] == [each.path for each, _ in result.best_checkpoints]


def test_some_ranks_upload_to_the_directory_that_others_report_where_it_lies(tmp_path):
    def loop(config):
        rank = train.get_context().get_world_rank()
        if rank == 0:
            mine = Path(config["run"], "shared")
            mine.mkdir()
            (mine / "rank_0").write_text("placed")
            train.report({}, train.Checkpoint(mine), checkpoint_upload_mode=NO_UPLOAD)
        else:
            train.report({}, local("uploaded"), checkpoint_dir_name="shared" if rank == 1 else None)

    result = run(loop, tmp_path, workers=3)
    content = {path.name: path.read_text() for path in Path(result.checkpoint.path).glob("rank_*")}
    assert content == {"rank_0": "placed", "rank_1": "uploaded", "rank_2": "uploaded"}
    assert Path(result.checkpoint.path).name == "shared"
    files = json.loads(Path(result.checkpoint.path, ".headway.json").read_text())["files"]
    assert [(file["name"], file["rank"], bool(file["checksum"])) for file in files] == [
        ("rank_0", 0, False),
        ("rank_1", 1, True),
        ("rank_2", 2, True),
    ]
    assert result.checkpoint.to_directory(tmp_path / "copy")


def test_nothing_of_a_directory_that_is_the_checkpoint_is_deleted_after_upload(tmp_path):
    def loop(config):
        mine = Path(config["run"], "mine")
        mine.mkdir()
        (mine / "model").write_text("weights")
        options = {"checkpoint_upload_mode": NO_UPLOAD, "delete_local_checkpoint_after_upload": True}
        train.report({}, train.Checkpoint(mine), **options)

    assert Path(run(loop, tmp_path, workers=1).checkpoint.path, "model").read_text() == "weights"


def test_a_directory_that_contains_the_run_s_folder_is_refused_by_name(tmp_path):
    def loop(config):
        for directory in (config["run"], tmp_path / "storage", tmp_path):
            words = f"checkpoint is the directory {directory}, which contains the run's folder {config['run']}; allowed"
            with pytest.raises(ValueError, match=re.escape(words)):
                train.report({"x": 1}, train.Checkpoint(directory))
        with tempfile.TemporaryDirectory() as directory:
            os.symlink(config["run"], os.path.join(directory, "link"))
            with pytest.raises(ValueError, match=re.escape(f"{directory}/link is a symbolic link to {config['run']}")):
                train.report({"x": 1}, train.Checkpoint(directory))
        train.report({"x": 2})

    assert list(run(loop, tmp_path, workers=1).metrics_dataframe["x"]) == [2]


def test_a_checkpoint_that_cannot_be_stored_is_dropped_where_the_run_is_to_continue(tmp_path, capfd):
    def fails(checkpoint, name):
        raise ConnectionError("the store is away")

    def loop():
        for epoch in range(3):
            checkpoint = local(str(epoch))
            options = {"checkpoint_upload_fn": fails} if epoch != 1 else {}
            train.report({"epoch": epoch}, checkpoint, delete_local_checkpoint_after_upload=True, **options)
            assert os.path.exists(checkpoint.path) == (epoch != 1), "what was not stored stays"

    keep = train.CheckpointConfig(on_upload_failure="warn")
    result = run(loop, tmp_path, checkpoint_config=keep)
    assert (result.dropped_checkpoints, result.metrics) == (2, {"epoch": 2})
    assert list(result.metrics_dataframe["epoch"]) == [0, 1, 2]
    assert [metrics["epoch"] for _, metrics in result.best_checkpoints] == [1]
    assert train.Result.from_path(result.path).dropped_checkpoints == 2
    told = capfd.readouterr().err
    assert told.count('was not stored and is dropped (on_upload_failure is "warn")') == 2
    assert "the store is away" in told


def test_no_upload_takes_a_directory_that_is_not_there_yet(tmp_path):
    def loop(config):
        placeholder = train.Checkpoint(os.path.join(config["run"], "placeholder"))
        train.report({"score": 7}, placeholder, checkpoint_upload_mode=NO_UPLOAD)

    result = run(loop, tmp_path)
    assert result.best_checkpoints[0][1]["score"] == 7
    assert Path(result.checkpoint.path).name == "placeholder"


def test_no_upload_outside_of_the_run_s_folder_says_so_and_nothing_is_reported(tmp_path):
    def loop(config):
        with pytest.raises(ValueError, match="is not in the run's folder"):
            train.report({"x": 1}, local("x"), checkpoint_upload_mode=NO_UPLOAD)
        inside = train.Checkpoint(os.path.join(config["run"], "mine"))
        for bad in ({"checkpoint_upload_fn": print}, {"checkpoint_dir_name": "other"}):
            words = f"{next(iter(bad))} is .* (with NO_UPLOAD|recorded where it lies).*; allowed: "
            with pytest.raises(ValueError, match=words):
                train.report({"x": 1}, inside, checkpoint_upload_mode=NO_UPLOAD, **bad)
        train.report({"x": 2})

    assert list(run(loop, tmp_path).metrics_dataframe["x"]) == [2]


@pytest.mark.parametrize("mode", [train.CheckpointUploadMode.SYNC, ASYNC])
def test_a_function_of_the_user_s_stores_the_files_of_each_rank_under_the_name_that_it_is_told(tmp_path, mode):
    def store(checkpoint, name):
        target = os.path.join(str(tmp_path / "storage" / "run"), name)
        shutil.copytree(checkpoint.path, target, dirs_exist_ok=True)
        return train.Checkpoint(target)

    def loop():
        for epoch in range(3):
            checkpoint = local(str(epoch))
            train.report({"epoch": epoch}, checkpoint, checkpoint_upload_mode=mode, checkpoint_upload_fn=store)

    result = run(loop, tmp_path, checkpoint_config=train.CheckpointConfig(num_to_keep=2))
    assert [metrics["epoch"] for _, metrics in result.best_checkpoints] == [1, 2]
    assert sorted(path.name for path in Path(result.path).glob("checkpoint_*")) == [
        "checkpoint_000001",
        "checkpoint_000002",
    ]
    for checkpoint, metrics in result.best_checkpoints:
        parts = [Path(checkpoint.path, f"rank_{rank}").read_text() for rank in (0, 1)]
        assert parts == [str(metrics["epoch"])] * 2


def test_a_handed_over_directory_goes_after_the_user_s_function_unless_that_made_it_the_checkpoint(tmp_path):
    def loop(config):
        kept = Path(config["run"], "in_place")
        kept.mkdir()
        (kept / "model").write_text("x")
        train.report(
            {"x": 1},
            train.Checkpoint(kept),
            checkpoint_upload_fn=lambda checkpoint, name: checkpoint,
            delete_local_checkpoint_after_upload=True,
        )
        gone = local("y")
        train.report(
            {"x": 2},
            gone,
            checkpoint_upload_fn=lambda checkpoint, name: train.Checkpoint(
                shutil.copytree(checkpoint.path, os.path.join(config["run"], name))
            ),
            delete_local_checkpoint_after_upload=True,
        )
        return os.path.exists(gone.path)

    result = run(loop, tmp_path, workers=1)
    assert result.return_value is False
    assert Path(result.best_checkpoints[0][0].path, "model").read_text() == "x"
    assert Path(result.checkpoint.path).name == "checkpoint_000001"


def test_a_function_that_fails_is_told_in_every_rank_with_its_own_words_and_training_may_go_on(tmp_path, capfd):
    def fails(checkpoint, name):
        raise ConnectionError(f"no way to store {name}")

    def loop():
        expected = "rank 1 could not store its part of the checkpoint: .*ConnectionError: no way to store checkpoint_0"
        checkpoint = local("x") if train.get_context().get_world_rank() == 1 else None
        with pytest.raises(OSError, match=expected):
            train.report({"x": 1}, checkpoint, checkpoint_upload_fn=fails)
        train.report({"x": 2})

    result = run(loop, tmp_path)
    assert list(result.metrics_dataframe["x"]) == [2]
    assert "in fails" in capfd.readouterr().out  # Its frames are in the rank's output.


@pytest.mark.parametrize(
    ("returned", "words"),
    [(None, "what checkpoint_upload_fn returned is None"), ("outside", "is not in the run's folder")],
)
def test_a_function_must_return_a_checkpoint_in_the_run_s_folder(tmp_path, returned, words):
    def loop():
        stored = returned and train.Checkpoint(str(tmp_path))
        with pytest.raises(OSError, match=words):
            train.report({"x": 1}, local("x"), checkpoint_upload_fn=lambda checkpoint, name: stored)

    run(loop, tmp_path, workers=1)
