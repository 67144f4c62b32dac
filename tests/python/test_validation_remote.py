"""Validations of a run whose storage is an S3 bucket: a real server, a driver in a separate
process.
"""

import json

import object_store
import pytest

SCRIPT = """
    import json, os, tempfile
    from headway import train

    def validate(checkpoint):
        with checkpoint.as_directory() as directory, open(os.path.join(directory, "value")) as file:
            print("validating", checkpoint.path)
            return {"score": int(file.read())}

    def loop():
        for value in (4, 9, 2):
            with tempfile.TemporaryDirectory() as directory:
                with open(os.path.join(directory, "value"), "w") as file:
                    file.write(str(value))
                train.report({"value": value}, train.Checkpoint(directory), validation=True)

    result = train.DataParallelTrainer(
        loop,
        run_config=train.RunConfig(
            name="run",
            storage_path=URL,
            checkpoint_config=train.CheckpointConfig(num_to_keep=1, checkpoint_score_attribute="score"),
        ),
        validation_config=train.ValidationConfig(validate),
    ).fit()
    again = train.Result.from_path(f"{URL.split('?')[0]}/run?{URL.split('?')[1]}")
    print(json.dumps([[m["score"] for _, m in each.best_checkpoints] for each in (result, again)]))
"""


@pytest.fixture(scope="module")
def s3():
    with object_store.serve() as store:
        yield store


def test_checkpoints_are_read_from_there_and_count_by_what_is_found(s3, tmp_path):
    script = f"    URL = {s3.url('runs/validated')!r}\n" + SCRIPT
    output = object_store.run(script, HEADWAY_STAGING_DIR=str(tmp_path / "staging"))
    assert json.loads(output.splitlines()[-1]) == [[9, 2], [9, 2]]
    names = s3.objects("runs/validated/run")
    assert "logs/validation_checkpoint_000001.log" in names
    assert not any(name.startswith("checkpoint_000000/") for name in names)
