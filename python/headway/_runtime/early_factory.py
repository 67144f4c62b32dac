"""A worker factory that imports frameworks while the driver's script does: on another core, and
long before ``fit()``.

A script that imports a trainer's package trains, as a rule. So from that import on, the first
import of a framework starts a factory, which hears of this and each further one. ``fit()`` tells it
what else workers need, and the runtime takes it for its own.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from headway import _core
from headway._runtime.factory_settings import factory_settings, worker_start
from headway._runtime.framework_imports import FRAMEWORKS, LAZY
from headway._runtime.needed_modules import comes_from_a_package
from headway._values.ending import EARLY_FACTORY, at_end, at_shutdown

_TRAINERS = frozenset(
    f"headway.train.{name}" for name in ("horovod", "huggingface", "lightgbm", "lightning", "torch", "xgboost")
)
# More does not fit into the socket at once.
_CHARACTERS_MAX = 60_000
_LAUNCHED = ("LOCAL_RANK", "HEADWAY_AGENT_PID")
"""What says that this process is a rank of a launcher's, or has been started by a worker."""


class _Watch:
    """Sees imports begin and end, and finds nothing itself."""

    def __init__(self) -> None:
        self._pid = os.getpid()
        self._armed = False
        self._asks_others = False
        self._imports = False
        self._factory: _core.EarlyFactory | None = None
        self._names: list[str] = []
        # As the factory has seen it, with what imports have changed since, as they do there.
        self._process: object = None
        self.is_offered = False

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """None, or what the finders behind this one find, with a look at the module's import."""
        if fullname in _TRAINERS and not self._armed and os.getpid() == self._pid:
            self._armed = True
            self._name(_imported())
        if not self._armed or self._imports or self._asks_others or fullname.partition(".")[0] not in FRAMEWORKS:
            return None
        self._asks_others = True
        try:
            spec = importlib.util.find_spec(fullname)
        finally:
            self._asks_others = False
        if spec is not None and hasattr(spec.loader, "exec_module") and comes_from_a_package(spec):
            self._look_at(spec.loader, fullname)
        return spec

    def _look_at(self, loader: Any, fullname: str) -> None:
        execute = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            loader.exec_module = execute
            if self._imports or os.getpid() != self._pid:
                return execute(module)
            self._name([fullname])
            self._imports = True
            try:
                execute(module)
            finally:
                self._imports = False
                if self._factory is not None:
                    self._process = _this_process()

        loader.exec_module = exec_module

    def _name(self, names: list[str]) -> None:
        """The factory imports them too. One that began in another process than this is now is
        replaced.
        """
        self._names += names
        if not self._names:
            return
        now = _this_process()
        if self._factory is not None and now != self._process:
            self.end()
        if self._factory is None:
            names = self._names
            self._factory = _core.EarlyFactory(*factory_settings())
            self._process = now
        if not self._tell({"import": names}):
            drop()

    def _tell(self, line: dict[str, list[str]]) -> bool:
        return self._factory is not None and self._factory.tell(json.dumps(line) + "\n")

    def hand_over(self, runtime: _core.Runtime, preload: list[str]) -> None:
        """The runtime takes the factory for workers that need these modules, if what it has
        imported is what it would import now.
        """
        if self._factory is None or self.is_offered or os.getpid() != self._pid:
            return
        if _this_process() == self._process and self._tell({"workers_need": preload}):
            self.is_offered = True
            self._factory.offer(runtime, preload)
        else:
            self.end()

    def end(self) -> None:
        """Ends the factory. If it was offered, then after the runtime, which may have taken it."""
        if os.getpid() == self._pid:
            factory, self._factory = self._factory, None
            if factory is not None:
                factory.end()


_watch: _Watch | None = None


def watch_imports() -> None:
    """From now on frameworks are imported in a factory as well, where this process is a driver that
    may have one, and a CPU for it.
    """
    global _watch
    if _watch is not None or not _is_wanted():
        return
    _watch = _Watch()
    sys.meta_path.insert(0, _watch)
    at_shutdown(_watch.end)
    # After the runtime.
    at_end(EARLY_FACTORY, _watch.end)


def hand_over(runtime: _core.Runtime, preload: list[str] | None) -> None:
    """Gives the factory, if there is one, to a run whose workers need ``preload``; None: they come
    from a factory of their run's. There will be no other.
    """
    if _watch is not None and preload is not None:
        _watch.hand_over(runtime, preload)
    drop()


def drop() -> None:
    """Ends the factory, unless it was offered to a runtime. There will be no other."""
    if _watch is not None:
        _leave()
        if not _watch.is_offered:
            _watch.end()


def _leave() -> None:
    if _watch in sys.meta_path:
        sys.meta_path.remove(_watch)


def _is_wanted() -> bool:
    if os.environ.get("HEADWAY_EARLY_FACTORY", "1") == "0" or any(name in os.environ for name in _LAUNCHED):
        return False
    processes: Any = sys.modules.get("multiprocessing.process")
    is_child = processes is not None and processes.parent_process() is not None
    if is_child or "__mp_main__" in sys.modules:  # The script is imported before there is a parent.
        return False
    try:
        return worker_start() == "fork" and len(os.sched_getaffinity(0)) > 1
    except ValueError:  # fit() says it.
        return False


def _imported() -> list[str]:
    """What this process has imported of frameworks."""
    found = []
    for name, module in list(sys.modules.items()):
        package = name.partition(".")[0]
        near = name.count(".") < 2 or package in LAZY
        if package in FRAMEWORKS and near and comes_from_a_package(getattr(module, "__spec__", None)):
            found.append(name)
    return found if sum(map(len, found)) < _CHARACTERS_MAX else [name for name in found if "." not in name]


def _this_process() -> object:
    """What a factory has of the process that starts it, and modules may look at."""
    try:
        cwd = os.getcwd()
    except FileNotFoundError:
        cwd = ""
    with open("/proc/self/status") as status:
        umask = [line for line in status if line.startswith("Umask:")]
    return factory_settings(), dict(os.environ), cwd, umask, os.sched_getaffinity(0)
