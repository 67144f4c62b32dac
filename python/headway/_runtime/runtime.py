"""The driver's runtime: one in a process, made on first use, ended by :func:`shutdown` or with the
process.
"""

from __future__ import annotations

import importlib.util
import inspect
import os
import threading
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

from headway import _core
from headway import _session as worker_session
from headway._engines.options import check_engine
from headway._runtime import dashboard as own_dashboard
from headway._runtime import early_factory
from headway._runtime.environment import RuntimeEnv, check_runtime_env
from headway._runtime.factory_settings import factory_settings
from headway._runtime.joining import Joining, check_joining
from headway._runtime.needed_modules import needed_modules
from headway._values import ending
from headway._values.arguments import check_bool, check_labels, check_number, check_resources, check_str, refuse
from headway._values.ending import RUNS, at_end
from headway._values.preload import OPTIONAL, of_this_factory

_lock = threading.Lock()
_runtime: _core.Runtime | None = None
_pid = 0


def init(
    address: str | None = None,
    *,
    num_cpus: float | None = None,
    num_gpus: float | None = None,
    resources: Mapping[str, float] | None = None,
    labels: Mapping[str, str] | None = None,
    runtime_env: Mapping[str, Any] | None = None,
    preload: Sequence[str] | Literal[False] = (),
    ignore_reinit_error: bool = False,
    listen: str | None = None,
    token_file: str | None = None,
    node_lease_s: float = 10.0,
    dashboard: bool | int | None = None,
    **engine_options: Any,
) -> None:
    """Starts Headway in this process. ``Trainer.fit()`` does it when nobody has.

    Args:
        address: None or ``"local"``: this machine. ``"slurm"``: nodes of this Slurm cluster as
            well, as runs need them (see ``docs/clusters.md``). ``"ray"`` (the Ray cluster that this
            machine is a node of), ``"host:port"`` or ``"ray://host:port"``: nodes of a Ray cluster.
        num_cpus: CPUs of this machine that runs may claim; default: those that this process may
            use, and none with an engine such as Slurm.
        num_gpus: GPUs of this machine that runs may claim; default: those that this process sees,
            and none with an engine.
        resources: Amounts of further resources, by names that you define.
        labels: What ``ScalingConfig.label_selector`` may ask of this machine, such as ``{"region":
            "eu"}``.
        runtime_env: What workers' environment has that this process's has not: ``env_vars`` (set
            before their interpreters start), ``working_dir`` (a directory on their import path;
            where they work with ``HEADWAY_CHDIR_TO_TRIAL_DIR=0``), ``py_modules`` (directories,
            packages, modules' files or wheels that come first on the import path) and ``pip``
            (requirements, or the path of a requirements.txt: installed once into a separate
            environment over this one's packages, kept below ``HEADWAY_CACHE_DIR`` or
            ``~/.cache/headway``; or a dict with ``packages``, ``pip_version``,
            ``pip_install_options``, ``pip_check``).
        preload: Modules that worker factories import before they fork workers, so that no worker
            has to, beside those that the training function needs: what its code
            names of installed packages that this process has imported. ``HEADWAY_PRELOAD`` (names
            with commas between) adds to them. False: workers import what the training function
            needs.
        ignore_reinit_error: Do nothing when Headway is started already, instead of raising.
        listen: ``"host:port"`` to let other machines join as nodes (see ``docs/nodes.md``): an
            address of this machine, such as ``"0.0.0.0:0"`` (any address, any free port;
            :func:`join_address` says which). None: nothing listens, or with an engine
            ``"0.0.0.0:0"``.
        token_file: What agent processes must have a copy of; made when it is not there. Default:
            ``HEADWAY_TOKEN_FILE`` of the environment, else ``~/.headway/token``.
        node_lease_s: Seconds that a node which is out of reach may go on, 1 to 3600: its ranks are
            started elsewhere not before. An agent that can't reach the driver for so long ends its
            workers and itself.
        engine_options: Those of the engine that ``address`` names, such as ``partition`` of Slurm
            (``docs/clusters.md`` lists them); of every engine ``idle_s``, the seconds that an idle
            node is kept (60).
        dashboard: True or a port to show the runs of this process in a browser (see
            ``docs/dashboard.md``): the address is printed, and :func:`dashboard_url` returns it.
            False: no dashboard. None: ``HEADWAY_DASHBOARD`` of the environment, else any free port
            in a notebook, and none elsewhere.

    Raises:
        RuntimeError: Headway is started already, or pip could not install what ``runtime_env`` asks
        for. TypeError, ValueError, OSError: a bad argument, before anything is started.

    Example:
        >>> import headway
        >>> headway.init(num_cpus=4)
        >>> headway.cluster_resources()["CPU"]
        4.0
        >>> headway.shutdown()
    """
    engine = check_engine(address, engine_options, _INIT_NAMES)
    if num_cpus is not None:
        num_cpus = check_number("num_cpus", num_cpus, "None or a number")
    if num_gpus is not None:
        num_gpus = check_number("num_gpus", num_gpus, "None or a whole number")
    amounts = check_resources("resources", resources) if resources is not None else {}
    named = check_labels("labels", labels) if labels is not None else {}
    environment = check_runtime_env("runtime_env", runtime_env)
    modules = None if preload is False else _check_preload(preload)
    check_bool("ignore_reinit_error", ignore_reinit_error)
    port = own_dashboard.wanted_port(dashboard)
    joining = check_joining(listen, token_file, node_lease_s, engine)
    carried: list[str] = []
    if engine is not None and engine.carries_environment:
        engine.options["runtime_env"] = environment.as_dict()
        environment = replace(environment, pip=None)
        carried = environment.paths()
    if engine is not None and not engine.offers_this_machine:
        num_cpus, num_gpus = num_cpus or 0.0, num_gpus or 0.0
    with _lock:
        if current_runtime() is not None or worker_session.is_host():
            if ignore_reinit_error:
                return
            raise RuntimeError(
                "headway is started already; call headway.shutdown() first to start it with other settings"
            )
        environment.prepare()
        if modules is None:
            early_factory.drop()
        _start(num_cpus, num_gpus, amounts, modules, named, environment, joining, port, carried)


_INIT_NAMES = tuple(name for name in inspect.signature(init).parameters if name != "engine_options")


def shutdown() -> None:
    """Ends every run and worker of this process and returns when they are gone. Does nothing when
    nothing runs.

    Example:
        >>> import headway
        >>> headway.init()
        >>> headway.shutdown()
        >>> headway.is_initialized()
        False
    """
    global _runtime
    with _lock:
        runtime, _runtime = current_runtime(), None
    if runtime is not None:
        runtime.shutdown()
        own_dashboard.close()
        # What workers had downloaded and were killed with.
        _core.sweep_downloads()
    ending.shut_down()


def is_initialized() -> bool:
    """Whether Headway is started in this process.

    Example:
        >>> import headway
        >>> headway.init(ignore_reinit_error=True)
        >>> headway.is_initialized()
        True
    """
    return current_runtime() is not None or worker_session.is_host()


def cluster_resources() -> dict[str, float]:
    """What there is in all: ``{"CPU": 8.0, "GPU": 1.0, "memory": 3.2e10}`` (bytes). Starts Headway
    if need be.

    Example:
        >>> import headway
        >>> headway.cluster_resources()["CPU"] >= 1
        True
    """
    return get_runtime().total_resources()


def available_resources() -> dict[str, float]:
    """What of :func:`cluster_resources` no run has claimed now.

    Example:
        >>> import headway
        >>> headway.available_resources()["CPU"] <= headway.cluster_resources()["CPU"]
        True
    """
    return get_runtime().available_resources()


def join_address() -> str | None:
    """Where other machines' agents join (``headway-agent --join``): ``"host:port"``; None when
    nothing listens.

    Example:
        >>> import headway
        >>> headway.shutdown()
        >>> headway.join_address() is None  # nothing listens
        True
    """
    return _join_address if current_runtime() is not None else None


def get_runtime() -> _core.Runtime:
    """This process's runtime, started with default settings when there is none."""
    with _lock:
        return current_runtime() or _start(
            None, None, {}, (), {}, RuntimeEnv(), dashboard_port=own_dashboard.wanted_port(None)
        )


def preload_modules(wanted: Sequence[str], function: object, wished: Sequence[str] = ()) -> list[str]:
    """What every worker uses: ``wanted``, what the user wants beside it, and what the training
    function needs. What is ``wished`` comes with the next factory, and is no reason for one.

    Each once, in order. A run shares the newest factory that has what it needs: another one would
    import all of it again. Where there is none, the next has what the others had, too.
    """
    environment = [name.strip() for name in os.environ.get("HEADWAY_PRELOAD", "").split(",") if name.strip()]
    named = tuple(dict.fromkeys(["headway.train", *wanted, *(_user_preload or ()), *environment]))
    if worker_session.in_worker():
        # The run's own factory, where it has what is wanted here.
        return list(of_this_factory if set(named) <= set(of_this_factory) else named)
    if _user_preload is None:
        return list(named)
    needed = [name for name in needed_modules(function) if name not in named]
    before = _preloads.get(named, [])
    if named not in _preloads or not set(needed) <= set(before):
        _preloads[named] = list(dict.fromkeys([*before, *needed, *wished]))
    return [*named, *(OPTIONAL + name for name in _preloads[named])]


def worker_environment(runtime_env: Mapping[str, Any] | None, preload: list[str]) -> RuntimeEnv:
    """What workers of a run that need ``preload`` get: ``init``'s ``runtime_env`` with the run's
    over it, its packages installed. Their factory may have begun with the script's imports.

    Raises:
        RuntimeError: pip could not install them.
        ValueError: there are packages for pip, and this process validates a checkpoint.
    """
    given = check_runtime_env("RunConfig.worker_runtime_env", runtime_env)
    if given.pip and worker_session.is_host():
        raise ValueError(
            f"RunConfig.worker_runtime_env['pip'] is {list(given.pip.packages)!r:.80} in a validation function; "
            "allowed there: None, as workers come from the factory of the run whose checkpoint is validated"
        )
    runtime = get_runtime()
    environment = _environment.with_more(given).prepare()
    if join_address() is not None:
        environment = environment.for_nodes(_carried)
    early_factory.hand_over(runtime, None if environment.has_own_factory() else preload)
    return environment


# None: nothing but what every worker uses.
_user_preload: tuple[str, ...] | None = ()
# What the functions of all runs until now need beside what is wanted.
_preloads: dict[tuple[str, ...], list[str]] = {}
_join_address: str | None = None
_environment = RuntimeEnv()
# What of it the engine brings to its nodes by itself.
_carried: Sequence[str] = ()


def current_runtime() -> _core.Runtime | None:
    """A forked child has its parent's object but neither its threads nor its sockets."""
    return _runtime if _pid == os.getpid() else None


def _check_preload(preload: object) -> tuple[str, ...]:
    allowed = 'a list of module names, such as ["transformers"], or False'
    if isinstance(preload, str) or not isinstance(preload, Sequence):
        refuse("preload", preload, allowed)
    names = tuple(check_str("a name in preload", name, allowed) for name in preload)
    for name in names:
        package = name.split(".")[0]
        if not package or importlib.util.find_spec(package) is None:
            raise ValueError(f"preload names {name!r}, which is not installed; allowed: {allowed}")
    return names


def _start(
    num_cpus: float | None,
    num_gpus: float | None,
    resources: dict[str, float],
    preload: tuple[str, ...] | None,
    labels: dict[str, str],
    environment: RuntimeEnv,
    joining: Joining | None = None,
    dashboard_port: int | None = None,
    carried: Sequence[str] = (),
) -> _core.Runtime:
    global _runtime, _pid, _user_preload, _join_address, _environment, _carried
    listen: str | None = None
    token, node_lease_s = "", 10.0
    if joining is not None:
        listen, token, node_lease_s = joining.listen, joining.token, joining.node_lease_s
    runtime = _core.Runtime(
        *factory_settings(),
        num_cpus,
        num_gpus,
        resources,
        labels,
        listen,
        token,
        node_lease_s,
        worker_session.open_runtime(),
        **(joining.engine_arguments() if joining is not None else {}),
    )
    try:
        _join_address = runtime.listen() if joining else None
        if dashboard_port is not None and not worker_session.in_worker():
            own_dashboard.open_for(runtime, dashboard_port)
    except Exception:
        runtime.shutdown()
        raise
    _runtime = runtime
    if _pid == 0:
        at_end(RUNS, shutdown)
    _pid = os.getpid()
    _user_preload = preload
    _preloads.clear()
    _environment, _carried = environment, carried
    return _runtime
