"""PyTorch: one process group over the ranks, prepared models and loaders, and plain code as
torchrun runs it.
"""

import os

import pytest
from headway import train
from headway.train.torch import TorchConfig, TorchTrainer, get_device, prepare_data_loader, prepare_model


def gather(value):
    """All ranks' values, in every rank."""
    import torch.distributed as dist

    values = [None] * dist.get_world_size()
    dist.all_gather_object(values, value)
    return values


@pytest.mark.both_starts
def test_plain_pytorch_code_finds_what_torchrun_would_give_it(fit_torch):
    def loop():
        import torch
        import torch.distributed as dist

        total = torch.tensor([float(os.environ["RANK"]) + 1])
        dist.all_reduce(total)
        names = ("RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "GROUP_RANK", "NODE_RANK")
        seen = {name: os.environ[name] for name in names}
        seen["dist"] = (dist.get_rank(), dist.get_world_size(), dist.get_backend())
        seen["device"] = str(get_device())
        seen["threads"] = torch.get_num_threads()
        assert os.environ["MASTER_ADDR"]
        assert int(os.environ["MASTER_PORT"]) > 0
        # What a script does that was written for torchrun: a second group from the environment's
        # variables.
        subgroup = dist.new_group([0, 1])
        dist.barrier(group=subgroup)
        return total.item(), gather(seen)

    import headway

    total, seen = fit_torch(loop).return_value
    assert total == 3.0
    cpus = headway.cluster_resources()["CPU"]
    for rank in range(2):
        assert seen[rank] == {
            "RANK": str(rank),
            "LOCAL_RANK": str(rank),
            "WORLD_SIZE": "2",
            "LOCAL_WORLD_SIZE": "2",
            "GROUP_RANK": "0",
            "NODE_RANK": "0",
            "dist": (rank, 2, "gloo"),
            "device": "cpu",
            "threads": max(1, int(cpus // 2)),
        }


def test_gradients_are_equal_and_every_rank_saves_the_model(fit_torch):
    def loop():
        import tempfile

        import torch

        rank = train.get_context().get_world_rank()
        torch.manual_seed(rank)
        model = prepare_model(torch.nn.Linear(4, 2))
        assert isinstance(model, torch.nn.parallel.DistributedDataParallel)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(2):
            optimizer.zero_grad()
            model(torch.randn(8, 4)).square().sum().backward()
            optimizer.step()
        gradients = gather(model.module.weight.grad.tolist())
        weights = gather(model.module.weight.tolist())
        with tempfile.TemporaryDirectory() as directory:
            torch.save(model.module.state_dict(), os.path.join(directory, "model.pt"))
            train.report({"rank": rank}, checkpoint=train.Checkpoint.from_directory(directory))
        return gradients, weights

    result = fit_torch(loop)
    gradients, weights = result.return_value
    assert gradients[0] == gradients[1]
    assert weights[0] == weights[1]
    import torch

    with result.checkpoint.as_directory() as directory:
        state = torch.load(os.path.join(directory, "model.pt"))
    assert state["weight"].tolist() == weights[0]


def test_models_that_need_no_wrapping(fit_torch):
    def loop():
        import torch

        frozen = torch.nn.Linear(2, 2).requires_grad_(False)
        assert prepare_model(frozen) is frozen
        with pytest.raises(TypeError, match=r"model is .* \(function\); allowed: a torch.nn.Module"):
            prepare_model(lambda x: x)
        with pytest.raises(TypeError, match=r"move_to_device is 1 \(int\); allowed: True, False or a torch.device"):
            prepare_model(frozen, move_to_device=1)
        with pytest.raises(TypeError, match=r"data_loader is \[1\] \(list\); allowed: a torch.utils.data.DataLoader"):
            prepare_data_loader([1])
        with pytest.raises(TypeError, match=r"add_dist_sampler is None"):
            prepare_data_loader(torch.utils.data.DataLoader([1]), add_dist_sampler=None)
        unused = torch.nn.Linear(2, 2)
        wrapped = prepare_model(unused, parallel_strategy_kwargs={"find_unused_parameters": True})
        assert wrapped.find_unused_parameters

    fit_torch(loop)


def test_one_rank_needs_neither_wrapping_nor_sampler(fit_torch):
    def loop():
        import torch

        model = torch.nn.Linear(2, 2)
        loader = torch.utils.data.DataLoader(list(range(10)), batch_size=2)
        assert prepare_model(model) is model
        assert prepare_data_loader(loader) is loader
        assert torch.distributed.is_initialized()
        assert torch.distributed.get_world_size() == 1

    fit_torch(loop, workers=1)


def test_each_rank_sees_its_share_of_the_data(fit_torch):
    def loop():
        import torch
        from torch.utils.data import (
            BatchSampler,
            DataLoader,
            DistributedSampler,
            RandomSampler,
            SequentialSampler,
            WeightedRandomSampler,
        )

        data = list(range(20))
        plain = prepare_data_loader(DataLoader(data, batch_size=3, drop_last=True))
        assert isinstance(plain.sampler, DistributedSampler)
        assert not plain.sampler.shuffle
        assert plain.drop_last
        in_order = gather([batch.tolist() for batch in plain])

        def collate(batch):
            return batch

        seeded = torch.Generator().manual_seed(1)
        original = DataLoader(
            data, batch_size=2, shuffle=True, collate_fn=collate, num_workers=2, prefetch_factor=3, timeout=50,
            worker_init_fn=print, persistent_workers=True, generator=seeded,
        )  # fmt: skip
        shuffled = prepare_data_loader(original)
        assert shuffled.sampler.shuffle
        for name in (
            "batch_size", "collate_fn", "num_workers", "prefetch_factor", "timeout", "worker_init_fn",
            "persistent_workers", "generator", "dataset",
        ):  # fmt: skip
            assert getattr(shuffled, name) == getattr(original, name), name
        epochs = []
        for epoch in range(2):
            shuffled.sampler.set_epoch(epoch)
            epochs.append(gather([number for batch in shuffled for number in batch]))

        weighted = DataLoader(data, sampler=WeightedRandomSampler([1.0] * 20, 4))
        assert prepare_data_loader(weighted) is weighted, "a user's sampler is left alone"
        batches = DataLoader(data, batch_sampler=BatchSampler(SequentialSampler(data), 4, False))
        by_batches = gather([batch.tolist() for batch in prepare_data_loader(batches)])
        replacing = DataLoader(data, sampler=RandomSampler(data, replacement=True, num_samples=4))
        assert prepare_data_loader(replacing) is replacing
        assert prepare_data_loader(original, add_dist_sampler=False) is original
        return in_order, by_batches, epochs

    in_order, by_batches, epochs = fit_torch(loop).return_value
    assert in_order == [[[0, 2, 4], [6, 8, 10], [12, 14, 16]], [[1, 3, 5], [7, 9, 11], [13, 15, 17]]]
    assert by_batches[0] == [[0, 2, 4, 6], [8, 10, 12, 14], [16, 18]]
    for shares in epochs:
        assert sorted(shares[0] + shares[1]) == list(range(20)), "each example once, in one rank"
    assert epochs[0] != epochs[1], "set_epoch shuffles anew"


def test_the_time_limit_and_the_backend_of_the_process_group(fit_torch):
    def loop():
        import threading

        import torch
        import torch.distributed as dist

        assert dist.get_backend() == "gloo"
        if dist.get_rank() == 0:
            with pytest.raises(RuntimeError, match=r"(?i)timed? ?out"):
                dist.all_reduce(torch.ones(1))
        else:
            # Longer than the other rank's limit, and not in the collective.
            threading.Event().wait(3)
        return "through"

    config = TorchConfig(backend="gloo", timeout_s=1, init_method="tcp")
    assert fit_torch(loop, torch_config=config).return_value == "through"


def test_a_backend_for_each_kind_of_device(fit_torch):
    def loop():
        import torch
        import torch.distributed as dist

        total = torch.ones(1)
        dist.all_reduce(total)
        return dist.get_backend(), total.item()

    assert fit_torch(loop, torch_config=TorchConfig(backend="cpu:gloo")).return_value == ("cpu:gloo", 2.0)


def test_nccl_among_several_backends_is_refused_where_ranks_share_a_gpu():
    from headway.train.torch.config import choose_backend

    both = "cpu:gloo,cuda:nccl"
    assert choose_backend(both, ["0"], gpus_shared=False) == both
    with pytest.raises(ValueError, match=r'TorchConfig.backend is "cpu:gloo,cuda:nccl" while the workers share'):
        choose_backend(both, ["0"], gpus_shared=True)


def test_nccl_is_refused_where_no_worker_has_a_gpu(fit):
    with pytest.raises(ValueError, match=r'TorchConfig.backend is "nccl" while the workers have no GPU'):
        fit(print, trainer=TorchTrainer, torch_config=TorchConfig(backend="nccl"), workers=1)


def test_a_backend_that_torch_does_not_have_is_refused_by_name():
    with pytest.raises(ValueError, match=r"has no backend 'no_such': it has gloo, nccl, .*; allowed: None, \"nccl\""):
        TorchConfig(backend="cpu:gloo,cuda:no_such")


def test_a_backend_that_the_script_has_registered_is_taken(script):
    status, output = script.run("""
    import torch.distributed as dist
    from headway.train.torch import TorchConfig

    dist.Backend.register_backend("own", lambda *_: None)
    print("TAKEN", TorchConfig(backend="own").backend)
    """)
    assert (status, output.splitlines()[-1]) == (0, "TAKEN own")


def test_two_fits_with_torch_in_one_process_and_the_second_is_warm(fit_torch):
    def loop():
        import torch
        import torch.distributed as dist

        total = torch.ones(1)
        dist.all_reduce(total)
        return total.item(), os.environ["MASTER_PORT"]

    first, second = fit_torch(loop).return_value, fit_torch(loop).return_value
    assert first[0] == second[0] == 2.0
    assert first[1] != second[1], "each run has a separate store"


@pytest.mark.gpu
def test_nccl_where_every_rank_has_a_gpu(fit_torch):
    import torch

    workers = min(2, torch.cuda.device_count())

    def loop():
        import torch.distributed as dist

        device = get_device()
        total = torch.ones(1, device=device)
        dist.all_reduce(total)
        model = prepare_model(torch.nn.Linear(2, 2))
        loader = prepare_data_loader(torch.utils.data.DataLoader(torch.ones(4, 2), batch_size=2))
        for batch in loader:
            assert batch.device == device
            model(batch).sum().backward()
        assert next(model.parameters()).device == device
        return total.item(), dist.get_backend(), str(device), torch.cuda.current_device()

    scaling = train.ScalingConfig(num_workers=workers, use_gpu=True)
    total, backend, device, current = fit_torch(loop, workers, scaling_config=scaling).return_value
    assert (total, backend, device, current) == (workers, "nccl", "cuda:0", 0)
