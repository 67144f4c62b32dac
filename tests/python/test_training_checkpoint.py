"""save_checkpoint and load_checkpoint: plain, DDP and sharded models, resumed with another strategy
and size.
"""

import os
import re
import tempfile
import warnings

import pytest
from headway import train
from headway.train.torch import load_checkpoint, prepare_model, save_checkpoint, unwrap_model


def training(config):
    """Three steps of a small net; resumes from a checkpoint, saves one after each."""
    import torch

    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
    model = prepare_model(model, parallel_strategy=config["strategy"])
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
    start = config.get("start") or train.get_checkpoint()
    saved = load_checkpoint(start, model=model, optimizer=optimizer, scheduler=scheduler)
    # The same in all ranks, so that gradients are, at any size.
    data = torch.linspace(-1, 1, 64).reshape(8, 8)
    for step in range(saved.get("step", -1) + 1, config["steps"]):
        loss = (model(data) - 3).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        with tempfile.TemporaryDirectory() as folder:
            checkpoint = save_checkpoint(folder, model=model, optimizer=optimizer, scheduler=scheduler, step=step)
            train.report({"loss": loss.item(), "rate": optimizer.param_groups[0]["lr"]}, checkpoint=checkpoint)


def losses(result):
    return [round(loss, 5) for loss in result.metrics_dataframe["loss"]]


STRATEGIES = ("ddp", "fsdp", "fsdp2")


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    """The losses of four steps in one process, and of each strategy the run that stopped after two,
    by two ranks.
    """
    from headway.train.torch import TorchTrainer

    storage = str(tmp_path_factory.mktemp("storage"))

    def run(strategy, steps, workers):
        return TorchTrainer(
            training,
            train_loop_config={"strategy": strategy, "steps": steps},
            scaling_config=train.ScalingConfig(num_workers=workers),
            run_config=train.RunConfig(storage_path=storage, name=f"{strategy}-{steps}-{workers}"),
        ).fit()

    return losses(run(None, 4, 1)), {strategy: run(strategy, 2, 2) for strategy in STRATEGIES}


@pytest.mark.parametrize("saved_by", STRATEGIES)
@pytest.mark.parametrize(("strategy", "workers"), [("ddp", 0), ("ddp", 1), ("fsdp", 3), ("fsdp2", 3)])
def test_a_training_resumes_by_another_strategy_and_another_number_of_ranks(
    fit_torch, uninterrupted, saved_by, strategy, workers
):
    expected, saved = uninterrupted
    assert losses(saved[saved_by]) == expected[:2]
    config = {"strategy": strategy, "steps": 4, "start": saved[saved_by].checkpoint}
    resumed = fit_torch(training, workers, config=config)
    assert losses(resumed) == expected[2:]
    assert list(resumed.metrics_dataframe["rate"]) == [0.1 / 8, 0.1 / 16]


def test_rank_0_writes_an_unsharded_model_and_all_ranks_a_sharded_one(uninterrupted):
    _, saved = uninterrupted
    with saved["ddp"].checkpoint.as_directory() as folder:
        assert sorted(name for name in os.listdir(folder) if name.endswith(".pt")) == [
            "model.pt", "optimizer.pt", "state.pt",
        ]  # fmt: skip
    for strategy in ("fsdp", "fsdp2"):
        with saved[strategy].checkpoint.as_directory() as folder:
            shards = os.listdir(os.path.join(folder, "shards"))
            assert {name.split("_")[2] for name in shards if name.endswith(".distcp")} == {"0", "1"}
            assert not os.path.exists(os.path.join(folder, "model.pt"))


def test_a_checkpoint_loads_outside_of_training_functions(uninterrupted):
    import torch

    _, saved = uninterrupted
    parameters = []
    for strategy in STRATEGIES:
        model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
        with saved[strategy].checkpoint.as_directory() as folder, warnings.catch_warnings(record=True) as warned:
            left = load_checkpoint(folder, model=model)
        assert left["step"] == 1
        assert [str(warning.message) for warning in warned] == [], "loading alone is meant"
        parameters.append(torch.cat([parameter.detach().flatten() for parameter in model.parameters()]))
    for other in parameters[1:]:
        torch.testing.assert_close(other, parameters[0])


def test_what_has_a_state_is_loaded_into_its_object_and_the_rest_is_returned(fit_torch):
    def loop():
        import torch

        average = torch.optim.swa_utils.AveragedModel(torch.nn.Linear(1, 1))
        average.n_averaged += 7
        with tempfile.TemporaryDirectory() as folder:
            assert save_checkpoint(folder, average=average, epoch=3, note={"a": [1]}) is not None
            other = torch.optim.swa_utils.AveragedModel(torch.nn.Linear(1, 1))
            assert load_checkpoint(folder, average=other) == {"epoch": 3, "note": {"a": [1]}}
            assert other.n_averaged == 7
            with pytest.raises(KeyError, match=r"no 'scheduler'; it has: average, epoch, note"):
                load_checkpoint(folder, scheduler=torch.optim.lr_scheduler.LRScheduler.__new__(_Stateful))
            with pytest.raises(KeyError, match=r"no 'model'; it has: state"):
                load_checkpoint(folder, model=torch.nn.Linear(1, 1))
        assert load_checkpoint(None) == {}

    fit_torch(loop, 1)


class _Stateful:
    def state_dict(self):
        return {}

    def load_state_dict(self, state):
        pass


@pytest.mark.parametrize("workers", [0, 1, 2])
@pytest.mark.parametrize("strategy", ["ddp", "fsdp", "fsdp2", None])
def test_a_model_is_unwrapped_whatever_wrapped_it(fit_torch, strategy, workers):
    def loop(config):
        import torch

        plain = torch.nn.Linear(4, 1)
        wrapped = prepare_model(plain, parallel_strategy=config["strategy"])
        assert unwrap_model(wrapped) is plain
        assert unwrap_model(torch.compile(wrapped)) is plain
        assert unwrap_model(plain) is plain

    fit_torch(loop, workers, config={"strategy": strategy})


@pytest.mark.parametrize(
    ("strategy", "name"),
    [("ddp", "model.pt"), ("ddp", "optimizer.pt"), ("ddp", "state.pt"), ("fsdp2", "shards/__0_0.distcp")],
)
def test_a_damaged_file_is_named(uninterrupted, tmp_path, strategy, name):
    import torch

    copy = uninterrupted[1][strategy].checkpoint.to_directory(tmp_path / "copy")
    path = os.path.join(copy, name)
    os.truncate(path, os.path.getsize(path) // 2)
    model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
    with pytest.raises(
        RuntimeError, match=re.escape(f"{path if strategy == 'ddp' else os.path.dirname(path)} cannot be ")
    ):
        load_checkpoint(copy, model=model, optimizer=torch.optim.AdamW(model.parameters()))


def test_only_objects_with_a_state_are_loaded_and_only_into_folders_that_are_there(fit_torch, tmp_path):
    def loop():
        folder = str(tmp_path)
        with pytest.raises(TypeError, match=r"epoch is 3 \(int\); allowed: an object with load_state_dict"):
            load_checkpoint(folder, epoch=3)
        with pytest.raises(NotADirectoryError, match="no directory"):
            save_checkpoint(folder + "/none")

    fit_torch(loop, 1)
    with pytest.raises(RuntimeError, match=r"save_checkpoint\(\) was called outside of a training function"):
        save_checkpoint(str(tmp_path))
