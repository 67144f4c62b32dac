"""The site of `make docs`: every link leads somewhere, every public name has its words, and the
site can be searched and read without a network.
"""

import importlib
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mkdocs")

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "scripts"))

from public_modules import modules_with_pages, public_modules  # noqa: E402


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The whole site, as `make docs` writes it; a link or an anchor that leads nowhere ends it."""
    target = tmp_path_factory.mktemp("docs") / "site"
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "docs.py", target], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return target


def anchors(page):
    return set(re.findall(r'id="([^"]+)"', page.read_text()))


def test_public_modules_are_found_and_private_ones_are_not():
    found = public_modules("headway")
    assert {
        "headway",
        "headway.train",
        "headway.train.torch",
        "headway.tune.logger",
        "headway.train.v2.api.config",
    } < set(found)
    assert not any(part.startswith("_") for name in found for part in name.split("."))


def test_what_a_module_offers_has_a_docstring():
    silent = []
    for name in public_modules("headway"):
        module = importlib.import_module(name)
        for offered in getattr(module, "__all__", ()):
            thing = getattr(module, offered)
            if callable(thing) and not (thing.__doc__ or "").strip():
                silent.append(f"{name}.{offered}")
    assert silent == []


def test_every_public_name_is_on_its_modules_page(site):
    missing = []
    for name in modules_with_pages("headway"):
        there = anchors(site / "api" / f"{name}.html")
        module = importlib.import_module(name)
        for offer in filter(callable, (getattr(module, offer) for offer in getattr(module, "__all__", ()))):
            # A second name of a class, for Ray's scripts, is described under the first.
            if f"{name}.{offer.__name__}" not in there:
                missing.append(f"{name}.{offer.__name__}")
    assert missing == []


def test_a_name_has_arguments_defaults_and_examples(site):
    page = (site / "api" / "headway.tune.html").read_text()
    for words in ("TrialPlateauStopper", "num_results", "Reports before the first judgement", "&gt;&gt;&gt;"):
        assert words in page


def test_arguments_that_share_a_description_are_one_row(site):
    page = (site / "api" / "headway.data.html").read_text()
    assert "prefetch_batches, batch_size, drop_last, local_shuffle_buffer_size, local_shuffle_seed" in page


def test_no_role_of_sphinx_is_left(site):
    pages = (site / "api").glob("*.html")
    assert [page.name for page in pages if re.search(r":(func|class|meth):", page.read_text())] == []


def test_the_search_knows_guides_and_both_references(site):
    index = json.loads((site / "search" / "search_index.json").read_text())
    places = {entry["location"].partition("#")[0] for entry in index["docs"]}
    assert {"docs/training.html", "docs/cpp_api.html", "api/headway.train.html"} <= places


def test_nothing_is_loaded_from_other_hosts(site):
    loads = re.compile(
        r'(?:<(?:script|img|iframe)[^>]+src="?https?:|<link[^>]+stylesheet[^>]+href="?https?:|@import|url\(https?:)'
    )
    assert [str(page) for page in site.rglob("*.html") if loads.search(page.read_text())] == []


def test_a_linked_source_file_is_a_page(site):
    assert "TorchTrainer" in (site / "examples" / "gpt_fsdp.py.html").read_text()
