"""What the tests of the data process share: plans, streams, and what is in batches."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import headway
import numpy as np
import processes
import pyarrow as pa

PROGRAM = str(Path(headway.__file__).parent / "bin" / "headway-data")


def data_processes():
    """The data processes that this process has started and that live: one that had other clients
    when it was let go is not reaped.
    """
    return [pid for pid in processes.children(os.getpid()) if Path(f"/proc/{pid}/comm").read_text() == "headway-data\n"]


def node(op, inputs=(), **args):
    return {"op": op, "inputs": list(inputs), "args": args}


def open_stream(client, plan, **consumption):
    return client.open(json.dumps({"plan": plan, "consumption": consumption}), [])


def ask(client, what, plan):
    answer, raw = client.ask(json.dumps({"what": what, "plan": plan}), [])
    return json.loads(answer), raw


def numbers(batch):
    """The values of the first column, a view of the batch's memory."""
    (offset, size) = batch.buffers[1]
    return np.frombuffer(batch, dtype=np.int64, count=size // 8, offset=offset)


def batches(stream):
    while (batch := stream.next()) is not None:
        yield batch


def all_numbers(stream):
    return [value for batch in batches(stream) for value in numbers(batch).tolist()]


def read_parquet(folder, **options):
    return node("read", format="parquet", paths=[str(folder)], options=options)


def table_of(batch):
    """The batch as a table of Arrow, of columns without children."""
    schema = pa.ipc.read_schema(pa.py_buffer(batch.schema))
    memory, buffers = pa.py_buffer(batch), iter(batch.buffers)
    columns = []
    for field, (length, nulls) in zip(schema, batch.nodes, strict=True):
        parts = [next(buffers) for _ in range(field.type.num_buffers)]
        columns.append(
            pa.Array.from_buffers(
                field.type, length, [memory.slice(offset, size) if offset else None for offset, size in parts], nulls
            )
        )
    return pa.Table.from_arrays(columns, schema=schema)


def deal(client, plan, ranks, **consumption):
    """The batches of each rank, read at the same time."""
    streams = [
        open_stream(client, plan, group="train", world_size=ranks, rank=rank, **consumption) for rank in range(ranks)
    ]
    found = [[] for _ in range(ranks)]

    def read(rank):
        found[rank] = [numbers(batch).tolist() for batch in batches(streams[rank])]

    threads = [threading.Thread(target=read, args=[rank]) for rank in range(ranks)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def resident(pid):
    """Bytes of memory of a process, without what it maps of files."""
    fields = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return (int(fields["RssAnon"].split()[0]) + int(fields["RssShmem"].split()[0])) * 1024
