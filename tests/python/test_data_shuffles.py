"""Shuffles of rows that do not fit into memory, and of rows that have no pieces: the order is the
same whatever the memory.
"""

import json
import re
import tempfile

import headway
import numpy as np
import processes
import pyarrow as pa
import pytest
from headway import data, train
from headway.data.expressions import col
from headway.train import DataParallelTrainer, RunConfig, ScalingConfig

ROWS = 700_000  # Of 128 bytes: more than the smallest budget, which is all that DuckDB gets.
SMALLEST_BUDGET = 64 << 20


@pytest.fixture(autouse=True)
def one_runtime_a_test():
    yield
    headway.shutdown()


@pytest.fixture
def small_memory(monkeypatch):
    options = data.ExecutionOptions(
        resource_limits=data.ExecutionResources.for_limits(object_store_memory=SMALLEST_BUDGET)
    )
    monkeypatch.setattr(data.DataContext.get_current(), "execution_options", options)
    headway.shutdown()  # The next data process has this budget.


def tensors():
    return data.range_tensor(ROWS, shape=(16,))


def ids(rows, **options):
    """The first number of each row, in order."""
    batches = rows.iterator().iter_batches(batch_size=50_000, **options)
    return np.concatenate([batch["data"][:, 0] for batch in batches])


def numbers(rows, **options):
    return [int(each) for batch in rows.iterator().iter_batches(batch_size=50, **options) for each in batch["id"]]


def test_an_exact_shuffle_beyond_memory_has_the_order_of_one_within(request, capfd):
    within = ids(tensors().random_shuffle(seed=3))
    headway.shutdown()
    assert "memory is full" not in capfd.readouterr().err
    request.getfixturevalue("small_memory")
    beyond = ids(tensors().random_shuffle(seed=3))
    assert "random_shuffle: memory is full" in capfd.readouterr().err
    assert np.array_equal(within, beyond)
    assert np.array_equal(np.sort(within), np.arange(ROWS))
    assert not np.array_equal(ids(tensors().random_shuffle(seed=4)), beyond)


def wide_rows():
    """Rows of 8 KB: a number, and 1,024 numbers that are equal to it."""
    count = 6_000
    values = pa.FixedSizeListArray.from_arrays(pa.array(np.repeat(np.arange(count), 1_024)), 1_024)
    return data.from_arrow(pa.table({"id": np.arange(count), "values": values}))


def assert_is_wide(batch):
    assert (batch["values"] == batch["id"][:, None]).all()


@pytest.mark.parametrize("shuffle", [{"local_shuffle_buffer_size": 1_500, "local_shuffle_seed": 5}, {}])
def test_shuffled_wide_rows_are_the_same_in_small_batches_and_in_large_ones_that_a_loop_keeps(shuffle):
    rows = wide_rows() if shuffle else wide_rows().random_shuffle(seed=5)
    small = []
    for batch in rows.iterator().iter_batches(batch_size=4, **shuffle):  # Each is a copy.
        assert_is_wide(batch)
        small += batch["id"].tolist()
    kept, large = [], []
    for number, batch in enumerate(rows.iterator().iter_batches(batch_size=96, **shuffle)):
        assert_is_wide(batch)
        large += batch["id"].tolist()
        if number % 3 == 0:  # Others come at the places of those between them.
            kept.append(batch)
    assert large == small
    assert sorted(large) == list(range(6_000)) != large
    for number, batch in enumerate(kept):
        assert_is_wide(batch)
        assert batch["id"].tolist() == large[3 * 96 * number :][: len(batch["id"])]


@pytest.mark.parametrize("knows_columns", [True, False])
def test_wide_rows_are_shuffled_where_a_later_output_has_a_wider_type(knows_columns):
    def with_fraction(batch):
        ids = batch["id"]
        made = ids + 0.5 if ids.max() == 3_999 else ids
        return {"id": ids, "made": made, "values": np.repeat(ids[:, None], 1_024, 1)}

    rows = data.range(4_000).map_batches(with_fraction, batch_size=100)
    if knows_columns:
        rows.schema()
    seen = []
    for batch in rows.iter_batches(batch_size=64, local_shuffle_buffer_size=1_000, local_shuffle_seed=1):
        assert_is_wide(batch)
        seen += batch["id"].tolist()
    assert sorted(seen) == list(range(4_000))


def test_lists_of_one_large_length_are_shuffled_beyond_memory(request):
    request.getfixturevalue("small_memory")
    numbers = np.arange(600)
    length = 16_384  # 128 KiB.
    values = pa.FixedSizeListArray.from_arrays(pa.array(np.repeat(numbers, length)), length)
    rows = data.from_arrow(pa.table({"id": numbers, "values": values})).random_shuffle(seed=1)
    seen = []
    for batch in rows.iter_batches(batch_size=40):
        assert_is_wide(batch)
        seen += batch["id"].tolist()
    assert sorted(seen) == numbers.tolist() != seen


def files_below(folder):
    return {path.name for path in folder.rglob("*") if path.is_file() and path.stat().st_size}


def test_what_streams_is_not_written_to_disk_and_what_is_says_how_much_and_where(request, monkeypatch, tmp_path, capfd):
    monkeypatch.setenv("HEADWAY_MACHINE_TMPDIR", str(tmp_path))
    request.getfixturevalue("small_memory")
    written, rows = set(), 0
    streamed = tensors().map_batches(lambda batch: batch, batch_size=4096)
    for batch in streamed.iterator().iter_batches(batch_size=10_000, local_shuffle_buffer_size=100_000):
        written |= files_below(tmp_path)
        rows += len(batch["data"])
    assert (rows, written) == (ROWS, set())
    assert "memory is full" not in capfd.readouterr().err

    ids(streamed.random_shuffle(seed=3))
    said = capfd.readouterr().err
    assert re.search(rf"random_shuffle: memory is full, and [\d.]+ MiB are in {tmp_path}/", said), said
    assert files_below(tmp_path) == set()


def test_what_a_killed_script_s_shuffle_wrote_is_deleted(script, tmp_path):
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    script.start(
        f"""
        import signal
        from headway import data

        options = data.DataContext.get_current().execution_options
        options.resource_limits = data.ExecutionResources.for_limits(object_store_memory={SMALLEST_BUDGET})
        shuffled = iter(data.range_tensor({ROWS}, shape=(16,)).random_shuffle(seed=3).iter_batches(batch_size=5_000))
        next(shuffled)
        print("reads", flush=True)
        signal.pause()
        """,
        HEADWAY_MACHINE_TMPDIR=str(scratch),
    )
    script.wait_for("reads")
    assert files_below(scratch)
    script.process.kill()
    assert not processes.wait_gone(script.processes, 30)
    assert files_below(scratch) == set()


def widened(batch):
    return {"data": np.repeat(batch["id"][:, None], 16, axis=1)}


def test_rows_that_a_function_makes_larger_are_shuffled_on_disk_before_they_fill_memory(request, capfd):
    # 5 MiB become 85.
    within = ids(data.range(ROWS).map_batches(widened, batch_size=4096).random_shuffle(seed=3))
    headway.shutdown()
    assert "memory is full" not in capfd.readouterr().err
    request.getfixturevalue("small_memory")
    beyond = ids(data.range(ROWS).map_batches(widened, batch_size=4096).random_shuffle(seed=3))
    assert "random_shuffle: memory is full" in capfd.readouterr().err
    assert np.array_equal(within, beyond)
    assert np.array_equal(np.sort(within), np.arange(ROWS))


def first_of_batches(rows):
    """What a function gets after a shuffle: each batch's size and first row."""

    def looked_at(batch):
        return {"rows": [len(batch["data"])], "first": [batch["data"][0, 0]]}

    return rows.random_shuffle(seed=3).map_batches(looked_at, batch_size=4096).take_all()


def test_functions_after_a_shuffle_get_the_same_batches_whatever_the_memory(request):
    within = first_of_batches(tensors())
    headway.shutdown()
    request.getfixturevalue("small_memory")
    assert first_of_batches(tensors()) == within
    assert sum(batch["rows"] for batch in within) == ROWS


def test_a_training_resumes_within_a_shuffle_beyond_memory(tmp_path, small_memory):
    def loop():
        rows = train.get_dataset_shard("train")
        seen, place = [], train.get_checkpoint()
        for number, batch in enumerate(rows.iter_batches(batch_size=20_000)):
            seen += batch["data"][:, 0].tolist()
            if place is None and number == 3:
                (tmp_path / "before").write_text(json.dumps(seen))
                with tempfile.TemporaryDirectory() as folder:
                    train.report({"batch": number}, checkpoint=train.Checkpoint(folder))
                raise RuntimeError("the first attempt ends here")
        (tmp_path / "after").write_text(json.dumps(seen))

    result = DataParallelTrainer(
        loop,
        datasets={"train": tensors().random_shuffle(seed=5)},
        scaling_config=ScalingConfig(num_workers=1),
        run_config=RunConfig(
            storage_path=str(tmp_path / "runs"), verbose=0, failure_config=train.FailureConfig(max_failures=1)
        ),
    ).fit()
    assert result.error is None
    seen = json.loads((tmp_path / "before").read_text()) + json.loads((tmp_path / "after").read_text())
    assert np.array_equal(seen, ids(tensors().random_shuffle(seed=5)))


@pytest.mark.parametrize(
    "made",
    [
        lambda: data.range(1000).limit(600),
        lambda: data.range(600).random_shuffle(seed=1),
        lambda: data.range(600).sort("id"),
    ],
    ids=["limit", "shuffle", "sort"],
)
def test_rows_without_pieces_are_shuffled_too(made):
    rows = made().random_shuffle(seed=2)
    shuffled = numbers(rows)
    assert sorted(shuffled) == list(range(600))
    assert shuffled != numbers(made())


def test_rows_without_pieces_are_shuffled_within_windows():
    rows = data.range(1000).limit(600)
    mixed = numbers(rows, local_shuffle_buffer_size=100, local_shuffle_seed=1)
    assert sorted(mixed) == list(range(600))
    for begin in range(0, 600, 100):
        window = mixed[begin : begin + 100]
        assert sorted(window) == list(range(begin, begin + 100))
        assert window != sorted(window)


def test_every_type_of_time_comes_back_as_it_was():
    moment = pa.array([1_700_000_000_000_000_001, None, 7], pa.timestamp("ns", "Europe/Paris"))
    times = {
        "at": moment,
        "plain": moment.cast(pa.timestamp("ns")),
        "lasts": pa.array([1, None, 3], pa.duration("ns")),
        "day": pa.array([1, None, 3], pa.date32()),
        "time": pa.array([1, None, 3], pa.time64("ns")),
        "short": pa.array([1, None, 3], pa.time32("ms")),
        "row": pa.array([0, 1, 2]),
    }
    table = pa.table(times)
    rows = data.from_arrow(table).limit(3).random_shuffle(seed=1)
    assert rows.schema().base_schema.types == table.schema.types
    assert pa.table(rows).sort_by("row").equals(table)


def test_lists_of_one_length_may_be_missing_or_have_missing_values():
    lists = [None if number % 3 == 0 else [None, number] for number in range(100)]
    rows = data.from_arrow(pa.table({"id": range(100), "x": pa.array(lists, pa.list_(pa.float32(), 2))}))
    shuffled = rows.random_shuffle(seed=1).map_batches(lambda batch: batch, batch_format="pyarrow")
    found = {
        row["id"]: row["x"] for table in shuffled.iter_batches(batch_format="pyarrow") for row in table.to_pylist()
    }
    assert list(found) != list(range(100))
    assert [found[number] for number in range(100)] == lists


def test_the_columns_of_a_shuffle_are_known_without_rows():
    rows = data.range(10).filter(expr=col("id") > 100).limit(3).random_shuffle(seed=1)
    assert rows.columns() == ["id"]
    assert rows.take_all() == []


def test_columns_that_differ_only_in_case_are_not_taken_for_one_another():
    rows = data.from_items([{"a": 1, "A": 2}]).limit(1).random_shuffle(seed=1)
    assert rows.take_all() == [{"a": 1, "A": 2}]


def test_pieces_that_are_not_there_cannot_be_put_into_another_order():
    with pytest.raises(ValueError, match=r"randomize_block_order: after a limit.*random_shuffle"):
        data.range(10).limit(5).randomize_block_order(seed=1).take_all()


@pytest.mark.parametrize(
    "made_anew", [lambda rows: rows, lambda rows: rows.repartition(7), lambda rows: rows.sort("id")]
)
def test_what_functions_draw_behind_a_shuffle_with_a_seed_is_the_same_in_each_run(made_anew):
    def drawn(seed, epochs):
        rows = made_anew(data.range(1000).random_shuffle(seed=seed))
        rows = rows.map_batches(lambda batch: {"drawn": np.random.random(len(batch["id"]))})
        iterator = rows.iterator()
        return [np.concatenate([batch["drawn"] for batch in iterator.iter_batches()]).tolist() for _ in range(epochs)]

    each_epoch = data.RandomSeedConfig(3)
    assert drawn(3, 2) == [drawn(3, 1)[0]] * 2
    assert drawn(each_epoch, 2) == drawn(each_epoch, 2)
    assert len({tuple(numbers) for numbers in drawn(each_epoch, 3) + drawn(4, 1)}) == 4


BUDGETED = """
import json
import numpy as np
from headway import data

options = data.DataContext.get_current().execution_options
options.resource_limits = data.ExecutionResources.for_limits(object_store_memory={budget} << 20)

def wide(batch):
    return {{"id": batch["id"], "data": np.repeat(batch["id"][:, None], 100, axis=1)}}

iterator = data.range(200_000).map_batches(wide, batch_size=1024){sort}.iterator()
if {state!r} is not None:
    iterator.load_state_dict({state!r})
batches = iter(iterator.iter_batches(batch_size=1000, local_shuffle_buffer_size=200_000, local_shuffle_seed=1))
ids = [batch["id"][:5].tolist() for _, batch in zip(range({count}), batches)]
print("ids:", json.dumps(ids))
print("state:", json.dumps(iterator.state_dict()))
"""


@pytest.mark.parametrize("sort", ["", '.sort("id")'])
def test_a_local_shuffle_that_resumes_with_more_memory_keeps_the_order(script, sort):
    """160 MB are shuffled in parts where memory holds no more at once, and as a whole otherwise.
    Rows of a sort come in other batches with more memory.
    """

    def run(budget, count=200, state=None):
        code, text = script.run(BUDGETED.format(budget=budget, count=count, state=state, sort=sort))
        assert code == 0, text
        found = dict(line.split(": ", 1) for line in text.splitlines() if line.startswith(("ids: ", "state: ")))
        return json.loads(found["ids"]), json.loads(found["state"])

    undisturbed, _ = run(192)
    first, state = run(192, count=90)
    rest, _ = run(2048, state=state)
    assert first + rest == undisturbed
    assert run(2048)[0] != undisturbed


def test_a_window_in_parts_has_each_row_once_whose_types_become_wider(script):
    """The second part is begun when the types of the first one are too narrow for what comes."""
    body = """
import numpy as np
from headway import data

options = data.DataContext.get_current().execution_options
options.resource_limits = data.ExecutionResources.for_limits(object_store_memory=160 << 20)

def wide(batch):
    is_late = batch["id"][0] > 90_000
    values = {"id": batch["id"], "data": np.repeat(batch["id"][:, None], 100, axis=1)}
    values["shapes"] = np.zeros((len(batch["id"]), 3 if is_late else 2))
    values["words"] = np.array(["text" if is_late else None] * len(batch["id"]), dtype=object)
    return values

rows = data.range(120_000).map_batches(wide, batch_size=1024)
batches = rows.iter_batches(batch_size=1000, local_shuffle_buffer_size=120_000, local_shuffle_seed=1)
ids = np.concatenate([batch["id"] for batch in batches])
assert ids[:50_000].max() < 90_000  # A part.
assert np.array_equal(np.sort(ids), np.arange(120_000)), np.unique(ids).size
print("whole")
"""
    code, text = script.run(body)
    assert (code, "whole" in text) == (0, True), text
