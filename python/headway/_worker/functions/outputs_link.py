"""A worker's outputs on their way to the data process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from headway._worker.functions import slots
from headway._worker.functions.frames import Link

#: An output with more bytes goes to the data process in pieces.
_PIECE_BYTES = 32 << 20


class Outputs:
    """What a function makes of one unit, on its way to the data process. One slot is there at a
    time; the next is filled meanwhile, unless it is large.

    Args:
        link: To the data process.
        on_large: Called before a large output takes memory, and when it is written: what nobody
            needs any more can be given back.
    """

    def __init__(self, link: Link, on_large: Callable[[], None] = lambda: None) -> None:
        self._link = link
        self._on_large = on_large
        self._slots = slots.OutputSlots()
        self._slot: slots.OutputSlot | None = None
        self._pieces: list[dict[str, Any]] = []
        self._layouts: list[list[dict[str, Any]]] = []
        self._new_layouts: list[dict[str, Any]] = []
        self._gone: list[int] = []
        self._awaits_answer = False
        self._stopped = False
        #: The data process is gone.
        self.broken = False

    def begin(self, free: list[int]) -> None:
        """The next unit; the data process has let go of these slots."""
        self._stopped = False
        self._gone += self._slots.let_go(free)

    def add_all(self, made: Iterator[Any]) -> None:
        """All outputs, as far as more are wanted. Each is let go before the data process works on
        it.
        """
        for pieces in map(_pieces, made):
            if not self._add_pieces(pieces):
                return

    def add(self, columns: Any) -> bool:
        """One output.

        Returns:
            Whether more is wanted.

        Raises:
            BrokenPipeError: this is a child that the function has forked.
        """
        return self._add_pieces(_pieces(columns))

    def add_whole(self, table: Any) -> bool:
        """One output that is not cut, however large it is: a table with one batch.

        Returns, Raises:
            As ``add``.
        """
        return self._add_pieces([table])

    def finish(self, keeps_input: bool) -> None:
        """The unit is done."""
        self._flush()
        self.settle()
        self._send("UnitDone", {"keeps_input": keeps_input, "gone": self._taken_gone()})

    def give_up(self) -> None:
        """The function has failed: what was not sent is left out."""
        if self._slot is not None:
            number = self._slot.number
            if self._slot.fd < 0:
                self._gone += self._slots.let_go([number])
            else:
                self._slots.forget(number)
            self._slot = None
        self._pieces = []
        self.settle()

    def _add_pieces(self, pieces: list[Any]) -> bool:
        if self._link.dropped:
            self.broken = True
            raise BrokenPipeError
        while pieces and not self._stopped:
            self._add_piece(pieces.pop(0))
            if self._slot is not None and self._slot.used >= slots.LARGE:
                self._on_large()
                self._flush()
                self.settle()
        return not self._stopped

    def _add_piece(self, piece: Any) -> None:
        if isinstance(piece, dict):
            self._add_columns(piece)
        else:
            for batch in piece.combine_chunks().to_batches():
                self._add_batch(batch)

    def _add_columns(self, columns: dict[str, Any]) -> None:
        layout = slots.layout_of(columns)
        if layout not in self._layouts:
            self._new_layouts.append({"id": len(self._layouts), "columns": layout})
            self._layouts.append(layout)
        number = self._layouts.index(layout)
        size = slots.columns_size(columns)
        memory = self._space("slot", size, number)
        slots.write_columns(memory, columns, number)

    def _add_batch(self, batch: Any) -> None:
        import pyarrow as pa

        counted = pa.MockOutputStream()
        with pa.ipc.new_stream(counted, batch.schema) as writer:
            writer.write_batch(batch)
        memory = self._space("ipc", counted.size(), 0)
        with pa.ipc.new_stream(pa.FixedSizeBufferWriter(pa.py_buffer(memory)), batch.schema) as writer:
            writer.write_batch(batch)

    def _space(self, form: str, size: int, layout: int) -> Any:
        slot = self._slot
        if slot is not None and slot.used + size > slot.size:
            self._flush()
            slot = None
        if slot is None:
            if size >= slots.LARGE:
                self._on_large()
            slot = self._slot = self._slots.take(size)
        offset = slot.used
        slot.used = slots.aligned(offset + size)
        self._pieces.append({"offset": offset, "size": size, "form": form, "layout": layout})
        return slot.memory.bytes[offset : offset + size]

    def _flush(self) -> None:
        slot = self._slot
        if slot is None:
            return
        self.settle()
        fields = {
            "slot": slot.number,
            "memory": slot.size,
            "pieces": self._pieces,
            "layouts": self._new_layouts,
            "gone": self._taken_gone(),
        }
        self._send("Output", fields, (slot.fd,) if slot.fd >= 0 else ())
        slot.sent()
        self._slot, self._pieces, self._new_layouts = None, [], []
        self._awaits_answer = True

    def settle(self) -> None:
        """Waits until the data process has taken the last slot."""
        if not self._awaits_answer:
            return
        try:
            frame = self._link.receive()
        except OSError:
            self.broken = True
            raise
        if frame is None:
            self.broken = True
            raise BrokenPipeError
        self._awaits_answer = False
        self._stopped = frame.fields["stop"]
        self._gone += self._slots.let_go(frame.fields["free"])

    def _taken_gone(self) -> list[int]:
        gone, self._gone = self._gone, []
        return gone

    def _send(self, kind: str, fields: dict[str, Any], fds: tuple[int, ...] = ()) -> None:
        try:
            self._link.send(kind, fields, fds=fds)
        except OSError:
            self.broken = True
            raise


def _pieces(columns: Any) -> list[Any]:
    """Slices of at most ``_PIECE_BYTES``, but of one row at least; none where there are no rows."""
    is_table = not isinstance(columns, dict)
    rows = columns.num_rows if is_table else len(next(iter(columns.values())))
    size = columns.nbytes if is_table else sum(values.nbytes for values in columns.values())
    if size <= _PIECE_BYTES:
        return [columns] if rows else []
    at_once = max(1, rows * _PIECE_BYTES // size)
    begins = range(0, rows, at_once)
    if is_table:
        return [columns.slice(begin, at_once) for begin in begins]
    return [{name: values[begin : begin + at_once] for name, values in columns.items()} for begin in begins]
