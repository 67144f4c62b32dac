"""What ranks of a run in S3 leave in their working directory, and what they store themselves: a
real server.
"""

import json

import object_store
import pytest

SCRIPT = """
    import json, os, tempfile
    from headway import train

    def loop():
        context = train.get_context()
        rank = context.get_world_rank()
        storage = context.get_storage()
        filesystem, folder = storage.storage_filesystem, storage.trial_fs_path
        for epoch in range(2):
            with open(f"plot {rank}.txt", "w") as file:
                file.write(f"epoch {epoch}")
            with tempfile.TemporaryDirectory() as directory:
                open(os.path.join(directory, f"model {rank}"), "w").close()
                train.report({"epoch": epoch}, checkpoint=train.Checkpoint.from_directory(directory))
        if rank == 0:
            with filesystem.open_output_stream(folder + "/from rank 0.txt") as stream:
                stream.write(b"by its own hands")
        return os.listdir("."), os.getcwd(), folder

    result = train.DataParallelTrainer(
        loop,
        scaling_config=train.ScalingConfig(num_workers=2),
        run_config=train.RunConfig(name="run", storage_path=URL, sync_config=train.SyncConfig(sync_artifacts=True)),
    ).fit()
    names, directory, folder = result.return_value
    print(json.dumps([sorted(names), os.path.exists(directory), folder, result.path]))
"""


@pytest.fixture(scope="module")
def s3():
    with object_store.serve() as store:
        yield store


def test_artifacts_are_brought_to_s3_and_ranks_write_there_themselves(s3, tmp_path):
    root = tmp_path / "staging"
    output = object_store.run(f"    URL = {s3.url('runs')!r}\n" + SCRIPT, HEADWAY_STAGING_DIR=str(root))
    names, is_left, folder, path = json.loads(output.splitlines()[-1])
    assert names == ["plot 0.txt", "plot 1.txt"]
    assert not is_left, "what is in storage stays in no staging directory"
    assert folder == path == "runs/run"
    objects = s3.objects("runs/run")
    assert {"artifacts/plot 0.txt", "artifacts/plot 1.txt", "from rank 0.txt"} <= {*objects}
    for name, text in {"artifacts/plot 1.txt": "epoch 1", "from rank 0.txt": "by its own hands"}.items():
        with s3.filesystem().open_input_stream(f"runs/run/{name}") as stream:
            assert stream.read().decode() == text
    assert list(root.iterdir()) == []
