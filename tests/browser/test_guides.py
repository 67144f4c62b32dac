"""The site of guides and references in a browser: on a phone, and its search."""

import http.server
import subprocess
import sys
import threading

import pytest
import sites
from playwright.sync_api import expect

TREE = sites.HERE.parents[1]
PAGES = ["index", "docs/getting-started", "docs/dashboard", "docs/comparison", "docs/cpp_api", "api/headway.train"]


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def guides(tmp_path_factory):
    folder = tmp_path_factory.mktemp("guides") / "site"
    subprocess.run([sys.executable, str(TREE / "scripts/docs.py"), str(folder)], check=True, stdout=subprocess.PIPE)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), lambda *request: Quiet(*request, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_guide_is_as_wide_as_a_phone_and_its_pictures_are_there(browser, guides):
    context = browser.new_context(viewport={"width": 400, "height": 900})
    page = context.new_page()
    for name in PAGES:
        assert page.goto(f"{guides}/{name}.html").status == 200, name
        assert page.evaluate("document.documentElement.scrollWidth") == 400, name
        page.evaluate("for (const image of document.images) image.loading = 'eager'")
        broken = "[...document.images].filter((of) => of.complete && !of.naturalWidth).map((of) => of.src)"
        page.wait_for_function("[...document.images].every((of) => of.complete)")
        assert page.evaluate(broken) == [], name
    context.close()


def test_the_search_leads_to_a_guide(browser, guides):
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{guides}/index.html")
    page.locator("input[name=query]").fill("heat map")
    results = page.locator(".md-search-result__link")
    expect(results.filter(has_text="Dashboard").first).to_be_attached(timeout=20000)
    context.close()
