"""What a bucket does not take is reported before it is sent: a real server."""

import json

import object_store

SCRIPT = """
    import json, os, tempfile, time
    from headway import train

    def loop():
        with tempfile.TemporaryDirectory() as directory:
            with open(os.path.join(directory, "model.bin"), "wb") as file:
                file.truncate(98 << 30)  # a hole: it takes no space
            started = time.monotonic()
            try:
                train.report({"loss": 1.0}, checkpoint=train.Checkpoint.from_directory(directory))
            except Exception as error:
                return str(error), time.monotonic() - started

    result = train.DataParallelTrainer(loop, run_config=train.RunConfig(name="run", storage_path=URL)).fit()
    print(json.dumps(result.return_value))
"""


def test_a_file_that_s3_would_refuse_after_hours_is_refused_at_once():
    with object_store.serve() as s3:
        message, took_s = json.loads(object_store.run(f"    URL = {s3.url('runs')!r}\n" + SCRIPT).splitlines()[-1])
        assert "model.bin has 105226698752 bytes" in message
        assert "at most 104857600000: save it as several files" in message
        assert took_s < 30
        assert [name for name in s3.objects("runs/run") if "checkpoint" in name] == []
