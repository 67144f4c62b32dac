"""Types of columns by names, as Ray has them: for ``@udf(return_dtype=...)``, ``cast`` and
``lit``. The types of ``pyarrow``, those of ``numpy``, and their names do as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from headway._values.arguments import check_instance, check_int, check_str, refuse
from headway._values.named_arguments import offer

__all__ = ["DataType"]

_NAMES = (
    *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)),
    *("float32", "float64", "string", "bool", "binary"),
)
_ARROW = "a pyarrow.DataType"
_UNITS = ("s", "ms", "us", "ns")
#: The units of each kind of times; none for days.
_TIMES: dict[str, tuple[str, ...]] = {
    "timestamp": _UNITS,
    "date32": (),
    "date64": (),
    "time32": _UNITS[:2],
    "time64": _UNITS[2:],
    "duration": _UNITS,
}


class _Named(type):
    """Gives ``DataType.int64`` and its like."""

    def __getattr__(cls, name: str) -> Any:
        if name not in _NAMES:
            raise AttributeError(f"DataType has no {name}; there are {', '.join(_NAMES)}, and from_arrow()")

        def made() -> Any:
            import pyarrow as pa

            return cls(pa.type_for_alias(name))

        return made


@dataclass(frozen=True)
class DataType(metaclass=_Named):
    """The type of a column: ``DataType.int64()``, and so on for the other numbers, ``string``,
    ``bool`` and ``binary``; :meth:`from_arrow` makes one of any other.

    Attributes:
        arrow: As ``pyarrow`` has it.

    Example:
        >>> from headway.data.datatype import DataType
        >>> DataType.list(DataType.int64())
        DataType(list<item: int64>)
    """

    arrow: Any

    def __post_init__(self) -> None:
        import pyarrow as pa

        if not isinstance(self.arrow, pa.DataType):
            refuse("DataType.arrow", self.arrow, _ARROW)

    @classmethod
    def from_arrow(cls, arrow_type: Any) -> DataType:
        """That of a ``pyarrow.DataType``."""
        import pyarrow as pa

        if not isinstance(arrow_type, pa.DataType):
            refuse("arrow_type", arrow_type, _ARROW)
        return cls(arrow_type)

    @classmethod
    def from_numpy(cls, numpy_dtype: Any) -> DataType:
        """That of a ``numpy.dtype``, or of its name."""
        import numpy as np
        import pyarrow as pa

        try:
            return cls(pa.from_numpy_dtype(np.dtype(numpy_dtype)))
        except (TypeError, pa.ArrowException):
            refuse("numpy_dtype", numpy_dtype, "a numpy type with a type of Arrow, or its name")

    @classmethod
    def large_list(cls, value_type: DataType) -> DataType:
        """Lists of values of a type, of any number of them."""
        import pyarrow as pa

        return cls(pa.large_list(_arrow("value_type", value_type)))

    @classmethod
    def fixed_size_list(cls, value_type: DataType, list_size: int) -> DataType:
        """Lists of so many values of a type."""
        import pyarrow as pa

        size = check_int("list_size", list_size, "0 or more")
        if size < 0:
            raise ValueError(f"list_size is {size}; allowed: 0 or more")
        return cls(pa.list_(_arrow("value_type", value_type), size))

    @classmethod
    def struct(cls, fields: Sequence[tuple[str, DataType]]) -> DataType:
        """Structs with these fields."""
        import pyarrow as pa

        if isinstance(fields, str) or not isinstance(fields, Sequence):
            refuse("fields", fields, "a list of pairs: a name and a DataType")
        return cls(pa.struct([(name, _arrow(f"the type of {name!r}", kind)) for name, kind in fields]))

    @classmethod
    def map(cls, key_type: DataType, value_type: DataType) -> DataType:
        """Maps from keys to values."""
        import pyarrow as pa

        return cls(pa.map_(_arrow("key_type", key_type), _arrow("value_type", value_type)))

    @classmethod
    def tensor(cls, shape: Sequence[int], dtype: DataType) -> DataType:
        """Tensors of one shape."""
        import pyarrow as pa

        if isinstance(shape, str) or not isinstance(shape, Sequence):
            refuse("shape", shape, "a list of lengths")
        lengths = [check_int("shape", each, "a list of lengths") for each in shape]
        return cls(pa.fixed_shape_tensor(_arrow("dtype", dtype), lengths))

    @classmethod
    def temporal(cls, temporal_type: str, unit: str = "us", tz: str | None = None) -> DataType:
        """Times: ``"timestamp"``, ``"date32"``, ``"date64"``, ``"time32"``, ``"time64"`` or
        ``"duration"``, in a unit such as ``"us"``.
        """
        import pyarrow as pa

        kind = check_str("temporal_type", temporal_type, ", ".join(_TIMES)).lower()
        if kind not in _TIMES:
            raise ValueError(f"temporal_type is {temporal_type!r}; allowed: {', '.join(_TIMES)}")
        units = _TIMES[kind]
        if check_str("unit", unit, ", ".join(units or _UNITS)) not in (units or _UNITS):
            raise ValueError(f"unit is {unit!r}; allowed: {', '.join(units or _UNITS)}")
        check_instance("tz", tz, str, "None or a time zone")
        if kind == "timestamp":
            return cls(pa.timestamp(unit, tz))
        return cls(getattr(pa, kind)(unit) if units else getattr(pa, kind)())

    def to_arrow_dtype(self) -> Any:
        """As ``pyarrow`` has it."""
        return self.arrow

    def to_numpy_dtype(self) -> Any:
        """As ``numpy`` has it; objects where it has none."""
        import numpy as np

        try:
            return np.dtype(self.arrow.to_pandas_dtype())
        except (NotImplementedError, TypeError):
            return np.dtype(object)

    def __repr__(self) -> str:
        return f"DataType({self.arrow})"

    @classmethod
    def list(cls, value_type: DataType) -> DataType:
        """Lists of values of a type."""
        import pyarrow as pa

        return cls(pa.list_(_arrow("value_type", value_type)))


def _arrow(argument: str, given: Any) -> Any:
    if not isinstance(given, DataType):
        refuse(argument, given, "a DataType")
    return given.arrow


offer(globals(), __all__)
