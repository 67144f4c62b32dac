"""Descriptors of a driver that runs many trainings."""

import gc
import os

import pytest


def open_descriptors():
    return len(os.listdir("/proc/self/fd"))


@pytest.fixture
def no_cycle_collector():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def test_no_descriptor_of_a_run_waits_for_the_cycle_collector(fit, no_cycle_collector):
    fit(lambda: None)  # What stays for the next runs is there now.
    before = open_descriptors()
    for _ in range(20):
        fit(lambda: None)
    assert open_descriptors() <= before
