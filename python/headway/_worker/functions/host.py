"""The function host: the process of a data process that imports what Python functions need, and
forks a worker for each order. It has one thread.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import pickletools
import selectors
import shutil
import signal
import sys
import warnings
from collections.abc import Iterator
from typing import Any

from headway import _core
from headway._session import DEPTH_OPTION, function_depth
from headway._worker.functions.frames import Frame, Link, adopted
from headway._worker.loading import collector_at_rest

#: Modules that leave a thread behind which a fork does without.
_HARMLESS = ("numpy", "pyarrow")
#: In place of the name of cloudpickle's function that imports the module whose name comes next.
_BRINGS_MODULE = "import\n"
_THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def command(directory: str | None = None) -> list[str]:
    """The command that starts a host for functions of this process: with its ``sys.path``.

    Args:
        directory: Where functions work; None: where this process works.
    """
    return [*_python(function_depth() + 1), _code("host", repr(directory or ""))]


def _python(of_depth: int) -> list[str]:
    """Known from the interpreter's start on, so that what shadows a module of Python's finds it."""
    return [sys.executable, "-X", f"{DEPTH_OPTION}={of_depth}", "-c"]


def _code(module: str, argument: str = "") -> str:
    return (
        f"import json, sys; sys.path[:] = json.loads({json.dumps(sys.path)!r}); "
        f"from headway._worker.functions.{module} import main; main({argument})"
    )


def main(directory: str = "") -> None:
    """Serves until the data process is gone. Its end of the control socket is descriptor 3.

    Args:
        directory: Where functions work, if it is there; empty: where this process was started.
    """
    if directory:
        with contextlib.suppress(OSError):
            os.chdir(directory)
    # Ctrl-C is the client's, which ends the data process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for variable in _THREAD_VARIABLES:
        # Cores are shared by workers, one process each.
        os.environ.setdefault(variable, "1")
    Host(adopted(3)).serve()
    os._exit(0)


class Host:
    """Orders arrive on the control link; ends of workers by SIGCHLD.

    Args:
        control: To the data process.
    """

    def __init__(self, control: Link) -> None:
        self._control = control
        self._workers: dict[int, int] = {}
        self._folders: dict[int, str] = {}
        self._can_fork = True
        self._wakeup = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        signal.set_wakeup_fd(self._wakeup[1], warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda number, frame: None)
        # Every function needs it.
        self._import(["numpy", "headway._worker.functions.worker"])

    def serve(self) -> None:
        """Until the control link ends."""
        with selectors.DefaultSelector() as selector:
            selector.register(self._control.fileno(), selectors.EVENT_READ, self._obey)
            selector.register(self._wakeup[0], selectors.EVENT_READ, self._reap)
            while all(key.data() for key, _ in selector.select()):
                pass
        self._end_workers()

    def _end_workers(self) -> None:
        """With what they have started. What they leave on disk goes with them."""
        for pid in self._workers.values():
            _end_group(pid)
        for worker, folder in self._folders.items():
            if worker in self._workers:
                os.waitpid(self._workers[worker], 0)
            shutil.rmtree(folder, ignore_errors=True)

    def _obey(self) -> bool:
        try:
            frame = self._control.receive()
        except OSError:
            return False
        if frame is None:
            return False
        if frame.kind == "Prepare":
            self._import([*frame.fields["modules"], *_modules_in(frame.blob)])
        elif frame.kind == "StartWorker":
            self._start(frame)
        else:
            pid = self._workers.get(frame.fields["worker"])
            if pid is not None:
                os.kill(pid, signal.SIGKILL)
        return True

    def _start(self, frame: Frame) -> None:
        worker, (link, output) = frame.fields["worker"], frame.fds
        gpus = frame.fields["gpus"]
        environment = {} if gpus is None else {"CUDA_VISIBLE_DEVICES": gpus}
        try:
            pid = (self._fork if self._can_fork else _exec)(link, output, environment)
        except OSError as error:
            self._control.send("WorkerEnded", {"worker": worker, "status": 0, "problem": str(error)})
        else:
            self._workers[worker] = pid
            if frame.fields["folder"]:
                self._folders[worker] = frame.fields["folder"]
        finally:
            os.close(link)
            os.close(output)

    def _fork(self, link: int, output: int, environment: dict[str, str]) -> int:
        parent = os.getpid()
        gc.collect()
        gc.freeze()  # What is there is there for good: the collector need not copy its pages.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            pid = os.fork()
        if pid != 0:
            return pid
        os.setpgid(0, 0)
        _core.belong_to(parent)
        os.environ.update(environment)
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.dup2(output, 1)
        os.dup2(output, 2)
        for fd in (self._control.fileno(), *self._wakeup, output):
            os.close(fd)
        from headway._worker.functions.worker import work

        work(adopted(link))
        os._exit(1)

    def _reap(self) -> bool:
        with contextlib.suppress(BlockingIOError):
            while os.read(self._wakeup[0], 4096):
                pass
        for worker, pid in list(self._workers.items()):
            if os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
                continue
            _end_group(pid)
            _, status = os.waitpid(pid, 0)
            del self._workers[worker]
            if worker in self._folders:
                shutil.rmtree(self._folders.pop(worker), ignore_errors=True)
            try:
                self._control.send("WorkerEnded", {"worker": worker, "status": status, "problem": ""})
            except OSError:
                return False
        return True

    def _import(self, modules: list[str]) -> None:
        """Workers share what is imported here. One that leaves a thread behind ends that: a fork
        does not carry threads over, and what they held is locked in it for ever.
        """
        with collector_at_rest(), open(os.devnull, "wb") as nowhere:
            for module in dict.fromkeys(modules):
                if module in sys.modules or not self._can_fork:
                    continue
                threads = _threads()
                with _output_to(nowhere.fileno()), contextlib.suppress(BaseException):
                    # The worker reports what cannot be imported.
                    importlib.import_module(module)
                if _threads() > threads and module.partition(".")[0] not in _HARMLESS:
                    self._can_fork = False


@contextlib.contextmanager
def _output_to(fd: int) -> Iterator[None]:
    """What a module prints is printed by each worker that imports it, and not by the host."""
    kept = [os.dup(each) for each in (1, 2)]
    try:
        for each in (1, 2):
            os.dup2(fd, each)
        yield
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.flush()
        for each, own in zip((1, 2), kept, strict=True):
            os.dup2(own, each)
            os.close(own)


def _end_group(worker: int) -> None:
    """Kills a worker, which is not reaped yet, and the processes that its function has started."""
    for kill in (os.kill, os.killpg):  # It may not be a group yet.
        with contextlib.suppress(ProcessLookupError):
            kill(worker, signal.SIGKILL)


def _threads() -> int:
    return len(os.listdir("/proc/self/task"))


def _exec(link: int, output: int, environment: dict[str, str]) -> int:
    """A worker in a new program."""
    # Both are lifted above 3 first, so that one does not overwrite the other.
    actions: list[Any] = [
        (os.POSIX_SPAWN_DUP2, link, 60),
        (os.POSIX_SPAWN_DUP2, output, 1),
        (os.POSIX_SPAWN_DUP2, output, 2),
        (os.POSIX_SPAWN_DUP2, 60, 3),
        (os.POSIX_SPAWN_CLOSE, 60),
    ]
    arguments = [*_python(function_depth()), _code("worker")]
    environment = {**os.environ, **environment}
    return os.posix_spawn(
        sys.executable, arguments, environment, file_actions=actions, setpgroup=0, setsigdef=[signal.SIGCHLD]
    )


def _modules_in(pickled: bytes) -> list[str]:
    """The modules that a pickle imports: of what it names, and those that cloudpickle brings along
    with functions.
    """
    texts: list[str] = []
    memo: dict[Any, str] = {}
    modules: list[str] = []
    last = ""  # The text, or the name of the object, that was read last.
    try:
        for opcode, argument, _ in pickletools.genops(pickled):
            if opcode.name == "MEMOIZE":
                memo[len(memo)] = last
                continue
            if opcode.name in ("SHORT_BINUNICODE", "BINUNICODE", "BINGET", "LONG_BINGET"):
                is_module = last == _BRINGS_MODULE
                last = memo.get(argument, "") if opcode.name.endswith("BINGET") else str(argument)
                if is_module:
                    modules.append(last)
                texts.append(last)
            elif opcode.name == "STACK_GLOBAL" and len(texts) >= 2:
                modules.append(texts[-2])
                last = _BRINGS_MODULE if texts[-1] == "subimport" else ""
            elif opcode.name != "FRAME":
                last = ""
    except Exception:
        return []  # The worker says what is wrong with it.
    return [each for each in modules if each not in ("__main__", "builtins") and not each.startswith("cloudpickle")]
