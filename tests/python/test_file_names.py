"""Names that a file may have, and that not every storage can keep: what a user reads, and when."""

import json
import os
import subprocess
import sys
from pathlib import Path

import object_store
import pytest
from headway import train

NAME = "weights\nof epoch 1"
FOLDER = "part\r\n0"


@pytest.fixture(scope="module")
def s3():
    with object_store.serve() as store:
        yield store


def headway(*arguments):
    command = [sys.executable, "-m", "headway", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("mode", list(train.CheckpointUploadMode)[:2])
def test_a_local_run_keeps_names_with_control_characters(tmp_path, mode):
    def loop(config):
        rank = train.get_context().get_world_rank()
        folder = Path(config["local"], str(rank), f"{config['folder']}{rank}")
        folder.mkdir(parents=True)
        (folder / config["name"]).write_text(f"rank {rank}")
        Path(config["name"]).write_text("an artifact")
        checkpoint = train.Checkpoint.from_directory(folder.parent)
        train.report({}, checkpoint=checkpoint, checkpoint_upload_mode=config["mode"])

    config = {"local": str(tmp_path / "local"), "folder": FOLDER, "name": NAME, "mode": mode}
    sync = train.SyncConfig(sync_artifacts=True)
    result = train.DataParallelTrainer(
        loop,
        train_loop_config=config,
        scaling_config=train.ScalingConfig(num_workers=2),
        run_config=train.RunConfig(storage_path=tmp_path / "storage", sync_config=sync),
    ).fit()
    assert Path(result.path, "artifacts", NAME).read_text() == "an artifact"
    (tmp_path / "copy").mkdir()
    result.checkpoint.to_directory(tmp_path / "copy")
    for rank in range(2):
        assert (tmp_path / "copy" / f"{FOLDER}{rank}" / NAME).read_text() == f"rank {rank}"
    assert headway("checkpoint", "verify", result.checkpoint.path).returncode == 0
    listed = headway("checkpoint", "ls", result.checkpoint.path).stdout.splitlines()
    assert [line.split("  ")[0] for line in listed[1:]] == [
        rf"part\r\n0{rank}/weights\nof epoch 1" for rank in range(2)
    ]
    assert headway("checkpoint", "cp", result.checkpoint.path, tmp_path / "another").returncode == 0
    os.truncate(Path(result.checkpoint.path, f"{FOLDER}1", NAME), 2)
    damaged = headway("checkpoint", "verify", result.checkpoint.path)
    assert r"/part\r\n01/weights\nof epoch 1: expected 6 bytes, found 2 bytes" in damaged.stdout.splitlines()[0]


LOOP = """
    import json, os, tempfile
    from headway import train

    def loop(config):
        rank = train.get_context().get_world_rank()
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, config["name"] if rank == 1 else "good")
            os.makedirs(os.path.dirname(path), exist_ok=True)
            open(path, "w").close()
            train.report(
                {"loss": 1.0},
                checkpoint=train.Checkpoint.from_directory(directory),
                checkpoint_upload_mode=train.CheckpointUploadMode[config["mode"]],
                checkpoint_dir_name=config.get("checkpoint"),
            )

    def fit(name, config, sync=None):
        return train.DataParallelTrainer(
            loop,
            train_loop_config=config,
            scaling_config=train.ScalingConfig(num_workers=2),
            run_config=train.RunConfig(name=name, storage_path=URL, sync_config=sync),
        ).fit()
"""


def run(s3, script, **env):
    return object_store.run(f"    URL = {s3.url('runs')!r}\n" + LOOP + script, **env)


@pytest.mark.parametrize(
    ("file", "mode", "code"),
    [
        (NAME, "SYNC", "U+000A"),
        (NAME, "ASYNC", "U+000A"),
        (f"{FOLDER}/good", "SYNC", "U+000D"),
        ("\ufffe", "SYNC", "U+FFFE"),
    ],
)
def test_a_file_that_an_object_store_cannot_keep_is_named_before_anything_is_sent(s3, file, mode, code):
    script = f"""
    try:
        fit("refused", {{"name": {file!r}, "mode": {mode!r}}})
    except train.WorkerGroupError as error:
        print(json.dumps(str(error.worker_failures[1])))
    """
    told = json.loads(run(s3, script).splitlines()[-1])
    named = json.dumps(file, ensure_ascii=False)
    assert told == (f"checkpoint file name {named} holds {code}, which remote storage cannot keep: give it another one")
    assert [name for name in s3.objects("runs/refused") if "checkpoint" in name] == []


def test_names_of_runs_and_checkpoints_that_an_object_store_cannot_keep_are_refused(s3):
    script = """
    for name, config in (("a\\nrun", {}), ("run", {"name": "x", "mode": "SYNC", "checkpoint": "a\\tcheckpoint"})):
        try:
            fit(name, config)
        except (ValueError, train.WorkerGroupError) as error:
            failures = getattr(error, "worker_failures", {0: error})  # Of the rank that was first.
            print(json.dumps(str(next(iter(failures.values())))))
    """
    told = [json.loads(line) for line in run(s3, script).splitlines() if line.startswith('"')]
    assert [text.split(" holds ")[0] for text in told] == [
        r'RunConfig.name "a\nrun"',
        r'checkpoint_dir_name "a\tcheckpoint"',
    ]
    assert all("which remote storage cannot keep" in text for text in told)


def test_an_artifact_that_an_object_store_cannot_keep_is_warned_of_and_the_others_come(s3, tmp_path):
    script = f"""
    os.dup2(1, 2)

    def write():
        for name in ({NAME!r}, "notes.txt"):
            open(name, "w").close()
        return os.getcwd()

    sync = train.SyncConfig(sync_artifacts=True)
    run_config = train.RunConfig(name="artifacts", storage_path=URL, sync_config=sync)
    print(os.listdir(train.DataParallelTrainer(write, run_config=run_config).fit().return_value))
    """
    output = run(s3, script, HEADWAY_STAGING_DIR=str(tmp_path / "staging"))
    assert r'to artifacts/: the file name "weights\nof epoch 1" holds U+000A, which remote storage cannot' in output
    assert repr(NAME) in output, "the files stay"
    assert "artifacts/notes.txt" in s3.objects("runs/artifacts")


def test_a_copy_to_an_object_store_names_what_it_cannot_keep(s3, tmp_path, fit, monkeypatch):
    def loop(config):
        Path(config["name"]).write_text("x")
        train.report({}, checkpoint=train.Checkpoint.from_directory("."))

    result = fit(loop, 1, config={"name": NAME})
    for name, value in object_store.CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    done = headway("checkpoint", "cp", result.checkpoint.path, s3.url("runs/copied"))
    assert done.returncode == 2, done.stdout + done.stderr
    assert r'checkpoint file name "weights\nof epoch 1" holds U+000A, which remote storage cannot keep' in done.stderr
    assert s3.objects("runs/copied") == []
