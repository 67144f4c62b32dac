"""Scripts for Ray Data and Ray Train run unchanged: names under every place where they look."""

import pytest

LOOP = """
import ray
from ray import train
from ray.train import DataConfig, RunConfig, ScalingConfig
from ray.train.data_parallel_trainer import DataParallelTrainer
"""

SPLIT = """
from typing import Dict, List, Optional

import ray.data
from ray.actor import ActorHandle
from ray.data import DataIterator, Dataset, NodeIdStr
from ray.data.context import DataContext


class Halves(DataConfig):
    def configure(
        self,
        datasets: Dict[str, Dataset],
        world_size: int,
        worker_handles: Optional[List[ActorHandle]],
        worker_node_ids: Optional[List[NodeIdStr]],
        **kwargs,
    ) -> List[Dict[str, DataIterator]]:
        context = DataContext.get_current()
        context.execution_options = DataConfig.default_ingest_options()
        parts = datasets["train"].streaming_split(world_size, equal=True, locality_hints=worker_node_ids)
        return [{"train": part} for part in parts]


def loop():
    shard = train.get_dataset_shard("train")
    rows = sum(len(batch["id"]) for _ in range(2) for batch in shard.iter_batches(batch_size=16, prefetch_batches=10))
    print("rank", train.get_context().get_world_rank(), "had", rows)
    train.report({"rows": rows})


DataContext.get_current().execution_options.preserve_order = True
result = DataParallelTrainer(
    loop,
    datasets={"train": ray.data.range(40)},
    dataset_config=Halves(),
    scaling_config=ScalingConfig(num_workers=2),
    run_config=RunConfig(verbose=0),
).fit()
assert result.metrics["rows"] == 40
"""

SESSION = """
from ray.air import session


def loop():
    shards = [session.get_dataset_shard(name) for name in ("train", "validation")]
    session.report({name: sum(1 for _ in shard.iter_rows()) for name, shard in zip("tv", shards)})


training, validation = ray.data.from_items([{"x": [x], "y": [2 * x]} for x in range(20)]).train_test_split(
    test_size=0.2, shuffle=True
)
result = DataParallelTrainer(
    loop,
    datasets={"train": training, "validation": validation},
    dataset_config=ray.train.DataConfig(datasets_to_split=["train"]),
    scaling_config=ScalingConfig(num_workers=2),
    run_config=RunConfig(verbose=0),
).fit()
assert (result.metrics["t"], result.metrics["v"]) == (8, 4), result.metrics
"""

PREPROCESSED = """
import tempfile

from ray.data.preprocessors import Concatenator, StandardScaler

rows = ray.data.from_items([{"a": float(x), "b": 2.0 * x, "target": x % 2} for x in range(20)])
scaler = StandardScaler(columns=["a", "b"])
rows = Concatenator(exclude=["target"], dtype="float32").fit_transform(scaler.fit_transform(rows))


def loop():
    assert "preprocessor" in train.get_context().get_metadata()
    for batch in train.get_dataset_shard("train").iter_batches(batch_size=5):
        assert batch["concat_out"].shape == (5, 2)
    with tempfile.TemporaryDirectory() as folder:
        train.report({"score": 2.0}, checkpoint=train.Checkpoint.from_directory(folder))


result = DataParallelTrainer(
    loop,
    datasets={"train": rows},
    metadata={"preprocessor": scaler.serialize()},
    scaling_config=ScalingConfig(num_workers=2),
    run_config=RunConfig(verbose=0),
).fit()
restored = StandardScaler.deserialize(result.checkpoint.get_metadata()["preprocessor"])
assert abs(restored.transform_batch({"a": [9.5], "b": [19.0]})["a"][0]) < 1e-9
"""


@pytest.mark.parametrize(
    "code", [pytest.param(SPLIT, id="a user's split"), pytest.param(SESSION, id="older names"),
             pytest.param(PREPROCESSED, id="preprocessors")]
)  # fmt: skip
def test_a_script_runs_unchanged(script, tmp_path, code):
    status, output = script.run(f"import headway\nheadway.as_ray()\n{LOOP}\n{code}", HEADWAY_STORAGE=str(tmp_path))
    assert status == 0, output


def test_modules_need_no_import_of_their_own(script):
    code = "print(headway.data.range(3).count(), headway.train.ScalingConfig(), headway.tune.uniform)\nheadway.nothing"
    status, output = script.run(f"import headway\n{code}")
    assert (status, output.split()[0]) == (1, "3"), output
    assert "AttributeError: module 'headway' has no attribute 'nothing'" in output
