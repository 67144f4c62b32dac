"""What reads and writes of Iceberg tables have in common."""

from __future__ import annotations

from typing import Any

from headway._values.arguments import refuse


def check_condition(argument: str, condition: Any) -> Any:
    """A condition on rows of an Iceberg table.

    Raises:
        TypeError: it is none.
    """
    kinds = [kind.__module__.partition(".")[0] for kind in type(condition).__mro__]
    if not isinstance(condition, str) and "pyiceberg" not in kinds:
        refuse(argument, condition, "None, a condition as text, or an expression of pyiceberg")
    return condition


def iceberg_catalog(arguments: dict[str, Any]) -> Any:
    """The catalog that keeps Iceberg tables."""
    from pyiceberg.catalog import load_catalog

    return load_catalog(**arguments)
