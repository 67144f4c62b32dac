"""Names and arguments of Ray Data that steer or describe what is done in other words here."""

import datetime
import sqlite3

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from headway import data
from headway.data.expressions import col, lit, udf

pytestmark = pytest.mark.usefixtures("the_engine_ends")

DAY = datetime.datetime(2026, 1, 1)
ROWS = [
    {"x": 1, "n": [[1], [2, 3]], "s": {"a": 1, "b": "q"}, "t": DAY},
    {"x": 2, "n": [None, [4]], "s": {"a": 5, "b": "z"}, "t": None},
]


def values(dataset, name):
    return [row[name] for row in dataset.take_all()]


def computed(expression, dataset=None):
    return values((dataset or data.from_items(ROWS)).with_column("made", expression), "made")


def test_lists_of_lists_are_flattened():
    assert computed(col("n").list.flatten()) == [[1, 2, 3], [4]]


def test_values_and_slices_of_lists_in_brackets():
    tags = data.from_items([{"tags": ["a", "b", "c"]}, {"tags": ["d"]}])
    assert computed(col("tags").list[0], tags) == ["a", "d"]
    assert computed(col("tags").list[1:3], tags) == [["b", "c"], []]
    assert computed(col("tags").list[::2], tags) == [["a", "c"], ["d"]]
    with pytest.raises(TypeError, match=r"key is 'a' \(str\); allowed: an integer or a slice"):
        col("tags").list["a"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "write_mongo",
            r"Dataset.write_mongo: give each batch of iter_batches\(batch_format='pyarrow'\) to its client",
        ),
        ("write_datasink", "Dataset.write_datasink: .* the code that writes"),
        ("to_random_access_dataset", "write_parquet the rows, and look keys up with DuckDB"),
        ("write_parket", "^'Dataset' object has no attribute 'write_parket'"),
    ],
)
def test_methods_that_are_not_here_say_what_to_do(name, words):
    with pytest.raises(AttributeError, match=words):
        getattr(data.range(3), name)
    assert not hasattr(data.range(3), name)


def test_fields_of_structs_by_number():
    assert computed(col("s").struct.field_by_index(1)) == ["q", "z"]
    with pytest.raises(ValueError, match=r"column s has type struct.*there is no field 2; the struct has 2 fields"):
        computed(col("s").struct.field_by_index(2))
    with pytest.raises(ValueError, match="index is -1; allowed: 0 or more"):
        col("s").struct.field_by_index(-1)


def test_lists_of_tensors():
    made = data.from_numpy(np.arange(6).reshape(2, 3)).with_column("l", col("data").arr.to_list())
    assert values(made, "l") == [[0, 1, 2], [3, 4, 5]]
    assert made.schema().base_schema.field("l").type == pa.list_(pa.int64())


@pytest.mark.parametrize(
    "hours",
    [datetime.timedelta(hours=5), np.timedelta64(5, "h"), np.timedelta64(5 * 3600 * 10**9, "ns")],
)
def test_durations_in_expressions(hours):
    assert computed(col("t") + hours) == [DAY + datetime.timedelta(hours=5), None]
    passed = col("t") - lit(datetime.datetime(2025, 12, 31, 18))
    assert values(data.from_items(ROWS).filter(expr=passed > hours), "x") == [1]
    assert values(data.from_items(ROWS).filter(expr=passed < hours), "x") == []


def test_times_of_numpy_in_nanoseconds():
    assert values(data.from_items(ROWS).filter(expr=col("t") == np.datetime64("2026-01-01T00:00:00", "ns")), "x") == [1]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("x > 1", [2]),
        ("x > 1 and not x in [3, 4]", [2]),
        ("1 < x <= 2", [2]),
        ("x in (1, 2) or t is None", [1, 2]),
        ("x not in [2]", [1]),
        ("t is not None", [1]),
        ("t == None", [2]),
        ("s.b == 'q'", [1]),
        ("x ** 2 + 1 == 5", [2]),
        ("is_null(t)", [2]),
        ("is_in(x, [2, 7])", [2]),
        ("abs(x - 3) < 2", [2]),
        ("-x < -1 | False", [2]),
        (" ~(x == 1) ", [2]),
    ],
)
def test_conditions_as_text(text, kept):
    assert values(data.from_items(ROWS).filter(expr=text), "x") == kept


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x > ", "allowed: a condition such as 'age > 18'"),
        ("3", "has no column"),
        ("wrong(x)", "expr has 'wrong(x)'; allowed: columns' names, constants"),
        ("x in y", "expr has 'x in y'"),
        ("x > (lambda: 1)", "expr has 'lambda: 1'"),
        ("x[0] > 1", "expr has 'x[0]'"),
        ("__import__('os').system('true')", "expr has"),
    ],
)
def test_text_that_is_no_condition(text, words):
    with pytest.raises(ValueError, match=r"^expr ") as raised:
        data.from_items(ROWS).filter(expr=text)
    assert words in str(raised.value)


class Times:
    def __init__(self, factor):
        self.factor = factor

    def __call__(self, group):
        return {"rows": [len(group["id"]) * self.factor]}


@pytest.mark.parametrize("workers", [{"concurrency": 2}, {"compute": data.ActorPoolStrategy(size=1)}, {"num_cpus": 1}])
def test_classes_as_functions_of_groups(workers):
    groups = data.range(10).with_column("key", col("id") % 3).groupby("key")
    assert values(groups.map_groups(Times, fn_constructor_args=[10], **workers), "rows") == [40, 30, 30]


def test_all_rows_as_one_group():
    rows = data.range(10, override_num_blocks=3)
    assert values(rows.groupby(None).map_groups(lambda group: {"rows": [len(group["id"])]}), "rows") == [10]
    assert rows.groupby(None).sum("id").take_all() == [{"sum(id)": 45}]
    since = udf(pa.int64())(lambda ids: ids - ids.max())
    assert values(rows.groupby(None).with_column("back", since(col("id"))), "back") == [*range(-9, 1)]


def test_different_values_without_none():
    rows = data.from_items([{"a": 1}, {"a": None}, {"a": 1}])
    assert rows.unique("a") == [1, None]
    assert rows.unique("a", ignore_nulls=True) == [1]


def test_pieces_of_exactly_so_many_rows():
    made = data.range(10).repartition(target_num_rows_per_block=3, strict=True)
    assert [len(batch["id"]) for batch in made.iter_batches(batch_size=None)] == [3, 3, 3, 1]


def test_values_for_the_places_of_a_query(tmp_path):
    path = str(tmp_path / "rows.db")
    with sqlite3.connect(path) as connection:
        connection.execute("create table numbers (a int)")
        connection.executemany("insert into numbers values (?)", [(number,) for number in range(5)])
    for query, given in (("a > ?", [2]), ("a > :least", {"least": 2})):
        rows = data.read_sql(f"select a from numbers where {query}", lambda: sqlite3.connect(path), sql_params=given)
        assert values(rows, "a") == [3, 4]


def test_what_steers_rays_scheduler_is_taken(tmp_path):
    scheduling = {
        "num_cpus": 0.5,
        "num_gpus": 0,
        "memory": 1,
        "resources": {"a": 1},
        "ray_remote_args": {"max_retries": 1},
        "scheduling_strategy": "SPREAD",
        "max_calls": 1,
        "accelerator_type": None,
        "runtime_env": None,
    }
    data.range(3).write_csv(str(tmp_path), concurrency=2, ray_remote_args={}, arrow_open_stream_args=None)
    rows = data.read_csv(str(tmp_path), **scheduling, arrow_open_stream_args={"compression": "detect"})
    made = rows.map(lambda row: row, **scheduling, ray_remote_args_fn=dict).select_columns("id", concurrency=1)
    assert values(made.with_column("y", col("id"), num_cpus=1).random_shuffle(seed=1, ray_remote_args={}), "y")


@pytest.mark.parametrize(
    ("given", "kind", "words"),
    [
        ({"num_cpus": -1}, ValueError, "num_cpus is -1; allowed: None or a number from 0 on"),
        ({"memory": "1"}, TypeError, "memory is '1' (str); allowed: None or a number"),
        ({"ray_remote_args": 1}, TypeError, "ray_remote_args is 1 (int); allowed: None or a dict"),
        ({"accelerator_type": 1}, TypeError, "accelerator_type is 1 (int); allowed: None or text"),
        ({"runtime_env": {"pip": []}}, ValueError, "runtime_env is {'pip': []}; allowed: None: functions have"),
        ({"label_selector": {"a": "b"}}, ValueError, "allowed: None: ExecutionOptions(label_selector=...)"),
        ({"arrow_open_stream_args": {"compression": "gzip"}}, ValueError, "files are decompressed by the ends"),
        ({"arrow_open_stream_args": {"wrong": 1}}, ValueError, "has 'wrong'; allowed: compression and buffer_size"),
        ({"num_cpu": 1}, TypeError, "read_csv() got an unexpected keyword argument 'num_cpu'"),
        ({"path": "/"}, TypeError, "did you mean 'paths'?"),
    ],
)
def test_scheduling_that_is_wrong_or_would_mean_something(given, kind, words):
    with pytest.raises(kind) as raised:
        data.read_csv("/", **given)
    assert words in str(raised.value)


def test_methods_answer_a_misspelled_argument_by_their_users_names():
    with pytest.raises(TypeError, match=r"^Dataset\.map\(\) got an unexpected keyword argument 'fns'; did you mean"):
        data.range(1).map(fns=print)
    with pytest.raises(TypeError, match=r"^GroupedData\.map_groups\(\) got an unexpected keyword argument 'wrong'"):
        data.range(1).groupby("id").map_groups(print, wrong=1)


def files(folder):
    return [path.read_text() for path in sorted(folder.iterdir())]


def test_csv_as_write_options_say(tmp_path):
    rows = data.range(2).with_column("text", col("id").cast("string"))
    plain = pyarrow.csv.WriteOptions(include_header=False, delimiter=";", quoting_style="none")
    rows.write_csv(str(tmp_path / "plain"), write_options=plain)
    assert files(tmp_path / "plain") == ["0;0\n1;1\n"]
    quoted = pyarrow.csv.WriteOptions(quoting_style="all_valid")
    rows.write_csv(str(tmp_path / "quoted"), arrow_csv_args_fn=lambda: {"write_options": quoted})
    assert files(tmp_path / "quoted") == ['"id","text"\n"0","0"\n"1","1"\n']


def test_other_options_of_writes(tmp_path):
    rows = data.range(2)
    rows.write_json(str(tmp_path / "json"), orient="records", lines=True, num_rows_per_file=1)
    assert files(tmp_path / "json") == ['{"id":0}\n{"id":1}\n']
    rows.write_parquet(str(tmp_path / "zstd"), arrow_parquet_args_fn=lambda: {"compression": "zstd"})
    (file,) = (tmp_path / "zstd").iterdir()
    assert pyarrow.parquet.ParquetFile(file).metadata.row_group(0).column(0).compression == "ZSTD"
    with pytest.raises(FileNotFoundError, match="which is not there, and try_create_dir is False"):
        rows.write_csv(str(tmp_path / "none"), try_create_dir=False)
    rows.write_csv(str(tmp_path / "json"), try_create_dir=False)
    assert len(files(tmp_path / "json")) == 2


@pytest.mark.parametrize(
    ("method", "given", "kind", "words"),
    [
        ("write_csv", {"write_options": 3}, TypeError, "write_options is 3 (int); allowed: None or pyarrow.csv"),
        ("write_csv", {"arrow_csv_args_fn": 3}, TypeError, "allowed: None or a function that returns a dict"),
        ("write_csv", {"arrow_csv_args_fn": list}, TypeError, "what arrow_csv_args_fn returned is [] (list)"),
        ("write_json", {"lines": False}, ValueError, "lines is False; allowed: True"),
        ("write_json", {"orient": "split"}, ValueError, "orient is 'split'; allowed: \"records\""),
        ("write_json", {"pandas_json_args_fn": lambda: {"a": 1}}, ValueError, "gives 'a'; allowed: orient, lines"),
        ("write_parquet", {"arrow_parquet_args_fn": lambda: {"a": 1}}, ValueError, "gives 'a'; allowed: compression"),
        (
            "write_parquet",
            {"filename_provider": 3},
            TypeError,
            "filename_provider is 3 (int); allowed: None or a headway",
        ),
        ("write_orc", {"try_create_dir": 1}, TypeError, "try_create_dir is 1 (int); allowed: True or False"),
        ("write_numpy", {"num_rows_per_file": 0}, ValueError, "num_rows_per_file is 0; allowed: None or"),
        ("write_webdataset", {"encoder": 3}, TypeError, "encoder is 3 (int); allowed: True, False, None, a"),
        (
            "write_webdataset",
            {"encoder": "PIL"},
            ValueError,
            "encoder is 'PIL'; allowed: True, False, None, a function",
        ),
        ("write_csv", {"num_rows_per_file": 1, "min_rows_per_file": 1}, ValueError, "beside min_rows_per_file"),
    ],
)
def test_options_of_writes_that_are_wrong(tmp_path, method, given, kind, words):
    with pytest.raises(kind) as raised:
        getattr(data.range(1), method)(str(tmp_path / "out"), **given)
    assert words in str(raised.value)
    assert not (tmp_path / "out").exists()


def test_pieces_of_equal_keys_hold_all_rows_of_each():
    rows = data.range(200_000, override_num_blocks=8).map_batches(lambda batch: {**batch, "k": batch["id"] % 1000})
    pieces = [batch["k"] for batch in rows.repartition(4, keys="k").iter_batches(batch_size=None)]
    assert len(pieces) > 1
    assert np.concatenate(pieces).tolist() == sorted(number % 1000 for number in range(200_000))
    assert sum(len(np.unique(piece)) for piece in pieces) == 1000

    def counted(batch):
        keys, counts = np.unique(batch["k"], return_counts=True)
        return {"k": keys, "n": counts}

    made = rows.repartition(keys=["k"], sort=True).map_batches(counted).take_all()
    assert [(row["k"], row["n"]) for row in made] == [(key, 200) for key in range(1000)]
    with pytest.raises(ValueError, match="repartition, keys: there is no column 'x'; there are id, k"):
        rows.repartition(2, keys="x").take_all()


def test_unique_values_within_lists():
    rows = data.from_items([{"k": 1, "x": ["b", "a"]}, {"k": 1, "x": ["b", None]}, {"k": 2, "x": None}])
    within = data.aggregate.Unique("x", encode_lists=True)
    assert rows.aggregate(within) == {"unique(x)": ["a", "b", None]}
    assert rows.aggregate(data.aggregate.Unique("x", True, encode_lists=True)) == {"unique(x)": ["a", "b"]}
    assert [row["unique(x)"] for row in rows.groupby("k").aggregate(within).take_all()] == [["a", "b", None], []]
    assert rows.aggregate(data.aggregate.Unique("x", True)) == {"unique(x)": [["b", "a"], ["b", None]]}
    assert rows.aggregate(data.aggregate.Unique("k", encode_lists=True)) == {"unique(k)": [1, 2]}


def test_arrays_of_objects_are_read_where_pickles_are_allowed(tmp_path):
    np.save(tmp_path / "a.npy", np.array([{"x": 1}, None, {"x": 3}], object))
    np.save(tmp_path / "b.npy", np.array([{"x": 4}], object))
    with pytest.raises(ValueError, match=r"a\.npy"):
        data.read_numpy(str(tmp_path)).take_all()
    read = data.read_numpy(str(tmp_path), allow_pickle=True, include_paths=True).take_all()
    assert [row["data"] for row in read] == [{"x": 1}, None, {"x": 3}, {"x": 4}]
    assert [row["path"][-5:] for row in read] == ["a.npy"] * 3 + ["b.npy"]
    numbers = tmp_path / "numbers"
    numbers.mkdir()
    np.save(numbers / "a.npy", np.ones((2, 3)))
    np.save(numbers / "b.npy", np.zeros((1, 2)))
    read = data.read_numpy(str(numbers), allow_pickle=True).take_all()
    assert [row["data"].tolist() for row in read] == [[1, 1, 1]] * 2 + [[0, 0]]
    np.save(tmp_path / "b.npy", np.array({"x": 4}, object))
    with pytest.raises(ValueError, match=r"b\.npy: no array with a row for each value"):
        data.read_numpy(str(tmp_path / "b.npy"), allow_pickle=True).take_all()
