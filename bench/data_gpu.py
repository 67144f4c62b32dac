"""Seconds of a training of a ResNet-50 on one GPU (bfloat16). Its images are decoded and resized to
224 x 224 meanwhile, or lie in the GPU's memory. Needs torchvision.

data_gpu.py headway|alone|loader steps|losses

With losses, the loop reads the loss of each step, and so waits for the GPU. The loader is torch's
DataLoader, with Pillow in a process for each CPU and batches in page-locked memory.
"""

from __future__ import annotations

import os
import sys
import time

import program
import torch

EPOCHS = 4  # The first is a warm-up and not timed.
CLASSES = 10
IMAGES = 6_144
SIDE = 224
BATCH = 256


def count():
    return max(3, round(IMAGES * program.size() / BATCH)) * BATCH


def train(epochs, reads_losses):
    """``epochs`` are iterables of uint8 tensors ``[batch, height, width, 3]`` on the GPU; returns
    the seconds and the images of all but the first.
    """
    from torchvision.models import resnet50

    torch.backends.cudnn.benchmark = True
    torch.manual_seed(0)
    model = resnet50(num_classes=CLASSES).cuda().to(memory_format=torch.channels_last)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    started, trained = 0.0, 0
    for number, batches in enumerate(epochs):
        if number == 1:
            torch.cuda.synchronize()
            started, trained = time.perf_counter(), 0
        for images in batches:
            labels = images[:, 0, 0, 0].long() % CLASSES
            inputs = images.permute(0, 3, 1, 2).to(torch.bfloat16) / 255
            optimizer.zero_grad()
            with torch.autocast("cuda", torch.bfloat16):
                loss = torch.nn.functional.cross_entropy(model(inputs), labels)
            loss.backward()
            optimizer.step()
            if reads_losses:
                loss.item()
            trained += len(images)
    torch.cuda.synchronize()
    return time.perf_counter() - started, trained


def loop(config):
    shard = program.train_module(config["library"]).get_dataset_shard("train")
    epochs = (
        (batch["image"] for batch in shard.iter_torch_batches(batch_size=BATCH, pin_memory=config["pins"]))
        for _ in range(EPOCHS)
    )
    program.note(config, "trained", train(epochs, config["reads_losses"]))


def epochs_in_memory():
    images = torch.randint(0, 256, (count(), SIDE, SIDE, 3), dtype=torch.uint8, device="cuda")
    return (images.split(BATCH) for _ in range(EPOCHS))


def epochs_of_loader():
    from data_feed import Decoded
    from reference_images import write_images

    loader = torch.utils.data.DataLoader(
        Decoded(write_images(count())), BATCH, num_workers=os.cpu_count(), persistent_workers=True, pin_memory=True
    )
    return ((batch.cuda(non_blocking=True) for batch in loader) for _ in range(EPOCHS))


def train_with_headway(reads_losses):
    import headway.data
    from reference_images import write_images

    images = headway.data.read_images(str(write_images(count())), size=(SIDE, SIDE), mode="RGB")
    folder = program.folder()
    config = {"pins": os.environ.get("BENCH_PINS", "1") == "1", "reads_losses": reads_losses}
    program.fit("headway", "torch", loop, config, folder, workers=1, use_gpu=True, datasets={"train": images})
    return program.noted(folder, "trained")[0]


def main(library, kind):
    reads_losses = kind == "losses"
    if library == "headway":
        seconds, trained = train_with_headway(reads_losses)
    else:
        seconds, trained = train(epochs_in_memory() if library == "alone" else epochs_of_loader(), reads_losses)
    assert trained == count() * (EPOCHS - 1), f"{trained} images were trained"
    program.finish(training_s=seconds, images_per_s=trained / seconds)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
