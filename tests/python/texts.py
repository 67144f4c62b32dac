"""The texts of failures that tests look for in output, in one place. Where there is an exception,
tests look at its attributes.
"""

import re
import signal


def killed(number):
    """How a process is said to have ended by a signal."""
    return f"was killed by {signal.Signals(number).name} (signal {int(number)})"


def exited(code):
    """How a process is said to have ended by itself."""
    asked_for = f" ({signal.Signals(code - 128).name})" if code > 128 else ""
    return f"exited with code {code}{asked_for}"


def named(rank, pid=r"\d+"):
    """A rank with its process, as a pattern."""
    return rf"rank {rank} \(pid {pid} on \S+\)"


def died(rank, how, pid=r"\d+"):
    """The first line of a death that ended an attempt, as a pattern."""
    return rf"{named(rank, pid)} {re.escape(how)} before its training function had returned, in attempt \d+"


def raised(rank):
    """Where an exception was raised, as a pattern."""
    return rf"Raised by the training function in {named(rank)}, attempt \d+; its log: logs/rank_{rank}\.log"


def lost(node, rank=None):
    """The first words of a node's loss, as a pattern."""
    with_it = "" if rank is None else f"rank {rank} with it: "
    return rf"node {node} \(\S+\) is lost, and {with_it}"


def did_not_come(rank, waiting, report):
    """The first line of a hang in report(), as a pattern."""
    return rf"rank {rank} did not come to report #{report}, in which rank {waiting} waited for \d+\.\d s"


def finished_early(rank, waiting, call):
    """The first line of an attempt in which a rank returned while another waits in a call."""
    finished = f"rank {rank} finished the training function"
    return f"{finished} while rank {waiting} waits in {call}, which rank {rank} never called"


EQUALLY_OFTEN = "Every rank must call report() equally often"
NOTHING_PRINTED = "It had printed nothing"
OTHERS = "What the other ranks were doing:"
LIMIT_OF_HANGS = "FailureConfig.hang_fail_s ends"
