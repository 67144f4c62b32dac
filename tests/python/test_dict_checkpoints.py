"""Checkpoints of dicts, the older form, with PyTorch: from a first run to one that resumes from
it.
"""

import pytest
from headway import train
from headway.train import Checkpoint
from headway.train.torch import TorchTrainer, prepare_model


def older_loop(config):
    """As older scripts are written: the state is loaded before the model is wrapped, and saved
    after.
    """
    import numpy as np
    import torch

    inputs = torch.Tensor(np.random.normal(0, 1, size=(100, 4)))
    targets = torch.Tensor(np.random.uniform(0, 1, size=(100, 1)))
    model, first = torch.nn.Linear(4, 1), 0
    criterion = torch.nn.MSELoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-4)
    checkpoint = train.get_checkpoint()
    if checkpoint:
        state = checkpoint.to_dict()
        model.load_state_dict(state.get("model_weights"))
        first = state.get("epoch", -1) + 1
    model = prepare_model(model)
    for epoch in range(first, config["num_epochs"]):
        loss = criterion(model.forward(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        checkpoint = Checkpoint.from_dict({"epoch": epoch, "model_weights": model.state_dict()})
        train.report({"first": first}, checkpoint=checkpoint)


@pytest.mark.parametrize("workers", [1, 2])
def test_an_older_script_works_from_its_first_run_to_a_resumed_one(fit, workers):
    first = fit(older_loop, workers, trainer=TorchTrainer, config={"num_epochs": 2})
    resumed = fit(
        older_loop, workers, trainer=TorchTrainer, config={"num_epochs": 4}, resume_from_checkpoint=first.checkpoint
    )
    assert resumed.metrics["first"] == 2
    last = resumed.checkpoint.to_dict()
    assert last["epoch"] == 3
    assert {name: list(value.shape) for name, value in last["model_weights"].items()} == {"weight": [1, 4], "bias": [1]}
    assert [checkpoint.to_dict()["epoch"] for checkpoint, _ in resumed.best_checkpoints] == [2, 3]


def test_a_wrapped_model_loads_the_state_of_a_wrapped_and_of_an_unwrapped_one(fit):
    def loop():
        import torch

        model = prepare_model(torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2)))
        wrapped = {name: value.clone() for name, value in model.state_dict().items()}
        stored = Checkpoint.from_dict({"model": model.state_dict()}).to_dict()["model"]
        unwrapped = {name.removeprefix("module."): value for name, value in wrapped.items()}
        for state in (stored, wrapped, unwrapped):
            with torch.no_grad():
                model.module[0].weight.zero_()
            model.load_state_dict(state)
            assert torch.equal(model.module[0].weight, stored["0.weight"])
            assert model.module[0].weight.any()
        with pytest.raises(RuntimeError, match="Missing key"):
            model.load_state_dict({"0.weight": stored["0.weight"]})
        return sorted(stored), sorted(stored._metadata)

    names, modules = fit(loop, trainer=TorchTrainer).return_value
    assert names[:2] == ["0.bias", "0.weight"]
    assert modules == ["", "0", "1"]


def test_what_else_is_in_a_dict_stays_as_it_is(fit):
    def loop():
        from collections import OrderedDict

        import torch

        parameter = torch.nn.Parameter(torch.ones(2))
        data = {
            "plain": OrderedDict([("module.a", 1), ("b", 2)]),
            "nested": [{"tensor": torch.arange(3)}, (parameter, "text")],
            "empty": OrderedDict(),
        }
        loaded = Checkpoint.from_dict(data).to_dict()
        assert list(loaded["plain"]) == ["module.a", "b"]
        assert loaded["nested"][0]["tensor"].tolist() == [0, 1, 2]
        assert isinstance(loaded["nested"][1][0], torch.nn.Parameter)
        assert loaded["empty"] == OrderedDict()

    fit(loop, workers=1)


@pytest.mark.gpu
def test_tensors_of_a_gpu_are_stored_on_the_cpu():
    import torch

    loaded = Checkpoint.from_dict({"w": torch.ones(2, device="cuda"), "in": [torch.ones(1).cuda()]}).to_dict()
    assert loaded["w"].device.type == loaded["in"][0].device.type == "cpu"
