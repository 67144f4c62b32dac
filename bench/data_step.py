"""Seconds of a training in one process whose batches a data set feeds, or that has its tensors in
memory.

data_step.py headway|alone digits|images

Digits are 8 x 8 numbers in Parquet, images JPEG files that are decoded and resized to 224 x 224.
"""

from __future__ import annotations

import sys
import time

import program
import torch
from data_tables import write_tables

EPOCHS = 3  # The first is a warm-up and not timed.
CLASSES = 10
DIGITS = 25_600
IMAGES = 64
SIDE = 224
BATCH = {"digits": 32, "images": 8}


def make_model(kind):
    if kind == "images":
        from resnet import make_resnet

        return make_resnet(CLASSES)
    from torch import nn

    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1),
        nn.ReLU(),
        nn.Conv2d(16, 32, 3, padding=1),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(32 * 4 * 4, CLASSES),
    )


def count(kind):
    return max(3 * BATCH[kind], round({"digits": DIGITS, "images": IMAGES}[kind] * program.size()))


def digits_of(rows):
    import numpy

    random = numpy.random.default_rng(0)
    return random.random((rows, 64), dtype="float32"), random.integers(0, CLASSES, rows)


def write_digits():
    import pyarrow as pa

    def table(_):
        pixels, labels = digits_of(count("digits"))
        values = pa.FixedSizeListArray.from_arrays(pa.array(pixels.reshape(-1)), 64)
        return pa.table({"image": values, "label": labels})

    return write_tables(f"digits-{count('digits')}", 1, table)


def train(kind, epochs):
    """``epochs`` are iterables of images and labels; returns the seconds and the rows of all but
    the first.
    """
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = make_model(kind)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    started, rows = 0.0, 0
    for number, batches in enumerate(epochs):
        if number == 1:
            started, rows = time.perf_counter(), 0
        for images, labels in batches:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(images), labels).backward()
            optimizer.step()
            rows += len(labels)
    return time.perf_counter() - started, rows


def inputs_of(kind, images):
    """What the model gets; images are made floats in each step, whatever feeds them."""
    return images.reshape(-1, 1, 8, 8) if kind == "digits" else images.permute(0, 3, 1, 2).float() / 255


def pair(kind, batch):
    images = batch["image"]
    labels = batch["label"] if kind == "digits" else images[:, 0, 0, 0].long() % CLASSES
    return inputs_of(kind, images), labels


def loop(config):
    kind = config["data"]
    shard = program.train_module(config["library"]).get_dataset_shard("train")
    epochs = ((pair(kind, batch) for batch in shard.iter_torch_batches(batch_size=BATCH[kind])) for _ in range(EPOCHS))
    program.note(config, "trained", train(kind, epochs))


def batches_in_memory(kind):
    if kind == "digits":
        columns = dict(zip(("image", "label"), map(torch.from_numpy, digits_of(count(kind))), strict=True))
    else:
        shape = (count(kind), SIDE, SIDE, 3)
        columns = {"image": torch.randint(0, 256, shape, dtype=torch.uint8, generator=torch.Generator().manual_seed(0))}
    for begin in range(0, count(kind), BATCH[kind]):
        yield pair(kind, {name: column[begin : begin + BATCH[kind]] for name, column in columns.items()})


def open_data(kind):
    import headway.data

    if kind == "digits":
        return headway.data.read_parquet(str(write_digits()))
    from reference_images import write_images

    return headway.data.read_images(str(write_images(count(kind))), size=(SIDE, SIDE), mode="RGB")


def main(library, kind):
    if library == "alone":
        seconds, rows = train(kind, (batches_in_memory(kind) for _ in range(EPOCHS)))
    else:
        data = {"train": open_data(kind)}
        program.fit(library, "torch", loop, {"data": kind}, program.folder(), workers=1, datasets=data)
        seconds, rows = program.noted(program.folder(), "trained")[0]
    assert rows == count(kind) * (EPOCHS - 1), f"{rows} rows were trained"
    program.finish(training_s=seconds)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
