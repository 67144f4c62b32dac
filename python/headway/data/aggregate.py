"""Aggregates: what ``Dataset.aggregate`` and ``groupby(...).aggregate`` compute."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from headway._values.arguments import check_bool, check_int, check_number, refuse
from headway._values.named_arguments import offer
from headway.data._aggregate_functions import AggregateFn, AggregateFnV2, EngineFn, of_column
from headway.data._approximate import (
    ApproximateQuantile,
    ApproximateTopK,
    MissingValuePercentage,
    ValueCounter,
    ZeroPercentage,
)

__all__ = [
    "AbsMax",
    "AggregateFn",
    "AggregateFnV2",
    "ApproximateQuantile",
    "ApproximateTopK",
    "AsList",
    "Count",
    "CountDistinct",
    "Max",
    "Mean",
    "Min",
    "MissingValuePercentage",
    "Quantile",
    "Std",
    "Sum",
    "Unique",
    "ValueCounter",
    "ZeroPercentage",
]


class _OfColumn(EngineFn):
    """An aggregate of one column."""

    def __init__(self, on: str, ignore_nulls: bool = True, alias_name: str | None = None):
        super().__init__(of_column(type(self).__name__, on), ignore_nulls, alias_name)


class _Extreme(_OfColumn):
    """The least or greatest value of a column."""

    def __init__(
        self,
        on: str,
        ignore_nulls: bool = True,
        alias_name: str | None = None,
        zero_factory: Callable[[], Any] | None = None,
    ):
        super().__init__(on, ignore_nulls, alias_name)
        if zero_factory is not None and not callable(zero_factory):
            refuse(f"{type(self).__name__}.zero_factory", zero_factory, "None or a function")


class Count(EngineFn):
    """The number of rows, or of a column's values.

    Args:
        on: The column; None: rows.
        ignore_nulls: Whether missing values don't count.
        alias_name: The result's name; default: ``count()``.

    Example:
        >>> from headway.data.aggregate import Count
        >>> Count()
        count()
    """

    _function = "count"

    def __init__(self, on: str | None = None, ignore_nulls: bool = False, alias_name: str | None = None):
        super().__init__(on, ignore_nulls, alias_name)


class Sum(_OfColumn):
    """The sum of a column.

    Args:
        on: The column.
        ignore_nulls: False: the result is missing where a value is.
        alias_name: The result's name.

    Example:
        >>> from headway.data.aggregate import Sum
        >>> Sum("price", alias_name="total")
        total
    """

    _function = "sum"


class Min(_Extreme):
    """The least value of a column.

    Args:
        on: The column.
        ignore_nulls: False: the result is missing where a value is.
        alias_name: The result's name.
        zero_factory: Kept for scripts that give it: a value that changes no result.

    Example:
        >>> from headway.data.aggregate import Min
        >>> Min("price")
        min(price)
    """

    _function = "min"


class Max(_Extreme):
    """The greatest value of a column.

    Args:
        on: The column.
        ignore_nulls: False: the result is missing where a value is.
        alias_name: The result's name.
        zero_factory: Kept for scripts that give it: a value that changes no result.

    Example:
        >>> from headway.data.aggregate import Max
        >>> Max("price")
        max(price)
    """

    _function = "max"


class Mean(_OfColumn):
    """The mean of a column.

    Args:
        on: The column.
        ignore_nulls: False: the result is missing where a value is.
        alias_name: The result's name.

    Example:
        >>> from headway.data.aggregate import Mean
        >>> Mean("price")
        mean(price)
    """

    _function = "mean"


class Std(EngineFn):
    """The standard deviation of a column.

    Args:
        on: The column.
        ddof: What is subtracted from the number of values in the divisor.
        ignore_nulls: False: the result is missing where a value is.
        alias_name: The result's name.

    Example:
        >>> from headway.data.aggregate import Std
        >>> Std("price", ddof=0)
        std(price)
    """

    _function = "std"

    def __init__(self, on: str, ddof: int = 1, ignore_nulls: bool = True, alias_name: str | None = None):
        if check_int("Std.ddof", ddof, "0 or more") < 0:
            raise ValueError(f"Std.ddof is {ddof}; allowed: 0 or more")
        super().__init__(of_column("Std", on), ignore_nulls, alias_name, ddof=ddof)


class AbsMax(_Extreme):
    """The greatest amount of a column, without its sign.

    Args:
        on: The column.
        ignore_nulls: False: the result is missing where a value is.
        alias_name: The result's name.
        zero_factory: Kept for scripts that give it: a value that changes no result.

    Example:
        >>> from headway.data.aggregate import AbsMax
        >>> AbsMax("price")
        abs_max(price)
    """

    _function = "abs_max"


class Quantile(EngineFn):
    """A quantile of a column; between two values it is interpolated.

    Args:
        on: The column.
        q: Which one, from 0 to 1.
        ignore_nulls: False: the result is missing where a value is.
        alias_name: The result's name.

    Example:
        >>> from headway.data.aggregate import Quantile
        >>> Quantile("price", q=0.9)
        quantile(price)
    """

    _function = "quantile"

    def __init__(self, on: str, q: float = 0.5, ignore_nulls: bool = True, alias_name: str | None = None):
        if not 0 <= check_number("Quantile.q", q, "a number from 0 to 1") <= 1:
            raise ValueError(f"Quantile.q is {q}; allowed: a number from 0 to 1")
        super().__init__(of_column("Quantile", on), ignore_nulls, alias_name, q=float(q))


class Unique(EngineFn):
    """The different values of a column, as a list.

    Args:
        on: The column.
        ignore_nulls: Whether a missing value is left out.
        alias_name: The result's name.
        encode_lists: Whether the values are those within lists, each by itself.

    Example:
        >>> import headway.data
        >>> from headway.data.aggregate import Unique
        >>> tags = headway.data.from_items([{"tags": ["a", "c"]}, {"tags": ["b", "a"]}])
        >>> tags.aggregate(Unique("tags", encode_lists=True))
        {'unique(tags)': ['a', 'b', 'c']}
    """

    _function = "unique"

    def __init__(
        self, on: str, ignore_nulls: bool = False, alias_name: str | None = None, encode_lists: bool | None = None
    ):
        column = of_column("Unique", on)
        if encode_lists is not None:
            check_bool("Unique.encode_lists", encode_lists)
        super().__init__(column, ignore_nulls, alias_name, encode_lists=bool(encode_lists))


class CountDistinct(_OfColumn):
    """How many different values a column has.

    Args:
        on: The column.
        ignore_nulls: Whether a missing value doesn't count.
        alias_name: The result's name.

    Example:
        >>> from headway.data.aggregate import CountDistinct
        >>> CountDistinct("city")
        count_distinct(city)
    """

    _function = "count_distinct"


class AsList(_OfColumn):
    """All values of a column, as a list.

    Args:
        on: The column.
        ignore_nulls: Whether missing values are left out.
        alias_name: The result's name.

    Example:
        >>> from headway.data.aggregate import AsList
        >>> AsList("word")
        list(word)
    """

    _function = "as_list"
    _shown = "list"

    def __init__(self, on: str, ignore_nulls: bool = False, alias_name: str | None = None):
        super().__init__(on, ignore_nulls, alias_name)


offer(globals(), [*__all__, "_OfColumn", "_Extreme"])
