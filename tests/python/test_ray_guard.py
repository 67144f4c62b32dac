"""The process above an agent that a Ray actor has started: nothing of the agent outlives the
actor.
"""

import inspect
import subprocess
import sys

import processes
import pytest
from headway._engines import ray_guard

SOURCE = inspect.getsource(ray_guard).replace("_GOODBYE_S = 3.0", "_GOODBYE_S = 0.2")

# An agent that starts a process which gets away from it, and says which.
AGENT = """
import os, signal, sys
read, write = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork():
        os._exit(0)
    os.write(write, b"orphan %d\\n" % os.getpid())
    signal.pause()
sys.stderr.write(os.read(read, 100).decode())
sys.stderr.flush()
"""
WAITS = AGENT + "signal.pause()"


class Guarded:
    """An agent under its guard; this process is the actor."""

    def __init__(self, code, command=None):
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", SOURCE, *(command or [sys.executable, "-c", code])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.say("a token")

    def say(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def orphan(self):
        word, pid = self.process.stderr.readline().split()
        assert word == "orphan"
        return int(pid)

    def end(self):
        """The actor ends; what the guard has said."""
        self.process.stdin.close()
        return self.process.stdout.read()

    def close(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.stderr.close()
        self.process.wait(10)


@pytest.fixture
def guarded():
    started = []

    def start(*arguments):
        started.append(Guarded(*arguments))
        return started[-1]

    yield start
    for each in started:
        each.close()


def is_gone(pid):
    return processes.wait_gone(lambda: {pid} if processes.command_line(pid) else {}, 5) == {}


def test_what_an_agent_has_started_ends_with_the_actor(guarded):
    agent = guarded(WAITS)
    orphan = agent.orphan()
    assert "exit " in agent.end()
    assert is_gone(orphan)


def test_an_agent_that_ends_leaves_nothing_behind(guarded):
    agent = guarded(AGENT + "os._exit(7)")
    orphan = agent.orphan()
    assert agent.process.stdout.read().splitlines()[1:] == ["exit 7"]
    assert is_gone(orphan)


def test_an_agent_that_hears_nothing_is_killed_after_the_time_for_its_farewell(guarded):
    agent = guarded("import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)" + WAITS)
    orphan = agent.orphan()
    assert agent.end().splitlines()[1:] == ["exit -9"]
    assert is_gone(orphan)


def test_a_notice_reaches_the_agent_as_sigterm(guarded):
    code = "import signal, sys; signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(3))" + WAITS
    agent = guarded(code)
    agent.orphan()
    agent.say("term")
    assert agent.process.stdout.read().splitlines()[1:] == ["exit 3"]


def test_the_token_is_a_file_that_nobody_else_may_read(guarded):
    code = "import os, sys; sys.stderr.write(open('/dev/stdin').read() + oct(os.stat('/dev/stdin').st_mode & 0o777))"
    agent = guarded(code)
    assert agent.process.stdout.read().splitlines()[1:] == ["exit 0"]
    assert agent.process.stderr.read() == "a token\n0o600"


def test_a_python_that_is_not_there_is_named(guarded):
    agent = guarded("", ["/there/is/no/python"])
    assert agent.process.stdout.read() == "exit 127\n"
    assert "/there/is/no/python: No such file or directory" in agent.process.stderr.read()
