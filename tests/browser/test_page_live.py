"""A run that goes on under the page, and a driver that dies under it."""

import re

import pytest
from playwright.sync_api import expect
from stand_in import StandIn


@pytest.fixture
def live():
    stand_in = StandIn()
    yield stand_in
    if stand_in.thread.is_alive():
        stand_in.stop()


def heard(page):
    """Until the page listens: what happens before that reaches it by its first question."""
    page.wait_for_function("document.querySelector('.connection').textContent.includes('live')")


def test_the_verdict_and_the_numbers_follow_a_run(live, window):
    page = window.open(f"{live.url}#/run/5")
    expect(page.locator(".verdict .words")).to_contain_text("report 51 of epoch 3")
    heard(page)
    live.change(5, reports=52, verdict={"level": "wait", "words": "Waits for 2 nodes to join.", "since_s": 0})
    expect(page.locator(".verdict .words")).to_contain_text("Waits for 2 nodes to join.")
    expect(page.locator(".facts")).to_contain_text("52")


def test_an_update_keeps_what_the_reader_has_opened_and_focused(live, window):
    page = window.open(f"{live.url}#/run/2")
    heard(page)
    page.locator(".failure summary").click()
    page.locator(".failure summary").focus()
    live.change(2, verdict={"level": "bad", "words": "Failed, and now the end is known.", "since_s": 0})
    expect(page.locator(".verdict .words")).to_contain_text("now the end is known")
    expect(page.locator(".failure pre")).to_be_hidden()
    expect(page.locator(".failure summary")).to_be_focused()


def test_logs_are_followed(live, window):
    page = window.open(f"{live.url}#/run/5/logs")
    expect(page.locator("pre.log")).to_contain_text("last words in red")
    heard(page)
    live.logs["0"] += b"one more line\n"
    live.change(5, reports=53)
    expect(page.locator("pre.log")).to_contain_text("one more line")
    at_the_end = "log => log.scrollHeight - log.scrollTop - log.clientHeight < 24"
    assert page.locator("pre.log").evaluate(at_the_end)


def test_a_driver_that_dies_is_said_and_its_data_stay(live, window):
    window.requests_may_fail = True
    page = window.open(f"{live.url}#/run/1/metrics")
    expect(page.locator("figure.chart .readout").first).to_contain_text("0.29")
    heard(page)
    live.stop()
    expect(page.locator(".connection")).to_contain_text(
        re.compile("The driver does not answer since .* You see what it said last.")
    )
    expect(page.locator("figure.chart .readout").first).to_contain_text("0.29")
    expect(page.locator(".verdict .words")).to_contain_text("Finished after 240 reports")
    again = StandIn(port=live.port)
    try:
        expect(page.locator(".connection")).to_contain_text("live", timeout=15000)
    finally:
        again.stop()
