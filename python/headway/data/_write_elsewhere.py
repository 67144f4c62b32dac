"""Data sets written to what is no folder of files: data bases, and tables of other packages."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from headway._values.arguments import check_above_0, check_str, refuse
from headway._values.packages import check_installed, needed
from headway.data import _client, _types
from headway.data._consume import Consume
from headway.data._iceberg import check_condition, iceberg_catalog
from headway.data._locations import column_names
from headway.data._scheduling import takes_scheduling
from headway.data._write import SaveMode, save_mode

if TYPE_CHECKING:
    import pyarrow as pa

#: Rows that a data base gets at a time.
_ROWS_AT_ONCE = 1024


class WriteElsewhere(Consume):
    """Data sets written to data bases and to tables of Lance, Delta Lake and Iceberg."""

    @takes_scheduling
    def write_sql(self, sql: str, connection_factory: Any) -> None:
        """Writes rows over any connection of Python's DB-API, in this process and in one
        transaction: a data base that has transactions gets all rows or none.

        Args:
            sql: The statement for one row, with a place for each column in the columns' order, such
                as ``"insert into prices values (?, ?)"``.
            connection_factory: Makes the connection.
        """
        check_str("sql", sql, "a statement with a place for each column")
        if not callable(connection_factory):
            refuse("connection_factory", connection_factory, "a function that returns a connection")
        connection = connection_factory()
        if not hasattr(connection, "cursor") or not hasattr(connection, "commit"):
            refuse("what connection_factory returned", connection, "a connection of Python's DB-API")
        with contextlib.closing(connection):
            try:
                cursor = connection.cursor()
                for batch in self._batches():
                    rows = (tuple(row.values()) for row in batch.to_rows())
                    while some := list(itertools.islice(rows, _ROWS_AT_ONCE)):
                        cursor.executemany(sql, some)
                connection.commit()
            except BaseException:
                with contextlib.suppress(Exception):  # Not every data base has transactions.
                    connection.rollback()
                raise

    @takes_scheduling
    def write_lance(
        self,
        path: str,
        *,
        mode: SaveMode | str = SaveMode.CREATE,
        min_rows_per_file: int = 1024 * 1024,
        max_rows_per_file: int = 64 * 1024 * 1024,
        data_storage_version: str | None = None,
        storage_options: Mapping[str, Any] | None = None,
    ) -> None:
        """Writes a Lance data set, with the package ``pylance``, in this process and as one version
        of it.

        Args:
            path: Its folder or URL.
            mode: What to do where there is one already: ``"create"``, ``"append"`` or
                ``"overwrite"``.
            min_rows_per_file: Kept for scripts that give it.
            max_rows_per_file: Rows of a file at most.
            data_storage_version: Of Lance's format.
            storage_options: For Lance's access to the storage.

        Raises:
            ModuleNotFoundError: pylance is not installed.
        """
        check_str("path", path, "a folder or URL")
        for name, rows in (("min_rows_per_file", min_rows_per_file), ("max_rows_per_file", max_rows_per_file)):
            check_above_0(name, rows)
        chosen = _table_mode(mode, {"create": "create", "append": "append", "overwrite": "overwrite"})
        options = _options(storage_options)
        write = needed("write_lance", "lance", "pylance").write_dataset
        self._streamed(
            lambda rows: write(
                rows,
                path,
                mode=chosen,
                max_rows_per_file=max_rows_per_file,
                data_storage_version=data_storage_version,
                storage_options=options,
            )
        )

    @takes_scheduling
    def write_delta(
        self,
        path: str,
        *,
        mode: SaveMode | str = SaveMode.APPEND,
        partition_by: Sequence[str] | None = None,
        storage_options: Mapping[str, str] | None = None,
        schema_mode: str = "merge",
        name: str | None = None,
        description: str | None = None,
    ) -> None:
        """Writes a Delta Lake table, with the package ``deltalake``, in this process and as one
        version of it.

        Args:
            path: Its folder or URL.
            mode: What to do where there is one already: ``"append"``, ``"overwrite"``, ``"error"``
                or ``"ignore"``.
            partition_by: Columns whose values become folders.
            storage_options: For the package's access to the storage.
            schema_mode: ``"merge"``: new columns are added; ``"overwrite"``.
            name: The table's name.
            description: Of the table.

        Raises:
            ModuleNotFoundError: deltalake is not installed.
        """
        check_str("path", path, "a folder or URL")
        if schema_mode not in ("merge", "overwrite"):
            raise ValueError(f'schema_mode is {schema_mode!r}; allowed: "merge" or "overwrite"')
        modes = {"append": "append", "overwrite": "overwrite", "error": "error", "create": "error", "ignore": "ignore"}
        chosen = _table_mode(mode, modes)
        partitions, options = column_names("partition_by", partition_by), _options(storage_options)
        write = needed("write_delta", "deltalake").write_deltalake
        self._streamed(
            lambda rows: write(
                path,
                rows,
                mode=chosen,
                # Only these change a table that is there.
                schema_mode=schema_mode if chosen in ("append", "overwrite") else None,
                partition_by=partitions,
                storage_options=options,
                name=name,
                description=description,
            )
        )

    @takes_scheduling
    def write_iceberg(
        self,
        table_identifier: str,
        catalog_kwargs: Mapping[str, Any] | None = None,
        *,
        snapshot_properties: Mapping[str, str] | None = None,
        mode: SaveMode | str = SaveMode.APPEND,
        overwrite_filter: Any = None,
        upsert_kwargs: Mapping[str, Any] | None = None,
        overwrite_kwargs: Mapping[str, Any] | None = None,
    ) -> None:
        """Writes rows to an Iceberg table, with the package ``pyiceberg``, in this process and as
        one version of it. New columns are added to the table. Rows for a table that is cut into
        partitions, and those of ``"upsert"``, must fit into memory.

        Args:
            table_identifier: A table that is there: ``"namespace.table"``.
            catalog_kwargs: Arguments of ``pyiceberg.catalog.load_catalog``.
            snapshot_properties: Kept with the version.
            mode: ``"append"``, ``"overwrite"``, or ``"upsert"``: rows, which have all of the
                table's columns, replace those of the same keys.
            overwrite_filter: A condition, as text or an expression of pyiceberg: ``"overwrite"``
                replaces only such rows.
            upsert_kwargs: Further arguments of ``Table.upsert``, such as ``join_cols``.
            overwrite_kwargs: Further arguments of ``Table.overwrite``.

        Raises:
            ModuleNotFoundError: pyiceberg is not installed.
        """
        check_str("table_identifier", table_identifier, "a table's name")
        chosen = _table_mode(mode, {"append": "append", "overwrite": "overwrite", "upsert": "upsert"})
        load = _options(catalog_kwargs, "catalog_kwargs") or {}
        given = {
            "snapshot_properties": _options(snapshot_properties, "snapshot_properties") or {},
            **(_options(upsert_kwargs, "upsert_kwargs") or {}),
            **(_options(overwrite_kwargs, "overwrite_kwargs") or {}),
        }
        if overwrite_filter is not None:
            given["overwrite_filter"] = check_condition("overwrite_filter", overwrite_filter)
        _check_mode(chosen, "overwrite", overwrite_filter=overwrite_filter, overwrite_kwargs=overwrite_kwargs)
        _check_mode(chosen, "upsert", upsert_kwargs=upsert_kwargs)
        check_installed("write_iceberg", "pyiceberg")
        catalog = iceberg_catalog(load)

        def write(rows: pa.RecordBatchReader) -> None:
            table = catalog.load_table(table_identifier)
            # Only tables in one part take a stream.
            streams = chosen != "upsert" and table.spec().is_unpartitioned()
            with table.transaction() as transaction:
                with transaction.update_schema() as update:
                    update.union_by_name(rows.schema)
                getattr(transaction, chosen)(rows if streams else rows.read_all(), **given)

        self._streamed(write)

    def _streamed(self, write: Callable[[pa.RecordBatchReader], object]) -> None:
        """Writes all rows by a call that takes a stream, and keeps nothing where it fails: the call
        is made again where rows further on need wider types than those that are known before.
        """
        import pyarrow as pa

        kind = _client.schema(self._plan, self.context)
        wider = kind

        def batches() -> Iterator[pa.RecordBatch]:
            nonlocal wider
            for batch in self._batches():
                rows = batch.to_table()
                wider = _types.known(kind, rows.schema)
                if wider.equals(kind):
                    yield from _types.cast(rows, kind).to_batches()
                else:
                    raise TypeError("a column has a wider type than before")

        while True:
            try:
                write(pa.RecordBatchReader.from_batches(kind, batches()))
                return
            except Exception:
                if wider.equals(kind):
                    raise
                kind = wider


def _table_mode(given: Any, modes: dict[str, str]) -> str:
    return modes[save_mode(given, list(modes))]


def _options(given: Any, argument: str = "storage_options") -> dict[str, Any] | None:
    if given is not None and not isinstance(given, Mapping):
        refuse(argument, given, "None or a dict")
    return None if given is None else dict(given)


def _check_mode(mode: str, wanted: str, **given: Any) -> None:
    """Raises ValueError for what is given with another mode than the one that it is for."""
    for argument, value in given.items():
        if value is not None and mode != wanted:
            raise ValueError(f'{argument} is given with mode "{mode}"; allowed: with "{wanted}"')
