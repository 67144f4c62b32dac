"""A real S3 server process (moto), and scripts that use it."""

import contextlib
import os
import re
import subprocess
import sys
import textwrap

CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": "key",
    "AWS_SECRET_ACCESS_KEY": "secret",
    "AWS_EC2_METADATA_DISABLED": "true",
}


class ObjectStore:
    """The server: ``query`` is what a URL needs to reach it, ``url("runs")`` such a URL."""

    def __init__(self, port, server):
        self.port = port
        self.server = server
        self.query = f"endpoint_override=127.0.0.1:{port}&scheme=http&region=us-east-1"

    def url(self, path):
        return f"s3://{path}?{self.query}"

    def filesystem(self, **options):
        """The store as a pyarrow filesystem of this process."""
        from pyarrow import fs

        return fs.S3FileSystem(
            access_key="key",
            secret_key="secret",
            endpoint_override=f"http://127.0.0.1:{self.port}",
            region="us-east-1",
            **options,
        )

    def objects(self, path):
        """The names of all objects below a path, sorted."""
        from pyarrow import fs

        found = self.filesystem().get_file_info(fs.FileSelector(path, recursive=True, allow_not_found=True))
        return sorted(info.path[len(path) + 1 :] for info in found if info.type == fs.FileType.File)


@contextlib.contextmanager
def serve(**env):
    """A server with the bucket ``runs``, for as long as the context lasts."""
    server = subprocess.Popen(
        [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", "0"],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **env},
    )
    try:
        port = next(
            match[1] for line in server.stderr if (match := re.search(r"Running on http://127.0.0.1:(\d+)", line))
        )
        # Its log of requests must not fill the pipe.
        drain = subprocess.Popen(["cat"], stdin=server.stderr, stdout=subprocess.DEVNULL)
        store = ObjectStore(int(port), server)
        store.filesystem(allow_bucket_creation=True).create_dir("runs")
        yield store
    finally:
        server.terminate()
        server.wait(timeout=30)
        drain.wait(timeout=30)


def run(script, limit_s=110, expect=0, **env):
    """Runs a script with S3 credentials, to its end; its output."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)],
        env={**os.environ, **CREDENTIALS, **env},
        capture_output=True,
        text=True,
        timeout=limit_s,
    )
    assert done.returncode == expect, done.stdout + done.stderr
    return done.stdout
