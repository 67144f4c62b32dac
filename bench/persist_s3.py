"""A report() with a large checkpoint of each rank to an S3 server, beside pyarrow's and boto3's
uploads of as much.

persist_s3.py MEGABYTES_PER_RANK

The server is moto's, a process on this machine, so it is the slowest part of all three; they take
turns. What a turn has stored is deleted. The worker's memory is its peak during the report, less
what it had before.

All three send the same kind of request: a part's bytes as they are. By default Arrow's SDK wraps
each part in chunks with a checksum behind them, boto3 puts one into the header, and moto takes two
to three times as long for the former.
"""

from __future__ import annotations

import contextlib
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import program

ROUNDS = 3
KEYS = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_EC2_METADATA_DISABLED": "true"}
PLAIN_PARTS = {"AWS_REQUEST_CHECKSUM_CALCULATION": "when_required"}


def memory_mib(field):
    """A line of this process's status: VmRSS (now) or VmHWM (the peak since it was reset)."""
    text = Path("/proc/self/status").read_text()
    return int(re.search(rf"{field}:\s+(\d+) kB", text)[1]) / 1024


def loop(config):
    from headway import train

    rank = train.get_context().get_world_rank()
    times, grown = [], []
    for i in range(ROUNDS):
        folder = tempfile.mkdtemp(dir=config["folder"])
        program.write_file(os.path.join(folder, f"model_{rank}.bin"), config["megabytes"])
        Path("/proc/self/clear_refs").write_text("5")
        before = memory_mib("VmRSS")
        started = time.perf_counter()
        train.report(
            {"i": i},
            checkpoint=train.Checkpoint.from_directory(folder),
            delete_local_checkpoint_after_upload=True,
        )
        times.append(time.perf_counter() - started)
        grown.append(memory_mib("VmHWM") - before)
    program.note(config, f"times_{rank}", times)
    program.note(config, f"grown_{rank}", grown)


@contextlib.contextmanager
def serve() -> Iterator[tuple[Any, str]]:
    """A moto server with the bucket ``runs``: boto3's client of it, and the URL of the bucket."""
    import boto3

    os.environ.update(KEYS | PLAIN_PARTS)
    server = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", "0"], stderr=subprocess.PIPE, text=True
    )
    drain = None
    try:
        port = next(match[1] for line in server.stderr if (match := re.search(r"http://(127.0.0.1:\d+)", line)))
        drain = subprocess.Popen(["cat"], stdin=server.stderr, stdout=subprocess.DEVNULL)
        client = boto3.client("s3", endpoint_url=f"http://{port}", region_name="us-east-1")
        client.create_bucket(Bucket="runs")
        yield client, f"s3://runs?endpoint_override={port}&scheme=http&region=us-east-1"
    finally:
        server.terminate()
        server.wait()
        if drain:
            drain.wait()


def report_times(folder, megabytes, url):
    from headway import train

    train.DataParallelTrainer(
        loop,
        train_loop_config={"folder": str(folder), "megabytes": megabytes},
        scaling_config=train.ScalingConfig(num_workers=program.WORKERS),
        run_config=train.RunConfig(
            storage_path=url, name="run", checkpoint_config=train.CheckpointConfig(num_to_keep=1)
        ),
    ).fit()
    slowest = [max(times) for times in zip(*program.noted(folder, "times_*"), strict=True)]
    return slowest, [grown for rank in program.noted(folder, "grown_*") for grown in rank]


def peers_times(folder, megabytes, url, client):
    """Seconds of pyarrow's and of boto3's upload of as many files of that size, several times."""
    from pyarrow import fs

    source = folder / "source"
    source.mkdir()
    for rank in range(program.WORKERS):
        program.write_file(source / f"model_{rank}.bin", megabytes)
    s3, _ = fs.FileSystem.from_uri(url)
    times = {"pyarrow": [], "boto3": []}
    for turn in range(ROUNDS):
        started = time.perf_counter()
        fs.copy_files(str(source), f"runs/pyarrow_{turn}", fs.LocalFileSystem(), s3)
        times["pyarrow"].append(time.perf_counter() - started)
        s3.delete_dir(f"runs/pyarrow_{turn}")
        started = time.perf_counter()
        with ThreadPoolExecutor() as pool:
            list(pool.map(lambda file: client.upload_file(str(file), "runs", f"boto3/{file.name}"), source.iterdir()))
        times["boto3"].append(time.perf_counter() - started)
        s3.delete_dir("runs/boto3")
    return times


def main(megabytes):
    with serve() as (client, url):
        report, grown = report_times(program.folder(), megabytes, url)
        peers = peers_times(program.folder(), megabytes, url, client)
    report_s, pyarrow_s, boto3_s = (statistics.median(times) for times in (report, peers["pyarrow"], peers["boto3"]))
    program.finish(
        report_s=report_s,
        pyarrow_s=pyarrow_s,
        boto3_s=boto3_s,
        to_pyarrow=report_s / pyarrow_s,
        to_boto3=report_s / boto3_s,
        grown_mib=max(grown),
    )


if __name__ == "__main__":
    main(int(sys.argv[1]))
