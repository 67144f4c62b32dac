"""The charts below a notebook's cell, as a saved notebook or nbconvert's page shows them: without
a network.
"""

import json
import os
import re
import subprocess
import sys

from headway import train
from playwright.sync_api import expect
from record_runs import HOSTILE


def opened(browser, tmp_path, shown, complaints):
    page_file = tmp_path / "notebook.html"
    page_file.write_text(f'<!doctype html><meta charset="utf-8"><body>{shown}</body>')
    return opened_file(browser, page_file, complaints)


def opened_file(browser, page_file, complaints):
    context = browser.new_context(viewport={"width": 1040, "height": 900}, offline=True)
    page = context.new_page()
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.append(message.text) if message.type == "error" else None)
    page.on("request", lambda request: complaints.append(request.url) if request.url.startswith("http") else None)
    page.goto(page_file.as_uri())
    return page


def test_a_notebook_shows_the_charts_of_a_run_without_a_network(browser, recorded, tmp_path):
    complaints = []
    shown = train.Result.from_path(recorded / "digits")._repr_html_()
    page = opened(browser, tmp_path, shown, complaints)
    frame = page.frame_locator("iframe")
    expect(frame.locator("figure.chart canvas")).to_have_count(4)
    loss = frame.locator("figure.chart").first
    expect(loss).to_have_attribute(
        "aria-label", re.compile(r"^Chart of loss\. loss: last .* Marks: 1 failure, 1 restart")
    )
    loss.focus()
    page.keyboard.press("Home")
    expect(loss.locator(".readout")).to_contain_text("step 1")
    box = loss.locator(".u-over").bounding_box()
    page.mouse.move(box["x"] + 40, box["y"] + 40)
    page.mouse.down()
    page.mouse.move(box["x"] + 200, box["y"] + 40)
    page.mouse.up()
    loss.focus()
    page.keyboard.press("Home")
    expect(loss.locator(".readout")).not_to_contain_text("step 1 ")
    page.get_by_text("As a picture").click()
    picture = page.locator("details img")
    assert picture.evaluate("image => image.decode().then(() => image.naturalWidth)") == 760
    assert complaints == []


def test_names_in_a_notebooks_charts_are_text(browser, recorded, tmp_path):
    complaints = []
    shown = train.Result.from_path(recorded / HOSTILE)._repr_html_()
    page = opened(browser, tmp_path, shown, complaints)
    expect(page.frame_locator("iframe").locator("figure.chart canvas").first).to_be_visible()
    assert page.evaluate("window.hacked") is None
    assert page.frames[1].evaluate("window.hacked") is None
    assert complaints == []


CELL = """
from headway import train

def loop():
    for step in range(1, 31):
        train.report({"loss": 1 / step, "accuracy": 1 - 1 / step})

scaling = train.ScalingConfig(num_workers=2)
train.DataParallelTrainer(loop, scaling_config=scaling, run_config=train.RunConfig(name="of a notebook")).fit()
"""


def test_nbconvert_executes_a_notebook_and_its_page_has_the_charts(browser, tmp_path):
    cell = {"cell_type": "code", "id": "a", "metadata": {}, "outputs": [], "execution_count": None, "source": CELL}
    kernel = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
    notebook = {"cells": [cell], "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "training.ipynb").write_text(json.dumps(notebook))
    command = [sys.executable, "-m", "jupyter", "nbconvert", "--execute", "--to", "html", "training.ipynb"]
    converted = subprocess.run(
        command,
        cwd=tmp_path,
        env=os.environ | {"HEADWAY_STORAGE": str(tmp_path / "storage")},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert converted.returncode == 0, converted.stdout
    complaints = []
    page = opened_file(browser, tmp_path / "training.html", complaints)
    frame = page.frame_locator("iframe")
    expect(frame.locator("figure.chart canvas")).to_have_count(2)
    expect(frame.locator("figure.chart").first).to_have_attribute(
        "aria-label", re.compile(r"^Chart of loss\. loss: last 0\.033")
    )
    expect(page.get_by_text("of a notebook").first).to_be_visible()
