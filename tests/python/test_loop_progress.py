"""What is counted of a training loop, and that counting changes nothing in it."""

import json
import os
import re
import types

import pytest
from headway import train
from headway.train.torch import prepare_data_loader, prepare_model
from headway.train.torch._collective_times import DeviceTimes


def test_a_rank_that_is_slow_within_a_step_is_named_with_its_share_outside_of_collectives(fit_torch, hears, release):
    path, let_go = release
    ear = hears("slower than the other ranks", let_go)

    def loop():
        import time

        import torch
        import torch.distributed as dist

        torch.set_num_threads(1)
        rank = train.get_context().get_world_rank()
        model = prepare_model(torch.nn.Linear(8, 1))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        ended = torch.zeros(1)
        while not ended:
            busy_until = time.monotonic() + 0.06 * rank
            while time.monotonic() < busy_until:
                pass
            model(torch.ones(4, 8)).sum().backward()
            optimizer.step()
            ended += os.path.exists(path)
            dist.all_reduce(ended)  # By now the ranks are together.
        train.report({})

    result = fit_torch(loop)
    warned = re.search(
        r"rank 1 \(pid \d+ on .+\) is (\d+\.\d) x slower than the other ranks, which wait for it: of an optimizer step "
        r"its own work takes \d+\.\d ms, that of the others \d+\.\d ms; it is (\d+) % of its time outside of "
        r"collectives, the others (\d+) %",
        ear.heard,
    )
    assert warned, ear.heard
    times, own, others = map(float, warned.groups())
    assert times >= 2
    assert own > 70
    assert others < 50
    with open(os.path.join(result.path, "step_times_1.json")) as file:
        kept = json.load(file)
    assert kept["attempt"] == 1
    assert [each["rank"] for each in kept["ranks"]] == [0, 1]
    for rank in kept["ranks"]:
        assert rank["steps"]["count"] > 50
        assert 0.05 < rank["steps"]["median_s"] <= rank["steps"]["p95_s"] <= rank["steps"]["max_s"]
        assert rank["steps"]["max_s"] < rank["steps"]["total_s"]
    assert kept["ranks"][0]["waiting_share"] > 0.5
    assert kept["ranks"][1]["waiting_share"] < 0.3
    assert result.step_times == {1: kept["ranks"]}


@pytest.mark.parametrize("strategy", ["fsdp", "fsdp2"])
def test_the_share_in_collectives_of_a_sharded_model_on_cpus_is_known_for_fully_shard(fit_torch, strategy):
    def loop():
        import time

        import torch

        torch.set_num_threads(1)
        rank = train.get_context().get_world_rank()
        model = prepare_model(torch.nn.Linear(8, 8), parallel_strategy=strategy)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(20):
            busy_until = time.monotonic() + 0.05 * rank
            while time.monotonic() < busy_until:
                pass
            model(torch.ones(4, 8)).sum().backward()
            optimizer.step()
        train.report({})

    fast, slow = fit_torch(loop).step_times[1]
    assert fast["steps"]["count"] == slow["steps"]["count"] == 19
    if strategy == "fsdp":
        assert (fast["waiting_share"], slow["waiting_share"]) == (None, None)
    else:
        assert fast["waiting_share"] > 0.5
        assert slow["waiting_share"] < 0.4


class Device:
    """A device that comes to an event when it is said so: each is one second after the last."""

    def __init__(self):
        self.events, self.come_to = [], 0

    def record(self):
        self.events.append(Event(self, len(self.events)))
        return self.events[-1]


class Event:
    def __init__(self, device, number):
        self.device, self.number = device, number

    def query(self):
        return self.number < self.device.come_to

    def elapsed_time(self, later):
        return 1000.0 * (later.number - self.number)


@pytest.fixture
def counted(monkeypatch):
    """Seconds in collectives, as they are counted."""
    from headway import _session

    seconds = []
    core = types.SimpleNamespace(in_collectives=seconds.append)
    monkeypatch.setattr(_session, "active_core", lambda: core)
    return seconds


def test_waiting_of_a_device_is_counted_when_the_device_has_come_to_it_and_not_waited_for(counted):
    device = Device()
    times = DeviceTimes(device.record)
    for _ in range(2):
        times.end(times.begin())
    assert counted == [0.0, 0.0], "each step has collectives, how long is not known yet"
    device.come_to = 4
    times.end(times.begin())
    assert counted == [0.0, 0.0, 0.0, 1.0, 1.0]


def test_a_device_that_stays_behind_or_takes_no_events_leaves_steps_without_a_time(counted):
    device = Device()
    times = DeviceTimes(device.record)
    for _ in range(100):
        times.end(times.begin())
    assert counted == [0.0] * 64
    nowhere = DeviceTimes(lambda: None)
    nowhere.end(nowhere.begin())
    assert counted == [0.0] * 64


def test_a_prepared_model_trains_bit_for_bit_as_plain_ddp_and_takes_a_hook_of_the_user_s(fit_torch):
    def loop():
        import torch
        from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
        from torch.nn.parallel import DistributedDataParallel

        torch.set_num_threads(1)

        def weights_after(wrap):
            torch.manual_seed(0)
            layers = [torch.nn.Linear(16, 16) for _ in range(6)]
            model = wrap(torch.nn.Sequential(*layers, torch.nn.Linear(16, 1)))
            optimizer = torch.optim.AdamW(model.parameters())
            samples = torch.Generator().manual_seed(train.get_context().get_world_rank())
            for step in range(12):
                batch = torch.randn(8, 16, generator=samples)
                if step % 3 == 0:  # Accumulated: no collective in this backward pass.
                    with model.no_sync():
                        model(batch).square().mean().backward()
                    continue
                model(batch).square().mean().backward()
                optimizer.step()
                optimizer.zero_grad()
            return [parameter.detach() for parameter in model.parameters()]

        def with_hook(model):
            prepared = prepare_model(model, parallel_strategy_kwargs={"bucket_cap_mb": 0.001})
            prepared.register_comm_hook(None, default_hooks.allreduce_hook)
            return prepared

        plain = weights_after(lambda model: DistributedDataParallel(model, bucket_cap_mb=0.001))
        small_buckets = {"parallel_strategy_kwargs": {"bucket_cap_mb": 0.001}}
        for wrap in (lambda model: prepare_model(model, **small_buckets), with_hook):
            assert all(map(torch.equal, plain, weights_after(wrap)))

    fit_torch(loop)


@pytest.mark.parametrize("workers", [0, 1, 2])
def test_passes_are_numbered_and_their_batches_counted(fit_torch, workers):
    def loop():
        import torch
        from headway import _session
        from torch.utils.data import DataLoader, IterableDataset, WeightedRandomSampler

        heard = []

        class Counts:
            def begin_pass(self, loader, epoch, batches, batch_size, samples):
                heard.append((epoch, batches, batch_size, samples))

            def next_batch(self, loader):
                heard.append("batch")

            def end_pass(self, loader):
                heard.append("end")

        real = _session.active_core
        _session.active_core = Counts
        try:

            def passes(loader, named=None):
                heard.clear()
                if named is not None:
                    loader.set_epoch(named)
                batches = len(list(loader))
                assert heard[1:] == ["batch"] * batches + ["end"]
                return heard[0]

            ranks = train.get_context().get_world_size()
            samples = 12 // ranks
            loader = prepare_data_loader(DataLoader(torch.arange(12), batch_size=4, shuffle=True))
            assert type(loader).__name__ == "DataLoader"
            assert prepare_data_loader(loader, add_dist_sampler=False) is loader, "it counts once"
            shape = (len(loader), 4, samples)
            assert [passes(loader) for _ in range(2)] == [(0, *shape), (1, *shape)]
            assert [passes(loader, 7), passes(loader)] == [(7, *shape), (8, *shape)]
            own = prepare_data_loader(DataLoader([1, 2], sampler=WeightedRandomSampler([1.0, 1.0], 2)))
            assert [passes(own), passes(own, 3)] == [(0, 2, 1, 2), (3, 2, 1, 2)]

            class Stream(IterableDataset):
                def __iter__(self):
                    return iter(range(3))

            assert passes(prepare_data_loader(DataLoader(Stream()))) == (0, None, 1, None)
        finally:
            _session.active_core = real

    fit_torch(loop, workers=workers)


def busy_passes(forward_s, backward_s):
    """A module in whose forward and backward passes time goes by, between two layers."""
    import time

    import torch

    def wait(seconds):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            pass

    class Busy(torch.autograd.Function):
        @staticmethod
        def forward(_context, values):
            wait(forward_s)
            return values.clone()

        @staticmethod
        def backward(_context, gradients):
            wait(backward_s)
            return gradients

    class Middle(torch.nn.Module):
        def forward(self, values):
            return Busy.apply(values)

    return torch.nn.Sequential(torch.nn.Linear(8, 8), Middle(), torch.nn.Linear(8, 1))


@pytest.mark.parametrize("accumulates", [False, True])
def test_forward_and_backward_passes_of_a_ddp_model_are_parts_of_its_steps(fit_torch, accumulates):
    def loop():
        import contextlib

        import torch

        torch.set_num_threads(1)
        model = prepare_model(busy_passes(0.01, 0.03))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        passes = 3 if accumulates else 1
        for _ in range(90 // passes):
            for number in range(passes):
                with model.no_sync() if number < passes - 1 else contextlib.nullcontext():
                    model(torch.ones(4, 8)).sum().backward()
            optimizer.step()
            optimizer.zero_grad()
        train.report({})

    for rank in fit_torch(loop).step_times[1]:
        count = rank["steps"]["count"] * (3 if accumulates else 1)
        assert 0.009 * count < rank["forward_s"] < 0.025 * count
        assert 0.029 * count < rank["backward_s"] < 0.045 * count
        assert rank["forward_s"] + rank["backward_s"] < 1.1 * rank["steps"]["total_s"]


def test_passes_of_a_model_that_is_called_twice_for_a_gradient_are_not_known(fit_torch):
    def loop():
        import torch

        torch.set_num_threads(1)
        model = prepare_model(busy_passes(0.01, 0.01))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(50):
            (model(torch.ones(4, 8)) + model(torch.zeros(4, 8))).sum().backward()
            optimizer.step()
            optimizer.zero_grad()
        train.report({})

    for rank in fit_torch(loop).step_times[1]:
        assert rank["steps"]["count"] == 49
        assert rank["forward_s"] is None
        assert rank["backward_s"] is None
