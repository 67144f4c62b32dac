"""For all tests: those that are marked heavy are run by ``make test-all`` alone."""

import os

import pytest

pytest_plugins = ["budget"]


def pytest_collection_modifyitems(items):
    if os.environ.get("HEADWAY_TEST_HEAVY"):
        return
    for item in items:
        if item.get_closest_marker("heavy"):
            item.add_marker(pytest.mark.skip(reason="heavy: `make test-all` runs it, HEADWAY_TEST_HEAVY=1 as well"))
