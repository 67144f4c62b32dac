"""What takes rows out of a data set."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from headway._values.arguments import check_above_0, check_bool, check_int
from headway.data import _client
from headway.data._base import DatasetPart
from headway.data._iterator import DataIterator
from headway.data._schema import Schema
from headway.data._tf_batches import ToTensorflow

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from typing_extensions import Self

    from headway.data._batch import Batch

_ROWS = "0 or more"


class Consume(ToTensorflow, DatasetPart):
    """What takes rows out of a data set."""

    def take(self, limit: int = 20) -> list[dict[str, Any]]:
        """The first rows, each a dict.

        Args:
            limit: How many at most.
        """
        return list(self._first(limit).iterator().iter_rows())

    def take_all(self, limit: int | None = None) -> list[dict[str, Any]]:
        """All rows, each a dict.

        Args:
            limit: More rows than this are an error.

        Raises:
            ValueError: there are more rows than ``limit``.
        """
        if limit is None:
            return list(self.iterator().iter_rows())
        rows = list(self._first(_rows("limit", limit) + 1).iterator().iter_rows())
        if len(rows) > limit:
            raise ValueError(f"limit is {limit}, and the data set has more rows; allowed: its number of rows, or None")
        return rows

    def take_batch(self, batch_size: int = 20, *, batch_format: str | None = "default") -> Any:
        """The first rows as one batch.

        Args:
            batch_size: How many rows at most.
            batch_format: As for :meth:`iter_batches`.

        Raises:
            ValueError: the data set has no rows.
        """
        check_above_0("batch_size", batch_size)
        for batch in self._first(batch_size).iterator().iter_batches(batch_size=batch_size, batch_format=batch_format):
            return batch
        raise ValueError("take_batch() found no rows in the data set")

    def show(self, limit: int = 20) -> None:
        """Prints the first rows.

        Args:
            limit: How many at most.
        """
        for row in self.take(limit):
            print(row)

    def _first(self, limit: int) -> Self:
        return self._then("limit", {"rows": _rows("limit", limit)})

    def count(self) -> int:
        """How many rows there are. Files that know it, such as Parquet, are not read for it."""
        return _client.count(self._plan, self.context)

    def schema(self, fetch_if_missing: bool = True) -> Schema | None:
        """The columns with their types.

        Args:
            fetch_if_missing: False: None where a function would have to run for it.
        """
        if not check_bool("fetch_if_missing", fetch_if_missing) and self._plan.uses("function", "python_source"):
            return None
        return Schema(_client.schema(self._plan, self.context))

    def columns(self, fetch_if_missing: bool = True) -> list[str] | None:
        """The columns' names.

        Args:
            fetch_if_missing: As for :meth:`schema`.
        """
        schema = self.schema(fetch_if_missing)
        return None if schema is None else schema.names

    def _columns(self) -> list[str]:
        return self.columns() or []

    def size_bytes(self) -> int:
        """About how many bytes the data has in memory, as far as its files say."""
        return int(_client.ask(self._plan, "size", self.context))

    def input_files(self) -> list[str]:
        """The files that are read."""
        return [str(each) for each in _client.ask(self._plan, "files", self.context)]

    def explain(self) -> str:
        """Prints, and returns, how the data set is computed."""
        text = str(_client.ask(self._plan, "explain", self.context))
        print(text)
        return text

    def iterator(self) -> DataIterator:
        """What gives the rows, again and again; each time is an epoch."""
        return DataIterator(self._plan, self.context)

    def iter_rows(self, *, prefetch_batches: int = 1) -> Iterator[dict[str, Any]]:
        """Each row as a dict.

        Args:
            prefetch_batches: Batches that are made ahead.
        """
        return iter(self.iterator().iter_rows(prefetch_batches=prefetch_batches))

    def iter_batches(
        self,
        *,
        prefetch_batches: int = 1,
        batch_size: int | None = 256,
        batch_format: str | None = "default",
        drop_last: bool = False,
        local_shuffle_buffer_size: int | None = None,
        local_shuffle_seed: int | None = None,
    ) -> Any:
        """Batches of rows; only the last one may be shorter.

        Args:
            prefetch_batches, batch_size, batch_format, drop_last, local_shuffle_buffer_size,
            local_shuffle_seed: As for :meth:`DataIterator.iter_batches`.
        """
        return self.iterator().iter_batches(
            prefetch_batches=prefetch_batches,
            batch_size=batch_size,
            batch_format=batch_format,
            drop_last=drop_last,
            local_shuffle_buffer_size=local_shuffle_buffer_size,
            local_shuffle_seed=local_shuffle_seed,
        )

    def iter_torch_batches(
        self,
        *,
        prefetch_batches: int = 1,
        batch_size: int | None = 256,
        dtypes: Any = None,
        device: Any = "auto",
        collate_fn: Any = None,
        drop_last: bool = False,
        local_shuffle_buffer_size: int | None = None,
        local_shuffle_seed: int | None = None,
        pin_memory: bool = False,
    ) -> Any:
        """Batches as tensors of PyTorch.

        Args:
            prefetch_batches, batch_size, dtypes, device, collate_fn, drop_last,
            local_shuffle_buffer_size, local_shuffle_seed, pin_memory: As for
            :meth:`DataIterator.iter_torch_batches`.
        """
        return self.iterator().iter_torch_batches(
            prefetch_batches=prefetch_batches,
            batch_size=batch_size,
            dtypes=dtypes,
            device=device,
            collate_fn=collate_fn,
            drop_last=drop_last,
            local_shuffle_buffer_size=local_shuffle_buffer_size,
            local_shuffle_seed=local_shuffle_seed,
            pin_memory=pin_memory,
        )

    def iter_tf_batches(
        self,
        *,
        prefetch_batches: int = 1,
        batch_size: int | None = 256,
        dtypes: Any = None,
        drop_last: bool = False,
        local_shuffle_buffer_size: int | None = None,
        local_shuffle_seed: int | None = None,
    ) -> Any:
        """Batches as tensors of TensorFlow.

        Args:
            prefetch_batches, batch_size, dtypes, drop_last, local_shuffle_buffer_size,
            local_shuffle_seed: As for :meth:`DataIterator.iter_tf_batches`.
        """
        return self.iterator().iter_tf_batches(
            prefetch_batches=prefetch_batches,
            batch_size=batch_size,
            dtypes=dtypes,
            drop_last=drop_last,
            local_shuffle_buffer_size=local_shuffle_buffer_size,
            local_shuffle_seed=local_shuffle_seed,
        )

    def iter_jax_batches(
        self,
        *,
        prefetch_batches: int = 1,
        batch_size: int = 256,
        dtypes: Any = None,
        collate_fn: Any = None,
        drop_last: bool = False,
        local_shuffle_buffer_size: int | None = None,
        local_shuffle_seed: int | None = None,
        synchronize_batches: bool = False,
        paddings: Any = None,
    ) -> Any:
        """Batches as arrays of JAX.

        Args:
            prefetch_batches, batch_size, dtypes, collate_fn, drop_last, local_shuffle_buffer_size,
            local_shuffle_seed, synchronize_batches, paddings: As for
            :meth:`DataIterator.iter_jax_batches`.
        """
        return self.iterator().iter_jax_batches(
            prefetch_batches=prefetch_batches,
            batch_size=batch_size,
            dtypes=dtypes,
            collate_fn=collate_fn,
            drop_last=drop_last,
            local_shuffle_buffer_size=local_shuffle_buffer_size,
            local_shuffle_seed=local_shuffle_seed,
            synchronize_batches=synchronize_batches,
            paddings=paddings,
        )

    def to_torch(
        self,
        *,
        label_column: str | None = None,
        feature_columns: Any = None,
        label_column_dtype: Any = None,
        feature_column_dtypes: Any = None,
        batch_size: int = 1,
        prefetch_batches: int = 1,
        drop_last: bool = False,
        local_shuffle_buffer_size: int | None = None,
        local_shuffle_seed: int | None = None,
        unsqueeze_label_tensor: bool = True,
        unsqueeze_feature_tensors: bool = True,
    ) -> Any:
        """A ``torch.utils.data.IterableDataset`` of pairs of features and labels.
        :meth:`iter_torch_batches` is the newer way.

        Args:
            label_column, feature_columns, label_column_dtype, feature_column_dtypes, batch_size,
            prefetch_batches, drop_last, local_shuffle_buffer_size, local_shuffle_seed,
            unsqueeze_label_tensor, unsqueeze_feature_tensors: As for
            :meth:`DataIterator.to_torch`.
        """
        return self.iterator().to_torch(
            label_column=label_column,
            feature_columns=feature_columns,
            label_column_dtype=label_column_dtype,
            feature_column_dtypes=feature_column_dtypes,
            batch_size=batch_size,
            prefetch_batches=prefetch_batches,
            drop_last=drop_last,
            local_shuffle_buffer_size=local_shuffle_buffer_size,
            local_shuffle_seed=local_shuffle_seed,
            unsqueeze_label_tensor=unsqueeze_label_tensor,
            unsqueeze_feature_tensors=unsqueeze_feature_tensors,
        )

    def to_pandas(self, limit: int | None = None) -> pd.DataFrame:
        """All rows as a data frame.

        Args:
            limit: More rows than this are an error.
        """
        from headway.data._arrow_values import frame

        return frame(self._limited(limit))

    def to_arrow(self, limit: int | None = None) -> pa.Table:
        """All rows as a ``pyarrow.Table``.

        Args:
            limit: More rows than this are an error.
        """
        return self._limited(limit)

    def _limited(self, limit: int | None) -> pa.Table:
        if limit is None:
            return self._table()
        table = self._first(_rows("limit", limit) + 1)._table()
        if table.num_rows > limit:
            raise ValueError(f"limit is {limit}, and the data set has more rows; allowed: its number of rows, or None")
        return table

    def _table(self) -> pa.Table:
        import pyarrow as pa

        from headway.data import _materialize, _types

        kept = _materialize.mapped(self._plan, lambda: _client.schema(self._plan, self.context))
        if kept is not None:
            return kept
        # Copies: shared memory has few slots. Each has its own buffer; one that grows is copied
        # again and again.
        copies = []
        for batch in self._batches():
            rows = batch.to_arrow()
            copies.append(pa.ipc.read_record_batch(rows.serialize(), rows.schema))
        if not copies:
            return _client.schema(self._plan, self.context).empty_table()
        return _types.joined(copies)

    def _batches(self, what: str = "") -> Iterator[Batch]:
        """The data in pieces as they are; ``what`` is done with them."""
        return _client.stream(self._plan, {"batch_size": None}, self.context, what)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """For libraries that take Arrow's streams."""
        return self._table().__arrow_c_stream__(requested_schema)

    def __bool__(self) -> bool:
        return True  # Without it len() is asked.

    def __len__(self) -> int:
        """As :meth:`count`, which may have to read the rows."""
        return self.count()

    def __iter__(self) -> Iterator[Any]:
        raise TypeError("a data set is not iterated by itself; use iter_rows() or iter_batches()")


def _rows(argument: str, value: Any) -> int:
    if check_int(argument, value, _ROWS) < 0:
        raise ValueError(f"{argument} is {value}; allowed: {_ROWS}")
    return int(value)
