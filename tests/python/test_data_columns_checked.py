"""`fit()` refuses columns that a data set does not have before a worker starts."""

import re

import headway
import pyarrow as pa
import pyarrow.orc
import pyarrow.parquet
import pytest
from headway import data, train
from headway.data import _client, _program
from headway.data._column_check import check_columns
from headway.data.expressions import col
from headway.train import DataConfig, DataParallelTrainer, RunConfig, ScalingConfig


@pytest.fixture(autouse=True)
def one_runtime_a_test():
    yield
    headway.shutdown()


@pytest.fixture
def folder(tmp_path):
    """Parquet files with the columns a and b."""
    made = tmp_path / "rows"
    made.mkdir()
    for index in range(2):
        table = pa.table({"a": [2 * index, 2 * index + 1], "b": ["x", "y"]})
        pyarrow.parquet.write_table(table, made / f"{index}.parquet")
    return made


def loop(config):
    """Writes down that a worker has begun, and what it got."""
    rows = [int(each) for batch in train.get_dataset_shard("train").iter_batches() for each in batch["a"]]
    with open(config["begun"], "a") as file:
        print(*rows, file=file)
    train.report({"rows": len(rows)})


def fit(dataset, tmp_path, **options):
    return DataParallelTrainer(
        loop,
        train_loop_config={"begun": str(tmp_path / "begun")},
        datasets={"train": dataset},
        scaling_config=ScalingConfig(num_workers=1),
        run_config=RunConfig(storage_path=str(tmp_path / "runs"), name="checked", verbose=0),
        **options,
    ).fit()


def check_refused(dataset, tmp_path):
    """What `schema()` says, `fit()` says of the data set, and nothing has begun."""
    with pytest.raises(ValueError, match="column") as of_schema:
        dataset.schema()
    with pytest.raises(ValueError, match="column") as of_fit:
        fit(dataset, tmp_path)
    assert str(of_fit.value) == f"data set 'train': {of_schema.value}"
    assert not (tmp_path / "begun").exists()
    assert not (tmp_path / "runs").exists()
    return str(of_fit.value)


NAMING = {
    "select_columns": lambda rows: rows.select_columns(["a", "nope"]),
    "drop_columns": lambda rows: rows.drop_columns(["nope"]),
    "filter": lambda rows: rows.filter(expr="nope > 1"),
    "with_column": lambda rows: rows.with_column("c", col("nope") + 1),
    "sort": lambda rows: rows.sort("nope"),
    "groupby": lambda rows: rows.groupby("nope").count(),
    "sum of a group": lambda rows: rows.groupby("a").sum("nope"),
    "map_groups": lambda rows: rows.groupby("nope").map_groups(lambda group: group),
    "behind a shuffle": lambda rows: rows.random_shuffle().filter(expr="nope > 1"),
    "behind a sort": lambda rows: rows.sort("a").filter(expr="nope > 1"),
    "behind a limit": lambda rows: rows.limit(3).select_columns(["nope"]),
    "of a union": lambda rows: rows.union(rows).filter(expr="nope > 1"),
    "dropped before": lambda rows: rows.drop_columns(["a"]).with_column("c", col("a") + 1),
}


@pytest.mark.parametrize("naming", NAMING)
def test_a_column_that_files_do_not_have_is_refused_before_a_worker_starts(naming, folder, tmp_path):
    words = check_refused(NAMING[naming](data.read_parquet(str(folder))), tmp_path)
    assert "there is no column" in words
    assert re.search(r'; .* (are|is) .*"?b"?$', words), words


def test_a_type_that_does_not_fit_is_refused_before_a_worker_starts(folder, tmp_path):
    words = check_refused(data.read_parquet(str(folder)).with_column("c", col("b") + 1), tmp_path)
    assert "column b has type string" in words


def test_a_type_that_cannot_be_summed_is_refused_before_a_worker_starts(folder, tmp_path):
    check_refused(data.read_parquet(str(folder)).groupby("a").sum("b"), tmp_path)


def of_csv(folder):
    (folder / "rows.csv").write_text("a,b\n1,x\n")
    return data.read_csv(str(folder / "rows.csv"))


def of_orc(folder):
    pyarrow.orc.write_table(pa.table({"a": [1]}), folder / "rows.orc")
    return data.read_orc(str(folder / "rows.orc"))


SOURCES = {
    "csv": of_csv,
    "orc": of_orc,
    "range": lambda folder: data.range(3),
    "items": lambda folder: data.from_items([{"a": 1}]),
    "arrow": lambda folder: data.from_arrow(pa.table({"a": [1]})),
}


@pytest.mark.parametrize("source", SOURCES)
def test_columns_of_each_kind_of_source_are_known(source, folder, tmp_path):
    check_refused(SOURCES[source](folder).select_columns(["nope"]), tmp_path)


def test_columns_that_are_asked_of_a_read_are_refused_before_a_worker_starts(folder, tmp_path):
    check_refused(data.read_parquet(str(folder), columns=["nope"]), tmp_path)


def test_a_data_set_that_a_function_makes_is_looked_at(folder, tmp_path):
    with pytest.raises(ValueError, match="there is no column nope"):
        fit(lambda: data.read_parquet(str(folder)).filter(expr="nope > 1"), tmp_path)
    assert not (tmp_path / "begun").exists()


def test_a_data_set_that_has_its_columns_is_trained_on(folder, tmp_path):
    rows = data.read_parquet(str(folder)).with_column("c", col("a") * 2).filter(expr="c > 1").sort("a")
    assert fit(rows, tmp_path).metrics["rows"] == 3
    assert (tmp_path / "begun").read_text() == "1 2 3\n"


def test_no_function_runs_before_the_workers_start(folder, tmp_path):
    """What is named behind a function is known to the function's rows alone."""
    called = tmp_path / "called"

    def add(batch):
        with open(called, "a") as file:
            print(len(batch["a"]), file=file)
        return {**batch, "c": batch["a"]}

    rows = data.read_parquet(str(folder)).select_columns(["a"]).map_batches(add).filter(expr="c > 1")
    check_columns(rows._plan, rows.context)
    assert not called.exists()
    assert fit(rows, tmp_path).metrics["rows"] == 2


def test_a_column_that_is_missing_before_a_function_is_refused_without_calling_it(folder, tmp_path):
    called = tmp_path / "called"

    def note(batch):
        called.touch()
        return batch

    rows = data.read_parquet(str(folder)).filter(expr="nope > 1").map_batches(note).select_columns(["a"])
    with pytest.raises(ValueError, match="there is no column nope"):
        fit(rows, tmp_path)
    assert not called.exists()
    assert not (tmp_path / "begun").exists()


def test_later_files_are_not_opened(folder, tmp_path):
    """The first file's columns are known; what the second one is, its reader finds out."""
    (folder / "1.parquet").write_bytes(b"no parquet")
    rows = data.read_parquet(str(folder))
    check_columns(rows.filter(expr="a > 1")._plan, rows.context)
    with pytest.raises(ValueError, match="there is no column nope"):
        check_columns(rows.filter(expr="nope > 1")._plan, rows.context)


def test_types_are_those_of_all_files_that_decide_them(tmp_path):
    """Only the last file shows that the column is text."""
    (tmp_path / "0.csv").write_text("a\n1\n")
    (tmp_path / "1.csv").write_text("a\nx\n")
    rows = data.read_csv(str(tmp_path)).with_column("up", col("a").str.upper())
    check_columns(rows._plan, rows.context)
    assert [row["up"] for row in rows.take_all()] == ["1", "X"]


def test_files_that_the_driver_cannot_read_are_left_to_the_ranks(folder, tmp_path):
    """The driver finds none of its columns wanting, as it does not know them."""
    rows = data.read_parquet(str(folder)).filter(expr="nope > 1")
    for file in folder.iterdir():
        file.unlink()
    check_columns(rows._plan, rows.context)


def test_without_a_data_process_training_starts_as_before(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(_program, "path", lambda: str(tmp_path / "there is none"))
    rows = data.read_parquet(str(folder)).filter(expr="a > 1")
    assert fit(rows, tmp_path).metrics["rows"] == 2


@pytest.mark.parametrize(
    "made",
    [
        lambda rows: rows,
        lambda rows: rows.random_shuffle(),
        lambda rows: rows.map_batches(lambda batch: batch).filter(expr="a > 1"),
    ],
)
def test_nothing_is_asked_where_no_column_is_named_before_a_function(made, folder):
    assert not made(data.read_parquet(str(folder)))._plan.names_known_columns()


def test_a_process_that_was_started_for_the_check_ends(folder):
    _client._leave()
    rows = data.read_parquet(str(folder)).filter(expr="a > 1")
    check_columns(rows._plan, rows.context)
    assert not _client._engines


class Own(DataConfig):
    """Gives each rank the rows without the step that names a column."""

    def configure(self, datasets, world_size, worker_handles=None, worker_node_ids=None, **kwargs):
        return [{"train": data.range(2).rename_columns({"id": "a"}).iterator()} for _ in range(world_size)]


def test_a_users_own_split_is_not_looked_into(folder, tmp_path):
    rows = data.read_parquet(str(folder)).filter(expr="nope > 1")
    assert fit(rows, tmp_path, dataset_config=Own()).metrics["rows"] == 2
