"""Type checks of public arguments: every refusal names the argument, what was given, and what is
allowed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn


def refuse(argument: str, value: object, allowed: str) -> NoReturn:
    """Raises TypeError for an argument of the wrong type."""
    try:
        given = repr(value)
    except Exception:  # A user's own class may fail at it.
        given = object.__repr__(value)
    if len(given) > 100:
        given = given[:97] + "..."
    raise TypeError(f"{argument} is {given} ({type(value).__name__}); allowed: {allowed}")


def check_int(argument: str, value: object, allowed: str) -> int:
    """An int that is no bool; numpy's integers count as ints."""
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        refuse(argument, value, allowed)
    number = value.__index__()
    if not -(2**31) <= number < 2**31:
        raise ValueError(f"{argument} is {number}; allowed: {allowed}")
    return number


def check_above_0(argument: str, value: object, allowed: str = "an integer above 0") -> int:
    """An int of at least 1; see :func:`check_int`."""
    number = check_int(argument, value, allowed)
    if number < 1:
        raise ValueError(f"{argument} is {value}; allowed: {allowed}")
    return number


def check_none_or_above_0(argument: str, value: object) -> int | None:
    """None, or an int of at least 1; see :func:`check_int`."""
    return None if value is None else check_above_0(argument, value, "None or an integer above 0")


def check_epoch(epoch: object) -> int:
    """The argument of a ``set_epoch``."""
    return check_int("epoch", epoch, "the number of an epoch, an int")


def check_number(argument: str, value: object, allowed: str) -> float:
    """An int or float that is no bool."""
    if isinstance(value, bool) or not (isinstance(value, (int, float)) or hasattr(value, "__index__")):
        refuse(argument, value, allowed)
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{argument} is {value!r:.40}...; allowed: {allowed}") from None


def check_bool(argument: str, value: object) -> bool:
    """A bool, and nothing that merely could pass for one."""
    if not isinstance(value, bool):
        refuse(argument, value, "True or False")
    return value


def check_str(argument: str, value: object, allowed: str) -> str:
    """A str."""
    if not isinstance(value, str):
        refuse(argument, value, allowed)
    return value


def check_texts(argument: str, value: object, allowed: str) -> list[str]:
    """A sequence of strings that is no string itself."""
    if isinstance(value, (str, bytes)) or not isinstance(value, Sequence):
        refuse(argument, value, allowed)
    return [check_str(f"{argument}[{index}]", each, allowed) for index, each in enumerate(value)]


def is_utf8(text: str) -> bool:
    """Whether text can be written as UTF-8: bytes of file names that are not UTF-8 come as halves
    of surrogate pairs.
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def check_instance(argument: str, value: Any, kind: type, allowed: str) -> Any:
    """None or an instance of ``kind``."""
    if value is not None and not isinstance(value, kind):
        refuse(argument, value, allowed)
    return value


def check_resources(argument: str, value: object) -> dict[str, float]:
    """A mapping from resource names to amounts."""
    allowed = 'a dict from resource names to numbers, such as {"CPU": 2}'
    if not isinstance(value, Mapping):
        refuse(argument, value, allowed)
    return {
        check_str(f"a name in {argument}", name, allowed): check_number(f"{argument}[{name!r}]", amount, "a number")
        for name, amount in value.items()
    }


def check_labels(argument: str, value: object) -> dict[str, str]:
    """A mapping from labels to text."""
    allowed = 'a dict from labels to text, such as {"region": "eu"}'
    if not isinstance(value, Mapping):
        refuse(argument, value, allowed)
    return {
        check_str(f"a label in {argument}", name, allowed): check_str(f"{argument}[{name!r}]", text, "text")
        for name, text in value.items()
    }


def check_label_selector(value: object) -> list[dict[str, str]] | None:
    """``ScalingConfig.label_selector`` as a list: one for all workers, or one for each."""
    argument = "ScalingConfig.label_selector"
    if value is None:
        return None
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [check_labels(f"{argument}[{index}]", each) for index, each in enumerate(value)]
    if not isinstance(value, Mapping):
        refuse(argument, value, "None, a dict from labels to text, or a list with one for each worker")
    return [check_labels(argument, value)]


def one_of(argument: str, value: Any, alias: str, other: Any, kind: type) -> Any:
    """An argument that has two names: None or an instance of ``kind``.

    Raises:
        ValueError: it is given under both.
    """
    allowed = f"a {kind.__name__} or None"
    check_instance(argument, value, kind, allowed)
    check_instance(alias, other, kind, allowed)
    if value is not None and other is not None:
        raise ValueError(f"{alias} is given beside {argument}, and means the same; allowed: one of them")
    return value if value is not None else other
