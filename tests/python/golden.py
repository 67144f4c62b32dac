"""What frameworks have computed by themselves, as it was when the tests were written:
tests/fixtures/losses.
"""

import json
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "fixtures" / "losses"


def losses(framework, rel=1e-4):
    """To compare losses with; another processor rounds otherwise."""
    return pytest.approx(kept(framework), rel=rel)


def kept(framework):
    return json.loads((FOLDER / f"{framework}.json").read_text())


def trees(frame, feature, threshold, value):
    """All nodes of a model's trees, from ``trees_to_dataframe()``: what they ask for, and the
    threshold or the leaf's value.
    """
    numbers = frame[threshold].fillna(frame[value]).astype(float)
    return {"features": " ".join(frame[feature].fillna("Leaf")), "numbers": [float(f"{each:.6g}") for each in numbers]}


def check_trees(made, framework):
    wanted = kept(framework)
    assert made["features"] == wanted["features"]
    assert made["numbers"] == pytest.approx(wanted["numbers"], rel=1e-4, abs=1e-6)
