"""A rank whose process ends: its rank, pid, how it ended, and the last lines of its log."""

import os
import re
import signal
import socket

import pytest
import texts
from headway import train

pytestmark = pytest.mark.both_starts


def end_in_rank_1(end):
    """A training function in which rank 1 ends as ``end`` does, and rank 0 waits for it."""

    def loop():
        if train.get_context().get_world_rank() == 1:
            print("one last word", flush=True)
            end()
        train.report({})

    return loop


def assert_died(error, *, signal=None, exit_code=None, last_lines=("one last word",)):
    assert set(error.worker_failures) == {1}
    died = error.worker_failures[1]
    assert type(died) is train.WorkerDied
    assert (died.rank, died.attempt, died.host) == (1, 1, socket.gethostname())
    assert died.pid > 1
    assert (died.signal, died.exit_code) == (signal, exit_code)
    # After them a crash names the line: test_debugging.py.
    crash = [at for at, line in enumerate(died.last_lines) if line.startswith("Fatal Python error: ")]
    assert died.last_lines[: crash[0] if crash else None] == list(last_lines)
    how = texts.killed(signal) if signal is not None else texts.exited(exit_code)
    assert re.match(texts.died(1, how, died.pid), str(error)), str(error)
    assert str(died) == how
    assert "rank 0: " in str(error)


def test_a_rank_is_killed(fail):
    def end():
        import signal

        os.kill(os.getpid(), signal.SIGKILL)

    assert_died(fail(end_in_rank_1(end)), signal=signal.SIGKILL)


def test_a_rank_is_asked_to_end_as_a_scheduler_does(fail):
    def end():
        import signal

        os.kill(os.getpid(), signal.SIGTERM)

    assert_died(fail(end_in_rank_1(end)), exit_code=143)


def test_a_rank_is_killed_by_a_signal_of_the_users_own(fail):
    def end():
        import signal

        os.kill(os.getpid(), signal.SIGUSR1)

    assert_died(fail(end_in_rank_1(end)), signal=signal.SIGUSR1)


def test_a_rank_reads_where_nothing_is(fail):
    def end():
        import ctypes

        ctypes.string_at(0)

    assert_died(fail(end_in_rank_1(end)), signal=signal.SIGSEGV)


def test_a_rank_aborts(fail):
    assert_died(fail(end_in_rank_1(lambda: os.abort())), signal=signal.SIGABRT)


def test_a_rank_leaves_at_once(fail):
    assert_died(fail(end_in_rank_1(lambda: os._exit(3))), exit_code=3)


def test_a_rank_exits_with_a_code(fail):
    def end():
        import sys

        sys.exit(3)

    assert_died(fail(end_in_rank_1(end)), exit_code=3)


def test_a_rank_exits_with_0_before_it_has_finished(fail):
    def end():
        import sys

        sys.exit(0)

    assert_died(fail(end_in_rank_1(end)), exit_code=0)


def test_a_rank_exits_with_words(fail):
    def end():
        import sys

        sys.exit("out of ideas")

    assert_died(fail(end_in_rank_1(end)), exit_code=1, last_lines=("one last word", "out of ideas"))


def test_the_error_has_the_last_lines_of_the_log_and_the_log_has_all(fail, storage):
    def loop():
        import sys

        for number in range(100):
            print(f"line {number}")
        sys.stdout.write("without a newline")
        sys.stdout.flush()
        os._exit(7)

    error = fail(loop, workers=1, name="run")
    died = error.worker_failures[0]
    assert died.exit_code == 7
    assert died.last_lines[-2:] == ["line 99", "without a newline"]
    assert "line 5" not in died.last_lines, "only the last lines"
    assert "line 99\nwithout a newline\n" in str(error)
    with open(os.path.join(storage, "run", "logs", "rank_0.log")) as log:
        assert log.read() == "".join(f"line {number}\n" for number in range(100)) + "without a newline"


def test_a_rank_that_printed_nothing(fail):
    error = fail(lambda: os._exit(1), workers=1)
    assert error.worker_failures[0].last_lines == []
    assert texts.NOTHING_PRINTED in str(error)


def test_log_lines_that_are_no_unicode_do_not_hide_the_error(fail):
    def loop():
        os.write(1, b"\xff\xfe bytes\n")
        os._exit(1)

    died = fail(loop, workers=1).worker_failures[0]
    assert died.exit_code == 1
    assert died.last_lines[0].endswith(" bytes")


def test_a_rank_dies_in_an_exit_handler_after_it_has_returned(fit, capfd):
    def loop():
        import atexit

        if train.get_context().get_world_rank() == 1:
            atexit.register(os._exit, 9)
        train.report({"x": 1})
        return "result"

    result = fit(loop)
    assert result.return_value == "result"
    assert result.metrics["x"] == 1
    warning = capfd.readouterr().err
    assert "rank 1" in warning
    assert f"{texts.exited(9)} after its training function had returned" in warning


def test_exit_handlers_and_buffers_are_served_at_the_end(fit, tmp_path):
    def loop(config):
        import atexit
        import sys
        import threading

        atexit.register(lambda: print("from the exit handler"))
        # A thread that is no daemon is waited for, as in a script.
        threading.Thread(target=lambda: threading.main_thread().join(0.2) or print("from the thread")).start()
        sys.stdout.write("buffered, ")

    result = fit(loop, workers=1, config={})
    with open(os.path.join(result.path, "logs", "rank_0.log")) as log:
        text = log.read()
    assert text.startswith("buffered, ")
    assert "from the thread" in text
    assert text.endswith("from the exit handler\n")


def test_a_child_that_a_training_function_forks_is_no_worker(fit):
    def loop():
        pid = os.fork()
        if pid == 0:
            try:
                train.report({"from": "the child"})
            except BaseException:
                os._exit(5)
            os._exit(0)
        _, status = os.waitpid(pid, 0)
        train.report({"from": "the worker", "child": os.waitstatus_to_exitcode(status)})

    result = fit(loop, workers=1)
    assert list(result.metrics_dataframe["from"]) == ["the worker"]
    assert result.metrics["child"] != 0
