"""Data sets made of several, where functions give the same column other types in each."""

import numpy as np
import pytest
from headway import data

pytestmark = pytest.mark.usefixtures("the_engine_ends")


def wide(width, changes=False):
    def made(batch):
        columns = width + (int(batch["id"][0]) % 3 if changes else 0)
        return {"id": batch["id"], "x": np.full((len(batch["id"]), columns), batch["id"][:, None], float)}

    return data.range(20, override_num_blocks=5).map_batches(made)


def nothing():
    return data.range(20, override_num_blocks=2).map(lambda row: {"id": row["id"], "x": None})


def other_order():
    return wide(3).map_batches(lambda batch: {"x": batch["x"], "id": batch["id"]})


KINDS = {
    "two that change": (lambda: wide(2, True), lambda: wide(5, True)),
    "one that changes": (lambda: wide(2, True), lambda: wide(4)),
    "the second changes": (lambda: wide(4), lambda: wide(2, True)),
    "two widths": (lambda: wide(4), lambda: wide(7)),
    "nothing first": (nothing, lambda: wide(2)),
    "nothing last": (lambda: wide(2), nothing),
    "columns in another order": (lambda: wide(2), other_order),
}
WAYS = {
    "union": lambda first, second: first.union(second),
    "union of limits": lambda first, second: first.limit(20).union(second.limit(20)),
    "mix": lambda first, second: first.mix(second, weights=[1, 1]),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_both_have_what_their_functions_gave(kind, way):
    first, second = (make() for make in KINDS[kind])
    alone = [
        (row["id"], None if row["x"] is None else row["x"].tolist())
        for each in (first, second)
        for row in each.take_all()
    ]
    first, second = (make() for make in KINDS[kind])
    made = WAYS[way](first, second)
    for _ in range(2):
        rows = made.take_all()
        assert list(rows[0]) == ["id", "x"]
        seen = [(row["id"], None if row["x"] is None else row["x"].tolist()) for row in rows]
        assert (seen if way != "mix" else sorted(seen, key=repr)) == (
            alone if way != "mix" else sorted(alone, key=repr)
        )
    assert made.count() == 40
    if way == "union":
        shuffled = [row["id"] for row in made.random_shuffle(seed=1).take_all()]
        assert sorted(shuffled) == sorted(number for number, _ in alone)
        assert shuffled != [number for number, _ in alone]


def test_three_of_which_the_last_is_read_late():
    made = wide(2).union(wide(3), wide(4, True))
    assert [len(row["x"]) for row in made.take_all()] == [2] * 20 + [3] * 20 + [
        len(row["x"]) for row in wide(4, True).take_all()
    ]


def test_numbers_of_two_types_are_those_of_both():
    first = data.range(4).map_batches(lambda batch: {"x": batch["id"]})
    second = data.range(4).map_batches(lambda batch: {"x": batch["id"] + 0.5})
    for _ in range(2):
        made = first.union(second)
        assert [row["x"] for row in made.take_all()] == [0, 1, 2, 3, 0.5, 1.5, 2.5, 3.5]
        assert str(made.schema().types[0]) == "double"
    texts = data.range(4).map_batches(lambda batch: {"x": [str(each) for each in batch["id"]]})
    with pytest.raises(ValueError, match=r"\"x\" of type (string|int64).*of type (int64|string); cast one of them"):
        first.union(texts).take_all()


def test_integers_that_the_type_of_both_lacks_are_named():
    big = data.range(2).map_batches(lambda batch: {"x": batch["id"] + 2**53})
    halves = data.range(2).map_batches(lambda batch: {"x": batch["id"] + 0.5})
    for made in (halves.sort("x").union(big.sort("x")), big.sort("x").union(halves.sort("x"))):
        with pytest.raises(
            ValueError, match=r"union: data set \d has the column \"x\" of type int64.*type double, which"
        ):
            made.take_all()


def batches_of_union(row_bytes):
    """The ids of each batch that a function behind a union gets, in order. The first data set's
    last piece has fewer rows than the others.
    """

    def rows(ids, pieces, batch_size):
        made = data.from_items([{"id": number} for number in ids]).map(lambda row: {**row, "x": bytes(row_bytes)})
        return made.repartition(pieces).map_batches(lambda batch: batch, batch_size=batch_size, concurrency=1)

    def seen(batch):
        return {"ids": [list(batch["id"])] * len(batch["id"])}

    both = rows(range(20), 3, 3).union(rows(range(100, 108), 2, 2))
    rows_seen = both.map_batches(seen, batch_size=4, concurrency=1).iter_rows()
    return list(dict.fromkeys(tuple(row["ids"]) for row in rows_seen))


def test_batches_of_large_rows_do_not_mix_the_units_of_two_inputs_either():
    """Rows of which a few are a part of a unit, and rows of which all pieces are one part."""
    batches = batches_of_union(3_000_000)
    assert batches == batches_of_union(10)
    assert {True, False} == {batch[0] >= 100 for batch in batches}
    assert all((batch[0] >= 100) == (batch[-1] >= 100) for batch in batches)
