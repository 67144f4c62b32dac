"""Constants and types in expressions, as the plan has them."""

from __future__ import annotations

import base64
import datetime
import decimal
from collections.abc import Iterable
from typing import Any

from headway._values.arguments import refuse

#: Of Arrow's decimal128.
_DIGITS_MAX = 38
_LITERALS = "None, True, False, a number, text, bytes, a date, a time or a timedelta"


def plain(argument: str, value: Any) -> Any:
    """A value as JSON has it."""
    if _unit_of_numpy(value):
        return None if value != value else int(value.view("int64"))
    value = _of_python(value)
    if isinstance(value, datetime.timedelta):
        return value // datetime.timedelta(microseconds=1)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, bytes):
        return {"base64": base64.b64encode(value).decode()}
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        return value.isoformat()
    if not isinstance(value, decimal.Decimal):
        refuse(argument, value, _LITERALS)
    return f"{value:f}" if _type_of_decimal(value) else float(value)


def plain_values(argument: str, values: Iterable[Any]) -> list[Any]:
    """Values of one list as JSON has them: decimal numbers are exact where no others are."""
    given = list(values)
    if not all(each is None or isinstance(each, decimal.Decimal) for each in given):
        given = [float(each) if isinstance(each, decimal.Decimal) else each for each in given]
    return [plain(f"{argument}[{index}]", each) for index, each in enumerate(given)]


def type_of(value: Any) -> str | None:
    """The type of a literal whose JSON does not show it."""
    if unit := _unit_of_numpy(value):
        return f"{'duration' if value.dtype.kind == 'm' else 'timestamp'}[{unit}]"
    value = _of_python(value)
    if isinstance(value, datetime.timedelta):
        return "duration[us]"
    if isinstance(value, bytes):
        return "binary"
    if isinstance(value, datetime.datetime):
        return "timestamp[us]" if value.tzinfo is None else "timestamp[us, tz=UTC]"
    if isinstance(value, datetime.date):
        return "date32"
    if isinstance(value, datetime.time):
        return "time64[us]"
    return _type_of_decimal(value) if isinstance(value, decimal.Decimal) else None


def _type_of_decimal(value: decimal.Decimal) -> str | None:
    """The type that has it exactly; None where Arrow has none, such as for NaN."""
    _, digits, exponent = value.as_tuple()
    if not isinstance(exponent, int):
        return None
    scale = max(-exponent, 0)
    precision = max(len(digits) + max(exponent, 0), scale)
    return f"decimal128({precision}, {scale})" if precision <= _DIGITS_MAX else None


def _of_python(value: Any) -> Any:
    """One of numpy's values as Python's."""
    return value.item() if hasattr(value, "item") and getattr(value, "shape", None) == () else value


def _unit_of_numpy(value: Any) -> str | None:
    """Of a time or a duration of numpy's in a unit that Arrow has too; None for others."""
    kind = getattr(getattr(value, "dtype", None), "kind", "")
    if kind not in ("m", "M") or getattr(value, "shape", None) != ():
        return None
    unit = str(value.dtype).partition("[")[2].rstrip("]")
    return unit if unit in ("s", "ms", "us", "ns") else None


def type_name(given: Any, argument: str = "the type") -> str:
    """A type's name as Arrow writes it; ``argument`` is named in an error."""
    if isinstance(given, str):
        return {"str": "string", "bool_": "bool", "float": "double", "int": "int64"}.get(given, given)
    if given in (int, float, bool, str, bytes):
        return {int: "int64", float: "double", bool: "bool", str: "string", bytes: "binary"}[given]
    module = type(given).__module__
    if module.startswith("pyarrow"):
        return _of_arrow(given)
    if module.startswith("numpy") or getattr(given, "__module__", "") == "numpy":
        import numpy as np

        return str(np.dtype(given).name)
    arrow = getattr(given, "to_arrow_dtype", None)  # Ray's DataType, and ours.
    if arrow is None:
        refuse(argument, given, 'a pyarrow or numpy type, or its name, such as "float32"')
    return _of_arrow(arrow())


def _of_arrow(kind: Any) -> str:
    # What Arrow calls float is Python's name of a double.
    return "float32" if str(kind) == "float" else str(kind)
