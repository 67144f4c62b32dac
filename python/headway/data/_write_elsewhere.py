"""Data sets written to what is no folder of files: data bases."""

from __future__ import annotations

import contextlib
import itertools
from typing import Any

from headway._values.arguments import check_str, refuse
from headway.data._consume import Consume

#: Rows that a data base gets at a time.
_ROWS_AT_ONCE = 1024


class WriteElsewhere(Consume):
    """Data sets written to data bases."""

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
