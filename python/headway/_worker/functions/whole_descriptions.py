"""The SQL of aggregates that describe a column: frequent values, and parts of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def check_numeric(aggregate: Mapping[str, Any], kind: Any) -> None:
    """Raises ValueError, which names the column, for a column of no numbers."""
    import pyarrow as pa

    types = pa.types
    if not any(test(kind) for test in (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean)):
        raise ValueError(f"{aggregate['name']}: column {aggregate['on']!r} is {kind}; allowed: a column of numbers")


def description(aggregate: Mapping[str, Any], column: str, kind: Any) -> str | None:
    """The SQL of an aggregate that describes a column; None for other aggregates.

    Args:
        aggregate: As the plan has it.
        column: The column in SQL.
        kind: The column's Arrow type.

    Raises:
        ValueError: the column cannot be described so.
    """
    import pyarrow as pa

    function = aggregate["function"]
    if function == "missing_pct":
        nan = f" OR isnan({column})" if pa.types.is_floating(kind) else ""
        return f"1e2 * {_count_of(f'{column} IS NULL{nan}')} / nullif(count(*), 0)"
    if function == "zero_pct":
        check_numeric(aggregate, kind)
        number = f"CAST({column} AS BIGINT)" if pa.types.is_boolean(kind) else column
        rows = f"count({column})" if aggregate["ignore_nulls"] else "count(*)"
        return f"1e2 * {_count_of(f'{number} = 0')} / nullif({rows}, 0)"
    if function == "approx_quantile":
        check_numeric(aggregate, kind)
        number = f"CAST({column} AS BIGINT)" if pa.types.is_boolean(kind) else column
        return f"approx_quantile(CAST({number} AS DOUBLE), {[float(q) for q in aggregate['quantiles']]!r})"
    if function == "value_counter":
        numbers = f"list_transform(map_values(histogram({column})), lambda n: CAST(n AS BIGINT))"
        return f"{{'values': coalesce(map_keys(histogram({column})), []), 'counts': coalesce({numbers}, [])}}"
    return _most_frequent(aggregate, column, kind) if function == "approx_topk" else None


def _count_of(condition: str) -> str:
    """The SQL of how many rows meet a condition. A FILTER would copy the references to all columns:
    of hundreds of columns that takes most of the time.
    """
    return f"count(CASE WHEN {condition} THEN 1 END)"


def unique_values(aggregate: Mapping[str, Any], column: str, kind: Any) -> str:
    """The SQL of a column's different values in order, or of those within its lists; a missing one
    comes last.
    """
    values = f"list_sort(list(DISTINCT {column}) FILTER ({column} IS NOT NULL))"
    lacks = f"bool_or({column} IS NULL)"
    if aggregate.get("encode_lists") and _is_list(kind):
        within = f"flatten(list({column}) FILTER ({column} IS NOT NULL))"
        values = f"list_sort(list_distinct({within}))"  # Without missing ones.
        lacks = f"list_count({within}) < len({within})"
    values = f"coalesce({values}, [])"
    return (
        values if aggregate["ignore_nulls"] else f"CASE WHEN {lacks} THEN list_append({values}, NULL) ELSE {values} END"
    )


def _is_list(kind: Any) -> bool:
    import pyarrow as pa

    stored = kind.storage_type if isinstance(kind, pa.BaseExtensionType) else kind
    return any(test(stored) for test in (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list))


def _most_frequent(aggregate: Mapping[str, Any], column: str, kind: Any) -> str:
    counts = f"histogram({column})"
    if aggregate["encode_lists"] and _is_list(kind):
        counts = f"list_aggregate(flatten(list({column}) FILTER ({column} IS NOT NULL)), 'histogram')"
    name = aggregate["on"].replace("'", "''")
    # A sort of structs goes by their first field.
    pairs = f"list_transform(map_entries({counts}), lambda e: {{'n': -CAST(e.value AS BIGINT), 'v': e.key}})"
    first = f"list_slice(list_sort({pairs}), 1, {int(aggregate['k'])})"
    return f"coalesce(list_transform({first}, lambda e: {{'{name}': e.v, 'count': -e.n}}), [])"
