"""What all preprocessors have in common."""

from __future__ import annotations

import base64
import enum
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import cloudpickle

from headway._values.arguments import check_instance, check_str, check_texts, refuse
from headway.data._dataset import Dataset

if TYPE_CHECKING:
    from typing_extensions import Self

    from headway.data._expression import Expr

_PREFIX = "headway-preprocessor-1:"


class PreprocessorNotFittedException(RuntimeError):
    """A preprocessor was used before :meth:`Preprocessor.fit`.

    Example:
        >>> from headway.data.preprocessors import StandardScaler
        >>> StandardScaler(columns=["x"]).transform_batch({"x": [1.0]})
        Traceback (most recent call last):
            ...
        headway.data.preprocessors.PreprocessorNotFittedException: StandardScaler has not been fitted; call fit() ...
    """


class FitStatus(str, enum.Enum):
    """Whether a preprocessor can transform.

    Example:
        >>> from headway.data.preprocessors import Concatenator
        >>> Concatenator().fit_status()
        <FitStatus.NOT_FITTABLE: 'NOT_FITTABLE'>
    """

    NOT_FITTABLE = "NOT_FITTABLE"
    NOT_FITTED = "NOT_FITTED"
    PARTIALLY_FITTED = "PARTIALLY_FITTED"
    FITTED = "FITTED"


class Preprocessor:
    """Learns from a data set (:meth:`fit`), and applies what it has learned to others.

    Args:
        columns: The columns that it reads.
        output_columns: The columns that it writes; default: the same.

    Example:
        >>> from headway.data.preprocessors import Preprocessor, StandardScaler
        >>> scaler = StandardScaler(columns=["price"])
        >>> restored = Preprocessor.deserialize(scaler.serialize())
        >>> restored.columns
        ['price']
    """

    #: Whether it learns anything.
    _is_fittable = True

    def __init__(self, columns: Sequence[str], output_columns: Sequence[str] | None = None):
        kind = type(self).__name__
        names = [columns] if isinstance(columns, str) else columns
        self.columns = check_texts(f"{kind}.columns", names, "a list of columns' names")
        if not self.columns:
            raise ValueError(f"{kind}.columns is []; allowed: at least one column")
        self.output_columns = list(self.columns)
        if output_columns is not None:
            self.output_columns = check_texts(f"{kind}.output_columns", output_columns, "None or a list of names")
            if len(self.output_columns) != len(self.columns):
                raise ValueError(
                    f"{kind}.output_columns has {len(self.output_columns)} names; allowed: one for each of the "
                    f"{len(self.columns)} columns"
                )
        self._fitted = False

    def fit_status(self) -> FitStatus:
        """Whether it can transform."""
        if not self._is_fittable:
            return FitStatus.NOT_FITTABLE
        return FitStatus.FITTED if self._fitted else FitStatus.NOT_FITTED

    def fit(self, ds: Dataset) -> Self:
        """Learns from a data set, which is read once.

        Args:
            ds: The data set.
        """
        check_dataset("ds", ds)
        if self._is_fittable:
            self._fit(ds)
            self._fitted = True
        return self

    def transform(
        self,
        ds: Dataset,
        *,
        batch_size: int | None = None,
        num_cpus: float | None = None,
        memory: float | None = None,
        concurrency: int | None = None,
    ) -> Dataset:
        """The data set as this preprocessor makes it; nothing is read yet.

        Args:
            ds: The data set.
            batch_size, num_cpus, memory, concurrency: As for :meth:`Dataset.map_batches`, where
                functions compute it.
        """
        check_dataset("ds", ds)
        self._check_fitted()
        expressions = self._expressions()
        if expressions is not None:
            return ds.with_columns(expressions)
        return ds.map_batches(
            _OnBatches(self),
            batch_size=batch_size,
            batch_format="numpy",
            num_cpus=num_cpus,
            memory=memory,
            concurrency=concurrency,
            udf_modifying_row_count=False,
        )

    def fit_transform(
        self,
        ds: Dataset,
        *,
        transform_num_cpus: float | None = None,
        transform_memory: float | None = None,
        transform_batch_size: int | None = None,
        transform_concurrency: int | None = None,
    ) -> Dataset:
        """:meth:`fit` and then :meth:`transform`.

        Args:
            ds: The data set.
            transform_num_cpus, transform_memory, transform_batch_size, transform_concurrency: Those
                of :meth:`transform`.
        """
        return self.fit(ds).transform(
            ds,
            batch_size=transform_batch_size,
            num_cpus=transform_num_cpus,
            memory=transform_memory,
            concurrency=transform_concurrency,
        )

    def transform_batch(self, data: Any) -> Any:
        """A batch as this preprocessor makes it: for inference.

        Args:
            data: A dict of arrays, a ``pandas.DataFrame`` or a ``pyarrow.Table``; the result is of
                the same kind.
        """
        self._check_fitted()
        return in_its_format(data, self._transform)

    def serialize(self) -> str:
        """What it has learned, as text: for a checkpoint's metadata."""
        return _PREFIX + base64.b64encode(cloudpickle.dumps(self)).decode()

    @staticmethod
    def deserialize(serialized: str) -> Preprocessor:
        """The preprocessor that :meth:`serialize` wrote. Only for text of a trusted origin: it may
        hold code.

        Args:
            serialized: The text.

        Raises:
            ValueError: it is not of :meth:`serialize`.
        """
        if not check_str("serialized", serialized, "what serialize() gave").startswith(_PREFIX):
            raise ValueError(f"serialized is {serialized[:40]!r}; allowed: what serialize() gave")
        found = cloudpickle.loads(base64.b64decode(serialized.removeprefix(_PREFIX)))
        return check_instance("serialized", found, Preprocessor, "what serialize() gave")

    def _check_fitted(self) -> None:
        if self._is_fittable and not self._fitted:
            kind = type(self).__name__
            raise PreprocessorNotFittedException(f"{kind} has not been fitted; call fit() or fit_transform() first")

    def _fit(self, ds: Dataset) -> None:
        """Learns."""

    def _transform(self, batch: dict[str, Any]) -> dict[str, Any]:
        """A dict of arrays as this preprocessor makes it."""
        raise NotImplementedError

    def _expressions(self) -> dict[str, Expr] | None:
        """The columns that it writes, where Arrow's kernels compute them; else None."""
        return None

    def _pairs(self) -> list[tuple[str, str]]:
        """Each column that it reads with the one that it writes."""
        return list(zip(self.columns, self.output_columns, strict=True))

    def __repr__(self) -> str:
        shown = ((name, value) for name, value in vars(self).items() if not name.startswith("_"))
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in shown)})"


class _OnBatches:
    """A preprocessor as a function of batches."""

    def __init__(self, preprocessor: Preprocessor):
        self._preprocessor = preprocessor
        self.__name__ = type(preprocessor).__name__

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        return self._preprocessor._transform(dict(batch))


def in_its_format(data: Any, transform: Any) -> Any:
    """Applies a function of a dict of arrays to a batch of any format."""
    import numpy as np

    if isinstance(data, Mapping):
        return transform({name: np.asarray(values) for name, values in data.items()})
    module = type(data).__module__.partition(".")[0]
    if module == "pandas":
        import pandas as pd

        made = transform({str(name): data[name].to_numpy() for name in data.columns})
        return pd.DataFrame({name: list(each) if each.ndim > 1 else each for name, each in made.items()}, data.index)
    if module != "pyarrow":
        refuse("data", data, "a dict of arrays, a pandas.DataFrame or a pyarrow.Table")
    import pyarrow as pa

    from headway._worker.functions.arrow_columns import arrow_column
    from headway.data._arrow_values import named_as_numpy

    made = transform({name: named_as_numpy(name, data[name]) for name in data.column_names})
    return pa.table({name: arrow_column(name, each, all_rows=True) for name, each in made.items()})


def check_dataset(argument: str, given: Any) -> None:
    """Raises TypeError for what is no data set."""
    if not isinstance(given, Dataset):
        refuse(argument, given, "a headway.data.Dataset")


def column_of(batch: Mapping[str, Any], name: str, kind: str) -> Any:
    """A column of a batch.

    Raises:
        ValueError: it has none of this name.
    """
    if name not in batch:
        raise ValueError(f"{kind}.columns has {name!r}; allowed: columns of the data: {', '.join(batch)}")
    return batch[name]
