"""Run folders whose small files are damaged: commands and ``Result.from_path`` name the file, and
the other runs are listed as usual.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest
from headway import train

pytestmark = pytest.mark.skipif(
    os.environ.get("HEADWAY_WORKER_START") == "exec", reason="the same code either way; once is enough"
)

JOURNALS = {
    "empty": b"",
    "half": b'{"version": 2, "state": "runn',
    "object": b"{}",
    "list": b"[1]",
    "bytes": b"\x00\xff\x01",
    "version": b'{"version": "x", "state": "running", "spec": {}}',
    "deep": b"[" * 100_000,
}


def headway(*arguments, storage):
    command = [sys.executable, "-m", "headway", *map(str, arguments)]
    environment = {**os.environ, "HEADWAY_STORAGE": storage}
    return subprocess.run(command, capture_output=True, text=True, timeout=100, check=False, env=environment)


def loop():
    train.report({"loss": 1})


@pytest.fixture
def good(fit, storage):
    fit(loop, name="good")
    return pathlib.Path(storage, "good")


def beside(good, name):
    return pathlib.Path(shutil.copytree(good, good.parent / name))


def test_ls_lists_the_good_runs_beside_damaged_ones(good, storage):
    for name, content in JOURNALS.items():
        beside(good, name).joinpath("run.json").write_bytes(content)
    folder = beside(good, "folder") / "run.json"
    folder.unlink()
    folder.mkdir()
    done = headway("ls", storage=storage)
    assert (done.returncode, done.stderr) == (1, "")
    rows = [line.split() for line in done.stdout.splitlines()]
    assert [row[1] for row in rows if row[0] == "good"] == ["finished"]
    for name in (*JOURNALS, "folder"):
        assert [name, "damaged"] in rows
        assert f"damaged: {storage}/{name}/run.json is" in done.stdout


@pytest.mark.parametrize("name", JOURNALS)
def test_a_damaged_journal_is_named(good, storage, name):
    run = beside(good, name)
    run.joinpath("run.json").write_bytes(JOURNALS[name])
    with pytest.raises(OSError, match=f"^{run}/run.json is not the journal of a run: "):
        train.Result.from_path(run)
    done = headway("status", name, storage=storage)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith(f"headway: {run}/run.json is not the journal of a run: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "content", ['{"taken_unix_s": 9e99}', "[" * 100_000, '{"host": "x", "owner": "", "driver": 3}']
)
def test_a_damaged_status_is_named(good, storage, content):
    journal = json.loads(good.joinpath("run.json").read_text())
    good.joinpath("run.json").write_text(json.dumps({**journal, "state": "running"}))
    good.joinpath("status.json").write_text(content)
    for command in ("status", "logs", "stack", "profile"):
        done = headway(command, "good", storage=storage)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr.startswith(f"headway: {good}/status.json is damaged: ")


@pytest.mark.parametrize("line", ["not json", "[1]", "[" * 100_000])
def test_a_damaged_report_is_named_and_costs_the_metrics_alone(good, storage, line):
    good.joinpath("result.json").write_text(line + "\n")
    words = f"{good}/result.json is damaged: a line that begins with {line[:40]!r} is no report: "
    with pytest.raises(OSError, match="is damaged: a line that begins with"):
        train.Result.from_path(good)
    done = headway("ls", storage=storage)
    assert (done.returncode, done.stderr) == (1, "")
    assert "good  finished" in done.stdout
    assert f"damaged: {words}" in done.stdout
