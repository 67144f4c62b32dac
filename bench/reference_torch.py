"""Seconds for two epochs of DDP training on images of FashionMNIST's shape, start-up not counted.

reference_torch.py headway|ray, or under torchrun: reference_torch.py torchrun
"""

from __future__ import annotations

import importlib
import sys
import time

import program
import torch
from torch import nn

IMAGES = 30_000  # Half of FashionMNIST, of 28 by 28 pixels.
BATCH = 32  # Of each rank.
EPOCHS = 2


def make_model():
    first, second, last = nn.Linear(28 * 28, 512), nn.Linear(512, 512), nn.Linear(512, 10)
    return nn.Sequential(nn.Flatten(), first, nn.ReLU(), second, nn.ReLU(), last)


def make_data(count):
    random = torch.Generator().manual_seed(0)
    images = torch.randn(count, 1, 28, 28, generator=random)
    return torch.utils.data.TensorDataset(images, torch.randint(0, 10, (count,), generator=random))


def train(model, loader):
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    torch.distributed.barrier()
    started = time.perf_counter()
    for epoch in range(EPOCHS):
        loader.sampler.set_epoch(epoch)
        for images, labels in loader:
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(images), labels).backward()
            optimizer.step()
    torch.distributed.barrier()
    return time.perf_counter() - started


def prepare(count):
    torch.set_num_threads(1)
    torch.manual_seed(0)
    return make_model(), make_data(count)


def loop(config):
    torch_of_library = importlib.import_module(f"{config['library']}.train.torch")
    model, data = prepare(config["count"])
    loader = torch_of_library.prepare_data_loader(torch.utils.data.DataLoader(data, BATCH, shuffle=True))
    training_s = train(torch_of_library.prepare_model(model), loader)
    if program.train_module(config["library"]).get_context().get_world_rank() == 0:
        program.note(config, "training", training_s)


def run_under_torchrun(count):
    torch.distributed.init_process_group("gloo")
    model, data = prepare(count)
    sampler = torch.utils.data.distributed.DistributedSampler(data)
    loader = torch.utils.data.DataLoader(data, BATCH, sampler=sampler)
    training_s = train(nn.parallel.DistributedDataParallel(model), loader)
    if torch.distributed.get_rank() == 0:
        program.finish(training_s=training_s)
    torch.distributed.barrier()
    torch.distributed.destroy_process_group()


def main(library):
    count = max(BATCH * program.WORKERS, round(IMAGES * program.size()))
    if library == "torchrun":
        run_under_torchrun(count)
        return
    program.fit(library, "torch", loop, {"count": count}, program.folder())
    program.finish(training_s=program.noted(program.folder(), "training")[0])


if __name__ == "__main__":
    main(sys.argv[1])
