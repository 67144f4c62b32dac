"""Functions that make a batch for a model, by the format in which they want its rows."""

from __future__ import annotations

from typing import Any, ClassVar


class CollateFn:
    """Makes what a model takes of a batch's rows: the base class of the other three.

    Example:
        >>> from headway.data.collate_fn import ArrowBatchCollateFn, CollateFn
        >>> issubclass(ArrowBatchCollateFn, CollateFn)
        True
    """

    #: The format of what it is called with.
    batch_format: ClassVar[str] = "numpy"

    def __call__(self, batch: Any) -> Any:
        """What the model takes.

        Args:
            batch: The rows.
        """
        raise NotImplementedError(f"{type(self).__name__} has no __call__")


class ArrowBatchCollateFn(CollateFn):
    """A ``collate_fn`` that gets a ``pyarrow.Table``: a subclass defines ``__call__``.

    Example:
        >>> from headway.data.collate_fn import ArrowBatchCollateFn
        >>> class Rows(ArrowBatchCollateFn):
        ...     def __call__(self, batch):
        ...         return batch.num_rows
    """

    batch_format = "pyarrow"


class NumpyBatchCollateFn(CollateFn):
    """A ``collate_fn`` that gets a dict of arrays: a subclass defines ``__call__``.

    Example:
        >>> from headway.data.collate_fn import NumpyBatchCollateFn
        >>> class Rows(NumpyBatchCollateFn):
        ...     def __call__(self, batch):
        ...         return len(batch["id"])
    """

    batch_format = "numpy"


class PandasBatchCollateFn(CollateFn):
    """A ``collate_fn`` that gets a data frame: a subclass defines ``__call__``.

    Example:
        >>> from headway.data.collate_fn import PandasBatchCollateFn
        >>> class Rows(PandasBatchCollateFn):
        ...     def __call__(self, batch):
        ...         return len(batch)
    """

    batch_format = "pandas"
