"""Every view of runs that finished, failed, hung and were slow."""

import re
import shutil
import subprocess
import sys

import sites
from pages import canvas_is_drawn
from playwright.sync_api import expect

VERDICT = ".verdict .words"
HOSTILE = '<imgsrc=xonerror="window.hacked=1">'


def parts(page):
    return page.get_by_role("navigation", name="Parts")


def test_the_first_view_says_what_became_of_each_run(window, site):
    page = window.open(site)
    counts = page.get_by_role("navigation", name="Show").get_by_role("link")
    expect(counts).to_have_text(
        [re.compile(f"{count}$") for count in ("2 failed or stalled", "2 slow", "1 restarted", "3 fine")]
    )
    row = page.get_by_role("row", name="bad-batch")
    expect(row).to_contain_text("bad batch: targets has 3 classes, the model 2; rank 1 (pid ")
    expect(row).to_contain_text(re.compile(r"fails\(\) at record_runs\.py:\d+"))
    restarted = page.get_by_role("row", name="digits")
    expect(restarted).to_contain_text(
        re.compile(r"Restarted once: rank 1 .* SIGKILL .*the work of 10 reports was lost")
    )
    expect(page.get_by_role("row", name="sweep")).to_contain_text("40")
    slow = page.get_by_role("row", name="vision-large")
    expect(slow).to_contain_text("Finished after 1200 reports")
    words = r"Slow since \d\d:\d\d:\d\d: rank 5 on node-b was 2\.4 times slower than the others"
    expect(slow).to_contain_text(re.compile(words.replace("since ", r"since (\d{4}-\d\d-\d\d )?")))
    expect(slow.get_by_role("cell").nth(3)).to_have_text("8")
    expect(page.get_by_role("row", name="language-model")).to_contain_text("Hung: rank 1 stood in hangs() at ")
    row.get_by_role("link").click()
    expect(page).to_have_url(re.compile(r"#/run/bad-batch$"))
    expect(page).to_have_title("bad-batch · Headway")


def test_runs_are_listed_newest_first_and_those_with_a_reason_are_marked(window, site):
    page = window.open(site)
    rows = page.get_by_role("table", name="Runs").locator("tbody tr")
    expect(rows).to_have_count(6)
    names = [re.sub(r"\s", "", name) for name in rows.get_by_role("rowheader").all_inner_texts()]
    # In the order of record_runs.py, but that the slow run began before all others.
    assert names == [HOSTILE, "tables", "language-model", "bad-batch", "digits", "vision-large"]
    expect(page.get_by_role("row", name="bad-batch")).to_have_class("failed")
    expect(page.get_by_role("row", name="language-model")).to_have_class("failed")
    slow = page.get_by_role("row", name="vision-large")
    expect(slow).to_have_class("slow")
    expect(slow.get_by_role("img", name="slow")).to_be_visible()
    expect(page.get_by_role("row", name="digits")).to_have_class("restarted")
    expect(page.get_by_role("row", name="digits").get_by_role("img", name="restarted")).to_be_visible()
    assert rows.first.get_attribute("class") is None


def test_a_list_shows_what_failed_or_was_slow_alone(window, site):
    page = window.open(site)
    shown = page.get_by_role("navigation", name="Show")
    shown.get_by_role("link", name="failed or stalled").click()
    rows = page.get_by_role("table", name="Runs").locator("tbody tr")
    expect(rows).to_have_count(2)
    expect(page.get_by_role("table", name="Experiments")).to_have_count(0)
    expect(page).to_have_url(re.compile(r"#/\?show=failed$"))
    page.reload()
    expect(rows).to_have_count(2)
    shown.get_by_role("link", name="slow").click()
    expect(rows.filter(has_text="vision-large")).to_have_count(1)
    expect(rows.filter(has_text="bad-batch")).to_have_count(0)
    shown.get_by_role("link", name="All 8").click()
    expect(rows).to_have_count(6)
    expect(page.get_by_placeholder("a name or words")).to_have_count(0)


def test_one_of_two_hundred_runs_is_found(window, recorded, tmp_path):
    for number in range(200):
        copy = tmp_path / f"digits-{number:03}"
        shutil.copytree(recorded / "digits", copy, ignore=shutil.ignore_patterns("logs", "history.jsonl"))
    shutil.copytree(recorded / "bad-batch", tmp_path / "bad-batch")
    site = sites.of_folder(tmp_path)
    try:
        page = window.open(site)
        rows = page.get_by_role("table", name="Runs").locator("tbody tr")
        expect(rows).to_have_count(201)
        page.get_by_placeholder("a name or words").fill("GITS-14")
        expect(rows).to_have_count(10)
        page.get_by_placeholder("a name or words").fill("3 classes")
        expect(rows).to_have_count(1)
        expect(rows).to_contain_text("bad-batch")
        page.get_by_role("navigation", name="Show").get_by_role("link", name="restarted").click()
        expect(page.get_by_text("No run is like that.")).to_be_visible()
        page.reload()
        page.get_by_placeholder("a name or words").fill("")
        expect(rows).to_have_count(200)
        page.close()
    finally:
        site.close()


def test_a_run_that_failed_shows_the_users_error_first(window, site):
    page = window.open(site, "#/run/bad-batch")
    expect(page.get_by_role("heading", level=1)).to_have_text("Run bad-batch")
    expect(page.locator(VERDICT)).to_contain_text("Failed: ")
    expect(page.locator(VERDICT)).to_contain_text("bad batch: targets has 3 classes")
    printed = page.locator(".failure details[data-key] pre").first
    expect(printed).to_contain_text('raise ValueError("bad batch')
    expect(printed).to_have_text(re.compile(r"\nValueError: bad batch: targets has 3 classes, the model 2$"))
    # The message has the same traceback once more.
    page.get_by_text("The whole message").click()
    whole = page.get_by_label("The whole message")
    expect(whole).to_contain_text("Raised by the training function in rank 1")
    expect(whole).not_to_contain_text("raise ValueError")
    # There was one attempt, of which all is said above.
    expect(page.locator(".attempts, .time-line")).to_have_count(0)
    expect(page.get_by_text("in attempt 1")).to_have_count(0)
    page.get_by_role("link", name="Read the logs").click()
    expect(page.get_by_role("combobox", name="Rank")).to_have_value("1")
    expect(page.locator("pre.log")).to_contain_text("step 30")


def test_the_exception_below_many_frames_is_seen_without_scrolling(window, site):
    page = window.open(site)
    frames = "".join(f'  File "/home/me/train.py", line {line}, in deeper\n    deeper()\n' for line in range(200))
    exception = {"type": "KeyError", "message": "'label'", "traceback": f"Traceback:\n{frames}", "echo": False}
    rank = {"rank": 1, "text": "KeyError: 'label'", "hostname": "node-a", "exception": exception}
    failure = {"message": "KeyError: 'label'\nmore", "ranks": [rank]}
    with_more(page, "runs/bad-batch", {"failure": failure})
    page.goto(f"{site.url}#/run/bad-batch")
    printed = page.get_by_label("What rank 1 printed last")
    expect(printed).to_contain_text("KeyError: 'label'")
    box = printed.bounding_box()
    assert box["y"] + box["height"] < 900
    # The last line is within what the box shows.
    last = """of => {
        const range = document.createRange();
        range.selectNodeContents(of);
        return Math.max(...[...range.getClientRects()].map((each) => each.bottom));
    }"""
    assert printed.evaluate(last) <= box["y"] + box["height"]
    assert printed.evaluate("of => of.scrollHeight > 4 * of.clientHeight")


def test_a_number_and_its_unit_stay_in_one_line(window, site):
    page = window.open(site, "#/run/vision-large")
    expect(page.locator(".facts")).to_contain_text("23 min 32 s")
    words = page.get_by_role("list", name="Why").text_content() + page.locator(".facts").text_content()
    assert re.findall(r"\d (?:s|ms|min|%|minutes)\b", words) == []
    assert re.search(r"24\u00a0minutes.*23\u00a0min\u00a032\u00a0s", words)


def test_words_of_the_trade_are_explained(window, site):
    page = window.open(site)
    expect(page.get_by_text("Reports", exact=True)).to_have_attribute("title", re.compile(r"report\(\)"))
    expect(page.get_by_text("read from files")).to_have_attribute("title", re.compile("reads the runs' folders"))
    page.goto(f"{site.url}#/run/digits")
    expect(page.locator("dt").get_by_text("Reports")).to_have_attribute("title", re.compile(r"report\(\)"))


def test_a_run_that_hung_names_the_rank_and_shows_its_stack(window, site):
    page = window.open(site, "#/run/language-model")
    expect(page.locator(VERDICT)).to_contain_text("rank 1")
    parts(page).get_by_role("link", name="Stacks").click()
    # It stood still: all that was seen of it is one stack, with its times.
    stack = page.locator("details.stack").filter(has_text="hangs")
    expect(stack).to_have_count(1)
    expect(stack.locator("summary")).to_have_text(re.compile(r"Rank 1 \d\d:\d\d:\d\d(, \d\d:\d\d:\d\d)+$"))
    expect(stack.locator("pre")).to_contain_text("hangs")
    parts(page).get_by_role("link", name="Overview").click()
    expect(page.get_by_role("heading", name="Warnings")).to_be_visible()


def test_a_slow_run_names_its_straggler(window, site):
    page = window.open(site, "#/run/vision-large/steps")
    expect(page.locator(".notice")).to_contain_text("rank 5 on node-b was 2.4 times slower than the others")
    expect(page.locator(".notice")).to_contain_text("it took 1.37 s for its own part of a step")
    expect(page.locator(".notice")).to_contain_text(re.compile(r"^Slow since (\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d: "))
    expect(page.get_by_label(re.compile("Step times of 8 ranks"))).to_be_visible()
    for part in ("forward", "backward", "other", "communication and waiting for others", "data"):
        expect(page.locator(".sums")).to_contain_text(re.compile(rf"{part} \d[.\d]*\s%"))
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
    expect(attempts.nth(0)).not_to_contain_text("in attempt 1")
    expect(attempts.nth(0)).to_contain_text(re.compile(r"\d\d:\d\d:\d\d to \d\d:\d\d:\d\d"))
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
    expect(rows.filter(has_text="attempt 2 resumed here")).to_have_count(1)
    expect(rows.filter(has_text="attempt 2 resumed here")).to_contain_text("checkpoint_000005")
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
    expect(
        page.get_by_text(re.compile(r"Memory for train: .* of \d[.\d]*\s[GM]B, at most \d.* so far"))
    ).to_be_visible()
    expect(page.get_by_role("row", name="map_batches")).to_contain_text(re.compile(r" of \d[.\d]*\s[GM]B"))


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


def test_a_run_that_is_not_there_is_said(window, site):
    window.requests_may_fail = True
    page = window.open(site, "#/run/99")
    expect(page.get_by_role("alert")).to_have_text("there is no run 99")
