"""Every view of an experiment."""

import re

import pytest
from pages import canvas_is_drawn
from playwright.sync_api import expect


def test_trials_are_sorted_filtered_and_compared(window, site):
    page = window.open(site, "#/experiment/sweep/trials")
    rows = page.locator("table.trials tbody tr[data-key=row]")
    expect(page.get_by_text("40 trials", exact=True)).to_be_visible()
    expect(page.get_by_role("columnheader", name="loss")).to_have_attribute("aria-sort", "ascending")
    values = [float(text) for text in rows.locator("td:nth-child(4)").all_inner_texts()[:10]]
    assert values == sorted(values)
    page.get_by_role("button", name="lr", exact=True).click()
    expect(page.get_by_role("columnheader", name="lr")).to_have_attribute("aria-sort", "ascending")
    page.get_by_label("Filter", exact=True).fill('optimizer="adamw" layers<=4')
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
    best = re.compile(r"Best: \w+_000\d\d, loss 0\.\d+, .*lr \d.*optimizer (adam|sgd|adamw)")
    expect(page.locator("p.best")).to_have_text(best)
    expect(page.locator("p.best")).not_to_contain_text("seed")  # It is the same in all trials.
    expect(page.locator("figure.chart .readout")).to_contain_text(re.compile(r"best so far 0\.\d+"))
    expect(page.get_by_text("40 of 40 trials ended", exact=True)).to_be_visible()
    page.get_by_role("link", name="Runs").first.click()
    expect(page.get_by_role("row", name="sweep")).to_contain_text(best)


def test_a_dot_names_its_trial_and_opens_it(window, site):
    page = window.open(site, "#/experiment/sweep")
    chart = page.locator("figure.chart")
    canvas_is_drawn(page, "figure.chart canvas")
    best = page.request.get(f"{site.url}api/experiments/sweep/best").json()
    # A number of the order of ends may be another trial's own.
    at = next(at for at, trial in enumerate(best["ids"]) if int(trial.split("_")[1]) != at and at > 3)
    chart.focus()
    page.keyboard.press("Home")
    for _ in range(at):
        page.keyboard.press("ArrowRight")
    readout = chart.locator(".readout")
    expect(readout).to_contain_text(f"{best['ids'][at]}, the {at + 1}th to end")
    expect(readout).to_contain_text(re.compile(rf"loss {best['y'][at]:.4g}"))
    expect(readout).not_to_contain_text("trial ")
    over = chart.locator(".u-over")
    box = over.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 60)
    expect(readout).not_to_contain_text(best["ids"][at])
    pointed = readout.locator("strong").inner_text()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 60)
    expect(page).to_have_url(re.compile(rf"/trials\?filter=id%3D{pointed}$"))
    expect(page.locator("table.trials tbody tr[data-key=row]")).to_have_count(1)
    expect(page.get_by_text("1 trial that matches", exact=True)).to_be_visible()


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
    expect(page.get_by_text(re.compile(r"[1-4] places?, with a trial for \d[.\d]*\s% of the time"))).to_be_visible()
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
