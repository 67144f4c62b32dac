"""The API reference: every public module has a page, and every public name its words."""

import importlib
import importlib.util
import inspect
from pathlib import Path

import pytest

pytest.importorskip("pdoc")

SCRIPT = Path(__file__).parents[2] / "scripts" / "docs.py"


@pytest.fixture(scope="module")
def docs():
    spec = importlib.util.spec_from_file_location("docs", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_public_modules_are_found_and_private_ones_are_not(docs):
    found = list(docs.public_modules("headway"))
    assert {
        "headway",
        "headway.train",
        "headway.train.torch",
        "headway.tune.logger",
        "headway.train.v2.api.config",
    } < set(found)
    assert not any(part.startswith("_") for name in found for part in name.split("."))


def test_what_a_module_offers_has_a_docstring(docs):
    silent = []
    for name in docs.public_modules("headway"):
        module = importlib.import_module(name)
        for offered in getattr(module, "__all__", ()):
            thing = getattr(module, offered)
            if (inspect.isclass(thing) or inspect.isfunction(thing)) and not inspect.getdoc(thing):
                silent.append(f"{name}.{offered}")
    assert silent == []


def test_a_page_has_names_arguments_and_examples(docs, tmp_path):
    docs.write(["headway", "headway.tune.stopper"], tmp_path)
    page = (tmp_path / "headway" / "tune" / "stopper.html").read_text()
    for words in ("TrialPlateauStopper", "num_results", "Reports before the first judgement", "Falls"):
        assert words in page
    assert "href='headway/tune/stopper.html'" in (tmp_path / "index.html").read_text()
