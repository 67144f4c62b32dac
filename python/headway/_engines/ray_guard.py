"""The process between a Ray actor and its ``headway-agent``: it ends whatever the agent has started
when the actor is gone, however that happened.

Ray kills the process group of an actor and its children, which spares processes in other sessions,
as Headway's workers are. This program forks twice, so that it is no child of the actor, makes
another session and becomes the reaper of its descendants: none of them can get away.

Run as a text (``python -c``) on nodes that may not have Headway in Ray's Python: it imports nothing
but the standard library. Arguments: the agent's command. Standard input: a line with the token,
which becomes the agent's ``/dev/stdin`` and lies in no file; then ``term`` lines, and the end,
which is the actor's. Standard output: ``started PID`` and ``exit CODE``.
"""

import contextlib
import ctypes
import os
import select
import signal
import subprocess
import sys
import time

_GOODBYE_S = 3.0  # For the agent to end its workers and to tell its driver.
_SET_CHILD_SUBREAPER = 36  # linux/prctl.h


def _descendants() -> list[int]:
    children: dict[int, list[int]] = {}
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:
                state, parent = file.read().rsplit(")", 1)[1].split()[:2]
        except OSError:
            continue  # It has ended meanwhile.
        if state != "Z":
            children.setdefault(int(parent), []).append(int(name))
    found: list[int] = []
    ancestors = [os.getpid()]
    while ancestors:
        for child in children.get(ancestors.pop(), []):
            found.append(child)
            ancestors.append(child)
    return found


def _reap() -> None:
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def _kill_descendants() -> None:
    while True:
        _reap()
        left = _descendants()
        if not left:
            return
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        select.select([], [], [], 0.02)


def _follow(agent: "subprocess.Popen[bytes]", woken: int) -> None:
    """Until the agent has ended, or the actor has and the agent was given time to end."""
    deadline = None
    inputs = [0, woken]
    while agent.poll() is None:
        patience = None if deadline is None else deadline - time.monotonic()
        if patience is not None and patience <= 0:
            return
        ready = select.select(inputs, [], [], patience)[0]
        if woken in ready:
            os.read(woken, 4096)
        if 0 not in ready:
            continue
        said = os.read(0, 4096)
        if said:
            agent.send_signal(signal.SIGTERM)
        else:
            inputs = [woken]
            deadline = time.monotonic() + _GOODBYE_S
            agent.send_signal(signal.SIGINT)


def _token_in_memory() -> int:
    token = b""
    while not token.endswith(b"\n"):
        more = os.read(0, 1)
        if not more:
            break
        token += more
    file = os.memfd_create("token")
    os.fchmod(file, 0o600)
    os.write(file, token)
    return file


def main(command: list[str]) -> None:
    """Starts the agent and stays until nothing of it is left."""
    if os.fork():
        os._exit(0)
    os.setsid()
    ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    woken, wake = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda number, frame: None)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        agent = subprocess.Popen(
            command, stdin=_token_in_memory(), stdout=2, restore_signals=True, preexec_fn=_default_signals
        )
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=sys.stderr, flush=True)
        os.write(1, b"exit 127\n")
        return
    os.write(1, b"started %d\n" % agent.pid)
    _follow(agent, woken)
    code = agent.poll()
    _kill_descendants()
    with contextlib.suppress(OSError):  # The actor may be gone.
        os.write(1, b"exit %d\n" % (code if code is not None else -signal.SIGKILL))


def _default_signals() -> None:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)


if __name__ == "__main__":
    main(sys.argv[1:])
