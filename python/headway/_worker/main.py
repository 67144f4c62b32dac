"""What a worker does: it learns its rank, runs the training function, and ends."""

from __future__ import annotations

import atexit
import base64
import faulthandler
import functools
import getpass
import io
import json
import linecache
import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterable
from typing import Any

import cloudpickle

from headway import _core
from headway import _session as worker_session
from headway._storage import locations
from headway._values import log, preload
from headway._values.moved_paths import PLACES_VARIABLE, TROUBLE_VARIABLE, moved_path, moved_paths, moved_variable
from headway._worker.exceptions import describe, pickle_exception
from headway._worker.loading import load
from headway._worker.roles import ROLES, Role
from headway._worker.threads import set_threads


def main() -> None:
    """``python -c ... SESSION_FD FACTORY_PID [ERROR_FD]``: a worker in a separate process."""
    session_fd, factory_pid = int(sys.argv[1]), int(sys.argv[2])
    _core.belong_to(factory_pid)
    os.set_inheritable(session_fd, False)
    if len(sys.argv) > 3:
        os.dup2(int(sys.argv[3]), 2)
        os.close(int(sys.argv[3]))
    work(session_fd, {})


def work(session_fd: int, env: dict[str, str]) -> None:
    """Does a worker's work and ends the process; never returns."""
    code = 1
    try:
        os.environ.update(env)
        session = _core.Session(session_fd)
        _leave_on_sigterm()
        role = _settle_in(session)
        session.announce()
        _serve(session, role)
        code = 0
    except SystemExit as exit_request:
        code = _exit_code(exit_request)
    except BaseException:
        traceback.print_exc()
    finally:
        _end(code)


def _leave_on_sigterm() -> None:
    """An aborted run's ranks are asked to go half a second before they are killed: ``finally``
    blocks run.
    """

    def leave(signum: int, frame: object) -> None:
        raise SystemExit(128 + signum)

    leave.is_headways = True  # type: ignore[attr-defined]
    signal.signal(signal.SIGTERM, leave)
    os.register_at_fork(after_in_child=lambda: signal.signal(signal.SIGTERM, signal.SIG_DFL))


def _settle_in(session: _core.Session) -> Role:
    """Makes this process look like one that the driver's script had started itself."""
    context = worker_session.context_of(session)
    setup = json.loads(context["setup"]["json"])
    role = ROLES[context["role"]](session, context, setup)
    gpus = os.environ.get("CUDA_VISIBLE_DEVICES", "")
    scratch = os.environ.get("HEADWAY_SCRATCH_DIR")
    brought = [entry for entry in os.environ.get("HEADWAY_NODE_PATH", "").split(os.pathsep) if entry]
    trouble = os.environ.get(TROUBLE_VARIABLE)
    if trouble:  # Said before anything is imported, as below.
        raise SystemExit(trouble)
    _move(setup, json.loads(os.environ.get(PLACES_VARIABLE, "{}")))
    directory = os.environ.get("HEADWAY_NODE_DIRECTORY", setup["cwd"])
    for name in set(os.environ) - set(setup["env"]):
        del os.environ[name]
    os.environ.update(setup["env"])
    os.environ["CUDA_VISIBLE_DEVICES"] = gpus
    if scratch and not setup.get("keeps_tmpdir"):
        _use_for_temporary_files(scratch)
    if brought:
        os.environ["PYTHONPATH"] = os.pathsep.join([*brought, *filter(None, [os.environ.get("PYTHONPATH")])])
    else:
        _check_runtime_env(setup.get("must_be_there", ()), context["plan"]["slot"]["hostname"])
    sys.path[:] = [*brought, *setup["sys_path"]]
    sys.argv[:] = setup["argv"]
    preload.of_this_factory[:] = setup["preload"]
    for name, source in setup["sources"].items():
        # Without a time: nothing looks whether there is such a file.
        linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    try:
        os.chdir(directory)
    except OSError as error:
        log.warn(f"the driver's working directory cannot be entered: {error}")
    worker_session.enter_run_from(directory)
    role.settle_in()
    # The output is a pipe: without this a rank's last words before a crash would stay in a buffer.
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # A module may have replaced it.
            stream.reconfigure(line_buffering=True)
    set_threads(context["plan"]["slot"]["cpus"], setup["env"])
    # A crash within a library names the Python line, as the last words of the rank's output.
    faulthandler.enable(2, all_threads=False)
    if not os.environ.get("PYTHONBREAKPOINT"):  # Else the user has another debugger, or none.
        sys.breakpointhook = _refuse_breakpoint
    _core.keep_freed_memory()
    if "numpy" in sys.modules:
        # Forked siblings have one generator state; each rank draws its own numbers, as separate
        # processes would.
        sys.modules["numpy"].random.seed()
    role.begin()
    _reach_storage(context, setup)
    return role


def _move(setup: dict[str, Any], places: dict[str, list[str]]) -> None:
    """The driver's directories are here where its packages were unpacked."""
    if not places:
        return
    for name in ("sys_path", "must_be_there"):
        setup[name] = moved_paths(setup.get(name, ()), places)
    for name in ("PATH", "PYTHONPATH", "VIRTUAL_ENV"):
        if name in setup["env"]:
            setup["env"][name] = moved_variable(setup["env"][name], places)
    setup["cwd"] = moved_path(setup["cwd"], places)[0]


def _refuse_breakpoint(*args: object, **kwargs: object) -> None:
    """``breakpoint()`` in a rank: it has no terminal, and a debugger would end it with an obscure
    error.
    """
    raise RuntimeError(
        "breakpoint() was called in a rank, which has no terminal. To debug, run the training function in the script's "
        "own process: ScalingConfig(num_workers=0). To look at a rank at work: headway stack RUN"
    )


def _use_for_temporary_files(directory: str) -> None:
    """What this process leaves there when it is killed goes with its attempt."""
    if not _core.make_temporary_directory(directory):
        return
    # Downloads that processes share, and what torch has compiled, are for later runs too.
    of_machine = os.environ["HEADWAY_MACHINE_TMPDIR"] = os.environ.get("TMPDIR", "/tmp")
    os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", os.path.join(of_machine, f"torchinductor_{user()}"))
    os.environ["TMPDIR"] = directory
    if "tempfile" in sys.modules:
        sys.modules["tempfile"].tempdir = None  # type: ignore[attr-defined]  # It is looked up once.


@functools.cache
def user() -> str:
    """Whose process this is: a factory has looked it up for the workers that it forks."""
    try:
        return getpass.getuser()
    except (KeyError, ImportError, OSError):  # Nobody has named this user.
        return str(os.getuid())


def _check_runtime_env(paths: Iterable[str], hostname: str) -> None:
    """Said before anything is imported: an import that fails would not name the reason."""
    missing = [path for path in paths if not os.path.exists(path)]
    if missing:
        raise SystemExit(
            f"runtime_env: {', '.join(missing)} (working_dir or py_modules) is not on {hostname}; "
            "every machine needs it under the same path: on a mounted file system, or as a copy"
        )


def _reach_storage(context: dict[str, Any], setup: dict[str, Any]) -> None:
    """Makes remote storage usable here."""
    used = (context["run_directory"], context.get("checkpoint"))
    remote = [each for each in used if each and _core.is_remote(each)]
    if not remote and not setup["filesystems"]:
        return
    locations.adopt((scheme, base64.b64decode(pickled)) for scheme, pickled in setup["filesystems"])
    for location in remote:
        locations.prepare(location)


def _serve(session: _core.Session, role: Role) -> None:
    while True:
        kind, call_id, function = session.next_task()
        if kind == "end":
            return
        if kind == "execute":
            execute(session, call_id, function)
        else:
            role.run(function)


def execute(session: _core.Session, call_id: int, pickled: bytes) -> None:
    """Calls a hook's pickled function and answers with its value."""
    try:
        function, args, kwargs = load(pickled)
        value = cloudpickle.dumps(function(*args, **kwargs))
    except Exception as error:
        session.answer_call(call_id, json.dumps(describe(error)), pickle_exception(error))
    else:
        session.answer_call(call_id, None, value)


def _exit_code(request: SystemExit) -> int:
    if request.code is None:
        return 0
    if isinstance(request.code, int):
        return request.code & 0xFF
    print(request.code, file=sys.stderr)
    return 1


def _end(code: int) -> None:
    """Exit handlers and flushes as at an interpreter's end, without its slow and risky
    tear-down.
    """
    try:
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
    finally:
        _core.exit_now(code)
