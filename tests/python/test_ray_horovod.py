"""What Ray Train's guide shows of Horovod, as a script that is run as it is. ``make horovod``
builds it.
"""

import importlib.util

import for_ray
import pytest

pytestmark = [
    pytest.mark.heavy,
    pytest.mark.skipif(importlib.util.find_spec("horovod") is None, reason="`make horovod` builds it"),
]

# The quick start: a model whose gradients and weights Horovod sends, with a checkpoint of each
# epoch, on a rank's share of a data set. Then the guide's configuration.
GUIDE = """
    import os
    import tempfile

    import horovod.torch as hvd
    import ray
    import ray.train.torch  # Need this to use `train.torch.get_device()`
    import torch
    import torch.nn as nn
    from ray import train
    from ray.train import Checkpoint, ScalingConfig
    from ray.train.horovod import HorovodConfig, HorovodTrainer

    input_size = 1
    layer_size = 15
    output_size = 1
    num_epochs = 3


    class NeuralNetwork(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer1 = nn.Linear(input_size, layer_size)
            self.relu = nn.ReLU()
            self.layer2 = nn.Linear(layer_size, output_size)

        def forward(self, input):
            return self.layer2(self.relu(self.layer1(input)))


    def train_loop_per_worker():
        hvd.init()
        dataset_shard = train.get_dataset_shard("train")
        model = NeuralNetwork()
        device = train.torch.get_device()
        model.to(device)
        loss_fn = nn.MSELoss()
        lr_scaler = 1
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1 * lr_scaler)
        # Horovod: wrap optimizer with DistributedOptimizer.
        optimizer = hvd.DistributedOptimizer(
            optimizer,
            named_parameters=model.named_parameters(),
            op=hvd.Average,
        )
        hvd.broadcast_parameters(model.state_dict(), root_rank=0)
        for epoch in range(num_epochs):
            model.train()
            for batch in dataset_shard.iter_torch_batches(batch_size=8, dtypes=torch.float):
                inputs, labels = torch.unsqueeze(batch["x"], 1), batch["y"]
                outputs = model(inputs)
                loss = loss_fn(outputs, labels.unsqueeze(1))
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            # save the epoch's checkpoint
            with tempfile.TemporaryDirectory() as tmpdir:
                torch.save(model.state_dict(), os.path.join(tmpdir, "model.pt"))
                train.report({"loss": loss.item(), "epoch": epoch}, checkpoint=Checkpoint.from_directory(tmpdir))
        return hvd.size(), [parameter.tolist() for parameter in model.parameters()]


    if __name__ == "__main__":
        train_dataset = ray.data.from_items([{"x": x / 32, "y": x / 32 + 1} for x in range(64)])
        # For GPU Training, set `use_gpu` to True.
        use_gpu = False
        trainer = HorovodTrainer(
            train_loop_per_worker=train_loop_per_worker,
            scaling_config=ScalingConfig(num_workers=2, use_gpu=use_gpu),
            datasets={"train": train_dataset},
        )
        result = trainer.fit()
        size, parameters = result.return_value
        assert size == 2
        losses = list(result.metrics_dataframe["loss"])
        assert len(losses) == num_epochs and losses[-1] < 0.1, losses
        with result.checkpoint.as_directory() as folder:
            state = torch.load(os.path.join(folder, "model.pt"))
        assert [value.tolist() for value in state.values()] == parameters

        def train_func():
            hvd.init()
            train.report({"sum": hvd.allreduce(torch.tensor([1.0 + hvd.rank()]), op=hvd.Sum).item()})

        trainer = HorovodTrainer(
            train_func,
            tensorflow_backend=HorovodConfig(timeout_s=60),
            scaling_config=ScalingConfig(num_workers=2),
        )
        assert trainer.fit().metrics["sum"] == 3
        print("done")
"""


@pytest.fixture
def time_limit():
    """In place of that of conftest.py: the process that ``for_ray`` starts has its own."""


def test_what_the_guide_shows_of_horovod_runs_as_it_is(tmp_path):
    for_ray.run(tmp_path, GUIDE)
