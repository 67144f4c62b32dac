"""A result as text."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from headway._values.arguments import check_texts, refuse
from headway._values.named_arguments import offer

__all__ = ["pretty_print"]

#: So many numbers are in one line.
_IN_LINE = 3


def pretty_print(result: Mapping[str, Any], exclude: Collection[str] | None = None) -> str:
    """A result as lines of YAML, in the order of its names: without its configuration, and without
    what is None.

    Args:
        result: A trial's result, or another nested dict.
        exclude: Names that are left out, too.

    Example:
        >>> from headway.tune.logger import pretty_print
        >>> print(pretty_print({"loss": 0.5, "perf": {"cpu": 3}, "config": {}}))
        loss: 0.5
        perf:
          cpu: 3
    """
    if not isinstance(result, Mapping):
        refuse("result", result, "a dict")
    left_out = {"config"} if exclude is None else {"config", *check_texts("exclude", list(exclude), "None or names")}
    return "\n".join(_lines({name: value for name, value in result.items() if name not in left_out}))


def _lines(values: Mapping[Any, Any]) -> Iterator[str]:
    for name, value in sorted(values.items(), key=lambda each: str(each[0])):
        if isinstance(value, Mapping) and value:
            yield f"{name}:"
            yield from (f"  {line}" for line in _lines(value))
        elif isinstance(value, (list, tuple)) and len(value) > _IN_LINE:
            yield f"{name}:"
            yield from (f"- {_shown(each)}" for each in value)
        elif value is not None:
            yield f"{name}: {_shown(value)}"


def _shown(value: Any) -> str:
    """As JSON, which is YAML too; what JSON does not have is text."""
    if isinstance(value, str) and value.isidentifier():
        return value
    plain = value.item() if hasattr(value, "item") and getattr(value, "ndim", 1) == 0 else value
    return json.dumps(plain, default=str)


offer(globals(), __all__)
