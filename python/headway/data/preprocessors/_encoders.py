"""Preprocessors that make numbers of categories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from headway._values.arguments import check_above_0, check_bool, check_str, refuse
from headway.data._dataset import Dataset
from headway.data.preprocessors import _statistics
from headway.data.preprocessors._base import Preprocessor, check_dataset, column_of


def _codes(values: Any, numbers: Mapping[Any, int]) -> Any:
    """The number of each value; -1 for one that has none."""
    import numpy as np

    return np.fromiter((numbers.get(value, -1) for value in values.tolist()), np.int64, len(values))


def _numbered(values: Sequence[Any]) -> dict[Any, int]:
    return {value: number for number, value in enumerate(values)}


class OrdinalEncoder(Preprocessor):
    """Numbers the values of columns, from the least on. A value that was not there at ``fit`` is
    -1.

    Args:
        columns: Columns of categories.
        encode_lists: Whether the values within lists are encoded, each by itself.
        output_columns: Where the numbers go; default: the same columns.

    Example:
        >>> import headway.data
        >>> from headway.data.preprocessors import OrdinalEncoder
        >>> rows = headway.data.from_items([{"city": "Rome"}, {"city": "Oslo"}, {"city": "Rome"}])
        >>> [row["city"] for row in OrdinalEncoder(columns=["city"]).fit_transform(rows).take_all()]
        [1, 0, 1]
    """

    def __init__(
        self, columns: Sequence[str], *, encode_lists: bool = True, output_columns: Sequence[str] | None = None
    ):
        super().__init__(columns, output_columns)
        self.encode_lists = check_bool("OrdinalEncoder.encode_lists", encode_lists)

    def _fit(self, ds: Dataset) -> None:
        counts = _statistics.value_counts(ds, self.columns, of_lists=self.encode_lists)
        self.stats_ = {name: _numbered(_statistics.ordered(each)) for name, each in counts.items()}

    def _transform(self, batch: dict[str, Any]) -> dict[str, Any]:
        for name, output in self._pairs():
            values = column_of(batch, name, "OrdinalEncoder")
            batch[output] = self._encoded(values, self.stats_[name])
        return batch

    def _encoded(self, values: Any, numbers: Mapping[Any, int]) -> Any:
        if not len(values) or not _is_list(values):
            return _codes(values, numbers)
        if not self.encode_lists:
            import numpy as np

            lists = (tuple(value) for value in values.tolist())
            return np.fromiter((numbers.get(value, -1) for value in lists), np.int64, len(values))
        return _of_lists([[numbers.get(item, -1) for item in value] for value in values.tolist()])


def _is_list(values: Any) -> bool:
    return values.ndim > 1 or (hasattr(values[0], "__len__") and not isinstance(values[0], (str, bytes)))


def _of_lists(lists: list[list[int]]) -> Any:
    import numpy as np

    made: Any = np.empty(len(lists), dtype=object)
    for index, each in enumerate(lists):
        made[index] = np.asarray(each, np.int64)
    return made


class OneHotEncoder(Preprocessor):
    """Makes of each category a vector with a 1 at its place, and zeros. A value that was not there
    at ``fit`` has zeros alone.

    Args:
        columns: Columns of categories.
        max_categories: By column: only so many, the most frequent ones.
        output_columns: Where the vectors go; default: the same columns.

    Example:
        >>> import headway.data
        >>> from headway.data.preprocessors import OneHotEncoder
        >>> rows = headway.data.from_items([{"city": "Rome"}, {"city": "Oslo"}])
        >>> OneHotEncoder(columns=["city"]).fit_transform(rows).take_batch()["city"].tolist()
        [[0, 1], [1, 0]]
    """

    def __init__(
        self,
        columns: Sequence[str],
        *,
        max_categories: Mapping[str, int] | None = None,
        output_columns: Sequence[str] | None = None,
    ):
        super().__init__(columns, output_columns)
        self.max_categories = _limits(f"{type(self).__name__}.max_categories", max_categories, self.columns)

    #: Whether a row has a list of categories.
    _of_lists = False

    def _fit(self, ds: Dataset) -> None:
        counts = _statistics.value_counts(ds, self.columns, of_lists=self._of_lists)
        self.stats_ = {}
        for name, each in counts.items():
            kept = _statistics.most_frequent(each, self.max_categories.get(name))
            self.stats_[name] = _numbered(sorted(kept))

    def _transform(self, batch: dict[str, Any]) -> dict[str, Any]:
        import numpy as np

        for name, output in self._pairs():
            values, numbers = column_of(batch, name, type(self).__name__), self.stats_[name]
            vectors: Any = np.zeros((len(values), len(numbers)), np.uint8)
            codes = _codes(values, numbers)
            known = codes >= 0
            vectors[np.flatnonzero(known), codes[known]] = 1
            batch[output] = vectors
        return batch


class MultiHotEncoder(OneHotEncoder):
    """Makes of each list of categories a vector with the number of times that each is in it.

    Args:
        columns: Columns of lists.
        max_categories: By column: only so many, the most frequent ones.
        output_columns: Where the vectors go; default: the same columns.

    Example:
        >>> import headway.data
        >>> from headway.data.preprocessors import MultiHotEncoder
        >>> rows = headway.data.from_items([{"tags": ["a", "b"]}, {"tags": ["b", "b"]}])
        >>> MultiHotEncoder(columns=["tags"]).fit_transform(rows).take_batch()["tags"].tolist()
        [[1, 1], [0, 2]]
    """

    _of_lists = True

    def _transform(self, batch: dict[str, Any]) -> dict[str, Any]:
        import numpy as np

        for name, output in self._pairs():
            values, numbers = column_of(batch, name, "MultiHotEncoder"), self.stats_[name]
            vectors: Any = np.zeros((len(values), len(numbers)), np.int64)
            for row, items in enumerate(values.tolist()):
                for item in items:
                    if item in numbers:
                        vectors[row, numbers[item]] += 1
            batch[output] = vectors
        return batch


class LabelEncoder(Preprocessor):
    """Numbers the values of a label, from the least on.

    Args:
        label_column: The label.
        output_column: Where the numbers go; default: the same column.

    Example:
        >>> import headway.data
        >>> from headway.data.preprocessors import LabelEncoder
        >>> rows = headway.data.from_items([{"kind": "cat"}, {"kind": "ant"}])
        >>> encoder = LabelEncoder("kind")
        >>> [row["kind"] for row in encoder.fit_transform(rows).take_all()]
        [1, 0]
    """

    def __init__(self, label_column: str, *, output_column: str | None = None):
        self.label_column = check_str("LabelEncoder.label_column", label_column, "a column's name")
        if output_column is not None:
            check_str("LabelEncoder.output_column", output_column, "None or a column's name")
        super().__init__([label_column], [output_column or label_column])

    def _fit(self, ds: Dataset) -> None:
        counts = _statistics.value_counts(ds, self.columns)
        self.stats_ = _numbered(_statistics.ordered(counts[self.label_column]))

    def _transform(self, batch: dict[str, Any]) -> dict[str, Any]:
        values = column_of(batch, self.label_column, "LabelEncoder")
        batch[self.output_columns[0]] = _codes(values, self.stats_)
        return batch

    def inverse_transform(self, ds: Dataset) -> Dataset:
        """The labels of numbers; none for numbers below 0, which labels have that were not there at
        ``fit``.

        Args:
            ds: A data set that has the numbers.
        """
        check_dataset("ds", ds)
        self._check_fitted()
        back = _Labels(self.output_columns[0], self.label_column, list(self.stats_))
        return ds.map_batches(back, batch_format="numpy", udf_modifying_row_count=False)


class Categorizer(Preprocessor):
    """Makes the values of columns categories of pandas; other values are missing then.

    Batches of a data set are Arrow's, which hold the values themselves: :meth:`transform` makes
    those missing that are no category. A data frame that :meth:`transform_batch` gets, such as a
    batch of the format pandas, has categories afterwards.

    Args:
        columns: Columns of values.
        dtypes: By column: a ``pandas.CategoricalDtype``, where the categories are known before.
        output_columns: Where categories go; default: the same columns.

    Example:
        >>> import headway.data, pandas
        >>> from headway.data.preprocessors import Categorizer
        >>> rows = headway.data.from_items([{"level": "L4"}, {"level": "L3"}])
        >>> categorizer = Categorizer(columns=["level"]).fit(rows)
        >>> frame = categorizer.transform_batch(pandas.DataFrame({"level": ["L3", "L9"]}))
        >>> frame["level"].cat.codes.tolist()
        [0, -1]
    """

    def __init__(
        self,
        columns: Sequence[str],
        dtypes: Mapping[str, Any] | None = None,
        output_columns: Sequence[str] | None = None,
    ):
        super().__init__(columns, output_columns)
        self.dtypes = _category_types("Categorizer.dtypes", dtypes, self.columns)

    def _fit(self, ds: Dataset) -> None:
        import pandas as pd

        self.stats_ = dict(self.dtypes)
        unknown = [name for name in self.columns if name not in self.dtypes]
        if unknown:
            counts = _statistics.value_counts(ds, unknown)
            self.stats_.update({name: pd.CategoricalDtype(_statistics.ordered(counts[name])) for name in unknown})

    def transform_batch(self, data: Any) -> Any:
        """A batch as this preprocessor makes it; a data frame has categories.

        Args:
            data: A dict of arrays, a ``pandas.DataFrame`` or a ``pyarrow.Table``.
        """
        if type(data).__module__.partition(".")[0] != "pandas":
            return super().transform_batch(data)
        self._check_fitted()
        made = data.copy(deep=False)
        for name, output in self._pairs():
            values, kind = column_of(data, name, "Categorizer"), self.stats_[name]
            made[output] = values.where(values.isin(kind.categories)).astype(kind)
        return made

    def _transform(self, batch: dict[str, Any]) -> dict[str, Any]:
        for name, output in self._pairs():
            values = column_of(batch, name, "Categorizer")
            unknown = self.stats_[name].categories.get_indexer(values) < 0
            if unknown.any():
                values = values.astype(object)
                values[unknown] = None
            batch[output] = values
        return batch


def _category_types(argument: str, given: Any, columns: Sequence[str]) -> dict[str, Any]:
    allowed = "None or a dict from columns to pandas.CategoricalDtype"
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        refuse(argument, given, allowed)
    import pandas as pd

    for name, dtype in given.items():
        if name not in columns:
            raise ValueError(f"{argument} has {name!r}; allowed: one of columns: {', '.join(columns)}")
        if not isinstance(dtype, pd.CategoricalDtype) or dtype.categories is None:
            refuse(f"{argument}[{name!r}]", dtype, "a pandas.CategoricalDtype with its categories")
    return dict(given)


class _Labels:
    """Labels of numbers, as a function of batches."""

    def __init__(self, numbers: str, labels: str, values: list[Any]):
        self._numbers = numbers
        self._labels = labels
        self._values = values

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        import numpy as np

        values: Any = np.asarray(self._values)
        numbers: Any = np.asarray(batch[self._numbers])
        known = numbers >= 0
        if not known.all():
            values, numbers = np.append(values.astype(object), None), np.where(known, numbers, -1)
        return {**batch, self._labels: values[numbers.astype(np.int64)]}


def _limits(argument: str, given: Any, columns: Sequence[str]) -> dict[str, int]:
    allowed = "None or a dict from columns to integers above 0"
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        refuse(argument, given, allowed)
    for name, limit in given.items():
        if name not in columns:
            raise ValueError(f"{argument} has {name!r}; allowed: one of columns: {', '.join(columns)}")
        check_above_0(f"{argument}[{name!r}]", limit)
    return dict(given)
