"""Descriptors of a driver that runs many trainings."""

import gc
import os

import pytest
from headway import train
from headway.train import events


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
    assert open_descriptors() <= before + 2  # Its last run may just be ending.


@pytest.mark.parametrize("workers", [0, 1])
def test_no_descriptor_of_a_started_run_waits_for_the_cycle_collector(storage, no_cycle_collector, workers):
    trainer = train.DataParallelTrainer(
        lambda: train.report({"x": 1}),
        scaling_config=train.ScalingConfig(num_workers=workers),
        run_config=train.RunConfig(storage_path=storage, verbose=0),
    )
    trainer.start().wait()
    before = open_descriptors()
    for _ in range(20):
        assert [type(event) for event in trainer.start().events()][-1] is events.Finished
    assert open_descriptors() <= before + 2  # Its last run may just be ending.
