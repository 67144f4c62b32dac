"""A rank that raises: fit() raises with that rank's exception first, its own frames, then what the
others did.
"""

import asyncio
import os
import re
import signal
import socket

import headway
import pytest
import texts
from headway import train
from headway.train.torch import TorchConfig, TorchTrainer


def test_the_first_line_is_the_exception_and_then_come_its_own_frames(fail):
    def inner(x):
        return 1 / x

    def loop():
        if train.get_context().get_world_rank() == 1:
            inner(0)
        train.report({})

    error = fail(loop, workers=3, name="run")
    lines = str(error).splitlines()
    assert lines[0] == "ZeroDivisionError: division by zero"
    assert lines[1] == "Traceback (most recent call last):"
    frames = [line for line in lines if line.startswith("  File")]
    assert [frame.rpartition(", in ")[2] for frame in frames] == ["loop", "inner"]
    assert all(os.path.basename(__file__) in frame for frame in frames)
    text = str(error)
    assert re.search(texts.raised(1), text)
    assert text.index(texts.OTHERS) > text.index("rank 1 (pid")
    assert re.search(r"rank 0: (in report #1|waiting|in the training function)", text)
    assert "rank 2:" in text
    assert text.rstrip().endswith("/run")
    assert isinstance(error.__cause__, ZeroDivisionError)
    assert set(error.worker_failures) == {1}
    failure = error.worker_failures[1]
    assert failure is error.__cause__
    assert (failure.rank, failure.attempt, failure.host) == (1, 1, socket.gethostname())
    assert failure.pid > 1
    assert isinstance(error, train.TrainingFailedError)
    assert error.error_message == text


def test_an_exception_that_led_to_another_is_told_too(fail):
    def loop():
        try:
            {}["data"]
        except KeyError as error:
            raise RuntimeError("no data") from error

    text = str(fail(loop, workers=1))
    assert text.startswith("RuntimeError: no data\n")
    assert "Caused by KeyError: 'data'" in text


def test_an_exception_whose_class_cannot_be_pickled(fail):
    class NeedsTwo(Exception):
        def __init__(self, a, b):
            super().__init__(f"{a} and {b}")
            self.lock = __import__("threading").Lock()

    def loop():
        raise NeedsTwo(1, 2)

    error = fail(loop, workers=1)
    assert re.match(r"\S*NeedsTwo: 1 and 2\n", str(error))
    assert "1 and 2" in str(error.worker_failures[0])


def test_an_exception_whose_class_is_only_in_the_worker(fail, tmp_path):
    (tmp_path / "only_there.py").write_text("class Lost(Exception): pass\n")

    def loop(config):
        import sys

        sys.path.append(config["folder"])
        import only_there

        raise only_there.Lost("far away")

    error = fail(loop, workers=1, config={"folder": str(tmp_path)})
    assert str(error).startswith("only_there.Lost: far away\n")
    assert set(error.worker_failures) == {0}


@pytest.mark.parametrize("kind", [KeyboardInterrupt, GeneratorExit, BaseException, asyncio.CancelledError])
def test_exceptions_that_are_no_exception_are_told_as_any_other(fail, kind):
    def loop():
        if train.get_context().get_world_rank() == 1:
            raise kind("unusual")
        train.report({})

    error = fail(loop)
    lines = str(error).splitlines()
    assert lines[0].endswith(f"{kind.__name__}: unusual")
    assert lines[1] == "Traceback (most recent call last):"
    assert lines[2].endswith("in loop")
    assert re.search(texts.raised(1), str(error))
    assert set(error.worker_failures) == {1}


@pytest.mark.parametrize("value", [None, 5, [1], "text", property(lambda self: 1 / 0)])
@pytest.mark.parametrize("name", ["exceptions", "__notes__"])
def test_attributes_of_an_exception_that_mean_something_else(fail, name, value):
    kind = type("Odd", (Exception,), {name: value})

    def loop():
        raise kind("five")

    assert re.match(r"(\S+\.)?Odd: five\nTraceback", str(fail(loop, workers=1)))


def test_an_exception_that_is_in_its_own_group(fail):
    class Several(Exception):
        pass

    def loop():
        both = Several("both")
        both.exceptions = [both, ValueError("inner")]
        raise both

    text = str(fail(loop, workers=1))
    assert "Several: both\n" in text
    assert text.count("In the group, ") == 1
    assert "In the group, ValueError: inner\n" in text


def test_what_was_printed_before_an_exception_is_there_to_its_last_letter(fail, storage):
    def loop():
        print("epoch 1, step 17", end="")
        raise ValueError("no")

    fail(loop, workers=1, name="run")
    with open(os.path.join(storage, "run", "logs", "rank_0.log")) as log:
        assert log.read() == "epoch 1, step 17"


def test_a_loop_that_closes_its_output_has_not_failed(fit):
    def loop():
        import sys

        sys.stdout.close()
        return "fine"

    assert fit(loop, workers=1).return_value == "fine"


def test_an_exception_whose_words_cannot_be_had(fail):
    def loop(config):
        class Silent(Exception):
            def __str__(self):
                raise config["kind"]("no words")

        raise Silent

    for kind in (RuntimeError, KeyboardInterrupt):
        text = str(fail(loop, workers=1, config={"kind": kind}))
        assert re.match(r"\S+Silent: \(its words cannot be had: \w+\)\nTraceback", text)


def test_an_exception_without_words_is_its_name_alone(fail):
    def loop():
        raise AssertionError

    error = fail(loop, workers=1)
    assert str(error).startswith("AssertionError\nTraceback")
    assert str(error.worker_failures[0]) == ""


def test_a_recursion_deeper_than_anybody_reads(fail):
    def loop():
        import sys

        sys.setrecursionlimit(100_000)

        def deeper(n):
            return deeper(n + 1)

        deeper(0)

    lines = str(fail(loop, workers=1)).splitlines()
    assert lines[0] == "RecursionError: maximum recursion depth exceeded"
    assert lines[2].endswith("in loop")
    assert any("frames are left out]" in line for line in lines)
    assert len(lines) < 100


def test_text_that_is_no_unicode_in_an_exception(fail):
    def loop():
        raise ValueError("half a character: \ud800, and a zero: \0")

    assert str(fail(loop, workers=1)).startswith("ValueError: half a character: ")


def test_several_ranks_raise_and_one_is_told_first(fail):
    def loop():
        raise ValueError(f"rank {train.get_context().get_world_rank()}")

    error = fail(loop, workers=3)
    first = re.match(r"ValueError: rank (\d)\n", str(error))
    assert set(error.worker_failures) == {int(first[1])}


def test_a_rank_raises_while_the_others_wait_in_an_all_reduce(fail):
    def loop():
        import torch
        import torch.distributed as dist

        if train.get_context().get_world_rank() == 1:
            raise ValueError("bad batch")
        dist.all_reduce(torch.ones(1))

    error = fail(loop, trainer=TorchTrainer, torch_config=TorchConfig(timeout_s=30))
    assert str(error).startswith("ValueError: bad batch\n"), "not the others' broken connection"
    assert set(error.worker_failures) == {1}
    assert "rank 0:" in str(error)


def test_a_rank_dies_while_the_others_wait_in_an_all_reduce(fail):
    def loop():
        import signal

        import torch
        import torch.distributed as dist

        dist.all_reduce(torch.ones(1))
        if train.get_context().get_world_rank() == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        dist.all_reduce(torch.ones(1))

    error = fail(loop, trainer=TorchTrainer, torch_config=TorchConfig(timeout_s=30))
    assert set(error.worker_failures) == {1}
    assert error.worker_failures[1].signal == signal.SIGKILL


def test_the_same_process_runs_again_after_a_failure(fail, fit):
    fail(lambda: 1 / 0)
    assert fit(lambda: "fine").return_value == "fine"
    assert headway.available_resources() == headway.cluster_resources(), "nothing is claimed any more"


def test_what_the_training_function_raised_comes_as_it_was_where_that_is_asked_for(fit):
    class OutOfData(Exception):
        """An exception class of the user."""

    def loop():
        raise OutOfData("no more rows")

    with pytest.raises(OutOfData, match="no more rows") as caught:
        fit(loop, failure=train.FailureConfig(fail_fast="raise"))
    assert isinstance(caught.value.__cause__, train.WorkerGroupError), "with the rank, its log and the others"
    with pytest.raises(train.WorkerGroupError):
        fit(loop, failure=train.FailureConfig(fail_fast=True))


def test_a_rank_that_dies_has_nothing_to_raise_but_the_groups_error(fit):
    def loop():
        os._exit(3)

    with pytest.raises(train.WorkerGroupError) as caught:
        fit(loop, workers=1, failure=train.FailureConfig(fail_fast="raise"))
    assert caught.value.worker_failures[0].exit_code == 3


def test_a_program_that_a_failure_ends_shows_it_once_without_headway_s_frames(script):
    status, output = script.run(
        """
        from headway import train

        def loop():
            raise ValueError("sample 7 has no label")

        train.DataParallelTrainer(loop).fit()
        """
    )
    assert status == 1
    _, _, shown = output.partition("Traceback (most recent call last):\n")
    lines = shown.splitlines()
    assert [line for line in lines if line.startswith("  File")] == [
        f'  File "{script.folder}/script.py", line 7, in <module>',
        f'  File "{script.folder}/script.py", line 5, in loop',
    ]
    assert output.count("ValueError: sample 7 has no label") == 1
    assert "headway.train.WorkerGroupError: ValueError: sample 7 has no label\n" in output
    assert "The above exception" not in output


def test_a_failure_that_is_caught_keeps_its_cause(script):
    status, output = script.run(
        """
        import pickle
        from headway import train

        def loop():
            raise ValueError("sample 7 has no label")

        try:
            train.DataParallelTrainer(loop).fit()
        except train.WorkerGroupError as error:
            print(repr(error.__cause__), type(pickle.loads(pickle.dumps(error))).__name__)
            raise RuntimeError("the night's training failed") from error
        """
    )
    assert status == 1
    assert "ValueError('sample 7 has no label') WorkerGroupError\n" in output
    assert "RuntimeError: the night's training failed" in output
    assert "WorkerGroupError: ValueError: sample 7 has no label" in output
