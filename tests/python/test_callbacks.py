"""Callbacks of RunConfig: what they hear, in which order and thread, and what their errors do."""

import json
import os
import pickle
import signal
import threading

import pytest
from headway import train, tune
from headway.tune.logger import CSVLoggerCallback, JsonLoggerCallback, LoggerCallback, TBXLoggerCallback


def fit_with(storage, loop, callbacks, workers=2, max_failures=0, config=None, **run):
    return train.DataParallelTrainer(
        loop,
        train_loop_config=config,
        scaling_config=train.ScalingConfig(num_workers=workers),
        run_config=train.RunConfig(
            storage_path=storage,
            name="run",
            callbacks=callbacks,
            failure_config=train.FailureConfig(max_failures),
            **run,
        ),
    ).fit()


def report_rank(config):
    context = train.get_context()
    for step in range(config.get("steps", 1)):
        train.report({"step": step, "rank": context.get_world_rank()})


class Recorder(train.UserCallback):
    def __init__(self):
        self.reports = []
        self.failures = []
        self.threads = set()

    def after_report(self, run_context, metrics, checkpoint):
        self.threads.add((os.getpid(), threading.get_ident()))
        self.context = run_context
        self.reports.append((metrics, checkpoint))

    def after_exception(self, run_context, worker_exceptions):
        self.failures.append(worker_exceptions)


def test_after_report_hears_each_rank_s_metrics_in_this_thread_in_order(storage):
    recorder = Recorder()
    fit_with(storage, report_rank, [recorder], config={"steps": 3})
    ranks = [[(each["step"], each["rank"]) for each in metrics] for metrics, _ in recorder.reports]
    assert ranks == [[(step, 0), (step, 1)] for step in range(3)]
    assert recorder.threads == {(os.getpid(), threading.get_ident())}
    assert recorder.context.get_run_config().name == "run"
    assert recorder.context.train_loop_config == {"steps": 3}


def test_after_report_gets_the_committed_checkpoint(storage, tmp_path):
    (tmp_path / "model").mkdir()
    (tmp_path / "model/model.txt").write_text("weights")

    class Reader(train.UserCallback):
        def after_report(self, run_context, metrics, checkpoint):
            with checkpoint.as_directory() as directory, open(os.path.join(directory, "model.txt")) as file:
                self.content = file.read()

    def loop():
        saved = train.Checkpoint.from_directory(str(tmp_path / "model"))
        train.report({}, checkpoint=saved if train.get_context().get_world_rank() == 0 else None)

    reader = Reader()
    fit_with(storage, loop, [reader])
    assert reader.content == "weights"


def test_after_exception_hears_of_each_attempt(storage, tmp_path):
    def loop():
        rank = train.get_context().get_world_rank()
        attempt = len(os.listdir(tmp_path / "attempts"))
        train.report({})  # Both have looked.
        if attempt == 0 and rank == 1:
            (tmp_path / "attempts" / "first").touch()
            raise ValueError("bad batch")
        if attempt == 1 and rank == 0:
            (tmp_path / "attempts" / "second").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        if attempt < 2:
            signal.pause()

    (tmp_path / "attempts").mkdir()

    recorder = Recorder()
    fit_with(storage, loop, [recorder], max_failures=2)
    first, second = recorder.failures
    assert list(first) == [1]
    assert isinstance(first[1], ValueError)
    assert str(first[1]) == "bad batch"
    assert list(second) == [0]
    assert (type(second[0]), second[0].signal, second[0].attempt) == (train.WorkerDied, signal.SIGKILL, 2)


@pytest.mark.parametrize("method", ["after_report", "after_exception", "on_trial_start", "on_trial_result"])
def test_a_callback_that_raises_fails_the_run_and_is_named(storage, method):
    base = train.UserCallback if method.startswith("after") else tune.Callback

    def raises(self, *args, **kwargs):
        raise KeyError("no such metric")

    raises.__name__ = method
    broken = type("Broken", (base,), {method: raises})()

    def loop():
        train.report({"loss": 1})
        raise ValueError("the loop's own")

    with pytest.raises(train.ControllerError, match=rf"the callback Broken.{method} raised KeyError") as caught:
        fit_with(storage, loop, [broken], max_failures=-1)
    assert isinstance(caught.value.controller_failure, KeyError)
    assert caught.value.__cause__ is caught.value.controller_failure
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    if method != "on_trial_start":  # That one is called before the run's folder may be there.
        stored = train.Result.from_path(os.path.join(storage, "run"))
        assert f"Broken.{method} raised KeyError" in str(stored.error)


class Journal(LoggerCallback):
    def __init__(self):
        self.calls = []

    def log_trial_start(self, trial):
        self.calls.append(("start", trial.trial_name, trial.config["steps"]))

    def log_trial_result(self, iteration, trial, result):
        self.calls.append(("result", iteration, result["step"], result["config"]["steps"], trial.last_result is result))

    def log_trial_end(self, trial, failed=False):
        self.calls.append(("end", failed, trial.status))


def test_a_logger_hears_start_results_and_end(storage):
    journal = Journal()
    fit_with(storage, report_rank, [journal], config={"steps": 2})
    assert journal.calls == [
        ("start", "run", 2),
        ("result", 1, 0, 2, True),
        ("result", 2, 1, 2, True),
        ("end", False, "TERMINATED"),
    ]


def test_a_logger_hears_a_failure_at_the_end(storage):
    def loop(config):
        raise ValueError("bad batch")

    journal = Journal()
    with pytest.raises(train.WorkerGroupError, match="bad batch"):
        fit_with(storage, loop, [journal], config={"steps": 0})
    assert journal.calls[-1] == ("end", True, "ERROR")


def test_the_older_callbacks_hear_checkpoints_and_restarts(storage, tmp_path):
    heard = []

    class Recording(tune.Callback):
        def setup(self, stop=None, **info):
            heard.append("setup")

        def on_checkpoint(self, iteration, trials, trial, checkpoint, **info):
            heard.append(("checkpoint", iteration, os.path.basename(checkpoint.path)))

        def on_trial_recover(self, iteration, trials, trial, **info):
            heard.append("recover")

        def on_trial_restore(self, iteration, trials, trial, **info):
            heard.append(("restore", os.path.basename(trial.checkpoint.path)))

        def on_experiment_end(self, trials, **info):
            heard.append("over")

    def loop():
        if train.get_checkpoint() is None:
            train.report({}, checkpoint=train.Checkpoint.from_dict({"x": 1}))
            raise ValueError("once")

    fit_with(storage, loop, [Recording()], workers=1, max_failures=1)
    name = "checkpoint_000000"
    assert heard == ["setup", ("checkpoint", 1, name), "recover", ("restore", name), "over"]


def test_an_error_at_the_end_leaves_the_stored_result_as_it_is(storage):
    class Broken(LoggerCallback):
        def log_trial_end(self, trial, failed=False):
            raise OSError("the log is full")

    with pytest.raises(train.ControllerError, match=r"Broken\.on_trial_complete raised OSError: the log is full"):
        fit_with(storage, report_rank, [Broken()], config={})
    assert train.Result.from_path(os.path.join(storage, "run")).error is None


def test_the_loggers_of_what_is_written_anyway_change_nothing(storage):
    fit_with(storage, report_rank, [JsonLoggerCallback(), CSVLoggerCallback(), TBXLoggerCallback()], config={})
    folder = os.path.join(storage, "run")
    with open(os.path.join(folder, "result.json")) as file:
        assert [json.loads(line)["step"] for line in file] == [0]
    with open(os.path.join(folder, "progress.csv")) as file:
        assert len(file.readlines()) == 2
    assert sum("tfevents" in name for name in os.listdir(folder)) == 1


def test_ranks_are_never_further_ahead_than_sixteen_reports(storage, tmp_path):
    """The callback looks at how far the loop has come, which writes before each of its reports."""
    ahead = []

    class Slow(train.UserCallback):
        def after_report(self, run_context, metrics, checkpoint):
            if not ahead:
                # Until the loop stands still: it can make no report beyond the bound.
                while not os.path.exists(tmp_path / "16"):
                    os.sched_yield()
            ahead.append(max(int(name) for name in os.listdir(tmp_path) if name.isdigit()) - metrics[0]["step"])

    def loop():
        for step in range(40):
            open(tmp_path / str(step), "w").close()
            train.report({"step": step})

    fit_with(storage, loop, [Slow()], workers=1)
    assert len(ahead) == 40
    assert max(ahead) <= 16


def test_ctrl_c_ends_loggers_too(script):
    status, output = script.run(
        """
        import os, signal
        from headway import train
        from headway.tune.logger import LoggerCallback

        class Closes(LoggerCallback):
            def log_trial_result(self, iteration, trial, result):
                os.kill(os.getpid(), signal.SIGINT)

            def log_trial_end(self, trial, failed=False):
                print("closed", failed, flush=True)

        def loop():
            train.report({"x": 1})
            signal.pause()

        train.DataParallelTrainer(loop, run_config=train.RunConfig(callbacks=[Closes()])).fit()
        """
    )
    assert status == 130
    assert "closed True" in output
