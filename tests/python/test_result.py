"""What a run's folder gives again later: in this process, and in another."""

import concurrent.futures
import copy
import json
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from headway import train
from headway._values import metrics


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
    assert result.filesystem.type_name == again.filesystem.type_name == "local"
    assert set(result.metrics.automatic) == metrics.AUTOMATIC
    assert list(again.metrics_dataframe["epoch"]) == [0, 1, 2]


def test_a_result_is_shown_in_a_line_and_in_a_notebook_as_a_table(fit, storage):
    many = {"loss": 0.123456, "eval": {"accuracy": 1.0}, **{f"m{i}": i for i in range(5)}}
    result = fit(lambda: train.report(many, train.Checkpoint.from_dict({})), name="shown", workers=1)
    shown = f"loss=0.1235, eval/accuracy=1, m0=0, m1=1, +3 more, checkpoint_000000, {storage}/shown"
    assert repr(result) == f"Result({shown})"
    page = result._repr_html_()
    assert "<tr><th>eval/accuracy</th><td>1</td></tr>" in page
    assert f"<tr><th>folder</th><td>{storage}/shown</td></tr>" in page
    assert '<iframe srcdoc="&lt;!doctype html&gt;' in page
    assert 'title="Charts of loss, eval/accuracy, m0, m1, m2, m3, m4"' in page
    assert "<iframe" not in train.Result(metrics=None, checkpoint=None, error=None, path="/none")._repr_html_()
    assert result.uri == f"{storage}/shown"
    assert repr(train.Result.from_path(result.uri)) == repr(result)


def test_a_failed_result_is_shown_with_its_error(tmp_path):
    with pytest.raises(train.WorkerGroupError):
        fit(tmp_path, fail=True)
    shown = repr(train.Result.from_path(tmp_path / "run"))
    assert "error='ValueError: bad batch 17', checkpoint_000002 (one of 3), " in shown
    assert "\n" not in shown


def test_metrics_show_and_equal_what_was_reported_and_automatic_ones_are_found_by_key(fit):
    reported = {"loss": 0.5, "eval": {"accuracy": 0.9}, "timestamp": 3, "done": "no"}
    result = fit(lambda: train.report(reported), workers=1)
    for found in (result.metrics, train.Result.from_path(result.path).metrics, copy.deepcopy(result.metrics)):
        assert found == reported
        assert repr(found) == repr(reported)
        assert {**found} == json.loads(json.dumps(found)) == reported
        assert len(found) == 4
        assert (found["training_iteration"], found.get("training_iteration"), found.get("accuracy", 7)) == (1, 1, 7)
        assert "hostname" in found
        assert "accuracy" not in found
        with pytest.raises(KeyError, match="'accuracy'"):
            found["accuracy"]
    assert {"loss", "eval/accuracy", "training_iteration"} <= set(result.metrics_dataframe)
    assert list(result.metrics_dataframe["timestamp"]) == [3]


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
    assert failures == "{0: WorkerRaised('ValueError: bad batch 17')}"
    assert text.rstrip("\n") == str(caught.value)


def test_the_best_checkpoint_by_a_metric(tmp_path):
    result = fit(tmp_path)
    for mode, epoch in (("min", "1"), ("max", "0")):
        with result.get_best_checkpoint("eval/loss", mode).as_directory() as directory:
            assert Path(directory, "state").read_text() == epoch
    with pytest.raises(RuntimeError, match=r"metric is 'accuracy'.*\['epoch', 'eval/loss'\]"):
        result.get_best_checkpoint("accuracy", "max")
    with pytest.raises(ValueError, match='mode is \'best\'; allowed: "max" or "min"'):
        result.get_best_checkpoint("epoch", "best")
    with pytest.raises(TypeError, match="metric is 3"):
        result.get_best_checkpoint(3, "max")
    result.best_checkpoints.clear()
    with pytest.raises(RuntimeError, match="has kept no checkpoint"):
        result.get_best_checkpoint("epoch", "max")


def test_the_file_system_of_the_path(tmp_path):
    result = fit(tmp_path)
    names = {info.base_name for info in result.filesystem.get_file_info(_selector(result.path))}
    assert {"run.json", "result.json", "params.json", "logs", "checkpoint_000002"} <= names
    assert json.loads(Path(result.path, "params.json").read_text())["fail"] is False


def _selector(path):
    from pyarrow.fs import FileSelector

    return FileSelector(path)


def test_a_folder_without_a_run_is_refused(tmp_path):
    with pytest.raises(RuntimeError, match="holds no run"):
        train.Result.from_path(tmp_path)


def test_a_run_on_a_filesystem_of_ones_own(tmp_path):
    from pyarrow import fs

    result = fit(tmp_path)
    filesystem = fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem())
    again = train.Result.from_path("run", storage_filesystem=filesystem)
    assert again.path == "run"
    assert isinstance(again.filesystem, fs.SubTreeFileSystem)
    assert again.metrics["epoch"] == result.metrics["epoch"]
    assert again.config == {**result.config, "seen": "{1, 2}"}
    assert [metrics for _, metrics in again.best_checkpoints] == [metrics for _, metrics in result.best_checkpoints]
    assert again.checkpoint.path == "run/checkpoint_000002"
    with again.get_best_checkpoint("eval/loss", "min").as_directory() as directory:
        assert Path(directory, "state").read_text() == "1"
    assert list(again.metrics_dataframe["epoch"]) == [0, 1, 2]
    with pytest.raises(RuntimeError, match="holds no run"):
        train.Result.from_path("nothing", filesystem)
    assert train.Result.from_path((tmp_path / "run").as_uri()).checkpoint == result.checkpoint


def test_a_run_is_read_while_it_goes_on_and_deletes_checkpoints(tmp_path):
    def loop(config):
        for epoch in range(300):
            train.report({"epoch": epoch}, checkpoint=save(config["tmp"], str(epoch)))

    def read_until(done):
        seen = []
        while not done.is_set():
            try:
                result = train.Result.from_path(tmp_path / "run")
            except RuntimeError:
                continue  # It has not begun.
            reports = result.metrics_dataframe
            seen.append(0 if reports is None else len(reports))
            assert len(result.best_checkpoints) <= 3
            assert result.metrics is None or result.metrics["done"] in (False, True)
        return seen

    done = threading.Event()
    with concurrent.futures.ThreadPoolExecutor(1) as pool:
        reading = pool.submit(read_until, done)
        try:
            train.DataParallelTrainer(
                loop,
                train_loop_config={"tmp": str(tmp_path / "local")},
                run_config=train.RunConfig(
                    storage_path=tmp_path, name="run", checkpoint_config=train.CheckpointConfig(num_to_keep=1)
                ),
            ).fit()
        finally:
            done.set()
        seen = reading.result()
    assert len(seen) > 1
    assert seen == sorted(seen)
    assert len(train.Result.from_path(tmp_path / "run").best_checkpoints) == 1


def damage(result, how):
    """Damages the newest checkpoint's file or manifest; returns the damaged file and what is said
    of it.
    """
    folder = Path(result.checkpoint.path)
    state, manifest = folder / "state", folder / ".headway.json"
    if how == "a flipped bit":
        state.write_bytes(bytes([state.read_bytes()[0] ^ 1]))
        return state, r"expected checksum xxh3:\w{16}, found checksum xxh3:\w{16}"
    if how == "cut short":
        state.write_bytes(b"")
        return state, "expected 1 bytes, found 0 bytes"
    if how == "missing":
        state.unlink()
        return state, "expected a file of 1 bytes, found no such file"
    if how == "a manifest that is a list":
        manifest.write_text("[]")
        return manifest, "expected an object, found a list"
    if how == "a manifest of another shape":
        manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "files": 3}))
        return manifest, 'expected a list as "files", found 3'
    manifest.write_bytes(manifest.read_bytes()[: 30 if how == "a cut manifest" else 0])
    return manifest, "expected a whole manifest, found one that is not JSON"


CUT, LISTED, SHAPED = "a cut manifest", "a manifest that is a list", "a manifest of another shape"


@pytest.mark.parametrize("how", ["a flipped bit", "cut short", "missing", CUT, "an empty manifest", LISTED, SHAPED])
def test_a_damaged_checkpoint_is_told_with_the_newest_good_one(tmp_path, how):
    result = fit(tmp_path)
    file, told = damage(result, how)
    good = result.best_checkpoints[1][0].path
    told = f"{re.escape(str(file))} is damaged: {told}.*the newest good checkpoint of this run is {re.escape(good)}"
    with pytest.raises(OSError, match=told):
        result.checkpoint.to_directory(tmp_path / "copy")
    if "manifest" not in how:
        assert train.Result.from_path(result.path).checkpoint == result.checkpoint, "its files are not read for it"
        return
    with pytest.warns(
        UserWarning, match=f"left out: {re.escape(str(file))}.*newest good checkpoint is {re.escape(good)}"
    ):
        again = train.Result.from_path(result.path)
    assert [checkpoint for checkpoint, _ in again.best_checkpoints] == [
        entry[0] for entry in result.best_checkpoints[:2]
    ]
    assert again.checkpoint.path == good


def test_a_damaged_journal_is_told(tmp_path):
    fit(tmp_path)
    (tmp_path / "run" / "run.json").write_text('{"state"')
    with pytest.raises(OSError, match=r"run/run\.json is not JSON: incomplete JSON near byte 8 of 8"):
        train.Result.from_path(tmp_path / "run")


def test_a_run_needs_neither_numpy_nor_pandas_and_a_data_frame_says_what_it_needs(script):
    code, output = script.run(
        """
        import sys
        sys.modules.update(numpy=None, pandas=None)
        from headway import train

        def loop():
            import sys
            sys.modules.update(numpy=None, pandas=None)
            train.report({"loss": 0.5})

        result = train.DataParallelTrainer(loop, run_config=train.RunConfig(verbose=0)).fit()
        print(result.metrics)
        try:
            result.metrics_dataframe
        except ImportError as error:
            print(error)
        """
    )
    assert code == 0, output
    assert output == "{'loss': 0.5}\nmetrics_dataframe needs pandas, which is not installed: pip install pandas\n"
