"""Storage beside moto's S3: a second S3 server, one that speaks as Google Cloud Storage, and
Hadoop's client library as a stand-in. ``scripts/storage_servers.sh`` installs the servers, each of
which runs in a separate process.
"""

import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
S3RVER = ROOT / ".venv/s3rver/node_modules/.bin/s3rver"

# The emulator has no option that says which port it took.
GCS = """
import sys, threading
from gcp_storage_emulator.server import create_server

server = create_server("127.0.0.1", 0, in_memory=True, default_bucket="runs")
server.start()
print("port", server._api._httpd.server_port, flush=True)
sys.stdin.read()
server.stop()
"""


class Storage:
    """``url("runs/x")`` leads there, for a process that has ``env`` in its environment;
    ``base`` is what paths begin with.
    """

    def __init__(self, root, query="", base="runs", **env):
        self._root = root
        self._query = query
        self.base = base
        self.env = env

    def url(self, path=""):
        return self._root + (f"/{path}" if path else "") + self._query


@contextlib.contextmanager
def _port_of(command, pattern, **env):
    """Starts a server, and waits for the line that says its port."""
    server = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, **env},
    )
    try:
        found = next((match[1] for line in server.stdout if (match := re.search(pattern, line))), None)
        assert found, f"{command[0]} ended before it listened"
        drain = subprocess.Popen(["cat"], stdin=server.stdout, stdout=subprocess.DEVNULL)
        yield int(found)
    finally:
        server.terminate()
        server.wait(timeout=30)
    drain.wait(timeout=30)


@contextlib.contextmanager
def gs():
    """gcp-storage-emulator, with the bucket ``runs``."""
    pytest.importorskip("gcp_storage_emulator", reason="scripts/storage_servers.sh installs gcp-storage-emulator")
    with _port_of([sys.executable, "-c", GCS], r"^port (\d+)") as port:
        yield Storage("gs://anonymous@runs", f"?scheme=http&endpoint_override=127.0.0.1%3A{port}")


@contextlib.contextmanager
def s3rver():
    """The S3 server s3rver (Node.js), with the bucket ``runs``."""
    if not S3RVER.exists() or not shutil.which("node"):
        pytest.skip("scripts/storage_servers.sh installs s3rver, where there is npm")
    with tempfile.TemporaryDirectory() as directory:
        command = [S3RVER, "-d", directory, "-a", "127.0.0.1", "-p", "0", "--configure-bucket", "runs"]
        # It signs where a listing continues by a cipher that OpenSSL 3 counts as old.
        with _port_of(command, r"listening on \S+:(\d+)", NODE_OPTIONS="--openssl-legacy-provider") as port:
            yield Storage(
                "s3://runs",
                f"?scheme=http&endpoint_override=127.0.0.1:{port}&region=us-east-1",
                AWS_ACCESS_KEY_ID="S3RVER",
                AWS_SECRET_ACCESS_KEY="S3RVER",
                # It stores the chunks with their checksums otherwise.
                AWS_REQUEST_CHECKSUM_CALCULATION="when_required",
            )


@contextlib.contextmanager
def hdfs():
    """No HDFS but a stand-in for its client library: libhdfs_stand_in.c, compiled here, over a
    local folder.
    """
    with tempfile.TemporaryDirectory() as directory:
        at = Path(directory)
        (at / "lib/server").mkdir(parents=True)
        (at / "root/runs").mkdir(parents=True)
        compiler = [os.environ.get("CC", "gcc"), "-shared", "-fPIC", "-O1", "-Wall", "-Wextra", "-Werror"]
        source = Path(__file__).with_name("libhdfs_stand_in.c")
        subprocess.run([*compiler, "-o", at / "libhdfs.so", source], check=True)
        # Arrow loads Java first; nothing calls it.
        subprocess.run([*compiler, "-o", at / "lib/server/libjvm.so", "-x", "c", os.devnull], check=True)
        yield Storage(
            "hdfs://namenode:9000/runs",
            base="/runs",
            ARROW_LIBHDFS_DIR=str(at),
            JAVA_HOME=str(at),
            HEADWAY_HDFS_STAND_IN=str(at / "root"),
        )


SERVERS = {"gs": gs, "s3rver": s3rver, "hdfs": hdfs}
