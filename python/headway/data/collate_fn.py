"""Functions that make a batch for a model, for ``iter_torch_batches(collate_fn=...)``."""

from headway._values.named_arguments import offer
from headway.data._collate import ArrowBatchCollateFn, CollateFn, NumpyBatchCollateFn, PandasBatchCollateFn

__all__ = ["ArrowBatchCollateFn", "CollateFn", "NumpyBatchCollateFn", "PandasBatchCollateFn"]

offer(globals(), __all__)
