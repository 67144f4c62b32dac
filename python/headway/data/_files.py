"""What all readers of files have in common: their paths and the arguments about them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from headway._storage import locations
from headway._values.arguments import check_bool, check_instance, check_none_or_above_0, check_str, check_texts, refuse
from headway.data import _functions, _locations
from headway.data._dataset import Dataset
from headway.data._plan import Plan
from headway.data._seeds import check_seed

PartitionFilter = Callable[[list[str]], list[str]]
_TYPE_NAMES = {int: "int64", float: "double", bool: "bool", str: "string"}
_FIELD_TYPES = "a dict of names and types: int, float, bool or str"


class FileShuffleConfig:
    """The order of files is shuffled: ``shuffle=FileShuffleConfig(seed=1)`` of a reader.

    Args:
        seed: Of the order; None: one is drawn for each run.
        reseed_after_execution: Whether each epoch has another order.

    Example:
        >>> from headway.data import FileShuffleConfig
        >>> FileShuffleConfig(seed=1)
        FileShuffleConfig(seed=1, reseed_after_execution=True)
    """

    def __init__(self, seed: int | None = None, reseed_after_execution: bool = True):
        self.seed = check_seed("FileShuffleConfig.seed", seed)
        self.reseed_after_execution = check_bool("FileShuffleConfig.reseed_after_execution", reseed_after_execution)

    def __repr__(self) -> str:
        return f"FileShuffleConfig(seed={self.seed}, reseed_after_execution={self.reseed_after_execution})"


class Partitioning:
    """How the names of folders stand for columns.

    Args:
        style: ``"hive"`` for folders such as ``year=2026``, ``"dir"`` for values alone.
        base_dir: The folder in which partitions begin; None: the one that is read.
        field_names: The columns' names; needed for ``"dir"``.
        field_types: The columns' types by name, each ``int``, ``float``, ``bool`` or ``str``; text
            otherwise.

    Example:
        >>> from headway.data import Partitioning
        >>> Partitioning("dir", field_names=["year", "month"])
        Partitioning('dir', field_names=['year', 'month'])
    """

    def __init__(
        self,
        style: str = "hive",
        base_dir: str | None = None,
        field_names: Sequence[str] | None = None,
        field_types: Mapping[str, type] | None = None,
    ):
        self.style = check_str("Partitioning.style", getattr(style, "value", style), '"hive" or "dir"')
        if self.style not in ("hive", "dir"):
            raise ValueError(f'Partitioning.style is {style!r}; allowed: "hive" or "dir"')
        self.base_dir = check_instance("Partitioning.base_dir", base_dir, str, "None or a folder")
        self.field_names = (
            None if field_names is None else check_texts("Partitioning.field_names", field_names, "names")
        )
        if self.style == "dir" and not self.field_names:
            raise ValueError('Partitioning.field_names is not given; style "dir" needs the names of its columns')
        check_instance("Partitioning.field_types", field_types, Mapping, f"None or {_FIELD_TYPES}")
        self.field_types = dict(field_types or {})
        for name, kind in self.field_types.items():
            if kind not in _TYPE_NAMES:
                raise ValueError(f"Partitioning.field_types[{name!r}] is {kind!r}; allowed: {_FIELD_TYPES}")

    def for_plan(self) -> dict[str, Any]:
        """As the plan has it."""
        types = {name: _TYPE_NAMES[kind] for name, kind in self.field_types.items()}
        given = {"style": self.style, "base_dir": self.base_dir, "field_names": self.field_names}
        return {**given, "field_types": types} if types else given

    def __repr__(self) -> str:
        return f"Partitioning({self.style!r}, field_names={self.field_names})"


@dataclass(frozen=True)
class FileArguments:
    """The arguments that all readers of files have."""

    filesystem: Any = None
    partition_filter: PartitionFilter | None = None
    partitioning: Partitioning | str | None = None
    include_paths: bool = False
    ignore_missing_paths: bool = False
    shuffle: Any = None
    file_extensions: Sequence[str] | None = None
    concurrency: int | None = None
    override_num_blocks: int | None = None
    skip_paths: Any = None


def read(kind: str, paths: Any, given: FileArguments, **options: Any) -> Dataset:
    """A data set of files.

    Args:
        kind: The plan's name of their format.
        paths: What the user gave.
        given: The arguments that all readers have.
        options: Those of the format; what is None has its default.

    Raises:
        TypeError, ValueError: a bad argument.
        FileNotFoundError: a local path is not there.
    """
    places = _locations.all_of(paths, given.filesystem)
    if given.skip_paths not in (None, [], ()):
        skipped = _locations.all_of(given.skip_paths, given.filesystem, argument="skip_paths")
        places = _locations.without(places, skipped, given.file_extensions)
    if not check_bool("ignore_missing_paths", given.ignore_missing_paths):
        _locations.check_there(places)
    if given.partition_filter is not None:
        places = _locations.filtered(places, given.partition_filter)
    for name in ("concurrency", "override_num_blocks"):
        check_none_or_above_0(name, getattr(given, name))
    extensions = given.file_extensions
    common = {
        "partitioning": _partitioning(given.partitioning),
        "include_paths": check_bool("include_paths", given.include_paths) or None,
        "ignore_missing_paths": given.ignore_missing_paths or None,
        "file_extensions": None if extensions is None else check_texts("file_extensions", extensions, "a list of text"),
    }
    chosen = {name: value for name, value in {**common, **options}.items() if value is not None}
    arguments = {"format": kind, "paths": places, "options": chosen}
    made = Dataset._of(Plan.source("read", arguments, blob=_served(places)))
    order = _shuffle(given.shuffle)
    if order is not None:  # A file has as many places in the order as it has pieces.
        made = made._then("shuffle", {"kind": "blocks", **order})
    return made if given.override_num_blocks is None else made.repartition(given.override_num_blocks)


def _served(places: Sequence[str]) -> bytes | None:
    """What function workers read files with, on a filesystem that exists only in Python."""
    if not _locations.on_python_filesystem(places[0]):
        return None
    from headway._worker.functions.served_files import ServedFiles

    return _functions.packed(ServedFiles(locations.split(places[0])[1]), _functions.Arguments())


def _partitioning(given: Any) -> dict[str, Any] | None:
    if given is None:
        return None
    if isinstance(given, str):
        given = Partitioning(given)
    if not isinstance(given, Partitioning):
        refuse("partitioning", given, 'None, "hive" or a Partitioning')
    return given.for_plan()


def _shuffle(given: Any) -> dict[str, Any] | None:
    if given is None:
        return None
    if given == "files":
        return {"seed": None, "reseed": True}
    if not isinstance(given, FileShuffleConfig):
        refuse("shuffle", given, 'None, "files" or a FileShuffleConfig')
    return {"seed": given.seed, "reseed": given.reseed_after_execution}
