"""For every reader: hostile names, the keyboard alone, narrow windows, dark colours, paper, and
what a screen reader hears.
"""

import re
from urllib.parse import quote

import pytest
import sites
from playwright.sync_api import Error, expect
from record_runs import HOSTILE

HOSTILE_RUN = quote(HOSTILE, safe="")
VIEWS = {
    "home": "",
    "finished": "#/run/digits",
    "failed": "#/run/bad-batch",
    "hung": "#/run/language-model",
    "slow": "#/run/vision-large",
    "hostile": f"#/run/{HOSTILE_RUN}",
    "metrics": "#/run/digits/metrics",
    "hostile metrics": f"#/run/{HOSTILE_RUN}/metrics",
    "hostile logs": f"#/run/{HOSTILE_RUN}/logs",
    "steps": "#/run/vision-large/steps",
    "checkpoints": "#/run/digits/checkpoints",
    "data": "#/run/tables/data",
    "no data": "#/run/digits/data",
    "logs": "#/run/digits/logs",
    "stacks": "#/run/language-model/stacks",
    "best": "#/experiment/sweep",
    "trials": "#/experiment/sweep/trials",
    "parallel": "#/experiment/sweep/parallel",
    "curves": "#/experiment/sweep/curves",
    "places": "#/experiment/sweep/places",
    "importances": "#/experiment/sweep/importances",
    "lineage": "#/experiment/population/lineage",
}


@pytest.mark.parametrize("view", VIEWS)
def test_each_view_fits_a_phone_and_a_desk_in_both_colours(window, site, view):
    for width, dark in ((400, False), (1280, True)):
        page = window.open(site, VIEWS[view], width, dark)
        expect(page.locator("main").get_by_text("Loading …")).to_have_count(0)
        expect(page.locator("main > .view")).not_to_be_empty()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.evaluate("window.hacked") is None
        back = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (back == "rgb(20, 23, 27)") == dark


def test_names_are_text(window, site):
    page = window.open(site, VIEWS["hostile metrics"])
    expect(page.locator("figure.chart .title").first).to_have_text(HOSTILE)
    expect(page).to_have_title(f"{HOSTILE} · Headway")
    expect(page.locator("main img, main script")).to_have_count(0)
    assert page.evaluate("window.hacked") is None


FOCUSED = """(() => {
  const { activeElement: on } = document;
  return (on.getAttribute("aria-label") ?? on.textContent ?? "").slice(0, 24) || on.type;
})()"""


def test_the_keyboard_reaches_everything(window, site):
    page = window.open(site, "#/run/digits/metrics")
    expect(page.get_by_label(re.compile("^Chart of loss"))).to_be_visible()
    reached = []
    for _ in range(40):
        page.keyboard.press("Tab")
        reached.append(page.evaluate(FOCUSED))
    assert reached[0] == "Skip to the content"
    for wanted in (
        "Headway",
        "Colours: system. Change ",
        "Overview",
        "Logs",
        "search",
        "range",
        "checkbox",
        "Compare with …",
        "Chart of ",
    ):
        assert any(name.startswith(wanted) for name in reached), (wanted, reached)
    page = window.open(site, "#/run/digits")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("main")).to_be_focused()


def test_a_screen_reader_hears_landmarks_headings_and_the_verdict(window, site):
    page = window.open(site, "#/run/language-model")
    expect(page.get_by_role("main")).to_be_visible()
    expect(page.get_by_role("banner")).to_be_visible()
    expect(page.get_by_role("navigation", name="Pages")).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_have_text("Run language-model")
    verdict = page.get_by_role("region", name="Verdict").get_by_role("status")
    expect(verdict).to_have_attribute("aria-live", "polite")
    expect(verdict).not_to_contain_text("since")  # What changes each second is not announced.
    expect(page.get_by_role("heading", level=2).first).to_have_text("Failure")


def test_colours_can_be_chosen_and_stay(window, site):
    page = window.open(site)
    page.get_by_role("button", name="Colours: system").click()
    page.get_by_role("button", name="Colours: light").click()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


CONTRAST = """(ratio_min) => {
  const channels = (text) => text.match(/[\\d.]+/g).map(Number);
  const linear = (of) => of <= 0.03928 ? of / 12.92 : ((of + 0.055) / 1.055) ** 2.4;
  const light = (of) => of.slice(0, 3).map((channel) => linear(channel / 255))
    .reduce((sum, of, at) => sum + of * [0.2126, 0.7152, 0.0722][at], 0);
  const back_of = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const back = getComputedStyle(at).backgroundColor;
      if (channels(back)[3] !== 0) return channels(back);
    }
    return [255, 255, 255];
  };
  const low = [];
  for (const element of document.querySelectorAll("body *")) {
    const has_words = [...element.childNodes].some((of) => of.nodeType === 3 && of.data.trim());
    if (!has_words || !element.checkVisibility()) continue;
    const [ink, back] = [light(channels(getComputedStyle(element).color)), light(back_of(element))];
    const ratio = (Math.max(ink, back) + 0.05) / (Math.min(ink, back) + 0.05);
    if (ratio < ratio_min) low.push(`${element.className}: ${element.textContent.slice(0, 30)}: ${ratio.toFixed(2)}`);
  }
  return low;
}"""


@pytest.mark.parametrize("dark", [False, True])
def test_words_stand_out_from_their_background(window, site, dark):
    for view in ("home", "failed", "hung", "checkpoints", "trials"):
        page = window.open(site, VIEWS[view], dark=dark)
        expect(page.locator("main > .view")).not_to_be_empty()
        expect(page.locator("main").get_by_text("Loading …")).to_have_count(0)
        assert page.evaluate(CONTRAST, 4.5) == []


def test_a_printed_page_has_no_controls_and_shows_all_rows(window, site):
    page = window.open(site, "#/run/digits/checkpoints")
    expect(page.get_by_role("table", name="Checkpoints").get_by_role("row")).to_have_count(13)
    page.emulate_media(media="print")
    expect(page.locator(".tabs")).to_be_hidden()
    expect(page.get_by_text("checkpoint_000000")).to_be_visible()
    assert page.locator(".scrolls").evaluate("of => getComputedStyle(of).overflowX") == "visible"


def test_other_machines_see_the_page_over_tls_with_a_cookie_for_tls_alone(browser, recorded):
    """As from another machine: on all interfaces, with the server's own certificate."""
    site = sites.of_folder(recorded, "--host", "0.0.0.0")
    context = browser.new_context(ignore_https_errors=True)
    try:
        assert site.link.startswith("https://")
        port = site.url.rstrip("/").rpartition(":")[2]
        # By its address rather than a name that this machine may not know.
        url = f"https://127.0.0.1:{port}/"
        page = context.new_page()
        page.goto(url + "?" + site.link.partition("?")[2])
        page.wait_for_url(url)
        expect(page.get_by_role("row", name="bad-batch")).to_be_visible()
        (cookie,) = context.cookies()
        assert (cookie["secure"], cookie["httpOnly"], cookie["sameSite"]) == (True, True, "Strict")
        assert page.evaluate("document.cookie") == ""
        # Without TLS nobody answers there.
        with pytest.raises(Error, match="ERR_"):
            page.goto(f"http://127.0.0.1:{port}/")
        stranger = browser.new_context(ignore_https_errors=True)
        assert stranger.new_page().goto(url).status == 401
        stranger.close()
    finally:
        context.close()
        site.close()
