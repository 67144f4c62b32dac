"""Runs' folders that older versions wrote are read as they are; those of a newer one say so."""

import json
import math
import shutil
from pathlib import Path

import pytest
from headway import _core, train

FIXTURES = Path(__file__).parents[1] / "fixtures"
NAMES = ["checkpoint_000000", "checkpoint_000001", "checkpoint_000002"]


@pytest.fixture(params=["run_v1"])
def old(request, tmp_path):
    """A copy: what is read must not depend on where it was written."""
    return shutil.copytree(FIXTURES / request.param, tmp_path / request.param)


def test_the_result_of_an_old_run(old):
    result = train.Result.from_path(old)
    assert result.metrics["epoch"] == 3
    assert math.isnan(result.metrics["eval"]["loss"])
    assert list(result.metrics) == ["epoch", "eval"]
    assert result.metrics["done"] is True
    assert result.error is None
    assert result.config == {"lr": 0.1, "seen": "{1}"}
    assert [Path(checkpoint.path).name for checkpoint, _ in result.best_checkpoints] == NAMES
    assert result.best_checkpoints[1][1] == {"epoch": 1, "eval": {"loss": 0.5}}
    assert list(result.metrics_dataframe["epoch"]) == [0, 1, 2, 3]
    with result.get_best_checkpoint("eval/loss", "min").as_directory() as directory:
        assert Path(directory, "model.txt").read_text() == "weights after epoch 2\n"
        assert Path(directory, "parts", "rank_1.txt").read_text() == "epoch 2 of rank 1\n"


def test_its_checkpoints_are_listed_and_verified(old):
    manifests = json.loads(_core.list_checkpoints(str(old)))
    assert [manifest["checkpoint"] for manifest in manifests] == NAMES
    assert [manifest["index"] for manifest in manifests] == [0, 1, 2]
    for name in NAMES:
        outcome = json.loads(_core.examine(str(old / name)))
        assert (outcome["files"], outcome["damaged"]) == (3, [])


def test_a_run_goes_on_from_an_old_checkpoint(old, fit):
    def loop():
        with train.get_checkpoint().as_directory() as directory:
            return Path(directory, "model.txt").read_text()

    checkpoint = train.Result.from_path(old).checkpoint
    assert fit(loop, resume_from_checkpoint=checkpoint).return_value == "weights after epoch 2\n"


def test_a_manifest_of_a_newer_version_says_so(old):
    manifest = old / "checkpoint_000001" / ".headway.json"
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "version": 7, "files": {"in": "another way"}}))
    for read in (
        lambda: train.Result.from_path(old),
        lambda: train.Checkpoint(manifest.parent).to_directory(),
        lambda: _core.examine(str(manifest.parent)),
    ):
        with pytest.raises(ValueError, match=r"checkpoint_000001.*written by a newer Headway \(manifest version 7"):
            read()


def test_a_restart_leaves_out_a_manifest_of_another_shape_and_says_what_is_wrong_with_it(old, capfd):
    (old / "checkpoint_000002" / ".headway.json").write_text('{"version": 1, "checkpoint": "x", "index": "last"}')
    journal = json.loads((old / "run.json").read_text())
    (old / "run.json").write_text(json.dumps({**journal, "state": "errored"}))

    def loop():
        return train.get_checkpoint().path

    run_config = train.RunConfig(name=old.name, storage_path=str(old.parent))
    result = train.DataParallelTrainer(loop, run_config=run_config).fit()
    assert result.return_value == str(old / "checkpoint_000001")
    told = f'{old / "checkpoint_000002"}/.headway.json is damaged: expected a whole number as "index", found "last"'
    assert f"a checkpoint cannot be read, does not count and is left as it is: {told}" in capfd.readouterr().err


def test_a_journal_of_a_newer_version_says_so(old):
    journal = old / "run.json"
    journal.write_text(json.dumps({"version": 7, "state": "in another way", "spec": 1}))
    with pytest.raises(OSError, match=r"run\.json was written by a newer Headway \(version 7; this one reads up to"):
        train.Result.from_path(old)
