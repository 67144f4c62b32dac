"""``trainer.start()``: a run that is waited for, stopped and listened to through its handle."""

import contextlib
import json
import os
import signal
import threading

import pytest
from headway import train
from headway.train import events


@pytest.fixture
def gate(tmp_path):
    """A pipe that a training function reads, and waits for until it is written."""
    path = str(tmp_path / "gate")
    os.mkfifo(path)
    return path


def open_gate(path):
    with open(path, "w") as file:
        file.write("go\n")


def start(loop, storage, workers=1, config=None, **options):
    return train.DataParallelTrainer(
        loop,
        train_loop_config=config,
        scaling_config=train.ScalingConfig(num_workers=workers),
        run_config=train.RunConfig(name="run", storage_path=storage, **options),
    ).start()


def report_then_wait(config):
    train.report({"n": 1})
    with open(config["gate"]) as file:
        file.read()
    train.report({"n": 2})
    return "returned"


def report_for_ever():
    n = 0
    while True:
        n += 1
        train.report({"n": n})


def wait_for_report(handle):
    return next(event for event in handle.events() if isinstance(event, events.ReportRecorded))


@pytest.mark.parametrize("workers", [0, 1])
def test_a_wait_that_is_too_short_leaves_the_run_alone(storage, gate, workers):
    handle = start(report_then_wait, storage, workers, {"gate": gate})
    assert handle.path == f"{storage}/run"
    with pytest.raises(TimeoutError, match=r"not ended within 0\.1 s; it continues"):
        handle.wait(0.1)
    assert not handle.done
    open_gate(gate)
    result = handle.wait()
    assert handle.done
    assert result.metrics["n"] == 2
    assert result.return_value == "returned"
    assert handle.wait(0) is result


@pytest.mark.parametrize("workers", [0, 2])
def test_a_run_that_is_stopped_ends_as_finished_with_what_it_has_reported(storage, workers):
    handle = start(report_for_ever, storage, workers)
    wait_for_report(handle)
    stopping = threading.Thread(target=handle.stop, args=("far enough",))
    stopping.start()
    stopping.join()
    result = handle.wait()
    assert result.error is None
    assert result.metrics["n"] >= 1
    with open(os.path.join(result.path, "run.json")) as file:
        journal = json.load(file)
    assert journal["state"] == "finished"
    assert journal["stop_reason"] == "far enough"
    handle.stop("nobody is there any more")  # Does nothing.
    with pytest.raises(ValueError, match=r"reason is .*; allowed: text that UTF-8 has"):
        handle.stop("\ud800")


def test_a_run_that_is_stopped_before_it_has_reported_ends_as_finished(storage, gate):
    handle = start(report_then_wait, storage, config={"gate": gate})
    handle.stop()
    result = handle.wait()
    assert result.error is None
    assert result.checkpoint is None


@pytest.mark.parametrize("workers", [0, 1])
def test_what_fit_raises_is_raised_by_wait_each_time(storage, workers):
    def loop():
        raise ValueError("bad batch")

    handle = start(loop, storage, workers)
    kind = ValueError if workers == 0 else train.WorkerGroupError
    for _ in range(2):
        with pytest.raises(kind, match="bad batch"):
            handle.wait()
    assert handle.done


def test_what_can_never_be_had_is_raised_by_wait(storage):
    trainer = train.DataParallelTrainer(
        lambda: None,
        scaling_config=train.ScalingConfig(resources_per_worker={"nothing": 1}),
        run_config=train.RunConfig(storage_path=storage),
    )
    with pytest.raises(ValueError, match="nothing"):
        trainer.start().wait()


def test_bad_arguments_are_raised_by_start(storage):
    trainer = train.DataParallelTrainer(
        lambda: None, resume_from_checkpoint=train.Checkpoint(storage), run_config=train.RunConfig(storage_path=storage)
    )
    with pytest.raises(FileNotFoundError, match="resume_from_checkpoint"):
        trainer.start()


def test_events_come_in_order_and_end_with_the_run(storage, gate):
    def loop(config):
        with open(config["gate"]) as file:
            file.read()
        print("hello from the rank")
        train.report({"n": 1})
        train.report({"n": 2})

    handle = start(loop, storage, config={"gate": gate})
    heard = handle.events()
    open_gate(gate)
    told = list(heard)
    handle.wait()
    assert [event.line["n"] for event in told if isinstance(event, events.ReportRecorded)] == [1, 2]
    assert [event.line for event in told if isinstance(event, events.RankLine)] == [b"hello from the rank"]
    assert isinstance(told[-1], events.Finished)
    assert told[-1].outcome.state == "finished"
    assert told[-1].outcome.attempts == 1
    (late,) = handle.events()
    assert isinstance(late, events.Finished)


def test_threads_that_share_an_iterator_all_end_with_the_run(storage):
    handle = start(report_for_ever, storage)
    shared = handle.events()
    ended = []
    threads = [threading.Thread(target=lambda: ended.append([*shared]), daemon=True) for _ in range(4)]
    for thread in threads:
        thread.start()
    wait_for_report(handle)
    handle.stop()
    for thread in threads:
        thread.join(30)
    assert len(ended) == 4


def test_a_wait_may_be_longer_than_the_clock_counts(storage):
    assert start(lambda: train.report({"n": 1}), storage).wait(1e300).metrics["n"] == 1


def test_a_failed_attempt_is_an_event(storage):
    def loop():
        if train.get_context().get_world_rank() == 1:
            raise ValueError("bad batch")
        train.report({"n": 1})

    handle = start(loop, storage, workers=2)
    failed = [event for event in handle.events() if isinstance(event, events.AttemptFailed)]
    with pytest.raises(train.WorkerGroupError):
        handle.wait()
    (event,) = failed
    assert event.attempt == 1
    assert [each.rank for each in event.failure.ranks] == [1]


def test_two_runs_at_once(tmp_path, gate):
    waiting = start(report_then_wait, str(tmp_path / "a"), config={"gate": gate})
    other = start(lambda: "done", str(tmp_path / "b")).wait()
    assert other.return_value == "done"
    assert not waiting.done
    open_gate(gate)
    assert waiting.wait().return_value == "returned"


def test_a_handle_in_a_forked_child_raises_and_the_run_goes_on(storage, gate):
    handle = start(report_then_wait, storage, 1, {"gate": gate})
    uses = [handle.wait, handle.stop, handle.events, lambda: handle.done]
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        for use in uses:
            with contextlib.suppress(BaseException):
                try:
                    use()
                except RuntimeError as error:
                    os.write(writing, f"{error}\n".encode())
        os._exit(0)
    os.close(writing)
    os.waitpid(child, 0)
    with os.fdopen(reading) as said:
        lines = said.read().splitlines()
    words = f"the handle of {storage}/run belongs to process {os.getpid()}, from which process {child} was forked"
    assert [line.partition(";")[0] for line in lines] == [words] * len(uses)
    assert not handle.done
    open_gate(gate)
    assert handle.wait().metrics["n"] == 2


def test_a_handle_that_nobody_waits_for_is_served(storage):
    handle = start(lambda: train.report({"n": 1}), storage)
    for event in handle.events():
        if isinstance(event, events.Finished):
            assert event.outcome.state == "finished"
    assert handle.wait(10).metrics["n"] == 1


def test_a_training_function_starts_no_run(storage, fail):
    def loop():
        train.DataParallelTrainer(lambda: None).start()

    assert "fit() was called inside a training function" in str(fail(loop, workers=1))


def test_ctrl_c_in_wait_aborts_the_run(script):
    script.start(
        """
        import threading
        from headway import train

        def loop():
            train.report({"n": 1})
            print("at work", flush=True)
            threading.Event().wait()

        train.DataParallelTrainer(loop, run_config=train.RunConfig(name="run")).start().wait()
        """
    )
    script.wait_for("at work")
    os.killpg(script.process.pid, signal.SIGINT)
    status, output = script.finish(10)
    assert status == 130
    assert "Traceback" not in output
    assert "the same name and storage path resume the run" in output.splitlines()[-1]
    with open(os.path.join(script.storage, "run", "run.json")) as file:
        assert json.load(file)["state"] == "aborted"


def test_a_validation_function_may_start_and_stop_a_run(fit, tmp_path):
    nested = str(tmp_path / "nested")

    def validate(checkpoint):
        handle = start(report_for_ever, nested)
        wait_for_report(handle)
        handle.stop()
        return {"nested_reports": min(handle.wait().metrics["n"], 1)}

    def loop():
        train.report({"n": 1}, checkpoint=train.Checkpoint.from_dict({}), validation=True)

    result = fit(loop, workers=1, validation_config=train.ValidationConfig(validate))
    assert result.best_checkpoints[0][1]["nested_reports"] == 1
