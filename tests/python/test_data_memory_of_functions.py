"""Functions with few workers, chains of them, and shuffles behind them stay within the budget and
64 MiB for each client, whatever they make of their rows.
"""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from watched_memory import runs_within_the_budget


def ids_in_files(folder, rows, files):
    """Column "id", in files of one row group each; the files' names."""
    names = []
    for number in range(files):
        ids = np.arange(rows // files * number, rows // files * (number + 1))
        names.append(str(folder / f"{number}.parquet"))
        pq.write_table(pa.table({"id": ids}), names[-1], row_group_size=len(ids))
    return names


@pytest.mark.parametrize("concurrency", [1, 2])
@pytest.mark.parametrize(
    ("rows", "files", "times"), [(10_000_000, 2, 15), (400_000, 8, 500)], ids=["many parts", "many files"]
)
def test_a_function_with_few_workers_that_grows_rows_stays_within_it(script, tmp_path, rows, files, times, concurrency):
    """A file behind the one whose rows are needed does not fill memory while it has the worker."""
    body = f"""
def grows(batch):
    return {{"id": batch["id"], "data": np.repeat(batch["id"][:, None], {times}, axis=1)}}

made = data.read_parquet({ids_in_files(tmp_path, rows, files)!r})
made = made.map_batches(grows, batch_size=1024, concurrency={concurrency})
rows = 0
for batch in made.iter_batches(batch_size=1024):
    assert (batch["id"] == np.arange(rows, rows + len(batch["id"]))).all()
    rows += len(batch["id"])
print("rows:", rows)
"""
    runs_within_the_budget(script, body, rows=rows)


@pytest.mark.parametrize("first_workers", [None, 1])
@pytest.mark.parametrize("second", ["drops", "keeps", "grows"])
def test_a_chain_whose_second_function_has_one_worker_stays_within_it(script, tmp_path, first_workers, second):
    """The first one makes no more rows than the second one takes, while the worker is busy."""
    times, rows = (20, 400_000) if second == "grows" else (128, 1_600_000)
    body = f"""
def wide(batch):
    return {{"id": batch["id"], "data": np.repeat(batch["id"][:, None], {times}, axis=1)}}

def drops(batch):
    return {{"id": np.sort(batch["data"], axis=1)[:, 0]}}

def keeps(batch):
    return batch

def grows(batch):
    return {{"id": batch["id"], "data": np.repeat(batch["data"], 25, axis=1)}}

made = data.read_parquet({ids_in_files(tmp_path, rows, 4)!r})
made = made.map_batches(wide, batch_size=4096, concurrency={first_workers})
made = made.map_batches({second}, batch_size=1024, concurrency=1)
rows = 0
for batch in made.iter_batches(batch_size=1024):
    assert (batch["id"] == np.arange(rows, rows + len(batch["id"]))).all()
    rows += len(batch["id"])
print("rows:", rows)
"""
    runs_within_the_budget(script, body, rows=rows)


@pytest.mark.parametrize("plan", ["a chain", "a zip"])
def test_a_function_that_a_plan_has_twice_stays_within_it(script, tmp_path, plan):
    """Each has workers apart: what the first one makes does not wait for its own worker."""
    count = 60_000 if plan == "a chain" else 40_000
    body = f"""
def wide(batch):
    return {{"id": batch["id"], "data": np.repeat(batch["id"][:, None], 1000, axis=1)}}

def keeps(batch):
    return batch

class Keeps:
    def __call__(self, batch):
        return batch

made = data.read_parquet({ids_in_files(tmp_path, count, 1)!r})
if {plan!r} == "a chain":
    made = made.map_batches(wide, batch_size=512).map_batches(keeps, batch_size=512, concurrency=1)
    made = made.map_batches(Keeps, batch_size=256, concurrency=1).map_batches(keeps, batch_size=512, concurrency=1)
else:
    made = made.map_batches(wide, batch_size=512, concurrency=1)
    other = data.read_parquet({ids_in_files(tmp_path, count, 1)!r})
    other = other.map_batches(wide, batch_size=512, concurrency=1)
    made = made.zip(other).select_columns(["id", "data"])
rows = 0
for batch in made.iter_batches(batch_size=256):
    assert (batch["id"] == np.arange(rows, rows + len(batch["id"]))).all()
    rows += len(batch["id"])
print("rows:", rows)
"""
    runs_within_the_budget(script, body, rows=count)


def test_a_function_with_few_gpus_stays_within_it(script, tmp_path):
    """It has as few workers as there are GPUs for, though nobody has named a number."""
    body = f"""
os.environ["CUDA_VISIBLE_DEVICES"] = "0"

def wide(batch):
    return {{"id": batch["id"], "data": np.repeat(batch["id"][:, None], 15, axis=1)}}

rows = 0
made = data.read_parquet({ids_in_files(tmp_path, 10_000_000, 2)!r}).map_batches(wide, batch_size=1024, num_gpus=1)
for batch in made.iter_batches(batch_size=1024):
    assert (batch["id"] == np.arange(rows, rows + len(batch["id"]))).all()
    rows += len(batch["id"])
print("rows:", rows)
"""
    runs_within_the_budget(script, body, rows=10_000_000)


def test_a_shuffle_of_rows_that_a_function_grows_stays_within_it(script, tmp_path):
    """On disk, in the order that it has in memory."""
    body = f"""
def shuffled(times):
    def grows(batch):
        return {{"id": batch["id"], "data": np.repeat(batch["id"][:, None], times, axis=1)}}

    made = data.read_parquet({ids_in_files(tmp_path, 60_000, 4)!r})
    made = made.map_batches(grows, batch_size=1024).random_shuffle(seed=3)
    ids = np.concatenate([batch["id"].copy() for batch in made.iter_batches(batch_size=64)])
    assert (np.sort(ids) == np.arange(60_000)).all() and (ids != np.arange(60_000)).any()
    return ids

assert (shuffled(1300) == shuffled(1)).all()
print("rows: 60000")
"""
    text = runs_within_the_budget(script, body, rows=60_000)
    assert text.count("random_shuffle: memory is full") > 0, text


@pytest.mark.parametrize("behind", ["", ".repartition(4)"])
def test_a_local_shuffle_of_rows_that_a_function_grows_stays_within_it(script, tmp_path, behind):
    """Also where the number of rows that it is asked for takes more than the budget."""
    body = f"""
def grows(batch):
    return {{"id": batch["id"], "data": np.repeat(batch["id"][:, None], 200, axis=1)}}

made = data.read_parquet({ids_in_files(tmp_path, 400_000, 4)!r})
made = made.map_batches(grows, batch_size=1024){behind}
ids = [
    batch["id"].copy()
    for batch in made.iter_batches(batch_size=64, local_shuffle_buffer_size=300_000, local_shuffle_seed=1)
]
assert (np.sort(np.concatenate(ids)) == np.arange(400_000)).all()
assert np.mean([np.ptp(each) for each in ids]) > 10_000
print("rows:", sum(map(len, ids)))
"""
    runs_within_the_budget(script, body, rows=400_000)


@pytest.mark.parametrize("made", ["a zip", "a shuffle"])
def test_columns_of_large_rows_that_are_put_together_stay_within_it(script, made):
    """Rows of 1 MB: what is computed from a unit is there as a whole."""
    body = f"""
from headway.data.expressions import col

def wide(batch):
    return {{"id": batch["id"], "data": np.repeat(batch["id"][:, None], 125_000, axis=1)}}

made = data.range(1000).map_batches(wide, batch_size=8)
made = made.zip(data.range(1000).rename_columns({{"id": "other"}})) if {made!r} == "a zip" else made.random_shuffle()
rows = 0
for batch in made.with_column("next", col("id") + 1).iter_batches(batch_size=8):
    assert (batch["next"] == batch["data"][:, 9] + 1).all()
    rows += len(batch["id"])
print("rows:", rows)
"""
    runs_within_the_budget(script, body, rows=1000)


def test_a_local_shuffle_of_lanes_that_one_machine_reads_stays_within_it(script):
    """A run that may have two machines, and has one, shuffles two windows at the same time."""
    body = """
from dataclasses import replace

iterator = data.range_tensor(1_500_000, shape=(100,)).iterator()
iterator._share = replace(iterator._share, lanes=2)
rows = 0
for batch in iterator.iter_batches(batch_size=1000, local_shuffle_buffer_size=1_500_000):
    rows += len(batch["data"])
print("rows:", rows)
"""
    runs_within_the_budget(script, body, rows=1_500_000)
