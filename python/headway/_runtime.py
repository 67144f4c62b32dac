"""The driver's runtime: one in a process, made on first use, ended by :func:`shutdown` or with the process."""

from __future__ import annotations

import atexit
import importlib.util
import json
import os
import shutil
import sys
import sysconfig
import threading
from collections.abc import Mapping, Sequence

from headway import _core
from headway._arguments import check_bool, check_number, check_resources, check_str, refuse

_lock = threading.Lock()
_runtime: _core.Runtime | None = None
_pid = 0

# A library that starts threads when it is imported would keep the factory from forking; workers set their own numbers.
_FACTORY_ENV = {
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    # pyarrow's allocator, which pandas and so scikit-learn bring in, would start one too.
    "JE_ARROW_MALLOC_CONF": "background_thread:false",
}


def init(
    address: str | None = None,
    *,
    num_cpus: float | None = None,
    num_gpus: float | None = None,
    resources: Mapping[str, float] | None = None,
    preload: Sequence[str] = (),
    ignore_reinit_error: bool = False,
) -> None:
    """Starts Headway in this process. ``Trainer.fit()`` does it when nobody has.

    Args:
        address: None or ``"local"``: this machine.
        num_cpus: CPUs that runs may claim; default: those that this process may use.
        num_gpus: GPUs that runs may claim; default: those that this process sees.
        resources: Amounts of further resources, by names of your own.
        preload: Modules that worker factories import before they fork workers, so that no worker has to.
            ``HEADWAY_PRELOAD`` (names with commas between) adds to them.
        ignore_reinit_error: Do nothing when Headway is started already, instead of raising.

    Raises:
        RuntimeError: Headway is started already.
        TypeError, ValueError: a bad argument, before anything is started.

    Example:
        >>> import headway
        >>> headway.init(num_cpus=4)
        >>> headway.cluster_resources()["CPU"]
        4.0
        >>> headway.shutdown()
    """
    if address is not None and check_str("address", address, 'None or "local"') != "local":
        raise ValueError(f'address is {address!r}; allowed: None or "local" (this machine)')
    if num_cpus is not None:
        num_cpus = check_number("num_cpus", num_cpus, "None or a number")
    if num_gpus is not None:
        num_gpus = check_number("num_gpus", num_gpus, "None or a whole number")
    amounts = check_resources("resources", resources) if resources is not None else {}
    modules = _check_preload(preload)
    check_bool("ignore_reinit_error", ignore_reinit_error)
    with _lock:
        if _current() is not None:
            if ignore_reinit_error:
                return
            raise RuntimeError(
                "headway is started already; call headway.shutdown() first to start it with other settings"
            )
        _start(num_cpus, num_gpus, amounts, modules)


def shutdown() -> None:
    """Ends every run and worker of this process and returns when they are gone. Does nothing when nothing runs."""
    global _runtime
    with _lock:
        runtime, _runtime = _current(), None
    if runtime is not None:
        runtime.shutdown()
        # What workers had downloaded and were killed with.
        _core.sweep_downloads()


def is_initialized() -> bool:
    """Whether Headway is started in this process."""
    return _current() is not None


def cluster_resources() -> dict[str, float]:
    """What there is in all: ``{"CPU": 8.0, "GPU": 1.0, "memory": 3.2e10}`` (bytes). Starts Headway if need be."""
    return get_runtime().total_resources()


def available_resources() -> dict[str, float]:
    """What of :func:`cluster_resources` no run has claimed now."""
    return get_runtime().available_resources()


def get_runtime() -> _core.Runtime:
    """This process's runtime, started with default settings when there is none."""
    with _lock:
        return _current() or _start(None, None, {}, ())


def preload_modules(wanted: Sequence[str]) -> list[str]:
    """``wanted`` and what the user wants beside it, each once, in order."""
    environment = [name.strip() for name in os.environ.get("HEADWAY_PRELOAD", "").split(",") if name.strip()]
    return list(dict.fromkeys([*wanted, *_user_preload, *environment]))


_user_preload: tuple[str, ...] = ()


def _current() -> _core.Runtime | None:
    """A forked child has its parent's object but neither its threads nor its sockets."""
    return _runtime if _pid == os.getpid() else None


def _check_preload(preload: object) -> tuple[str, ...]:
    allowed = 'a list of module names, such as ["transformers"]'
    if isinstance(preload, str) or not isinstance(preload, Sequence):
        refuse("preload", preload, allowed)
    names = tuple(check_str("a name in preload", name, allowed) for name in preload)
    for name in names:
        package = name.split(".")[0]
        if not package or importlib.util.find_spec(package) is None:
            raise ValueError(f"preload names {name!r}, which is not installed; allowed: {allowed}")
    return names


def _find_py_spy() -> str:
    """The program that shows stacks of hanging workers; it comes with Headway. Empty when it is not there."""
    beside = os.path.join(sysconfig.get_path("scripts"), "py-spy")
    return beside if os.access(beside, os.X_OK) else shutil.which("py-spy") or ""


def _start(
    num_cpus: float | None, num_gpus: float | None, resources: dict[str, float], preload: tuple[str, ...]
) -> _core.Runtime:
    global _runtime, _pid, _user_preload
    start = os.environ.get("HEADWAY_WORKER_START", "fork")
    if start not in ("fork", "exec"):
        raise ValueError(f'HEADWAY_WORKER_START is {start!r} in the environment; allowed: "fork" (default) or "exec"')
    package = os.path.dirname(os.path.abspath(__file__))
    code = f"import json, sys; sys.path[:] = json.loads({json.dumps(sys.path)!r}); "
    _runtime = _core.Runtime(
        os.path.join(package, "bin", "headway-guard"),
        [sys.executable, "-c", code + "from headway._worker.factory import main; main()"],
        _FACTORY_ENV,
        _find_py_spy(),
        num_cpus,
        num_gpus,
        resources,
    )
    if _pid == 0:
        atexit.register(shutdown)
    _pid = os.getpid()
    _user_preload = preload
    return _runtime
