"""A run of a million reports, and an experiment of a hundred thousand trials.

Limits are those of a quick machine, times how slow this one is: how long it draws a fixed picture.
"""

import re
import subprocess
import sys
import time

import pytest
import sites
from playwright.sync_api import expect

TRIALS = 100_000
REPORTS = 1_000_000
FIRST_PAINT_S = 1.0
FRAMES_PER_S = 30
HEAP_BYTES_MAX = 300e6

# A fixed piece of work for the browser, and how long a quick machine takes for it.
WORK = """() => {
  const begin = performance.now();
  const table = document.createElement("table");
  for (let row = 0; row < 2000; row += 1) table.insertRow().insertCell().textContent = String(Math.sin(row));
  document.body.append(table);
  void table.offsetHeight;
  table.remove();
  return performance.now() - begin;
}"""
WORK_QUICK_MS = 12.0

SCROLL = """async (frames) => {
  const scroller = document.querySelector(".rows");
  const paint = () => new Promise((resolve) => requestAnimationFrame(resolve));
  await paint();
  const begin = performance.now();
  for (let frame = 0; frame < frames; frame += 1) {
    scroller.scrollTop += frame % 20 === 19 ? 200000 : 97;
    await paint();
  }
  return frames / ((performance.now() - begin) / 1000);
}"""


@pytest.fixture(scope="module")
def large(recorded, tmp_path_factory):
    folder = tmp_path_factory.mktemp("large") / "results"
    program = str(sites.HERE / "large_runs.py")
    subprocess.run([sys.executable, program, str(folder), str(recorded), str(REPORTS), str(TRIALS)], check=True)
    serving = sites.of_folder(folder)
    yield serving
    serving.close()


def slowness(page):
    """How many times slower this machine is now than a quick one; at least 1."""
    page.evaluate(WORK)
    return max(1.0, min(page.evaluate(WORK) for _ in range(5)) / WORK_QUICK_MS)


def heap_bytes(page):
    session = page.context.new_cdp_session(page)
    session.send("HeapProfiler.collectGarbage")
    session.send("Performance.enable")
    metrics = session.send("Performance.getMetrics")
    return {of["name"]: of["value"] for of in metrics["metrics"]}["JSHeapUsedSize"]


def test_a_hundred_thousand_trials_are_there_at_once_and_scroll_smoothly(window, large):
    page = window.open(large)
    expect(page.get_by_role("link", name="wide")).to_be_visible()
    slow = slowness(page)
    began = time.monotonic()
    page.goto(f"{large.url}#/experiment/wide/trials")
    page.reload()
    rows = page.locator("table.trials tbody tr[data-key=row]")
    rows.first.wait_for()
    assert time.monotonic() - began < FIRST_PAINT_S * slow
    expect(page.locator("table.trials")).to_have_attribute("aria-rowcount", str(TRIALS + 1))
    assert page.evaluate(SCROLL, 120) > FRAMES_PER_S / slow
    assert rows.count() < 100
    page.locator(".rows").evaluate("of => { of.scrollTop = of.scrollHeight; }")
    expect(rows.last).to_have_attribute("aria-rowindex", str(TRIALS + 1))
    assert heap_bytes(page) < HEAP_BYTES_MAX


def test_a_million_points_are_there_at_once(window, large):
    page = window.open(large, "#/run/million/metrics")
    loss = page.get_by_label(re.compile("^Chart of loss. million: last"))
    loss.wait_for()  # The server reads the million lines when they are first asked for.
    slow = slowness(page)
    began = time.monotonic()
    page.reload()
    loss.locator("canvas").wait_for()
    loss.wait_for()
    assert time.monotonic() - began < FIRST_PAINT_S * slow
    assert page.locator("figure.chart *").count() < 400  # Canvases, and no element for each point.
    assert heap_bytes(page) < HEAP_BYTES_MAX


def test_two_thousand_lines_of_a_hundred_thousand_are_drawn_with_a_notice(window, large):
    page = window.open(large, "#/experiment/wide/parallel")
    expect(page.get_by_text("2\u202f000 of 100\u202f000 trials are drawn")).to_be_visible(timeout=20000)
