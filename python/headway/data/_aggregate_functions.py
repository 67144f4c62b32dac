"""What aggregates are: computed by the data engine, or a user's own."""

from __future__ import annotations

import abc
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from headway._values.arguments import check_bool, check_str, refuse

Accumulator = TypeVar("Accumulator")
Output = TypeVar("Output")

_NAME = "a column's name"


class AggregateFn:
    """What one value is computed of many rows: the base class of the aggregates here, and the older
    form of one's own. :class:`AggregateFnV2` is the newer form.

    Args:
        init: Gets the group's key (None without groups) and returns what is counted on from.
        merge: Makes one accumulator of two.
        name: The result's name.
        accumulate_row: Gets an accumulator and a row, a dict, and returns the accumulator.
        accumulate_block: The same for a ``pyarrow.Table`` of rows; one of both is given.
        finalize: Makes the result of the accumulator; default: the accumulator itself.

    Example:
        >>> import headway.data
        >>> from headway.data.aggregate import AggregateFn
        >>> count = AggregateFn(
        ...     init=lambda key: 0,
        ...     accumulate_row=lambda counted, row: counted + 1,
        ...     merge=lambda one, other: one + other,
        ...     name="rows",
        ... )
        >>> headway.data.range(5).aggregate(count)
        {'rows': 5}
    """

    #: What the result is called.
    name: str

    def __init__(
        self,
        init: Callable[[Any], Any],
        merge: Callable[[Any, Any], Any],
        name: str,
        accumulate_row: Callable[[Any, dict[str, Any]], Any] | None = None,
        accumulate_block: Callable[[Any, Any], Any] | None = None,
        finalize: Callable[[Any], Any] | None = None,
    ):
        self.name = _checked_name("AggregateFn", name)
        given = {"init": init, "merge": merge, "accumulate_row": accumulate_row, "accumulate_block": accumulate_block}
        for argument, function in {**given, "finalize": finalize}.items():
            if function is not None and not callable(function):
                refuse(f"AggregateFn.{argument}", function, "a function")
            if function is None and argument in ("init", "merge"):
                refuse(f"AggregateFn.{argument}", function, "a function")
        if (accumulate_row is None) == (accumulate_block is None):
            raise ValueError(
                "AggregateFn.accumulate_row and accumulate_block are both given, or none is; allowed: one of them"
            )
        self.init = init
        self.merge = merge
        self._accumulate_row = accumulate_row
        self._accumulate_block = accumulate_block
        self._finalize = finalize

    def _zero(self, key: Any) -> Any:
        """The accumulator before the first row."""
        return self.init(key)

    def _of_block(self, key: Any, block: Any) -> Any:
        """The accumulator of a table's rows."""
        accumulator = self.init(key)
        if self._accumulate_block is not None:
            return self._accumulate_block(accumulator, block)
        assert self._accumulate_row is not None
        for row in block.to_pylist():
            accumulator = self._accumulate_row(accumulator, row)
        return accumulator

    def _started(self, key: Any, part: Any) -> Any:
        """The accumulator of the first piece: `merge` gets those of pieces alone."""
        return part

    def _merged(self, one: Any, other: Any) -> Any:
        return self.merge(one, other)

    def _result(self, accumulator: Any) -> Any:
        return accumulator if self._finalize is None else self._finalize(accumulator)

    def __repr__(self) -> str:
        return self.name


class AggregateFnV2(AggregateFn, abc.ABC, Generic[Accumulator, Output]):
    """One's own aggregate: a class with :meth:`aggregate_block`, :meth:`combine` and, where the
    accumulator is not the result, :meth:`finalize`. Function workers call them.

    With ``ignore_nulls`` an accumulator None (or NaN) has no values and is passed over; without,
    the result is None where one is. All rows of a group come as one table, and must
    fit into memory; without groups each piece of the data is a table.

    Args:
        name: The result's name.
        zero_factory: Makes the accumulator of no rows.
        on: The column, or None: rows.
        ignore_nulls: See above.

    Example:
        >>> import headway.data
        >>> from headway.data.aggregate import AggregateFnV2
        >>> class Product(AggregateFnV2):
        ...     def __init__(self, on):
        ...         super().__init__(f"product({on})", lambda: 1, on=on, ignore_nulls=True)
        ...     def aggregate_block(self, block):
        ...         import pyarrow.compute
        ...         return pyarrow.compute.product(block[self.get_target_column()]).as_py()
        ...     def combine(self, current_accumulator, new):
        ...         return current_accumulator * new
        >>> headway.data.from_items([{"x": 2}, {"x": 3}, {"x": 7}]).aggregate(Product("x"))
        {'product(x)': 42}
    """

    def __init__(
        self, name: str, zero_factory: Callable[[], Accumulator], *, on: str | None, ignore_nulls: bool
    ) -> None:
        kind = type(self).__name__
        self.name = _checked_name(kind, name)
        if not callable(zero_factory):
            refuse(f"{kind}.zero_factory", zero_factory, "a function that returns an accumulator")
        if on is not None:
            check_str(f"{kind}.on", on, "None or a column's name")
        self._zero_factory = zero_factory
        self._target_col_name = on
        self._ignore_nulls = check_bool(f"{kind}.ignore_nulls", ignore_nulls)

    def get_target_column(self) -> str | None:
        """The column; None: rows."""
        return self._target_col_name

    def get_agg_name(self) -> str:
        """The name without its column: ``"sum"`` of ``"sum(price)"``."""
        return self.name.partition("(")[0]

    @abc.abstractmethod
    def aggregate_block(self, block: Any) -> Accumulator:
        """The accumulator of a ``pyarrow.Table`` of rows."""

    @abc.abstractmethod
    def combine(self, current_accumulator: Accumulator, new: Accumulator) -> Accumulator:
        """One accumulator of two."""

    def finalize(self, accumulator: Accumulator) -> Any:
        """The result of the accumulator of all rows."""
        return accumulator

    def _zero(self, key: Any) -> Any:
        return None if self._ignore_nulls else self._zero_factory()

    def _of_block(self, key: Any, block: Any) -> Any:
        return self.aggregate_block(block)

    def _started(self, key: Any, part: Any) -> Any:
        return self._merged(self._zero(key), part)

    def _merged(self, one: Any, other: Any) -> Any:
        if self._ignore_nulls:
            if _is_null(one) or _is_null(other):
                return other if _is_null(one) else one
        elif _is_null(one) or _is_null(other):
            return None
        return self.combine(one, other)

    def _result(self, accumulator: Any) -> Any:
        return accumulator if _is_null(accumulator) else self.finalize(accumulator)


class EngineFn(AggregateFn):
    """An aggregate that the data engine computes."""

    _function = ""
    #: In the result's name, where that is another one.
    _shown = ""

    def __init__(
        self, _on: str | None = None, _ignore_nulls: bool = True, _alias_name: str | None = None, **_options: Any
    ):
        kind = type(self).__name__
        if _on is not None:
            check_str(f"{kind}.on", _on, _NAME)
        check_bool(f"{kind}.ignore_nulls", _ignore_nulls)
        if _alias_name is not None:
            check_str(f"{kind}.alias_name", _alias_name, "None or a column's name")
        self.on = _on
        self.ignore_nulls = _ignore_nulls
        self.name = _alias_name or f"{self._shown or self._function}({_on or ''})"
        self._options = _options

    def for_plan(self) -> dict[str, Any]:
        """As the plan has it."""
        named = {"function": self._function, "on": self.on, "name": self.name, "ignore_nulls": self.ignore_nulls}
        return {**named, **self._options}


def of_column(kind: str, on: Any) -> str:
    """The column of an aggregate that needs one."""
    return check_str(f"{kind}.on", on, _NAME)


def _checked_name(kind: str, name: Any) -> str:
    if not check_str(f"{kind}.name", name, _NAME):
        raise ValueError(f"{kind}.name is ''; allowed: {_NAME}")
    return str(name)


def _is_null(value: Any) -> bool:
    return value is None or (isinstance(value, float) and value != value)
