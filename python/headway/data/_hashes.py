"""Rows by the hash of a value, or by chance."""

from __future__ import annotations

import hashlib
from typing import Any


class ByHash:
    """A function of a column: whether a value's hash is in the first part of all hashes.

    Args:
        part: From 0 to 1.
    """

    def __init__(self, part: float):
        self._limit = part * 2**64
        self.__name__ = "by_hash"

    def __call__(self, values: Any) -> Any:
        """True or False for each value."""
        import pyarrow as pa

        return pa.array([_hash(value) < self._limit for value in values.to_pylist()], pa.bool_())


class ByChance:
    """A function of rows' numbers: whether a row is in the first part. A number has one answer for
    ever.

    Args:
        part: From 0 to 1.
        seed: Of the chance.
    """

    def __init__(self, part: float, seed: int):
        self._part = part
        self._seed = seed
        self.__name__ = "by_chance"

    def __call__(self, numbers: Any) -> Any:
        """True or False for each number."""
        import numpy as np

        numbers = numbers.to_numpy()
        # SplitMix64 (Steele, Lea, Flood 2014), whose n-th output is a function of its seed and n.
        mixed = (numbers.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        mixed += np.uint64(_hash(self._seed))
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mixed ^= mixed >> np.uint64(31)
        return (mixed >> np.uint64(11)) * 2.0**-53 < self._part


def _hash(value: Any) -> int:
    """Of 64 bits, of the value as text: 3 and "3" have one."""
    return int.from_bytes(hashlib.blake2b(str(value).encode(), digest_size=8).digest(), "big")
