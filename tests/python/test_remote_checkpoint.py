"""Checkpoints behind a URL: a real S3 server process, read from drivers and from workers."""

import os
import re
import subprocess
import sys
import textwrap

import pytest
from headway import train

import cluster

BUCKET = "s3://runs/digits/checkpoint_000007"


@pytest.fixture(scope="module")
def s3():
    """A bucket with one checkpoint in it; the value is the query that leads to the server."""
    server = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", "0"], stderr=subprocess.PIPE, text=True
    )
    try:
        port = next(
            match[1] for line in server.stderr if (match := re.search(r"Running on http://127.0.0.1:(\d+)", line))
        )
        query = f"endpoint_override=127.0.0.1:{port}&scheme=http&region=us-east-1&allow_bucket_creation=true"
        fill = f"""
            from pyarrow import fs
            s3, path = fs.FileSystem.from_uri("{BUCKET}?{query}")
            s3.create_dir("runs")
            for name, content in (("model.bin", b"weights" * 1000), ("parts/rank_1.bin", b"one")):
                with s3.open_output_stream(path + "/" + name) as stream:
                    stream.write(content)
        """
        run(fill)
        yield query
    finally:
        server.terminate()
        server.wait(timeout=30)


def run(script):
    """Runs a script with S3 credentials, to its clean end."""
    env = dict(os.environ, AWS_ACCESS_KEY_ID="key", AWS_SECRET_ACCESS_KEY="secret", AWS_EC2_METADATA_DISABLED="true")
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], env=env, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_checkpoint_in_s3_is_read_and_the_process_ends_cleanly(s3):
    output = run(f"""
        import os
        from headway.train import Checkpoint
        checkpoint = Checkpoint("{BUCKET}?{s3}")
        with checkpoint.as_directory() as directory:
            print(len(open(directory + "/model.bin", "rb").read()), open(directory + "/parts/rank_1.bin").read())
        print(os.path.exists(directory))
    """)
    assert output.split() == ["7000", "one", "False"]


def test_a_run_goes_on_from_a_checkpoint_in_s3(s3, tmp_path):
    output = run(f"""
        from headway import train
        def loop():
            with train.get_checkpoint().as_directory() as directory:
                size = len(open(directory + "/model.bin", "rb").read())
            train.report({{"size": size}})
        result = train.DataParallelTrainer(
            loop,
            scaling_config=train.ScalingConfig(num_workers=2),
            run_config=train.RunConfig(storage_path="{tmp_path}"),
            resume_from_checkpoint=train.Checkpoint("{BUCKET}?{s3}"),
        ).fit()
        print("size", result.metrics["size"])
    """)
    assert output.splitlines()[-1] == "size 7000"


def test_a_missing_directory_and_an_unknown_kind_are_told(s3):
    output = run(f"""
        from headway.train import Checkpoint
        for url in ("s3://runs/nothing?{s3}", "carrier-pigeon://coop/checkpoint"):
            try:
                Checkpoint(url).to_directory()
            except Exception as error:
                print(type(error).__name__, error)
    """)
    missing, unknown = output.splitlines()
    assert missing.startswith("FileNotFoundError")
    assert "s3://runs/nothing" in missing
    assert unknown.startswith("ValueError")
    assert "carrier-pigeon" in unknown


class Requests(cluster.Proxy):
    """On the way to a server, which seems to take four seconds to join a large file's parts: what
    it is asked for.
    """

    def __init__(self, address):
        self.seen = []
        super().__init__(address)

    def _take(self, one, under_way):
        data = b"more"
        while data:
            try:
                data = one.recv(65536)
            except OSError:
                data = b""
            line = data.split(b"\r\n")[0]
            if line.endswith(b"HTTP/1.1"):
                self.seen.append(line.decode())
            if line.startswith(b"POST") and b"uploadId" in line:
                self.closed.wait(4)
            under_way.put((0, data))


def test_a_server_may_take_its_time_to_join_a_large_files_parts(s3):
    port = re.search(r"127\.0\.0\.1:\d+", s3)[0]
    server = Requests(port)
    try:
        output = run(f"""
            import os, tempfile
            from headway import train
            def loop():
                with tempfile.TemporaryDirectory() as directory:
                    with open(os.path.join(directory, "model.bin"), "wb") as file:
                        file.truncate(12 << 20)
                    train.report({{"loss": 1}}, checkpoint=train.Checkpoint.from_directory(directory))
            train.DataParallelTrainer(
                loop,
                scaling_config=train.ScalingConfig(num_workers=1),
                run_config=train.RunConfig(storage_path="s3://runs?{s3.replace(port, server.address)}", name="slow"),
            ).fit()
            print("DONE")
        """)
    finally:
        server.close()
    assert output.splitlines()[-1] == "DONE"
    assert len([line for line in server.seen if "uploadId" in line and line.startswith("POST")]) == 1


def test_a_server_that_does_not_answer_is_told_after_as_many_attempts_as_were_asked_for(s3, monkeypatch):
    monkeypatch.setenv("HEADWAY_STORAGE_ATTEMPTS", "2")
    port = re.search(r"127\.0\.0\.1:\d+", s3)[0]
    server = Requests(port)
    server.cut()
    try:
        output = run(f"""
            from headway.train import Checkpoint
            try:
                Checkpoint("{BUCKET}?{s3.replace(port, server.address)}").get_metadata()
            except OSError as error:
                print(error)
        """)
    finally:
        server.close()
    assert "(tried 2 times within " in output
    assert len(server.seen) == 2, server.seen


def test_file_urls_are_read_too(tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    (source / "epoch").write_text("3")
    checkpoint = train.Checkpoint(source.as_uri())
    output = run(f"""
        from headway.train import Checkpoint
        with Checkpoint({checkpoint.path!r}).as_directory() as directory:
            print(open(directory + "/epoch").read())
    """)
    assert output.strip() == "3"


def test_the_extension_itself_needs_no_arrow():
    output = run("""
        import headway.train
        maps = open("/proc/self/maps").read()
        print("libarrow" in maps)
    """)
    assert output.strip() == "False"


def test_the_ranks_of_a_machine_share_one_download_that_the_last_one_removes(s3, tmp_path):
    output = run(f"""
        import os, pathlib
        from headway import train
        folder = pathlib.Path("{tmp_path}")
        def loop():
            rank = train.get_context().get_world_rank()
            with train.get_checkpoint().as_directory() as directory:
                (folder / str(rank)).write_text(directory)
                train.report({{}})  # A barrier: all are in it at once.
                assert len((pathlib.Path(directory) / "model.bin").read_bytes()) == 7000
        train.DataParallelTrainer(
            loop,
            scaling_config=train.ScalingConfig(num_workers=3),
            run_config=train.RunConfig(storage_path=folder / "runs"),
            resume_from_checkpoint=train.Checkpoint("{BUCKET}?{s3}"),
        ).fit()
        directories = {{(folder / str(rank)).read_text() for rank in range(3)}}
        print(len(directories), os.path.exists(directories.pop()))
    """)
    assert output.splitlines()[-1] == "1 False"


def test_workers_that_are_killed_in_their_download_leave_nothing_once_the_driver_has_ended(s3, tmp_path):
    output = run(f"""
        import os, pathlib, signal
        from headway import train
        folder = pathlib.Path("{tmp_path}")
        def loop():
            with train.get_checkpoint().as_directory() as directory:
                kept = train.Checkpoint.from_dict({{}})
                assert os.path.exists(directory) and os.path.exists(kept.path)
                (folder / "directory").write_text(directory + " " + kept.path)
                os.kill(os.getpid(), signal.SIGKILL)
        try:
            train.DataParallelTrainer(
                loop,
                run_config=train.RunConfig(storage_path=folder / "runs"),
                resume_from_checkpoint=train.Checkpoint("{BUCKET}?{s3}"),
            ).fit()
        except train.WorkerGroupError:
            print("the worker was killed")
    """)
    assert "the worker was killed" in output
    directories = (tmp_path / "directory").read_text().split()
    assert len(directories) == 2
    assert not any(map(os.path.exists, directories))


def test_metadata_of_a_checkpoint_in_s3(s3):
    output = run(f"""
        import pickle
        from headway.train import Checkpoint
        checkpoint = Checkpoint("{BUCKET}?{s3}")
        print(checkpoint.get_metadata())
        checkpoint.set_metadata({{"epoch": 7}})
        checkpoint.update_metadata({{"note": "best"}})
        print(pickle.loads(pickle.dumps(checkpoint)).get_metadata(), checkpoint.path, checkpoint)
        print(checkpoint.filesystem.get_file_info(checkpoint.path + "/model.bin").size)
        checkpoint.filesystem.delete_file(checkpoint.path + "/.metadata.json")
    """)
    path = BUCKET.removeprefix("s3://")
    assert output.splitlines() == [
        "{}",
        f"{{'epoch': 7, 'note': 'best'}} {path} Checkpoint(filesystem=s3, path={path})",
        "7000",
    ]


def test_the_command_line_on_s3(s3):
    fixture = os.path.join(os.path.dirname(os.path.dirname(__file__)), "fixtures", "run_v1")
    output = run(f"""
        import subprocess, sys
        from pyarrow import fs
        def headway(*arguments):
            command = [sys.executable, "-m", "headway", "checkpoint", *arguments]
            done = subprocess.run(command, capture_output=True, text=True)
            print(done.returncode, (done.stdout + done.stderr).strip())
        there = "s3://runs/copied/checkpoint_000001?{s3}"
        headway("cp", "{fixture}/checkpoint_000001", there)
        headway("verify", there)
        headway("ls", "s3://runs/copied?{s3}")
        headway("cp", there, "s3://runs/copied/again?{s3}")
        s3, _ = fs.FileSystem.from_uri("s3://runs?{s3}")
        with s3.open_output_stream("runs/copied/again/model.txt") as stream:
            stream.write(b"weights after epoch 9\\n")
        headway("verify", "s3://runs/copied/again?{s3}")
        headway("cp", "s3://runs/copied/again?{s3}", "/tmp/never")
        headway("cp", there, "s3://runs/below/?{s3}")
        headway("cp", there, "s3://runs/below/checkpoint_000001/?{s3}")
        secret = lambda url: url.replace("s3://", "s3://key:hidden@")
        headway("cp", secret(there), secret("s3://runs/own?{s3}"))
        headway("cp", secret("s3://runs/below?{s3}"), secret("s3://runs/own/?{s3}"))
    """)
    assert "hidden" not in output
    lines = output.splitlines()
    there = f"s3://runs/copied/checkpoint_000001?{s3}"
    assert lines[0].startswith("0 copied: ")
    assert lines[1] == f"0 good: s3://runs/copied/checkpoint_000001?{s3} (3 files, 58 B)"
    assert lines[2].startswith("0 checkpoint")
    assert lines[3].split()[:4] == ["checkpoint_000001", "2", "1", "3"]
    assert lines[4].startswith("0 copied: ")
    assert lines[5].startswith("1 damaged: s3://runs/copied/again/model.txt: expected checksum xxh3:")
    assert lines[6] == f"the newest good checkpoint is s3://runs/copied/checkpoint_000001?{s3}"
    assert lines[7].startswith("1 headway: s3://runs/copied/again/model.txt is damaged: expected checksum xxh3:")
    assert not os.path.exists("/tmp/never")
    assert lines[8].startswith(f"0 copied: {there} to s3://runs/below/checkpoint_000001?{s3} (3 files")
    assert lines[9].endswith("; nothing is put into a checkpoint")
    assert lines[10].startswith(f"0 copied: {there} to s3://runs/own?{s3} (3 files")
    assert lines[11].endswith(f"s3://runs/below?{s3} is a run's folder; name one of its checkpoints: checkpoint_000001")


def test_the_result_of_a_run_in_s3(s3):
    fixture = os.path.join(os.path.dirname(os.path.dirname(__file__)), "fixtures", "run_v1")
    output = run(f"""
        from headway.train import Result
        from pyarrow import fs
        s3, _ = fs.FileSystem.from_uri("s3://runs?{s3}")
        fs.copy_files("{fixture}", "runs/fixture", destination_filesystem=s3)
        for result in (Result.from_path("s3://runs/fixture?{s3}"), Result.from_path("runs/fixture", s3)):
            print(result.path, result.filesystem.type_name, result.metrics["epoch"], len(result.metrics_dataframe))
            best = result.get_best_checkpoint("eval/loss", "min")
            with best.as_directory() as directory:
                print(best.path, open(directory + "/parts/rank_1.txt").read())
    """)
    expected = "runs/fixture s3 3 4\nruns/fixture/checkpoint_000002 epoch 2 of rank 1\n\n"
    assert output == 2 * expected
