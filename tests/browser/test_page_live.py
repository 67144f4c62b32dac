"""A run at work under the page, and a driver that dies under it."""

import re

import pytest
import sites
from playwright.sync_api import expect


@pytest.fixture
def live(tmp_path):
    serving = sites.Live(tmp_path)
    yield serving
    serving.close()


@pytest.fixture
def run(live, window):
    """The page of the run that is at work."""
    page = window.open(live)
    page.get_by_role("table", name="Runs").get_by_role("link").click()
    expect(page.locator(".connection")).to_contain_text("live")
    return page


def fact(page, name):
    return page.locator(".facts div").filter(has=page.get_by_text(name, exact=True)).locator("dd")


def part(page, name):
    page.get_by_role("navigation", name="Parts").get_by_role("link", name=name).click()


def test_the_numbers_follow_a_run(live, run):
    live.report("first")
    expect(fact(run, "Reports")).to_have_text("1")
    live.report("second")
    expect(fact(run, "Reports")).to_have_text("2")
    part(run, "Metrics")
    loss = run.get_by_label(re.compile("^Chart of loss"))
    expect(loss.locator(".readout")).to_contain_text("0.5")
    live.report("third")
    expect(loss.locator(".readout")).to_contain_text("0.333")


def test_nodes_have_their_gpus_as_nvidia_smi_tells(window, tmp_path):
    # There is no GPU here: this program says what that of NVIDIA says of two.
    live = sites.Live(tmp_path, PATH=sites.path_with_gpus(tmp_path))
    try:
        page = window.open(live, "#/nodes")
        gpus = page.locator(".gpu")
        expect(gpus).to_have_count(2, timeout=15000)
        expect(gpus.first).to_contain_text("0 NVIDIA H100 80GB HBM3")
        expect(gpus.first).to_contain_text("37 %")
        expect(gpus.first).to_contain_text("42.9 GB of 85.5 GB")
        page.close()
    finally:
        live.close()


def test_a_node_that_has_joined_has_its_own_figures(live, window, tmp_path):
    page = window.open(live, "#/nodes")
    rows = page.get_by_role("table", name="Nodes").get_by_role("row")
    expect(rows).to_have_count(2)
    live.join("--num-cpus", "4", "--num-gpus", "2", PATH=sites.path_with_gpus(tmp_path))
    expect(rows).to_have_count(3, timeout=15000)
    joined = rows.nth(2)
    expect(joined).to_contain_text("node-1")
    expect(joined).to_contain_text("0 of 4 taken")
    expect(joined.locator(".gpu").first).to_contain_text(re.compile(r"37\s%.*42.9\sGB of 85.5\sGB"), timeout=15000)
    # The CPUs at work, since the look before.
    expect(joined.get_by_role("cell").nth(3).locator(".gauge")).to_be_visible(timeout=15000)
    expect(rows.nth(1)).not_to_contain_text("H100")


def test_a_node_without_gpus_says_so(live, window):
    page = window.open(live, "#/nodes")
    expect(page.get_by_text("No GPU is shown: nvidia-smi is not on the PATH.")).to_be_visible()


def test_the_rank_that_the_others_wait_for_comes_first(live, run):
    first = run.get_by_role("table", name="Ranks").get_by_role("row").nth(1)
    expect(first).to_contain_text("awaited")
    expect(first.get_by_role("rowheader")).to_have_text("1")
    expect(run.locator(".verdict .words")).to_contain_text("rank 1", timeout=15000)


def test_an_update_keeps_what_the_reader_has_opened_and_focused(live, run):
    run.get_by_text("Configuration").click()
    run.locator("details.config summary").focus()
    live.report("first")
    expect(fact(run, "Reports")).to_have_text("1")
    expect(run.get_by_label("Configuration")).to_be_visible()
    expect(run.locator("details.config summary")).to_be_focused()


def test_logs_are_followed(live, run):
    part(run, "Logs")
    run.get_by_role("combobox", name="Rank").select_option("1")
    live.report("the first line")
    expect(run.locator("pre.log")).to_contain_text("the first line")
    live.report("\x1b[31ma line in red\x1b[0m")
    expect(run.locator("pre.log")).to_contain_text("a line in red")
    expect(run.locator("pre.log")).not_to_contain_text("[31m")


def test_nodes_show_what_is_taken(live, run):
    run.get_by_role("navigation", name="Pages").get_by_role("link", name="Nodes").click()
    expect(run.get_by_role("heading", level=1)).to_have_text("1 node")
    expect(run.get_by_role("table", name="Nodes")).to_contain_text("2 of 2 taken")


def test_a_driver_that_dies_is_said_and_its_data_stay(live, run, window):
    live.report("first")
    part(run, "Metrics")
    loss = run.get_by_label(re.compile("^Chart of loss"))
    expect(loss.locator(".readout")).to_contain_text("1")
    window.requests_may_fail = True
    live.die()
    said = re.compile("The driver does not answer since .* You see what it said last.")
    expect(run.locator(".connection")).to_contain_text(said)
    expect(loss.locator(".readout")).to_contain_text("1")
    expect(fact(run, "Reports")).to_have_text("1")
