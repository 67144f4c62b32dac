"""What a rank knows of its run, and the trainer's metadata."""

import json
import os

import pyarrow.fs
import pytest
from headway import train

METADATA = {"scaler": {"mean": [1.5, 2.5]}, "classes": 3, "name": "digits"}


def fit_with(tmp_path, loop, workers=2, metadata=None, **scaling):
    return train.DataParallelTrainer(
        loop,
        train_loop_config={"local": str(tmp_path / "local")},
        metadata=metadata,
        scaling_config=train.ScalingConfig(num_workers=workers, **scaling),
        run_config=train.RunConfig(name="run", storage_path=tmp_path / "storage"),
    ).fit()


def test_names_and_storage(tmp_path):
    def loop():
        context = train.get_context()
        storage = context.get_storage()
        return {
            "names": (context.get_experiment_name(), context.get_trial_name(), context.get_trial_id()),
            "paths": (storage.storage_fs_path, storage.experiment_fs_path, storage.trial_fs_path),
            "checkpoint": storage.build_checkpoint_path_from_name("best"),
            "filesystem": storage.storage_filesystem.type_name,
        }

    result = fit_with(tmp_path, loop)
    told = result.return_value
    with open(os.path.join(result.path, "run.json")) as file:
        assert told["names"] == ("run", "run", json.load(file)["spec"]["trial_id"])
    assert told["paths"] == (str(tmp_path / "storage"), result.path, result.path)
    assert told["checkpoint"] == os.path.join(result.path, "best")
    assert told["filesystem"] == pyarrow.fs.LocalFileSystem().type_name


def test_a_checkpoint_lies_where_its_name_says(tmp_path):
    def loop(config):
        os.makedirs(config["local"])
        train.report({}, checkpoint=train.Checkpoint(config["local"]), checkpoint_dir_name="best")
        return train.get_context().get_storage().build_checkpoint_path_from_name("best"), train.get_checkpoint().path

    built, path = fit_with(tmp_path, loop, 1).return_value
    assert built == path


@pytest.mark.parametrize("name", ["", "a/b", ".."])
def test_a_checkpoint_s_name_is_that_of_one_folder(name):
    from headway.train._training_function.context import StorageContext

    with pytest.raises(ValueError, match="allowed: a folder name without"):
        StorageContext("/storage/run").build_checkpoint_path_from_name(name)


def test_resources_of_all_workers(tmp_path):
    def loop():
        resources = train.get_context().get_trial_resources()
        return resources.bundles, resources.required_resources, resources.strategy, resources.head_cpus

    bundles, required, strategy, head_cpus = fit_with(tmp_path, loop).return_value
    assert bundles == [{"CPU": 1.0}] * 2
    assert (required, strategy, head_cpus) == ({"CPU": 2.0}, "PACK", 1.0)
    named = tmp_path / "named"
    bundles, required, *_ = fit_with(named, loop, 1, resources_per_worker={"CPU": 0.5}).return_value
    assert (bundles, required) == ([{"CPU": 0.5}], {"CPU": 0.5})


def test_metadata_is_in_every_rank_every_checkpoint_and_the_run_s_state(tmp_path):
    def loop(config):
        context = train.get_context()
        context.get_metadata().clear()  # A copy: nobody else's is changed.
        assert context.get_metadata() == {"scaler": {"mean": [1.5, 2.5]}, "classes": 3, "name": "digits"}
        rank = context.get_world_rank()
        directory = os.path.join(config["local"], str(rank))
        os.makedirs(directory)
        open(os.path.join(directory, f"rank_{rank}"), "w").close()
        train.report({}, checkpoint=train.Checkpoint(directory))
        train.report({}, checkpoint=train.Checkpoint(directory))

    result = fit_with(tmp_path, loop, metadata=METADATA)
    assert len(result.best_checkpoints) == 2
    for checkpoint, _ in result.best_checkpoints:
        with open(os.path.join(checkpoint.path, ".headway.json")) as file:
            assert json.load(file)["metadata"] == METADATA
        assert checkpoint.get_metadata() == METADATA
        checkpoint.update_metadata({"classes": 4})
        assert checkpoint.get_metadata() == {**METADATA, "classes": 4}
    with open(os.path.join(result.path, "run.json")) as file:
        assert json.load(file)["spec"]["metadata"] == METADATA


def test_no_metadata_is_an_empty_dict(tmp_path):
    assert fit_with(tmp_path, lambda: train.get_context().get_metadata(), 1).return_value == {}


@pytest.mark.parametrize(
    ("metadata", "error", "message"),
    [
        ([1], TypeError, "metadata is [1] (list); allowed: a dict"),
        ({"a": {"b": [1, object]}}, ValueError, "metadata['a']['b'][1] is a type"),
        ({1: 2}, ValueError, "metadata has the key 1 (int)"),
        ({"big": 2**70}, ValueError, "metadata['big'] is"),
    ],
)
def test_metadata_that_json_does_not_have_is_refused_by_its_key(metadata, error, message):
    with pytest.raises(error) as caught:
        train.DataParallelTrainer(print, metadata=metadata)
    assert message in str(caught.value)
