"""Descriptors of a driver that runs many trainings."""

import gc
import os

import pytest
from headway import train
from headway.train import events

RUNS = 20


def open_descriptors():
    return len(os.listdir("/proc/self/fd"))


def left_by(run):
    """How many more descriptors are open after RUNS runs than after one."""
    run()  # What stays for the next runs is there now.
    before = open_descriptors()
    for _ in range(RUNS):
        run()
    return open_descriptors() - before


@pytest.fixture
def no_cycle_collector():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def test_no_descriptor_of_a_run_waits_for_the_cycle_collector(fit, no_cycle_collector):
    # The last run may just be ending: one that leaves a single descriptor would leave RUNS of them.
    assert left_by(lambda: fit(lambda: None)) < RUNS // 2


@pytest.mark.parametrize("workers", [0, 1])
def test_no_descriptor_of_a_started_run_waits_for_the_cycle_collector(storage, no_cycle_collector, workers):
    trainer = train.DataParallelTrainer(
        lambda: train.report({"x": 1}),
        scaling_config=train.ScalingConfig(num_workers=workers),
        run_config=train.RunConfig(storage_path=storage, verbose=0),
    )

    def run():
        assert [type(event) for event in trainer.start().events()][-1] is events.Finished

    assert left_by(run) < RUNS // 2
