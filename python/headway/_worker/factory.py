"""The worker factory: imports the heavy modules once, then forks a worker for each order."""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import signal
import sys

from headway import _core
from headway._values.preload import OPTIONAL
from headway._worker.loading import collector_at_rest

_TOLD_BY = "--told-by"
#: How many modules the driver named while it imported them itself.
imported_early = 0


def main(argv: list[str]) -> None:
    """``python -c ... CONTROL_FD MODULE...``: serves until the agent is gone. Returns in no
    process. ``CONTROL_FD --told-by FD``: the driver, which has no agent yet, says there what to
    import.

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
    modules = sys.argv[2:]
    with collector_at_rest():
        if modules[:1] == [_TOLD_BY]:
            modules = _import_early(int(modules[1]), argv, control_fd)
        problems = [] if always_exec else _import_all(modules, argv, control_fd)
    if not always_exec:
        from headway._worker.main import user

        user()
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


def _import_early(told_by: int, argv: list[str], control_fd: int) -> list[str]:
    """Imports what the driver names, line by line, until it says what workers need: that is
    returned.

    Where a module leaves more behind than modules, this process begins again, with what workers
    need.
    """
    global imported_early
    before = _left_behind()
    leaves_nothing = True
    own, sys.argv = sys.argv, argv
    with open(told_by) as lines:
        for line in lines:
            told = json.loads(line)
            if "workers_need" in told:
                break
            for module in told["import"]:
                if leaves_nothing and module not in sys.modules:
                    with contextlib.suppress(BaseException):  # The driver may have caught it too.
                        importlib.import_module(module)
                    imported_early += 1
                    leaves_nothing = _left_behind() == before
        else:
            os._exit(0)  # The driver has no use for it.
    sys.argv = own
    if not leaves_nothing:
        _begin_again(told["workers_need"], control_fd)
    return list(told["workers_need"])


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
            # What is in the module would import it again.
            inside = (f"{each}.", f"{each}:")
            _begin_again([name for name in modules if name != each and not name.startswith(inside)], control_fd)
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


def _begin_again(modules: list[str], control_fd: int) -> None:
    """What a module leaves behind cannot be undone, so this process begins again, with these
    modules. Nobody has heard from it yet.
    """
    if "-c" not in sys.orig_argv:
        return  # Started in another way: workers are then started by exec.
    command = sys.orig_argv[1 : sys.orig_argv.index("-c") + 2]
    os.set_inheritable(control_fd, True)
    os.execv(sys.executable, [sys.orig_argv[0], *command, str(control_fd), *modules])
