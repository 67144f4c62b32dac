"""What gives the rows of a data set, epoch after epoch: to a script, or to one rank of a group."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from headway import _core
from headway._values.arguments import check_bool, check_int, refuse
from headway._values.log import notice
from headway._values.packages import check_installed
from headway.data import _client, _epochs, _functions, _waits
from headway.data._base import kept
from headway.data._batch import Batch
from headway.data._context import DataContext
from headway.data._epochs import Epochs, Share, checked_consumption
from headway.data._plan import Plan
from headway.data._schema import Schema
from headway.data._seeds import check_seed, drawn
from headway.data._tf_batches import ToTensorflow, tensors

_STATE_VERSION = 1
#: What a rank gets at a time where it asks for pieces as they are.
_ROWS_OF_PIECE = 4096


class DataIterator(ToTensorflow):
    """Gives the rows of a data set, or a rank's share of them, epoch after epoch. A training
    function gets one by :func:`headway.train.get_dataset_shard`, other code by
    ``Dataset.iterator()`` or ``Dataset.streaming_split()``.

    It knows which rows were consumed: ``state_dict()`` has it, and in a training function each
    ``report`` with a checkpoint stores it, so that a restart resumes at the next row.

    Example:
        >>> import headway.data
        >>> iterator = headway.data.range(5).iterator()
        >>> [len(batch["id"]) for batch in iterator.iter_batches(batch_size=2)]
        [2, 2, 1]
    """

    def __init__(
        self,
        _plan: Plan,
        _context: DataContext,
        _share: Share | None = None,
        _seed: int | None = None,
        _name: str | None = None,
    ):
        self._plan = _plan
        self._context = _context
        self._share = _share or Share()
        #: Of all that is random and has no seed, in each epoch.
        self._seed = drawn() if _seed is None else _seed
        self._name = _name
        #: Where the iteration is: an epoch, and a place in it; None at its begin.
        self._epoch = 0
        self._place: _core.DataPlace | _epochs.Resumed | None = None
        #: The place before the last batch; and how many of its rows were given singly, if not
        #: all.
        self._before: _core.DataPlace | _epochs.Resumed | None = None
        self._rows_given: int | None = None
        #: The iteration that moves this position. One that was left for another moves it no more.
        self._moving: object = None
        self._stats: Any = None
        self._waits: _waits.RankWaits | None = None
        self._says_dropped = self._share.rank == 0
        self._epochs = _epochs.EpochStreams(_plan, _context)

    def iter_batches(
        self,
        *,
        prefetch_batches: int = 1,
        batch_size: int | None = 256,
        batch_format: str | None = "default",
        drop_last: bool = False,
        local_shuffle_buffer_size: int | None = None,
        local_shuffle_seed: int | None = None,
    ) -> Iterable[Any]:
        """Batches of rows; only the last one may be shorter.

        Args:
            prefetch_batches: Batches that are made ahead; of small ones more, up to 512 KiB.
            batch_size: Rows of a batch; None: pieces as they are, and 4096 rows for each of those
                who share.
            batch_format: ``"default"`` and ``"numpy"``: a dict of arrays; ``"pandas"``;
                ``"pyarrow"`` and None: a ``pyarrow.Table``.
            drop_last: Whether a shorter last batch is left out.
            local_shuffle_buffer_size: Rows that are shuffled among each other.
            local_shuffle_seed: Of that order; None: one is drawn.
        """
        kind = _functions.batch_format(batch_format)
        consumption = checked_consumption(
            prefetch_batches, batch_size, drop_last, local_shuffle_buffer_size, local_shuffle_seed
        )
        return Epochs(lambda: self._converted(consumption, lambda batch: batch.as_format(kind)))

    def iter_rows(self, *, prefetch_batches: int = 1) -> Iterable[dict[str, Any]]:
        """Each row as a dict.

        Args:
            prefetch_batches: Batches that are made ahead.
        """
        # Those that share one by one: the position counts batches.
        size = 1 if self._name is not None or self._share.group else _ROWS_OF_PIECE
        consumption = checked_consumption(prefetch_batches, size, False, None, None)
        return Epochs(lambda: self._rows_of(consumption))

    def iter_torch_batches(
        self,
        *,
        prefetch_batches: int = 1,
        batch_size: int | None = 256,
        dtypes: Any = None,
        device: Any = "auto",
        collate_fn: Any = None,
        drop_last: bool = False,
        local_shuffle_buffer_size: int | None = None,
        local_shuffle_seed: int | None = None,
        pin_memory: bool = False,
    ) -> Iterable[Any]:
        """Batches as tensors of PyTorch.

        Args:
            prefetch_batches, batch_size, drop_last, local_shuffle_buffer_size,
            local_shuffle_seed: As for :meth:`iter_batches`.
            dtypes: A ``torch.dtype`` for all columns, or one by column. A name that is no column is
                an error where another column has none.
            device: Where the tensors are; ``"auto"``: the rank's device in a training function,
                else the CPU. To a GPU the next batch is copied while one is in use.
            collate_fn: Makes the batch instead: a function of a dict of arrays, or an
                ``ArrowBatchCollateFn``, ``NumpyBatchCollateFn`` or ``PandasBatchCollateFn``. Not
                with ``dtypes``.
            pin_memory: Whether tensors are copied to page-locked memory first, from where a copy to
                a GPU does not wait.
        """
        from headway.data._torch_batches import TorchBatches

        tensors = TorchBatches(dtypes, device, collate_fn, check_bool("pin_memory", pin_memory))
        consumption = checked_consumption(
            prefetch_batches, batch_size, drop_last, local_shuffle_buffer_size, local_shuffle_seed
        )
        return Epochs(lambda: self._epoch_of(consumption, tensors.over))

    def iter_tf_batches(
        self,
        *,
        prefetch_batches: int = 1,
        batch_size: int | None = 256,
        dtypes: Any = None,
        drop_last: bool = False,
        local_shuffle_buffer_size: int | None = None,
        local_shuffle_seed: int | None = None,
    ) -> Iterable[Any]:
        """Batches as tensors of TensorFlow.

        Args:
            prefetch_batches, batch_size, drop_last, local_shuffle_buffer_size,
            local_shuffle_seed: As for :meth:`iter_batches`.
            dtypes: A ``tf.DType`` for all columns, or one by column.
        """
        consumption = checked_consumption(
            prefetch_batches, batch_size, drop_last, local_shuffle_buffer_size, local_shuffle_seed
        )
        check_installed("iter_tf_batches", "tensorflow")
        return Epochs(lambda: self._converted(consumption, lambda batch: tensors(batch.to_numpy(), dtypes)))

    def iter_jax_batches(
        self,
        *,
        prefetch_batches: int = 1,
        batch_size: int = 256,
        dtypes: Any = None,
        collate_fn: Any = None,
        drop_last: bool = False,
        local_shuffle_buffer_size: int | None = None,
        local_shuffle_seed: int | None = None,
        synchronize_batches: bool = False,
        paddings: Any = None,
    ) -> Iterable[Any]:
        """Batches as arrays of JAX. Where there are several devices, also of other processes, a
        batch is one global array whose rows lie on all of them.

        Args:
            prefetch_batches, drop_last, local_shuffle_buffer_size, local_shuffle_seed: As for
                :meth:`iter_batches`.
            batch_size: Rows of this process's part of a batch: a multiple of its devices.
            dtypes: A dtype for all columns, or one by column.
            collate_fn: Makes arrays of a batch instead: an ``ArrowBatchCollateFn``,
                ``NumpyBatchCollateFn`` or ``PandasBatchCollateFn``.
            synchronize_batches: Kept for scripts that give it: ranks have equal batches.
            paddings: What fills a shorter last batch, for all columns or by column.
        """
        from headway.data._jax_batches import JaxBatches

        check_bool("synchronize_batches", synchronize_batches)
        if batch_size is None:
            refuse("batch_size", batch_size, "an integer above 0")
        consumption = checked_consumption(
            prefetch_batches, batch_size, drop_last, local_shuffle_buffer_size, local_shuffle_seed
        )
        convert = JaxBatches(batch_size, dtypes, collate_fn, paddings)
        # A user's function is called for a batch that is wanted.
        together = {} if collate_fn is None else {"together_max": 1}
        return Epochs(lambda: self._epoch_of(consumption, lambda stream: stream.made(convert, **together)))

    def to_torch(
        self,
        *,
        label_column: str | None = None,
        feature_columns: Any = None,
        label_column_dtype: Any = None,
        feature_column_dtypes: Any = None,
        batch_size: int = 1,
        prefetch_batches: int = 1,
        drop_last: bool = False,
        local_shuffle_buffer_size: int | None = None,
        local_shuffle_seed: int | None = None,
        unsqueeze_label_tensor: bool = True,
        unsqueeze_feature_tensors: bool = True,
    ) -> Any:
        """A ``torch.utils.data.IterableDataset`` of pairs of features and labels.
        :meth:`iter_torch_batches` is the newer way. A ``DataLoader`` around it has no more than one
        worker: each would give every row, and two or more raise ValueError.

        Args:
            label_column: The label; None: labels are None.
            feature_columns: Columns of one tensor; or a list or dict of such lists, for several
                tensors. None: all but the label.
            label_column_dtype: A ``torch.dtype``.
            feature_column_dtypes: A ``torch.dtype``, or one for each of several tensors.
            batch_size, prefetch_batches, drop_last, local_shuffle_buffer_size,
            local_shuffle_seed: As for :meth:`iter_batches`.
            unsqueeze_label_tensor: Whether labels have the shape ``[rows, 1]``.
            unsqueeze_feature_tensors: The same for a feature that is alone in its tensor.
        """
        from headway.data._torch_dataset import Pairs, torch_dataset

        convert = Pairs(
            label_column,
            feature_columns,
            label_column_dtype,
            feature_column_dtypes,
            unsqueeze_label_tensor,
            unsqueeze_feature_tensors,
        )
        batches = self.iter_torch_batches(
            prefetch_batches=prefetch_batches,
            batch_size=batch_size,
            device="cpu",
            drop_last=drop_last,
            local_shuffle_buffer_size=local_shuffle_buffer_size,
            local_shuffle_seed=local_shuffle_seed,
        )
        return torch_dataset(batches, convert)

    def schema(self) -> Schema:
        """The columns with their types."""
        return Schema(_client.schema(self._plan, self._context))

    def materialize(self) -> Any:
        """All rows of this iterator's share, kept: a :class:`MaterializedDataset`."""
        from headway.data._materialize import materialized

        return kept(materialized(self._batches_of(checked_consumption(1, None, False, None, None)), self.schema))

    def stats(self) -> str:
        """What the last epoch took, stage by stage. One that was left is counted as far as its
        stages were heard of.
        """
        return _client.shown_stats(self._stats)

    def get_context(self) -> DataContext:
        """The settings of the data set."""
        return self._context

    def state_dict(self) -> dict[str, Any]:
        """Where the iteration is, after the rows that were consumed so far."""
        state = {"version": _STATE_VERSION, "epoch": self._epoch, "cursor": self._cursor()}
        if self._name is None:  # In training it is the run's.
            state["seed"] = self._seed
        return {**state, "lanes": self._share.lanes} if self._share.lanes > 1 else state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """The next iteration begins there.

        Args:
            state_dict: What :meth:`state_dict` gave.
        """
        if (
            not isinstance(state_dict, dict)
            or state_dict.get("version") != _STATE_VERSION
            or not {"epoch", "cursor"} <= state_dict.keys()
        ):
            refuse("state_dict", state_dict, "what state_dict() gave")
        self._epoch = check_int("state_dict['epoch']", state_dict["epoch"], "an epoch")
        cursor = state_dict["cursor"]
        if "seed" in state_dict:
            self._seed = check_seed("state_dict['seed']", state_dict["seed"]) or 0
        # Whatever machines there are now: what a step trains is the same.
        self._share = dataclasses.replace(self._share, lanes=state_dict.get("lanes", 1))
        self._place, self._moving = None if cursor is None else _epochs.Resumed(json.dumps(cursor)), None
        self._rows_given = None

    def _cursor(self) -> Any:
        if self._rows_given is not None:
            return self._cursor_behind(self._rows_given)
        return self._place and json.loads(self._place.cursor)

    def _cursor_behind(self, rows: int) -> Any:
        """That of so many rows behind the place before the last batch: a batch that ends there has
        it.
        """
        asked = {**checked_consumption(0, rows, False, None, None), **dataclasses.asdict(self._share)}
        cursor = self._before and json.loads(self._before.cursor)
        asked |= {"epoch": self._epoch, "cursor": cursor, "seed": self._seed}
        stream = _client.Stream(self._plan, asked, self._context, "looking for a row")
        try:
            return json.loads(next(iter(stream)).place.cursor)
        finally:
            stream.close()

    def _rows_of(self, consumption: dict[str, Any]) -> Iterator[dict[str, Any]]:
        for batch in self._batches_of(consumption):
            moving = self._moving
            for count, row in enumerate(batch.to_rows(), 1):
                if self._moving is moving:
                    self._rows_given = count if count < batch.rows else None
                yield row

    def _converted(self, consumption: dict[str, Any], convert: Callable[[Batch], Any]) -> Iterator[Any]:
        return self._epoch_of(consumption, lambda stream: stream.made(convert))

    def _batches_of(self, consumption: dict[str, Any]) -> Iterator[Batch]:
        return self._converted(consumption, lambda batch: batch)

    def _epoch_of(
        self, consumption: dict[str, Any], over: Callable[[_client.Stream], Iterator[list[Any]]]
    ) -> Iterator[Any]:
        """What is made of the next epoch's batches, or of the rest of one that is resumed.

        Args:
            consumption: How its rows are consumed.
            over: Makes of each of a stream's batches a list of its place and of what is given. It
                may be ahead: the position is behind what was given.
        """
        if self._moving is not None:  # The one before was left in the middle.
            self._epoch, self._place, self._rows_given = self._epoch + 1, None, None
        moving = self._moving = object()
        epoch = self._epoch
        if self._share.group and consumption["batch_size"] is None:
            consumption = {**consumption, "batch_size": _ROWS_OF_PIECE}
        asked = {**consumption, **dataclasses.asdict(self._share), "epoch": epoch}
        asked["cursor"] = self._cursor()
        if asked["seed"] is None:
            asked["seed"] = self._seed
        self._waits = self._waits or _waits.of_rank(self._name)
        stream = self._epochs.open(asked, self._waits)
        try:
            for each in over(stream):
                self._epochs.begun()
                if self._moving is moving:
                    self._before, self._place, self._rows_given = self._place, each[0], None
                yield each.pop()  # When the caller lets it go nobody has it.
        finally:
            try:
                counters = stream.counters
                if stream.stats is not None or counters["stages"]:
                    self._stats = counters
                if self._waits is not None:
                    self._waits.end_epoch(stream)
                if stream.dropped and not consumption["drop_last"]:
                    self._say_dropped(stream.dropped)
            finally:
                self._epochs.leave(stream)
                if self._moving is moving:
                    self._epoch, self._place, self._moving = epoch + 1, None, None
                    self._rows_given = None

    def _say_dropped(self, rows: int) -> None:
        """Says once that the last rows of an epoch were dropped."""
        if self._says_dropped:
            self._says_dropped = False
            notice(_core.data_dropped_text(self._name or "", rows, self._share.world_size))

    def __repr__(self) -> str:
        share = f", rank {self._share.rank} of {self._share.world_size}" if self._share.world_size > 1 else ""
        return f"DataIterator({self._name or 'data'}{share})"


def position_of(iterators: dict[str, DataIterator]) -> str | None:
    """Where iterators are, as a checkpoint keeps it; None where nothing was consumed."""
    begun = {name: each.state_dict() for name, each in iterators.items() if each._epoch or each._place}
    return json.dumps(begun) if begun else None
