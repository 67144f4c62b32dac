"""The data set's class, of its parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from headway._places.missing import explanation
from headway._values.arguments import check_str
from headway.data import _client
from headway.data._base import DatasetPart
from headway.data._context import DataContext
from headway.data._grouped import Whole
from headway.data._order import Order
from headway.data._plan import Plan
from headway.data._rows import Rows
from headway.data._splits import Splits
from headway.data._summary import Summary
from headway.data._to_frames import ToFrames
from headway.data._write import Write
from headway.data._write_elsewhere import WriteElsewhere

if TYPE_CHECKING:
    from typing_extensions import Self


class Dataset(Rows, Order, Summary, Whole, Splits, Write, WriteElsewhere, ToFrames):
    """Rows with named columns, as a plan: nothing is read before something asks for rows.

    A data set never changes; each method returns another one. They are made by functions such as
    :func:`headway.data.read_parquet` and :func:`headway.data.from_items`.

    Example:
        >>> import headway.data
        >>> from headway.data.expressions import col
        >>> numbers = headway.data.range(5).with_column("double", col("id") * 2)
        >>> numbers.take(2)
        [{'id': 0, 'double': 0}, {'id': 1, 'double': 2}]
    """

    def __init__(self) -> None:
        raise TypeError("Dataset() makes no data set; use a function such as headway.data.read_parquet or from_items")

    @classmethod
    def _of(cls, plan: Plan, context: DataContext | None = None) -> Self:
        made = cls.__new__(cls)
        made._set(plan, None, context)
        return made

    @property
    def name(self) -> str | None:
        """What :meth:`set_name` has given it."""
        return self._name

    def set_name(self, name: str | None) -> None:
        """Names the data set, for messages.

        Args:
            name: The name.
        """
        self._name = name if name is None else check_str("name", name, "None or text")

    def stats(self) -> str:
        """What the last run of this data set in this process took, stage by stage."""
        return _client.shown_stats(_client.last_stats(self._plan))

    if not TYPE_CHECKING:  # Type checkers report names that are not there.

        def __getattr__(self, name: str) -> Any:
            """Words for methods that Ray has and that are not here."""
            words = explanation(f"headway.data.Dataset.{name}")
            default = f"{type(self).__name__!r} object has no attribute {name!r}"
            raise AttributeError(words or default, name=name, obj=self)

    def copy(self) -> Dataset:
        """Another one with the same plan."""
        return self._made(self._plan)

    def __repr__(self) -> str:
        steps = " → ".join(_step(node) for node in self._plan.nodes)
        return f"Dataset({f'{self._name}: ' if self._name else ''}{steps})"


class MaterializedDataset(Dataset):
    """A data set whose rows are computed and kept: what ``materialize()`` gives.

    Example:
        >>> import headway.data
        >>> kept = headway.data.range(3).materialize()
        >>> kept.count()
        3
    """


DatasetPart._plain = Dataset
DatasetPart._kept = MaterializedDataset


def _step(node: dict[str, Any]) -> str:
    args = node["args"]
    if node["op"] == "read":
        return f"read {args['format']}"
    if node["op"] == "function":
        return f"{args['kind']}({args['name']})"
    return str(args["operation"] if node["op"] == "whole" else node["op"])
