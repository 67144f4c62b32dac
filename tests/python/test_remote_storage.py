"""Runs whose storage is an S3 bucket or a Python filesystem: a real server, drivers in separate
processes.
"""

import json
import time

import object_store
import pytest

LOOP = """
    import os, tempfile
    from headway import train

    def loop(config):
        rank = train.get_context().get_world_rank()
        start = 0
        if (checkpoint := train.get_checkpoint()) is not None:
            with checkpoint.as_directory() as directory:
                start = int(open(os.path.join(directory, "epoch")).read()) + 1
        for epoch in range(start, config.get("epochs", 3)):
            if epoch == config.get("dies_at") and start == 0 and rank == 1:
                os.kill(os.getpid(), 9)
            directory = tempfile.mkdtemp(dir=config.get("scratch"))
            if rank == 0:
                open(os.path.join(directory, "epoch"), "w").write(str(epoch))
            os.mkdir(os.path.join(directory, "parts"))
            with open(os.path.join(directory, "parts", f"rank {rank}.bin"), "wb") as file:
                file.write(bytes([rank]) * config.get("bytes", 1000))
            print("epoch", epoch)
            train.report(
                {"epoch": epoch, "start": start},
                checkpoint=train.Checkpoint.from_directory(directory),
                checkpoint_upload_mode=train.CheckpointUploadMode[config.get("mode", "SYNC")],
                delete_local_checkpoint_after_upload=True,
            )

    def fit(config, failures=0, keep=None, **run):
        return train.DataParallelTrainer(
            loop,
            train_loop_config=config,
            scaling_config=train.ScalingConfig(num_workers=2),
            run_config=train.RunConfig(
                failure_config=train.FailureConfig(failures), checkpoint_config=train.CheckpointConfig(keep), **run
            ),
        ).fit()
"""
PARTS = ["epoch", "parts/rank 0.bin", "parts/rank 1.bin"]


@pytest.fixture(scope="module")
def s3():
    with object_store.serve() as store:
        yield store


@pytest.fixture
def clean_staging(tmp_path):
    """The staging directory's root; whatever a driver leaves in it is a failure."""
    root = tmp_path / "staging"
    yield str(root)
    assert not root.exists() or list(root.iterdir()) == []


def drive(script, staging, **options):
    """Runs the loop above and what follows it; the last line of the output is JSON."""
    output = object_store.run(LOOP + script, HEADWAY_STAGING_DIR=staging, **options)
    return json.loads(output.splitlines()[-1])


def checkpoint_files(store, run):
    """The names of a run's checkpoints' files, by checkpoint."""
    found = {}
    for name in store.objects(f"runs/{run}"):
        directory, _, file = name.partition("/")
        if directory.startswith("checkpoint_") and file:
            found.setdefault(directory, []).append(file)
    return found


@pytest.mark.parametrize("mode", ["SYNC", "ASYNC"])
def test_a_run_keeps_its_checkpoints_and_files_in_s3(s3, clean_staging, mode):
    end = drive(
        f"""
    import json
    result = fit({{"mode": "{mode}"}}, name="kept {mode}", storage_path="{s3.url("runs/deep")}", keep=2)
    with result.checkpoint.as_directory() as directory:
        names = sorted(os.listdir(directory))
    rows = len(result.metrics_dataframe)
    print(json.dumps([result.path, result.checkpoint.path, result.metrics["epoch"], names, rows,
                      result.filesystem.type_name, result.checkpoint.filesystem.type_name]))
    """,
        clean_staging,
    )
    folder = f"runs/deep/kept {mode}"
    assert end == [folder, f"{folder}/checkpoint_000002", 2, ["epoch", "parts"], 3, "s3", "s3"]
    files = checkpoint_files(s3, f"deep/kept {mode}")
    assert files == {name: [".headway.json", *PARTS] for name in ("checkpoint_000001", "checkpoint_000002")}
    objects = s3.objects(folder)
    assert {"run.json", "result.json", "params.json", "progress.csv", "logs/rank_0.log", "logs/rank_1.log"} <= {
        *objects
    }
    assert [name for name in objects if name.startswith(".headway")] == []
    with s3.filesystem().open_input_stream(f"{folder}/logs/rank_0.log") as log:
        assert log.read().decode().splitlines() == ["epoch 0", "epoch 1", "epoch 2"]
    with s3.filesystem().open_input_stream(f"{folder}/result.json") as lines:
        assert [json.loads(line)["epoch"] for line in lines.read().splitlines()] == [0, 1, 2]


def test_a_killed_rank_goes_on_from_the_newest_checkpoint_in_s3(s3, clean_staging):
    end = drive(
        f"""
    import json
    result = fit({{"dies_at": 2, "epochs": 4}}, name="restarted", storage_path="{s3.url("runs")}", failures=1)
    print(json.dumps([result.metrics["epoch"], result.metrics["start"], result.metrics["attempt"]]))
    """,
        clean_staging,
    )
    assert end == [3, 2, 2]
    assert sorted(checkpoint_files(s3, "restarted")) == [f"checkpoint_00000{index}" for index in range(4)]


def test_large_files_go_in_parts_and_come_back_as_they_were(s3, clean_staging, tmp_path):
    size = (40 << 20) + 7
    end = drive(
        f"""
    import json, hashlib
    result = fit({{"epochs": 1, "bytes": {size}}}, name="large", storage_path="{s3.url("runs")}")
    with result.checkpoint.as_directory() as directory:
        content = open(directory + "/parts/rank 1.bin", "rb").read()
    print(json.dumps([len(content), content == bytes([1]) * {size}]))
    """,
        clean_staging,
    )
    assert end == [size, True]


@pytest.mark.parametrize(
    ("path", "env", "words"),
    [
        ("nothing-here/x", {}, "NO_SUCH_BUCKET"),
        ("runs/x", {"AWS_ACCESS_KEY_ID": "somebody-else"}, "INVALID_ACCESS_KEY_ID"),
    ],
)
def test_storage_that_will_never_work_is_told_before_workers_start(path, env, words, clean_staging):
    # So many requests pass without a look at who asks: those that make the bucket.
    with object_store.serve(INITIAL_NO_AUTH_ACTION_COUNT="2") if env else object_store.serve() as store:
        begun = time.monotonic()
        end = drive(_refusal(store.url(path)), clean_staging, **env)
        assert time.monotonic() - begun < 20
    kind, message = end
    assert kind == "OSError"
    assert "RunConfig.storage_path" in message
    assert words in message


def test_an_endpoint_where_nobody_listens_is_told_within_seconds(clean_staging):
    url = "s3://runs/x?endpoint_override=127.0.0.1:9&scheme=http&region=us-east-1"
    begun = time.monotonic()
    kind, message = drive(_refusal(url), clean_staging)
    assert time.monotonic() - begun < 20
    assert kind == "OSError"
    assert "RunConfig.storage_path" in message
    assert "Could not connect" in message


def test_a_url_of_no_known_kind_is_told_before_workers_start(clean_staging):
    kind, message = drive(_refusal("carrier-pigeon://coop/runs"), clean_staging)
    assert kind == "ValueError"
    assert "carrier-pigeon" in message


def _refusal(url):
    return f"""
    import json
    def loop(config):
        print("a worker ran")
    try:
        fit({{}}, name="refused", storage_path="{url}")
    except Exception as error:
        print(json.dumps([type(error).__name__, str(error)]))
    """


def test_a_run_that_is_there_is_gone_on_with_and_restored(s3, clean_staging):
    end = drive(
        f"""
    import json
    url = "{s3.url("runs")}"
    first = fit({{"epochs": 2}}, name="again", storage_path=url)
    second = fit({{"epochs": 3}}, name="again", storage_path=url)
    folder = "{s3.url("runs/again")}"
    assert train.DataParallelTrainer.can_restore(folder)
    assert not train.DataParallelTrainer.can_restore("{s3.url("runs/nowhere")}")
    third = train.DataParallelTrainer.restore(folder, train_loop_config={{"epochs": 4}}).fit()
    reports = third.metrics_dataframe
    print(json.dumps([list(reports["epoch"]), [int(n) for n in reports["attempt"]], third.checkpoint.path]))
    """,
        clean_staging,
    )
    assert end == [[0, 1, 2, 3], [1, 1, 2, 3], "runs/again/checkpoint_000003"]
    with s3.filesystem().open_input_stream("runs/again/run.json") as file:
        journal = json.loads(file.read())
    assert (journal["state"], journal["owner_epoch"]) == ("finished", 3)
    with s3.filesystem().open_input_stream("runs/again/logs/rank_0.log") as file:
        log = file.read().decode()
    assert [line for line in log.splitlines() if line.startswith("epoch")] == [f"epoch {n}" for n in range(4)]


def test_a_checkpoint_in_s3_begins_another_run(s3, clean_staging):
    end = drive(
        f"""
    import json
    first = fit({{"epochs": 1}}, name="first", storage_path="{s3.url("runs")}")
    result = train.DataParallelTrainer(
        loop,
        train_loop_config={{"epochs": 3}},
        scaling_config=train.ScalingConfig(num_workers=2),
        run_config=train.RunConfig(name="second", storage_path="{s3.url("runs")}"),
        resume_from_checkpoint=first.checkpoint,
    ).fit()
    again = train.Result.from_path("{s3.url("runs/second")}")
    print(json.dumps([result.metrics["start"], again.metrics["start"], again.path, again.checkpoint.path,
                      again.checkpoint == result.checkpoint]))
    """,
        clean_staging,
    )
    assert end == [1, 1, "runs/second", "runs/second/checkpoint_000001", True]


def test_what_the_function_stored_in_s3_itself_is_a_checkpoint(s3, clean_staging):
    end = drive(
        f"""
    import json
    from pyarrow import fs
    url = "{s3.url("runs/own/mine")}"
    def loop(config):
        if train.get_context().get_world_rank() == 0:
            s3, path = fs.FileSystem.from_uri(url)
            with s3.open_output_stream(path + "/model") as file:
                file.write(b"weights")
        train.report({{"x": 1}}, train.Checkpoint(url), checkpoint_upload_mode=train.CheckpointUploadMode.NO_UPLOAD)
    result = fit({{}}, name="own", storage_path="{s3.url("runs")}")
    with result.checkpoint.as_directory() as directory:
        print(json.dumps([result.checkpoint.path, open(directory + "/model").read()]))
    """,
        clean_staging,
    )
    assert end == ["runs/own/mine", "weights"]


def test_a_failed_run_says_where_its_folder_is_and_has_its_logs_there(s3, clean_staging):
    end = drive(
        f"""
    import json
    def loop(config):
        print("last words")
        raise ValueError("no more")
    try:
        fit({{}}, name="failed", storage_path="{s3.url("runs")}")
    except train.TrainingFailedError as error:
        stored = train.Result.from_path("{s3.url("runs/failed")}").error
        print(json.dumps([str(error), str(stored)]))
    """,
        clean_staging,
    )
    for message in end:
        assert message.startswith("ValueError: no more")
        assert "s3://runs/failed" in message
    logs = ""
    for rank in range(2):
        with s3.filesystem().open_input_stream(f"runs/failed/logs/rank_{rank}.log") as log:
            logs += log.read().decode()
    assert "last words" in logs


def test_storage_that_goes_away_refuses_checkpoints_and_the_run_s_files_are_kept(tmp_path):
    with object_store.serve() as store:
        end = drive(
            f"""
    import json, signal, sys
    def loop(config):
        directory = tempfile.mkdtemp()
        open(directory + "/epoch", "w").write("0")
        checkpoint = train.Checkpoint.from_directory(directory)
        train.report({{"epoch": 0}}, checkpoint)
        if train.get_context().get_world_rank() == 0:
            os.kill({store.server.pid}, signal.SIGKILL)
        try:
            train.report({{"epoch": 1}}, checkpoint)
        except OSError as error:
            message = str(error)
        train.report({{"epoch": 2}})
        return message
    result = fit({{}}, name="cut off", storage_path="{store.url("runs")}")
    print(json.dumps([result.metrics["epoch"], result.checkpoint.path, result.return_value]))
    """,
            str(tmp_path / "staging"),
            HEADWAY_STORAGE_RETRY_S="1",
            HEADWAY_STORAGE_ATTEMPTS="2",
        )
    epoch, path, message = end
    assert (epoch, path) == (2, "runs/cut off/checkpoint_000000")
    assert "s3://runs/cut off/checkpoint_000001" in message
    assert "Could not connect" in message
    (kept,) = (tmp_path / "staging").iterdir()
    assert kept.name.startswith("kept-")
    assert [json.loads(line)["epoch"] for line in (kept / "result.json").read_text().splitlines()] == [0, 2]


def test_nobody_reads_the_secrets_of_a_url_in_the_journal(s3, clean_staging):
    with_key = s3.url("runs").replace("s3://", "s3://key:very-secret@")
    drive(
        f"""
    fit({{"epochs": 1}}, name="discreet", storage_path="{with_key}")
    print("null")
    """,
        clean_staging,
    )
    with s3.filesystem().open_input_stream("runs/discreet/run.json") as journal:
        text = journal.read().decode()
    assert "very-secret" not in text
    assert "s3://runs" in text


FILESYSTEMS = {
    "s3": """fs.S3FileSystem(access_key="key", secret_key="secret", region="us-east-1",
                             endpoint_override="http://127.0.0.1:{port}")""",
    "local": "fs.LocalFileSystem()",
    "subtree": 'fs.SubTreeFileSystem("{folder}", fs.LocalFileSystem())',
    "fsspec": 'fs.PyFileSystem(fs.FSSpecHandler(fsspec.filesystem("file")))',
}


@pytest.mark.parametrize("kind", FILESYSTEMS)
def test_a_filesystem_object_keeps_a_run(kind, s3, clean_staging, tmp_path):
    if kind == "fsspec":
        pytest.importorskip("fsspec")
    folder = tmp_path / "store"
    folder.mkdir()
    base = {"s3": "runs/objects", "subtree": "objects"}.get(kind, f"{folder}/objects")
    end = drive(
        f"""
    import json
    from pyarrow import fs
    {"import fsspec" if kind == "fsspec" else ""}
    filesystem = {FILESYSTEMS[kind].format(port=s3.port, folder=folder)}
    result = fit({{"dies_at": 2, "epochs": 4}}, name="{kind}", storage_path="{base}", storage_filesystem=filesystem,
                 failures=1, keep=1)
    with result.checkpoint.as_directory() as directory:
        names = sorted(name for name in os.listdir(directory) if not name.startswith(".headway"))
    again = train.Result.from_path(result.path, filesystem)
    print(json.dumps([result.path, result.checkpoint.path, result.metrics["epoch"], result.metrics["start"], names,
                      result.filesystem == filesystem, again.metrics["epoch"], again.checkpoint == result.checkpoint]))
    """,
        clean_staging,
    )
    path = f"{base}/{kind}"
    assert end == [path, f"{path}/checkpoint_000003", 3, 2, ["epoch", "parts"], True, 3, True]
    if kind == "s3":
        return
    at = folder / "objects" / kind
    assert sorted(each.name for each in at.iterdir() if each.name.startswith("checkpoint_")) == ["checkpoint_000003"]
    assert {"run.json", "result.json", "params.json", "logs"} <= {each.name for each in at.iterdir()}
    assert [each.name for each in at.iterdir() if each.name.startswith(".headway")] == (
        [".headway.owner"] if kind == "local" else []
    )


def test_drivers_end_cleanly_twenty_times_of_twenty(s3, clean_staging):
    script = f"""
    import headway
    from headway._storage import locations
    locations.replace_file(locations.location_of("{s3.url("runs/exits/note")}"), b"text")
    """
    for _ in range(20):
        object_store.run(script)
