"""accelerate(), prepare_optimizer() and backward(): the older API's mixed precision."""

import pytest
from headway import train
from headway.train.torch import accelerate, backward, prepare_model, prepare_optimizer


def test_on_cpus_the_model_computes_in_bfloat16_and_learns(fit_torch):
    def loop():
        import copy
        import pickle

        import torch

        accelerate(amp=True)
        torch.manual_seed(0)
        model = prepare_model(torch.nn.Linear(8, 4))
        plain = torch.optim.SGD(model.parameters(), lr=0.1)
        optimizer = prepare_optimizer(plain)
        assert optimizer is plain, "bfloat16 needs no scaling"
        batch, losses = torch.randn(16, 8), []
        for _ in range(20):
            output = model(batch)
            assert output.dtype is torch.bfloat16
            loss = output.float().square().mean()
            optimizer.zero_grad()
            backward(loss)
            assert model.module.weight.grad.dtype is torch.float32
            optimizer.step()
            losses.append(loss.item())
        assert losses[-1] < losses[0] / 2
        own = model.module
        for twin in (copy.deepcopy(own), pickle.loads(pickle.dumps(own))):
            with torch.no_grad():
                twin.weight.zero_()
                twin.bias.zero_()
            assert twin(batch).abs().max() == 0, "a copy computes with its own parameters"
            assert twin(batch).dtype is torch.bfloat16
        assert own(batch).abs().max() > 0

    fit_torch(loop, workers=2)


def test_without_amp_all_is_as_in_plain_torch(fit_torch):
    def loop():
        import torch

        accelerate()
        model = prepare_model(torch.nn.Linear(8, 4))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        assert prepare_optimizer(optimizer) is optimizer
        loss = model(torch.ones(1, 8)).sum()
        assert loss.dtype is torch.float32
        backward(loss)
        assert torch.equal(model.weight.grad, torch.ones(4, 8))
        with pytest.raises(TypeError, match=r"optimizer is 1 \(int\); allowed: a torch.optim.Optimizer"):
            prepare_optimizer(1)
        with pytest.raises(TypeError, match=r"tensor is 1 \(int\); allowed: a torch.Tensor"):
            backward(1)

    fit_torch(loop, workers=1)


def test_accelerate_comes_first_and_once(fit_torch):
    def too_late():
        import torch

        with pytest.raises(TypeError, match=r"amp is 1 \(int\); allowed: True or False"):
            accelerate(amp=1)
        prepare_model(torch.nn.Linear(1, 1))
        with pytest.raises(RuntimeError, match=r"after prepare_model\(\) or prepare_optimizer\(\); call it before"):
            accelerate()

    def twice():
        accelerate()
        with pytest.raises(RuntimeError, match="a second time"):
            accelerate(amp=True)

    fit_torch(too_late, workers=1)
    fit_torch(twice, workers=1)
    for function in (accelerate, lambda: prepare_optimizer(None), lambda: backward(None)):
        with pytest.raises(RuntimeError, match="outside of a training function"):
            function()


@pytest.mark.parametrize(("strategy", "own"), [("fsdp", "mixed_precision"), ("fsdp2", "mp_policy")])
def test_sharded_strategies_are_refused_with_the_name_of_their_own_setting(fit_torch, strategy, own):
    def loop():
        import torch

        accelerate(amp=True)
        with pytest.raises(ValueError, match=rf'parallel_strategy is "{strategy}" after accelerate.*{own}'):
            prepare_model(torch.nn.Linear(1, 1), parallel_strategy=strategy)

    fit_torch(loop, workers=2)


def test_a_scaled_optimizer_steps_as_the_plain_one_does_and_skips_what_is_not_finite():
    import torch
    from headway.train.torch._scaled_optimizer import LossScale, ScaledOptimizer

    def learn(scaled, broken_step=None):
        torch.manual_seed(0)
        model = torch.nn.Linear(4, 1)
        inner = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.5)
        scale = LossScale("cpu")
        optimizer = ScaledOptimizer(inner, scale) if scaled else inner
        schedule = torch.optim.lr_scheduler.StepLR(optimizer, step_size=2, gamma=0.5)
        weights = []
        for step in range(4):
            loss = model(torch.ones(2, 4)).square().mean() * (float("inf") if step == broken_step else 1)
            optimizer.zero_grad()
            (scale.apply(loss) if scaled else loss).backward()
            optimizer.step()
            schedule.step()
            weights.append(model.weight.detach().clone())
        return optimizer, weights

    plain, expected = learn(scaled=False)
    optimizer, weights = learn(scaled=True)
    # The scale is a power of two, so nothing is rounded by it.
    assert all(torch.equal(a, b) for a, b in zip(weights, expected, strict=True))
    assert isinstance(optimizer, torch.optim.Optimizer)
    assert optimizer.param_groups[0]["lr"] == plain.param_groups[0]["lr"] == 0.1 * 0.25
    assert str(optimizer.state_dict()) == str(plain.state_dict())
    _, broken = learn(scaled=True, broken_step=1)
    assert torch.equal(broken[0], broken[1])
    assert not torch.equal(broken[1], broken[2])
    with pytest.raises(ValueError, match="closure is given to an optimizer of scaled losses; allowed: None"):
        optimizer.step(lambda: 0)


def test_two_optimizers_of_one_loss_scale_are_not_divided_by_different_scales():
    import torch
    from headway.train.torch._scaled_optimizer import LossScale, ScaledOptimizer

    scale = LossScale("cpu")
    parameters = [torch.nn.Parameter(torch.ones(1)) for _ in range(2)]
    first, second = (ScaledOptimizer(torch.optim.SGD([each], lr=1.0), scale) for each in parameters)
    scale.apply(parameters[0] * float("inf") + parameters[1] * 0.5).backward()
    first.step()
    second.step()
    assert parameters[0].item() == 1.0, "skipped"
    assert parameters[1].item() == 0.5


@pytest.mark.gpu
def test_on_gpus_the_model_computes_in_float16_with_a_scaled_loss(fit_torch):
    def loop():
        import torch

        accelerate(amp=True)
        model = prepare_model(torch.nn.Linear(8, 4))
        plain = torch.optim.SGD(model.parameters(), lr=0.1)
        optimizer = prepare_optimizer(plain)
        assert optimizer is not plain
        batch, losses = torch.randn(16, 8, device="cuda"), []
        for _ in range(20):
            output = model(batch)
            assert output.dtype is torch.float16
            loss = output.float().square().mean()
            optimizer.zero_grad()
            backward(loss)
            optimizer.step()
            losses.append(loss.item())
        assert losses[-1] < losses[0]

    fit_torch(loop, workers=1, scaling_config=train.ScalingConfig(num_workers=1, use_gpu=True))
