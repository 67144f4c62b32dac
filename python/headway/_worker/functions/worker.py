"""A function worker: it calls one function on units of rows until its data process is gone."""

from __future__ import annotations

import itertools
import os
import random
import sys
from collections.abc import Iterator
from typing import Any

import cloudpickle
import numpy as np

from headway import _core
from headway._worker.functions import blocks, slots
from headway._worker.functions.calls import FunctionCalls
from headway._worker.functions.failures import failure_of
from headway._worker.functions.frames import Frame, Link, adopted
from headway._worker.functions.outputs_link import Outputs

#: What a worker keeps of the memory that functions free.
_KEPT_MIB_MAX = 32


def main() -> None:
    """``python -c ... ``: a worker in a separate process; its link is descriptor 3."""
    work(adopted(3))


def work(link: Link) -> None:
    """Serves a data process until it ends the link. Returns in no process."""
    code = 0
    os.register_at_fork(after_in_child=link.drop)
    try:
        for stream in (sys.stdout, sys.stderr):
            stream.reconfigure(line_buffering=True)  # type: ignore[union-attr]
        setup = link.receive()
        if setup is not None and setup.kind == "WholeSetup":
            from headway._worker.functions.whole import Whole

            Whole(link, setup).run()
        elif setup is not None:
            # A function makes the same arrays for each batch.
            _core.keep_freed_memory(_KEPT_MIB_MAX)
            Worker(link, setup).serve()
    except (BrokenPipeError, ConnectionResetError):
        pass  # The data process is gone.
    except SystemExit as exit_request:
        code = exit_request.code if isinstance(exit_request.code, int) else 1
    except BaseException:
        import traceback

        traceback.print_exc()
        code = 1
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(code)


def seed_generators(seed: int) -> None:
    """What a function draws is the same whenever it is called on the same unit."""
    random.seed(seed)
    np.random.seed(seed & 0xFFFF_FFFF)
    torch = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "manual_seed"):
        torch.manual_seed(seed & 0x7FFF_FFFF_FFFF_FFFF)


class Worker:
    """Takes units in memory that the data process shares, and gives back what the function makes of
    them.
    """

    def __init__(self, link: Link, setup: Frame) -> None:
        self._link = link
        self._fields = setup.fields
        self._input: slots.Memory | None = None
        self._outputs = Outputs(link, self._drop_input)
        self._failure: tuple[dict[str, Any], bytes] | None = None
        try:
            seed_generators(0)
            self._calls = _calls(setup)
            self._calls[0].on_all_given = self._drop_input
        except Exception as error:
            # Reported with the first unit; others may be done by then.
            self._failure = failure_of(error)

    def serve(self) -> None:
        """Until the link ends."""
        while True:
            frame = self._link.receive()
            if frame is None:
                return
            self._do(frame)

    def _do(self, frame: Frame) -> None:
        fields = frame.fields
        self._outputs.begin(fields["free"])
        for fd in frame.fds:
            self._input = slots.Memory(fd, fields["memory"])
            os.close(fd)
        if self._failure is not None:
            self._fail(*self._failure, 0, 0)
            return
        try:
            self._call(fields)
        except OSError as error:
            if self._outputs.broken:
                raise
            self._fail(*failure_of(error))
            return
        except Exception as error:
            self._fail(*failure_of(error))
            return
        keeps_input = self._input is not None and self._input.is_viewed()
        if keeps_input:
            self._input = None  # The function holds views of it.
        self._outputs.finish(keeps_input)

    def _call(self, fields: dict[str, Any]) -> None:
        self._calls[0].progress.at(0, 0)
        seed_generators(fields["seed"])
        if fields["form"] == "none":
            made = self._calls[0].of_source(fields["unit"])
        else:
            made = self._calls[0].outputs(self._block(fields))
        for call in self._calls[1:]:
            made = _applied(call, made)
        self._outputs.add_all(made)

    def _drop_input(self) -> None:
        """Unless somebody views it."""
        if self._input is not None:
            self._input.drop_pages()

    def _block(self, fields: dict[str, Any]) -> blocks.Block:
        assert self._input is not None
        memory = self._input.bytes[: fields["bytes"]]
        if fields["form"] == "slot":
            return blocks.ColumnsBlock(slots.read_columns(memory, self._fields["layout"]), fields["rows"])
        import pyarrow as pa

        return blocks.ArrowBlock(pa.ipc.open_stream(pa.py_buffer(memory)).read_next_batch(), may_write=True)

    def _fail(self, fields: dict[str, Any], pickled: bytes, begin: int | None = None, end: int | None = None) -> None:
        progress = self._calls[0].progress if self._failure is None else None
        self._outputs.give_up()
        self._link.send(
            "FunctionFailed",
            {
                **fields,
                "begin": progress.begin if progress else begin,
                "end": progress.end if progress else end,
                "while_making": self._failure is not None,
            },
            pickled,
        )


def _calls(setup: Frame) -> list[FunctionCalls]:
    """The functions of the first message; objects of classes are made."""
    made = []
    begin = 0
    for call in setup.fields["calls"]:
        end = begin + call["bytes"]
        packed = cloudpickle.loads(setup.blob[begin:end])
        made.append(FunctionCalls(packed, call["kind"], call["batch_size"], call["batch_format"], call["keys"]))
        begin = end
    return made


def _applied(call: FunctionCalls, outputs: Iterator[Any]) -> Iterator[Any]:
    """What a function makes of each output of the one before it, which nothing here holds."""

    def made_of(output: Any) -> Iterator[Any]:
        return call.outputs(blocks.block_of(output))

    return itertools.chain.from_iterable(map(made_of, outputs))
