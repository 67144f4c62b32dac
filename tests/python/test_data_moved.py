"""Data sets as scripts for Ray Data, pandas and Arrow have them: types, nulls, positions."""

import json
import threading

import headway.data
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from headway.data.aggregate import AsList, Unique
from headway.data.datatype import DataType
from headway.data.expressions import col, udf
from headway.data.preprocessors import BatchMapper, Chain, Concatenator, OrdinalEncoder, StandardScaler

pytestmark = pytest.mark.usefixtures("the_engine_ends")


@pytest.mark.parametrize("kind", [pa.list_view(pa.int32()), pa.large_list_view(pa.int32())], ids=str)
def test_views_of_lists_are_lists(kind):
    values = [[1, 2], None, [], [3, None], [4]]
    rows = headway.data.from_arrow(pa.table({"x": pa.array(values, kind)}).slice(0, 5))
    assert rows.to_arrow()["x"].to_pylist() == values
    assert sorted(map(repr, rows.random_shuffle(seed=1).to_arrow()["x"].to_pylist())) == sorted(map(repr, values))


def test_views_of_lists_within_others_are_refused_in_words():
    kind = pa.struct([("a", pa.list_view(pa.int64()))])
    with pytest.raises(TypeError, match=r"column 'x' is of type struct<a: list_view.*allowed: no views of lists"):
        headway.data.from_arrow(pa.table({"x": pa.array([{"a": [1]}], kind)}))


@pytest.mark.parametrize(
    "column",
    [
        pa.array(["a", None, "x" * 20], pa.string_view()),
        pa.array([b"a", None, b"\xff" * 20], pa.binary_view()),
        pa.RunEndEncodedArray.from_arrays([2, 3], pa.array([1, 2])),
    ],
    ids=lambda column: str(column.type),
)
def test_views_and_runs_are_values(column):
    rows = headway.data.from_arrow(pa.table({"x": column}))
    assert rows.to_arrow()["x"].to_pylist() == column.to_pylist()
    shuffled = rows.random_shuffle(seed=1).to_arrow()["x"].to_pylist()
    assert sorted(map(repr, shuffled)) == sorted(map(repr, column.to_pylist()))


def test_inputs_differ_in_the_order_of_columns_and_in_whether_there_may_be_nulls():
    numbers = headway.data.range(2)
    more = numbers.with_column("id", col("id") + 10)
    assert [row["id"] for row in numbers.union(more).take_all()] == [0, 1, 10, 11]
    assert sorted(row["id"] for row in more.mix(numbers).take_all()) == [0, 1, 10, 11]
    one, other = headway.data.from_items([{"a": 1, "b": 2}]), headway.data.from_items([{"b": 4, "a": 3}])
    both = [{"a": 1, "b": 2}, {"a": 3, "b": 4}]
    assert one.union(other).take_all() == both
    assert one.limit(1).union(other.sort("a")).take_all() == both


def test_inputs_with_other_columns_are_named():
    numbers = headway.data.range(2)
    with pytest.raises(ValueError, match=r'data set 2 has the column "id" of type string, .* of type int64; cast one'):
        numbers.union(headway.data.from_items([{"id": "1"}])).take_all()
    with pytest.raises(ValueError, match='data set 2 has the column "x", which the first data set lacks'):
        numbers.union(headway.data.from_items([{"id": 1, "x": 1}])).take_all()
    with pytest.raises(ValueError, match='data set 2 lacks the column "id"'):
        numbers.mix(headway.data.from_items([{"x": 1}])).take_all()


@pytest.mark.parametrize("batch_format", ["numpy", "pandas"])
def test_integers_stay_integers_where_a_later_piece_has_nulls(batch_format):
    values = [1, 2, None, 4, 5, 6]
    pieces = headway.data.from_arrow(pa.table({"x": values})).repartition(3)
    kept = pieces.map_batches(lambda batch: batch, batch_format=batch_format).to_arrow()
    assert kept.schema.field("x").type == pa.int64()
    assert kept["x"].to_pylist() == values


def test_numbers_that_are_no_integers_of_the_first_output_s_type_get_a_wider_one():
    def halves(row):
        return {"x": int(row["id"]) if row["id"] < 4 else 0.5}

    def wide(row):
        return {"x": np.int32(1) if row["id"] < 4 else 2**40}

    pieces = headway.data.range(8, override_num_blocks=2)
    for function, last in ((halves, 0.5), (wide, 2**40)):
        assert [row["x"] for row in pieces.map(function).take_all()][4:] == [last] * 4


def test_a_list_of_rows_that_ends_early_is_an_error(tmp_path):
    file = tmp_path / "rows.json"
    file.write_text('[{"a": 1}, {"a": 2}')
    with pytest.raises(ValueError, match=r"rows\.json: the list of rows ends early"):
        headway.data.read_json(str(file)).take_all()


def test_consumers_that_ask_for_other_batches_than_each_other_do_not_wait_forever():
    shares = headway.data.range(40).streaming_split(2, equal=True)
    failures = []

    def consume(share, size):
        try:
            list(share.iter_batches(batch_size=size))
        except ValueError as failure:
            failures.append(str(failure))

    threads = [threading.Thread(target=consume, args=each, daemon=True) for each in zip(shares, (4, 8), strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(failures) == 2
    assert all("data set and arguments must be equal on all ranks" in each for each in failures)


@pytest.mark.parametrize("shuffled", [False, True])
@pytest.mark.parametrize("rows", [1, 4095, 4096, 5000])
def test_a_position_among_single_rows_is_the_row(rows, shuffled):
    def made():
        numbers = headway.data.range(6000)
        return (numbers.random_shuffle() if shuffled else numbers).iterator()

    iterator = made()
    left = iter(iterator.iter_rows())
    for _ in range(rows):
        next(left)
    state = json.loads(json.dumps(iterator.state_dict()))
    resumed = made()
    resumed.load_state_dict(state)
    assert list(resumed.iter_rows()) == list(left)
    assert list(resumed.iter_rows()) == list(iterator.iter_rows())


def test_a_state_without_a_position_is_refused():
    with pytest.raises(TypeError, match="allowed: what state_dict"):
        headway.data.range(5).iterator().load_state_dict({"version": 1})


def test_a_data_set_is_true():
    assert headway.data.range(0)


def test_lists_have_missing_values_unless_they_are_ignored():
    rows = headway.data.from_items([{"x": 1}, {"x": None}])
    assert rows.aggregate(AsList("x"), Unique("x")) == {"list(x)": [1, None], "unique(x)": [1, None]}
    assert rows.aggregate(AsList("x", ignore_nulls=True)) == {"list(x)": [1]}


def test_a_filter_keeps_rows_whose_verdict_is_true_for_python():
    assert headway.data.range(3).filter(lambda row: row["id"]).take_all() == [{"id": 1}, {"id": 2}]


def test_arguments_of_a_function_in_an_expression_are_named():
    @udf(return_dtype="int64")
    def total(one, other, more=1):
        return one + other + more

    rows = headway.data.range(2).with_column("x", total(col("id"), other=col("id") * 10, more=3))
    assert [row["x"] for row in rows.take_all()] == [3, 14]


def test_missing_values_and_times_of_numpy_and_pandas():
    def row(_):
        return {"a": np.datetime64("2020-01-02"), "b": np.datetime64("NaT"), "c": pd.NaT, "d": pd.NA}

    made = headway.data.range(1).map(row).take_all()[0]
    assert str(made["a"]) == "2020-01-02"
    assert [made[name] for name in "bcd"] == [None] * 3
    frame = pd.DataFrame({"x": pd.Series([pd.NA, 1], dtype=object)})
    assert headway.data.from_pandas(frame).take_all() == [{"x": None}, {"x": 1}]


def test_frames_and_series_that_are_no_batch_are_said():
    with pytest.raises(ValueError, match="has the column 'a' twice"):
        headway.data.from_pandas(pd.DataFrame([[1, 2]], columns=["a", "a"]))
    with pytest.raises(TypeError, match=r"a batch must be a dictionary of arrays, .* and this is"):
        headway.data.range(3).map_batches(lambda frame: frame["id"], batch_format="pandas").take_all()


def test_methods_of_expressions_as_ray_names_their_arguments():
    row = headway.data.from_items([{"s": "aü", "t": pd.Timestamp("2020-01-02"), "p": {"x": 1}}])
    made = {
        "bytes": col("s").str.byte_len(),
        "matches": col("s").str.match_regex("^a"),
        "padded": col("s").str.pad(4, fillchar="-"),
        "year": col("t").dt.strftime(fmt="%Y"),
        "field": col("p").struct.field(field_name="x"),
    }
    first = row.with_columns(made).select_columns(list(made)).take_all()[0]
    assert first == {"bytes": 3, "matches": True, "padded": "aü--", "year": "2020", "field": 1}


def test_folders_without_files_to_read_say_why(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no file in this folder"):
        headway.data.read_parquet(str(tmp_path)).count()
    (tmp_path / "part-0").write_text("x")
    with pytest.raises(OSError, match="whose name ends in parquet; file_extensions says which endings are read"):
        headway.data.read_parquet(str(tmp_path)).count()


def test_greys_of_16_bits_do_not_lose_the_lower_ones_unasked(tmp_path):
    image = pytest.importorskip("PIL.Image")
    file = str(tmp_path / "deep.png")
    image.fromarray(np.arange(20, dtype=np.uint16).reshape(4, 5) * 999).save(file)
    with pytest.raises(ValueError, match=r"deep\.png: its greys have 16 bits"):
        headway.data.read_images(file).take_all()
    grey = headway.data.read_images(file, mode="L").take_all()[0]["image"]
    assert grey.tolist() == (np.arange(20).reshape(4, 5) * 999 >> 8).tolist()


@pytest.mark.parametrize("array", [np.arange(24.0).reshape(2, 3, 4), np.arange(6).reshape(3, 2) > 2], ids=["3", "bool"])
def test_arrays_in_fortran_s_order(tmp_path, array):
    file = str(tmp_path / "x.npy")
    np.save(file, np.asfortranarray(array))
    assert np.array_equal(headway.data.read_numpy(file).take_batch(9)["data"], array)


def test_texts_are_added_and_lists_sorted_as_ray_does():
    rows = headway.data.from_arrow(pa.table({"s": ["a", None], "l": pa.array(["b", "c"], pa.large_string())}))
    joined = rows.with_columns({"x": col("s") + "!", "y": "<" + col("s") + col("l")})
    assert [(row["x"], row["y"]) for row in joined.take_all()] == [("a!", "<ab"), (None, None)]
    lists = headway.data.from_items([{"x": [2, None, 3]}])
    turned = lists.with_column("x", col("x").list.sort("descending", null_placement="at_start"))
    assert turned.take_all() == [{"x": [None, 3, 2]}]
    with pytest.raises(ValueError, match="order is 'down'; allowed"):
        col("x").list.sort("down")


def test_a_mix_goes_on_to_the_end_of_the_longest_unless_it_is_told_otherwise():
    few, many = headway.data.range(2), headway.data.range(6)
    assert len(few.mix(many).take_all()) == 8
    shortest = headway.data.MixStoppingCondition.STOP_ON_SHORTEST
    assert len(few.mix(many, stopping_condition=shortest).take_all()) < 8


def test_a_function_that_breaks_its_promise_about_rows_is_an_error():
    rows = headway.data.range(30).map_batches(lambda batch: {"x": batch["id"][:1]}, udf_modifying_row_count=False)
    with pytest.raises(ValueError, match=r"it returned 1 rows for 30; udf_modifying_row_count=False promises"):
        rows.take_all()


def test_options_of_csv_are_taken_or_refused(tmp_path):
    import pyarrow.csv as pc

    file = tmp_path / "x.csv"
    file.write_text("a;b\n1,5;x\n")
    semicolons = pc.ParseOptions(delimiter=";")
    commas = pc.ConvertOptions(decimal_point=",")
    rows = headway.data.read_csv(str(file), parse_options=semicolons, convert_options=commas)
    assert rows.take_all() == [{"a": 1.5, "b": "x"}]
    with pytest.raises(ValueError, match=r"parse_options\.invalid_row_handler is"):
        headway.data.read_csv(str(file), parse_options=pc.ParseOptions(invalid_row_handler=lambda row: "skip"))
    with pytest.raises(ValueError, match=r"convert_options\.timestamp_parsers is \['%d'\]"):
        headway.data.read_csv(str(file), convert_options=pc.ConvertOptions(timestamp_parsers=["%d"]))


def test_tables_that_do_not_fit_together_are_named():
    with pytest.raises(ValueError, match="a table has the columns b, and the first one a"):
        headway.data.from_arrow([pa.table({"a": [1]}), pa.table({"b": [2]})])
    with pytest.raises(TypeError, match=r"column 'a' is of type .*string in a table, and of type int64 in the first"):
        headway.data.from_pandas([pd.DataFrame({"a": [1]}), pd.DataFrame({"a": ["x"]})])


@pytest.mark.parametrize("kind", ["inner", "left_semi"])
def test_keys_of_a_join_that_can_not_be_equal_are_named(kind):
    pytest.importorskip("duckdb")
    numbers = headway.data.from_items([{"id": 1}])
    texts = headway.data.from_items([{"key": "1"}])
    with pytest.raises(ValueError, match="join: column 'id' is int64 on the left, and 'key' is string on the right"):
        numbers.join(texts, kind, on="id", right_on="key").take_all()
    floats = headway.data.from_items([{"key": 1.0}])
    assert numbers.join(floats, kind, on="id", right_on="key").take_all() == [{"id": 1}]


def test_a_preprocessor_s_workers_are_asked_for_where_it_transforms():
    rows = headway.data.from_items([{"a": 1.0, "b": "x"}, {"a": 3.0, "b": "y"}])
    encoder = OrdinalEncoder(columns=["b"]).fit(rows)
    encoded = encoder.transform(rows, batch_size=1, num_cpus=1, memory=1, concurrency=2)
    assert [row["b"] for row in encoded.take_all()] == [0, 1]
    assert encoded._plan.nodes[-1]["args"]["workers"] == [2, 2]
    chain = Chain(StandardScaler(columns=["a"]), Concatenator(columns=["a"]))
    made = chain.fit_transform(rows, transform_batch_size=1, transform_concurrency=2)
    assert [row["concat_out"].tolist() for row in made.take_all()] == [[-1.0], [1.0]]
    counted = BatchMapper(lambda batch: {"n": [len(batch["a"])]}, batch_format="numpy").transform(rows, batch_size=1)
    assert [row["n"] for row in counted.take_all()] == [1, 1]
    with pytest.raises(ValueError, match="batch_size is 0"):
        encoder.transform(rows, batch_size=0)


def test_types_by_ray_s_names():
    @udf(return_dtype=DataType.float32())
    def half(values):
        return values / 2

    rows = headway.data.range(2).with_column("x", half(col("id"))).with_column("y", col("id").cast(DataType.string()))
    assert rows.schema().base_schema.field("x").type == pa.float32()
    of_arrow = udf(return_dtype=pa.float32())(lambda values: values / 2)
    assert headway.data.range(2).with_column("x", of_arrow(col("id"))).schema().types == [pa.int64(), pa.float32()]
    assert [row["y"] for row in rows.take_all()] == ["0", "1"]
    kinds = {
        DataType.list(DataType.uint8()): pa.list_(pa.uint8()),
        DataType.struct([("a", DataType.bool())]): pa.struct([("a", pa.bool_())]),
        DataType.map(DataType.string(), DataType.int8()): pa.map_(pa.string(), pa.int8()),
        DataType.fixed_size_list(DataType.float64(), 2): pa.list_(pa.float64(), 2),
        DataType.temporal("timestamp", "ms", "UTC"): pa.timestamp("ms", "UTC"),
        DataType.tensor((2, 3), DataType.float32()): pa.fixed_shape_tensor(pa.float32(), (2, 3)),
        DataType.from_numpy("int16"): pa.int16(),
        DataType.from_arrow(pa.date32()): pa.date32(),
    }
    assert [made.to_arrow_dtype() for made in kinds] == list(kinds.values())
    assert DataType.int16().to_numpy_dtype() == np.int16
    with pytest.raises(AttributeError, match="DataType has no int128; there are int8"):
        DataType.int128()
    with pytest.raises(TypeError, match=r"value_type is 'int8'.*allowed: a DataType"):
        DataType.list("int8")
    with pytest.raises(ValueError, match="temporal_type is 'year'; allowed: timestamp"):
        DataType.temporal("year")


def test_the_older_name_of_the_number_of_pieces(tmp_path):
    folder = str(tmp_path / "rows")
    headway.data.range(10).write_parquet(folder)
    pieces = headway.data.read_parquet(folder, parallelism=5).iter_batches(batch_size=None)
    assert [len(piece["id"]) for piece in pieces] == [2] * 5
    assert len(headway.data.read_parquet(folder, parallelism=-1).take_all()) == 10


def test_maps_go_through_functions_as_they_are():
    kind = pa.map_(pa.string(), pa.int64())
    values = [[("a", 1), ("b", 2)], None, []]
    rows = headway.data.from_arrow(pa.table({"x": pa.array(values, kind)}))
    for made in (rows.map(lambda row: row), rows.map_batches(lambda batch: batch)):
        assert made.to_arrow().schema.field("x").type == kind
        assert made.to_arrow()["x"].to_pylist() == values
    with pytest.raises(TypeError, match=r"column 'x\.key': row 1 is of type str"):
        headway.data.from_items([{"x": [(1, "a"), ("b", 2)]}])
