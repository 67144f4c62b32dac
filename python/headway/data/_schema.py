"""The columns of a data set, with their types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow


class Schema:
    """The columns of a data set, with their types.

    Attributes:
        base_schema: As a ``pyarrow.Schema``.

    Example:
        >>> import headway.data
        >>> headway.data.range(3).schema().names
        ['id']
    """

    def __init__(self, base_schema: pyarrow.Schema):
        self.base_schema = base_schema

    @property
    def names(self) -> list[str]:
        """The columns' names."""
        return list(self.base_schema.names)

    @property
    def types(self) -> list[Any]:
        """The columns' ``pyarrow`` types."""
        return list(self.base_schema.types)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schema) and other.base_schema.equals(self.base_schema)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        width = max([6, *(len(name) for name in self.names)])
        lines = [f"{'Column':{width}}  Type", f"{'-' * 6:{width}}  ----"]
        return "\n".join(
            [*lines, *(f"{name:{width}}  {kind}" for name, kind in zip(self.names, self.types, strict=True))]
        )
