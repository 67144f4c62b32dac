"""Runs in Google Cloud Storage (an emulator), in another S3 server than moto, and behind hdfs://
(Arrow's client over a stand-in for libhdfs): training with kills, and the commands for checkpoints.
"""

import json
import os
import subprocess
import sys
import textwrap

import object_store
import pytest
import storage_servers

pytestmark = pytest.mark.heavy

PRELUDE = """
import json, os, signal, tempfile
from headway import train

def loop(config):
    rank = train.get_context().get_world_rank()
    start = 0
    if (checkpoint := train.get_checkpoint()) is not None:
        with checkpoint.as_directory() as directory:
            start = int(open(os.path.join(directory, "epoch")).read()) + 1
    for epoch in range(start, config.get("epochs", 4)):
        if start == 0 and epoch == 2 and rank == 1:
            if config.get("dies") == "rank":
                os.kill(os.getpid(), signal.SIGKILL)
            if config.get("dies") == "driver":
                os.kill(config["driver"], signal.SIGKILL)
                signal.pause()
        directory = tempfile.mkdtemp()
        if rank == 0:
            open(os.path.join(directory, "epoch"), "w").write(str(epoch))
        os.makedirs(os.path.join(directory, "parts/empty ones"))
        with open(os.path.join(directory, "parts", f"rank {rank} of #2 at 100%.bin"), "wb") as file:
            file.write(bytes([rank, epoch]) * config.get("pairs", 500))
        open(os.path.join(directory, f"parts/empty ones/{rank}"), "w").close()
        print("epoch", epoch)
        train.report(
            {"epoch": epoch, "start": start},
            checkpoint=train.Checkpoint.from_directory(directory),
            checkpoint_upload_mode=train.CheckpointUploadMode[config.get("mode", "SYNC")],
            delete_local_checkpoint_after_upload=True,
        )

def fit(url, name="run", failures=0, keep=None, **config):
    return train.DataParallelTrainer(
        loop,
        train_loop_config={**config, "driver": os.getpid()},
        scaling_config=train.ScalingConfig(num_workers=2),
        run_config=train.RunConfig(
            name=name,
            storage_path=url,
            failure_config=train.FailureConfig(failures),
            checkpoint_config=train.CheckpointConfig(keep),
        ),
    ).fit()

def listed(filesystem, folder):
    from pyarrow import fs
    found = filesystem.get_file_info(fs.FileSelector(folder, recursive=True))
    return sorted(info.path[len(folder) + 1:] for info in found if info.type == fs.FileType.File)
"""
FILES = [
    "epoch",
    "parts/empty ones/0",
    "parts/empty ones/1",
    "parts/rank 0 of #2 at 100%.bin",
    "parts/rank 1 of #2 at 100%.bin",
]


@pytest.fixture(scope="module", params=storage_servers.SERVERS)
def storage(request):
    with storage_servers.SERVERS[request.param]() as storage:
        yield storage


@pytest.fixture
def drive(storage, tmp_path):
    """Runs a script after the one above; the last line of the output is JSON. Whatever a driver
    leaves in the staging directory is a failure.
    """
    staging = tmp_path / "staging"

    def driven(script, expect=0):
        whole = PRELUDE + textwrap.dedent(script)
        output = object_store.run(whole, expect=expect, HEADWAY_STAGING_DIR=str(staging), **storage.env)
        return json.loads(output.splitlines()[-1]) if expect == 0 else None

    yield driven
    assert not staging.exists() or list(staging.iterdir()) == []


@pytest.fixture
def command(storage):
    def called(*arguments, expect=0):
        done = subprocess.run(
            [sys.executable, "-m", "headway", *arguments],
            env={**os.environ, **object_store.CREDENTIALS, **storage.env},
            capture_output=True,
            text=True,
            timeout=110,
        )
        assert done.returncode == expect, done.stdout + done.stderr
        return done.stdout

    return called


def test_a_killed_rank_resumes_and_another_process_reads_the_run(storage, drive):
    end = drive(f"""
        result = fit("{storage.url("deep")}", dies="rank", failures=1)
        print(json.dumps([result.path, result.checkpoint.path, result.metrics["start"], result.metrics["attempt"]]))
    """)
    folder = f"{storage.base}/deep/run"
    assert end == [folder, f"{folder}/checkpoint_000003", 2, 2]
    path, epochs, files, second, names = drive(f"""
        result = train.Result.from_path("{storage.url("deep/run")}")
        with result.checkpoint.as_directory() as directory:
            files = sorted(os.path.relpath(os.path.join(at, name), directory)
                           for at, _, names in os.walk(directory) for name in names)
            second = open(directory + "/parts/rank 1 of #2 at 100%.bin", "rb").read() == bytes([1, 3]) * 500
        names = listed(result.filesystem, result.path)
        print(json.dumps([result.path, list(result.metrics_dataframe["epoch"]), files, second, names]))
    """)
    assert path == folder
    assert epochs == [0, 1, 2, 3]
    assert [name for name in files if not name.startswith(".headway")] == FILES
    assert second
    assert [name for name in names if "headway.begun" in name or "probe" in name] == []
    assert {"run.json", "result.json", "logs/rank_0.log", "logs/rank_1.log"} <= {*names}
    for index in range(4):
        assert {f"checkpoint_00000{index}/{name}" for name in FILES} <= {*names}


def test_a_killed_driver_is_followed_by_one_that_resumes(storage, drive):
    drive(f'fit("{storage.url("deep")}", "orphan", dies="driver")', expect=-9)
    end = drive(f"""
        result = fit("{storage.url("deep")}", "orphan")
        print(json.dumps([result.metrics["start"], list(result.metrics_dataframe["epoch"]),
                          result.checkpoint.path, listed(result.filesystem, result.path)]))
    """)
    start, epochs, checkpoint, names = end
    assert (start, epochs) == (2, [0, 1, 2, 3])
    assert checkpoint == f"{storage.base}/deep/orphan/checkpoint_000003"
    assert [name for name in names if "headway.begun" in name] == []


def test_asynchronous_checkpoints_of_several_parts_are_stored_and_removed(storage, drive):
    pairs = (12 << 20) + 5
    end = drive(f"""
        result = fit("{storage.url()}", "large", keep=1, epochs=3, mode="ASYNC", pairs={pairs})
        with result.checkpoint.as_directory() as directory:
            content = open(directory + "/parts/rank 1 of #2 at 100%.bin", "rb").read()
        folders = {{name.partition("/")[0] for name in listed(result.filesystem, result.path) if "/" in name}}
        print(json.dumps([content == bytes([1, 2]) * {pairs}, sorted(folders - {{"logs"}})]))
    """)
    assert end == [True, ["checkpoint_000002"]]


def test_the_commands_list_verify_and_copy_checkpoints(storage, drive, command, tmp_path):
    drive(f"""
        fit("{storage.url()}", "commands", epochs=2)
        print("null")
    """)
    run, checkpoint = storage.url("commands"), storage.url("commands/checkpoint_000001")
    found = json.loads(command("checkpoint", "ls", "--json", run))
    assert [each["checkpoint"] for each in found["checkpoints"]] == ["checkpoint_000000", "checkpoint_000001"]
    assert "checkpoint_000001" in command("checkpoint", "ls", run)
    assert "rank 1 of #2 at 100%.bin" in command("checkpoint", "ls", checkpoint)
    command("checkpoint", "verify", run)

    command("checkpoint", "cp", checkpoint, str(tmp_path / "local"))
    assert (tmp_path / "local/parts/rank 1 of #2 at 100%.bin").read_bytes() == bytes([1, 1]) * 500
    command("checkpoint", "cp", str(tmp_path / "local"), storage.url("copies/other"))
    command("checkpoint", "cp", checkpoint, storage.url("copies/direct"))
    command("checkpoint", "verify", storage.url("copies/other"))

    drive(f"""
        checkpoint = train.Checkpoint("{storage.url("copies/direct")}")
        with checkpoint.filesystem.open_output_stream(checkpoint.path + "/epoch") as file:
            file.write(b"7")
        print("null")
    """)
    assert "epoch" in command("checkpoint", "verify", storage.url("copies/direct"), expect=1)


def test_storage_that_refuses_is_reported_before_a_worker_starts(storage, drive):
    """A bucket that does not exist; for hdfs:// a file where the folder should be."""
    url = storage.url("x").replace("@runs/", "@nothing-here/").replace("s3://runs/", "s3://nothing-here/")
    kind, message = drive(f"""
        def loop(config):
            raise AssertionError("a worker ran")
        if "{storage.base}" == "/runs":
            open(os.environ["HEADWAY_HDFS_STAND_IN"] + "/runs/x", "w").close()
        try:
            fit("{url}")
        except OSError as error:
            print(json.dumps([type(error).__name__, str(error)]))
    """)
    assert "RunConfig.storage_path" in message, kind


def test_a_filesystem_object_of_google_keeps_a_run(tmp_path):
    with storage_servers.gs() as storage:
        port = storage.url().rpartition("%3A")[2]
        script = f"""
from pyarrow import fs
google = fs.GcsFileSystem(anonymous=True, scheme="http", endpoint_override="127.0.0.1:{port}")
run = train.RunConfig(name="run", storage_path="objects", storage_filesystem=fs.SubTreeFileSystem("runs", google),
                      failure_config=train.FailureConfig(1), checkpoint_config=train.CheckpointConfig(1))
result = train.DataParallelTrainer(loop, train_loop_config={{"dies": "rank"}}, run_config=run,
                                   scaling_config=train.ScalingConfig(num_workers=2)).fit()
again = train.Result.from_path(result.path, result.filesystem)
folders = {{name.partition("/")[0] for name in listed(google, "runs/objects/run") if "/" in name}}
print(json.dumps([again.path, again.checkpoint.path, result.metrics["start"], sorted(folders)]))
"""
        output = object_store.run(PRELUDE + script, HEADWAY_STAGING_DIR=str(tmp_path / "staging"), **storage.env)
    folder = "objects/run"
    assert json.loads(output.splitlines()[-1]) == [
        folder,
        f"{folder}/checkpoint_000003",
        2,
        ["checkpoint_000003", "logs"],
    ]


def test_a_server_that_keeps_the_chunks_of_the_aws_sdk_is_refused_with_what_to_do(tmp_path):
    with storage_servers.s3rver() as storage:
        env = {**storage.env, "AWS_REQUEST_CHECKSUM_CALCULATION": "when_supported"}
        script = f"""
try:
    fit("{storage.url("x")}")
except OSError as error:
    print(error)
"""
        output = object_store.run(PRELUDE + script, HEADWAY_STAGING_DIR=str(tmp_path / "staging"), **env)
    assert "AWS_REQUEST_CHECKSUM_CALCULATION=when_required" in output
