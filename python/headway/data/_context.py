"""Settings of data sets: the context, and options of their execution."""

from __future__ import annotations

import copy
import dataclasses
import difflib
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from headway._values.arguments import check_above_0, check_bool, check_instance, check_int, check_number, refuse

#: A node's id, as functions that place work name it.
NodeIdStr = str


class ExecutionResources:
    """Amounts of what an execution may use. Of these the bytes of ``object_store_memory`` limit the
    data engine of a machine; the others are kept for code that reads them.

    Args:
        cpu: CPUs.
        gpu: GPUs.
        object_store_memory: Bytes of batches that one machine's data engine holds.
        memory: Bytes of memory.

    Example:
        >>> from headway.data import ExecutionResources
        >>> ExecutionResources(cpu=2).add(ExecutionResources(cpu=1)).cpu
        3.0
    """

    def __init__(
        self,
        cpu: float | None = None,
        gpu: float | None = None,
        object_store_memory: float | None = None,
        memory: float | None = None,
    ):
        self._amounts = {"cpu": cpu, "gpu": gpu, "object_store_memory": object_store_memory, "memory": memory}
        for name, amount in self._amounts.items():
            if amount is not None:
                self._amounts[name] = check_number(f"ExecutionResources.{name}", amount, "None or a number")
                if self._amounts[name] < 0:  # type: ignore[operator]
                    raise ValueError(f"ExecutionResources.{name} is {amount}; allowed: 0 or more")

    @classmethod
    def for_limits(
        cls,
        cpu: float | None = None,
        gpu: float | None = None,
        object_store_memory: float | None = None,
        memory: float | None = None,
    ) -> ExecutionResources:
        """Limits: what is not given has none.

        Args:
            cpu: CPUs.
            gpu: GPUs.
            object_store_memory: Bytes of batches that one machine's data engine holds.
            memory: Bytes of memory.
        """
        given = (cpu, gpu, object_store_memory, memory)
        return cls(*(float("inf") if each is None else each for each in given))

    @classmethod
    def zero(cls) -> ExecutionResources:
        """Nothing."""
        return cls(0.0, 0.0, 0.0, 0.0)

    @classmethod
    def inf(cls) -> ExecutionResources:
        """No limits."""
        return cls.for_limits()

    @property
    def cpu(self) -> float:
        """CPUs."""
        return self._amounts["cpu"] or 0.0

    @property
    def gpu(self) -> float:
        """GPUs."""
        return self._amounts["gpu"] or 0.0

    @property
    def object_store_memory(self) -> float:
        """Bytes of batches."""
        return self._amounts["object_store_memory"] or 0.0

    @property
    def memory(self) -> float:
        """Bytes of memory."""
        return self._amounts["memory"] or 0.0

    def add(self, other: ExecutionResources) -> ExecutionResources:
        """The sums.

        Args:
            other: What is added.
        """
        return ExecutionResources(*(one + two for one, two in self._pairs(other)))

    def subtract(self, other: ExecutionResources) -> ExecutionResources:
        """The differences, 0 at least.

        Args:
            other: What is taken away.
        """
        return ExecutionResources(*(max(0.0, one - two) for one, two in self._pairs(other)))

    def copy(
        self,
        cpu: float | None = None,
        gpu: float | None = None,
        memory: float | None = None,
        object_store_memory: float | None = None,
    ) -> ExecutionResources:
        """Another one: of the amounts that are given, and else of the same.

        Args:
            cpu: CPUs.
            gpu: GPUs.
            memory: Bytes of memory.
            object_store_memory: Bytes of batches.
        """
        given = {"cpu": cpu, "gpu": gpu, "memory": memory, "object_store_memory": object_store_memory}
        return ExecutionResources(
            **{name: own if given[name] is None else given[name] for name, own in self._amounts.items()}
        )

    def _pairs(self, other: ExecutionResources) -> list[tuple[float, float]]:
        if not isinstance(other, ExecutionResources):
            refuse("other", other, "ExecutionResources")
        return [(getattr(self, name), getattr(other, name)) for name in self._amounts]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ExecutionResources) and other._amounts == self._amounts

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={amount}" for name, amount in self._amounts.items() if amount is not None)
        return f"ExecutionResources({given})"


class ExecutionOptions:
    """How data sets are executed.

    Args:
        resource_limits: What an execution may use; its ``object_store_memory`` is the budget of a
            machine's data engine.
        exclude_resources: What is left to others; kept for code that reads it.
        preserve_order: Rows always keep their order; it costs nothing here, so both values do the
            same.
        actor_locality_enabled: Kept for code that reads it: functions run on the machine that
            reads.
        verbose_progress: Whether an execution reports more of its progress.
        label_selector: Labels of nodes whose spare CPUs call the functions of the data sets of a
            training; see :doc:`data-performance`. Values as in ``ScalingConfig.label_selector``.

    Example:
        >>> from headway.data import DataContext
        >>> DataContext.get_current().execution_options.preserve_order = True
    """

    def __init__(
        self,
        resource_limits: ExecutionResources | None = None,
        exclude_resources: ExecutionResources | None = None,
        preserve_order: bool = False,
        actor_locality_enabled: bool = True,
        verbose_progress: bool = False,
        label_selector: Mapping[str, str] | None = None,
    ):
        allowed = "ExecutionResources or None"
        check_instance("ExecutionOptions.resource_limits", resource_limits, ExecutionResources, allowed)
        check_instance("ExecutionOptions.exclude_resources", exclude_resources, ExecutionResources, allowed)
        self.resource_limits: ExecutionResources = resource_limits or ExecutionResources.for_limits()
        self.exclude_resources: ExecutionResources = exclude_resources or ExecutionResources.zero()
        self.preserve_order = check_bool("ExecutionOptions.preserve_order", preserve_order)
        self.actor_locality_enabled = check_bool("ExecutionOptions.actor_locality_enabled", actor_locality_enabled)
        self.verbose_progress = check_bool("ExecutionOptions.verbose_progress", verbose_progress)
        self.label_selector = _labels("ExecutionOptions.label_selector", label_selector)

    def budget(self) -> int:
        """Bytes that a machine's data engine may hold; 0: its default."""
        limit = self.resource_limits.object_store_memory
        return 0 if limit == float("inf") else int(limit)

    def __repr__(self) -> str:
        return f"ExecutionOptions({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"


def _labels(argument: str, given: Any) -> dict[str, str] | None:
    if given is None:
        return None
    if not isinstance(given, Mapping) or not all(isinstance(each, str) for pair in given.items() for each in pair):
        refuse(argument, given, "None or a dict of strings by label")
    return dict(given)


@dataclass
class DataContext:
    """Settings of the data sets that are made in this process.

    Attributes:
        execution_options: How data sets are executed.
        target_max_block_size: Bytes of a piece of data at most, where Headway cuts it.
        target_min_block_size: Bytes of a piece at least.
        read_op_min_num_blocks: Into how many pieces reads are cut at least.
        max_errored_blocks: How many pieces of a data set may fail, in an epoch or a write: each is
            left out with a warning, where a piece is a file, or a part of a large one. -1: any
            number. Rows of a piece that came before its failure stay.
        enable_progress_bars: Whether an execution shows its progress on a terminal.

    Raises:
        AttributeError: a setting that does not exist; a close one is named.

    Example:
        >>> from headway.data import DataContext
        >>> context = DataContext.get_current()
        >>> context.set_config("my_app.key", 5)
        >>> context.get_config("my_app.key")
        5
    """

    execution_options: ExecutionOptions = field(default_factory=ExecutionOptions)
    target_max_block_size: int = 128 << 20
    target_min_block_size: int = 1 << 20
    read_op_min_num_blocks: int = 200
    max_errored_blocks: int = 0
    enable_progress_bars: bool = True

    _current: ClassVar[DataContext | None] = None
    _lock: ClassVar[threading.Lock] = threading.Lock()

    def __post_init__(self) -> None:
        self.__dict__["_configuration"] = {}

    @classmethod
    def get_current(cls) -> DataContext:
        """This process's context. A rank has a copy of the driver's."""
        with cls._lock:
            if cls._current is None:
                cls._current = cls()
            return cls._current

    @classmethod
    def _set_current(cls, context: DataContext) -> None:
        with cls._lock:
            cls._current = context

    def __getattr__(self, name: str) -> Any:  # Which Python calls for names that do not exist.
        raise self._unknown(name)

    def _unknown(self, name: str) -> AttributeError:
        names = [each.name for each in dataclasses.fields(self)]
        close = difflib.get_close_matches(name, names, n=1)
        hint = f"did you mean {close[0]!r}?" if close else f"settings: {', '.join(names)}; set_config() for others"
        return AttributeError(f"DataContext has no setting {name!r}; {hint}")

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in {each.name for each in dataclasses.fields(self)}:
            raise self._unknown(name)
        if name == "execution_options":
            if not isinstance(value, ExecutionOptions):
                refuse("DataContext.execution_options", value, "ExecutionOptions")
        elif name == "enable_progress_bars":
            check_bool(f"DataContext.{name}", value)
        elif name == "max_errored_blocks":
            if check_int(f"DataContext.{name}", value, "-1 (any number), 0 or more") < -1:
                raise ValueError(f"DataContext.{name} is {value}; allowed: -1 (any number), 0 or more")
        else:
            check_above_0(f"DataContext.{name}", value)
        super().__setattr__(name, value)

    def set_config(self, key: str, value: Any) -> None:
        """Keeps a value under a name of the user's.

        Args:
            key: The name.
            value: Anything that can be pickled.
        """
        self.__dict__["_configuration"][key] = value

    def get_config(self, key: str, default: Any = None) -> Any:
        """What :meth:`set_config` has kept.

        Args:
            key: The name.
            default: What is returned for a name without a value.
        """
        return self.__dict__["_configuration"].get(key, default)

    def remove_config(self, key: str) -> None:
        """Forgets a value.

        Args:
            key: The name.
        """
        self.__dict__["_configuration"].pop(key, None)

    def copy(self) -> DataContext:
        """Another one with the same settings."""
        return copy.deepcopy(self)
