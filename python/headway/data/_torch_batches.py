"""Batches as tensors of PyTorch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from headway import _session as worker_session
from headway._values.arguments import refuse
from headway._values.gpus import visible_gpus
from headway.data._batch import Batch
from headway.data._collate import ArrowBatchCollateFn, NumpyBatchCollateFn, PandasBatchCollateFn
from headway.data._column_check import check_dtypes

if TYPE_CHECKING:
    import numpy as np
    import torch

    from headway.data._client import Stream


class TorchBatches:
    """Makes tensors of batches; see :meth:`headway.data.DataIterator.iter_torch_batches`.

    Raises:
        ValueError: ``dtypes`` and ``collate_fn`` are both given.
        TypeError: a bad argument.
    """

    def __init__(self, dtypes: Any, device: Any, collate_fn: Any, pin_memory: bool):
        import torch

        if collate_fn is not None and dtypes is not None:
            raise ValueError("dtypes is given beside collate_fn; allowed: one of them")
        kinds = (ArrowBatchCollateFn, NumpyBatchCollateFn, PandasBatchCollateFn)
        if collate_fn is not None and not callable(collate_fn):
            refuse("collate_fn", collate_fn, "None, a function of a dict of arrays, or a CollateFn")
        self._collate = collate_fn
        self._format = "numpy"
        if isinstance(collate_fn, kinds):
            self._format = collate_fn.batch_format
        self._dtypes = _checked_dtypes(dtypes)
        self._by_column = isinstance(dtypes, Mapping)
        self._from_numpy = torch.from_numpy
        self._device = _device(device)
        self._pins = pin_memory and torch.cuda.is_available()

    def over(self, stream: Stream) -> Iterator[list[Any]]:
        """For each batch a list of its place and what :meth:`__call__` makes of it, on the device.
        To a CUDA device the next batch is copied while one is in use.

        Args:
            stream: The batches.
        """
        # A user's function is called for a batch that is wanted.
        made = stream.made(self) if self._collate is None else stream.made(self, together_max=1)
        if self._device.type == "cpu" and not self._pins:
            return made
        from headway._values.device_copies import changed, move, one_ahead, pinned

        if self._device.type == "cuda":
            return one_ahead(made, self._device, self._pins, is_there=lambda: stream.has_next)
        held = (changed(each, pinned) for each in made) if self._pins else made
        return (move(each, self._device) for each in held)

    def __call__(self, batch: Batch) -> Any:
        """The batch's tensors by column, or what ``collate_fn`` makes of it."""
        if self._collate is not None:
            return self._collate(batch.as_format(self._format))
        columns = batch.to_numpy()
        if self._by_column:
            check_dtypes(self._dtypes, columns)
        return {name: self._tensor(name, column) for name, column in columns.items()}

    def _tensor(self, name: str, column: np.ndarray) -> torch.Tensor:
        if column.dtype.kind in "OUSMmV":
            raise TypeError(
                f"column {name!r} is {_words(column)}, which is no tensor; drop it, make numbers of it by map_batches, "
                "or give a collate_fn"
            )
        tensor = self._from_numpy(column)
        dtype = self._dtypes.get(name) if self._by_column else self._dtypes
        return tensor if dtype is None else tensor.to(dtype)


def _words(column: np.ndarray) -> str:
    first = next((each for each in column if each is not None), None) if column.dtype.kind == "O" else None
    if first is not None and hasattr(first, "shape"):
        return "lists of different lengths"
    if isinstance(first, str):
        return "text"
    if isinstance(first, bool):
        return "truth values with nulls"
    return {"O": f"of type {type(first).__name__}", "M": "a date or time", "m": "a duration"}.get(
        column.dtype.kind, "text"
    )


def _checked_dtypes(dtypes: Any) -> Any:
    import torch

    if isinstance(dtypes, Mapping):
        for name, dtype in dtypes.items():
            if not isinstance(dtype, torch.dtype):
                refuse(f"dtypes[{name!r}]", dtype, "a torch.dtype")
    elif dtypes is not None and not isinstance(dtypes, torch.dtype):
        refuse("dtypes", dtypes, "None, a torch.dtype, or a dict from columns to them")
    return dtypes


def _device(device: Any) -> torch.device:
    import torch

    if device != "auto":
        if device is not None and not isinstance(device, (str, torch.device)):
            refuse("device", device, '"auto", a torch.device or its name')
        return _named_device(device or "cpu")
    session = worker_session.active()
    gpus = session.context["plan"]["slot"]["gpu_ids"] if session is not None else []
    return torch.device("cuda", visible_gpus().index(gpus[0])) if gpus else torch.device("cpu")


def _named_device(name: str | torch.device) -> torch.device:
    import torch

    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise ValueError(f'device is {name!r}; allowed: "auto", a torch.device or its name ({error})') from None
    gpus = torch.cuda.device_count()
    if device.type == "cuda" and (device.index or 0) >= gpus:
        raise ValueError(f"device is {str(name)!r}, and torch sees {gpus} GPUs here; allowed: cpu, or one of them")
    return device
