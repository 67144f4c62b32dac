"""Scripts on data sets as people write them for Ray, unchanged, a theme each: what guides on
loading, transforming, splitting, shuffling, caching and validating combine.
"""

import os

import for_ray
import pytest

pytestmark = pytest.mark.skipif(
    os.environ.get("HEADWAY_WORKER_START") == "exec", reason="the same code either way; once is enough"
)

BEGIN = """
import os
from typing import Dict, List, Optional

import numpy as np
import ray
from ray import train
from ray.train import Checkpoint, DataConfig, RunConfig, ScalingConfig
from ray.train.torch import TorchTrainer

"""

# Tensors of what lies in lists, changed in place by a function; two epochs over one loader.
TENSORS = """
import torch

def one_more(batch):
    batch["target"] = batch["target"] + 1
    return batch

lines = ray.data.from_items([{"input": [n], "target": [3 * n]} for n in range(96)]).map_batches(one_more)

def loop(config):
    shard = train.get_dataset_shard("train")
    loader = shard.iter_torch_batches(batch_size=config["batch_size"], dtypes=torch.float32)
    model = train.torch.prepare_model(torch.nn.Linear(1, 1))
    seen = 0
    for epoch in range(2):
        for batch in loader:
            inputs, targets = batch["input"], batch["target"]
            assert type(inputs) == torch.Tensor and inputs.dtype == torch.float32
            assert inputs.shape == targets.shape == (12, 1)
            assert torch.equal(targets, 3 * inputs + 1)
            torch.nn.functional.mse_loss(model(inputs / 96), targets).backward()
            seen += len(inputs)
    train.report({"seen": seen})

result = TorchTrainer(
    loop,
    train_loop_config={"batch_size": 12},
    datasets={"train": lines},
    scaling_config=ScalingConfig(num_workers=2, use_gpu=False),
).fit()
assert result.metrics["seen"] == 96, result.metrics
"""

# The validation rows go to every rank whole, and twice.
SPLIT = """
with open("mails.txt", "w") as file:
    file.writelines(f"{'spam' if n % 5 == 0 else 'ham'}\\tmail {n}\\n" for n in range(100))
texts = ray.data.read_text("mails.txt")
training, validation = texts.train_test_split(0.3)

def loop():
    counts = {}
    for name in ("train", "val"):
        shard = train.get_dataset_shard(name)
        counts[name] = [sum(len(batch["text"]) for batch in shard.iter_batches(batch_size=16)) for _ in range(2)]
    texts = [text for batch in train.get_dataset_shard("val").iter_batches() for text in batch["text"]]
    train.report({**counts, "last": texts[-1], "size": train.get_context().get_world_size()})

result = TorchTrainer(
    loop,
    scaling_config=ScalingConfig(num_workers=2),
    datasets={"train": training, "val": validation},
    dataset_config=ray.train.DataConfig(datasets_to_split=["train"]),
).fit()
assert result.metrics["train"] == [35, 35] and result.metrics["val"] == [30, 30], result.metrics
assert result.metrics["last"] == "ham\\tmail 99"
"""

# Three kinds of shuffle with seeds, twice: the same rows in the same order in each rank.
ORDER = """
context = ray.data.DataContext.get_current()
context.execution_options.preserve_order = True
ray.data.range(64).repartition(8).write_parquet("numbers")

def loop(config):
    shard = train.get_dataset_shard("train")
    batches = shard.iter_batches(batch_size=8, local_shuffle_buffer_size=16, local_shuffle_seed=4)
    train.report({"ids": [int(each) for batch in batches for each in batch["id"]]})

def order(rows):
    trainer = TorchTrainer(loop, datasets={"train": rows}, scaling_config=ScalingConfig(num_workers=1))
    return trainer.fit().metrics["ids"]

numbers = ray.data.read_parquet("numbers")
for shuffled in (numbers.random_shuffle(seed=1), numbers.randomize_block_order(seed=2), numbers):
    first, second = order(shuffled), order(shuffled)
    assert first == second and first != sorted(first) and sorted(first) == list(range(64)), (first, second)
assert order(numbers.random_shuffle(seed=1)) != order(numbers.random_shuffle(seed=8))
"""

# What is before materialize() is done once; what is behind it, in each epoch.
CACHED = """
import pyarrow as pa
import pyarrow.parquet as pq

pq.write_table(pa.table({"length": [float(n) for n in range(1, 41)], "kind": ["a", "b"] * 20}), "flowers.parquet")

def note(kind):
    with open(os.path.join(FOLDER, kind), "a") as file:
        print("x", file=file)

def scaled(batch: Dict[str, np.ndarray]) -> Dict[str, np.ndarray]:
    note("scaled")
    batch["scaled"] = batch["length"] / 40
    del batch["length"]
    return batch

def noisy(batch):
    note("noisy")
    batch["scaled"] = batch["scaled"] + np.random.default_rng().random(len(batch["scaled"]))
    return batch

FOLDER = os.getcwd()
flowers = ray.data.read_parquet("flowers.parquet").map_batches(scaled).materialize()
scaled_before = len(open("scaled").readlines())
flowers = flowers.map_batches(noisy)

def loop():
    shard = train.get_dataset_shard("train")
    epochs = [np.sort(np.concatenate([batch["scaled"] for batch in shard.iter_batches()])) for _ in range(3)]
    assert not np.array_equal(epochs[0], epochs[1]) and set(batch_columns(shard)) == {"kind", "scaled"}
    train.report({"rows": sum(map(len, epochs))})

def batch_columns(shard):
    return next(iter(shard.iter_batches(batch_size=4, prefetch_batches=10)))

result = TorchTrainer(loop, datasets={"train": flowers}, scaling_config=ScalingConfig(num_workers=2)).fit()
assert result.metrics["rows"] == 60, result.metrics
assert len(open("scaled").readlines()) == scaled_before
assert len(open("noisy").readlines()) >= 3
"""

# A checkpoint is validated by a class over a data set while training goes on.
VALIDATED = """
import tempfile

import torch
from ray.train import ValidationConfig, ValidationTaskConfig

class Predictor:
    def __init__(self, checkpoint):
        self.model = torch.nn.Linear(1, 1)
        with checkpoint.as_directory() as folder:
            self.model.load_state_dict(torch.load(os.path.join(folder, "model.pt")))
        self.model.eval()

    def __call__(self, batch: dict) -> dict:
        with torch.no_grad():
            guess = self.model(torch.as_tensor(batch["x"], dtype=torch.float32).unsqueeze(1))
        return {"right": ((guess[:, 0] > 0).numpy() == batch["positive"])}

def validate(checkpoint, rows, epoch):
    rows.set_name("validation")
    guessed = rows.map_batches(
        Predictor, batch_size=16, fn_constructor_kwargs={"checkpoint": checkpoint}, concurrency=2
    )
    return {"accuracy": guessed.mean(["right"]), "epoch": epoch}

held_out = ray.data.from_items([{"x": n - 31.5, "positive": n > 31} for n in range(64)])

def loop(config):
    for epoch, weight in enumerate((-1.0, 1.0)):
        with tempfile.TemporaryDirectory() as folder:
            state = {"weight": torch.tensor([[weight]]), "bias": torch.zeros(1)}
            torch.save(state, os.path.join(folder, "model.pt"))
            train.report(
                {"loss": 1.0},
                checkpoint=Checkpoint.from_directory(folder),
                validation=ValidationTaskConfig(fn_kwargs={"rows": config["rows"], "epoch": epoch}),
            )

result = TorchTrainer(
    loop,
    train_loop_config={"rows": held_out},
    scaling_config=ScalingConfig(num_workers=1),
    run_config=RunConfig(
        checkpoint_config=ray.train.CheckpointConfig(
            checkpoint_score_attribute="accuracy", checkpoint_score_order="max"
        )
    ),
    validation_config=ValidationConfig(fn=validate),
).fit()
scores = [metrics["accuracy"] for _, metrics in result.best_checkpoints]
assert sorted(scores) == [0.0, 1.0], result.best_checkpoints
assert result.get_best_checkpoint("accuracy", "max") is not None
"""

# From files of several kinds to one table, and back to files.
TABLES = """
import pandas as pd

paid = pd.DataFrame({"shop": [n % 4 for n in range(40)], "paid": [float(n) for n in range(40)]})
paid.to_csv("sales.csv", index=False)
with open("shops.json", "w") as file:
    file.writelines(f'{{"shop": {n}, "town": "town {n % 2}"}}\\n' for n in range(3))
sales, shops = ray.data.read_csv("sales.csv"), ray.data.read_json("shops.json")
joined = sales.join(shops, join_type="inner", num_partitions=2, on=("shop",))
assert joined.count() == 30
by_town = joined.groupby("town").sum("paid").sort("town")
assert [row["sum(paid)"] for row in by_town.take_all()] == [380.0, 190.0], by_town.take_all()
left = sales.join(shops, join_type="left_outer", num_partitions=2, on=("shop",))
assert sum(row["town"] is None for row in left.iter_rows()) == 10

from ray.data.aggregate import AggregateFn, Count, Max, Mean, Quantile, Std

figures = sales.aggregate(Count(), Max("paid"), Mean("paid"), Quantile("paid", q=0.5))
assert (figures["count()"], figures["max(paid)"], figures["mean(paid)"]) == (40, 39.0, 19.5), figures
longest = AggregateFn(
    init=lambda key: 0, merge=max, accumulate_row=lambda most, row: max(most, len(row["town"])), name="longest"
)
assert shops.aggregate(longest)["longest"] == 6
assert sorted(shops.unique("town")) == ["town 0", "town 1"]
assert (sales.min("paid"), sales.max("paid"), sales.sum("paid")) == (0.0, 39.0, 780.0)

top = joined.filter(lambda row: row["paid"] > 20).map(lambda row: {**row, "vat": row["paid"] * 0.2})
top = top.rename_columns({"paid": "net"}).drop_columns(["shop"]).limit(10)
top.write_parquet("top"), top.write_csv("top_csv"), top.write_json("top_json")
kinds = [ray.data.read_parquet("top"), ray.data.read_csv("top_csv"), ray.data.read_json("top_json")]
wanted = sorted(row["net"] for row in top.iter_rows())
assert len(wanted) == 10
for kind in kinds:
    assert kind.schema().names == ["net", "town", "vat"] or set(kind.columns()) == {"net", "town", "vat"}
    assert sorted(row["net"] for row in kind.iter_rows()) == wanted
largest = joined.groupby("town").map_groups(lambda group: {"town": group["town"][:1], "most": [group["paid"].max()]})
assert {row["town"]: row["most"] for row in largest.take_all()} == {"town 0": 38.0, "town 1": 37.0}
"""

# Limits and what a run did; a shard has them too.
WATCHED = """
context = ray.data.DataContext.get_current()
context.execution_options.resource_limits = context.execution_options.resource_limits.copy(cpu=2)
context.execution_options.verbose_progress = True
context.target_max_block_size = 1 << 20
rows = ray.data.range(1000, override_num_blocks=4)
rows = rows.map_batches(lambda batch: {"double": batch["id"] * 2}, batch_size=100).materialize()
assert "rows" in rows.stats() and rows.num_blocks() >= 1 and rows.size_bytes() >= 8000

def loop():
    shard = train.get_dataset_shard("train")
    total = sum(int(batch["double"].sum()) for batch in shard.iter_batches(batch_size=50))
    train.report({"total": total, "stats": shard.stats()})

result = TorchTrainer(
    loop,
    datasets={"train": rows},
    scaling_config=ScalingConfig(num_workers=1, resources_per_worker={"CPU": 1}),
    dataset_config=DataConfig(execution_options=ray.data.ExecutionOptions(preserve_order=True)),
).fit()
assert result.metrics["total"] == 999_000 and "rows" in result.metrics["stats"], result.metrics
"""


# Logs of a format of one's own, a file a task, into training; a source that counts its rows has a
# length.
SOURCE = """
from typing import Iterator
import pyarrow as pa
from ray.data.block import BlockMetadata
from ray.data.datasource import Datasource, ReadTask

os.makedirs("logs")
for number in range(6):
    with open(f"logs/{number}.log", "w") as file:
        file.writelines(f"{number};{n}\\n" for n in range(10))

def of_log(path: str, how: str):
    pairs = [tuple(map(int, line.split(";"))) for line in open(path)]
    files, lines = zip(*pairs)
    if how == "table":
        yield pa.table({"file": files, "line": lines})
    elif how == "arrays":
        yield {"file": np.array(files[:5]), "line": np.array(lines[:5])}
        yield {"file": np.array(files[5:]), "line": np.array(lines[5:])}
    else:
        yield [{"file": file, "line": line} for file, line in pairs]

class LogDatasource(Datasource):
    def __init__(self, folder: str, counts: bool):
        self.folder, self.counts = os.path.abspath(folder), counts

    def get_name(self) -> str:
        return "Logs"

    def estimate_inmemory_data_size(self) -> Optional[int]:
        return None

    def get_read_tasks(self, parallelism: int, per_task_row_limit: Optional[int] = None) -> List[ReadTask]:
        tasks = []
        for path, how in zip(sorted(os.listdir(self.folder)), ["table", "arrays", "rows"] * 2):
            rows = 10 if self.counts else None
            known = BlockMetadata(num_rows=rows, size_bytes=None, input_files=[path], exec_stats=None)
            tasks.append(ReadTask(lambda path=path, how=how: of_log(os.path.join(self.folder, path), how), known))
        assert parallelism >= 1
        return tasks

def rows(config):
    shard = train.get_dataset_shard("train")
    seen = [[(int(f), int(n)) for b in shard.iter_batches(batch_size=8) for f, n in zip(b["file"], b["line"])]
            for _ in range(config["epochs"])]
    train.report({"seen": len(seen[0]), "same": seen[0] == seen[1], "first": seen[0][0]})

for counts in (True, False):
    logs = ray.data.read_datasource(LogDatasource("logs", counts), override_num_blocks=3)
    assert logs.count() == 60 and logs.schema().names == ["file", "line"]
    assert [row["file"] for row in logs.filter(lambda row: row["line"] == 9).take_all()] == list(range(6))
    result = TorchTrainer(
        rows, train_loop_config={"epochs": 2}, datasets={"train": logs}, scaling_config=ScalingConfig(num_workers=2)
    ).fit()
    assert (result.metrics["seen"], result.metrics["same"]) == (30, True), result.metrics
"""

# Pictures are read, made smaller and turned, and written; a column says how each file is named.
PICTURES = """
from PIL import Image
from ray.data.datasource import FilenameProvider

os.makedirs("photos")
for n in range(8):
    pixels = np.zeros((20 + n % 2, 30, 3), np.uint8)
    pixels[:, :15, n % 3] = 255
    Image.fromarray(pixels).save(f"photos/{n}.png")

def smaller(row: Dict[str, object]) -> Dict[str, object]:
    image = Image.fromarray(row["image"]).resize((10, 8)).transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    return {"image": np.asarray(image), "name": os.path.basename(row["path"])}

class Darker:
    def __init__(self, by: int):
        self.by = by

    def __call__(self, batch: Dict[str, np.ndarray]) -> Dict[str, np.ndarray]:
        assert batch["image"].shape[1:] == (8, 10, 3), batch["image"].shape
        batch["image"] = batch["image"] // self.by
        return batch

class Names(FilenameProvider):
    def get_filename_for_row(self, row, write_uuid, task_index, block_index, row_index):
        return f"small-{row['name']}"

photos = ray.data.read_images("photos", mode="RGB", include_paths=True)
made = photos.map(smaller).map_batches(Darker, batch_size=3, fn_constructor_kwargs={"by": 5}, concurrency=1)
made.write_images("small", column="image", filename_provider=Names())
assert sorted(os.listdir("small")) == [f"small-{n}.png" for n in range(8)]
for n in range(8):
    with Image.open(f"small/small-{n}.png") as image:
        pixels = np.asarray(image)
    assert pixels.shape == (8, 10, 3) and pixels[0, -1, n % 3] == 51 and pixels[0, 0].sum() == 0, (n, pixels)
made.write_images("jpegs", column="image", file_format="jpeg")
again = ray.data.read_images("jpegs", size=(4, 5))
assert again.count() == 8 and again.take_batch(8)["image"].shape == (8, 4, 5, 3)
"""


@pytest.mark.parametrize(
    "code",
    [
        pytest.param(TENSORS, id="tensors"),
        pytest.param(SPLIT, id="split"),
        pytest.param(ORDER, id="order"),
        pytest.param(CACHED, id="cached"),
        pytest.param(VALIDATED, id="validated"),
        pytest.param(TABLES, id="tables"),
        pytest.param(WATCHED, id="watched"),
        pytest.param(SOURCE, id="source"),
        pytest.param(PICTURES, id="pictures"),
    ],
)
def test_a_script_of_a_theme_runs_unchanged(tmp_path, code):
    for_ray.run(tmp_path, BEGIN + code + '\nprint("done")\n')
