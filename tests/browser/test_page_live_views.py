"""Every view while the run or the experiment is at work."""

import os
import re

import pytest
import sites
from pages import canvas_is_drawn
from playwright.sync_api import expect

VERDICT = ".verdict .words"
SLOWLY_MS = 20_000


class AtWork(sites.Site):
    def __init__(self, folder, what):
        self.folder = folder
        os.mkfifo(folder / "pipe")
        self.pipe = os.open(folder / "pipe", os.O_RDWR)
        super().__init__(str(sites.HERE / "live_views.py"), str(folder), str(folder / "pipe"), what)

    def go_on(self):
        """For all that stand still, or will."""
        os.write(self.pipe, b"x" * 8)

    def close(self):
        super().close()
        os.close(self.pipe)


@pytest.fixture
def at_work(request, tmp_path):
    serving = AtWork(tmp_path, request.param)
    yield serving
    serving.close()


def part(page, name):
    page.get_by_role("navigation", name="Parts").get_by_role("link", name=name).click()


@pytest.mark.parametrize("at_work", ["run"], indirect=True)
def test_each_view_of_a_run_that_was_restarted_and_stands_still(at_work, window):
    page = window.open(at_work)
    page.get_by_role("table", name="Runs").get_by_role("link", name="views").click()
    expect(page.locator(VERDICT)).to_contain_text("rank 1 has not come to report #", timeout=SLOWLY_MS)
    why = page.get_by_role("list", name="Why")
    expect(why).to_contain_text("Restarted once: rank 1")
    expect(why).to_contain_text("resumed from checkpoint_000001, the work of 4 reports was lost")
    expect(page.locator(".attempts li")).to_have_count(2)
    expect(page.locator(".attempts li").nth(1)).to_contain_text("Under way")
    expect(page.get_by_role("table", name="Ranks").get_by_role("row").nth(1)).to_contain_text("awaited")
    expect(page.get_by_role("heading", name="Warnings")).to_be_visible(timeout=SLOWLY_MS)
    part(page, "Metrics")
    loss = page.get_by_label(re.compile("^Chart of loss"))
    expect(loss).to_have_attribute("aria-label", re.compile("1 restart"))
    canvas_is_drawn(page, "figure.chart canvas")
    part(page, "Steps")
    expect(page.get_by_label(re.compile("Step times of 2 ranks"))).to_be_visible()
    canvas_is_drawn(page, "figure:has(.legend) canvas")
    part(page, "Checkpoints")
    rows = page.get_by_role("table", name="Checkpoints").get_by_role("row")
    expect(rows).to_have_count(5)
    expect(rows.nth(1)).to_contain_text("checkpoint_000003")
    part(page, "Data")
    expect(page.get_by_text("Nothing is known of data sets yet.")).to_be_visible()
    part(page, "Logs")
    expect(page.locator("pre.log")).to_contain_text("step 20")
    part(page, "Stacks")
    expect(page.locator("details.stack").first).to_contain_text("stands_still (", timeout=SLOWLY_MS)
    part(page, "Data")
    at_work.go_on()
    expect(page.locator(VERDICT)).to_contain_text("Finished after 28 reports, with 1 restart", timeout=SLOWLY_MS)
    expect(page.get_by_role("row", name="train range")).to_contain_text("1\u202f000", timeout=SLOWLY_MS)


@pytest.mark.parametrize("at_work", ["run"], indirect=True)
def test_another_process_shows_a_run_at_work_by_its_folder(at_work, window):
    page = window.open(at_work)
    page.get_by_role("table", name="Runs").get_by_role("link", name="views").click()
    expect(page.locator(VERDICT)).to_contain_text("rank 1 has not come to report #", timeout=SLOWLY_MS)
    site = sites.of_folder(at_work.folder / "views")
    try:
        page = window.open(site, "#/run/views")
        expect(page.locator(".connection")).to_contain_text("read from files")
        expect(page.locator(VERDICT)).to_contain_text("rank 1 has not come to report #")
        expect(page.get_by_role("table", name="Ranks").get_by_role("row")).to_have_count(3)
        at_work.go_on()
        expect(page.locator(VERDICT)).to_contain_text("Finished after 28 reports", timeout=SLOWLY_MS)
        page.close()
    finally:
        site.close()


@pytest.mark.parametrize("at_work", ["experiment"], indirect=True)
def test_each_view_of_an_experiment_at_work(at_work, window):
    page = window.open(at_work)
    page.get_by_role("table", name="Experiments").get_by_role("link", name="views").click(timeout=SLOWLY_MS)
    expect(page.locator(".readout")).to_contain_text("best so far", timeout=SLOWLY_MS)
    part(page, "Trials")
    rows = page.locator("table.trials tbody tr[data-key=row]")
    expect(rows).to_have_count(4)
    expect(rows.first).to_contain_text("running")
    part(page, "Parallel coordinates")
    canvas_is_drawn(page, "canvas.brushes")
    part(page, "Curves")
    expect(page.get_by_label(re.compile("4 curves of value"))).to_be_visible()
    canvas_is_drawn(page, "figure canvas")
    part(page, "Time line")
    canvas_is_drawn(page, "figure canvas")
    expect(page.get_by_text(re.compile("4 places, with a trial for"))).to_be_visible()
    part(page, "Importances")
    expect(page.get_by_text(re.compile("10 trials with a value are needed"))).to_be_visible()
    part(page, "Lineage")
    expect(page.get_by_role("table", name="Takeovers").get_by_role("row").nth(1)).to_contain_text(
        "rate", timeout=SLOWLY_MS
    )
    canvas_is_drawn(page, "figure canvas")
    at_work.go_on()
    expect(page.locator(VERDICT)).to_contain_text("4 of 4 trials ended", timeout=SLOWLY_MS)
