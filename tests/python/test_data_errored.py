"""``max_errored_blocks``: pieces of a data set that fail are left out, as many as are allowed, and
the user hears of it.
"""

import os
import re

import headway
import pyarrow as pa
import pyarrow.parquet
import pytest
from headway import data, train
from headway.data import DataContext
from headway.train import Checkpoint, DataParallelTrainer, FailureConfig, RunConfig, ScalingConfig

pytestmark = pytest.mark.usefixtures("the_engine_ends")


@pytest.fixture
def context():
    context = DataContext.get_current()
    before = context.max_errored_blocks
    yield context
    context.max_errored_blocks = before


@pytest.fixture
def files(tmp_path):
    """Six files of ten rows; those of 20 to 29 and of 50 to 59 are damaged."""
    for number in range(6):
        path = tmp_path / f"{number}.parquet"
        pyarrow.parquet.write_table(pa.table({"id": range(number * 10, number * 10 + 10)}), path)
        if number in (2, 5):
            path.write_bytes(b"PAR1 damaged")
    return tmp_path


WHOLE = [*range(20), *range(30, 50)]


def ids(rows):
    return [row["id"] for row in rows.take_all()]


def test_no_piece_may_fail_by_default(files):
    with pytest.raises(Exception, match=r"2\.parquet: "):
        data.read_parquet(str(files)).take_all()


def test_files_that_fail_are_left_out_and_the_first_is_named(files, context, capfd):
    context.max_errored_blocks = 2
    assert ids(data.read_parquet(str(files))) == WHOLE
    error = capfd.readouterr().err
    found = re.search(r"2 pieces of a data set were left out \(max_errored_blocks is 2\); the first one: (.*)", error)
    assert found, error
    assert f"{files}/2.parquet: " in found[1]


def test_one_failure_more_than_allowed_fails(files, context):
    context.max_errored_blocks = 1
    with pytest.raises(Exception, match=r"5\.parquet: "):
        data.read_parquet(str(files)).take_all()


def test_the_columns_are_those_of_the_first_file_that_can_be_read(files, context):
    (files / "0.parquet").write_bytes(b"PAR1 damaged")
    context.max_errored_blocks = -1
    rows = data.read_parquet(str(files))
    assert rows.schema().names == ["id"]
    assert ids(rows) == WHOLE[10:]


def test_rows_are_counted_as_they_come(files, context, capfd):
    context.max_errored_blocks = 2
    assert data.read_parquet(str(files)).count() == 40
    assert "2 pieces of a data set were left out" in capfd.readouterr().err


def test_a_write_has_the_rest(files, context, tmp_path_factory, capfd):
    context.max_errored_blocks = 2
    folder = str(tmp_path_factory.mktemp("out") / "rows")
    data.read_parquet(str(files)).write_parquet(folder)
    assert "2 pieces of a data set were left out" in capfd.readouterr().err
    context.max_errored_blocks = 0
    assert sorted(ids(data.read_parquet(folder))) == WHOLE


def test_a_small_file_before_a_function_counts_once(tmp_path, context, capfd):
    """Whatever batches the function asks for: a piece has rows of one file."""
    for number in range(20):
        path = tmp_path / f"{number:02}.parquet"
        ids_of = pa.table({"id": range(number * 10, number * 10 + 10)})
        pyarrow.parquet.write_table(ids_of, path, compression="none", use_dictionary=False)
        if number == 5:
            place = path.read_bytes().index(b"PAR1") + 4
            with path.open("r+b") as damaged:
                damaged.seek(place)
                damaged.write(b"\xff" * 16)
    context.max_errored_blocks = 1
    rows = data.read_parquet(str(tmp_path)).map_batches(lambda batch: batch, batch_size=7)
    assert ids(rows) == [*range(50), *range(60, 200)]
    assert "1 piece of a data set was left out" in capfd.readouterr().err


def test_a_function_may_fail_too(context, capfd):
    def careful(batch):
        if 3 in batch["id"]:
            raise ValueError("three is no number")
        return batch

    context.max_errored_blocks = 1
    rows = data.range(20).repartition(target_num_rows_per_block=5).map_batches(careful)
    assert ids(rows) == list(range(5, 20))
    assert "three is no number" in capfd.readouterr().err


def test_rows_from_memory_are_cut_into_the_same_pieces_where_some_may_fail(context, capfd):
    def careful(row):
        if row["id"] == 333:
            raise ValueError("333 is no number")
        return row

    context.max_errored_blocks = 1
    left_out = sorted({*range(1_000)} - {*ids(data.range(1_000).map(careful))})
    assert 333 in left_out
    assert len(left_out) == 32
    assert "333 is no number" in capfd.readouterr().err


@pytest.mark.parametrize(("value", "error"), [(-2, ValueError), (1.5, TypeError), (None, TypeError)])
def test_a_bad_number_is_refused(context, value, error):
    with pytest.raises(error, match=r"DataContext.max_errored_blocks is .*; allowed: -1 "):
        context.max_errored_blocks = value


def trained(config):
    """Writes down the ids of each step that is stored; rank 1 fails once, in mid-epoch."""
    rank = train.get_context().get_world_rank()
    is_first = train.get_checkpoint() is None
    for step, batch in enumerate(train.get_dataset_shard("train").iter_batches(batch_size=4)):
        if is_first and step == 2 and rank == 1:
            raise RuntimeError("lost")
        os.makedirs("state", exist_ok=True)
        train.report({"step": step}, checkpoint=Checkpoint("state"))
        with open(f"{config['folder']}/rank {rank}", "a") as file:
            print(*batch["id"], file=file)
        train.collective.barrier()  # Both have written before rank 1 fails.


def test_a_training_leaves_the_same_rows_out_before_and_after_a_restart(files, context, storage, tmp_path_factory):
    context.max_errored_blocks = 2
    folder = tmp_path_factory.mktemp("trained")
    DataParallelTrainer(
        trained,
        train_loop_config={"folder": str(folder)},
        datasets={"train": data.read_parquet(str(files))},
        scaling_config=ScalingConfig(num_workers=2),
        run_config=RunConfig(storage_path=storage, verbose=0, failure_config=FailureConfig(max_failures=1)),
    ).fit()
    headway.shutdown()
    steps = [[line.split() for line in (folder / f"rank {rank}").read_text().splitlines()] for rank in range(2)]
    assert len(steps[0]) == len(steps[1]), "equal shares"
    assert sorted(int(each) for rank in steps for step in rank for each in step) == WHOLE
