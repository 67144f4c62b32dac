"""What a run's folder gives again later: in this process, and in another."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from headway import train


def save(tmp, content):
    directory = Path(tmp, f"local_{content}")
    directory.mkdir(parents=True)
    (directory / "state").write_text(content)
    return train.Checkpoint.from_directory(directory)


def train_three(config):
    for epoch, loss in enumerate((3.0, 1.0, 2.0)):
        train.report({"epoch": epoch, "eval": {"loss": loss}}, checkpoint=save(config["tmp"], str(epoch)))
    if config["fail"]:
        raise ValueError("bad batch 17")
    return "done"


def fit(tmp_path, fail=False):
    return train.DataParallelTrainer(
        train_three,
        train_loop_config={"tmp": str(tmp_path / "local"), "fail": fail, "seen": {1, 2}},
        run_config=train.RunConfig(storage_path=tmp_path, name="run"),
    ).fit()


def test_a_finished_run_is_the_same_from_its_path(tmp_path):
    result = fit(tmp_path)
    again = train.Result.from_path(tmp_path / "run")
    assert result.return_value == "done"
    assert result.config["seen"] == {1, 2}
    assert again.config == {**result.config, "seen": "{1, 2}"}
    for key in ("epoch", "eval", "training_iteration", "done"):
        assert again.metrics[key] == result.metrics[key]
    assert again.best_checkpoints == result.best_checkpoints
    assert again.checkpoint == result.checkpoint
    assert again.error is None
    assert again.log_dir == again.path == result.path
    assert list(again.metrics_dataframe["epoch"]) == [0, 1, 2]


def test_the_error_of_a_failed_run_is_in_its_folder(tmp_path):
    with pytest.raises(train.WorkerGroupError) as caught:
        fit(tmp_path, fail=True)
    script = f"""
from headway import train
error = train.Result.from_path({str(tmp_path / "run")!r}).error
print(type(error).__name__)
print(error.worker_failures)
print(error)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    kind, failures, text = done.stdout.split("\n", 2)
    assert kind == "WorkerGroupError"
    assert "bad batch 17" in failures
    assert text.rstrip("\n") == str(caught.value)


def test_the_best_checkpoint_by_a_metric(tmp_path):
    result = fit(tmp_path)
    for mode, epoch in (("min", "1"), ("max", "0")):
        with result.get_best_checkpoint("eval/loss", mode).as_directory() as directory:
            assert Path(directory, "state").read_text() == epoch
    with pytest.raises(ValueError, match=r"metric is 'accuracy'.*\['epoch', 'eval'\]"):
        result.get_best_checkpoint("accuracy", "max")
    with pytest.raises(ValueError, match='mode is \'best\'; allowed: "max" or "min"'):
        result.get_best_checkpoint("epoch", "best")
    with pytest.raises(TypeError, match="metric is 3"):
        result.get_best_checkpoint(3, "max")


def test_the_file_system_of_the_path(tmp_path):
    result = fit(tmp_path)
    names = {info.base_name for info in result.filesystem.get_file_info(_selector(result.path))}
    assert {"run.json", "result.json", "params.json", "logs", "checkpoint_000002"} <= names
    assert json.loads(Path(result.path, "params.json").read_text())["fail"] is False


def _selector(path):
    from pyarrow.fs import FileSelector

    return FileSelector(path)


def test_a_folder_without_a_run_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="holds no run"):
        train.Result.from_path(tmp_path)
