"""All processes of a data set stay within the budget and 64 MiB for each client."""

import numpy as np
import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as pq
import pytest
from watched_memory import START, most_bytes, runs_within_the_budget, watched


@pytest.mark.parametrize(
    "made", ["{'data': np.zeros((400_000, 1000))}", "pyarrow.table({'data': np.zeros(400_000_000)})"]
)
def test_an_output_of_3_gb_goes_on_in_pieces(script, made):
    """Zeros that nobody has written take no memory: all that is counted are copies."""
    body = f"""
import pyarrow
rows = sum(len(batch["data"]) for batch in data.range(1).map_batches(lambda batch: {made}).iter_batches())
print("rows:", rows)
"""
    runs_within_the_budget(script, body, rows=400_000)


def test_functions_that_return_more_than_they_got_stay_within_it(script):
    body = """
rows = sum(len(batch["data"]) for batch in data.range(4_000_000).map_batches(wide).iter_batches(batch_size=4096))
print("rows:", rows)
"""
    runs_within_the_budget(script, body, rows=4_000_000)


@pytest.mark.parametrize("pieces", ["", ".repartition(4)"])
def test_a_function_behind_one_that_returns_more_stays_within_it(script, tmp_path, pieces):
    """It gets the rows in parts while the first function makes more."""
    for number in range(4):
        ids = np.arange(number * 20_000, (number + 1) * 20_000)
        pq.write_table(pa.table({"id": ids}), tmp_path / f"{number}.parquet")
    body = f"""
def grows(batch):
    for begin in range(0, len(batch["id"]), 500):
        ids = np.repeat(batch["id"][begin : begin + 500], 20)
        yield {{"id": ids, "data": np.ones((len(ids), 125))}}

def adds(batch):
    return {{"id": batch["id"], "data": batch["data"] + 1}}

made = data.read_parquet({[str(tmp_path / f"{number}.parquet") for number in range(4)]!r})
made = made{pieces}.map_batches(grows).map_batches(adds, batch_size=1000)
ids = np.concatenate([batch["id"].copy() for batch in made.iter_batches(batch_size=1000)])
assert (ids == np.repeat(np.arange(80_000), 20)).all()
print("rows:", len(ids))
"""
    runs_within_the_budget(script, body, rows=1_600_000)


def test_a_sort_of_rows_that_functions_made_stays_within_it(script):
    body = """
made = data.range(3_000_000).map_batches(lambda batch: {"key": -batch["id"], **wide(batch)})
rows, last = 0, -3_000_000
for batch in made.sort("key").iter_batches(batch_size=4096):
    assert (np.diff(batch["key"], prepend=last) == 1).all()
    rows, last = rows + len(batch["key"]), batch["key"][-1]
print("rows:", rows)
"""
    runs_within_the_budget(script, body, rows=3_000_000)


def test_one_slow_client_of_two_does_not_let_memory_grow(script):
    body = """
made = data.range(1_000_000).map_batches(wide)
counts = [0, 0]
def use(client, shard, slow):
    for batch in shard.iter_batches(batch_size=4096):
        for _ in range(slow):
            np.sort(batch["data"].reshape(-1)[::-1])
        counts[client] += len(batch["data"])
clients = [
    threading.Thread(target=use, args=(client, shard, 5 * client))
    for client, shard in enumerate(made.streaming_split(2, equal=True))
]
for client in clients:
    client.start()
for client in clients:
    client.join()
assert counts[0] == counts[1]
print("rows:", counts[0])
"""
    runs_within_the_budget(script, body, rows=500_000, clients=2)


def test_ranks_that_train_on_rows_that_a_function_made_stay_within_it(script):
    body = """
from headway import train

def loop():
    shard = train.get_dataset_shard("train")
    for _ in range(2):
        rows = 0
        for batch in shard.iter_batches(batch_size=4096):
            np.sort(batch["data"].reshape(-1)[::-1])  # The function is quicker than the training.
            rows += len(batch["data"])
    train.report({"rows": rows})

result = train.DataParallelTrainer(
    loop,
    datasets={"train": data.range(3_000_000).map_batches(wide)},
    scaling_config=train.ScalingConfig(num_workers=2),
    run_config=train.RunConfig(verbose=0),
).fit()
print("rows:", result.metrics["rows"])
"""
    runs_within_the_budget(script, body, rows=1_500_000, clients=2, in_training=True)


def test_rows_that_were_in_memory_are_read_where_their_scratch_file_lies(script):
    """160 MB of them are one batch of the file."""
    body = """
rows = data.from_numpy(np.repeat(np.arange(40_000)[:, None], 512, axis=1))
for _ in range(2):
    for number, batch in enumerate(rows.iter_batches(batch_size=500)):
        assert (batch["data"] == np.arange(number * 500, (number + 1) * 500)[:, None]).all()
print("rows:", (number + 1) * 500)
"""
    code, text = script.run(START + watched(body))
    assert (code, "rows: 40000" in text) == (0, True), text
    assert 4 << 20 < most_bytes(text) < 80 << 20, text


def wide_groups(folder):
    """Row groups of 32 MiB, as `write_parquet` makes them of wide rows."""
    for number in range(3):
        ids = np.arange(number * 32_768, (number + 1) * 32_768)
        wide = pa.FixedSizeListArray.from_arrays(np.repeat(ids, 512), 512)
        pq.write_table(pa.table({"id": ids, "wide": wide}), folder / f"{number}.parquet", row_group_size=8_192)
    return 3 * 32_768, f"data.read_parquet({str(folder)!r})"


def large_stripes(folder):
    """Stripes of 64 MiB, which have 133 MB of rows."""
    count = 3_800_000
    for number in range(2):
        ids = np.arange(number * count, (number + 1) * count)
        text = pa.array(ids).cast(pa.string())
        orc.write_table(
            pa.table({"id": ids, "half": ids * 0.5, "text": text, "twice": ids * 2}), folder / f"{number}.orc"
        )
    return 2 * count, f"data.read_orc({str(folder)!r})"


@pytest.mark.parametrize("files", [wide_groups, large_stripes])
def test_large_groups_of_rows_stay_within_it_in_each_epoch(script, tmp_path, files):
    (tmp_path / "files").mkdir()
    count, rows = files(tmp_path / "files")
    body = f"""
for _ in range(4):
    rows = 0
    for batch in {rows}.iter_batches(batch_size=2048):
        assert (batch["id"] == np.arange(rows, rows + len(batch["id"]))).all()
        rows += len(batch["id"])
print("rows:", rows)
"""
    runs_within_the_budget(script, body, rows=count)
