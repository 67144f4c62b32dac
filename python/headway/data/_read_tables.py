"""Readers of tables that are more than files: Lance, Delta Lake and Iceberg. Function workers read
them with these projects' own packages, a fragment or file at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from headway._values.arguments import check_int, check_none_or_above_0, check_str, check_texts, refuse
from headway._values.packages import check_installed, needed
from headway.data._dataset import Dataset
from headway.data._iceberg import check_condition, iceberg_catalog
from headway.data._locations import column_names
from headway.data._memory import blocks, cut
from headway.data._scheduling import takes_scheduling
from headway.data._sources import of_python

if TYPE_CHECKING:
    import pyarrow as pa

    Tables = Iterator[pa.Table]


@takes_scheduling
def read_lance(
    uri: str | Sequence[str],
    *,
    version: int | str | None = None,
    columns: Sequence[str] | None = None,
    filter: str | None = None,
    storage_options: Mapping[str, str] | None = None,
    scanner_options: Mapping[str, Any] | None = None,
    concurrency: int | None = None,
    override_num_blocks: int | None = None,
) -> Dataset:
    """Rows of Lance data sets, with the package ``pylance``.

    Args:
        uri: A folder or URL, or a list of them.
        version: A version's number or tag; None: the newest one.
        columns: Only these; no others are read.
        filter: A condition of SQL; other rows are left out.
        storage_options: For Lance's access to the storage.
        scanner_options: Arguments of ``LanceFragment.scanner``, and a ``limit`` of all rows.
        concurrency: Kept for scripts that give it.
        override_num_blocks: Into how many pieces the rows are cut; default: fragments.

    Raises:
        ModuleNotFoundError: pylance is not installed.

    Example:
        >>> import headway.data
        >>> def trips():
        ...     return headway.data.read_lance("trips.lance", columns=["distance"], filter="distance > 3")
    """
    uris = [uri] if isinstance(uri, str) else check_texts("uri", uri, "a path, a URL, or a list of them")
    if version is not None and not isinstance(version, (int, str)):
        refuse("version", version, "None, a number or a tag")
    if filter is not None:
        check_str("filter", filter, "None or a condition of SQL")
    check_none_or_above_0("concurrency", concurrency)
    check_none_or_above_0("override_num_blocks", override_num_blocks)
    scan = _scan(scanner_options, columns=column_names("columns", columns), filter=filter)
    limit = scan.pop("limit", None)
    options = _mapping("storage_options", storage_options)
    lance = needed("read_lance", "lance", "pylance")
    fragments: list[tuple[str, int, int]] = []
    rows: list[int] = []
    for each in uris:
        table = lance.dataset(each, version=version, storage_options=options or None)
        for fragment in table.get_fragments():
            fragments.append((each, table.version, fragment.fragment_id))
            rows.append(fragment.count_rows())
    if not fragments:
        raise ValueError(f"uri: {', '.join(uris)} has no rows, so nothing can be read")
    # A filter leaves rows out, and perhaps another option does.
    known = rows if filter is None and not scan.keys() - {"columns"} else None
    made = cut(of_python(_LanceFragments(fragments, options, scan), len(fragments), known), override_num_blocks)
    return made if limit is None else made.limit(limit)


def _scan(scanner_options: Mapping[str, Any] | None, **given: Any) -> dict[str, Any]:
    """The arguments of each fragment's scanner: those that are given by name count."""
    scan = _mapping("scanner_options", scanner_options)
    for name in ("offset", "nearest"):
        if name in scan:
            allowed = "options that a fragment can be scanned with, and limit"
            raise ValueError(f'scanner_options["{name}"] is {scan[name]!r}; allowed: {allowed}')
    return scan | {name: value for name, value in given.items() if value is not None}


@takes_scheduling
def read_delta(
    path: str,
    version: int | None = None,
    *,
    storage_options: Mapping[str, str] | None = None,
    columns: Sequence[str] | None = None,
    concurrency: int | None = None,
    override_num_blocks: int | None = None,
) -> Dataset:
    """Rows of a Delta Lake table, with the package ``deltalake``.

    Args:
        path: The table's folder or URL.
        version: A version's number; None: the newest one.
        storage_options: For the package's access to the storage.
        columns: Only these; no others are read.
        concurrency: Kept for scripts that give it.
        override_num_blocks: Into how many pieces the rows are cut; default: files.

    Raises:
        ModuleNotFoundError: deltalake is not installed.

    Example:
        >>> import headway.data
        >>> def trips():
        ...     return headway.data.read_delta("s3://bucket/trips", version=3)
    """
    check_str("path", path, "a table's folder or URL")
    if version is not None:
        check_int("version", version, "None or a number")
    check_none_or_above_0("concurrency", concurrency)
    check_none_or_above_0("override_num_blocks", override_num_blocks)
    names = column_names("columns", columns)
    files = _DeltaFiles(path, version, _mapping("storage_options", storage_options), names)
    check_installed("read_delta", "deltalake")
    units = files.fix()
    if not units:
        raise ValueError(f"path: {path} has no files, so nothing can be read")
    return cut(of_python(files, units, None), override_num_blocks)


@takes_scheduling
def read_iceberg(
    *,
    table_identifier: str,
    row_filter: Any = None,
    parallelism: int = -1,
    selected_fields: Sequence[str] = ("*",),
    snapshot_id: int | None = None,
    scan_kwargs: Mapping[str, Any] | None = None,
    catalog_kwargs: Mapping[str, Any] | None = None,
    override_num_blocks: int | None = None,
) -> Dataset:
    """Rows of an Iceberg table, with the package ``pyiceberg``.

    Args:
        table_identifier: The table's name in its catalog, such as ``"trips.taxi"``.
        row_filter: A condition, as text or an expression of pyiceberg; other rows are left out.
        parallelism: The older name of ``override_num_blocks``; -1: the default.
        selected_fields: Only these columns.
        snapshot_id: A snapshot; None: the newest one.
        scan_kwargs: Further arguments of ``Table.scan``.
        catalog_kwargs: Arguments of ``pyiceberg.catalog.load_catalog``.
        override_num_blocks: Into how many pieces the rows are cut; default: files.

    Raises:
        ModuleNotFoundError: pyiceberg is not installed.

    Example:
        >>> import headway.data
        >>> def trips():
        ...     return headway.data.read_iceberg(
        ...         table_identifier="trips.taxi", catalog_kwargs={"name": "default", "type": "glue"}
        ...     )
    """
    check_str("table_identifier", table_identifier, "a table's name")
    fields = check_texts("selected_fields", selected_fields, "a list of columns' names")
    options = _mapping("scan_kwargs", scan_kwargs)
    limit = options.pop("limit", None)
    load = _mapping("catalog_kwargs", catalog_kwargs)
    if row_filter is not None:
        check_condition("row_filter", row_filter)
    # A number of 64 bits.
    if snapshot_id is not None and not isinstance(snapshot_id, int):
        refuse("snapshot_id", snapshot_id, "None or a number")
    pieces = blocks(parallelism, override_num_blocks)
    check_none_or_above_0("override_num_blocks", pieces)
    check_installed("read_iceberg", "pyiceberg")
    table = iceberg_catalog(load).load_table(table_identifier)
    scan = table.scan(
        **({} if row_filter is None else {"row_filter": row_filter}),
        selected_fields=tuple(fields),
        snapshot_id=snapshot_id,
        **options,
    )
    tasks = sorted(scan.plan_files(), key=lambda task: str(task.file.file_path))
    if not tasks:
        raise ValueError(f"table_identifier: {table_identifier} has no such rows, so nothing can be read")
    # Files may have rows that a filter leaves out, or that were deleted.
    whole = row_filter is None and not options and not any(task.delete_files for task in tasks)
    rows = [int(task.file.record_count) for task in tasks] if whole else None
    made = cut(of_python(_IcebergFiles(scan, tasks), len(tasks), rows), pieces)
    return made if limit is None else made.limit(limit)


def _mapping(argument: str, given: Any) -> dict[str, Any]:
    if given is not None and not isinstance(given, Mapping):
        refuse(argument, given, "None or a dict")
    return dict(given or {})


class _LanceFragments:
    """Fragments of Lance data sets, by place, version and number."""

    def __init__(self, fragments: list[tuple[str, int, int]], storage: dict[str, Any], scan: dict[str, Any]):
        self._fragments = fragments
        self._storage = storage
        self._scan = scan

    def __call__(self, unit: int) -> Tables:
        import lance

        uri, version, number = self._fragments[unit]
        table: Any = lance.dataset(uri, version=version, storage_options=self._storage or None)
        scanner = table.scanner(fragments=[table.get_fragment(number)], **self._scan)
        return _tables(scanner.to_batches())


class _DeltaFiles:
    """The files of a version of a Delta table, in the order of their names."""

    def __init__(self, path: str, version: int | None, storage: dict[str, Any], columns: list[str] | None):
        self._path = path
        self._version = version
        self._storage = storage
        self._columns = columns

    def fix(self) -> int:
        """Stays with the version that is the newest now; returns its number of files."""
        dataset = self._opened()
        return len(list(dataset.get_fragments()))

    def _opened(self) -> Any:
        import deltalake

        table = deltalake.DeltaTable(self._path, version=self._version, storage_options=self._storage or None)
        self._version = table.version()
        return table.to_pyarrow_dataset()

    def __call__(self, unit: int) -> Tables:
        dataset = self._opened()
        fragment = sorted(dataset.get_fragments(), key=lambda each: each.path)[unit]
        return _tables(fragment.to_batches(schema=dataset.schema, columns=self._columns or dataset.schema.names))


class _IcebergFiles:
    """The files of a scan of an Iceberg table."""

    def __init__(self, scan: Any, tasks: list[Any]):
        self._metadata, self._io = scan.table_metadata, scan.io
        self._projection, self._filter, self._case_sensitive = scan.projection(), scan.row_filter, scan.case_sensitive
        self._tasks = tasks

    def __call__(self, unit: int) -> Tables:
        from pyiceberg.io.pyarrow import ArrowScan, schema_to_pyarrow

        schema = schema_to_pyarrow(self._projection, include_field_ids=False)
        scan = ArrowScan(self._metadata, self._io, self._projection, self._filter, self._case_sensitive)
        # Files may have older types of the columns.
        return (table.cast(schema) for table in _tables(scan.to_record_batches([self._tasks[unit]])))


def _tables(batches: Iterable[pa.RecordBatch]) -> Tables:
    import pyarrow as pa

    return (pa.Table.from_batches([batch]) for batch in batches)
