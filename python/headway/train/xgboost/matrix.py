"""A data set as XGBoost's matrix."""

from __future__ import annotations

import functools
import os
import shutil
import tempfile
import weakref
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from headway._values.arguments import check_bool, check_none_or_above_0, check_number, refuse
from headway.train._boosting.columns import chosen, features_of, iterator_of, role_of
from headway.train._boosting.shares import slices, table_of, threads

if TYPE_CHECKING:
    import pyarrow as pa
    import xgboost

    from headway.data import DataIterator, Dataset

#: Arguments that name a column beside the label.
ROLES = ("weight", "base_margin", "label_lower_bound", "label_upper_bound")
#: What a piece of a matrix on disk has in memory, where nothing else is asked for.
_PIECE_BYTES = 64 << 20

_categories: weakref.WeakKeyDictionary[Any, Mapping[str, Sequence[str]]] = weakref.WeakKeyDictionary()


def to_dmatrix(
    shard: DataIterator | Dataset,
    label: str | None = None,
    *,
    weight: str | None = None,
    base_margin: str | None = None,
    label_lower_bound: str | None = None,
    label_upper_bound: str | None = None,
    features: Sequence[str] | None = None,
    enable_categorical: bool = False,
    categories: Mapping[str, Sequence[str]] | None = None,
    missing: float | None = None,
    feature_weights: Sequence[float] | None = None,
    external_memory: bool = False,
    batch_size: int | None = None,
    max_bin: int | None = None,
    ref: xgboost.DMatrix | None = None,
    nthread: int | None = None,
) -> xgboost.DMatrix:
    """The rows of a rank's share of a data set, as ``xgboost.train`` takes them.

    The share is read once, whatever epoch the shard is in, and its position does not move. Columns
    are numbers, arrays of one shape such as tensors (each place is a feature), or text.

    Args:
        shard: What ``get_dataset_shard`` returned, or a data set, all of whose rows it is then.
        label: The column of the labels.
        weight: The column of the weights of rows.
        base_margin: The column of the predictions that training starts from.
        label_lower_bound: The column of the lower bounds, for survival models.
        label_upper_bound: The column of the upper bounds.
        features: The columns that are trained on; None: all others.
        enable_categorical: Whether columns of text are categories.
        categories: The values of columns of text; None: those in all rows of the data set, sorted,
            or those of ``ref``.
        missing: The value that stands for a missing one, beside NaN and null.
        feature_weights: How likely each feature is to be sampled.
        external_memory: Whether the matrix lies on disk: memory has a piece of it at a time.
            ``tree_method`` must be ``"hist"``, which is XGBoost's default.
        batch_size: Rows of such a piece; None: about 64 MiB.
        max_bin: Bins of such a matrix; the same as in the parameters. None: 256.
        ref: The matrix that is trained on, for one that evaluates.
        nthread: Threads that build the matrix; None: the CPUs of the rank.

    Raises:
        TypeError, ValueError: a bad argument, or a column that XGBoost cannot have.

    Example:
        >>> import headway.data
        >>> from headway.train.xgboost import to_dmatrix
        >>> rows = headway.data.from_items([{"x": 1.0, "y": 0}, {"x": 2.0, "y": 1}])
        >>> to_dmatrix(rows, "y").num_row()
        2
    """
    import xgboost

    iterator = iterator_of(shard)
    _check(enable_categorical, external_memory, batch_size, max_bin, missing, nthread)
    if feature_weights is not None and not hasattr(feature_weights, "__len__"):
        refuse("feature_weights", feature_weights, "None or a list of numbers, one for each feature")
    if ref is not None and not isinstance(ref, xgboost.DMatrix):
        refuse("ref", ref, "None or an xgboost.DMatrix")
    if categories is None and ref is not None:
        categories = _categories.get(ref)
    given = (weight, base_margin, label_lower_bound, label_upper_bound)
    columns = chosen(iterator, {"label": label, **dict(zip(ROLES, given, strict=True))}, features, categories)
    if columns.categories and not enable_categorical:
        raise ValueError(
            f"the column {next(iter(columns.categories))!r} is text; allowed: numbers, or enable_categorical=True"
        )
    table = table_of(iterator, columns, on_disk=external_memory)
    settings: dict[str, Any] = {
        "missing": missing,
        "nthread": nthread if nthread is not None else threads(),
        "enable_categorical": enable_categorical,
    }
    of_piece = functools.partial(_arguments, categories=columns.categories, feature_weights=feature_weights)
    if external_memory:
        made = _on_disk(table, batch_size or _rows_of_piece(table), of_piece, max_bin, ref, settings)
    else:
        made = xgboost.DMatrix(**of_piece(table), **settings)
    _categories[made] = columns.categories
    return made


def _check(
    enable_categorical: Any, external_memory: Any, batch_size: Any, max_bin: Any, missing: Any, nthread: Any
) -> None:
    check_bool("enable_categorical", enable_categorical)
    on_disk = check_bool("external_memory", external_memory)
    if missing is not None:
        check_number("missing", missing, "None or a number")
    for name, value in (("batch_size", batch_size), ("max_bin", max_bin), ("nthread", nthread)):
        check_none_or_above_0(name, value)
        if value is not None and name != "nthread" and not on_disk:
            raise ValueError(f"{name} is {value} without external_memory; allowed: with external_memory=True")


def _arguments(table: pa.Table, categories: Mapping[str, Sequence[str]], feature_weights: Any) -> dict[str, Any]:
    """What XGBoost is given of rows."""
    roles = {role: role_of(table, role) for role in ("label", *ROLES)}
    made = {"data": _with_categories(features_of(table), categories), **roles, "feature_weights": feature_weights}
    return {name: value for name, value in made.items() if value is not None}


def _with_categories(features: pa.Table, categories: Mapping[str, Sequence[str]]) -> pa.Table:
    import pyarrow as pa

    for name, values in categories.items():
        if name in features.column_names:
            codes = features.column(name).combine_chunks()
            encoded = pa.DictionaryArray.from_arrays(codes, pa.array(values, pa.string()))
            features = features.set_column(features.column_names.index(name), name, encoded)
    return features


def _rows_of_piece(table: pa.Table) -> int:
    return max(1, _PIECE_BYTES // (4 * table.num_columns))


def _on_disk(table: pa.Table, rows: int, of_piece: Any, max_bin: Any, ref: Any, settings: dict[str, Any]) -> Any:
    import xgboost

    class Pieces(xgboost.DataIter):
        """XGBoost goes through them several times."""

        def __init__(self, cache_prefix: str):
            super().__init__(cache_prefix=cache_prefix)
            self.reset()

        def next(self, input_data: Any) -> bool:
            piece = next(self._left, None)
            if piece is not None:
                input_data(**of_piece(piece))
            return piece is not None

        def reset(self) -> None:
            self._left = slices(table, rows)

    folder = tempfile.mkdtemp(prefix="headway_xgboost_")
    try:
        made = xgboost.ExtMemQuantileDMatrix(
            Pieces(os.path.join(folder, "pages")), max_bin=max_bin, ref=ref, **settings
        )
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    weakref.finalize(made, shutil.rmtree, folder, ignore_errors=True)
    return made
