"""Prepared models: replicated or sharded over the ranks, and the same parameters in all of them."""

import threading

import pytest
from headway import train
from headway.train.torch import TorchCheckpoint, get_devices, prepare_model


def gathered(value):
    """All ranks' values, in every rank."""
    import torch.distributed as dist

    values = [None] * dist.get_world_size()
    dist.all_gather_object(values, value)
    return values


def build(seed):
    """A small model, other numbers for other seeds."""
    import torch

    torch.manual_seed(seed)
    return torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.BatchNorm1d(8), torch.nn.Tanh(), torch.nn.Linear(8, 1))


def steps(model, rank):
    """Three steps on data that only this rank has; returns the losses."""
    import torch

    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    generator = torch.Generator().manual_seed(rank)
    losses = []
    for _ in range(3):
        loss = model(torch.randn(8, 4, generator=generator)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def train_with(strategy):
    """In a rank: trains with a strategy; the losses, and the parameters that came out, whole."""
    import torch
    from torch.distributed.fsdp import FullyShardedDataParallel
    from torch.distributed.tensor import DTensor

    rank = train.get_context().get_world_rank()
    model = prepare_model(build(seed=rank), parallel_strategy=strategy)
    elements = 0
    for parameter in model.parameters():
        local = parameter.to_local() if isinstance(parameter, DTensor) else parameter
        elements += local.numel()
    losses = gathered(steps(model, rank))
    state = model.module.state_dict() if strategy == "ddp" else model.state_dict()
    whole = [value.full_tensor() if isinstance(value, DTensor) else value for value in state.values()]
    trained = torch.cat([value.double().flatten() for value in whole[:2]]).tolist()
    kind = "fsdp" if isinstance(model, FullyShardedDataParallel) else type(model).__name__
    return losses, trained, elements, kind


@pytest.mark.parametrize(("strategy", "kind"), [("fsdp", "fsdp"), ("fsdp2", "FSDPSequential")])
def test_sharded_ranks_learn_what_replicas_learn_with_half_of_the_parameters_each(fit_torch, strategy, kind):
    def loop():
        return train_with("ddp"), train_with(strategy)

    (losses, trained, elements, _), (sharded_losses, sharded_trained, share, wrapped) = fit_torch(loop).return_value
    assert wrapped == kind
    assert share < 0.6 * elements
    # The sums of gradients are rounded in another order.
    for rank in range(2):
        assert sharded_losses[rank] == pytest.approx(losses[rank], rel=1e-4)
    assert sharded_trained == pytest.approx(trained, rel=1e-3, abs=1e-5)
    assert losses[0] != losses[1], "each rank has other data"


def test_rank_0s_parameters_and_buffers_are_sent_to_all_with_every_strategy(fit_torch):
    def loop():
        import torch
        from torch.distributed.tensor import DTensor

        rank = train.get_context().get_world_rank()
        found = {}
        for strategy in ("ddp", "fsdp", "fsdp2"):
            model = build(seed=rank)
            model[1].running_mean.fill_(rank + 5)
            model = prepare_model(model, parallel_strategy=strategy)
            state = model.module.state_dict() if strategy == "ddp" else model.state_dict()
            values = [v.full_tensor() if isinstance(v, DTensor) else v for v in state.values()]
            found[strategy] = gathered(torch.cat([value.double().flatten() for value in values]).tolist())
        first = build(seed=0)
        first[1].running_mean.fill_(5)
        return found, torch.cat([value.double().flatten() for value in first.state_dict().values()]).tolist()

    found, first = fit_torch(loop).return_value
    assert found == {strategy: [first, first] for strategy in ("ddp", "fsdp", "fsdp2")}


def test_keyword_arguments_go_to_the_strategy(fit_torch):
    def loop():
        import torch
        from torch.distributed.fsdp import MixedPrecisionPolicy

        policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16)
        model = prepare_model(
            torch.nn.Linear(4, 2), parallel_strategy="fsdp2", parallel_strategy_kwargs={"mp_policy": policy}
        )
        assert model(torch.ones(1, 4)).dtype is torch.bfloat16
        model = prepare_model(
            torch.nn.Linear(4, 2), parallel_strategy="fsdp", parallel_strategy_kwargs={"use_orig_params": True}
        )
        assert [name.split(".")[-1] for name, _ in model.named_parameters()] == ["weight", "bias"]
        with pytest.raises(TypeError, match=r"parallel_strategy_kwargs is \[1\] \(list\); allowed: a dict"):
            prepare_model(torch.nn.Linear(4, 2), parallel_strategy_kwargs=[1])
        with pytest.raises(TypeError, match="no_such"):
            prepare_model(torch.nn.Linear(4, 2), parallel_strategy_kwargs={"no_such": 1})

    fit_torch(loop)


def test_where_a_model_is_moved_and_what_is_refused(fit_torch):
    def loop():
        import torch

        model = torch.nn.Linear(2, 2)
        assert prepare_model(model, parallel_strategy=None) is model
        moved = prepare_model(torch.nn.Linear(2, 2), move_to_device=torch.device("meta"), parallel_strategy=None)
        assert moved.weight.device.type == "meta"
        stays = torch.nn.Linear(2, 2, device="meta")
        assert prepare_model(stays, move_to_device=False, parallel_strategy=None).weight.device.type == "meta"
        with pytest.raises(TypeError, match=r"move_to_device is 'cpu' \(str\); allowed: True, False or a torch.device"):
            prepare_model(model, move_to_device="cpu")
        with pytest.raises(ValueError, match=r"parallel_strategy is 'zero'; allowed: \"ddp\", \"fsdp\", \"fsdp2\" or"):
            prepare_model(model, parallel_strategy="zero")
        with pytest.raises(TypeError, match=r"a name in parallel_strategy_kwargs is 1 \(int\); allowed: names of keyw"):
            prepare_model(model, parallel_strategy_kwargs={1: 2})
        frozen = torch.nn.Linear(2, 2).requires_grad_(False)
        sharded = prepare_model(frozen, parallel_strategy="fsdp2")
        assert sharded(torch.ones(1, 2)).shape == (1, 2)
        return [str(device) for device in get_devices()]

    assert fit_torch(loop).return_value == ["cpu"]


def test_one_rank_is_wrapped_by_no_strategy(fit_torch):
    def loop():
        import torch

        model = torch.nn.Linear(2, 2)
        for strategy in ("ddp", "fsdp", "fsdp2", None):
            assert prepare_model(model, parallel_strategy=strategy) is model

    fit_torch(loop, workers=1)


@pytest.mark.parametrize("call", [get_devices, lambda: prepare_model(object())])
def test_outside_of_a_training_function_there_is_an_error(call):
    with pytest.raises(RuntimeError, match=r"was called outside of a training function"):
        call()


def test_a_models_checkpoint_goes_through_a_report_and_comes_back(fit_torch):
    def loop():
        import torch

        model = prepare_model(build(seed=7))
        saved = None
        if train.get_context().get_world_rank() == 0:
            saved = TorchCheckpoint.from_state_dict(model.state_dict())
        train.report({}, saved, delete_local_checkpoint_after_upload=True)
        checkpoint = TorchCheckpoint(train.get_checkpoint().path)
        loaded = checkpoint.get_model(build(seed=8))
        assert all(torch.equal(a, b) for a, b in zip(loaded.parameters(), build(seed=7).parameters(), strict=True))
        with pytest.raises(ValueError, match=r"model is None for .* which has only parameters; allowed: a model"):
            checkpoint.get_model()
        sharded = prepare_model(torch.nn.Linear(4, 4), parallel_strategy="fsdp2")
        with pytest.raises(ValueError, match="whose parameters are spread over the ranks; allowed: a whole model"):
            TorchCheckpoint.from_model(sharded)
        return saved.path if saved else None

    import os

    assert not os.path.exists(fit_torch(loop).return_value), "the temporary directory was handed over"


def test_a_wrapped_models_parameters_are_stored_under_the_names_of_the_model_itself(fit_torch):
    def loop():
        import os
        import shutil

        import torch

        model = prepare_model(torch.nn.Sequential(torch.nn.Linear(2, 1), torch.nn.BatchNorm1d(1)))
        state = model.state_dict()
        checkpoint = TorchCheckpoint.from_state_dict(state)
        try:
            stored = torch.load(os.path.join(checkpoint.path, "model.pt"))
            fresh = torch.nn.Sequential(torch.nn.Linear(2, 1), torch.nn.BatchNorm1d(1))
            fresh.load_state_dict(stored)
            assert all(name.startswith("module.") for name in state), "what was given stays as it was"
            again = prepare_model(torch.nn.Sequential(torch.nn.Linear(2, 1), torch.nn.BatchNorm1d(1)))
            assert checkpoint.get_model(again) is again
            for loaded in (fresh, again.module):
                assert torch.equal(loaded[0].weight, model.module[0].weight)
        finally:
            shutil.rmtree(checkpoint.path)
        return sorted(stored)[0]

    assert fit_torch(loop).return_value == "0.bias"


def test_a_whole_model_in_a_checkpoint():
    import shutil

    import torch

    model = torch.nn.Linear(3, 2)
    checkpoint = TorchCheckpoint.from_model(model)
    try:
        assert isinstance(checkpoint, train.Checkpoint)
        assert torch.equal(checkpoint.get_model().weight, model.weight)
        assert torch.equal(checkpoint.get_model(torch.nn.Linear(3, 2)).weight, model.weight)
        with pytest.raises(TypeError, match=r"model is 3 \(int\); allowed: a torch.nn.Module or None"):
            checkpoint.get_model(3)
    finally:
        shutil.rmtree(checkpoint.path)
    with pytest.raises(TypeError, match=r"model is 1 \(int\); allowed: a torch.nn.Module"):
        TorchCheckpoint.from_model(1)
    with pytest.raises(TypeError, match=r"state_dict is 1 \(int\); allowed: what model.state_dict\(\) gives"):
        TorchCheckpoint.from_state_dict(1)


def test_what_prepares_data_for_a_model_goes_with_its_checkpoint(fit_torch):
    class Scaler:
        def __init__(self, factor):
            self.factor = factor

    def loop():
        import torch

        saved = None
        if train.get_context().get_world_rank() == 0:
            saved = TorchCheckpoint.from_state_dict(torch.nn.Linear(2, 1).state_dict(), preprocessor=Scaler(3))
        train.report({}, saved, delete_local_checkpoint_after_upload=True)

    stored = TorchCheckpoint(fit_torch(loop).checkpoint.path)
    assert stored.get_preprocessor().factor == 3
    stored.set_preprocessor(Scaler(4))
    assert stored.get_preprocessor().factor == 4


def test_a_checkpoint_has_no_preprocessor_unless_it_was_given_one(tmp_path):
    checkpoint = TorchCheckpoint.from_directory(tmp_path)
    assert checkpoint.get_preprocessor() is None
    with pytest.raises(TypeError, match=r"preprocessor is <unlocked _thread.lock .* cannot be pickled"):
        checkpoint.set_preprocessor(threading.Lock())


def test_a_checkpoint_without_a_model_says_so(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"has no file model\.pt"):
        TorchCheckpoint.from_directory(tmp_path).get_model()


@pytest.mark.gpu
@pytest.mark.parametrize("strategy", ["ddp", "fsdp", "fsdp2"])
def test_strategies_on_gpus(fit_torch, strategy):
    import torch

    workers = min(2, torch.cuda.device_count())

    def loop():
        model = prepare_model(torch.nn.Linear(4, 4), parallel_strategy=strategy)
        (device,) = get_devices()
        loss = model(torch.ones(2, 4, device=device)).square().mean()
        loss.backward()
        assert all(parameter.grad.device == device for parameter in model.parameters() if parameter.grad is not None)
        return loss.item()

    scaling = train.ScalingConfig(num_workers=workers, use_gpu=True)
    assert fit_torch(loop, workers, scaling_config=scaling).return_value > 0
