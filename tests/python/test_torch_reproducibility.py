"""The same seed gives the same numbers: again, in every rank, and under torchrun."""

import json
import os
import subprocess
import sys
import textwrap

import pytest
from headway.train.torch import enable_reproducibility

# Dropout, shuffling and a data loader's processes draw random numbers here.
LOOPS = """
import json, os, random, sys
import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, Dataset, DistributedSampler


class Noisy(Dataset):
    def __init__(self):
        self.rows = torch.randn(32, 4)

    def __len__(self):
        return 32

    def __getitem__(self, index):
        return self.rows[index] + random.random() * torch.rand(4)


def build():
    torch.manual_seed(7)
    model = torch.nn.Sequential(torch.nn.Linear(4, 16), torch.nn.Dropout(0.5), torch.nn.Linear(16, 1))
    return model, Noisy()


def epochs(model, loader):
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    losses = []
    for epoch in range(2):
        loader.sampler.set_epoch(epoch)
        for batch in loader:
            loss = model(batch).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item().hex())
    every = [None] * dist.get_world_size()
    dist.all_gather_object(every, losses)
    return every


def plain():
    model, data = build()
    model = torch.nn.parallel.DistributedDataParallel(model)
    return epochs(model, DataLoader(data, batch_size=4, num_workers=1, sampler=DistributedSampler(data)))


def prepared():
    from headway.train.torch import prepare_data_loader, prepare_model

    model, data = build()
    return epochs(prepare_model(model), prepare_data_loader(DataLoader(data, 4, shuffle=True, num_workers=1)))


if __name__ == "__main__":
    dist.init_process_group("gloo")
    losses = plain()
    if dist.get_rank() == 0:
        with open(sys.argv[1], "w") as file:
            json.dump(losses, file)
    dist.barrier()
    os._exit(0)  # Gloo's threads now and then abort a process that ends in the usual way.
"""


def test_losses_are_those_of_torchrun_bit_for_bit(fit_torch, tmp_path, monkeypatch):
    script, output = tmp_path / "loops_of_both.py", tmp_path / "losses.json"
    script.write_text(textwrap.dedent(LOOPS))
    # Sums are split over threads, so their number counts; torchrun's default is one.
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.syspath_prepend(str(tmp_path))
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    done = subprocess.run([*command, script, output], capture_output=True, text=True, timeout=110, check=False)
    assert done.returncode == 0, done.stderr
    expected = json.loads(output.read_text())

    import loops_of_both

    assert len(expected[0]) == 8
    assert expected[0] != expected[1]
    assert fit_torch(loops_of_both.plain).return_value == expected
    assert fit_torch(loops_of_both.prepared).return_value == expected


def test_all_generators_are_seeded_alike_in_every_rank_and_run(fit_torch):
    def draw(config):
        import random

        import numpy
        import torch
        import torch.distributed as dist
        from torch.utils.data import DataLoader

        enable_reproducibility(**config)
        assert torch.are_deterministic_algorithms_enabled()
        assert not torch.backends.cudnn.benchmark
        assert os.environ["CUBLAS_WORKSPACE_CONFIG"] == ":4096:8"

        class Drawing(torch.utils.data.Dataset):
            def __len__(self):
                return 2

            def __getitem__(self, index):
                return torch.tensor([random.random(), numpy.random.random(), torch.rand(1).item()], dtype=torch.float64)

        drawn = [random.random(), numpy.random.random(), torch.rand(1).item()]
        drawn += [number for batch in DataLoader(Drawing(), num_workers=2) for number in batch[0].tolist()]
        every = [None] * dist.get_world_size()
        dist.all_gather_object(every, drawn)
        return every

    first = fit_torch(draw).return_value
    again = fit_torch(draw).return_value
    other = fit_torch(draw, config={"seed": 1}).return_value
    assert len(first[0]) == 9
    assert len(set(first[0])) == 9, "no two generators draw the same"
    assert first == again
    assert first[0] == first[1]
    assert not set(first[0]) & set(other[0])


@pytest.mark.parametrize(("seed", "kind"), [("1", TypeError), (True, TypeError), (-1, ValueError), (2**31, ValueError)])
def test_a_seed_that_is_none_is_refused(seed, kind):
    with pytest.raises(kind, match=r"seed is .*; allowed: an integer from 0 to 2\*\*31 - 1"):
        enable_reproducibility(seed)


def test_xla_devices_are_refused_in_words():
    from headway.train.torch.xla import TorchXLAConfig

    with pytest.raises(ImportError, match=r"TorchXLAConfig needs torch_xla, which is not installed. Headway trains on"):
        TorchXLAConfig()
