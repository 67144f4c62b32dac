"""Batches as arrays of JAX."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from headway._values.arguments import refuse
from headway.data._batch import Batch
from headway.data._collate import ArrowBatchCollateFn, NumpyBatchCollateFn, PandasBatchCollateFn
from headway.data._column_check import check_dtypes

if TYPE_CHECKING:
    import numpy as np

_PADDINGS = "None, a number, or a dict of numbers by column"


class JaxBatches:
    """Makes arrays of batches; see :meth:`headway.data.DataIterator.iter_jax_batches`.

    Raises:
        TypeError, ValueError: a bad argument.
    """

    def __init__(self, batch_size: int, dtypes: Any, collate_fn: Any, paddings: Any):
        import jax

        if isinstance(batch_size, int) and batch_size % jax.local_device_count():
            raise ValueError(
                f"batch_size is {batch_size}; allowed: a multiple of the {jax.local_device_count()} devices of this "
                "process"
            )
        kinds = (ArrowBatchCollateFn, NumpyBatchCollateFn, PandasBatchCollateFn)
        if collate_fn is not None and not isinstance(collate_fn, kinds):
            refuse("collate_fn", collate_fn, "None, or a CollateFn of headway.data.collate_fn")
        every = list(paddings.values()) if isinstance(paddings, Mapping) else [paddings]
        for each in every:
            if each is not None and not isinstance(each, (bool, int, float)):
                refuse("paddings", each, _PADDINGS)
        self._rows = batch_size
        self._dtypes = dtypes
        self._collate = collate_fn
        self._paddings = paddings
        self._sharding: Any = None
        if jax.device_count() > 1:
            import numpy as np

            mesh = jax.sharding.Mesh(np.array(jax.devices()), ("rows",))
            self._sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("rows"))

    def __call__(self, batch: Batch) -> Any:
        """The batch's arrays by column, or what ``collate_fn`` makes of it."""
        if self._collate is None:
            made: Any = batch.to_numpy()
        else:
            made = self._collate(batch.as_format(self._collate.batch_format))
        if not isinstance(made, Mapping):
            return self._array("the batch", made, self._dtypes, self._paddings)
        check_dtypes(self._dtypes, made)
        return {name: self._array(name, each, _of(self._dtypes, name), _of(self._paddings, name))
                for name, each in made.items()}  # fmt: skip

    def _array(self, name: str, values: np.ndarray, dtype: Any, padding: Any) -> Any:
        import jax
        import numpy as np

        from headway.data._arrow_values import stacked

        given = stacked(values)
        if given.dtype.kind in "OUSMmV":
            raise TypeError(
                f"column {name!r} is an array of {given.dtype}, which JAX has not; drop it, or make numbers of it"
            )
        array = np.asarray(given, dtype) if dtype is not None else given
        missing = self._rows - len(array)
        if padding is not None and missing > 0:
            array = np.concatenate([array, np.full((missing, *array.shape[1:]), padding, array.dtype)])
        if self._sharding is None:
            # A copy: the memory is the engine's again when the batch is gone.
            return jax.numpy.array(array)
        if len(array) % jax.local_device_count():
            raise ValueError(
                f"a batch has {len(array)} rows, which {jax.local_device_count()} devices cannot share equally; "
                "give drop_last=True, or paddings"
            )
        return jax.make_array_from_process_local_data(self._sharding, np.array(array))


def _of(given: Any, name: str) -> Any:
    return given.get(name) if isinstance(given, Mapping) else given
