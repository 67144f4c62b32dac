"""Tokens a second from a corpus on disk to tensors ``[BATCH, TOKENS]`` of int64 in one training
process; nothing is trained.

data_tokens.py headway|ray parquet, headway npy, alone memory-map, mosaicml shards

Headway and Ray read Parquet, or Headway reads NumPy files. Alone, torch's DataLoader reads a
memory-mapped file. MosaicML Streaming reads its own format by a DataLoader. DataLoaders have as
many workers as the engines have threads.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys
import time

import program
import torch
from data_tables import write_tables, written

TOKENS = 2048
ROWS = 32_768
FILES = 16
BATCH = 16
VOCABULARY = 50_257
EPOCHS = 2  # The second is the one whose rate counts.


def rows_of_file():
    return max(2 * BATCH, round(ROWS * program.size()) // FILES)


def tokens_of(number):
    """One file's rows. Frequent tokens are as frequent as in texts."""
    import numpy

    random = numpy.random.default_rng(number)
    shape = (rows_of_file(), TOKENS)
    return (VOCABULARY ** random.random(shape, dtype=numpy.float32) - 1).astype(numpy.int32)


def write_parquet():
    import pyarrow as pa

    def table(number):
        values = pa.array(tokens_of(number).reshape(-1))
        offsets = pa.array(range(0, (rows_of_file() + 1) * TOKENS, TOKENS), pa.int32())
        return pa.table({"tokens": pa.ListArray.from_arrays(offsets, values)})

    return write_tables(f"tokens-parquet-{rows_of_file()}", FILES, table)


def write_arrays():
    import numpy

    def write(folder):
        for number in range(FILES):
            numpy.save(folder / f"{number:03}.npy", tokens_of(number))

    return written(f"tokens-npy-{rows_of_file()}", write)


def write_flat():
    def write(folder):
        with open(folder / "tokens.bin", "wb") as file:
            for number in range(FILES):
                file.write(tokens_of(number).tobytes())

    return written(f"tokens-flat-{rows_of_file()}", write) / "tokens.bin"


def streaming():
    """MosaicML Streaming. Its data sets of images need torchvision, whose wheel is one for CUDA and
    fails beside torch's for CPUs; tokens do without.
    """
    needed = {"": (), ".datasets": ("VisionDataset",), ".transforms": (), ".transforms.functional": ("to_tensor",)}
    for place, names in needed.items():
        spec = importlib.machinery.ModuleSpec(f"torchvision{place}", None, is_package=True)
        module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
        vars(module).update(dict.fromkeys(names, object))
    return importlib.import_module("streaming")


def write_shards():
    def write(folder):
        columns = {"tokens": f"ndarray:int32:{TOKENS}"}
        with streaming().MDSWriter(out=str(folder / "shards"), columns=columns) as writer:
            for number in range(FILES):
                for row in tokens_of(number):
                    writer.write({"tokens": row})

    return written(f"tokens-mds-{rows_of_file()}", write) / "shards"


def consume(epochs):
    """``epochs`` are iterables of tensors; returns the rows and seconds of the last."""
    for batches in epochs:
        rows, started = 0, time.perf_counter()
        for tokens in batches:
            assert tokens.dtype == torch.int64
            assert tokens.shape[1] == TOKENS
            rows += len(tokens)
    return rows, time.perf_counter() - started


def loop(config):
    shard = program.train_module(config["library"]).get_dataset_shard("train")
    name = config["column"]

    def epoch():
        return (batch[name] for batch in shard.iter_torch_batches(batch_size=BATCH, dtypes=torch.int64))

    program.note(config, "consumed", consume([epoch() for _ in range(EPOCHS)]))


class MappedTokens(torch.utils.data.Dataset):
    def __init__(self, path):
        import numpy

        self.tokens = numpy.memmap(path, numpy.int32, mode="r").reshape(-1, TOKENS)

    def __len__(self):
        return len(self.tokens)

    def __getitem__(self, index):
        return torch.from_numpy(self.tokens[index].astype("int64"))


def loader_of(dataset):
    return torch.utils.data.DataLoader(dataset, BATCH, num_workers=os.cpu_count() or 1, persistent_workers=True)


def streaming_loader(path):
    class Tokens(streaming().StreamingDataset):
        def __getitem__(self, index):
            return torch.from_numpy(super().__getitem__(index)["tokens"].astype("int64"))

    return loader_of(Tokens(local=str(path), batch_size=BATCH, shuffle=False))


def main(library, kind):
    rows = rows_of_file() * FILES
    if library == "alone":
        got, seconds = consume([loader_of(MappedTokens(write_flat()))] * EPOCHS)
    elif library == "mosaicml":
        got, seconds = consume([streaming_loader(write_shards())] * EPOCHS)
    else:
        data = program.data_module(library)
        if kind == "npy":
            table, column = data.read_numpy(str(write_arrays())), "data"
        else:
            table, column = data.read_parquet(str(write_parquet())), "tokens"
        program.fit(library, "plain", loop, {"column": column}, program.folder(), workers=1, datasets={"train": table})
        got, seconds = program.noted(program.folder(), "consumed")[0]
    assert got == rows, f"{got} of {rows} rows arrived"
    program.finish(tokens_per_s=got * TOKENS / seconds)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
