"""Preprocessors of vectors and of single numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from headway._values.arguments import check_bool, check_number, check_str, check_texts, refuse
from headway.data.preprocessors._base import Preprocessor, column_of


class Concatenator(Preprocessor):
    """Puts columns side by side into one vector a row.

    Args:
        columns: The columns, in this order; default: all that ``exclude`` does not name.
        output_column_name: Where the vectors go. The columns themselves are dropped.
        dtype: The vectors' numpy type; default: one that holds all columns.
        raise_if_missing: Whether a column that is not there is an error.
        flatten: Whether columns of tensors are flattened, too.
        exclude: In the older form: the columns that stay as they are.
        include: The older name of ``columns``.

    Example:
        >>> import headway.data
        >>> from headway.data.preprocessors import Concatenator
        >>> rows = headway.data.from_items([{"a": 1.0, "b": 2.0, "y": 0}])
        >>> Concatenator(columns=["a", "b"]).transform(rows).take_batch()["concat_out"].tolist()
        [[1.0, 2.0]]
    """

    _is_fittable = False

    def __init__(
        self,
        columns: Sequence[str] | None = None,
        output_column_name: str = "concat_out",
        dtype: Any = None,
        raise_if_missing: bool = False,
        flatten: bool = False,
        *,
        exclude: Sequence[str] | str | None = None,
        include: Sequence[str] | None = None,
    ):
        if include is not None and columns is not None:
            raise ValueError("Concatenator.include is given beside columns; allowed: one of them")
        chosen = columns if columns is not None else include
        if chosen is not None and exclude is not None:
            raise ValueError("Concatenator.exclude is given beside columns; allowed: one of them")
        names = "None or a list of columns' names"
        self.columns = [] if chosen is None else check_texts("Concatenator.columns", chosen, names)
        if chosen is not None and not self.columns:
            raise ValueError("Concatenator.columns is []; allowed: at least one column, or None for all")
        left_out = [exclude] if isinstance(exclude, str) else exclude or []
        self.exclude = check_texts("Concatenator.exclude", left_out, names)
        self.output_column_name = check_str("Concatenator.output_column_name", output_column_name, "a column's name")
        self.output_columns = [self.output_column_name]
        self.dtype = _checked_dtype(dtype)
        self.raise_if_missing = check_bool("Concatenator.raise_if_missing", raise_if_missing)
        self.flatten = check_bool("Concatenator.flatten", flatten)
        self._fitted = False

    def _transform(self, batch: dict[str, Any]) -> dict[str, Any]:
        import numpy as np

        wanted = self.columns or [name for name in batch if name not in self.exclude]
        if self.raise_if_missing:
            for name in (*wanted, *self.exclude):
                column_of(batch, name, "Concatenator")
        parts = []
        for name in (name for name in wanted if name in batch):
            values = _of_lists(name, batch.pop(name))
            if values.dtype.kind not in "biuf":
                raise TypeError(f"column {name!r} holds {values.dtype}; allowed: columns of numbers (exclude it)")
            if values.ndim > 2 and not self.flatten:
                raise TypeError(f"column {name!r} holds tensors; allowed: numbers and vectors, or flatten=True")
            parts.append(values.reshape(len(values), -1))
        if not parts:
            raise ValueError(
                f"Concatenator found none of its columns; allowed: {', '.join(batch) or 'no column is left'}"
            )
        batch[self.output_column_name] = np.concatenate(parts, axis=1, dtype=self.dtype, casting="unsafe")
        return batch


def _of_lists(name: str, values: Any) -> Any:
    """Lists of equally many numbers as one array; other columns as they are."""
    import numpy as np

    if values.dtype != object or not len(values) or any(np.ndim(each) == 0 for each in values):
        return values
    if len({np.shape(each) for each in values}) > 1:
        raise TypeError(f"column {name!r} holds lists of different lengths; allowed: lists of one length")
    return np.stack([np.asarray(each) for each in values])


def _checked_dtype(dtype: Any) -> Any:
    import numpy as np

    try:
        return None if dtype is None else np.dtype(dtype)
    except TypeError:
        refuse("Concatenator.dtype", dtype, "None or a numpy type")


class Normalizer(Preprocessor):
    """Divides the columns of each row by the row's norm.

    Args:
        columns: Columns of numbers, which are one vector a row.
        norm: ``"l1"``, ``"l2"`` or ``"max"``.
        output_columns: Where the results go; default: the same columns.

    Example:
        >>> from headway.data.preprocessors import Normalizer
        >>> scaled = Normalizer(columns=["x", "y"]).transform_batch({"x": [3.0], "y": [4.0]})
        >>> scaled["x"].tolist(), scaled["y"].tolist()
        ([0.6], [0.8])
    """

    _is_fittable = False

    def __init__(self, columns: Sequence[str], norm: str = "l2", *, output_columns: Sequence[str] | None = None):
        super().__init__(columns, output_columns)
        if check_str("Normalizer.norm", norm, '"l1", "l2" or "max"') not in ("l1", "l2", "max"):
            raise ValueError(f'Normalizer.norm is {norm!r}; allowed: "l1", "l2" or "max"')
        self.norm = norm

    def _transform(self, batch: dict[str, Any]) -> dict[str, Any]:
        import numpy as np

        columns = np.stack([column_of(batch, name, "Normalizer") for name in self.columns], axis=1).astype(np.float64)
        amounts = np.abs(columns)
        norms = {"l1": amounts.sum, "max": amounts.max}.get(self.norm, lambda axis: np.sqrt((columns**2).sum(axis)))(1)
        scaled = columns / np.where(norms == 0, 1, norms)[:, None]
        for index, output in enumerate(self.output_columns):
            batch[output] = np.ascontiguousarray(scaled[:, index])
        return batch


class PowerTransformer(Preprocessor):
    """Makes columns more like a normal distribution, by a power that is given.

    Args:
        columns: Columns of numbers.
        power: The power; of ``"box-cox"`` numbers above 0 only.
        method: ``"yeo-johnson"`` or ``"box-cox"``.
        output_columns: Where the results go; default: the same columns.

    Example:
        >>> from headway.data.preprocessors import PowerTransformer
        >>> PowerTransformer(columns=["x"], power=2).transform_batch({"x": [1.0, 2.0]})["x"].tolist()
        [1.5, 4.0]
    """

    _is_fittable = False

    def __init__(
        self,
        columns: Sequence[str],
        power: float,
        method: str = "yeo-johnson",
        *,
        output_columns: Sequence[str] | None = None,
    ):
        super().__init__(columns, output_columns)
        self.power = check_number("PowerTransformer.power", power, "a number")
        if check_str("PowerTransformer.method", method, "a method") not in ("yeo-johnson", "box-cox"):
            raise ValueError(f'PowerTransformer.method is {method!r}; allowed: "yeo-johnson" or "box-cox"')
        self.method = method

    def _transform(self, batch: dict[str, Any]) -> dict[str, Any]:
        import numpy as np

        for name, output in self._pairs():
            values = np.asarray(column_of(batch, name, "PowerTransformer"), dtype=np.float64)
            batch[output] = _box_cox(values, self.power) if self.method == "box-cox" else self._yeo_johnson(values)
        return batch

    def _yeo_johnson(self, values: Any) -> Any:
        import numpy as np

        positive = values >= 0
        above = _box_cox(np.where(positive, values, 0) + 1, self.power)
        below = -_box_cox(np.where(positive, 0, -values) + 1, 2 - self.power)
        return np.where(positive, above, below)


def _box_cox(values: Any, power: float) -> Any:
    import numpy as np

    return np.log(values) if power == 0 else (values**power - 1) / power
