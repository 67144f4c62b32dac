"""The worker factory: imports the heavy modules once, then forks a worker for each order."""

from __future__ import annotations

import gc
import importlib
import json
import os
import signal
import sys

from headway import _core
from headway._values.preload import OPTIONAL
from headway._worker.loading import collector_at_rest


def main(argv: list[str]) -> None:
    """``python -c ... CONTROL_FD MODULE...``: serves until the agent is gone. Returns in no
    process.

    Args:
        argv: What ``sys.argv`` is while modules are imported: the arguments of the driver's script.
    """
    control_fd = int(sys.argv[1])
    always_exec = os.environ.get("HEADWAY_WORKER_START", "fork") == "exec"
    code = f"import json, sys; sys.path[:] = json.loads({json.dumps(sys.path)!r}); "
    exec_command = [sys.executable, "-c", code + "from headway._worker.main import main; main()"]
    # Before the imports: a thread that one of them starts must not take the signals that tell of
    # workers' ends.
    server = _core.FactoryServer(control_fd, exec_command, always_exec)
    with collector_at_rest():
        problems = [] if always_exec else _import_all(sys.argv[2:], argv, control_fd)
    # What is there now is there for good: the collector need not touch (and so copy) its pages in
    # every child.
    gc.freeze()
    server.announce(problems)
    worker = server.serve()
    if worker is None:
        os._exit(0)
    from headway._worker.main import work

    session_fd, env = worker
    work(session_fd, env)


def _import_all(modules: list[str], argv: list[str], control_fd: int) -> list[str]:
    """Modules after a ``?`` are optional: one that cannot be imported, or that leaves more behind
    than modules, is left to the workers.
    """
    problems = []
    own, sys.argv = sys.argv, argv
    before = _left_behind()
    for each in ["headway._worker.main", *modules]:
        module = each.removeprefix(OPTIONAL)
        try:
            _import(module)
        except BaseException as error:
            if module == each:
                problems.append(f"{module}: {type(error).__name__}: {error}")
        after = _left_behind()
        if module != each and after != before:
            sys.argv = own
            _begin_again_without(each, control_fd)
        before = after
    sys.argv = own
    if signal.getsignal(signal.SIGCHLD) is signal.SIG_IGN:
        # By a module that was to be imported in any case. The factory could not wait for workers.
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    return problems


def _import(module: str) -> None:
    """``"module"`` or ``"module:name"``: ``from module import name`` may import a module more."""
    module, _, name = module.partition(":")
    importlib.import_module(module)
    if name:
        __import__(module, fromlist=[name])


def _left_behind() -> tuple[object, ...]:
    """What the process has that a fork does not carry over as it is: threads, descriptors, handlers
    of signals, streams.
    """
    handlers = [signal.getsignal(number) for number in signal.valid_signals()]
    threads, descriptors = len(os.listdir("/proc/self/task")), sorted(os.listdir("/proc/self/fd"))
    return threads, descriptors, handlers, sys.stdout, sys.stderr


def _begin_again_without(module: str, control_fd: int) -> None:
    """What a module leaves behind cannot be undone, so this process begins again. Nobody has heard
    from it yet.
    """
    if module not in sys.orig_argv:
        return  # Started in another way: workers are then started by exec.
    os.set_inheritable(control_fd, True)
    # What is in the module would import it again.
    inside = (f"{module}.", f"{module}:")
    os.execv(sys.executable, [each for each in sys.orig_argv if each != module and not each.startswith(inside)])
