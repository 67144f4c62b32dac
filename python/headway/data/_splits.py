"""Data sets cut into several."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

from headway._values.arguments import check_above_0, check_bool, check_int, check_number, check_str, refuse
from headway.data import _client, _materialize, _sharing
from headway.data._base import DatasetPart, kept
from headway.data._consume import Consume
from headway.data._epochs import Share
from headway.data._expression import column
from headway.data._hashes import ByChance, ByHash
from headway.data._iterator import DataIterator
from headway.data._schema import Schema
from headway.data._seeds import check_seed, drawn
from headway.data.expressions import monotonically_increasing_id, pyarrow_udf

if TYPE_CHECKING:
    from typing_extensions import Self

_FRACTION = "a number between 0 and 1, or an integer above 0"


class Splits(Consume, DatasetPart):
    """Data sets cut into several."""

    def materialize(self) -> Self:
        """Computes the data set once and keeps its rows, in files in Arrow's format; what is made
        of the result reads them. They are deleted with the last data set that uses them.
        """
        made = _materialize.materialized(self._batches("materialize"), self._known_schema)
        _client.keep_stats(made, _client.last_stats(self._plan))
        return cast("Self", kept(made, self._name))

    def num_blocks(self) -> int:
        """The number of pieces of a data set that is kept, such as one of ``materialize()``.

        Raises:
            NotImplementedError: it is not kept, so pieces are cut when it is read.
        """
        return _materialize.number_of_pieces(self._plan)

    def _known_schema(self) -> Schema:
        schema = self.schema()
        assert schema is not None
        return schema

    def split_at_indices(self, indices: Sequence[int]) -> list[Self]:
        """Data sets of the rows before each index, and of the rest.

        Args:
            indices: Row numbers, from the least to the greatest.
        """
        if isinstance(indices, (str, bytes)) or not isinstance(indices, Sequence):
            refuse("indices", indices, "a list of row numbers")
        ends = [check_int(f"indices[{number}]", each, "0 or more") for number, each in enumerate(indices)]
        if not ends or ends[0] < 0 or sorted(ends) != ends:
            raise ValueError(f"indices is {list(indices)}; allowed: row numbers from the least to the greatest")
        return self._cut(ends)

    def split_proportionately(self, proportions: Sequence[float]) -> list[Self]:
        """Data sets of these parts of the rows, and of the rest.

        Args:
            proportions: Numbers above 0 whose sum is below 1.
        """
        if isinstance(proportions, (str, bytes)) or not isinstance(proportions, Sequence) or not proportions:
            refuse("proportions", proportions, "numbers above 0 whose sum is below 1")
        allowed = "a number above 0"
        parts = [check_number(f"proportions[{index}]", each, allowed) for index, each in enumerate(proportions)]
        if min(parts) <= 0 or sum(parts) >= 1:
            raise ValueError(f"proportions is {list(proportions)}; allowed: numbers above 0 whose sum is below 1")
        whole = self.materialize()
        rows = whole.count()
        ends = [_rows_of(rows, sum(parts[: index + 1])) for index in range(len(parts))]
        if min(end - begin for begin, end in pairwise([0, *ends, rows])) == 0:
            raise ValueError(
                f"proportions is {list(proportions)} of {rows} rows; allowed: at least one row in each part"
            )
        return whole._cut(ends)

    def split(self, n: int, *, equal: bool = False, locality_hints: Sequence[Any] | None = None) -> list[Self]:
        """``n`` data sets of consecutive rows.

        Args:
            n: How many.
            equal: Whether all have the same number of rows; the last rows, less than ``n``, are
                left out.
            locality_hints: Kept for scripts that give it; data is on this machine.
        """
        check_above_0("n", n)
        whole = self.materialize()
        rows = whole.count()
        if check_bool("equal", equal):
            size = rows // n
            return whole._cut([size * (index + 1) for index in range(n)])[:n]
        return whole._cut([rows * (index + 1) // n for index in range(n - 1)])

    def train_test_split(
        self,
        test_size: float,
        *,
        shuffle: bool = False,
        seed: int | None = None,
        stratify: str | None = None,
    ) -> tuple[Self, Self]:
        """Two data sets: to train with, and to test with.

        Args:
            test_size: The part of the rows, or how many rows, that are for the test.
            shuffle: Whether rows are shuffled first; else the last ones are for the test.
            seed: Of the order.
            stratify: A column; each of its values has the same part in both data sets.
        """
        number = check_number("test_size", test_size, _FRACTION)
        if (isinstance(test_size, float) and not 0 < number < 1) or number <= 0:
            raise ValueError(f"test_size is {test_size}; allowed: {_FRACTION}")
        check_seed("seed", seed)
        if seed is not None and not shuffle:
            raise ValueError(f"seed is {seed} without shuffle; allowed: with shuffle=True")
        source = self._made(self._plan)
        if check_bool("shuffle", shuffle):
            source = self._then("shuffle", {"kind": "exact", "seed": seed, "reseed": False})
        whole = source.materialize()
        rows = whole.count()
        # As Ray: the rows to train with are rounded down, so even few rows leave some for the test.
        tested = int(number) if not isinstance(test_size, float) else rows - _rows_of(rows, 1 - number)
        if tested >= rows:
            raise ValueError(f"test_size is {test_size} of {rows} rows; allowed: fewer than all rows")
        if stratify is not None:
            part = number if isinstance(test_size, float) else tested / rows
            return whole._stratified(check_str("stratify", stratify, "None or a column's name"), part)
        train, test = whole._cut([rows - tested])
        return train, test

    def _stratified(self, column: str, part: float) -> tuple[Self, Self]:
        """The last rows of each value of a column are for the test."""
        import numpy as np

        if column not in self._columns():
            raise ValueError(f"stratify is {column!r}; allowed: {', '.join(self._columns())}")
        labels = self._table()[column].combine_chunks()
        # A missing value has a code, too.
        codes: Any = labels.dictionary_encode("encode").indices.to_numpy()
        tested: Any = np.zeros(len(codes), bool)
        for code, count in enumerate(np.bincount(codes)):
            rows = np.flatnonzero(codes == code)
            tested[rows[count - _rows_of(count, part) :]] = True
        return self._chosen_rows(~tested), self._chosen_rows(tested)

    def _chosen_rows(self, chosen: Any) -> Self:
        import pyarrow as pa

        def tables() -> Any:
            begin = 0
            for batch in self._batches():
                yield batch.to_table().filter(pa.array(chosen[begin : begin + batch.rows]))
                begin += batch.rows

        file = _materialize.written(tables(), self._known_schema)
        return cast("Self", kept(_materialize.of_file(file), self._name))

    def _cut(self, ends: Sequence[int | None]) -> list[Self]:
        plans = _materialize.cut(self._batches("split"), self._known_schema, ends)
        return [kept(plan, self._name) for plan in plans]

    def streaming_train_test_split(
        self, test_size: float, *, split_type: str = "random", hash_column: str | None = None, seed: int | None = None
    ) -> tuple[Self, Self]:
        """Two data sets: to train with, and to test with. Nothing is read now, and each of both
        reads all rows.

        Args:
            test_size: The part of the rows that is for the test.
            split_type: ``"random"``: each row by chance, always the same one; ``"hash"``: by a
                column's value, so that equal values are in one of both.
            hash_column: The column for ``"hash"``.
            seed: Of the chance; None: one is drawn now, and kept.
        """
        allowed = "a number between 0 and 1"
        if not 0 < check_number("test_size", test_size, allowed) < 1:
            raise ValueError(f"test_size is {test_size}; allowed: {allowed}")
        if split_type not in ("random", "hash"):
            raise ValueError(f'split_type is {split_type!r}; allowed: "random" or "hash"')
        given = check_seed("seed", seed)
        if split_type == "hash":
            if given is not None:
                raise ValueError(f'seed is {given} with split_type "hash"; allowed: None')
            if hash_column is None:
                raise ValueError('hash_column is None with split_type "hash"; allowed: a column\'s name')
            check_str("hash_column", hash_column, "a column's name")
            is_train = pyarrow_udf("bool")(ByHash(1 - test_size))(column(hash_column))
        else:
            if hash_column is not None:
                raise ValueError(f'hash_column is {hash_column!r} with split_type "random"; allowed: None')
            _check_order(self._plan)
            chance = ByChance(1 - test_size, drawn() if given is None else given)
            is_train = pyarrow_udf("bool")(chance)(monotonically_increasing_id())
        rows = cast("Any", self)
        return rows.filter(expr=is_train), rows.filter(expr=~is_train)

    def streaming_split(
        self, n: int, *, equal: bool = False, locality_hints: Sequence[Any] | None = None
    ) -> list[DataIterator]:
        """``n`` iterators that divide the rows, epoch after epoch. All ``n`` must be consumed at
        the same time, each in its own thread or process: an epoch begins when all have asked for
        it. An iterator that waits for another one for 10 s warns, and names it.

        Args:
            n: How many.
            equal: Whether all get the same number of rows; at most ``n - 1`` rows are dropped.
            locality_hints: Kept for scripts that give it: node ids.

        Example:
            >>> from concurrent.futures import ThreadPoolExecutor
            >>> import headway.data
            >>> shards = headway.data.range(100).streaming_split(2, equal=True)
            >>> def total(shard):
            ...     return sum(int(batch["id"].sum()) for batch in shard.iter_batches(batch_size=10))
            >>> with ThreadPoolExecutor(2) as threads:
            ...     sum(threads.map(total, shards))
            4950
        """
        check_above_0("n", n)
        check_bool("equal", equal)
        if locality_hints is not None and len(locality_hints) != n:
            raise ValueError(f"locality_hints has {len(locality_hints)} ids; allowed: None or {n} ids")
        group = _sharing.new_group()
        seed = uuid.uuid4().int % 2**62
        shares = (Share(group, n, rank, equal) for rank in range(n))
        return [DataIterator(self._plan, self.context, share, seed) for share in shares]


def _rows_of(rows: int, part: float) -> int:
    """That part of the rows, rounded down; sums such as 0.1 + 0.7 are a little off."""
    return int(rows * part + 1e-9)


def _check_order(plan: Any) -> None:
    """Refuses a split by rows' numbers where both parts, or two epochs, have other numbers.

    Raises:
        ValueError: the order of the rows changes.
    """
    for node in plan.nodes:
        if node["op"] == "shuffle" and (node["args"].get("seed") is None or node["args"].get("reseed")):
            raise ValueError(
                'split_type is "random", and the order of the rows changes from one read to the next; allowed: to '
                'shuffle afterwards, or with a seed that stays (random_shuffle(seed=1)), or split_type "hash"'
            )
