"""The order of rows, and data sets made of several."""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any

from headway._values.arguments import (
    check_above_0,
    check_bool,
    check_none_or_above_0,
    check_number,
    check_str,
    check_texts,
    refuse,
)
from headway.data._base import DatasetPart
from headway.data._scheduling import takes_scheduling
from headway.data._seeds import check_seed

if TYPE_CHECKING:
    from typing_extensions import Self

_JOINS = (
    *("inner", "left_outer", "right_outer", "full_outer"),
    *("left_semi", "right_semi", "left_anti", "right_anti"),
)


class RandomSeedConfig:
    """A seed, and whether each epoch has another order: for ``random_shuffle(seed=...)``.

    Args:
        seed: Of the order; None: one is drawn for each run.
        reseed_after_execution: Whether epoch e uses (seed, e).

    Example:
        >>> from headway.data import RandomSeedConfig
        >>> RandomSeedConfig(seed=3)
        RandomSeedConfig(seed=3, reseed_after_execution=True)
    """

    def __init__(self, seed: int | None = None, reseed_after_execution: bool = True):
        self.seed = check_seed("RandomSeedConfig.seed", seed)
        self.reseed_after_execution = check_bool("RandomSeedConfig.reseed_after_execution", reseed_after_execution)

    def __repr__(self) -> str:
        return f"RandomSeedConfig(seed={self.seed}, reseed_after_execution={self.reseed_after_execution})"


class MixStoppingCondition(Enum):
    """When a data set that :meth:`Dataset.mix` makes is at its end.

    Attributes:
        STOP_ON_SHORTEST: When one of the data sets is.
        STOP_ON_LONGEST_DROP: When all are; those that are before leave the others their turns.

    Example:
        >>> from headway.data import MixStoppingCondition
        >>> MixStoppingCondition.STOP_ON_SHORTEST.value
        'stop_on_shortest'
    """

    STOP_ON_SHORTEST = "stop_on_shortest"
    STOP_ON_LONGEST_DROP = "stop_on_longest_drop"


class Order(DatasetPart):
    """The order of rows, and data sets made of several."""

    @takes_scheduling
    def random_shuffle(self, *, seed: int | RandomSeedConfig | None = None) -> Self:
        """Rows in a random order over the whole data set.

        Args:
            seed: The same seed gives the same order, in each epoch. None: each epoch, and each run,
                has another order. A :class:`RandomSeedConfig`: the order depends on seed and epoch.
        """
        return self._then("shuffle", {"kind": "exact", **_seeding(seed)})

    def randomize_block_order(self, *, seed: int | RandomSeedConfig | None = None) -> Self:
        """Pieces of the data, such as row groups, in a random order; rows within a piece keep
        theirs.

        Args:
            seed: As for :meth:`random_shuffle`.
        """
        return self._then("shuffle", {"kind": "blocks", **_seeding(seed)})

    def sort(
        self,
        key: str | Sequence[str],
        descending: bool | Sequence[bool] = False,
        boundaries: Sequence[float] | None = None,
    ) -> Self:
        """Rows in the order of columns; rows with equal values keep their order.

        Args:
            key: A column, or several from the most important on.
            descending: Whether the greatest value comes first; one for all columns, or one for
                each.
            boundaries: Numbers from the least to the greatest, which cut the rows into pieces by
                the first column: with ``[10, 20]`` values below 10 are a piece, those from 10 on
                and below 20, and those from 20 on. Null and NaN are in the last piece. There is no
                piece without rows. A function of batches gets a piece whole (``batch_size=None``);
                a loop gets a large one in parts. Default: pieces are as large as is handy.

        Example:
            >>> rows = headway.data.range(15).sort("id", boundaries=[5, 12])
            >>> [len(piece["id"]) for piece in rows.iter_batches(batch_size=None)]
            [5, 7, 3]
        """
        keys = check_texts("key", [key] if isinstance(key, str) else key, "a column's name or a list of names")
        if not keys:
            raise ValueError("key is []; allowed: a column's name or a list of names")
        if isinstance(descending, Sequence):
            downward = [check_bool(f"descending[{index}]", each) for index, each in enumerate(descending)]
            if len(downward) != len(keys):
                raise ValueError(f"descending has {len(downward)} values; allowed: one for each of {len(keys)} columns")
        else:
            downward = [check_bool("descending", descending)] * len(keys)
        values = None if boundaries is None else _boundaries(boundaries)
        made = self._then("whole", {"operation": "sort", "options": {"keys": keys, "descending": downward}})
        if values is None:
            return made
        return made._then("repartition", {"at": {"column": keys[0], "values": values, "descending": downward[0]}})

    def repartition(
        self,
        num_blocks: int | None = None,
        target_num_rows_per_block: int | None = None,
        *,
        shuffle: bool = False,
        strict: bool = False,
        keys: str | Sequence[str] | None = None,
        sort: bool = False,
    ) -> Self:
        """Cuts the data into other pieces; their order stays.

        Args:
            num_blocks: Into so many pieces of about the same number of rows. Where their number is
                not known before they are read (text files, filters, functions), pieces stay as they
                are.
            target_num_rows_per_block: Into pieces of so many rows.
            shuffle: Whether rows are shuffled too, as by :meth:`random_shuffle`.
            strict: Kept for scripts that give it: with ``target_num_rows_per_block`` all pieces but
                the last one have so many rows.
            keys: A column, or several: rows with equal values come into one piece, in the values'
                order. Pieces are as large as is handy then, whatever ``num_blocks`` says.
            sort: Whether rows are in the order of ``keys``, which they are in any case.
        """
        check_bool("strict", strict)
        if keys is not None:
            check_bool("sort", sort)
            if num_blocks is not None:
                check_above_0("num_blocks", num_blocks)
            return self._regrouped(keys, target_num_rows_per_block)
        if check_bool("sort", sort):
            raise ValueError("sort is True without keys; allowed: False, or keys to sort by")
        if (num_blocks is None) == (target_num_rows_per_block is None):
            raise ValueError(
                "repartition() has num_blocks and target_num_rows_per_block, or neither; allowed: one of them"
            )
        for name, value in (("num_blocks", num_blocks), ("target_num_rows_per_block", target_num_rows_per_block)):
            if value is not None:
                check_above_0(name, value)
        before = self.random_shuffle() if check_bool("shuffle", shuffle) else self
        return before._then("repartition", {"blocks": num_blocks, "rows": target_num_rows_per_block})

    def _regrouped(self, keys: Any, target_num_rows_per_block: Any) -> Self:
        allowed = "None, a column's name or a list of names"
        names = check_texts("keys", [keys] if isinstance(keys, str) else keys, allowed)
        if not names:
            raise ValueError(f"keys is []; allowed: {allowed}")
        if target_num_rows_per_block is not None:
            raise ValueError("target_num_rows_per_block is given beside keys; allowed: num_blocks, or neither")
        return self._then("whole", {"operation": "repartition", "options": {"keys": names}})

    def union(self, *other: Self) -> Self:
        """This data set's rows and then those of others, which have the same columns.

        Args:
            other: Data sets.
        """
        _check_datasets("other", other)
        return self._combined(other, "union", {}) if other else self._made(self._plan)

    def zip(self, *other: Self) -> Self:
        """The columns of data sets side by side; all have the same number of rows. A column whose
        name is taken gets ``_1``.

        Args:
            other: Data sets.
        """
        _check_datasets("other", other)
        return self._combined(other, "zip", {}) if other else self._made(self._plan)

    def mix(
        self, *others: Self, weights: Sequence[float] | None = None, stopping_condition: Any = "STOP_ON_LONGEST_DROP"
    ) -> Self:
        """Rows of data sets in turn, by weight.

        Args:
            others: Data sets with the same columns.
            weights: One for each data set, this one first; default: equal ones.
            stopping_condition: A :class:`MixStoppingCondition`, or its name.
        """
        _check_datasets("others", others)
        if not others:
            raise ValueError("others is empty; allowed: at least one data set")
        given = [1.0] * (1 + len(others)) if weights is None else list(weights)
        if len(given) != 1 + len(others):
            raise ValueError(f"weights has {len(given)} numbers; allowed: one for each of {1 + len(others)} data sets")
        for index, each in enumerate(given):
            if check_number(f"weights[{index}]", each, "a number above 0") <= 0:
                raise ValueError(f"weights[{index}] is {each}; allowed: a number above 0")
        stops = {"STOP_ON_SHORTEST": "shortest", "STOP_ON_LONGEST_DROP": "longest_drop"}
        condition = check_str("stopping_condition", getattr(stopping_condition, "name", stopping_condition), str(stops))
        if condition not in stops:
            raise ValueError(f"stopping_condition is {condition!r}; allowed: {', '.join(stops)}")
        return self._combined(others, "mix", {"weights": [float(each) for each in given], "stop": stops[condition]})

    @takes_scheduling
    def join(
        self,
        ds: Self,
        join_type: str,
        num_partitions: int | None = None,
        on: str | Sequence[str] = ("id",),
        right_on: str | Sequence[str] | None = None,
        left_suffix: str | None = None,
        right_suffix: str | None = None,
    ) -> Self:
        """Joins rows of two data sets that have equal values in columns.

        Args:
            ds: The right data set.
            join_type: ``"inner"``, ``"left_outer"``, ``"right_outer"``, ``"full_outer"``,
                ``"left_semi"``, ``"right_semi"``, ``"left_anti"`` or ``"right_anti"``.
            num_partitions: Kept for scripts that give it; the engine cuts by itself.
            on: The columns of this data set.
            right_on: Those of the other one; default: the same names.
            left_suffix: Behind this one's columns whose names both have.
            right_suffix: Behind the other one's.
        """
        _check_datasets("ds", [ds])
        check_none_or_above_0("num_partitions", num_partitions)
        if check_str("join_type", join_type, ", ".join(_JOINS)) not in _JOINS:
            raise ValueError(f"join_type is {join_type!r}; allowed: {', '.join(_JOINS)}")
        left = check_texts("on", [on] if isinstance(on, str) else on, "columns' names")
        right = left
        if right_on is not None:
            right = check_texts("right_on", [right_on] if isinstance(right_on, str) else right_on, "columns' names")
        if not left or len(right) != len(left):
            raise ValueError(f"right_on has {len(right)} columns; allowed: as many as on, which has {len(left)}")
        options = {
            "type": join_type,
            "on": left,
            "right_on": right,
            "left_suffix": "" if left_suffix is None else check_str("left_suffix", left_suffix, "None or text"),
            "right_suffix": "" if right_suffix is None else check_str("right_suffix", right_suffix, "None or text"),
        }
        return self._combined([ds], "whole", {"operation": "join", "options": options})


def _boundaries(given: Any) -> list[int | float]:
    allowed = "numbers from the least to the greatest"
    if isinstance(given, (str, bytes)) or not hasattr(given, "__iter__"):
        refuse("boundaries", given, f"None, or {allowed}")
    values: list[int | float] = []
    for index, each in enumerate(given):
        name = f"boundaries[{index}]"
        number = check_number(name, each, "a number")
        value = each.__index__() if hasattr(each, "__index__") else number
        if not math.isfinite(number) or (isinstance(value, int) and not -(2**63) <= value < 2**64):
            raise ValueError(f"{name} is {each}; allowed: a finite number, and of integers one of 64 bits")
        values.append(value)
    if sorted(values) != values:
        raise ValueError(f"boundaries is {values}; allowed: {allowed}")
    return values


def _check_datasets(argument: str, given: Sequence[Any]) -> None:
    for each in given:
        if not isinstance(each, Order):
            refuse(argument, each, "a headway.data.Dataset")


def _seeding(seed: Any) -> dict[str, Any]:
    if isinstance(seed, RandomSeedConfig):
        return {"seed": seed.seed, "reseed": seed.reseed_after_execution}
    number = check_seed("seed", seed)
    return {"seed": number, "reseed": number is None}
