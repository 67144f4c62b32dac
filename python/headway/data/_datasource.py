"""Data sources of users: what their tasks give is read by function workers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from headway._values.arguments import check_int, check_none_or_above_0, refuse
from headway._values.named_arguments import offer
from headway.data._context import DataContext
from headway.data._dataset import Dataset
from headway.data._memory import blocks, cut
from headway.data._scheduling import takes_scheduling
from headway.data._sources import of_python


class BlockMetadata:
    """What is known of a task's rows before they are read.

    Args:
        num_rows: How many, exactly; None: unknown.
        size_bytes, schema, input_files, exec_stats: Kept for sources that give them.

    Example:
        >>> from headway.data.block import BlockMetadata
        >>> BlockMetadata(num_rows=3, size_bytes=None).num_rows
        3
    """

    def __init__(
        self,
        num_rows: int | None = None,
        size_bytes: int | None = None,
        schema: Any = None,
        input_files: Any = None,
        exec_stats: Any = None,
    ):
        if num_rows is not None and check_int("num_rows", num_rows, "None, or 0 or more") < 0:
            raise ValueError(f"num_rows is {num_rows}; allowed: None, or 0 or more")
        self.num_rows = num_rows
        self.size_bytes = size_bytes
        self.schema = schema
        self.input_files = list(input_files or ())
        self.exec_stats = exec_stats


offer(globals(), ["BlockMetadata"], place="headway.data.block")


class ReadTask:
    """A part of a data source, which one worker reads at a time.

    Args:
        read_fn: Returns the part, without arguments: an iterable of tables, data frames, dicts of
            arrays, or lists of rows.
        metadata: How many rows it has, if that is known.
        schema, per_task_row_limit: Kept for sources that give them.

    Example:
        >>> import headway.data
        >>> list(headway.data.ReadTask(lambda: [{"x": [1, 2]}])())
        [{'x': [1, 2]}]
    """

    def __init__(
        self,
        read_fn: Callable[[], Iterable[Any]],
        metadata: BlockMetadata | None = None,
        schema: Any = None,
        per_task_row_limit: int | None = None,
    ):
        if not callable(read_fn):
            refuse("read_fn", read_fn, "a function without arguments")
        if metadata is not None and not hasattr(metadata, "num_rows"):
            refuse("metadata", metadata, "None or a headway.data.block.BlockMetadata")
        self.read_fn = read_fn
        self.metadata = metadata if metadata is not None else BlockMetadata()
        self.schema = schema

    def __call__(self) -> Iterable[Any]:
        """The part."""
        return self.read_fn()


class Datasource:
    """What :func:`read_datasource` reads. A subclass has a method :meth:`get_read_tasks`.

    Example:
        >>> import headway.data
        >>> class Squares(headway.data.Datasource):
        ...     def get_read_tasks(self, parallelism):
        ...         return [headway.data.ReadTask(lambda n=n: [{"x": [n * n]}]) for n in (1, 2, 3)]
        >>> headway.data.read_datasource(Squares())
        Dataset(python_source)
    """

    def get_name(self) -> str:
        """For messages."""
        return type(self).__name__.removesuffix("Datasource")

    def estimate_inmemory_data_size(self) -> int | None:
        """Kept for sources that give it."""
        return None

    def get_read_tasks(self, parallelism: int) -> list[ReadTask]:
        """The parts, in the order of their rows.

        Args:
            parallelism: Into about how many parts the source is to be cut.
        """
        raise NotImplementedError(f"{type(self).__name__} has no method get_read_tasks(parallelism)")


@takes_scheduling
def read_datasource(
    datasource: Datasource,
    *,
    parallelism: int = -1,
    concurrency: int | None = None,
    override_num_blocks: int | None = None,
) -> Dataset:
    """The rows of a data source of one's own. Its tasks run in function workers, each again in
    every epoch, and give the same rows each time.

    Args:
        datasource: A :class:`Datasource`.
        parallelism: The older name of ``override_num_blocks``; -1: the default.
        concurrency: Kept for scripts that give it.
        override_num_blocks: How many tasks the source is asked for, and into how many pieces the
            rows are cut; default: ``read_op_min_num_blocks`` of the settings, and tasks.

    Raises:
        ValueError: the source has no task.

    Example:
        >>> import headway.data
        >>> class Numbers(headway.data.Datasource):
        ...     def get_read_tasks(self, parallelism):
        ...         return [headway.data.ReadTask(lambda: [{"x": [1, 2]}])]
        >>> headway.data.read_datasource(Numbers()).take_all()
        [{'x': 1}, {'x': 2}]
    """
    if not isinstance(datasource, Datasource):
        refuse("datasource", datasource, "a headway.data.Datasource")
    check_none_or_above_0("concurrency", concurrency)
    check_none_or_above_0("override_num_blocks", override_num_blocks)
    pieces = blocks(parallelism, override_num_blocks)
    tasks = list(datasource.get_read_tasks(pieces or DataContext.get_current().read_op_min_num_blocks))
    if not tasks:
        raise ValueError(f"datasource: {datasource.get_name()} has no read task; allowed: at least one")
    for task in tasks:
        if not callable(task):
            refuse("datasource.get_read_tasks()", task, "a list of headway.data.ReadTask")
    rows = [getattr(getattr(task, "metadata", None), "num_rows", None) for task in tasks]
    known = [count for count in rows if count is not None]
    made = of_python(_Parts(datasource.get_name(), tasks, rows), len(tasks), known if len(known) == len(rows) else None)
    return cut(made, pieces)


class _Parts:
    """What a worker calls with a task's number."""

    def __init__(self, name: str, tasks: list[Any], rows: list[int | None]):
        self._name = name
        self._tasks = tasks
        self._rows = rows

    def __call__(self, unit: int) -> Iterator[Any]:
        from headway._worker.functions.blocks import block_of
        from headway._worker.functions.outputs import columns_of

        given = 0
        for made in self._tasks[unit]():
            if isinstance(made, list):
                given += len(made)
                yield from made
                continue
            block = block_of(columns_of(made))
            given += block.rows
            yield block.batch(0, block.rows, "pyarrow")
        known = self._rows[unit]
        if known is not None and known != given:
            raise ValueError(f"{self._name}: read task {unit} gave {given} rows, and its metadata says {known}")
