"""Transforms of rows, batches and columns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast

from headway._values.arguments import check_bool, check_int, check_number, check_str, check_texts, refuse
from headway.data import _functions
from headway.data._base import DatasetPart
from headway.data._expression import Expr, PythonCall, Unnested, as_expression, name_of
from headway.data._filter_text import condition
from headway.data._functions import Arguments, OnRows, Workers
from headway.data._scheduling import takes_scheduling
from headway.data._seeds import check_seed, drawn

if TYPE_CHECKING:
    from typing_extensions import Self

_Made = TypeVar("_Made", bound="Rows")
_COLUMNS = "a column's name, or a list of columns' names"


class Rows(DatasetPart):
    """Transforms of rows, batches and columns."""

    @takes_scheduling
    def map(
        self,
        fn: Any,
        *,
        compute: Any = None,
        fn_args: Sequence[Any] | None = None,
        fn_kwargs: Mapping[str, Any] | None = None,
        fn_constructor_args: Sequence[Any] | None = None,
        fn_constructor_kwargs: Mapping[str, Any] | None = None,
        num_cpus: float | None = None,
        num_gpus: float | None = None,
        memory: float | None = None,
        concurrency: int | tuple[int, int] | None = None,
    ) -> Self:
        """Calls a function on each row, a dict, and takes the row that it returns.

        Args:
            fn: A function, or a class whose objects are called.
            compute: How many workers, in the older form.
            fn_args, fn_kwargs: Further arguments of each call.
            fn_constructor_args, fn_constructor_kwargs: Arguments of the class's constructor.
            num_cpus: What a worker gets on another node; on this machine functions share the cores.
            num_gpus: What a worker gets of this machine's GPUs, as its ``CUDA_VISIBLE_DEVICES``: a
                part of 1, or a whole number. There are no more workers than GPUs for them; those of
                other functions get other GPUs while there are some. 0: it sees all. In a training
                they are the GPUs of the ranks of this machine. ValueError: there are too few.
            memory: What a worker uses, for the record.
            concurrency: How many workers: a number, or the least and the most. In a training those
                for which this machine has no core run on other nodes, where CPUs are spare.
        """
        given = Arguments(fn_args, fn_kwargs, fn_constructor_args, fn_constructor_kwargs)
        workers = Workers(concurrency, compute, num_cpus, num_gpus, memory)
        return self._function("map", fn, given, workers, changes_rows=False)

    @takes_scheduling
    def flat_map(
        self,
        fn: Any,
        *,
        compute: Any = None,
        fn_args: Sequence[Any] | None = None,
        fn_kwargs: Mapping[str, Any] | None = None,
        fn_constructor_args: Sequence[Any] | None = None,
        fn_constructor_kwargs: Mapping[str, Any] | None = None,
        num_cpus: float | None = None,
        num_gpus: float | None = None,
        memory: float | None = None,
        concurrency: int | tuple[int, int] | None = None,
    ) -> Self:
        """Calls a function on each row, a dict, and takes the list of rows that it returns.

        Args:
            fn, compute, fn_args, fn_kwargs, fn_constructor_args, fn_constructor_kwargs, num_cpus,
            num_gpus, memory, concurrency: As for :meth:`map`.
        """
        given = Arguments(fn_args, fn_kwargs, fn_constructor_args, fn_constructor_kwargs)
        workers = Workers(concurrency, compute, num_cpus, num_gpus, memory)
        return self._function("flat_map", fn, given, workers, changes_rows=True)

    @takes_scheduling
    def filter(
        self,
        fn: Any = None,
        expr: Expr | str | None = None,
        *,
        compute: Any = None,
        fn_args: Sequence[Any] | None = None,
        fn_kwargs: Mapping[str, Any] | None = None,
        fn_constructor_args: Sequence[Any] | None = None,
        fn_constructor_kwargs: Mapping[str, Any] | None = None,
        num_cpus: float | None = None,
        num_gpus: float | None = None,
        memory: float | None = None,
        concurrency: int | tuple[int, int] | None = None,
    ) -> Self:
        """Keeps the rows for which a function, or an expression, is true.

        Args:
            fn: A function of one row, a dict.
            expr: A condition such as ``col("age") > 18``, or the same as text, ``"age > 18"``: it
                runs without Python.
            compute, fn_args, fn_kwargs, fn_constructor_args, fn_constructor_kwargs, num_cpus,
            num_gpus, memory, concurrency: As for :meth:`map`.
        """
        if isinstance(fn, Expr) and expr is None:
            fn, expr = None, fn
        if (fn is None) == (expr is None):
            raise ValueError("filter() has fn and expr, or neither; allowed: one of them")
        if expr is None:
            given = Arguments(fn_args, fn_kwargs, fn_constructor_args, fn_constructor_kwargs)
            workers = Workers(concurrency, compute, num_cpus, num_gpus, memory)
            return self._function("filter", fn, given, workers, changes_rows=True)
        if isinstance(expr, str):
            expr = condition(expr)
        if not isinstance(expr, Expr):
            refuse("expr", expr, 'an expression such as col("age") > 18, or text such as "age > 18"')
        with_calls = self._with_python_calls([expr])
        kept = with_calls._then("filter", {"where": expr._node})
        return _without_python_calls(kept, [expr])

    @takes_scheduling
    def map_batches(
        self,
        fn: Any,
        *,
        batch_size: int | str | None = None,
        compute: Any = None,
        batch_format: str | None = "default",
        zero_copy_batch: bool = True,
        fn_args: Sequence[Any] | None = None,
        fn_kwargs: Mapping[str, Any] | None = None,
        fn_constructor_args: Sequence[Any] | None = None,
        fn_constructor_kwargs: Mapping[str, Any] | None = None,
        num_cpus: float | None = None,
        num_gpus: float | None = None,
        memory: float | None = None,
        concurrency: int | tuple[int, int] | None = None,
        udf_modifying_row_count: bool = True,
    ) -> Self:
        """Calls a function on each batch and takes the batch, or the batches, that it returns.

        A batch never has rows of two pieces of the data, such as row groups, so it is the same in
        each run.

        Args:
            fn: A function, a generator function, an ``async`` function, or a class whose objects
                are called.
            batch_size: Rows of a batch; None: a whole piece, or a part of some 8 MiB of a large
                one that is read in parts.
            compute: How many workers, in the older form.
            batch_format: ``"default"`` and ``"numpy"``: a dict of arrays; ``"pandas"``;
                ``"pyarrow"``.
            zero_copy_batch: Kept for scripts that give it: a batch is the function's, which may
                change it, whatever it says.
            fn_args, fn_kwargs: Further arguments of each call.
            fn_constructor_args, fn_constructor_kwargs: Arguments of the class's constructor.
            num_cpus: What a worker gets on another node; on this machine functions share the cores.
            num_gpus: What a worker gets of this machine's GPUs, as its ``CUDA_VISIBLE_DEVICES``: a
                part of 1, or a whole number. There are no more workers than GPUs for them; those of
                other functions get other GPUs while there are some. 0: it sees all. In a training
                they are the GPUs of the ranks of this machine. ValueError: there are too few.
            memory: What a worker uses, for the record.
            concurrency: How many workers: a number, or the least and the most. In a training those
                for which this machine has no core run on other nodes, where CPUs are spare.
            udf_modifying_row_count: False promises that as many rows are returned as given.
        """
        check_bool("zero_copy_batch", zero_copy_batch)
        given = Arguments(fn_args, fn_kwargs, fn_constructor_args, fn_constructor_kwargs)
        workers = Workers(concurrency, compute, num_cpus, num_gpus, memory)
        return self._function(
            "map_batches",
            fn,
            given,
            workers,
            changes_rows=check_bool("udf_modifying_row_count", udf_modifying_row_count),
            batch_size=_functions.batch_size(batch_size),
            batch_format=_functions.batch_format(batch_format),
        )

    def _function(self, kind: str, fn: Any, given: Arguments, workers: Workers, **arguments: Any) -> Self:
        blob = _functions.packed(fn, given)
        named = {"kind": kind, "name": _functions.name_of(fn), **workers.arguments(), **arguments}
        return self._then("function", {name: value for name, value in named.items() if value is not None}, blob=blob)

    @takes_scheduling
    def with_column(self, column_name: str, expr: Expr) -> Self:
        """Adds a column, or replaces one, by an expression.

        Args:
            column_name: The column's name.
            expr: What it is computed from, such as ``col("price") * 2``.
        """
        return self.with_columns({check_str("column_name", column_name, "a column's name"): expr})

    @takes_scheduling
    def with_columns(self, exprs: Mapping[str, Expr] | Unnested, *more_exprs: Mapping[str, Expr] | Unnested) -> Self:
        """Adds columns, or replaces some, by expressions over the columns as they were.

        Args:
            exprs: Expressions by column name, or ``unnest(...)`` for a column of each field.
            more_exprs: More of these.
        """
        named: dict[str, Expr] = {}
        for each in (exprs, *more_exprs):
            if isinstance(each, Unnested):
                named.update(self._fields(each))
            elif isinstance(each, Mapping) and each:
                named.update(each)
            else:
                refuse("exprs", each, "a dict from columns' names to expressions, or unnest(...)")
        return self._with_named(named)

    def _fields(self, unnested: Unnested) -> dict[str, Expr]:
        """The fields of a struct; its type is asked for."""
        import pyarrow as pa

        name = "__headway_struct"
        kind = cast("Any", self._with_named({name: unnested.expression})).schema().base_schema.field(name).type
        if not pa.types.is_struct(kind):
            raise TypeError(f"{unnested} is of {kind}; allowed: an expression that has structs")
        return {field.name: unnested.expression.struct.field(field.name) for field in kind}

    def _with_named(self, exprs: Mapping[str, Expr], keys: Sequence[str] | None = None) -> Self:
        for name, expression in exprs.items():
            check_str("a name in exprs", name, "a column's name")
            if not isinstance(expression, Expr):
                refuse(f"exprs[{name!r}]", expression, 'an expression such as col("price") * 2')
        with_calls = self._with_python_calls(exprs.values(), keys)
        columns = [[name, each._node] for name, each in exprs.items()]
        return _without_python_calls(with_calls._then("project", {"columns": columns, "keep": True}), exprs.values())

    @takes_scheduling
    def select_columns(self, cols: Any) -> Self:
        """Only these columns, in this order.

        Args:
            cols: A name, or a list of names and expressions.
        """
        given = [cols] if isinstance(cols, (str, Expr)) else cols
        if isinstance(given, (bytes, Mapping)) or not isinstance(given, Iterable):
            refuse("cols", cols, f"{_COLUMNS} and expressions")
        chosen = [self._chosen(f"cols[{index}]", each) for index, each in enumerate(given)]
        if not chosen:
            raise ValueError("cols is empty; allowed: at least one column")
        expressions = [each for each in chosen if not each._node.get("star")]
        if len(expressions) < len(chosen):
            return self._with_star(expressions)
        with_calls = self._with_python_calls(expressions)
        return with_calls._then("project", {"columns": [[name_of(each), each._node] for each in chosen], "keep": False})

    def _chosen(self, argument: str, given: Any) -> Expr:
        if isinstance(given, str):
            from headway.data.expressions import col

            return col(given)
        if not isinstance(given, Expr):
            refuse(argument, given, "a column's name or an expression")
        if name_of(given) is None and not given._node.get("star"):
            raise ValueError(f"{argument} is {given}, which has no name; allowed: with .alias(name)")
        return given

    def _with_star(self, expressions: Sequence[Expr]) -> Self:
        if not expressions:
            return self._made(self._plan)
        return self.with_columns({str(name_of(each)): each for each in expressions})

    @takes_scheduling
    def drop_columns(self, cols: str | Sequence[str]) -> Self:
        """Without these columns.

        Args:
            cols: A name or a list of names.
        """
        names = check_texts("cols", [cols] if isinstance(cols, str) else cols, _COLUMNS)
        if len(set(names)) < len(names):
            raise ValueError(f"cols is {names}; allowed: each name once")
        return self._then("drop", {"columns": names}) if names else self._made(self._plan)

    @takes_scheduling
    def rename_columns(self, names: Mapping[str, str] | Sequence[str]) -> Self:
        """With other names for columns.

        Args:
            names: A dict from old names to new ones, or a list with a name for every column.
        """
        before = self._columns()
        if isinstance(names, Mapping):
            given = {check_str("a name in names", old, "a column's name"): new for old, new in names.items()}
            for old in given:
                if old not in before:
                    raise ValueError(f"names has {old!r}; allowed: columns of the data set: {', '.join(before)}")
            after = [check_str("a name in names", given.get(old, old), "a column's name") for old in before]
        else:
            after = check_texts("names", names, "a dict from names to names, or a list with a name for every column")
            if len(after) != len(before):
                raise ValueError(f"names has {len(after)} names; allowed: one for each of the {len(before)} columns")
        columns = [[new, {"column": old}] for old, new in zip(before, after, strict=True)]
        return self._then("project", {"columns": columns, "keep": False})

    @takes_scheduling
    def add_column(self, col: str, fn: Any, *, batch_format: str | None = "pandas") -> Self:
        """Adds a column that a function computes from whole batches. ``with_column`` is the newer
        way.

        Args:
            col: The column's name.
            fn: A function of a batch that returns the column's values.
            batch_format: As for :meth:`map_batches`.
        """
        check_str("col", col, "a column's name")
        if not callable(fn):
            refuse("fn", fn, "a function of a batch")
        return self.map_batches(_Added(col, fn), batch_format=batch_format, udf_modifying_row_count=False)

    def limit(self, limit: int) -> Self:
        """Only the first rows.

        Args:
            limit: How many.
        """
        if check_int("limit", limit, "0 or more") < 0:
            raise ValueError(f"limit is {limit}; allowed: 0 or more")
        return self._then("limit", {"rows": limit})

    def random_sample(self, fraction: float, *, seed: int | None = None) -> Self:
        """Each row with a chance of ``fraction``.

        Args:
            fraction: From 0 to 1.
            seed: Of the choice; None: one is drawn now, and kept.
        """
        if not 0 <= check_number("fraction", fraction, "a number from 0 to 1") <= 1:
            raise ValueError(f"fraction is {fraction}; allowed: a number from 0 to 1")
        given = check_seed("seed", seed)
        return self._then("sample", {"fraction": float(fraction), "seed": drawn() if given is None else given})

    def _with_python_calls(self, expressions: Iterable[Expr], keys: Sequence[str] | None = None) -> Self:
        """This data set with a column for each Python function in expressions. With keys a function
        gets whole groups.
        """
        made = self._made(self._plan)
        for call in _calls(expressions):
            made = made._with_python_calls(call.arguments, keys)
            inputs = [f"{call.column}_{index}" for index in range(len(call.arguments))]
            columns = [[name, each._node] for name, each in zip(inputs, call.arguments, strict=True)]
            if columns:
                made = made._then("project", {"columns": columns, "keep": True})
            function = OnRows(call.function, inputs, call.column)
            if keys is not None:
                made = (
                    cast("Any", made).groupby(list(keys) or None).map_groups(function, batch_format=call.batch_format)
                )
            else:
                made = made.map_batches(function, batch_format=call.batch_format, udf_modifying_row_count=False)
            dropped = inputs + [each.column for each in _calls(call.arguments)]
            made = made.drop_columns(dropped)
        return made


class _Added:
    """A function of batches that adds one column."""

    def __init__(self, column: str, function: Any):
        self.column = column
        self.function = function
        self.__name__ = _functions.name_of(function)

    def __call__(self, batch: Any) -> Any:
        value = self.function(batch)
        if hasattr(batch, "append_column"):
            return batch.append_column(self.column, _functions._chunked(value))
        batch[self.column] = value
        return batch


def _calls(expressions: Iterable[Expr]) -> list[PythonCall]:
    return list(dict.fromkeys(call for each in expressions for call in as_expression(each)._calls))


def _without_python_calls(made: _Made, expressions: Iterable[Expr]) -> _Made:
    """Without the columns that :meth:`Rows._with_python_calls` has added."""
    added = [call.column for call in _calls(expressions)]
    return made.drop_columns(added) if added else made
