"""Every view, with what is recorded of a finished, a failed, a hung and a slow run, and of an
experiment.
"""

import re

import pytest
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


def test_the_first_view_says_what_each_run_does(window, site):
    page = window.open(site.url)
    expect(page.locator(VERDICT)).to_contain_text("2 in trouble")
    row = page.get_by_role("row", name="language-model")
    expect(row).to_contain_text("Stalled for 812 s: 7 ranks wait for rank 5")
    expect(page.get_by_role("row", name="sweep")).to_contain_text("300")
    expect(page.get_by_role("table", name="Waiting for nodes")).to_contain_text("2 workers with {GPU: 1} each")
    row.get_by_role("link").click()
    expect(page).to_have_url(re.compile(r"#/run/3$"))
    expect(page).to_have_title("language-model · Headway")


def test_a_run_that_failed_shows_the_users_error_first(window, site):
    page = window.open(f"{site.url}#/run/2")
    expect(page.locator(VERDICT)).to_contain_text("Failed: ValueError: bad batch")
    expect(page.locator(".failure pre").first).to_contain_text('train.py", line 41')
    expect(page.locator(".attempts")).to_contain_text("rank 3 raised ValueError")
    page.get_by_role("link", name="Read the logs").click()
    expect(page.get_by_role("combobox", name="Rank")).to_have_value("3")


def test_a_run_that_hangs_names_the_rank_and_shows_its_stack(window, site):
    page = window.open(f"{site.url}#/run/3")
    first = page.get_by_role("table", name="Ranks").get_by_role("row").nth(1)
    expect(first).to_contain_text("awaited")
    expect(first.get_by_role("rowheader")).to_have_text("5")
    page.get_by_role("navigation", name="Parts").get_by_role("link", name="Stacks").click()
    stack = page.locator("details.stack").first
    expect(stack).to_contain_text("Rank 5")
    expect(stack.locator("pre")).to_contain_text("indices = next(batches)")


def test_a_slow_run_names_its_straggler(window, site):
    page = window.open(f"{site.url}#/run/4/steps")
    expect(page.locator(".notice")).to_contain_text("Rank 5 on node-b holds the others back")
    expect(page.get_by_label(re.compile("Step times of 8 ranks"))).to_be_visible()
    expect(page.locator(".sums")).to_contain_text(re.compile(r"communication 37[.\d]* %"))
    canvas_is_drawn(page, "figure:nth-of-type(1) canvas")
    canvas_is_drawn(page, "figure:nth-of-type(2) canvas")
    page.get_by_label(re.compile("Step times")).focus()
    for _ in range(5):
        page.keyboard.press("ArrowDown")
    expect(page.locator(".readout").first).to_contain_text("rank 5 on node-b")


def test_a_finished_run_shows_each_attempt_and_why_it_ended(window, site):
    page = window.open(f"{site.url}#/run/1")
    attempts = page.locator(".attempts li")
    expect(attempts).to_have_count(2)
    expect(attempts.nth(0)).to_contain_text("killed by signal 9 (SIGKILL)")
    expect(attempts.nth(1)).to_contain_text("from checkpoint_000006")
    shares = page.locator(".time-line .bar").evaluate_all("bars => bars.map(bar => parseFloat(bar.style.width))")
    assert shares == pytest.approx([57.8, 42.1], abs=0.1)


def test_checkpoints_say_whether_they_are_kept_and_why_not(window, site):
    page = window.open(f"{site.url}#/run/1/checkpoints")
    rows = page.get_by_role("table", name="Checkpoints").get_by_role("row")
    expect(rows).to_have_count(13)
    expect(rows.nth(1)).to_contain_text("verified")
    expect(rows.nth(12)).to_contain_text("deleted: num_to_keep is 3")
    expect(rows.nth(1)).to_contain_text("1.48 GB")


def test_stages_of_data_show_their_memory_against_the_budget(window, site):
    page = window.open(f"{site.url}#/run/4/data")
    expect(page.get_by_role("row", name="map decode")).to_contain_text("3.9 GB of 4 GB")


def test_nodes_show_what_is_taken_and_who_leaves(window, site):
    page = window.open(f"{site.url}#/nodes")
    row = page.get_by_role("row", name="node-b")
    expect(row).to_contain_text("3 of 4 taken")
    expect(row).to_contain_text("leaving")


def test_charts_of_all_metrics_with_smoothing_axes_and_another_run(window, site):
    page = window.open(f"{site.url}#/run/1/metrics")
    charts = page.locator("figure.chart")
    expect(charts).to_have_count(6)
    canvas_is_drawn(page, "figure.chart canvas")
    expect(charts.first).to_have_attribute("aria-label", re.compile("Chart of loss.*1 failure"))
    page.get_by_text("Compare with …").click()
    page.get_by_label("vision-large").check()
    expect(charts.first.locator(".readout")).to_contain_text("vision-large")
    page.get_by_label("Axis").select_option("time")
    page.get_by_label("Logarithmic").check()
    expect(page).to_have_url(re.compile("with=4.*x=time.*log=1"))
    page.reload()
    expect(charts.first.locator(".readout")).to_contain_text("vision-large")
    expect(page.get_by_label("Logarithmic")).to_be_checked()
    page.get_by_placeholder("metric").fill("norm")
    expect(charts).to_have_count(1)


def test_the_cursor_is_shared_and_arrow_keys_read_values(window, site):
    page = window.open(f"{site.url}#/run/1/metrics")
    charts = page.locator("figure.chart")
    canvas_is_drawn(page, "figure.chart:nth-of-type(2) canvas")
    charts.first.focus()
    page.keyboard.press("Home")
    for _ in range(10):
        page.keyboard.press("ArrowRight")
    expect(charts.nth(0).locator(".readout")).to_contain_text("step 10")
    expect(charts.nth(1).locator(".readout")).to_contain_text("step 10")


def test_dragging_over_a_chart_enlarges_all_of_them(window, site):
    page = window.open(f"{site.url}#/run/1/metrics")
    canvas_is_drawn(page, "figure.chart canvas")
    box = page.locator("figure.chart .u-over").first.bounding_box()
    with page.expect_request(re.compile("metric=accuracy.*from=")):
        page.mouse.move(box["x"] + 100, box["y"] + 50)
        page.mouse.down()
        page.mouse.move(box["x"] + 200, box["y"] + 60, steps=4)
        page.mouse.up()
    with page.expect_request(re.compile(r"metric=accuracy(?!.*from=)")):
        page.get_by_role("button", name="Show the whole").click()


def test_logs_follow_search_and_go_back(window, site):
    page = window.open(f"{site.url}#/run/1/logs")
    log = page.locator("pre.log")
    expect(log).to_contain_text("last words in red")
    expect(log).not_to_contain_text("[31m")
    page.get_by_placeholder("text").fill("step 42:")
    page.get_by_role("button", name="Previous").click()
    expect(log.locator("mark").last).to_have_text("step 42:")
    page.get_by_placeholder("text").fill("never said")
    page.get_by_role("button", name="Next").click()
    expect(page.get_by_role("status").filter(has_text="never said")).to_be_visible()
    page.get_by_role("combobox", name="Rank").select_option("2")
    expect(log).to_contain_text("[rank 2] step 5999")
    page.get_by_role("button", name="Earlier output").click()
    expect(log).to_contain_text("[rank 2] step 3000")


def test_trials_are_sorted_filtered_and_compared(window, site):
    page = window.open(f"{site.url}#/experiment/1/trials")
    rows = page.locator("table.trials tbody tr[data-key=row]")
    expect(rows.first).to_contain_text("trial_00144")
    expect(page.get_by_role("columnheader", name="loss")).to_have_attribute("aria-sort", "ascending")
    page.get_by_role("button", name="lr").click()
    expect(page.get_by_role("columnheader", name="lr")).to_have_attribute("aria-sort", "ascending")
    wanted = 'optimizer="adam w" lr<3e-5 rung'
    matching = site.experiment.rows("lr", False, wanted, 0, 100)
    page.get_by_label("Filter", exact=True).fill(wanted)
    expect(page.get_by_text(f"{matching['total']} trials that match")).to_be_visible()
    for row in matching["rows"][:2]:
        page.get_by_label(f"Compare {row['name']}").check()
    compared = page.get_by_role("group", name="Comparison")
    expect(compared.get_by_role("row", name="lr")).to_be_visible()
    expect(compared.get_by_role("row", name="seed")).to_have_count(0)
    page.get_by_label("What is equal, too").check()
    expect(compared.get_by_role("row", name="seed")).to_be_visible()


def test_a_brush_of_parallel_coordinates_filters_the_table(window, site):
    page = window.open(f"{site.url}#/experiment/1/parallel")
    canvas_is_drawn(page, "canvas.brushes")
    box = page.locator("canvas.brushes").bounding_box()
    x = box["x"] + 48
    page.mouse.move(x, box["y"] + 60)
    page.mouse.down()
    page.mouse.move(x, box["y"] + 150, steps=4)
    page.mouse.up()
    expect(page.get_by_label("Filter", exact=True)).to_have_value(re.compile(r"^lr>=[\d.e-]+ lr<=[\d.e-]+$"))
    expect(page.get_by_text(re.compile(r"\d+ trials that match"))).to_be_visible()
    page.get_by_role("button", name="Choose all").click()
    expect(page.get_by_text("300 trials", exact=True)).to_be_visible()


def test_curves_have_rungs_and_say_why_a_trial_ended(window, site):
    page = window.open(f"{site.url}#/experiment/1/curves")
    canvas_is_drawn(page, "figure canvas")
    canvas = page.get_by_label(re.compile("200 curves of loss.*Rungs at 1, 4, 16"))
    canvas.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    expect(page.locator(".readout")).to_contain_text("ASHA: rung 4, among the worse half")


def test_best_so_far_and_lineage(window, site):
    page = window.open(f"{site.url}#/experiment/1")
    expect(page.locator("figure.chart .readout")).to_contain_text("best so far 0.2046")
    page.get_by_role("link", name="Lineage").click()
    canvas_is_drawn(page, "figure canvas")
    expect(page.get_by_role("table", name="Takeovers")).to_contain_text("lr 0.001 → 0.0012")


def test_a_run_that_is_not_there_is_said(window, site):
    window.requests_may_fail = True
    page = window.open(f"{site.url}#/run/99")
    expect(page.get_by_role("alert")).to_have_text("There is nothing of that name.")
