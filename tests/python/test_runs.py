"""What headway.runs() shows, of runs at work and of those that have ended."""

import os
import statistics
import threading
import time

import headway
import pytest
from headway import _core, train
from headway._runtime import runtime as driver_runtime


def run_named(name):
    """The newest one."""
    return [run for run in headway.runs() if run["name"] == name][-1]


@pytest.fixture
def in_thread():
    """``in_thread(function)``: calls it in a thread; what it raises is raised at the end."""
    threads, errors = [], []

    def start(function):
        def call():
            try:
                function()
            except BaseException as error:
                errors.append(error)

        threads.append(threading.Thread(target=call))
        threads[-1].start()

    yield start
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def test_without_a_driver_there_are_no_runs():
    headway.shutdown()
    assert headway.runs() == []
    assert not headway.is_initialized()


def test_a_run_is_seen_at_work_and_when_it_has_ended(fit, in_thread, tmp_path):
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    seen = {}

    def loop(config):
        train.report({"loss": 0.5})
        if train.get_context().get_world_rank() == 1:
            with open(config["gate"]) as held:
                held.read()
        train.report({"loss": 0.25})

    def look():
        try:
            until = time.monotonic() + 60
            while "wait" not in seen and time.monotonic() < until:
                for run in headway.runs():
                    waits = [rank["waits_for"] for rank in run["ranks"]]
                    if run["name"] == "watched" and waits[:1] == ["other ranks to come to report #2"]:
                        seen.update(run)
        finally:
            gate.write_text("go")

    in_thread(look)
    result = fit(loop, name="watched", config={"gate": str(gate)})
    assert (seen["state"], seen["wait"]["awaited"]) == ("running", [1])
    assert seen["ranks"][1]["waits_for"] == ""
    assert {rank["node_id"] for rank in seen["ranks"]} == {"local"}
    assert (seen["reports"]["count"], seen["reports"]["last"]["metrics"]) == (1, {"loss": 0.5})
    assert (seen["attempt"], seen["workers"], seen["failure"]) == (1, 2, None)
    ended = run_named("watched")
    assert ended["state"] == "finished"
    assert ended["path"] == result.path
    assert ended["reports"]["count"] == 2


def test_a_failed_run_says_why(fit):
    def loop():
        raise ValueError("bad batch")

    with pytest.raises(train.WorkerGroupError):
        fit(loop, name="failed")
    assert "bad batch" in run_named("failed")["failure"]["message"]
    assert run_named("failed")["state"] == "failed"


def test_no_more_watches_than_there_may_be():
    headway.init(ignore_reinit_error=True)
    runtime = driver_runtime.get_runtime()
    watches = [runtime.watch() for _ in range(64)]
    with pytest.raises(OSError, match="there are 64 watches already"):
        runtime.watch()
    watches.clear()
    assert runtime.watch().next(30) is not None


def test_a_watch_ends_with_the_driver():
    headway.init(ignore_reinit_error=True)
    watch = driver_runtime.get_runtime().watch()
    assert isinstance(watch, _core.Watch)
    assert watch.next(30) is not None
    answers = []
    thread = threading.Thread(target=lambda: answers.extend([watch.next(600), watch.next(600)]))
    thread.start()
    headway.shutdown()
    thread.join()
    assert answers[1] is None


def report_median(fit):
    def loop():
        import statistics
        import time

        times = []
        for step in range(1500):
            begun = time.perf_counter()
            train.report({"step": step})
            times.append(time.perf_counter() - begun)
        return statistics.median(times)

    return fit(loop).return_value


def test_eight_watchers_do_not_slow_reports_down(fit):
    fit(lambda: None)
    stop = threading.Event()

    def watch():
        look = driver_runtime.get_runtime().watch()
        while not stop.is_set():
            look.next(0.5)

    plain, watched = [], []
    for _ in range(3):
        plain.append(report_median(fit))
        stop.clear()
        watchers = [threading.Thread(target=watch) for _ in range(8)]
        for watcher in watchers:
            watcher.start()
        watched.append(report_median(fit))
        stop.set()
        for watcher in watchers:
            watcher.join()
    print(f"median of a report: {plain} s alone, {watched} s with eight watchers")
    # The machine's other work moves these figures by much more than the watchers do.
    assert min(watched) < 1.5 * statistics.median(plain) + 100e-6
