"""Aggregates that describe a column: frequent values, parts of it that are missing or zero."""

from __future__ import annotations

from collections.abc import Sequence

from headway._values.arguments import check_above_0, check_bool, check_number, refuse
from headway.data._aggregate_functions import EngineFn, of_column

_QUANTILES = "a list of numbers from 0 to 1"


class ApproximateQuantile(EngineFn):
    """Quantiles of a column, as a list of estimates: DuckDB's t-digest needs little memory, where
    :class:`Quantile` keeps all values.

    Args:
        on: The column.
        quantiles: Which ones, each from 0 to 1.
        quantile_precision: Kept for scripts that give it: a t-digest has one precision.
        alias_name: The result's name.

    Example:
        >>> from headway.data.aggregate import ApproximateQuantile
        >>> ApproximateQuantile("price", quantiles=[0.1, 0.5, 0.9])
        approx_quantile(price)
    """

    _function = "approx_quantile"

    def __init__(
        self, on: str, quantiles: Sequence[float], quantile_precision: int = 800, alias_name: str | None = None
    ):
        kind = "ApproximateQuantile"
        if isinstance(quantiles, (str, bytes)) or not isinstance(quantiles, Sequence):
            refuse(f"{kind}.quantiles", quantiles, _QUANTILES)
        each = [check_number(f"{kind}.quantiles[{index}]", q, _QUANTILES) for index, q in enumerate(quantiles)]
        if not each or min(each) < 0 or max(each) > 1:
            raise ValueError(f"{kind}.quantiles is {list(quantiles)}; allowed: {_QUANTILES}")
        check_above_0(f"{kind}.quantile_precision", quantile_precision)
        super().__init__(of_column(kind, on), True, alias_name, quantiles=[float(q) for q in each])


class ApproximateTopK(EngineFn):
    """The most frequent values of a column with their numbers, as a list of dicts, from the most
    frequent on; equally frequent ones from the least on. Numbers are exact.

    Args:
        on: The column.
        k: How many values.
        log_capacity: Kept for scripts that give it: there is no sketch that has a capacity.
        alias_name: The result's name.
        encode_lists: Whether the values within lists are counted, each by itself.

    Example:
        >>> import headway.data
        >>> from headway.data.aggregate import ApproximateTopK
        >>> words = headway.data.from_items([{"word": word} for word in ["b", "a", "b", "c"]])
        >>> words.aggregate(ApproximateTopK("word", k=2))
        {'approx_topk(word)': [{'word': 'b', 'count': 2}, {'word': 'a', 'count': 1}]}
    """

    _function = "approx_topk"

    def __init__(
        self, on: str, k: int, log_capacity: int = 15, alias_name: str | None = None, encode_lists: bool = False
    ):
        kind = "ApproximateTopK"
        check_above_0(f"{kind}.k", k)
        check_above_0(f"{kind}.log_capacity", log_capacity)
        check_bool(f"{kind}.encode_lists", encode_lists)
        if of_column(kind, on) == "count":
            raise ValueError(f"{kind}.on is 'count'; allowed: another name, as the result has count beside the value")
        super().__init__(on, True, alias_name, k=k, encode_lists=encode_lists)


class MissingValuePercentage(EngineFn):
    """The percentage of a column's values that are missing or NaN.

    Args:
        on: The column.
        alias_name: The result's name.

    Example:
        >>> import headway.data
        >>> from headway.data.aggregate import MissingValuePercentage
        >>> headway.data.from_items([{"x": 1.0}, {"x": None}]).aggregate(MissingValuePercentage("x"))
        {'missing_pct(x)': 50.0}
    """

    _function = "missing_pct"

    def __init__(self, on: str, alias_name: str | None = None):
        super().__init__(of_column("MissingValuePercentage", on), False, alias_name)


class ZeroPercentage(EngineFn):
    """The percentage of a column's values that are zero.

    Args:
        on: The column.
        ignore_nulls: False: it is a percentage of all rows.
        alias_name: The result's name.

    Example:
        >>> import headway.data
        >>> from headway.data.aggregate import ZeroPercentage
        >>> headway.data.from_items([{"x": 0}, {"x": None}, {"x": 3}]).aggregate(ZeroPercentage("x"))
        {'zero_pct(x)': 50.0}
    """

    _function = "zero_pct"

    def __init__(self, on: str, ignore_nulls: bool = True, alias_name: str | None = None):
        super().__init__(of_column("ZeroPercentage", on), ignore_nulls, alias_name)


class ValueCounter(EngineFn):
    """How often each value of a column is there: a dict of ``values``, from the least on, and
    ``counts``. Missing values don't count.

    Args:
        on: The column.
        alias_name: The result's name.

    Example:
        >>> import headway.data
        >>> from headway.data.aggregate import ValueCounter
        >>> headway.data.from_items([{"k": "b"}, {"k": "a"}, {"k": "b"}]).aggregate(ValueCounter("k"))
        {'value_counter(k)': {'values': ['a', 'b'], 'counts': [1, 2]}}
    """

    _function = "value_counter"

    def __init__(self, on: str, alias_name: str | None = None):
        super().__init__(of_column("ValueCounter", on), True, alias_name)
