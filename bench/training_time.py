"""Seconds for two epochs of DDP training, start-up not counted: a small convolutional net on 28x28
images.

training_time.py headway|ray, or under torchrun: training_time.py torchrun
"""

from __future__ import annotations

import os
import sys
import time

import program

SAMPLES = 512
BATCH = 32
EPOCHS = 3  # The first one is a warm-up and not timed.


def make_model():
    from torch import nn

    return nn.Sequential(
        nn.Conv2d(1, 32, 3),
        nn.ReLU(),
        nn.Conv2d(32, 64, 3),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(7),
        nn.Flatten(),
        nn.Linear(64 * 7 * 7, 10),
    )


def time_training(wrap, rank):
    """Trains a model that ``wrap`` has made a DDP model; returns the seconds."""
    import torch

    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = wrap(make_model())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    random = torch.Generator().manual_seed(rank)
    images = torch.randn(SAMPLES, 1, 28, 28, generator=random).split(BATCH)
    labels = torch.randint(0, 10, (SAMPLES,), generator=random).split(BATCH)
    for epoch in range(EPOCHS):
        if epoch == 1:
            torch.distributed.barrier()
            started = time.perf_counter()
        for image_batch, label_batch in zip(images, labels, strict=True):
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(image_batch), label_batch).backward()
            optimizer.step()
    torch.distributed.barrier()
    return time.perf_counter() - started


def loop(config):
    import importlib

    import program

    train = program.train_module(config["library"])
    prepare_model = importlib.import_module(f"{config['library']}.train.torch").prepare_model
    rank = train.get_context().get_world_rank()
    training_s = time_training(prepare_model, rank)
    if rank == 0:
        program.note(config, "training", training_s)
    train.report({"training_s": training_s})


def run_under_torchrun():
    import torch
    import torch.distributed as dist

    dist.init_process_group("gloo")
    rank = int(os.environ["RANK"])
    training_s = time_training(torch.nn.parallel.DistributedDataParallel, rank)
    if rank == 0:
        program.finish(training_s=training_s)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    if sys.argv[1] == "torchrun":
        run_under_torchrun()
    else:
        program.fit(sys.argv[1], "torch", loop, {}, program.folder())
        program.finish(training_s=program.noted(program.folder(), "training")[0])
