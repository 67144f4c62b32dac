"""Experiments from the command line, and as a picture."""

import csv
import io
import json
import xml.etree.ElementTree

import pytest
from headway import train, tune
from headway._command.main import main


def trial(config):
    if config["x"] == 3:
        raise LookupError("no such page")
    for step in range(3):
        tune.report({"loss": (config["x"] - 1) ** 2 + 1 / (step + 1)})


@pytest.fixture
def grid(tmp_path):
    return tune.Tuner(
        trial,
        param_space={"x": tune.grid_search([0, 1, 3]), "kind": tune.choice(["a"]), "api_key": "sk-1"},
        tune_config=tune.TuneConfig("loss", "min"),
        run_config=train.RunConfig(name="sweep", storage_path=tmp_path, verbose=0),
    ).fit()


@pytest.fixture
def headway(capfd):
    def run(*arguments, code=0):
        capfd.readouterr()
        assert main(["tune", *map(str, arguments)]) == code
        output = capfd.readouterr()
        return output.err if code else output.out

    return run


def test_experiments_on_the_command_line(grid, headway, tmp_path):
    path = grid.experiment_path
    assert headway("ls", tmp_path).splitlines()[1].split()[:4] == ["sweep", "3", "3", "1"]
    shown = headway("show", path)
    assert shown.startswith("sweep: 3 trials (2 terminated, 1 errored)")
    assert shown.splitlines()[2].split()[1:4] == ["terminated", "3", "0.333333"]
    assert "LookupError: no such page" in shown
    best = json.loads(headway("best", path, "--json"))
    assert (best["config"]["x"], best["reports"], best["checkpoint"]) == (1, 3, None)
    assert "loss=1.33333 after 3 reports" in headway("best", path, "--mode", "max")
    rows = list(csv.DictReader(io.StringIO(headway("export", path))))
    assert [row["config/x"] for row in rows] == ["0", "1", "3"]
    assert float(rows[1]["loss"]) == pytest.approx(1 / 3)
    headway("export", path, "--format", "json", "-o", tmp_path / "all.json")
    assert [row["state"] for row in json.loads((tmp_path / "all.json").read_text())] == ["terminated"] * 2 + ["errored"]
    assert "there is no experiment in" in headway("show", tmp_path / "nothing", code=2)
    assert "which no trial has reported as a number; there are" in headway("best", path, "--metric", "los", code=2)
    assert headway("ls", tmp_path / "nothing").startswith("no experiments in")


def test_a_picture_of_an_experiment(grid, tmp_path):
    file = grid.plot(tmp_path / "sweep.svg")
    picture = xml.etree.ElementTree.parse(file).getroot()
    texts = [each.text for each in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert {"trial", "iteration", "x", "loss"} <= set(texts)
    # Three frames; the best so far, two axes and two configurations, two trials and the best one.
    assert len(list(picture.iter("{http://www.w3.org/2000/svg}polyline"))) == 3 + 1 + 4 + 3
    shown = grid._repr_html_()
    assert "<tr><th>trials</th>" in shown
    assert "<tr><th>best trial</th>" in shown
    assert shown.count("<iframe srcdoc=") == 1
    assert "x=1, kind=a, api_key=***" in shown
    assert grid.plot()._repr_svg_() == tmp_path.joinpath("sweep.svg").read_text(), "as a notebook shows it"
    with pytest.raises(ValueError, match=r"path is '.*\.gif'; allowed: a file that ends with \.svg or \.png"):
        grid.plot(tmp_path / "sweep.gif")
    with pytest.raises(RuntimeError, match="No best trial found"):
        grid.plot(tmp_path / "sweep.svg", "los")


def test_a_picture_of_an_experiment_as_png(grid, tmp_path):
    image = pytest.importorskip("PIL.Image").open(grid.plot(tmp_path / "sweep.png"))
    assert image.size == (1520, 2240)
    assert len(image.convert("RGB").getcolors(1 << 20)) > 10


def test_a_picture_of_one_trial(grid, tmp_path):
    picture = xml.etree.ElementTree.parse(grid[0].plot(tmp_path / "one.svg", ["loss"])).getroot()
    assert "loss" in {each.text for each in picture.iter("{http://www.w3.org/2000/svg}text")}
    assert grid[0].plot(metrics="loss").svg == tmp_path.joinpath("one.svg").read_text()
    with pytest.raises(ValueError, match="metrics has 'los'; allowed: loss"):
        grid[0].plot(tmp_path / "one.svg", "los")
