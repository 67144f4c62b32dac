"""Batches as tensors of TensorFlow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from headway._values.arguments import refuse
from headway._values.packages import check_installed
from headway.data._column_check import check_dtypes

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa


def tensors(columns: Mapping[str, np.ndarray], dtypes: Any) -> dict[str, Any]:
    """Tensors by column.

    Args:
        columns: Arrays.
        dtypes: A ``tf.DType`` for all, one by column, or None.
    """
    check_dtypes(dtypes, columns)
    return {name: _tensor(column, dtypes.get(name) if isinstance(dtypes, Mapping) else dtypes)
            for name, column in columns.items()}  # fmt: skip


def _tensor(column: np.ndarray, dtype: Any) -> Any:
    import tensorflow as tf

    if column.dtype.kind == "O" and len(column) and hasattr(column[0], "shape"):
        ragged = tf.ragged.constant([each.tolist() for each in column])
        return ragged if dtype is None else tf.cast(ragged, dtype)
    made = tf.convert_to_tensor(column)
    return made if dtype is None else tf.cast(made, dtype)


class ToTensorflow:
    """What has batches and a schema, as a ``tf.data.Dataset``."""

    iter_batches: Any
    schema: Any

    def to_tf(
        self,
        feature_columns: Any,
        label_columns: Any,
        *,
        additional_columns: Any = None,
        prefetch_batches: int = 1,
        batch_size: int = 1,
        drop_last: bool = False,
        local_shuffle_buffer_size: int | None = None,
        local_shuffle_seed: int | None = None,
        feature_type_spec: Any = None,
        label_type_spec: Any = None,
        additional_type_spec: Any = None,
    ) -> Any:
        """A ``tf.data.Dataset`` of features and labels, every iteration of which is an epoch.
        TensorFlow's strategies do not divide it again: a rank's rows are its own already.

        Args:
            feature_columns: A column, or several: then a dict of tensors by column.
            label_columns: The same for labels.
            additional_columns: The same for what comes third, such as weights of rows. None:
                nothing.
            prefetch_batches, batch_size, drop_last, local_shuffle_buffer_size,
            local_shuffle_seed: As for :meth:`iter_batches`.
            feature_type_spec: The ``tf.TensorSpec`` of the features, or a dict of those by column;
                values are converted. None: as the columns are.
            label_type_spec: The same for labels.
            additional_type_spec: The same for what comes third.
        """
        batches = self.iter_batches(
            prefetch_batches=prefetch_batches,
            batch_size=batch_size,
            drop_last=drop_last,
            local_shuffle_buffer_size=local_shuffle_buffer_size,
            local_shuffle_seed=local_shuffle_seed,
        )
        parts = [
            _checked_part("feature", feature_columns, feature_type_spec),
            _checked_part("label", label_columns, label_type_spec),
        ]
        if additional_columns is not None:
            parts.append(_checked_part("additional", additional_columns, additional_type_spec))
        check_installed("to_tf", "tensorflow")
        specs = _specs(self.schema().base_schema, parts)

        import tensorflow as tf

        def rows() -> Iterator[tuple[Any, ...]]:
            for batch in batches:
                yield tuple(_chosen(batch, spec) for spec in specs)

        signature = tuple(spec if isinstance(spec, dict) else spec[1] for spec in specs)
        options = tf.data.Options()
        options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy.OFF
        return tf.data.Dataset.from_generator(rows, output_signature=signature).with_options(options)


def _checked_part(part: str, columns: Any, spec: Any) -> tuple[Any, dict[str, Any]]:
    """A part's columns, and the spec that is given of each, or None."""
    argument = f"{part}_columns"
    if not isinstance(columns, str):
        if not isinstance(columns, Sequence) or not all(isinstance(each, str) for each in columns):
            refuse(argument, columns, "a column's name, or a list of names")
        columns = list(columns)
    argument = f"{part}_type_spec"
    if spec is not None and isinstance(spec, Mapping) == isinstance(columns, str):
        refuse(argument, spec, "a tf.TensorSpec for a column, or a dict of them for a list of columns")
    given = dict(spec) if isinstance(spec, Mapping) else dict.fromkeys(_names(columns), spec)
    if missing := [name for name in _names(columns) if name not in given]:
        raise ValueError(f"{argument} has no {missing[0]!r}; allowed: a tf.TensorSpec for each column")
    return columns, given


def _specs(schema: Any, parts: Sequence[tuple[Any, dict[str, Any]]]) -> list[Any]:
    """For each part its column and its spec, or a dict of specs by column."""
    names = [name for columns, _ in parts for name in _names(columns)]
    for name in names:
        if name not in schema.names:
            raise ValueError(f"column {name!r} is not there; allowed: {', '.join(schema.names)}")
    specs: list[Any] = []
    for columns, given in parts:
        made = {name: given[name] or _spec(schema.field(name).type) for name in _names(columns)}
        specs.append((columns, made[columns]) if isinstance(columns, str) else made)
    return specs


def _names(columns: Any) -> list[str]:
    return [columns] if isinstance(columns, str) else list(columns)


def _chosen(batch: Mapping[str, Any], spec: Any) -> Any:
    if isinstance(spec, dict):
        return {name: _tensor(batch[name], each.dtype) for name, each in spec.items()}
    return _tensor(batch[spec[0]], spec[1].dtype)


def _spec(kind: pa.DataType) -> Any:
    """Of a batch of a column of this type. Lists, and arrays whose shapes may differ, are tensors
    where the rows of a batch are alike.
    """
    import pyarrow as pa
    import tensorflow as tf

    from headway.data._arrow_values import as_numpy

    shape: tuple[int | None, ...] = ()
    if isinstance(kind, pa.BaseExtensionType) and kind.extension_name == "arrow.variable_shape_tensor":
        shape = (None,) * kind.storage_type.field("shape").type.list_size
        kind = kind.storage_type.field("data").type.value_type
    while pa.types.is_list(kind) or pa.types.is_large_list(kind):
        shape, kind = (*shape, None), kind.value_type
    array = as_numpy(pa.schema({"values": kind}).empty_table()["values"])
    dtype = tf.string if array.dtype.kind == "O" else tf.as_dtype(array.dtype)
    return tf.TensorSpec(shape=(None, *shape, *array.shape[1:]), dtype=dtype)
