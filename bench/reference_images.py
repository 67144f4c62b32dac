"""Seconds for two epochs of a ResNet-18 on JPEG files, which one worker trains: files are read,
decoded and resized meanwhile.

reference_images.py headway|ray|alone

Alone, torch's DataLoader decodes with Pillow, in one process beside the training.
"""

from __future__ import annotations

import multiprocessing
import sys
import time
from functools import partial
from pathlib import Path

import program
import torch
from resnet import make_resnet

IMAGES = 128
STORED = (400, 300)
SIDE = 128
BATCH = 16
EPOCHS = 2
CLASSES = 10


def write_images(count):
    """Returns their folder. Smooth colours with some noise: of the size of a photo's file."""
    folder = program.data_folder() / f"images-{count}"
    if folder.exists():
        return folder
    begun = folder.with_suffix(".begun")
    begun.mkdir(parents=True, exist_ok=True)
    with multiprocessing.get_context("spawn").Pool() as pool:
        pool.map(partial(write_image, begun), range(count), chunksize=32)
    return begun.rename(folder)


def write_image(folder, number):
    import numpy
    from PIL import Image

    random = numpy.random.default_rng(number)
    coarse = Image.fromarray(random.integers(0, 256, (12, 16, 3), dtype=numpy.uint8))
    noise = random.integers(-12, 13, (STORED[1], STORED[0], 3), dtype=numpy.int16)
    pixels = (numpy.asarray(coarse.resize(STORED)) + noise).clip(0, 255).astype(numpy.uint8)
    Image.fromarray(pixels).save(folder / f"{number:05}.jpg", quality=90)


def train(epochs):
    """``epochs`` are iterables of uint8 tensors ``[batch, height, width, 3]``; returns the seconds
    and the images.
    """
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = make_resnet(CLASSES)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    count = 0
    started = time.perf_counter()
    for batches in epochs:
        for images in batches:
            labels = images[:, 0, 0, 0].long() % CLASSES
            inputs = images.permute(0, 3, 1, 2).float() / 255
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(inputs), labels).backward()
            optimizer.step()
            count += len(images)
    return time.perf_counter() - started, count


def loop(config):
    shard = program.train_module(config["library"]).get_dataset_shard("train")
    epochs = (
        (batch["image"] for batch in shard.iter_torch_batches(batch_size=BATCH, drop_last=False)) for _ in range(EPOCHS)
    )
    program.note(config, "trained", train(epochs))


class Files(torch.utils.data.Dataset):
    def __init__(self, folder):
        self.files = sorted(Path(folder).iterdir())

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        import numpy
        from PIL import Image

        with Image.open(self.files[index]) as image:
            return torch.from_numpy(numpy.array(image.convert("RGB").resize((SIDE, SIDE), Image.Resampling.BILINEAR)))


def main(library):
    count = max(BATCH, round(IMAGES * program.size()))
    folder = write_images(count)
    if library == "alone":
        loader = torch.utils.data.DataLoader(Files(folder), BATCH, num_workers=1, persistent_workers=True)
        seconds, trained = train([loader] * EPOCHS)
    else:
        images = program.data_module(library).read_images(str(folder), size=(SIDE, SIDE), mode="RGB")
        program.fit(library, "torch", loop, {}, program.folder(), workers=1, datasets={"train": images})
        seconds, trained = program.noted(program.folder(), "trained")[0]
    assert trained == count * EPOCHS, f"{trained} of {count * EPOCHS} images were trained"
    program.finish(training_s=seconds, images_per_s=trained / seconds)


if __name__ == "__main__":
    main(sys.argv[1])
