"""Batches as tensors of TensorFlow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from headway._values.arguments import refuse

if TYPE_CHECKING:
    import numpy as np


def tensors(columns: Mapping[str, np.ndarray], dtypes: Any) -> dict[str, Any]:
    """Tensors by column.

    Args:
        columns: Arrays.
        dtypes: A ``tf.DType`` for all, one by column, or None.
    """
    return {name: _tensor(column, dtypes.get(name) if isinstance(dtypes, Mapping) else dtypes)
            for name, column in columns.items()}  # fmt: skip


def _tensor(column: np.ndarray, dtype: Any) -> Any:
    import tensorflow as tf

    if column.dtype.kind == "O" and len(column) and hasattr(column[0], "shape"):
        ragged = tf.ragged.constant([each.tolist() for each in column])
        return ragged if dtype is None else tf.cast(ragged, dtype)
    made = tf.convert_to_tensor(column)
    return made if dtype is None else tf.cast(made, dtype)


def as_tf_dataset(batches: Iterable[dict[str, Any]], schema: Any, feature_columns: Any, label_columns: Any) -> Any:
    """A ``tf.data.Dataset`` whose every iteration is an epoch."""
    import tensorflow as tf

    features = _checked("feature_columns", feature_columns)
    labels = _checked("label_columns", label_columns)

    def pairs() -> Iterator[tuple[Any, Any]]:
        for batch in batches:
            yield _chosen(batch, features), _chosen(batch, labels)

    sample = _sample(schema, [*_names(features), *_names(labels)])
    signature = (_signature(sample, features, tf), _signature(sample, labels, tf))
    return tf.data.Dataset.from_generator(pairs, output_signature=signature)


def _checked(argument: str, columns: Any) -> Any:
    if isinstance(columns, str):
        return columns
    if isinstance(columns, Mapping) or not all(isinstance(each, str) for each in columns):
        refuse(argument, columns, "a column's name, or a list of names")
    return list(columns)


def _names(columns: Any) -> list[str]:
    return [columns] if isinstance(columns, str) else list(columns)


def _chosen(batch: Mapping[str, Any], columns: Any) -> Any:
    return batch[columns] if isinstance(columns, str) else {name: batch[name] for name in columns}


def _sample(schema: Any, names: list[str]) -> dict[str, np.ndarray]:
    """An array without rows of each column."""
    from headway.data._batch import as_numpy

    for name in names:
        if name not in schema.names:
            raise ValueError(f"column {name!r} is not there; allowed: {', '.join(schema.names)}")
    return {name: as_numpy(schema.empty_table()[name]) for name in names}


def _signature(sample: Mapping[str, np.ndarray], columns: Any, tf: Any) -> Any:
    def one(name: str) -> Any:
        array = sample[name]
        dtype = tf.string if array.dtype.kind == "O" else tf.as_dtype(array.dtype)
        return tf.TensorSpec(shape=(None, *array.shape[1:]), dtype=dtype)

    return one(columns) if isinstance(columns, str) else {name: one(name) for name in columns}
