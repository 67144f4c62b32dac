"""What Ray Train's guides show, as scripts that are run by ``headway run --as-ray``: images,
results, directories.
"""

import os
import subprocess
import sys
import textwrap

import pytest
from conftest import PACKAGES

# Images as those of Fashion MNIST, made up; every rank saves the unwrapped model, and the driver
# loads it.
IMAGES = """
    import os, tempfile
    import torch
    import ray.train.torch
    from ray.train import Result


    class Images(torch.utils.data.Dataset):
        def __init__(self, count):
            generator = torch.Generator().manual_seed(count)
            self.labels = torch.randint(10, (count,), generator=generator)
            self.pixels = torch.rand(count, 1, 28, 28, generator=generator) + self.labels[:, None, None, None] / 5

        def __len__(self):
            return len(self.labels)

        def __getitem__(self, index):
            return self.pixels[index], int(self.labels[index])


    def network():
        return torch.nn.Sequential(
            torch.nn.Conv2d(1, 8, kernel_size=7, stride=4, bias=False), torch.nn.BatchNorm2d(8), torch.nn.ReLU(),
            torch.nn.Flatten(), torch.nn.Dropout(0.25), torch.nn.Linear(288, 10),
        )


    def train_func(config):
        ray.train.torch.enable_reproducibility()
        loaders = [
            ray.train.torch.prepare_data_loader(torch.utils.data.DataLoader(Images(count), batch_size=16, shuffle=new))
            for count, new in ((128, True), (64, False))
        ]
        model = ray.train.torch.prepare_model(network())
        optimizer = torch.optim.SGD(model.parameters(), lr=config["lr"], momentum=0.9)
        for epoch in range(config["epochs"]):
            if ray.train.get_context().get_world_size() > 1:
                loaders[0].sampler.set_epoch(epoch)
            model.train()
            for images, labels in loaders[0]:
                optimizer.zero_grad()
                torch.nn.functional.cross_entropy(model(images), labels).backward()
                optimizer.step()
            model.eval()
            with torch.no_grad():
                right = sum((model(images).argmax(1) == labels).sum().item() for images, labels in loaders[1])
            with tempfile.TemporaryDirectory() as directory:
                torch.save(model.module.state_dict(), os.path.join(directory, "model.pt"))
                ray.train.report(
                    metrics={"accuracy": right / 32, "epoch": epoch},
                    checkpoint=ray.train.Checkpoint.from_directory(directory),
                )


    def train():
        return ray.train.torch.TorchTrainer(
            train_func,
            train_loop_config={"lr": 0.01, "epochs": 3},
            scaling_config=ray.train.ScalingConfig(num_workers=2, use_gpu=False),
        ).fit()


    if __name__ == "__main__":
        result, again = train(), train()
        assert list(result.metrics_dataframe["accuracy"]) == list(again.metrics_dataframe["accuracy"])
        with result.checkpoint.as_directory() as directory:
            network().load_state_dict(torch.load(os.path.join(directory, "model.pt")))
        best = max(result.best_checkpoints, key=lambda entry: entry[1]["accuracy"])[0]
        assert result.filesystem.get_file_info(best.path).is_file is False
        restored = Result.from_path(result.path)
        assert restored.metrics["epoch"] == 2 and restored.error is None and len(restored.best_checkpoints) == 3
        print("done")
"""

# The first run of the script fails; the second one finds what it has left, and goes on.
AUTO_RESUME = """
    import json, os, sys, tempfile
    import ray
    from ray import train
    from ray.train import Checkpoint, CheckpointConfig, RunConfig, ScalingConfig
    from ray.train.base_trainer import TrainingFailedError
    from ray.train.data_parallel_trainer import DataParallelTrainer
    from ray.train.trainer import BaseTrainer


    def train_func(config):
        rank, start = train.get_context().get_world_rank(), 0
        checkpoint = train.get_checkpoint()
        if checkpoint:
            with checkpoint.as_directory() as directory:
                with open(os.path.join(directory, f"shard-rank={rank}.json")) as file:
                    start = json.load(file)["epoch"] + 1
        for epoch in range(start, 4):
            if epoch == 2 and checkpoint is None:
                raise RuntimeError("the machine went")
            with tempfile.TemporaryDirectory() as directory:
                with open(os.path.join(directory, f"shard-rank={rank}.json"), "w") as file:
                    json.dump({"epoch": epoch}, file)
                train.report({"epoch": epoch, "first": start}, checkpoint=Checkpoint.from_directory(directory))


    if __name__ == "__main__":
        storage = sys.argv[1]
        path = os.path.join(storage, "resumed")
        if BaseTrainer.can_restore(path):
            result = DataParallelTrainer.restore(path).fit()
            assert (result.metrics["epoch"], result.metrics["first"]) == (3, 2), result.metrics
            with result.checkpoint.as_directory() as directory:
                assert {"shard-rank=0.json", "shard-rank=1.json"} <= set(os.listdir(directory))
            print("done")
        else:
            keep = CheckpointConfig(num_to_keep=1, checkpoint_score_attribute="epoch")
            run = RunConfig(name="resumed", storage_path=storage, checkpoint_config=keep)
            try:
                DataParallelTrainer(train_func, scaling_config=ScalingConfig(num_workers=2), run_config=run).fit()
            except TrainingFailedError as error:
                print("done" if "the machine went" in str(error) else error)
"""

# Workers find the script's directory; artifacts go to the run's own.
WORKING_DIRECTORY = """
    import os
    import ray
    import ray.train
    from ray.train.torch import TorchTrainer

    os.environ["RAY_CHDIR_TO_TRIAL_DIR"] = "0"
    with open("./data.txt", "w") as file:
        file.write("some data")
    ray.init(runtime_env={"working_dir": ".", "env_vars": {"TRACKER_KEY": "of mine"}})


    def train_func(config):
        with open("./data.txt") as file:
            assert file.read() == "some data"
        context = ray.train.get_context()
        with open(os.path.join(context.get_trial_dir(), f"artifact-{context.get_world_rank()}.txt"), "w") as file:
            file.write(os.environ["TRACKER_KEY"])


    result = TorchTrainer(
        train_func,
        scaling_config=ray.train.ScalingConfig(num_workers=2),
        run_config=ray.train.RunConfig(sync_config=ray.train.SyncConfig(sync_artifacts=True)),
    ).fit()
    assert sorted(os.listdir(os.path.join(result.path, "artifacts"))) == ["artifact-0.txt", "artifact-1.txt"]
    print("done")
"""


@pytest.mark.parametrize(
    ("code", "times"),
    [
        pytest.param(IMAGES, 1, id="images"),
        pytest.param(AUTO_RESUME, 2, id="auto-resume"),
        pytest.param(WORKING_DIRECTORY, 1, id="working directory"),
    ],
)
def test_what_a_guide_shows_runs_as_it_is(tmp_path, code, times):
    path = tmp_path / "for_ray.py"
    path.write_text(textwrap.dedent(code))
    environment = dict(os.environ, PYTHONPATH=PACKAGES, HEADWAY_STORAGE=str(tmp_path / "results"))
    command = [sys.executable, "-m", "headway", "run", "--as-ray", path, str(tmp_path / "runs")]
    for _ in range(times):
        done = subprocess.run(
            command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=110, check=False
        )
        assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "done"), done.stdout + done.stderr
