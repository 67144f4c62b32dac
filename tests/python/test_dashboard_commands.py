"""`headway dashboard | top | runs`: runs from their folders, in the browser and in the terminal."""

import contextlib
import json
import os
import re
import signal
import ssl
import subprocess
import sys
import urllib.error
import urllib.request

import object_store
import pytest
from headway import train
from headway._command.main import main

pytestmark = pytest.mark.skipif(
    os.environ.get("HEADWAY_WORKER_START") == "exec", reason="the same code either way; once is enough"
)


def reports():
    print("hello from", train.get_context().get_world_rank(), "token=sk-123456")
    for step in range(3):
        train.report({"loss": 1 / (step + 1)}, train.Checkpoint.from_dict({"step": step}))


@pytest.fixture
def ended(fit, storage, monkeypatch):
    """A run that has finished and kept one of three checkpoints, and one that has failed."""

    def fails():
        raise ValueError("bad batch 17")

    fit(reports, 2, name="good", keep=train.CheckpointConfig(num_to_keep=1))
    with pytest.raises(train.WorkerGroupError):
        fit(fails, name="bad")
    monkeypatch.setenv("HEADWAY_STORAGE", storage)
    return storage


@contextlib.contextmanager
def served(*arguments):
    """``headway dashboard`` in another process; yields a function that asks for a path."""
    command = [sys.executable, "-m", "headway", "dashboard", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            line = process.stdout.readline()
            assert ": http" in line, line + process.stderr.read()
            address, _, token = line.split()[-1].partition("?token=")
            unverified = ssl.create_default_context()
            unverified.check_hostname = False
            unverified.verify_mode = ssl.CERT_NONE
            if "://127" not in address:
                # By its address rather than a name that this machine may not know.
                address = "https://127.0.0.1:" + address.rsplit(":", 1)[1]

            def ask(path, with_token=True):
                request = urllib.request.Request(
                    address + path, headers={"Authorization": f"Bearer {token}"} if with_token else {}
                )
                with urllib.request.urlopen(request, context=unverified if "https" in address else None) as answer:
                    return answer.read().decode()

            yield ask
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(30)


def test_runs_are_seen_by_their_folders(ended):
    with served() as ask:
        runs = {run["id"]: run for run in json.loads(ask("api/state"))["runs"]}
        assert runs["good"]["verdict"]["words"] == "finished after 3 reports"
        place = r"rank \d \(pid \d+ on .*\), fails\(\) at test_dashboard_commands\.py:\d+"
        assert re.fullmatch(f"failed: ValueError: bad batch 17; {place}", runs["bad"]["verdict"]["words"])
        good = json.loads(ask("api/runs/good"))
        assert [each["end_words"] for each in good["attempts"]] == ["finished"]
        assert good["attempts"][0]["start_s"] <= good["attempts"][0]["end_s"]
        kept = [each["kept"] for each in good["checkpoints"]]
        assert kept == [False, False, True]
        assert all(each["size_bytes"] > 0 and each["seconds"] >= 0 for each in good["checkpoints"])
        assert "num_to_keep" in good["checkpoints"][0]["why_deleted"]
        assert json.loads(ask("api/series?run=good&metric=loss"))["last"] == [1, 1 / 2, 1 / 3]
        text = json.loads(ask("api/runs/good/logs?rank=1"))["text"]
        assert text == "hello from 1 token=***\n"
        bad = json.loads(ask("api/runs/bad"))
        assert "bad batch 17" in bad["last_error"]["text"]
        assert bad["attempts"][0]["end_s"] is not None
        assert 'headway_run_reports_total{run="good",id="good"} 3' in ask("metrics")


def test_one_run_by_its_name(ended):
    with served("good") as ask:
        assert [run["id"] for run in json.loads(ask("api/state"))["runs"]] == ["good"]


def test_a_run_in_s3_is_seen_by_its_url(capsys, monkeypatch):
    for name, value in object_store.CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    with object_store.serve() as store:
        run_config = train.RunConfig(name="far", storage_path=store.url("runs"))
        train.DataParallelTrainer(
            reports, scaling_config=train.ScalingConfig(num_workers=2), run_config=run_config
        ).fit()
        with served(store.url("runs/far")) as ask:
            while not (runs := json.loads(ask("api/state"))["runs"]):
                pass
            assert [(run["id"], run["verdict"]["words"]) for run in runs] == [("far", "finished after 3 reports")]
            assert runs[0]["path"].startswith("s3://runs/far?")
            far = json.loads(ask("api/runs/far"))
            assert [each["name"] for each in far["checkpoints"]] == [f"checkpoint_00000{index}" for index in range(3)]
            assert json.loads(ask("api/series?run=far&metric=loss"))["last"] == [1, 1 / 2, 1 / 3]
            assert json.loads(ask("api/runs/far/logs?rank=1"))["text"] == "hello from 1 token=***\n"
        capsys.readouterr()
        assert main(["top", store.url("runs/far")]) == 0
        assert capsys.readouterr().out.splitlines()[0] == "far: finished after 3 reports"
        assert main(["runs", store.url("runs")]) == 0
        assert "far        3  finished after 3 reports" in capsys.readouterr().out


def test_other_machines_see_it_through_tls_and_with_the_token(ended):
    with served("good", "--host", "0.0.0.0") as ask:
        assert json.loads(ask("api/state"))["mode"] == "files"
        with pytest.raises(urllib.error.HTTPError, match="401"):
            ask("api/state", with_token=False)


def test_runs_for_programs_and_for_people(ended, capsys):
    assert main(["runs", "--json"]) == 0
    runs = {run["name"]: run for run in json.loads(capsys.readouterr().out)}
    assert runs["good"]["verdict"]["level"] == "done"
    assert runs["bad"]["state"] == "failed"
    assert main(["runs"]) == 0
    assert "good        3  finished after 3 reports" in capsys.readouterr().out


def test_a_run_in_the_terminal(ended, capsys):
    assert main(["top", "good"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "good: finished after 3 reports"
    assert lines[2].startswith("attempt 1, 3 reports, ")
    assert lines[3].startswith("last report: loss=0.333")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["dashboard", "nowhere"], "FOLDER is"),
        (["dashboard", "good", "--port", "70000"], "--port is 70000; allowed: 0"),
        (["dashboard", "good", "--host", "no address"], "host is 'no address'; allowed: an address of this machine"),
        (["top", "nowhere"], "RUN is 'nowhere'"),
        (["runs", "nowhere"], "URI is 'nowhere', which is no folder"),
    ],
)
def test_what_is_wrong_is_named(ended, capsys, arguments, words):
    assert main(arguments) == 2
    assert words in capsys.readouterr().err
