"""What data sets and expressions tell the engine: plans, before anything is read."""

import gc
import json
import os
import pickle
import subprocess
import sys

import headway.data
import pytest
from headway.data import _materialize, _scratch
from headway.data.expressions import col, lit, pyarrow_udf, random, star, udf
from headway.train import DataConfig


def nodes(dataset):
    return [(node["op"], node["args"]) for node in dataset._plan.json()]


def test_each_method_adds_a_node_and_leaves_the_data_set_as_it_was():
    numbers = headway.data.range(10)
    limited = numbers.limit(3)
    assert [op for op, _ in nodes(numbers)] == ["range"]
    assert nodes(limited)[1] == ("limit", {"rows": 3})
    assert repr(limited.random_shuffle(seed=1)) == "Dataset(range → limit → shuffle)"


def test_data_sets_with_functions_are_combined_under_new_numbers():
    def one(batch):
        return batch

    def other(batch):
        return {}

    left = headway.data.range(1).map_batches(one)
    right = headway.data.range(2).map_batches(other).map_batches(one)
    both = left.union(right, left)
    plan = both._plan.json()
    assert [node["inputs"] for node in plan] == [[], [0], [], [2], [3], [], [5], [1, 4, 6]]
    assert [node["args"]["blob"] for node in plan if node["op"] == "function"] == [0, 1, 0, 0]
    assert len(both._plan.blobs) == 2


def test_an_expression_is_arrow_s_kernels():
    expression = (col("a") + 1).abs().is_in([1, 2]) & ~col("b").str.starts_with("x")
    assert expression._node == {
        "call": "and_kleene",
        "args": [
            {
                "call": "is_in",
                "args": [
                    {"call": "abs", "args": [{"call": "add", "args": [{"column": "a"}, {"literal": 1, "type": None}]}]}
                ],
                "options": {"values": [1, 2]},
            },
            {
                "call": "invert",
                "args": [{"call": "starts_with", "args": [{"column": "b"}], "options": {"pattern": "x"}}],
            },
        ],
    }
    json.dumps(expression._node)


@pytest.mark.parametrize(
    ("value", "node"),
    [
        (b"\0", {"literal": {"base64": "AA=="}, "type": "binary"}),
        (None, {"literal": None, "type": None}),
        (lit(5, "float32"), {"literal": 5, "type": "float32"}),
        (lit(5, float), {"literal": 5, "type": "double"}),
    ],
)
def test_a_constant_keeps_its_type(value, node):
    assert (col("a") == value)._node["args"][1] == node


def test_an_expression_has_no_truth_value():
    with pytest.raises(TypeError, match=r"col\('a'\) > 1 has no truth value .* combine conditions with &"):
        headway.data.range(1).filter(expr=col("a") > 1 and col("b") > 2)


def test_python_functions_in_expressions_run_between_the_kernels():
    @udf(return_dtype="float64")
    def half(values):
        return values / 2

    @pyarrow_udf()
    def same(values):
        return values

    made = headway.data.range(5).with_column("x", half(same(col("id")) + 1) * 2)
    ops = [op for op, _ in nodes(made)]
    assert ops.count("function") == 2
    assert ops[-2:] == ["project", "drop"], "columns for calls do not stay"
    assert [args["batch_format"] for op, args in nodes(made) if op == "function"] == ["pyarrow", "numpy"]


def test_select_takes_names_expressions_and_all():
    numbers = headway.data.range(5)
    assert nodes(numbers.select_columns("id"))[1] == ("project", {"columns": [["id", {"column": "id"}]], "keep": False})
    assert nodes(numbers.select_columns([star(), (col("id") * 2).alias("double")]))[1][1]["keep"] is True
    with pytest.raises(ValueError, match=r"cols\[0\] is random\(\), which has no name; allowed: with .alias"):
        numbers.select_columns([random()])


def test_a_shuffle_with_a_seed_is_the_same_in_each_epoch_and_one_without_is_not():
    numbers = headway.data.range(5)
    seeded = headway.data.RandomSeedConfig(seed=3)
    assert nodes(numbers.random_shuffle(seed=3))[1][1] == {"kind": "exact", "seed": 3, "reseed": False}
    assert nodes(numbers.random_shuffle())[1][1] == {"kind": "exact", "seed": None, "reseed": True}
    assert nodes(numbers.randomize_block_order(seed=seeded))[1][1] == {"kind": "blocks", "seed": 3, "reseed": True}


def test_functions_travel_with_their_arguments(tmp_path):
    class Scale:
        def __init__(self, by):
            self.by = by

        def __call__(self, batch, plus=0):
            return {"id": batch["id"] * self.by + plus}

    made = headway.data.range(3).map_batches(
        Scale, fn_constructor_args=[3], fn_kwargs={"plus": 1}, concurrency=(1, 2), batch_size=2
    )
    args = nodes(made)[1][1]
    assert (args["workers"], args["batch_size"], args["changes_rows"]) == ([1, 2], 2, True)
    packed = pickle.loads(made._plan.blobs[0])
    function = packed["function"](*packed["constructor_args"], **packed["constructor_kwargs"])
    assert function({"id": 2}, *packed["args"], **packed["kwargs"]) == {"id": 7}


def test_what_cannot_be_pickled_is_named():
    lines = (line for line in "")
    with pytest.raises(TypeError, match=r"cannot be sent to the workers: fn → closure variable 'lines' is a .*gener"):
        headway.data.range(3).map_batches(lambda batch: next(lines))


def test_readers_say_what_they_were_told(tmp_path):
    (tmp_path / "a.csv").write_text("a;b\n1;2\n")
    import pyarrow.csv

    made = headway.data.read_csv(
        tmp_path,
        parse_options=pyarrow.csv.ParseOptions(delimiter=";"),
        convert_options=pyarrow.csv.ConvertOptions(column_types={"a": "float32"}, include_columns=["a"]),
        include_paths=True,
        shuffle=headway.data.FileShuffleConfig(seed=4),
        file_extensions=["csv"],
    )
    (op, args), shuffle = nodes(made)
    assert op == "read"
    assert args["paths"] == [str(tmp_path)]
    assert shuffle == ("shuffle", {"kind": "blocks", "seed": 4, "reseed": True})
    assert args["options"] == {
        "partitioning": {"style": "hive", "base_dir": None, "field_names": None},
        "include_paths": True, "file_extensions": ["csv"],
        "delimiter": ";", "column_types": {"a": "float"}, "columns": ["a"],
    }  # fmt: skip


def test_a_partition_filter_chooses_files(tmp_path):
    for name in ("a.txt", "b.txt", "_hidden"):
        (tmp_path / name).write_text("x\n")
    made = headway.data.read_text(tmp_path, partition_filter=lambda paths: [path for path in paths if "b." in path])
    assert nodes(made)[0][1]["paths"] == [str(tmp_path / "b.txt")]


def test_names_that_are_not_here_say_what_to_do():
    with pytest.raises(AttributeError, match=r"headway.data.read_hudi: read it with its own client, as a pyarrow"):
        headway.data.read_hudi  # noqa: B018
    with pytest.raises(ImportError, match=r"headway.data.from_pandas_refs: Headway has no object store"):
        from headway.data import from_pandas_refs  # noqa: F401


@pytest.fixture
def scratch(tmp_path, monkeypatch):
    monkeypatch.setenv("HEADWAY_MACHINE_TMPDIR", str(tmp_path))
    return lambda: sorted(os.listdir(_scratch.folder()))


def test_data_from_memory_is_a_file_as_long_as_a_data_set_uses_it(scratch):
    made = headway.data.from_items([{"a": 1}])
    later = made.limit(1)
    again = headway.data.from_items([{"a": 1}])
    assert nodes(made) == nodes(again), "the same data is the same file"
    assert len(scratch()) == 1
    travelled = pickle.loads(pickle.dumps(later))
    del made, later, again
    gc.collect()
    assert len(scratch()) == 1
    del travelled
    gc.collect()
    assert scratch() == []


def test_what_a_killed_process_leaves_is_deleted_by_the_next(scratch):
    code = "import headway.data, os, signal; kept = headway.data.from_items([1]); os.kill(os.getpid(), signal.SIGKILL)"
    subprocess.run([sys.executable, "-c", code], check=False)
    assert len(scratch()) == 1
    kept = headway.data.from_items([2])
    assert scratch() == [os.path.basename(kept._plan.held[0].path)]


def test_an_iterator_is_written_piece_by_piece(scratch, monkeypatch):
    monkeypatch.setattr(headway.data._memory, "_ROWS_AT_ONCE", 10)
    import pyarrow as pa

    made = headway.data.from_items({"n": number, "t": str(number)} for number in range(25))
    with pa.OSFile(made._plan.held[0].path) as file:
        reader = pa.ipc.open_file(file)
        assert [reader.get_batch(index).num_rows for index in range(reader.num_record_batches)] == [10, 10, 5]


def test_tables_of_another_kind_are_cast_to_the_first(scratch):
    import pyarrow as pa

    file = _materialize.written([pa.table({"a": [1], "b": ["x"]}), pa.table({"b": ["y"], "a": pa.array([2], "int8")})])
    with pa.OSFile(file.path) as source:
        assert pa.ipc.open_file(source).read_all().to_pylist() == [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]


def test_columns_of_one_name_are_kept(scratch):
    import pyarrow as pa

    twice = pa.table([[1], [2]], names=["a", "a"])
    file = _materialize.written([twice, twice])
    with pa.OSFile(file.path) as source:
        assert pa.ipc.open_file(source).read_all().equals(pa.concat_tables([twice, twice]))


def test_a_data_config_names_what_the_trainer_lacks():
    from headway.train import DataParallelTrainer

    with pytest.raises(ValueError, match=r"DataConfig.datasets_to_split has 'trian'; allowed: names of datasets: tr"):
        DataParallelTrainer(
            print, datasets={"train": headway.data.range(1)}, dataset_config=DataConfig(datasets_to_split=["trian"])
        )


def test_a_shard_s_options_leave_a_cpu_to_each_rank():
    shards = DataConfig().configure({"train": headway.data.range(8)}, 2)
    assert [shard["train"].get_context().execution_options.exclude_resources.cpu for shard in shards] == [2, 2]
    assert [shard["train"]._share.rank for shard in shards] == [0, 1]
    assert shards[0]["train"]._share.group == shards[1]["train"]._share.group


def test_the_settings_know_their_names():
    context = headway.data.DataContext.get_current()
    with pytest.raises(
        AttributeError, match="DataContext has no setting 'execution_option'; did you mean 'execution_op"
    ):
        context.execution_option = None
    with pytest.raises(
        AttributeError, match="DataContext has no setting 'target_max_blocksize'; did you mean 'target_m"
    ):
        context.target_max_blocksize  # noqa: B018
    assert not hasattr(context, "use_push_based_shuffle")
    assert context.copy().target_max_block_size == context.target_max_block_size
    options = headway.data.ExecutionOptions(
        resource_limits=headway.data.ExecutionResources.for_limits(object_store_memory=2**20)
    )
    assert options.budget() == 2**20
    assert headway.data.ExecutionOptions().budget() == 0


def test_a_sweep_passes_over_what_others_delete_meanwhile(tmp_path, monkeypatch):
    (tmp_path / "of_an_attempt").mkdir()
    found = list(os.scandir(tmp_path))
    (tmp_path / "of_an_attempt").rmdir()
    monkeypatch.setattr(os, "scandir", lambda place: iter(found))
    _scratch._sweep(str(tmp_path))
