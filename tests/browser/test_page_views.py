"""Every view, of runs that finished, failed, hung and were slow, and of an experiment."""

import re
import shutil
import subprocess
import sys

import pytest
import sites
from playwright.sync_api import expect

VERDICT = ".verdict .words"


def canvas_is_drawn(page, selector):
    """Whether a canvas has pixels of more than one colour."""
    return page.wait_for_function(
        """(selector) => {
            const canvas = document.querySelector(selector);
            if (!canvas?.width) return false;
            const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
            return new Set(new Uint32Array(data.buffer)).size > 3;
        }""",
        arg=selector,
    )


def parts(page):
    return page.get_by_role("navigation", name="Parts")


def test_the_first_view_says_what_became_of_each_run(window, site):
    page = window.open(site)
    expect(page.locator(VERDICT)).to_contain_text("2 in trouble")
    row = page.get_by_role("row", name="bad-batch")
    expect(row).to_contain_text("bad batch: targets has 3 classes, the model 2")
    expect(page.get_by_role("row", name="sweep")).to_contain_text("40")
    slow = page.get_by_role("row", name="vision-large")
    expect(slow).to_contain_text("Finished after 400 reports")
    expect(slow).to_contain_text("Slow: rank 5 on node-b took ")
    expect(slow.get_by_role("cell").nth(3)).to_have_text("8")
    expect(page.get_by_role("row", name="language-model")).to_contain_text("Rank 1 stood still in hangs() at ")
    row.get_by_role("link").click()
    expect(page).to_have_url(re.compile(r"#/run/bad-batch$"))
    expect(page).to_have_title("bad-batch · Headway")


def test_a_run_that_failed_shows_the_users_error_first(window, site):
    page = window.open(site, "#/run/bad-batch")
    expect(page.locator(VERDICT)).to_contain_text("Failed: ")
    expect(page.locator(VERDICT)).to_contain_text("bad batch: targets has 3 classes")
    expect(page.locator(".failure details[data-key] pre").first).to_contain_text('raise ValueError("bad batch')
    expect(page.locator(".attempts")).to_contain_text("bad batch")
    page.get_by_role("link", name="Read the logs").click()
    expect(page.get_by_role("combobox", name="Rank")).to_have_value("1")
    expect(page.locator("pre.log")).to_contain_text("step 30")


def test_a_run_that_hung_names_the_rank_and_shows_its_stack(window, site):
    page = window.open(site, "#/run/language-model")
    expect(page.locator(VERDICT)).to_contain_text("rank 1")
    parts(page).get_by_role("link", name="Stacks").click()
    stack = page.locator("details.stack").first
    expect(stack).to_contain_text("Rank 1")
    expect(stack.locator("pre")).to_contain_text("hangs")
    parts(page).get_by_role("link", name="Overview").click()
    expect(page.get_by_role("heading", name="Warnings")).to_be_visible()


def test_a_slow_run_names_its_straggler(window, site):
    page = window.open(site, "#/run/vision-large/steps")
    expect(page.locator(".notice")).to_contain_text(re.compile("[Rr]ank 5 on node-b"))
    expect(page.get_by_label(re.compile("Step times of 8 ranks"))).to_be_visible()
    for part in ("forward", "backward", "other", "communication", "data"):
        expect(page.locator(".sums")).to_contain_text(re.compile(rf"{part} \d[.\d]* %"))
    canvas_is_drawn(page, "figure:has(.legend) canvas")
    canvas_is_drawn(page, ".sums + canvas")
    page.get_by_label(re.compile("Step times")).focus()
    for _ in range(5):
        page.keyboard.press("ArrowDown")
    expect(page.locator(".readout").first).to_contain_text("rank 5 on node-b")


def test_a_finished_run_shows_each_attempt_and_why_it_ended(window, site):
    page = window.open(site, "#/run/digits")
    expect(page.locator(VERDICT)).to_contain_text("Finished after 250 reports")
    attempts = page.locator(".attempts li")
    expect(attempts).to_have_count(2)
    expect(attempts.nth(0)).to_contain_text("SIGKILL")
    expect(attempts.nth(1)).to_contain_text(re.compile("from checkpoint_00000[0-9]"))
    shares = page.locator(".time-line .bar").evaluate_all("bars => bars.map(bar => parseFloat(bar.style.width))")
    assert len(shares) == 2
    assert 90 < sum(shares) <= 100.1
    page.get_by_text("Configuration").click()
    expect(page.get_by_label("Configuration")).to_contain_text('"batch_size": 64')


def test_checkpoints_say_whether_they_are_kept_and_why_not(window, site):
    page = window.open(site, "#/run/digits/checkpoints")
    rows = page.get_by_role("table", name="Checkpoints").get_by_role("row")
    expect(rows).to_have_count(13)
    expect(rows.nth(1)).to_contain_text("kept")
    expect(rows.nth(12)).to_contain_text("deleted: ")
    expect(page.get_by_text("12 checkpoints, 3 kept")).to_be_visible()
    # `headway checkpoint verify` has read those that are kept.
    expect(rows.nth(1)).to_contain_text("verified")
    expect(rows.nth(1)).to_contain_text(re.compile(r"validated: validation_accuracy 0\.9\d+"))
    expect(rows.nth(2)).not_to_contain_text("validated")
    expect(rows.nth(12)).not_to_contain_text("verified")


def test_a_damaged_checkpoint_is_marked(window, recorded, tmp_path):
    shutil.copytree(recorded / "digits", tmp_path / "digits")
    newest = sorted((tmp_path / "digits").glob("checkpoint_*"))[-1]
    file = next(file for file in newest.iterdir() if not file.name.startswith("."))
    file.write_bytes(b"x" + file.read_bytes()[1:])
    verified = subprocess.run([sys.executable, "-m", "headway", "checkpoint", "verify", str(tmp_path / "digits")])
    assert verified.returncode == 1
    site = sites.of_folder(tmp_path)
    try:
        page = window.open(site, "#/run/digits/checkpoints")
        row = page.get_by_role("table", name="Checkpoints").get_by_role("row").nth(1)
        expect(row).to_contain_text(re.compile(r"damaged: .* is damaged: expected checksum"))
        page.close()
    finally:
        site.close()


def with_more(page, path, more):
    """The server's answer to a path, with members that no recorded run has."""

    def answer(route):
        route.fulfill(json=route.fetch().json() | more)

    page.route(re.compile(f"/api/{path}$"), answer)


def test_stages_of_data_show_their_memory_against_the_budget(window, site):
    page = window.open(site)
    stage = {
        "dataset": "train",
        "name": "map decode",
        "rows": 811_900,
        "bytes": 240e9,
        "seconds": 2410.0,
        "waited_s": 371.0,
    }
    stage |= {"blocked_s": 12.0, "memory_wait_s": 40.0, "memory_bytes": 3.9e9, "budget_bytes": 4e9}
    words = "waiting for data 31 % of the time: stage map decode is the slowest"
    with_more(page, "runs/digits", {"ingest": [stage], "data": {"is_data_bound": True, "words": words}})
    page.goto(f"{site.url}#/run/digits/data")
    expect(page.get_by_role("row", name="map decode")).to_contain_text("3.9 GB of 4 GB")
    expect(page.locator(".notice")).to_contain_text("Waiting for data 31 % of the time")
    page.goto(f"{site.url}#/run/tables/data")
    expect(page.get_by_text(re.compile(r"Memory for train: .* of \d[.\d]* [GM]B, at most \d.* so far"))).to_be_visible()
    expect(page.get_by_role("row", name="map_batches")).to_contain_text(re.compile(r" of \d[.\d]* [GM]B"))


def test_charts_of_all_metrics_with_smoothing_axes_and_another_run(window, site):
    page = window.open(site, "#/run/digits/metrics")
    loss = page.get_by_label(re.compile("^Chart of loss"))
    canvas_is_drawn(page, "figure.chart canvas")
    expect(loss).to_have_attribute("aria-label", re.compile("1 restart"))
    expect(loss).to_have_attribute("aria-label", re.compile("12 checkpoint"))
    expect(loss).to_have_attribute("aria-label", re.compile("3 validation"))
    page.get_by_text("Compare with …").click()
    page.get_by_label("vision-large").check()
    expect(loss.locator(".readout")).to_contain_text("vision-large")
    page.get_by_label("Axis").select_option("time")
    page.get_by_label("Logarithmic").check()
    page.get_by_label("Smoothing").fill("0.6")
    expect(page).to_have_url(re.compile("with=vision-large.*x=time.*log=1.*smooth=0.6"))
    page.reload()
    expect(loss.locator(".readout")).to_contain_text("vision-large")
    expect(page.get_by_label("Logarithmic")).to_be_checked()
    page.get_by_placeholder("metric").fill("gradient")
    expect(page.locator("figure.chart")).to_have_count(1)


def test_the_cursor_is_shared_and_arrow_keys_read_values(window, site):
    page = window.open(site, "#/run/digits/metrics")
    charts = page.locator("figure.chart")
    canvas_is_drawn(page, "figure.chart:nth-of-type(2) canvas")
    charts.first.focus()
    page.keyboard.press("Home")
    for _ in range(9):
        page.keyboard.press("ArrowRight")
    expect(charts.nth(0).locator(".readout")).to_contain_text("step 10")
    expect(charts.nth(1).locator(".readout")).to_contain_text("step 10")


def test_dragging_over_a_chart_enlarges_all_of_them(window, site):
    page = window.open(site, "#/run/digits/metrics")
    canvas_is_drawn(page, "figure.chart:nth-of-type(2) canvas")
    box = page.locator("figure.chart .u-over").first.bounding_box()
    with page.expect_request(re.compile("metric=accuracy.*from=")):
        page.mouse.move(box["x"] + 100, box["y"] + 50)
        page.mouse.down()
        page.mouse.move(box["x"] + 200, box["y"] + 60, steps=4)
        page.mouse.up()
    with page.expect_request(re.compile(r"metric=accuracy(?!.*from=)")):
        page.get_by_role("button", name="Show the whole").click()


def test_logs_are_searched(window, site):
    page = window.open(site, "#/run/digits/logs")
    log = page.locator("pre.log")
    expect(log).to_contain_text("step 239: loss")
    page.get_by_placeholder("text").fill("step 42:")
    page.get_by_role("button", name="Previous").click()
    expect(log.locator("mark").last).to_have_text("step 42:")
    page.get_by_placeholder("text").fill("never said")
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_role("status").filter(has_text="never said")).to_be_visible()
    page.get_by_role("combobox", name="Rank").select_option("1")
    expect(log).to_contain_text("step 239: loss")


def test_trials_are_sorted_filtered_and_compared(window, site):
    page = window.open(site, "#/experiment/sweep/trials")
    rows = page.locator("table.trials tbody tr[data-key=row]")
    expect(page.get_by_text("40 trials", exact=True)).to_be_visible()
    expect(page.get_by_role("columnheader", name="loss")).to_have_attribute("aria-sort", "ascending")
    values = [float(text) for text in rows.locator("td:nth-child(4)").all_inner_texts()[:10]]
    assert values == sorted(values)
    page.get_by_role("button", name="lr", exact=True).click()
    expect(page.get_by_role("columnheader", name="lr")).to_have_attribute("aria-sort", "ascending")
    page.get_by_label("Filter", exact=True).fill('optimizer="adam w" layers<=4')
    expect(page.get_by_text(re.compile(r"\d+ trials that match"))).to_be_visible()
    assert 2 <= rows.count() < 40
    for at in range(2):
        rows.nth(at).get_by_role("checkbox").check()
    compared = page.get_by_role("group", name="Comparison")
    expect(compared.get_by_role("row", name="lr")).to_be_visible()
    expect(compared.get_by_role("row", name="seed")).to_have_count(0)
    page.get_by_label("What is equal, too").check()
    expect(compared.get_by_role("row", name="seed")).to_be_visible()
    window.requests_may_fail = True
    page.get_by_label("Filter", exact=True).fill('lr<"')
    expect(page.locator(".bad").filter(has_text="filter")).to_be_visible()


def test_a_brush_of_parallel_coordinates_filters_the_table(window, site):
    page = window.open(site, "#/experiment/sweep/parallel")
    canvas_is_drawn(page, "canvas.brushes")
    box = page.locator("canvas.brushes").bounding_box()
    x = box["x"] + 48
    page.mouse.move(x, box["y"] + 60)
    page.mouse.down()
    page.mouse.move(x, box["y"] + 250, steps=4)
    page.mouse.up()
    expect(page.get_by_label("Filter", exact=True)).to_have_value(re.compile(r"^(\w+)[>!]=.*"))
    expect(page.get_by_text(re.compile(r"\d+ trials that match"))).to_be_visible()
    page.get_by_role("button", name="Choose all").click()
    expect(page.get_by_text("40 trials", exact=True)).to_be_visible()


def test_curves_have_rungs_and_say_why_a_trial_ended(window, site):
    page = window.open(site, "#/experiment/sweep/curves")
    canvas_is_drawn(page, "figure canvas")
    canvas = page.get_by_label(re.compile("40 curves of loss.*Rungs at 3, 9, 27"))
    canvas.focus()
    reasons = set()
    for _ in range(40):
        page.keyboard.press("ArrowDown")
        reasons.add(page.locator(".readout").inner_text())
    assert len(reasons) == 40
    assert any("percentile" in reason for reason in reasons)


def test_the_best_so_far_is_drawn_over_all_trials(window, site):
    page = window.open(site, "#/experiment/sweep")
    expect(page.locator("figure.chart .readout")).to_contain_text(re.compile(r"best so far 0\.\d+"))
    expect(page.get_by_text("40 of 40 trials ended", exact=True)).to_be_visible()


def test_lineage_shows_who_continued_from_whom(window, site):
    page = window.open(site, "#/experiment/population/lineage")
    canvas_is_drawn(page, "figure canvas")
    takeovers = page.get_by_role("table", name="Takeovers").get_by_role("row")
    assert takeovers.count() >= 2
    # The trials that began with 1 and 2 continue from one of the two others.
    expect(takeovers.nth(1)).to_contain_text(re.compile(r"rate [12] → (8|9|10|20)"))
    expect(takeovers.nth(1)).to_contain_text(re.compile(r" at (3|6|9)"))
    expect(takeovers.nth(1)).not_to_contain_text("model")


def test_the_time_line_of_trials_has_a_bar_for_each(window, site):
    page = window.open(site, "#/experiment/sweep/places")
    canvas_is_drawn(page, "figure canvas")
    expect(page.get_by_text(re.compile(r"[1-4] places?, with a trial for \d[.\d]* % of the time"))).to_be_visible()
    page.get_by_label(re.compile("Arrow keys read trials")).focus()
    read = set()
    for _ in range(40):
        page.keyboard.press("ArrowRight")
        read.add(page.locator(".readout").inner_text())
    assert len(read) == 40


def test_parameters_have_an_importance(window, site):
    page = window.open(site, "#/experiment/sweep/importances")
    rows = page.get_by_role("table", name="Importances").get_by_role("row")
    expect(rows).to_have_count(6)
    shares = [float(text.split()[0]) for text in rows.locator("td").all_inner_texts()]
    assert sum(shares) == pytest.approx(100, abs=1)
    assert shares == sorted(shares, reverse=True)
    assert shares[-1] == 0  # The seed is the same in all trials.
    few = window.open(site, "#/experiment/population/importances")
    expect(few.get_by_text("10 trials with a value are needed, there are 4.")).to_be_visible()


def test_a_run_that_is_not_there_is_said(window, site):
    window.requests_may_fail = True
    page = window.open(site, "#/run/99")
    expect(page.get_by_role("alert")).to_have_text("there is no run 99")
