"""The Checkpoint class: where it is, its metadata, its older form, and how it goes to other
processes.
"""

import json
import os
import pickle
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from headway import _core, train
from headway.train import Checkpoint
from pyarrow import fs


@pytest.fixture
def local(tmp_path):
    """A directory with a file, as a checkpoint."""
    directory = tmp_path / "local"
    directory.mkdir()
    (directory / "model").write_text("weights")
    return Checkpoint.from_directory(directory)


@pytest.fixture
def elsewhere(tmp_path):
    """A checkpoint on a filesystem that the core reaches only through Python, and the folder that
    it shows.
    """
    folder = tmp_path / "shown"
    (folder / "runs" / "c").mkdir(parents=True)
    (folder / "runs" / "c" / "model").write_text("weights")
    filesystem = fs.SubTreeFileSystem(str(folder), fs.LocalFileSystem())
    return Checkpoint("runs/c", filesystem=filesystem), folder


def in_another_process(code, *arguments):
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_local_checkpoint_has_its_path_and_the_local_filesystem(local):
    assert local.path == os.path.abspath(local.path)
    assert local.filesystem == fs.LocalFileSystem()
    assert local.filesystem.get_file_info(local.path + "/model").size == len("weights")
    assert repr(local) == f"Checkpoint(filesystem=local, path={local.path})"
    assert Checkpoint(local.path, fs.LocalFileSystem()) == local
    with local.as_directory() as directory:
        assert directory == local.path, "in place, not a copy"


def test_the_path_of_a_url_is_the_one_on_its_filesystem(monkeypatch):
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    url = "s3://key:secret@bucket/run%201/c?region=us-east-1&endpoint_override=127.0.0.1:1&scheme=http"
    checkpoint = Checkpoint(url)
    assert checkpoint.path == "bucket/run 1/c"
    assert repr(checkpoint) == "Checkpoint(filesystem=s3, path=bucket/run 1/c)"
    assert checkpoint.filesystem.type_name == "s3"
    assert checkpoint.filesystem.region == "us-east-1"
    assert Checkpoint("file:///data/c").path == "/data/c"


def test_a_checkpoint_on_a_filesystem_of_ones_own(elsewhere, tmp_path):
    checkpoint, folder = elsewhere
    assert checkpoint.path == "runs/c"
    assert isinstance(checkpoint.filesystem, fs.SubTreeFileSystem)
    assert repr(checkpoint) == "Checkpoint(filesystem=subtree, path=runs/c)"
    with checkpoint.as_directory() as directory:
        assert Path(directory, "model").read_text() == "weights"
        assert not directory.startswith(str(folder))
    assert not os.path.exists(directory)
    assert Path(checkpoint.to_directory(tmp_path / "copy"), "model").read_text() == "weights"
    with pytest.raises(FileNotFoundError, match="nothing"), Checkpoint("nothing", checkpoint.filesystem).as_directory():
        pass


def test_equal_are_those_at_one_place(local, elsewhere, tmp_path):
    checkpoint, folder = elsewhere
    again = Checkpoint("runs/c/", fs.SubTreeFileSystem(str(folder), fs.LocalFileSystem()))
    assert again == checkpoint
    assert len({again, checkpoint}) == 1
    other = fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem())
    assert Checkpoint("runs/c", other) != checkpoint
    assert Checkpoint(local.path + "/") == local
    assert local != local.path


def test_a_pickled_checkpoint_is_usable_in_another_process(local, elsewhere, tmp_path):
    remote, _ = elsewhere
    remote.set_metadata({"epoch": 3})
    file = tmp_path / "pickled"
    file.write_bytes(pickle.dumps([local, remote]))
    output = in_another_process(
        """
import pickle, sys
local, remote = pickle.load(open(sys.argv[1], "rb"))
for checkpoint in (local, remote):
    with checkpoint.as_directory() as directory:
        print(open(directory + "/model").read())
print(remote.path, remote.filesystem.type_name, remote.get_metadata(), local.get_metadata())
""",
        str(file),
    )
    assert output.split("\n")[:3] == ["weights", "weights", "runs/c subtree {'epoch': 3} {}"]
    assert pickle.loads(pickle.dumps(remote)) == remote


def test_bad_arguments_are_named(local, tmp_path):
    with pytest.raises(TypeError, match="path is 3"):
        Checkpoint(3)
    with pytest.raises(ValueError, match="path is ''"):
        Checkpoint("")
    with pytest.raises(TypeError, match="filesystem is 's3'"):
        Checkpoint("bucket/c", filesystem="s3")
    with pytest.raises(ValueError, match="path is 's3://bucket/c' together with filesystem"):
        Checkpoint("s3://key:secret@bucket/c", filesystem=fs.SubTreeFileSystem("/", fs.LocalFileSystem()))
    with pytest.raises(TypeError, match=r"with checkpoint\.as_directory"):
        os.fspath(local)
    with pytest.raises(FileNotFoundError, match="gone"):
        Checkpoint(tmp_path / "gone").to_directory()


@pytest.mark.parametrize("where", ["local", "elsewhere"])
def test_metadata_is_set_read_and_updated(where, request):
    checkpoint = request.getfixturevalue(where)
    checkpoint = checkpoint if where == "local" else checkpoint[0]
    assert checkpoint.get_metadata() == {}
    checkpoint.set_metadata({"framework": "torch", "best": float("inf")})
    checkpoint.update_metadata({"best": 0.5, "classes": ["a", "b"]})
    assert checkpoint.get_metadata() == {"framework": "torch", "best": 0.5, "classes": ["a", "b"]}
    checkpoint.set_metadata({})
    assert checkpoint.get_metadata() == {}


def test_metadata_is_a_file_beside_the_others(local):
    local.set_metadata({"a": 1})
    file = Path(local.path, ".metadata.json")
    assert json.loads(file.read_text()) == {"a": 1}
    assert sorted(os.listdir(local.path)) == [".metadata.json", "model"], "no temporary file is left"
    file.write_text('{"cut')
    with pytest.raises(ValueError, match=r"\.metadata\.json is damaged: expected JSON, found 5 bytes"):
        local.get_metadata()
    file.write_text("[1]")
    with pytest.raises(ValueError, match=r"expected a JSON object, found list"):
        local.get_metadata()


def test_metadata_that_json_does_not_have_is_refused_by_its_key(local):
    with pytest.raises(TypeError, match="metadata is 3"):
        local.set_metadata(3)
    with pytest.raises(ValueError, match=r"metadata\['a'\]\['b'\] is a set"):
        local.set_metadata({"a": {"b": {1}}})
    with pytest.raises(ValueError, match="metadata has the key 1"):
        local.update_metadata({1: 2})
    assert local.get_metadata() == {}


def test_a_reported_checkpoint_keeps_its_metadata_and_may_get_more_later(fit):
    def loop():
        import tempfile

        with tempfile.TemporaryDirectory() as directory:
            Path(directory, "model").write_text("weights")
            checkpoint = Checkpoint.from_directory(directory)
            checkpoint.set_metadata({"epoch": 3})
            train.report({}, checkpoint=checkpoint)
        return train.get_checkpoint().get_metadata()

    result = fit(loop, workers=1)
    assert result.return_value == {"epoch": 3}
    assert result.checkpoint.get_metadata() == {"epoch": 3}
    result.checkpoint.update_metadata({"note": "deployed on Monday, and so of another length"})
    assert result.checkpoint.get_metadata()["note"].startswith("deployed")
    assert json.loads(_core.examine(result.checkpoint.path))["damaged"] == [], "it may change after the commit"
    copy = Checkpoint(result.checkpoint.to_directory())
    assert copy.get_metadata()["epoch"] == 3


def test_all_ranks_may_set_metadata_at_once(fit):
    def loop():
        import tempfile

        rank = train.get_context().get_world_rank()
        with tempfile.TemporaryDirectory() as directory:
            train.report({}, checkpoint=Checkpoint.from_directory(directory) if rank == 0 else None)
        for turn in range(50):
            train.get_checkpoint().set_metadata({"rank": rank, "turn": turn})
        train.report({})
        return train.get_checkpoint().get_metadata()

    result = fit(loop, workers=3)
    assert result.return_value["turn"] == 49
    assert sorted(os.listdir(result.checkpoint.path)) == [".headway.json", ".metadata.json"]


def test_a_dict_goes_into_a_checkpoint_and_comes_back(tmp_path):
    checkpoint = Checkpoint.from_dict({"epoch": 3, "names": {"a", "b"}})
    assert checkpoint.to_dict() == {"epoch": 3, "names": {"a", "b"}}
    assert os.listdir(checkpoint.path) == ["dict_checkpoint.pkl"]
    copy = Checkpoint(checkpoint.to_directory(tmp_path / "copy"))
    assert copy.to_dict() == checkpoint.to_dict()
    directory = checkpoint.path
    del checkpoint
    assert not os.path.exists(directory), "it goes with the object"


def test_the_directory_of_a_dict_is_gone_with_its_process(tmp_path):
    code = "from headway.train import Checkpoint; import os; kept = Checkpoint.from_dict({'a': 1}); print(kept.path)"
    directory = in_another_process(code).strip()
    assert "dict" in directory
    assert not os.path.exists(directory)
    killed = in_another_process(
        "import subprocess, sys; done = subprocess.run([sys.executable, '-c', sys.argv[1]], stdout=subprocess.PIPE, "
        "text=True); print(done.stdout)",
        code.replace("print(kept.path)", "print(kept.path, flush=True); os.kill(os.getpid(), 9)"),
    ).strip()
    assert os.path.exists(killed)
    Checkpoint.from_dict({})
    assert not os.path.exists(killed), "the next one clears up after a process that was killed"


def test_a_worker_that_keeps_its_dict_checkpoint_leaves_nothing(fit):
    def loop():
        global kept
        kept = Checkpoint.from_dict({"a": 1})
        train.report({}, checkpoint=kept)
        return kept.path

    directory = fit(loop, workers=1).return_value
    assert "from_dict" in directory
    assert not os.path.exists(directory)


def test_what_is_no_dict_checkpoint_is_told(local):
    with pytest.raises(ValueError, match="was not made by from_dict"):
        local.to_dict()
    with pytest.raises(TypeError, match=r"data is \[1\]"):
        Checkpoint.from_dict([1])
    with pytest.raises(TypeError, match="data cannot be stored in a checkpoint: it cannot be pickled"):
        Checkpoint.from_dict({"lock": threading.Lock()})


@pytest.mark.parametrize("mode", [train.CheckpointUploadMode.SYNC, train.CheckpointUploadMode.ASYNC])
def test_dicts_are_reported_and_leave_nothing_behind(fit, mode):
    def loop(config):
        for epoch in range(5):
            checkpoint = Checkpoint.from_dict({"epoch": epoch, "payload": b"x" * 100_000})
            train.report({"epoch": epoch}, checkpoint=checkpoint, checkpoint_upload_mode=config["mode"])
            del checkpoint

    result = fit(loop, workers=1, config={"mode": mode})
    assert [checkpoint.to_dict()["epoch"] for checkpoint, _ in result.best_checkpoints] == [0, 1, 2, 3, 4]
    with Checkpoint.from_dict({}).as_directory() as directory:
        left = [name for name in os.listdir(os.path.dirname(directory)) if name.startswith("from_dict")]
    assert len({name.split(".")[0] for name in left}) <= 1, "only the one that is here now"


def test_a_class_of_ones_own_stays_what_it_is_when_it_is_pickled(local):
    from headway.train.torch import TorchCheckpoint

    again = pickle.loads(pickle.dumps(TorchCheckpoint(local.path)))
    assert type(again) is TorchCheckpoint
    assert again == local
