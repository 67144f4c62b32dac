"""Drivers and training functions that do odd things: nothing crashes, nothing hangs, nothing is
lost.
"""

import os
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest
from headway import train

pytestmark = pytest.mark.both_starts


def script(code, tmp_path, **kwargs):
    """Runs a separate driver."""
    code = "from headway import train\nimport headway, os, sys\n" + textwrap.dedent(code)
    env = dict(os.environ, HEADWAY_STORAGE=str(tmp_path))
    return subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=60, **kwargs)


def test_a_shutdown_while_ranks_print_ends_cleanly(tmp_path):
    done = script(
        """
        import threading
        started = threading.Event()
        class Starts:
            def write(self, text):
                started.set()
                return len(text)
            def flush(self):
                pass
        def loop():
            while True:
                print("x" * 1000)
        sys.stdout = Starts()
        def end():
            started.wait()
            headway.shutdown()
        threading.Thread(target=end).start()
        try:
            train.DataParallelTrainer(loop, scaling_config=train.ScalingConfig(num_workers=2)).fit()
        except RuntimeError as error:
            print(error, file=sys.stderr)
        """,
        tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert "the shutdown of Headway ended the run" in done.stderr


def test_a_fork_of_the_driver_ends_by_itself_and_may_train_too(tmp_path):
    done = script(
        """
        def loop():
            train.report({"pid": os.getpid()})
        def fit():
            return train.DataParallelTrainer(loop).fit().metrics["pid"]
        first = fit()
        for again in (False, True):
            pid = os.fork()
            if pid == 0:
                sys.exit(7 if not again or fit() != first else 1)
            _, status = os.waitpid(pid, 0)
            print("child", os.waitstatus_to_exitcode(status), flush=True)  # The next fork has nothing of it.
        print(fit() != first)
        """,
        tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert [line for line in done.stdout.splitlines() if line.startswith(("child", "True"))] == [
        "child 7",
        "child 7",
        "True",
    ]


def test_standard_output_that_is_closed_is_no_obstacle(tmp_path):
    done = script(
        """
        sys.stdout = None
        result = train.DataParallelTrainer(lambda: train.report({"x": 1})).fit()
        assert result.metrics["x"] == 1
        """,
        tmp_path,
    )
    assert done.returncode == 0, done.stderr


def test_streams_that_can_only_write_show_the_run(tmp_path):
    done = script(
        """
        class Stream:
            def __init__(self):
                self.text = ""
            def write(self, text):
                self.text += text
            def flush(self):
                pass
        sys.stdout, sys.stderr = Stream(), Stream()
        train.DataParallelTrainer(lambda: train.report({"x": 1}), scaling_config=train.ScalingConfig(2)).fit()
        train.DataParallelTrainer(lambda: None, run_config=train.RunConfig(stop={"no_such": 1})).fit()
        sys.__stdout__.write(sys.stdout.text)
        sys.__stderr__.write(sys.stderr.text)
        """,
        tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0].split() == ["report", "x", "time_s", "checkpoint"]


def test_a_working_directory_that_is_gone_is_told(tmp_path):
    done = script(
        """
        os.mkdir("gone")
        os.chdir("gone")
        os.rmdir(os.getcwd())
        train.DataParallelTrainer(lambda: None).fit()
        """,
        tmp_path,
        cwd=tmp_path,
    )
    assert "FileNotFoundError: the working directory of this process is gone" in done.stderr


def test_handed_over_files_stay_when_another_rank_s_cannot_be_stored(fit, tmp_path):
    def loop(config):
        import resource

        rank = train.get_context().get_world_rank()
        directory = Path(config["tmp"], str(rank))
        directory.mkdir()
        (directory / f"rank_{rank}").write_text("x" * 4096)
        if rank == 1:
            # So that it has to be copied.
            os.link(directory / "rank_1", directory.parent / "second_name")
            resource.setrlimit(resource.RLIMIT_FSIZE, (1024, 1024))
        checkpoint = train.Checkpoint.from_directory(directory)
        with pytest.raises(OSError, match="rank 1 could not store its part"):
            train.report({"x": 1}, checkpoint, delete_local_checkpoint_after_upload=True)

    fit(loop, config={"tmp": str(tmp_path)})
    assert (tmp_path / "0" / "rank_0").read_text() == "x" * 4096
    assert (tmp_path / "1" / "rank_1").read_text() == "x" * 4096


def test_a_directory_handed_over_asynchronously_beside_a_synchronous_one_is_removed(fit, tmp_path):
    def loop(config):
        rank = train.get_context().get_world_rank()
        directory = Path(config["tmp"], str(rank))
        directory.mkdir()
        (directory / f"rank_{rank}").write_text("x")
        modes = (train.CheckpointUploadMode.ASYNC, train.CheckpointUploadMode.SYNC)
        train.report({"x": 1}, train.Checkpoint.from_directory(directory), checkpoint_upload_mode=modes[rank])

    fit(loop, config={"tmp": str(tmp_path)})
    assert not (tmp_path / "0").exists()
    assert (tmp_path / "1").exists()


def test_a_thread_that_reports_after_the_function_has_returned_is_refused(fit):
    def loop():
        def late():
            threading.main_thread().join(0.3)  # It has returned from the loop by then.
            try:
                train.report({"late": 1})
            except ValueError as error:
                print(error)

        threading.Thread(target=late).start()

    result = fit(loop, workers=1)
    assert (
        "report() was called after the training function had returned"
        in Path(result.path, "logs", "rank_0.log").read_text()
    )


def test_a_loop_that_closes_every_descriptor_is_told_as_a_worker_that_ended(fit):
    def loop():
        os.closerange(3, 4096)
        train.report({"x": 1})

    # Its end may be known before the loss of its connection is.
    with pytest.raises(train.WorkerGroupError, match=r"(lost its connection|exited with code 1 before)"):
        fit(loop, workers=1)


def test_a_report_beyond_all_bounds_is_refused_and_the_next_one_works(fit):
    def loop():
        with pytest.raises(ValueError, match="beyond the bounds"):
            train.report({"blob": "x" * (257 << 20)})
        train.report({"x": 1})

    assert fit(loop, workers=1).metrics["x"] == 1


def test_a_metric_with_the_name_of_the_runs_clock_does_not_move_it(fit):
    fit(lambda: train.report({"time_total_s": 1e300}), workers=1, name="run")
    result = fit(lambda: train.report({"x": 1}), workers=1, name="run")
    assert 0 <= result.metrics["time_total_s"] < 3600


@pytest.mark.parametrize("value", ["abc", None, 5, [1]])
@pytest.mark.parametrize("key", ["time_total_s", "checkpoint_dir_name", "training_iteration", "date"])
def test_metrics_with_the_names_of_automatic_ones(fit, key, value):
    result = fit(lambda: train.report({key: value}), workers=1)
    assert result.metrics[key] == value


def test_a_configuration_that_json_does_not_have(fit):
    class Unprintable:
        def __repr__(self):
            raise RuntimeError("no")

    nested = []
    for _ in range(300):
        nested = [nested]
    config = {"nested": nested, "half": "\udc80", "odd": Unprintable(), "long": "x" * 10_000_000, 3: {4: 5}}
    result = fit(lambda config: train.report({"keys": len(config)}), workers=1, config=config)
    assert result.metrics["keys"] == 5
    assert set(train.Result.from_path(result.path).config) == {"nested", "half", "odd", "long", "3"}
    assert os.path.getsize(os.path.join(result.path, "params.json")) < 20_000


def test_one_odd_value_does_not_hide_those_beside_it(fit):
    itself = {"depth": 1}
    itself["again"] = itself
    model = {"layers": [64, {32}], "init": os.fspath, ("a", 1): {"rate": 0.1}}
    result = fit(lambda config: train.report({}), workers=1, config={"model": model, "itself": itself})
    shown = train.Result.from_path(result.path).config
    assert shown["model"]["layers"] == [64, "{32}"]
    assert shown["model"]["init"].startswith("<built-in function fspath")
    assert shown["model"]["('a', 1)"] == {"rate": 0.1}
    assert shown["itself"]["again"]["again"]["depth"] == 1


def test_a_return_value_that_cannot_be_loaded_leaves_the_result(fit, capfd):
    class Bomb:
        def __reduce__(self):
            return os.getpgid, (-1,)

    result = fit(lambda: [train.report({"x": 1}), Bomb()][1], workers=1)
    assert result.return_value is None
    assert result.metrics["x"] == 1
    assert "rank 0's return value cannot be loaded here" in capfd.readouterr().err


def test_an_exception_s_whole_chain_its_notes_and_its_group_are_told(fit):
    def loop():
        try:
            try:
                1 / 0  # noqa: B018
            except ZeroDivisionError as first:
                raise KeyError("second") from first
        except KeyError:
            error = ValueError("third")
            error.__notes__ = ["batch 17"]
            raise error  # noqa: B904

    with pytest.raises(train.WorkerGroupError) as caught:
        fit(loop, workers=1)
    text = str(caught.value)
    assert text.startswith("ValueError: third\n")
    parts = [
        "Note: batch 17",
        "Raised while handling KeyError: 'second'",
        "Caused by ZeroDivisionError: division by zero",
    ]
    assert [part for part in parts if part in text] == parts


def test_a_daemon_of_a_live_rank_survives_the_end_of_another_run(fit, tmp_path):
    (tmp_path / "go").touch()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    def long_loop(config):
        os.system("tail -f /dev/null & echo $! > " + config["pid"])
        with open(config["pipe"]) as file:
            file.read()
        os.kill(int(Path(config["pid"]).read_text()), 0)
        return "alive"

    results = []
    config = {"pipe": str(pipe), "pid": str(tmp_path / "pid")}
    thread = threading.Thread(target=lambda: results.append(fit(long_loop, workers=1, config=config)))
    thread.start()
    with open(pipe, "w"):  # Opens when the long loop does.
        fit(lambda: train.report({"x": 1}), workers=1)
    thread.join(timeout=60)
    assert results[0].return_value == "alive"
