"""What all parts of a data set's class have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, cast

from headway.data._context import DataContext
from headway.data._plan import Plan

if TYPE_CHECKING:
    from typing_extensions import Self


class DatasetPart:
    """A plan that never changes; each method returns another data set.

    Attributes:
        context: The settings as they were when it was made.
    """

    #: The class of what methods return, and of data sets whose rows are kept.
    _plain: ClassVar[type[DatasetPart]]
    _kept: ClassVar[type[DatasetPart]]

    _plan: Plan
    _name: str | None
    context: DataContext

    def _set(self, plan: Plan, name: str | None, context: DataContext | None = None) -> None:
        self._plan = plan
        self._name = name
        self.context = context or DataContext.get_current().copy()

    def _columns(self) -> list[str]:
        """The names of the columns."""
        raise NotImplementedError

    def _made(self, plan: Plan) -> Self:
        """Another data set, with this one's name and settings."""
        made = DatasetPart._plain.__new__(DatasetPart._plain)
        made._set(plan, self._name, self.context)
        return cast("Self", made)

    def _then(self, op: str, args: Mapping[str, Any], *, blob: bytes | None = None) -> Self:
        """This data set with one more node."""
        return self._made(self._plan.then(op, args, blob=blob))

    def _combined(self, others: Sequence[DatasetPart], op: str, args: Mapping[str, Any]) -> Self:
        """This data set and others as inputs of one more node."""
        return self._made(self._plan.combined([other._plan for other in others], op, args))


def kept(plan: Plan, name: str | None = None) -> Any:
    """A data set of rows that are kept: a MaterializedDataset."""
    made = DatasetPart._kept.__new__(DatasetPart._kept)
    made._set(plan, name)
    return made
