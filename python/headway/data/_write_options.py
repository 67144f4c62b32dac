"""What writers take of the options of other packages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headway._values.arguments import check_bool, refuse

#: Pyarrow's names of what quotes stand around.
_QUOTING = ("needed", "all_valid", "none")


def of_function(argument: str, function: Any, known: tuple[str, ...]) -> dict[str, Any]:
    """What a function returns that gives options; nothing without one.

    Raises:
        TypeError, ValueError: it gives something else than ``known``.
    """
    if function is None:
        return {}
    if not callable(function):
        refuse(argument, function, "None or a function that returns a dict")
    given = function()
    if not isinstance(given, Mapping):
        refuse(f"what {argument} returned", given, "a dict")
    for name in given:
        if name not in known:
            raise ValueError(f"{argument} gives {name!r}; allowed: {', '.join(known)}")
    return dict(given)


def of_csv(given: Any) -> dict[str, Any]:
    """``pyarrow.csv.WriteOptions`` as options of the plan."""
    if given is None:
        return {}
    if not all(hasattr(given, name) for name in ("include_header", "delimiter", "quoting_style")):
        refuse("write_options", given, "None or pyarrow.csv.WriteOptions")
    if given.quoting_style not in _QUOTING:
        raise ValueError(f"write_options.quoting_style is {given.quoting_style!r}; allowed: {', '.join(_QUOTING)}")
    return {"header": given.include_header, "delimiter": given.delimiter, "quoting": given.quoting_style}


def check_json(orient: Any, lines: Any) -> None:
    """Raises ValueError for another form than an object a line."""
    if orient != "records":
        raise ValueError(f'orient is {orient!r}; allowed: "records": a row is an object')
    if not check_bool("lines", lines):
        raise ValueError("lines is False; allowed: True: an object a line")
