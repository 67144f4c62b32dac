"""The SQL of operations that need all rows.

Each input has a column ``ROW`` with its rows' numbers, which breaks ties: results are equal from
run to run, whatever the threads. Where rows are sorted, the numbers are in two columns: DuckDB's
sort keeps a row's keys in 8, 16 or 24 bytes, each with one byte beside its value, so an integer of
64 bits with a row's number takes 16 this way, and 24 with a number of 64 bits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from headway._worker.functions.whole_descriptions import check_numeric, description, unique_values
from headway._worker.functions.whole_names import ROW, ROW_HIGH, quoted

_JOINS = {
    "inner": "INNER JOIN",
    "left_outer": "LEFT JOIN",
    "right_outer": "RIGHT JOIN",
    "full_outer": "FULL JOIN",
}


def query(operation: str, options: Mapping[str, Any], inputs: Sequence[Any]) -> str:
    """The query over tables ``input_0``, ``input_1``.

    Args:
        operation: sort, random_shuffle, group_map, repartition, unique, aggregate or join.
        options: As the plan has them.
        inputs: The inputs' Arrow schemas.

    Raises:
        ValueError: a column is missing, or cannot be used so; in words.
    """
    for schema in inputs:
        _refuse(operation, schema)
    made = {
        "sort": _sort,
        "random_shuffle": _shuffle,
        "group_map": _group_map,
        "repartition": _repartition,
        "unique": _unique,
        "aggregate": _aggregate,
        "join": _join,
    }
    return made[operation](options, inputs)


def _refuse(operation: str, schema: Any) -> None:
    """Refuses types that DuckDB lacks."""
    import pyarrow as pa

    for field in schema:
        if pa.types.is_union(field.type):
            raise ValueError(
                f"{operation}: column {field.name!r} is of type {field.type}, which DuckDB does not have; drop it"
            )


def used_columns(operation: str, options: Mapping[str, Any], side: int) -> set[str]:
    """The columns whose values an operation looks at; others only come along."""
    if operation == "join":
        return set(options["on"] if side == 0 else options["right_on"])
    if operation == "unique":
        return set(options["columns"])
    if operation == "random_shuffle":
        return set()
    if operation == "aggregate":
        return {*options["keys"], *(each["on"] for each in options["aggregates"] if each["on"] is not None)}
    return set(options["keys"])


def computed_columns(operation: str, options: Mapping[str, Any], inputs: Sequence[Any], side: int) -> set[str]:
    """Of the used columns those that are more than compared within one column: what is summed, and
    the keys of a join whose other side has another type.
    """
    if operation == "aggregate":
        compared = ("min", "max", "count", "count_distinct")
        return {each["on"] for each in options["aggregates"] if each["function"] not in compared}
    if operation != "join":
        return set()
    pairs = list(zip(options["on"], options["right_on"], strict=True))
    return {pair[side] for pair in pairs if inputs[0].field(pair[0]).type != inputs[1].field(pair[1]).type}


def known_schemas(operation: str, options: Mapping[str, Any], inputs: Sequence[Any]) -> list[Any]:
    """The inputs' schemas. An input without columns is one of functions that have made no rows: it
    has the columns that the operation looks at, of numbers where it computes.
    """
    import pyarrow as pa

    known = list(inputs)
    for side in (side for side, schema in enumerate(inputs) if len(schema) == 0):
        computed = computed_columns(operation, options, inputs, side) if operation == "aggregate" else set()
        used = sorted(used_columns(operation, options, side))
        columns = {name: pa.float64() if name in computed else pa.null() for name in used}
        if operation == "join":
            pairs = list(zip(options["on"], options["right_on"], strict=True))
            other = inputs[1 - side]
            columns = {
                pair[side]: other.field(pair[1 - side]).type for pair in pairs if pair[1 - side] in other.names
            } or columns
        known[side] = pa.schema(list(columns.items()))
    return known


#: Operations that sort rows by columns.
_SORTS = ("sort", "group_map", "repartition")
#: Rows whose numbers have 40 bits.
_SORTED_MAX = 1 << 40


def row_columns(operation: str, options: Mapping[str, Any], first: int, rows: int) -> dict[str, Any]:
    """The columns ``ROW`` and ``ROW_HIGH`` of some rows: their numbers, or what a shuffle puts them
    in order by.

    Args:
        operation: As for :func:`query`.
        options: Of a shuffle: ``start``, where the epoch's keys begin.
        first: The number of the first row.
        rows: How many.

    Raises:
        OverflowError: there are too many rows to sort.

    A shuffle's keys are those of SplitMix64, as ``data/exact_order.hpp`` computes them for rows
    that fit into memory.
    """
    import numpy as np

    if operation in _SORTS:
        if first + rows > _SORTED_MAX:
            raise OverflowError(f"there are more than {_SORTED_MAX} rows, which is the most that can be sorted")
        numbers = np.arange(first, first + rows)
        return {ROW_HIGH: (numbers >> 32).astype(np.uint8), ROW: numbers.astype(np.uint32)}
    if operation != "random_shuffle":
        return {ROW: np.arange(first, first + rows)}
    number: Any = np.arange(first + 1, first + rows + 1, dtype=np.uint64)
    key = np.uint64(options["start"]) + number * np.uint64(0x9E3779B97F4A7C15)
    key = (key ^ (key >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    key = (key ^ (key >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    # Signed, in the same order.
    return {ROW: (key ^ (key >> np.uint64(31)) ^ np.uint64(1 << 63)).view(np.int64)}


def _require(schema: Any, names: Sequence[str], what: str) -> None:
    for name in names:
        if schema.get_field_index(name) < 0:
            raise ValueError(f"{what}: there is no column {name!r}; there are {', '.join(schema.names)}")


def _order(schema: Any, name: str, descending: bool = False, table: str = "") -> list[str]:
    """Nulls last; before them NaN, in both directions."""
    import pyarrow as pa

    column = table + quoted(name)
    terms = [f"{column} {'DESC' if descending else 'ASC'} NULLS LAST"]
    if descending and pa.types.is_floating(schema.field(name).type):
        terms.insert(0, f"isnan({column}) ASC NULLS LAST")
    return terms


def _columns(schema: Any) -> str:
    return ", ".join(quoted(name) for name in schema.names)


def _sort(options: Mapping[str, Any], inputs: Sequence[Any]) -> str:
    schema = inputs[0]
    _require(schema, options["keys"], "sort")
    terms: list[str] = []
    for name, descending in zip(options["keys"], options["descending"], strict=True):
        terms += _order(schema, name, descending)
    return f"SELECT {_columns(schema)} FROM input_0 ORDER BY {', '.join([*terms, ROW_HIGH, ROW])}"


def _shuffle(options: Mapping[str, Any], inputs: Sequence[Any]) -> str:
    """``ROW`` has the rows' random keys: :func:`row_keys`."""
    return f"SELECT {_columns(inputs[0])} FROM input_0 ORDER BY {ROW}"


def _group_map(options: Mapping[str, Any], inputs: Sequence[Any]) -> str:
    _require(inputs[0], options["keys"], "groupby")
    return _sort({"keys": options["keys"], "descending": [False] * len(options["keys"])}, inputs)


def _repartition(options: Mapping[str, Any], inputs: Sequence[Any]) -> str:
    _require(inputs[0], options["keys"], "repartition, keys")
    return _group_map(options, inputs)


def _unique(options: Mapping[str, Any], inputs: Sequence[Any]) -> str:
    _require(inputs[0], options["columns"], "unique")
    names = ", ".join(quoted(name) for name in options["columns"])
    terms = [term for name in options["columns"] for term in _order(inputs[0], name)]
    return f"SELECT DISTINCT {names} FROM input_0 ORDER BY {', '.join(terms)}"


def _aggregate(options: Mapping[str, Any], inputs: Sequence[Any]) -> str:
    schema, keys = inputs[0], options["keys"]
    _require(schema, keys, "groupby")
    parts = [quoted(name) for name in keys]
    for each in options["aggregates"]:
        if each["on"] is not None:
            _require(schema, [each["on"]], each["name"])
        parts.append(f"{_value(each, schema)} AS {quoted(each['name'])}")
    made = f"SELECT {', '.join(parts)} FROM input_0"
    if keys:
        terms = [term for name in keys for term in _order(schema, name)]
        made += f" GROUP BY {', '.join(quoted(name) for name in keys)} ORDER BY {', '.join(terms)}"
    return made


def _value(aggregate: Mapping[str, Any], schema: Any) -> str:
    """One aggregate. Unless nulls are ignored, one makes the result null (and counts are of all
    rows).
    """
    function, on, ignores = aggregate["function"], aggregate["on"], aggregate["ignore_nulls"]
    if on is None:
        return "count(*)"
    column = quoted(on)
    described = description(aggregate, column, schema.field(on).type)
    if described is not None:
        return described
    if function == "count":
        return f"count({column})" if ignores else "count(*)"
    if function == "count_distinct":
        return f"count(DISTINCT {column})" + (
            "" if ignores else f" + max(CASE WHEN {column} IS NULL THEN 1 ELSE 0 END)"
        )
    if function == "as_list":
        return f"list({column} ORDER BY {ROW})" + (f" FILTER ({column} IS NOT NULL)" if ignores else "")
    if function == "unique":
        return unique_values(aggregate, column, schema.field(on).type)
    value = _number(aggregate, column, schema.field(on).type)
    return value if ignores else f"CASE WHEN bool_or({column} IS NULL) THEN NULL ELSE {value} END"


def _number(aggregate: Mapping[str, Any], column: str, kind: Any) -> str:
    import pyarrow as pa

    function = aggregate["function"]
    if function == "min":
        return f"min({column})"
    if function == "max":
        return _greatest(column, column, kind)
    check_numeric(aggregate, kind)
    if pa.types.is_boolean(kind):
        column = f"CAST({column} AS BIGINT)"
    if function == "sum":
        whole = not (pa.types.is_floating(kind) or pa.types.is_decimal(kind))
        return f"CAST(sum({column}) AS BIGINT)" if whole else f"sum({column})"
    if function == "mean":
        return f"avg(CAST({column} AS DOUBLE))"
    if function == "abs_max":
        return _greatest(f"abs({column})", column, kind)
    if function == "std":
        ddof, count = int(aggregate["ddof"]), f"count({column})"
        variance = f"var_pop(CAST({column} AS DOUBLE)) * {count} / ({count} - {ddof})"
        return f"CASE WHEN {count} > {ddof} THEN sqrt({variance}) END"
    if function == "quantile":
        return f"quantile_cont(CAST({column} AS DOUBLE), {float(aggregate['q'])!r})"
    raise ValueError(f"there is no aggregate {function!r}")


def _greatest(value: str, column: str, kind: Any) -> str:
    """DuckDB has NaN above all numbers; as the least one so the greatest is a number if there is
    one.
    """
    import pyarrow as pa

    if not pa.types.is_floating(kind):
        return f"max({value})"
    return f"coalesce(max(CASE WHEN NOT isnan({column}) THEN {value} END), max({value}))"


def _family(kind: Any) -> Any:
    """What types have in common whose values may be equal."""
    import pyarrow as pa

    types = pa.types
    if types.is_dictionary(kind):
        return _family(kind.value_type)
    families: dict[str, tuple[Callable[[Any], bool], ...]] = {
        "number": (types.is_integer, types.is_floating, types.is_decimal),
        "text": (types.is_string, types.is_large_string, types.is_string_view),
        "bytes": (types.is_binary, types.is_large_binary, types.is_fixed_size_binary, types.is_binary_view),
        "time": (types.is_date, types.is_timestamp),
        "list": (types.is_list, types.is_large_list, types.is_fixed_size_list),
    }
    # DuckDB has no durations: they are compared as the numbers that they are.
    other = str(kind) if types.is_duration(kind) else kind.id
    return next((name for name, tests in families.items() if any(test(kind) for test in tests)), other)


def _join(options: Mapping[str, Any], inputs: Sequence[Any]) -> str:
    left, right = inputs
    _require(left, options["on"], "join, on")
    _require(right, options["right_on"], "join, right_on")
    for one, other in zip(options["on"], options["right_on"], strict=True):
        kinds = left.field(one).type, right.field(other).type
        if _family(kinds[0]) != _family(kinds[1]):
            raise ValueError(
                f"join: column {one!r} is {kinds[0]} on the left, and {other!r} is {kinds[1]} on the right; allowed: "
                "columns with values that can be equal; cast one of them"
            )
    equal = " AND ".join(
        f"l.{quoted(one)} = r.{quoted(other)}" for one, other in zip(options["on"], options["right_on"], strict=True)
    )
    kind = options["type"]
    if kind not in _JOINS:
        # Semi and anti joins keep rows of one side.
        side, other = ("l", "r") if kind.startswith("left") else ("r", "l")
        tables = {"l": "input_0", "r": "input_1"}
        schema = left if side == "l" else right
        names = ", ".join(f"{side}.{quoted(name)}" for name in schema.names)
        word = "SEMI" if kind.endswith("semi") else "ANTI"
        return (
            f"SELECT {names} FROM {tables[side]} {side} {word} JOIN {tables[other]} {other} ON {equal} "
            f"ORDER BY {side}.{ROW}"
        )
    return (
        f"SELECT {', '.join(_joined_columns(options, left, right))} "
        f"FROM input_0 l {_JOINS[kind]} input_1 r ON {equal} "
        f"ORDER BY l.{ROW} NULLS LAST, r.{ROW} NULLS LAST"
    )


def _joined_columns(options: Mapping[str, Any], left: Any, right: Any) -> list[str]:
    """The left side's, then the right side's without its keys."""
    keys = dict(zip(options["on"], options["right_on"], strict=True))
    others = [name for name in right.names if name not in options["right_on"]]
    both = {name for name in left.names if name not in keys} & set(others)
    parts: list[str] = []
    names: list[str] = []
    for name in left.names:
        if name in keys:
            parts.append(f"coalesce(l.{quoted(name)}, r.{quoted(keys[name])})")
            names.append(name)
        else:
            parts.append(f"l.{quoted(name)}")
            names.append(name + options["left_suffix"] if name in both else name)
    for name in others:
        parts.append(f"r.{quoted(name)}")
        names.append(name + options["right_suffix"] if name in both else name)
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(
            f"join: both sides have {', '.join(twice)}; left_suffix and right_suffix make names of the result different"
        )
    return [f"{part} AS {quoted(name)}" for part, name in zip(parts, names, strict=True)]


def origins(operation: str, options: Mapping[str, Any], inputs: Sequence[Any]) -> dict[str, tuple[int, str]]:
    """Which columns of a result are an input's: the input, and the column's name there."""
    if operation in ("sort", "random_shuffle", "group_map", "repartition"):
        return {name: (0, name) for name in inputs[0].names}
    if operation == "unique":
        return {name: (0, name) for name in options["columns"]}
    if operation == "aggregate":
        same = {each["name"]: (0, each["on"]) for each in options["aggregates"] if each["function"] in ("min", "max")}
        return {**{name: (0, name) for name in options["keys"]}, **same}
    left, right = inputs
    if options["type"] in ("left_semi", "left_anti"):
        return {name: (0, name) for name in left.names}
    if options["type"] in ("right_semi", "right_anti"):
        return {name: (1, name) for name in right.names}
    keys, others = options["on"], [name for name in right.names if name not in options["right_on"]]
    both = {name for name in left.names if name not in keys} & set(others)
    made = {name + options["left_suffix"] if name in both else name: (0, name) for name in left.names}
    made.update({name + options["right_suffix"] if name in both else name: (1, name) for name in others})
    return made
