"""The dashboard of a driver, as a browser and a program see it."""

import json
import os
import subprocess
import urllib.error
import urllib.request
from pathlib import Path

import headway
import pytest
from headway import train


def ask(path, url=None, **headers):
    """Status, headers and text of an answer."""
    address, _, token = (url or headway.dashboard_url()).partition("?token=")
    request = urllib.request.Request(address + path, headers={"Authorization": f"Bearer {token}", **headers})
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, answer.headers, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read().decode()


def ask_json(path):
    return json.loads(ask(path)[2])


@pytest.fixture
def shown():
    """A driver with a dashboard."""
    headway.shutdown()
    headway.init(num_cpus=2, dashboard=True)
    yield
    headway.shutdown()
    assert headway.dashboard_url() is None


def test_a_run_is_seen_in_the_browser(shown, fit):
    def loop():
        train.report({"loss": 0.5, "name": "</script>"})

    result = fit(loop)
    while not (runs := ask_json("api/state")["runs"]) or runs[-1]["state"] != "finished":
        pass
    assert runs[-1]["path"] == result.path
    assert runs[-1]["verdict"] == {"words": "finished after 1 report", "level": "done", "since_s": None}
    assert runs[-1]["last"] == {"loss": 0.5, "name": "</script>"}
    view = ask_json(f"api/runs/{runs[-1]['id']}")["view"]
    assert view["reports"]["count"] == 1
    assert ask_json("api/runs/99") == {"error": "there is no run 99"}
    use = ask_json("api/state")["nodes"][0]["use"]
    assert 0 < use["memory_bytes"] < use["memory_total_bytes"]
    status, headers, page = ask("")
    assert (status, headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert "</html>" in page


def test_nobody_sees_it_without_the_token(shown):
    address = headway.dashboard_url().partition("?")[0]
    for path in ("", "api/state", "?token=0"):
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(address + path)
    assert ask("api/state", Host="evil.example")[0] == 421
    assert ask("api/state", Origin="http://evil.example")[0] == 403


def test_the_environment_asks_for_one(monkeypatch, fit):
    headway.shutdown()
    monkeypatch.setenv("HEADWAY_DASHBOARD", "1")
    try:
        headway.init(num_cpus=1)
        assert headway.dashboard_url().startswith("http://127.0.0.1:")
    finally:
        headway.shutdown()
    headway.init(num_cpus=1, dashboard=False)
    assert headway.dashboard_url() is None
    headway.shutdown()
    monkeypatch.setenv("HEADWAY_DASHBOARD", "yes")
    with pytest.raises(ValueError, match="HEADWAY_DASHBOARD in the environment is 'yes'; allowed: 1"):
        headway.init()


@pytest.mark.parametrize("asks", ["environment", "option"])
def test_a_cpp_program_shows_its_runs(tmp_path, asks):
    command = [Path(__file__).parents[2] / "build/tests/library_test_nodes", "show", tmp_path]
    variable = "1"
    if asks == "option":
        command.append("1")
        variable = "0"
    environment = {**os.environ, "HEADWAY_DASHBOARD": variable}
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as program:
        said = []
        for line in program.stdout:
            said.append(line)
            if line.startswith("PAGE "):
                break
        url = said[-1].split()[1]
        assert f"headway: dashboard: {url}\n" in said
        assert "</html>" in ask("", url=url)[2]
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(url.partition("?")[0] + "api/state")
        while not (runs := json.loads(ask("api/state", url=url)[2])["runs"]) or runs[-1]["state"] != "finished":
            pass
        assert (runs[-1]["name"], runs[-1]["reports"], runs[-1]["last"]) == ("run", 1, {"size": 1})
        program.stdin.close()
        assert program.wait() == 0


@pytest.mark.parametrize("dashboard", [80, -1, 70000])
def test_a_bad_port_starts_nothing(dashboard):
    headway.shutdown()
    with pytest.raises(ValueError, match=f"dashboard is '{dashboard}'; allowed: 1 .any free port., 0 .none. or a port"):
        headway.init(dashboard=dashboard)
    with pytest.raises(TypeError, match=r"dashboard is .on. .str.; allowed: None, True"):
        headway.init(dashboard="on")
    assert not headway.is_initialized()
