"""Remote storage that cannot be used is reported before workers start: Google's, and paths that
nobody would find again.
"""

import json
import os
import subprocess
import sys

import object_store
import pytest

REFUSED = """
import json
from headway import train
try:
    train.DataParallelTrainer(print, run_config=train.RunConfig(storage_path={path!r})).fit()
except Exception as error:
    print(json.dumps([type(error).__name__, str(error)]))
"""


def refused(path, **env):
    return json.loads(object_store.run(REFUSED.format(path=path), **env).splitlines()[-1])


def test_google_s_storage_that_is_away_is_told_within_a_minute():
    """Its library alone would try for a quarter of an hour."""
    path = "gs://anonymous@runs/x?endpoint_override=127.0.0.1:9&scheme=http"
    kind, message = refused(path, HEADWAY_STORAGE_ATTEMPTS="1", limit_s=60)
    assert kind == "OSError"
    assert "RunConfig.storage_path: the run's folder gs://runs/x" in message
    assert "Could not connect" in message


def test_a_url_that_ends_before_the_runs_name_is_refused():
    """What stands behind a ``#`` is no part of the path: all runs would share one folder."""
    kind, message = refused("s3://runs/try#1")
    assert kind == "ValueError"
    assert message.startswith("RunConfig.storage_path: cannot use s3://runs/try#1/")
    assert message.endswith("allowed: a URL without '#', which would end its path (in a path it is %23)")


@pytest.mark.parametrize("path", ["runs/./here", "runs/sub/../here"])
def test_a_path_that_an_object_store_and_its_client_read_differently_is_refused(path):
    """A client would write to ``runs/here``, and the store would find nothing below
    ``runs/sub/..``.
    """
    with object_store.serve() as store:
        kind, message = refused(store.url(path))
    assert kind == "ValueError"
    assert f"cannot use s3://{path}/" in message
    assert "allowed: a path without '.' and '..' between its slashes" in message


@pytest.mark.parametrize("command", ["ls", "verify"])
def test_a_bucket_that_is_missing_is_named(command):
    def said_of(location):
        done = subprocess.run(
            [sys.executable, "-m", "headway", "checkpoint", command, location],
            env={**os.environ, **object_store.CREDENTIALS},
            capture_output=True,
            text=True,
            timeout=100,
        )
        assert (done.returncode, done.stdout) == (2, ""), done.stderr
        return done.stderr

    with object_store.serve() as store:
        assert said_of(store.url("nobucket/x")).endswith("cannot be read: there is no bucket s3://nobucket\n")
        assert "is neither a checkpoint of Headway's" in said_of(store.url("runs/x"))
