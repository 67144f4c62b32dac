"""Data sets by chance, each with the rows that plain Python makes of the same steps."""

from __future__ import annotations

import dataclasses
import random
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from headway import data
from headway.data.expressions import col, lit

Row = dict[str, Any]
#: More rows than these are only made fewer.
MANY = 6_000

SCHEMA = pa.schema(
    {
        "id": pa.int64(),
        "k": pa.int64(),
        "s": pa.string(),
        "f": pa.float64(),
        "l": pa.list_(pa.int64()),
        "t": pa.struct({"x": pa.int64(), "y": pa.string()}),
    }
)


@dataclasses.dataclass
class Case:
    """A data set and what its rows are; `steps` says how it was made."""

    made: data.Dataset
    rows: list[Row]
    names: list[str]
    ordered: bool = True
    steps: str = ""

    def then(self, made: data.Dataset, rows: list[Row], step: str, **changed: Any) -> Case:
        return dataclasses.replace(self, made=made, rows=rows, steps=f"{self.steps}.{step}", **changed)


def rows_by_chance(rnd: random.Random) -> list[Row]:
    first, count = rnd.choice([0, 500]), rnd.choice([0, 1, 2, 7, 100, 1_000])
    return [
        {
            "id": number,
            "k": rnd.choice([0, 1, 2, None]),
            "s": rnd.choice(["", "a", "bb", "é", None]),
            "f": rnd.choice([0.5, -1.5, 1e300, None]),
            "l": rnd.choice([[], [1], [1, None, 3], None]),
            "t": rnd.choice([{"x": 1, "y": None}, {"x": None, "y": "b"}, None]),
        }
        for number in range(first, first + count)
    ]


def source(rnd: random.Random, folder: Path) -> Case:
    rows = rows_by_chance(rnd)
    table = pa.Table.from_pylist(rows, SCHEMA)
    kind = rnd.choice(["parquet", "arrow", "tables", "kept"])
    cut = rnd.randrange(table.num_rows + 1)
    if kind == "parquet":
        folder = folder / str(len(list(folder.iterdir())))
        folder.mkdir()
        for number, part in enumerate([table.slice(0, cut), table.slice(cut)]):
            pq.write_table(part, folder / f"{number}.parquet", row_group_size=rnd.choice([3, 100, 10_000]))
        made = data.read_parquet(str(folder))
    elif kind == "tables":
        made = data.from_arrow([table.slice(0, cut), table.slice(cut)])
    else:
        made = data.from_arrow(table)
    made = made.materialize() if kind == "kept" else made
    return Case(made, rows, SCHEMA.names, steps=f"{kind}({len(rows)}, cut={cut})")


def plus_one(row: Row) -> Row:
    return {**row, "id": row["id"] + 1}


def batch_plus_one(batch: pa.Table) -> pa.Table:
    return batch.set_column(batch.schema.get_field_index("id"), "id", pc.add(batch["id"], 1))


def halves(batch: pa.Table) -> Any:
    yield batch.slice(0, len(batch) // 2)
    yield batch.slice(len(batch) // 2)


class Adds:
    def __init__(self, number: int):
        self.number = number

    def __call__(self, row: Row) -> Row:
        return {**row, "id": row["id"] + self.number}


def map_(rnd: random.Random, case: Case) -> Case:
    return case.then(case.made.map(plus_one), [plus_one(row) for row in case.rows], "map")


def map_class(rnd: random.Random, case: Case) -> Case:
    made = case.made.map(Adds, fn_constructor_args=(5,), concurrency=rnd.choice([1, 2]))
    return case.then(made, [Adds(5)(row) for row in case.rows], "map_class")


def map_batches(rnd: random.Random, case: Case) -> Case:
    size = rnd.choice([7, 256, None])
    made = case.made.map_batches(batch_plus_one, batch_size=size, batch_format="pyarrow")
    return case.then(made, [plus_one(row) for row in case.rows], f"map_batches({size})")


def generate(rnd: random.Random, case: Case) -> Case:
    size = rnd.choice([10, 300])
    return case.then(case.made.map_batches(halves, batch_size=size, batch_format="pyarrow"), case.rows, "generate")


def flat_map(rnd: random.Random, case: Case) -> Case:
    return case.then(case.made.flat_map(lambda row: [row, row]), [r for row in case.rows for r in (row, row)], "twice")


def filter_(rnd: random.Random, case: Case) -> Case:
    rows = [row for row in case.rows if row["id"] % 3]
    return case.then(case.made.filter(lambda row: row["id"] % 3 != 0), rows, "filter")


def filter_expression(rnd: random.Random, case: Case) -> Case:
    below = rnd.choice([0, 5, 80, 550])
    rows = [row for row in case.rows if row["id"] < below]
    return case.then(case.made.filter(expr=col("id") < lit(below)), rows, f"filter(id < {below})")


def with_column(rnd: random.Random, case: Case) -> Case:
    rows = [{**row, "n": 2 * row["id"]} for row in case.rows]
    names = case.names if "n" in case.names else [*case.names, "n"]
    return case.then(case.made.with_column("n", col("id") * 2), rows, "with_column", names=names)


def select(rnd: random.Random, case: Case) -> Case:
    return selected(case, [name for name in case.names if name == "id" or rnd.random() < 0.7])


def selected(case: Case, names: list[str]) -> Case:
    rows = [{name: row[name] for name in names} for row in case.rows]
    return case.then(case.made.select_columns(names), rows, f"select({names})", names=names)


def rename(rnd: random.Random, case: Case) -> Case:
    others = [name for name in case.names if name != "id" and name + name not in case.names]
    if not others:
        return case
    old = rnd.choice(others)
    names = [old + old if name == old else name for name in case.names]
    rows = [{old + old if name == old else name: value for name, value in row.items()} for row in case.rows]
    return case.then(case.made.rename_columns({old: old + old}), rows, f"rename({old})", names=names)


def limit(rnd: random.Random, case: Case) -> Case:
    count = rnd.choice([0, 1, 50, 10_000])
    if not case.ordered and count < len(case.rows):
        return case
    return case.then(case.made.limit(count), case.rows[:count], f"limit({count})")


def sort(rnd: random.Random, case: Case) -> Case:
    down = rnd.random() < 0.5
    rows = sorted(case.rows, key=lambda row: row["id"], reverse=down)
    ordered = len({row["id"] for row in rows}) == len(rows)
    return case.then(case.made.sort("id", descending=down), rows, f"sort({down})", ordered=ordered)


def shuffle(rnd: random.Random, case: Case) -> Case:
    return case.then(case.made.random_shuffle(seed=1), case.rows, "shuffle", ordered=False)


def repartition(rnd: random.Random, case: Case) -> Case:
    how = rnd.choice([{"num_blocks": 3}, {"num_blocks": 3, "shuffle": True}, {"target_num_rows_per_block": 10}])
    ordered = case.ordered and "shuffle" not in how
    return case.then(case.made.repartition(**how), case.rows, f"repartition({how})", ordered=ordered)


def keep(rnd: random.Random, case: Case) -> Case:
    return case.then(case.made.materialize(), case.rows, "materialize")


def parts(rnd: random.Random, case: Case) -> Case:
    """Of a split, and together again."""
    if "'shuffle': True" in case.steps:  # Its seed changes, which is refused.
        return case
    train, test = case.made.streaming_train_test_split(0.3, seed=3)
    return case.then(test.union(train), case.rows, "train_test", ordered=False)


def cut(rnd: random.Random, case: Case) -> Case:
    if not case.ordered:
        return case
    at = rnd.randrange(len(case.rows) + 1)
    first, second = case.made.split_at_indices([at])
    made, rows = rnd.choice([(first, case.rows[:at]), (second, case.rows[at:])])
    return case.then(made, rows, f"split_at({at})[{0 if made is first else 1}]")


def twice(rnd: random.Random, case: Case) -> Case:
    return case.then(case.made.union(case.made), case.rows + case.rows, "union_self")


def groups(rnd: random.Random, case: Case) -> Case:
    key = next((name for name in case.names if name in ("k", "s", "kk", "n")), None)
    if key is None:
        return case
    of_key: dict[Any, list[Row]] = {}
    for row in case.rows:
        of_key.setdefault(row[key], []).append(row)
    grouped = case.made.groupby(key)
    if rnd.random() < 0.5:
        made = grouped.sum("id").rename_columns({"sum(id)": "id"})
        rows = [{key: value, "id": sum(row["id"] for row in group)} for value, group in of_key.items()]
        return case.then(made, rows, f"sum({key})", ordered=False, names=[key, "id"])
    made = grouped.map_groups(lambda group: {"id": np.array([len(group["id"])])})
    rows = [{"id": len(group)} for group in of_key.values()]
    return case.then(made, rows, f"map_groups({key})", ordered=False, names=["id"])


def union(rnd: random.Random, case: Case, other: Case) -> Case:
    names = [name for name in case.names if name in other.names]
    one, two = selected(case, names), selected(other, names)
    ordered = case.ordered and other.ordered
    return one.then(one.made.union(two.made), one.rows + two.rows, f"union({two.steps})", ordered=ordered)


def zip_(rnd: random.Random, case: Case, other: Case) -> Case:
    if not case.ordered or not other.ordered or "z" in case.names:
        return case
    count = min(len(case.rows), len(other.rows))
    beside = other.made.select_columns(["id"]).rename_columns({"id": "z"}).limit(count)
    rows = [{**row, "z": each["id"]} for row, each in zip(case.rows[:count], other.rows[:count], strict=True)]
    return case.then(case.made.limit(count).zip(beside), rows, f"zip({other.steps})", names=[*case.names, "z"])


def join(rnd: random.Random, case: Case, other: Case) -> Case:
    if "q" in case.names:
        return case
    kind = rnd.choice(["inner", "left_outer", "full_outer", "left_semi", "left_anti"])
    right = other.made.select_columns(["id"]).with_column("q", col("id") + 1)
    times = Counter(row["id"] for row in other.rows)
    there = {row["id"] for row in case.rows}
    rows: list[Row] = []
    for row in case.rows:
        count = times[row["id"]]
        if kind in ("left_semi", "left_anti"):
            rows += [row] if (count > 0) == (kind == "left_semi") else []
        elif count:
            rows += [{**row, "q": row["id"] + 1}] * count
        elif kind != "inner":
            rows.append({**row, "q": None})
    if kind == "full_outer":
        none = dict.fromkeys(case.names)
        rows += [{**none, "id": n, "q": n + 1} for n, count in times.items() if n not in there for _ in range(count)]
    names = case.names if kind in ("left_semi", "left_anti") else [*case.names, "q"]
    made = case.made.join(right, kind, 2, on=("id",))
    return case.then(made, rows, f"join({kind}, {other.steps})", ordered=False, names=names)


ALONE: list[Callable[[random.Random, Case], Case]] = [
    map_, map_class, map_batches, generate, flat_map, filter_, filter_expression, with_column, select, rename, limit,
    sort, shuffle, repartition, keep, parts, cut, twice, groups,
]  # fmt: skip
WITH_ANOTHER: list[Callable[[random.Random, Case, Case], Case]] = [union, zip_, join]


def plan(rnd: random.Random, folder: Path, depth: int = 1) -> Case:
    """A data set of up to six steps; each step with another data set has one of a smaller depth."""
    case = source(rnd, folder)
    for _ in range(rnd.randrange(1, 7)):
        if not case.rows or len(case.rows) > MANY:  # Functions that make no rows show no columns.
            break
        if depth > 0 and rnd.random() < 0.25:
            other = plan(rnd, folder, depth - 1)
            case = rnd.choice(WITH_ANOTHER)(rnd, case, other) if other.rows else case
        else:
            case = rnd.choice(ALONE)(rnd, case)
    return case
