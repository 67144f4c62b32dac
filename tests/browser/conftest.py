"""The dashboard's page in a real browser: Debian's chromium, which scripts/browser.sh installs."""

import importlib.util
import os
import shutil
import subprocess
import sys

import pytest
import sites

if importlib.util.find_spec("playwright") is None:
    collect_ignore_glob = ["test_*"]
CHROMIUM = shutil.which("chromium")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


def pytest_collection_modifyitems(items):
    for item in items:
        item.add_marker(pytest.mark.heavy)
        if os.environ.get("HEADWAY_TEST_HEAVY") and CHROMIUM is None:
            item.add_marker(pytest.mark.skip(reason="chromium is not installed: scripts/browser.sh does it"))


@pytest.fixture(scope="session")
def browser():
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def recorded(tmp_path_factory):
    """The folder of the runs that record_runs.py makes."""
    folder = tmp_path_factory.mktemp("recorded") / "results"
    subprocess.run(
        [sys.executable, str(sites.HERE / "record_runs.py"), str(folder)], check=True, stdout=subprocess.PIPE
    )
    return folder


@pytest.fixture(scope="session")
def site(recorded):
    serving = sites.of_folder(recorded)
    yield serving
    serving.close()


class Window:
    """Opens pages, and remembers what they complain of."""

    def __init__(self, browser):
        self.browser = browser
        self.contexts = []
        self.complaints = []
        self.requests_may_fail = False  # The browser itself logs each that does.

    def open(self, site, address="", width=1280, dark=False):
        """`address`: what stands behind the site's, such as "#/run/digits"."""
        context = self.browser.new_context(
            viewport={"width": width, "height": 900},
            color_scheme="dark" if dark else "light",
            reduced_motion="reduce",
            storage_state=site.signed_in,
        )
        self.contexts.append(context)
        page = context.new_page()
        if site.signed_in is None:  # Before that it is the server's own page, without an icon.
            page.goto(site.link)
            page.wait_for_url(site.url)
            site.signed_in = {"cookies": context.cookies()}
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("console", self.hear)
        page.goto(site.url + address)
        return page

    def hear(self, message):
        if message.type not in ("error", "warning") or "getImageData" in message.text:
            return  # Tests read the pixels of canvases; the page does not.
        if not (self.requests_may_fail and message.text.startswith("Failed to load resource")):
            self.complaints.append(message.text)


@pytest.fixture
def window(browser):
    """A page must not complain: no error in its scripts, none in the console, nothing that the
    policy forbids.
    """
    of_test = Window(browser)
    yield of_test
    for context in of_test.contexts:
        context.close()
    assert of_test.complaints == []
