"""Output of the ranks: complete and in order in their log files, and shown with the rank in
front.
"""

import os

import pytest

pytestmark = pytest.mark.both_starts


def log_of(result, rank):
    with open(os.path.join(result.path, "logs", f"rank_{rank}.log"), "rb") as log:
        return log.read()


def shown_of(capsys, rank):
    return [line for line in capsys.readouterr().out.splitlines() if line.startswith(f"(rank {rank}) ")]


def test_both_streams_are_in_the_log_and_shown_with_the_rank(fit, capsys):
    def loop():
        import sys

        from headway import train

        rank = train.get_context().get_world_rank()
        for number in range(3):
            print(f"out {rank} {number}")
            print(f"err {rank} {number}", file=sys.stderr)

    result = fit(loop)
    shown = capsys.readouterr().out.splitlines()
    for rank in range(2):
        lines = [f"{stream} {rank} {number}" for number in range(3) for stream in ("out", "err")]
        assert log_of(result, rank).decode().splitlines() == lines
        assert [line for line in shown if line.startswith(f"(rank {rank}) ")] == [
            f"(rank {rank}) {line}" for line in lines
        ]


def test_ten_megabytes_from_each_of_two_ranks_are_complete_and_in_order(fit, capsys):
    def loop():
        import sys

        line = "%07d " + "x" * 91 + "\n"
        for number in range(100_000):
            sys.stdout.write(line % number)

    result = fit(loop)
    expected = "".join(f"{number:07d} " + "x" * 91 + "\n" for number in range(100_000)).encode()
    for rank in range(2):
        assert log_of(result, rank) == expected
    shown = capsys.readouterr().out
    for rank in range(2):
        numbers = [int(line[9:16]) for line in shown.splitlines() if line.startswith(f"(rank {rank}) ")]
        assert numbers == list(range(100_000))


def test_output_without_a_newline_at_its_end(fit, capsys):
    def loop():
        import sys

        sys.stdout.write("no newline")

    result = fit(loop, workers=1)
    assert log_of(result, 0) == b"no newline"
    assert "(rank 0) no newline\n" in capsys.readouterr().out


def test_a_line_of_a_megabyte(fit, capsys):
    result = fit(lambda: print("y" * 1_000_000), workers=1)
    assert log_of(result, 0) == b"y" * 1_000_000 + b"\n"
    shown = capsys.readouterr().out
    assert shown.count("y") == 5 * 1024
    assert "[rank_0.log has the whole line]\n" in shown


def test_bytes_that_are_no_unicode(fit, capsys):
    def loop():
        os.write(1, b"caf\xe9 \xff\x00 end\n")

    result = fit(loop, workers=1)
    assert log_of(result, 0) == b"caf\xe9 \xff\x00 end\n"
    assert "(rank 0) caf\N{REPLACEMENT CHARACTER} " in capsys.readouterr().out


def test_output_of_c_code_and_of_children(fit, capsys):
    def loop():
        import ctypes
        import subprocess
        import sys

        print("python", flush=True)
        subprocess.run(["echo", "child"], check=True)
        subprocess.run([sys.executable, "-c", "import os; os.write(2, b'child error\\n')"], check=True)
        ctypes.CDLL(None).printf(b"printf\n")

    result = fit(loop, workers=1)
    assert log_of(result, 0) == b"python\nchild\nchild error\nprintf\n"
    assert shown_of(capsys, 0) == ["(rank 0) python", "(rank 0) child", "(rank 0) child error", "(rank 0) printf"]


def test_the_last_words_before_a_crash(fail, storage, capsys):
    def loop():
        import signal

        print("the very last words")
        os.kill(os.getpid(), signal.SIGKILL)

    error = fail(loop, workers=1, name="run")
    assert "the very last words" in str(error)
    assert shown_of(capsys, 0) == ["(rank 0) the very last words"]
    with open(os.path.join(storage, "run", "logs", "rank_0.log")) as log:
        assert log.read() == "the very last words\n"


def test_a_deep_stack_is_shown_by_faulthandler(fail):
    def loop():
        import ctypes
        import faulthandler

        faulthandler.enable()
        ctypes.string_at(0)

    text = str(fail(loop, workers=1))
    assert "SIGSEGV" in text
    assert "Fatal Python error: Segmentation fault" in text


def test_warnings_and_logging_of_a_rank_are_in_its_log(fit):
    def loop():
        import logging
        import warnings

        warnings.warn("careful", stacklevel=1)
        logging.getLogger("mine").error("trouble")

    text = log_of(fit(loop, workers=1), 0).decode()
    assert "UserWarning: careful" in text
    assert "trouble" in text


def test_standard_input_is_empty(fit):
    def loop():
        import sys

        return sys.stdin.read()

    assert fit(loop, workers=1).return_value == ""
