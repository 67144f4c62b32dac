"""The way to the data engine: the process of this machine that reads, transforms and hands out."""

from __future__ import annotations

import contextlib
import json
import os
import threading
import weakref
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from headway import _core
from headway import _session as worker_session
from headway._values import ending
from headway._values.log import warn
from headway.data import _elsewhere, _program, _scratch, _sharing
from headway.data._batch import Batch, Layouts
from headway.data._context import DataContext
from headway.data._failures import as_users
from headway.data._plan import Plan
from headway.data._progress import Progress
from headway.data._waits import RankWaits, of_sharer

if TYPE_CHECKING:
    import pyarrow as pa

_lock = threading.Lock()
#: By process, as a forked child starts or joins its own, and by the folder of those who share rows;
#: without one it is the engine of all else.
_engines: dict[tuple[int, str], tuple[_core.DataProcess, _core.DataClient]] = {}
#: What the engine has begun with, and what it was asked for since then.
_budgets: set[int] = set()
#: By plan; the last ones.
_stats: dict[str, Any] = {}
_STATS_MAX = 256
#: Streams that have come to their end and are not closed yet.
_ended: weakref.WeakSet[Stream] = weakref.WeakSet()
#: So many batches of so many bytes, at most, are converted together.
_TOGETHER_MAX = 16
_SMALL_BYTES = 32 << 10
#: A function may use data sets, and theirs none.
_DEPTH_MAX = 1


def ask(plan: Plan, what: str, context: DataContext) -> Any:
    """The engine's answer to a question about a plan: "files", "size" or "explain"."""
    return _asked(plan, what, context)[0]


def schema(plan: Plan, context: DataContext) -> pa.Schema:
    """The columns of a plan's result."""
    import pyarrow as pa

    return pa.ipc.read_schema(pa.py_buffer(_asked(plan, "schema", context)[1]))


def ask_once(plan: Plan, what: str, context: DataContext) -> tuple[Any, bytes]:
    """The engine's answer, and the bytes that come with it. A process that was started for this
    question ends.
    """
    had_one = (os.getpid(), "") in _engines
    try:
        return _asked(plan, what, context)
    finally:
        if not had_one:
            with _lock:
                _engines.pop((os.getpid(), ""), None)


def count(plan: Plan, context: DataContext) -> int:
    """How many rows a plan has."""
    with Progress(context, "count") as progress:
        answer = _asked(plan, "count", context, progress.told)[0]
    if answer["stats"] is not None:  # A number that files know was not run for.
        keep_stats(plan, answer["stats"])
    _warn_of_errored(answer, context)
    return int(answer["rows"])


def run(plan: Plan, context: DataContext, rows: Plan, names: Callable[[int, int], list[str]] | None = None) -> Any:
    """Runs a plan that ends in a write.

    Args:
        plan: The plan.
        context: The settings.
        rows: The plan of the rows that it writes.
        names: Gives the names of so many files, from a number on, where the write asks for them.
    """
    _check_there(plan)
    with _talking(), Progress(context) as progress:
        request = _request(plan, context)
        answer = json.loads(_client(context).run(request, list(plan.blobs), progress.told, names)[0])
    keep_stats(rows, answer["stats"])
    _warn_of_errored(answer, context)
    return answer


def stream(plan: Plan, consumption: dict[str, Any], context: DataContext, what: str = "") -> Iterator[Batch]:
    """All rows of a plan, in batches. ``what`` is done with them, for the line that shows it."""
    opened = Stream(plan, {**_WHOLE, **consumption}, context, what)
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
    "lanes": 1,
    "prefetch": 1,
    "cursor": None,
    "iterator": "",
    "more": False,
}


class Stream:
    """One epoch of a plan's rows.

    Args:
        plan: The plan.
        consumption: How its rows are cut and shared.
        context: The settings.
        what: What Headway itself does with the rows, for the line that shows how far it is; empty:
            they are the user's.
        waits: What hears how long each batch is waited for.

    Attributes:
        stats: What it took, once it has come to its end.
        dropped: How many rows at its end no client got, as all get equally many.
    """

    def __init__(
        self,
        plan: Plan,
        consumption: dict[str, Any],
        context: DataContext,
        what: str = "",
        waits: RankWaits | None = None,
    ):
        _check_there(plan)
        self._plan = plan
        self._context = context
        #: Of the clients that share an epoch, one warns.
        self._warns = consumption["rank"] == 0
        self._layouts = Layouts()
        self._progress = Progress(context, what)
        #: Nothing is printed between two batches.
        self._is_ours = bool(what)
        self._waits = waits or of_sharer(consumption, self._progress)
        self.stats: Any = None
        self.dropped = 0
        with _talking():
            client = _client(context, consumption.get("group", ""))
            others = _elsewhere.ask_for_workers(plan, context, client)
            request = _request(plan, context, consumption=consumption, other_nodes=others)
            self._core = client.open(request, list(plan.blobs))

    def __iter__(self) -> Iterator[Batch]:
        waits = self._waits
        told = self._progress.told if waits is None else waits.lasts
        # What the consumer raises does not come in here.
        with self._progress, _talking():
            while True:
                if waits is not None:
                    waits.begin()
                batch = self._core.next(told)
                if batch is None:
                    break
                if waits is not None:
                    waits.end(self)
                if not self._is_ours:
                    self._progress.hide()  # What the loop prints is not to stand behind the line.
                yield Batch(batch, self._layouts)
                del batch  # Its memory is the engine's again once the user lets it go.
        end = json.loads(self._core.end)
        self.stats, self.dropped = end["stats"], end["dropped"]
        if self._warns:
            _warn_of_errored(end, self._context)
        keep_stats(self._plan, self.stats)
        _ended.add(self)

    def made(self, convert: Callable[[Batch], Any], together_max: int = _TOGETHER_MAX) -> Iterator[list[Any]]:
        """For each batch a list of its place and what is made of it. Small ones that are there are
        converted together: between two steps of a training the code is no longer in the caches,
        and takes four times as long.

        Args:
            convert: What is called with each batch.
            together_max: How many are converted together at most; 1: each when it is wanted.
        """
        together: list[list[Any]] = []
        failed: Exception | None = None
        for batch in self:
            try:
                together.append([batch.place, convert(batch)])
            except Exception as error:  # Those before it come before it.
                failed = error
            if failed is None and len(together) < together_max and 0 < self._core.next_bytes <= _SMALL_BYTES:
                continue
            del batch
            together.reverse()
            while together:
                yield together.pop()
            if failed is not None:
                try:
                    raise failed
                finally:
                    del failed  # Its traceback has this frame: only the collector would free it.

    @property
    def has_next(self) -> bool:
        """Whether the next batch is there."""
        return bool(self._core.next_bytes)

    @property
    def counters(self) -> dict[str, Any]:
        """What the stages have done, as far as it is known here."""
        counters: dict[str, Any] = json.loads(self._core.counters)
        return counters

    @property
    def waits(self) -> dict[str, float]:
        """How long batches were waited for, in seconds, of how long since the first one."""
        waits: dict[str, float] = json.loads(self._core.waits)
        return waits

    def close(self) -> None:
        """Nothing more is wanted."""
        self._core.close()


def last_stats(plan: Plan) -> Any:
    """What the last run of a plan in this process took."""
    return _stats.get(plan.text())


def keep_stats(plan: Plan, stats: Any) -> None:
    """What the last run of a plan took, which :func:`last_stats` gives."""
    _stats[plan.text()] = stats
    while len(_stats) > _STATS_MAX:
        del _stats[next(iter(_stats))]


def shown_stats(stats: Any) -> str:
    """Statistics as a table."""
    if stats is None:
        return "there are no statistics yet: nothing was run to its end"
    return _core.data_stats_table(json.dumps(stats))


def _request(plan: Plan, context: DataContext, **more: Any) -> str:
    return json.dumps({"plan": plan.json(), "errored_max": context.max_errored_blocks, **more})


def _warn_of_errored(end: dict[str, Any], context: DataContext) -> None:
    if end["errored"]:
        pieces = "1 piece of a data set was" if end["errored"] == 1 else f"{end['errored']} pieces of a data set were"
        warn(
            f"{pieces} left out (max_errored_blocks is {context.max_errored_blocks}); the first one: "
            f"{end['first_failure']}"
        )


def _asked(
    plan: Plan, what: str, context: DataContext, told: Callable[[str], object] | None = None
) -> tuple[Any, bytes]:
    _check_there(plan)
    with _talking():
        request = _request(plan, context, what=what)
        answer, raw = _client(context).ask(request, list(plan.blobs), told)
    return json.loads(answer), raw


def _check_there(plan: Plan) -> None:
    """Raises FileNotFoundError for data from memory that lies on another machine."""
    for held in plan.held:
        if isinstance(held, _scratch.MissingScratchFile):
            if held.machine == os.uname().nodename:
                raise FileNotFoundError(
                    f"the rows of a data set that was made from memory were in {held.path}, which was deleted with the "
                    "last data set that used it, before this copy was unpickled; write them (write_parquet), and read "
                    "the files"
                )
            raise FileNotFoundError(
                f"a data set that was made from memory lies on {held.machine} only, in {held.path}, and is read on "
                f"{os.uname().nodename}; write it to storage that all machines see (write_parquet), and read it there"
            )


@contextlib.contextmanager
def _talking() -> Iterator[None]:
    """Around questions to the data process: after its end the next question finds another one."""
    with as_users():
        try:
            yield
        except _core.DataFailure:
            raise
        except RuntimeError:
            for (owner, _), there in list(_engines.items()):
                if owner == os.getpid():
                    there[0].is_about_to_end()
            raise


def _client(context: DataContext, group: str = "") -> _core.DataClient:
    """The way to the engine: for those who share rows outside of ranks the one of their group."""
    of_ranks = _sharing.folder_of_ranks()
    folder = "" if of_ranks else _sharing.folder_of(group)
    with _lock:
        own, there = _running(""), _running(folder)
        if there is None:
            _check_depth()
            _program.check_pyarrow()
            ending.at_shutdown(_leave)
            if folder and own:
                _sharing.publish(folder, own[0].address)
            process = _core.DataProcess(_program.path(), of_ranks or folder, _program.library_path())
            hello = _hello(context)
            _budgets.clear()
            _budgets.add(hello["budget"])
            there = (process, _core.DataClient(process.address, json.dumps(hello)))
            _engines[os.getpid(), folder] = there
            _engines.setdefault((os.getpid(), ""), there)
        _warn_of_budget(context.execution_options.budget())
        return there[1]


def _check_depth() -> None:
    """Ends a chain of processes in which each imports a module that starts the next one.

    Raises:
        RuntimeError: this process is a function's worker of a data set that a function uses.
    """
    if worker_session.function_depth() > _DEPTH_MAX:
        raise RuntimeError(
            "a data set is used in a function of a data set that is itself used in a function; a module or script "
            'that uses data sets while it is imported needs `if __name__ == "__main__":` before them'
        )


def _running(folder: str) -> tuple[_core.DataProcess, _core.DataClient] | None:
    """What this process has of a folder, if it has not ended. What the parent of a forked child
    has had is dropped.
    """
    for key, (process, _) in list(_engines.items()):
        if key[0] != os.getpid() or process.has_ended:
            del _engines[key]
    return _engines.get((os.getpid(), folder))


def _warn_of_budget(asked: int) -> None:
    """The data process has one budget, the first one; 0 asks for none."""
    if not asked or asked in _budgets:
        return
    _budgets.add(asked)
    warn(
        f"object_store_memory is {asked / 1024**2:,.0f} MiB, which changes nothing now: the data engine of this "
        "process has begun with another budget; set it before the first data set is used, or call headway.shutdown() "
        "before"
    )


def _leave() -> None:
    """The engine ends with its last stream."""
    for stream in list(_ended):
        stream.close()
    with _lock:
        _engines.clear()


def _hello(context: DataContext) -> dict[str, Any]:
    from headway._worker.functions import host

    return {
        "budget": context.execution_options.budget(),
        "threads": 0,
        "function_host": host.command(worker_session.directory_before()),
        "environment": {},
        "scratch": _scratch.folder(),
    }
