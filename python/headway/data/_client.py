"""The way to the data engine: the process of this machine that reads, transforms and hands out."""

from __future__ import annotations

import contextlib
import importlib.metadata
import json
import os
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from headway import _core
from headway import _session as worker_session
from headway._values import ending
from headway.data import _scratch
from headway.data._batch import Batch, Layouts
from headway.data._context import DataContext
from headway.data._failures import as_users
from headway.data._plan import Plan

if TYPE_CHECKING:
    import pyarrow as pa

_lock = threading.Lock()
#: By process: a forked child starts or joins its own.
_engines: dict[int, tuple[_core.DataProcess, _core.DataClient]] = {}
_stats: dict[str, Any] = {}


def ask(plan: Plan, what: str, context: DataContext) -> Any:
    """The engine's answer to a question about a plan: "count", "files", "size" or "explain"."""
    return _asked(plan, what, context)[0]


def schema(plan: Plan, context: DataContext) -> pa.Schema:
    """The columns of a plan's result."""
    import pyarrow as pa

    return pa.ipc.read_schema(pa.py_buffer(_asked(plan, "schema", context)[1]))


def run(plan: Plan, context: DataContext) -> Any:
    """Runs a plan that ends in a write."""
    _check_there(plan)
    with as_users():
        answer, _ = _client(context).run(json.dumps({"plan": plan.json()}), list(plan.blobs))
    return json.loads(answer)


def stream(plan: Plan, consumption: dict[str, Any], context: DataContext) -> Iterator[Batch]:
    """All rows of a plan, in batches."""
    opened = Stream(plan, {**_WHOLE, **consumption}, context)
    try:
        yield from opened
    finally:
        opened.close()


#: How somebody who wants all rows consumes them.
_WHOLE: dict[str, Any] = {
    "batch_size": None,
    "drop_last": False,
    "shuffle_window_rows": None,
    "seed": None,
    "epoch": 0,
    "group": "",
    "world_size": 1,
    "rank": 0,
    "equal": False,
    "clients_here": 0,
    "prefetch": 1,
    "cursor": None,
}


class Stream:
    """One epoch of a plan's rows.

    Args:
        plan: The plan.
        consumption: How its rows are cut and shared.
        context: The settings.

    Attributes:
        stats: What it took, once it has come to its end.
    """

    def __init__(self, plan: Plan, consumption: dict[str, Any], context: DataContext):
        _check_there(plan)
        self._plan = plan
        self._layouts = Layouts()
        self.stats: Any = None
        with as_users():
            request = json.dumps({"plan": plan.json(), "consumption": consumption})
            self._core = _client(context).open(request, list(plan.blobs))

    def __iter__(self) -> Iterator[Batch]:
        while True:
            with as_users():
                batch = self._core.next()
            if batch is None:
                break
            yield Batch(batch, self._layouts)
            del batch  # Its memory is the engine's again once the user lets it go.
        self.stats = json.loads(self._core.end)
        _stats[self._plan.text()] = self.stats

    def close(self) -> None:
        """Nothing more is wanted."""
        self._core.close()


def last_stats(plan: Plan) -> Any:
    """What the last run of a plan in this process took."""
    return _stats.get(plan.text())


def shown_stats(stats: Any) -> str:
    """Statistics as lines."""
    if stats is None:
        return "there are no statistics yet: nothing was run to its end"
    lines = []
    for name, value in stats.items():
        if isinstance(value, (dict, list)):
            lines += [f"{name}:", *(f"  {each}" for each in json.dumps(value, indent=2).splitlines()[1:-1])]
        else:
            lines.append(f"{name}: {value}")
    return "\n".join(lines)


def _asked(plan: Plan, what: str, context: DataContext) -> tuple[Any, bytes]:
    _check_there(plan)
    with as_users():
        request = json.dumps({"what": what, "plan": plan.json()})
        answer, raw = _client(context).ask(request, list(plan.blobs))
    return json.loads(answer), raw


def _check_there(plan: Plan) -> None:
    """Raises FileNotFoundError for data from memory that lies on another machine."""
    for held in plan.held:
        if isinstance(held, _scratch.MissingScratchFile):
            raise FileNotFoundError(
                f"a data set that was made from memory lies on {held.machine} only, in {held.path}, and is read on "
                f"{os.uname().nodename}; write it to storage that all machines see (write_parquet), and read it there"
            )


def _client(context: DataContext) -> _core.DataClient:
    with _lock:
        there = _engines.get(os.getpid())
        if there is None:
            _engines.clear()
            _check_pyarrow()
            ending.at_shutdown(_leave)
            process = _core.DataProcess(_program(), _shared_folder())
            there = _engines[os.getpid()] = (process, _core.DataClient(process.address, json.dumps(_hello(context))))
        return there[1]


def _check_pyarrow() -> None:
    """The program ``headway-data`` loads the libraries of the pyarrow that it was built with.

    Raises:
        ModuleNotFoundError: pyarrow is not installed.
        ImportError: another major version is.
    """
    built = _core.pyarrow_version.partition(".")[0]
    try:
        installed = importlib.metadata.version("pyarrow")
    except importlib.metadata.PackageNotFoundError:
        raise ModuleNotFoundError(
            f"headway.data needs pyarrow: pip install 'pyarrow=={built}.*'", name="pyarrow"
        ) from None
    if installed.partition(".")[0] != built:
        raise ImportError(
            f"headway.data was built for pyarrow {built}, and {installed} is installed: "
            f"pip install 'pyarrow=={built}.*'"
        )


def _leave() -> None:
    """The engine ends with its last stream."""
    with _lock:
        _engines.clear()


def _program() -> str:
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    return os.path.join(package, "bin", "headway-data")


def _shared_folder() -> str:
    """The folder by which the ranks of a node and attempt find one process; empty outside of
    ranks.
    """
    session = worker_session.active()
    if session is None or session.context["world_size"] == 1:
        return ""
    if os.environ.get(_scratch.OF_MACHINE):
        return os.environ["TMPDIR"]  # Of the attempt, on this node.
    context = session.context
    name = f"attempt-{context['trial_id']}-{context['attempt']}-{context['plan']['node_rank']}"
    path = os.path.join(_scratch.folder(), name)
    with contextlib.suppress(FileExistsError):
        os.mkdir(path, mode=0o700)
    return path


def _hello(context: DataContext) -> dict[str, Any]:
    from headway._worker.functions import host

    return {
        "protocol": 1,
        "budget": context.execution_options.budget(),
        "threads": 0,
        "function_host": host.command(),
        "environment": {},
        "scratch": _scratch.folder(),
    }
