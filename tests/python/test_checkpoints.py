"""Checkpoints: what is in them, which are kept, where a run resumes, and the local copies."""

import json
import os
import shutil

import pytest
from headway import train

MANIFEST = ".headway.json"


def write(directory, **files):
    for name, text in files.items():
        path = os.path.join(directory, name.replace("__", "/"))
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)
    return train.Checkpoint.from_directory(directory)


def read(checkpoint):
    """All files of a checkpoint but its manifest: path → text."""
    found = {}
    with checkpoint.as_directory() as root:
        for folder, _, names in os.walk(root):
            for name in names:
                path = os.path.join(folder, name)
                with open(path) as file:
                    found[os.path.relpath(path, root)] = file.read()
    found.pop(MANIFEST, None)
    return found


def manifest(checkpoint):
    with open(os.path.join(checkpoint.path, MANIFEST)) as file:
        return json.load(file)


def save_each(config):
    """Reports the epochs of ``config``, each with a checkpoint of every rank's own file."""
    import tempfile

    rank = train.get_context().get_world_rank()
    for epoch, score in enumerate(config["scores"]):
        with tempfile.TemporaryDirectory() as directory:
            checkpoint = write(directory, **{f"rank_{rank}.txt": f"epoch {epoch}"})
            train.report({"epoch": epoch, "score": score}, checkpoint=checkpoint)


def test_the_files_of_all_ranks_make_one_checkpoint(fit):
    result = fit(save_each, workers=3, config={"scores": [0.5]})
    assert read(result.checkpoint) == {f"rank_{rank}.txt": "epoch 0" for rank in range(3)}
    assert result.metrics["checkpoint_dir_name"] == os.path.basename(result.checkpoint.path) == "checkpoint_000000"
    assert result.best_checkpoints[0][1]["score"] == 0.5
    recorded = manifest(result.checkpoint)
    assert {(entry["name"], entry["rank"]) for entry in recorded["files"]} == {
        (f"rank_{rank}.txt", rank) for rank in range(3)
    }
    assert all(entry["size"] == len("epoch 0") for entry in recorded["files"])


def test_some_ranks_give_a_checkpoint_and_it_is_durable_when_report_returns(fit):
    def loop():
        import tempfile

        rank = train.get_context().get_world_rank()
        checkpoint = None
        if rank == 1:
            checkpoint = write(tempfile.mkdtemp(), weights="1 2 3")
        train.report({"rank": rank}, checkpoint=checkpoint)
        committed = train.get_checkpoint()
        assert committed is not None
        assert read(committed) == {"weights": "1 2 3"}
        assert manifest(committed)["metrics"] == {"rank": 0}
        if checkpoint:
            assert read(checkpoint) == {"weights": "1 2 3"}, "the local files are left alone"
            shutil.rmtree(checkpoint.path)

    assert read(fit(loop).checkpoint) == {"weights": "1 2 3"}


def test_nested_folders_empty_files_and_odd_names(fit):
    def loop():
        import tempfile

        directory = tempfile.mkdtemp()
        write(directory, **{"a__b__c.txt": "deep", "empty": "", "mit Leerzeichen und ü": "x", "a__d": "y"})
        train.report({}, checkpoint=train.Checkpoint(directory))
        shutil.rmtree(directory)

    expected = {"a/b/c.txt": "deep", "empty": "", "mit Leerzeichen und ü": "x", "a/d": "y"}
    assert read(fit(loop, workers=1).checkpoint) == expected


def test_the_lowest_rank_wins_a_file_name_and_one_warning_says_so(fit, capfd):
    def loop():
        import tempfile

        rank = train.get_context().get_world_rank()
        for epoch in range(3):
            with tempfile.TemporaryDirectory() as directory:
                files = {"model.pt": f"rank {rank} epoch {epoch}", f"own_{rank}": "x"}
                train.report({"epoch": epoch}, checkpoint=write(directory, **files))

    result = fit(loop, workers=3)
    assert read(result.checkpoint) == {"model.pt": "rank 0 epoch 2", "own_0": "x", "own_1": "x", "own_2": "x"}
    shown = capfd.readouterr().err
    warnings = [line for line in shown.splitlines() if "model.pt" in line]
    assert len(warnings) == 1, "once a run"
    assert "0" in warnings[0]
    assert "1" in warnings[0]


def kept(result):
    return [(os.path.basename(checkpoint.path), metrics["score"]) for checkpoint, metrics in result.best_checkpoints]


def on_disk(result):
    return sorted(name for name in os.listdir(result.path) if name.startswith("checkpoint_"))


def test_the_newest_are_kept_without_a_score(fit):
    result = fit(save_each, config={"scores": [3, 1, 2, 0]}, keep=train.CheckpointConfig(num_to_keep=2))
    assert kept(result) == [("checkpoint_000002", 2), ("checkpoint_000003", 0)]
    assert on_disk(result) == ["checkpoint_000002", "checkpoint_000003"]
    assert read(result.checkpoint)["rank_0.txt"] == "epoch 3"


def test_the_best_and_the_newest_are_kept_by_score(fit):
    keep = train.CheckpointConfig(num_to_keep=2, checkpoint_score_attribute="score")
    result = fit(save_each, config={"scores": [1, 9, 5, 2]}, keep=keep)
    assert set(kept(result)) >= {("checkpoint_000001", 9), ("checkpoint_000003", 2)}
    assert on_disk(result) == [name for name, _ in kept(result)]
    assert result.checkpoint.path.endswith("checkpoint_000003"), "the newest, not the best"
    keep = train.CheckpointConfig(num_to_keep=1, checkpoint_score_attribute="score", checkpoint_score_order="min")
    result = fit(save_each, config={"scores": [4, 3, 1]}, keep=keep)
    assert kept(result) == [("checkpoint_000002", 1)]
    assert on_disk(result) == ["checkpoint_000002"]


def test_a_nan_or_missing_score_ranks_last_with_one_warning(fit, capfd):
    keep = train.CheckpointConfig(num_to_keep=1, checkpoint_score_attribute="score")
    result = fit(save_each, config={"scores": [float("nan"), 2.0, float("nan"), 1.0]}, keep=keep)
    assert ("checkpoint_000001", 2.0) in kept(result)
    assert "checkpoint_000000" not in on_disk(result)
    warnings = [line for line in capfd.readouterr().err.splitlines() if "score" in line and "warning" in line]
    assert len(warnings) == 1
    assert "epoch" in warnings[0], "it names the metrics that there are"


def test_a_run_resumes_from_a_checkpoint_of_another(fit):
    first = fit(save_each, config={"scores": [0.5]}, name="first")

    def loop():
        checkpoint = train.get_checkpoint()
        with checkpoint.as_directory() as directory, open(os.path.join(directory, "rank_1.txt")) as file:
            return checkpoint.path, file.read()

    second = fit(loop, name="second", resume_from_checkpoint=first.checkpoint)
    assert second.return_value == (first.checkpoint.path, "epoch 0")
    assert second.checkpoint is None, "it made no checkpoint"


def test_there_is_no_checkpoint_at_the_beginning(fit):
    assert fit(lambda: train.get_checkpoint() is None).return_value is True


def test_a_checkpoint_has_the_name_that_was_asked_for(fit):
    def loop():
        import tempfile

        with tempfile.TemporaryDirectory() as directory:
            train.report({}, checkpoint=write(directory, x="1"), checkpoint_dir_name="best")
            train.report({}, checkpoint=write(directory, x="2"))

    result = fit(loop, workers=1)
    assert [os.path.basename(checkpoint.path) for checkpoint, _ in result.best_checkpoints] == [
        "best",
        "checkpoint_000000",
    ]
    assert list(result.metrics_dataframe["checkpoint_dir_name"]) == ["best", "checkpoint_000000"]


def test_a_name_given_twice_fails_in_every_rank_and_training_goes_on(fit):
    def loop():
        import tempfile

        rank = train.get_context().get_world_rank()
        directory = tempfile.mkdtemp()
        checkpoint = write(directory, **{f"rank_{rank}": "first"})
        train.report({"n": 1}, checkpoint=checkpoint, checkpoint_dir_name="best")
        write(directory, **{f"rank_{rank}": "second"})
        try:
            train.report({"n": 2}, checkpoint=checkpoint, checkpoint_dir_name="best")
        except OSError as error:
            print("refused:", error)
        train.report({"n": 3}, checkpoint=checkpoint)
        shutil.rmtree(directory)

    result = fit(loop)
    for rank in range(2):
        with open(os.path.join(result.path, "logs", f"rank_{rank}.log")) as log:
            text = log.read()
        assert text.startswith("refused: the checkpoint could not be begun")
        assert "best" in text
    assert list(result.metrics_dataframe["n"]) == [1, 3], "nothing of the refused report is recorded"
    checkpoints = {os.path.basename(checkpoint.path): read(checkpoint) for checkpoint, _ in result.best_checkpoints}
    assert checkpoints["best"] == {"rank_0": "first", "rank_1": "first"}, "the earlier one is untouched"
    assert checkpoints["checkpoint_000000"] == {"rank_0": "second", "rank_1": "second"}


@pytest.mark.parametrize("place", ["same file system", "other file system"])
def test_a_local_checkpoint_is_handed_over(fit, place, tmp_path):
    if place == "other file system" and os.stat("/dev/shm").st_dev == os.stat(tmp_path).st_dev:
        pytest.skip("/dev/shm is no separate file system")
    local = str(tmp_path) if place == "same file system" else "/dev/shm"

    def loop(config):
        import tempfile

        directory = tempfile.mkdtemp(dir=config["local"])
        checkpoint = write(directory, a="1", sub__b="2")
        train.report({}, checkpoint=checkpoint, delete_local_checkpoint_after_upload=True)
        return os.path.exists(directory)

    result = fit(loop, workers=1, config={"local": local})
    assert result.return_value is False, "the local directory is gone"
    assert read(result.checkpoint) == {"a": "1", "sub/b": "2"}


def test_a_checkpoint_is_copied_to_a_directory(fit, tmp_path):
    checkpoint = fit(save_each, workers=1, config={"scores": [1]}).checkpoint
    target = checkpoint.to_directory(str(tmp_path / "copy"))
    assert target == str(tmp_path / "copy")
    with open(os.path.join(target, "rank_0.txt")) as file:
        assert file.read() == "epoch 0"
    temporary = checkpoint.to_directory()
    with open(os.path.join(temporary, "rank_0.txt")) as file:
        assert file.read() == "epoch 0"
    shutil.rmtree(temporary)
    shutil.rmtree(checkpoint.path)
    with pytest.raises(FileNotFoundError, match="does not exist"), checkpoint.as_directory():
        pass
