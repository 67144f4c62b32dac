"""The same seed gives the same numbers: again, in every rank, and under torchrun."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from headway.train.torch import enable_reproducibility

# Loops in which dropout, shuffling and a data loader's processes draw random numbers, and
# torchrun's losses with them.
LOSSES = Path(__file__).parents[1] / "fixtures" / "losses"


@pytest.fixture
def loops(monkeypatch):
    """The module of the loops, for ranks too."""
    # Sums are split over threads, so their number counts; torchrun's default is one.
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.syspath_prepend(str(LOSSES))
    import loops_of_both

    return loops_of_both


def test_losses_are_those_of_torchrun_bit_for_bit(fit_torch, loops, tmp_path):
    output = tmp_path / "losses.json"
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    done = subprocess.run(
        [*command, LOSSES / "loops_of_both.py", output], capture_output=True, text=True, timeout=110, check=False
    )
    assert done.returncode == 0, done.stderr
    expected = json.loads(output.read_text())
    assert len(expected[0]) == 8
    assert expected[0] != expected[1]
    assert fit_torch(loops.plain).return_value == expected
    assert fit_torch(loops.prepared).return_value == expected


@pytest.mark.parametrize("loop", ["plain", "prepared"])
def test_losses_are_those_that_torchrun_once_had(fit_torch, loops, loop):
    """A change of Headway's, or of torch's, that moved both alike is seen here. Other processors
    round otherwise.
    """
    golden = [[float.fromhex(loss) for loss in rank] for rank in json.loads((LOSSES / "torchrun.json").read_text())]
    losses = [[float.fromhex(loss) for loss in rank] for rank in fit_torch(getattr(loops, loop)).return_value]
    for ours, theirs in zip(losses, golden, strict=True):
        assert ours == pytest.approx(theirs, rel=0.01)


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
