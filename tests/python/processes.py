"""Processes seen from outside: who descends from whom, who carries a mark in its environment, and
their ends.
"""

import contextlib
import os
import select
import time

MARK = "HEADWAY_TEST_MARK"


def descendants(root=None):
    """Living descendants of a process (default: this one): pid → command line."""
    parents = {}
    for pid in _pids():
        state, parent = _state_and_parent(pid)
        if state not in ("Z", "X", ""):
            parents[pid] = parent
    found = {root or os.getpid()}
    while True:
        more = {pid for pid, parent in parents.items() if parent in found and pid not in found}
        if not more:
            break
        found |= more
    found.discard(root or os.getpid())
    return {pid: command_line(pid) for pid in sorted(found)}


def children(parent):
    """Living direct children of a process."""
    return {pid for pid in _pids() if _state_and_parent(pid)[1] == parent and _state_and_parent(pid)[0] != "Z"}


def marked(mark):
    """Living processes that were started with this mark in their environment, whatever became of
    their parents.
    """
    wanted = f"{MARK}={mark}".encode()
    return {pid: command_line(pid) for pid in _pids() if wanted in _read(pid, "environ").split(b"\0")}


def wait_gone(find, limit_s):
    """Waits until ``find()`` finds no process, ``limit_s`` seconds at most; returns those that are
    left.
    """
    deadline = time.monotonic() + limit_s
    while left := find():
        poll = select.poll()
        with contextlib.ExitStack() as descriptors:
            for pid in left:
                with contextlib.suppress(ProcessLookupError):
                    pidfd = os.pidfd_open(pid)
                    descriptors.callback(os.close, pidfd)
                    poll.register(pidfd, select.POLLIN)
            remaining_s = deadline - time.monotonic()
            if remaining_s <= 0:
                return left
            # 50 ms: a process that has ended and is still listed does not make this a busy loop.
            poll.poll(min(remaining_s, 0.05) * 1000)
    return {}


def orphans_in_shared_memory():
    """Files in /dev/shm that no process has open or mapped."""
    held = set()
    for pid in _pids():
        held.update(
            line.rsplit(b" ", 1)[-1].decode() for line in _read(pid, "maps").splitlines() if b"/dev/shm/" in line
        )
        with contextlib.suppress(OSError):
            for fd in os.listdir(f"/proc/{pid}/fd"):
                with contextlib.suppress(OSError):
                    held.add(os.readlink(f"/proc/{pid}/fd/{fd}"))
    return {name for name in os.listdir("/dev/shm") if f"/dev/shm/{name}" not in held}


def command_line(pid):
    return _read(pid, "cmdline").replace(b"\0", b" ").decode(errors="replace").strip()


def is_guard(pid):
    """Whether it is a guard."""
    return is_guard_line(command_line(pid))


def is_guard_line(line):
    """By its title; before it has one, by its program."""
    return line.startswith("headway: guard") or "bin/headway-guard" in line


def _pids():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def _read(pid, name):
    try:
        with open(f"/proc/{pid}/{name}", "rb") as file:
            return file.read()
    except OSError:
        return b""


def _state_and_parent(pid):
    fields = _read(pid, "stat").rpartition(b")")[2].split()
    return (fields[0].decode(), int(fields[1])) if fields else ("", 0)
