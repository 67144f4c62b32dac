"""Bad arguments of headway.data are refused by name, before anything starts."""

import bad_data_calls
import headway.data
import pytest
from headway.data.aggregate import Mean, Sum
from headway.data.expressions import col
from test_arguments import assert_refused

pytestmark = pytest.mark.usefixtures("nothing_runs")


def test_a_bad_argument_is_refused_by_name():
    for call, arguments, kind, argument, given, allowed in bad_data_calls.ROWS:
        with pytest.raises(kind) as caught:
            call(**arguments)
        assert_refused(caught, argument, given, allowed)


ROWS = headway.data.range(3)
ITERATOR = ROWS.iterator()
GROUPS = ROWS.groupby("id")
BOOL = "True or False"
ABOVE_0 = "integer above 0"
NAN = float("nan")
PAIRS = {"feature_columns": "id", "label_columns": "id"}


class Built:
    def __call__(self, batch):
        return batch


METHODS = [
    (ROWS.to_dask, {"npartitions": 0}, ValueError, "npartitions", "0", ABOVE_0),
    (ROWS.to_spark, {"spark": 3}, TypeError, "spark", "3 (int)", "a pyspark.sql.SparkSession"),
    (ROWS.map, {"fn": 3}, TypeError, "fn", "3 (int)", "a function or a class"),
    (ROWS.map, {"fn": print, "fn_args": 3}, TypeError, "fn_args", "3 (int)", "a list of arguments"),
    (ROWS.map, {"fn": print, "fn_kwargs": 3}, TypeError, "fn_kwargs", "3 (int)", "a dict of arguments"),
    (ROWS.map, {"fn": print, "fn_constructor_args": [1]}, ValueError, "fn_constructor_args", "[1]", "a class as fn"),
    (ROWS.map, {"fn": Built, "concurrency": 0}, ValueError, "concurrency", "0", ABOVE_0),
    (ROWS.map, {"fn": Built, "concurrency": (3, 2)}, ValueError, "concurrency", "(3, 2)", "the least and the most"),
    (ROWS.map, {"fn": Built, "compute": "actors"}, TypeError, "compute", "'actors'", "an ActorPoolStrategy"),
    (ROWS.map, {"fn": print, "num_gpus": -1}, ValueError, "num_gpus", "-1", "0 or more"),
    (ROWS.map, {"fn": print, "num_gpus": 1.5}, ValueError, "num_gpus", "1.5", "a part of 1, or a whole number"),
    (ROWS.map_batches, {"fn": print, "batch_size": 0}, ValueError, "batch_size", "0", ABOVE_0),
    (ROWS.map_batches, {"fn": print, "batch_format": "polars"}, ValueError, "batch_format", "'polars'", '"pyarrow"'),
    (ROWS.map_batches, {"fn": print, "zero_copy_batch": 1}, TypeError, "zero_copy_batch", "1 (int)", BOOL),
    (ROWS.filter, {}, ValueError, "fn", "neither", "one of them"),
    (ROWS.filter, {"expr": 3}, TypeError, "expr", "3 (int)", 'col("age") > 18'),
    (ROWS.with_column, {"column_name": 3, "expr": col("id")}, TypeError, "column_name", "3 (int)", "a column's name"),
    (ROWS.with_column, {"column_name": "a", "expr": 3}, TypeError, "exprs['a']", "3 (int)", "an expression"),
    (ROWS.with_columns, {"exprs": {}}, TypeError, "exprs", "{}", "a dict from columns' names"),
    (ROWS.select_columns, {"cols": [3]}, TypeError, "cols[0]", "3 (int)", "a column's name or an expression"),
    (ROWS.drop_columns, {"cols": ["a", "a"]}, ValueError, "cols", "['a', 'a']", "each name once"),
    (ROWS.add_column, {"col": "a", "fn": 3}, TypeError, "fn", "3 (int)", "a function of a batch"),
    (ROWS.limit, {"limit": -1}, ValueError, "limit", "-1", "0 or more"),
    (ROWS.random_sample, {"fraction": 2}, ValueError, "fraction", "2", "from 0 to 1"),
    (ROWS.random_shuffle, {"seed": "a"}, TypeError, "seed", "'a' (str)", "None or an integer from 0"),
    (ROWS.sort, {"key": []}, ValueError, "key", "[]", "a column's name or a list"),
    (ROWS.sort, {"key": ["a", "b"], "descending": [True]}, ValueError, "descending", "1 values", "each of 2 columns"),
    (ROWS.sort, {"key": "id", "boundaries": 3}, TypeError, "boundaries", "3 (int)", "None, or numbers from the least"),
    (ROWS.sort, {"key": "id", "boundaries": ["a"]}, TypeError, "boundaries[0]", "'a' (str)", "a number"),
    (ROWS.sort, {"key": "id", "boundaries": [5, 1]}, ValueError, "boundaries", "[5, 1]", "from the least to the"),
    (ROWS.sort, {"key": "id", "boundaries": [NAN]}, ValueError, "boundaries[0]", "nan", "a finite number"),
    (ROWS.sort, {"key": "id", "boundaries": [2**64]}, ValueError, "boundaries[0]", "18446744073709551616", "64 bits"),
    (ROWS.repartition, {}, ValueError, "num_blocks", "neither", "one of them"),
    (ROWS.repartition, {"num_blocks": 0}, ValueError, "num_blocks", "0", ABOVE_0),
    (ROWS.repartition, {"num_blocks": 0, "keys": "id"}, ValueError, "num_blocks", "0", ABOVE_0),
    (ROWS.repartition, {"num_blocks": 1, "keys": []}, ValueError, "keys", "[]", "a column's name or a list"),
    (ROWS.repartition, {"num_blocks": 1, "keys": 3}, TypeError, "keys", "3 (int)", "a column's name or a list"),
    (ROWS.repartition, {"num_blocks": 1, "sort": True}, ValueError, "sort", "True", "False, or keys"),
    (
        *(ROWS.repartition, {"target_num_rows_per_block": 1, "keys": "id"}, ValueError),
        *("target_num_rows_per_block", "beside keys", "num_blocks, or neither"),
    ),
    (ROWS.mix, {}, ValueError, "others", "empty", "at least one data set"),
    (ROWS.join, {"ds": 3, "join_type": "inner"}, TypeError, "ds", "3 (int)", "a headway.data.Dataset"),
    (
        *(ROWS.join, {"ds": ROWS, "join_type": "inner", "num_partitions": 0}, ValueError),
        *("num_partitions", "0", ABOVE_0),
    ),
    (ROWS.groupby, {"key": "id", "num_partitions": "a"}, TypeError, "num_partitions", "'a' (str)", ABOVE_0),
    (ROWS.join, {"ds": ROWS, "join_type": "cross"}, ValueError, "join_type", "'cross'", "inner, left_outer"),
    (ROWS.streaming_train_test_split, {"test_size": 1.0}, ValueError, "test_size", "1.0", "between 0 and 1"),
    (
        ROWS.streaming_train_test_split, {"test_size": 0.5, "split_type": "id"},
        ValueError, "split_type", "'id'", '"random" or "hash"',
    ),
    (
        ROWS.streaming_train_test_split, {"test_size": 0.5, "split_type": "hash"},
        ValueError, "hash_column", "None with", "a column's name",
    ),
    (
        ROWS.streaming_train_test_split, {"test_size": 0.5, "split_type": "hash", "hash_column": "id", "seed": 1},
        ValueError, "seed", '1 with split_type "hash"', "None",
    ),
    (
        ROWS.streaming_train_test_split, {"test_size": 0.5, "hash_column": "id"},
        ValueError, "hash_column", "'id'", "None",
    ),
    (ROWS.with_columns, {"exprs": 3}, TypeError, "exprs", "3 (int)", "or unnest(...)"),
    (ROWS.to_torch, {"label_column": 3}, TypeError, "label_column", "3 (int)", "None or a column's name"),
    (ROWS.to_torch, {"label_column_dtype": 3}, TypeError, "label_column_dtype", "3 (int)", "a torch.dtype"),
    (ROWS.to_torch, {"feature_columns": "id"}, TypeError, "feature_columns", "'id' (str)", "a list of columns' names"),
    (ROWS.to_torch, {"feature_columns": ["id", ["id"]]}, TypeError, "feature_columns", "['id', ['id']]", "a list of"),
    (ROWS.to_torch, {"feature_columns": {"a": "id"}}, TypeError, "feature_columns", "{'a': 'id'} (dict)", "a dict of"),
    (ROWS.to_torch, {"feature_columns": [["id"], []]}, ValueError, "feature_columns", "[['id'], []]", "none of them"),
    (ROWS.to_torch, {"feature_column_dtypes": 3}, TypeError, "feature_column_dtypes", "3 (int)", "a torch.dtype"),
    (
        ROWS.to_torch, {"feature_columns": [["id"]], "feature_column_dtypes": []},
        ValueError, "feature_column_dtypes", "0 dtypes", "one for each",
    ),
    (ROWS.to_torch, {"unsqueeze_label_tensor": 1}, TypeError, "unsqueeze_label_tensor", "1 (int)", BOOL),
    (ROWS.to_torch, {"batch_size": 0}, ValueError, "batch_size", "0", ABOVE_0),
    (ROWS.to_tf, {**PAIRS, "label_columns": 3}, TypeError, "label_columns", "3 (int)", "a list of names"),
    (ROWS.to_tf, {**PAIRS, "additional_columns": [3]}, TypeError, "additional_columns", "[3]", "a list of names"),
    (ROWS.to_tf, {**PAIRS, "label_type_spec": {}}, TypeError, "label_type_spec", "{}", "a dict of them for a list"),
    (
        ROWS.to_tf, {"feature_columns": ["id"], "label_columns": "id", "feature_type_spec": {}},
        ValueError, "feature_type_spec", "no 'id'", "for each column",
    ),
    (ROWS.to_tf, {**PAIRS, "batch_size": 0}, ValueError, "batch_size", "0", ABOVE_0),
    (ROWS.to_tf, {**PAIRS, "prefetch_batches": -1}, ValueError, "prefetch_batches", "-1", "0 or more"),
    (ROWS.split, {"n": 0}, ValueError, "n", "0", ABOVE_0),
    (ROWS.split_at_indices, {"indices": [3, 1]}, ValueError, "indices", "[3, 1]", "from the least to the greatest"),
    (ROWS.split_proportionately, {"proportions": [0.5, 0.5]}, ValueError, "proportions", "0.5", "below 1"),
    (ROWS.train_test_split, {"test_size": 1.0}, ValueError, "test_size", "1.0", "between 0 and 1"),
    (ROWS.train_test_split, {"test_size": 0.5, "seed": 1}, ValueError, "seed", "1 without shuffle", "shuffle=True"),
    (ROWS.streaming_split, {"n": 2, "equal": 1}, TypeError, "equal", "1 (int)", BOOL),
    (ROWS.streaming_split, {"n": 2, "locality_hints": ["a"]}, ValueError, "locality_hints", "1 ids", "2 ids"),
    (ROWS.take_all, {"limit": -1}, ValueError, "limit", "-1", "0 or more"),
    (ROWS.take_batch, {"batch_size": 0}, ValueError, "batch_size", "0", ABOVE_0),
    (ROWS.write_parquet, {"path": "x", "mode": "add"}, ValueError, "mode", "'add'", '"append", "create"'),
    (ROWS.write_csv, {"path": "x", "max_rows_per_file": 0}, ValueError, "max_rows_per_file", "0", ABOVE_0),
    (ROWS.write_csv, {"path": "x", "filename_provider": "a"}, TypeError, "filename_provider", "'a' (str)", "None or a"),
    (ROWS.write_images, {"path": "x", "column": 3}, TypeError, "column", "3 (int)", "a column's name"),
    (
        ROWS.write_images, {"path": "x", "column": "id", "file_format": "docx"},
        ValueError, "file_format", "'docx'", "a format that Pillow writes",
    ),
    (ROWS.write_images, {"path": "x", "column": "id", "mode": "add"}, ValueError, "mode", "'add'", '"append"'),
    (ROWS.write_csv, {"path": "x", "mode": "upsert"}, ValueError, "mode", "'upsert'", '"ignore", "error"'),
    (ROWS.write_delta, {"path": "x", "mode": "upsert"}, ValueError, "mode", "'upsert'", '"append", "overwrite"'),
    (ROWS.write_iceberg, {"table_identifier": 3}, TypeError, "table_identifier", "3 (int)", "a table's name"),
    (ROWS.write_iceberg, {"table_identifier": "x", "mode": "ignore"}, ValueError, "mode", "'ignore'", '"upsert"'),
    (
        ROWS.write_iceberg, {"table_identifier": "x", "catalog_kwargs": 3},
        TypeError, "catalog_kwargs", "3 (int)", "None or a dict",
    ),
    (
        ROWS.write_iceberg, {"table_identifier": "x", "overwrite_filter": 3, "mode": "overwrite"},
        TypeError, "overwrite_filter", "3 (int)", "None, a condition as text",
    ),
    (
        ROWS.write_iceberg, {"table_identifier": "x", "overwrite_filter": "a > 1"},
        ValueError, "overwrite_filter", 'given with mode "append"', '"overwrite"',
    ),
    (
        ROWS.write_iceberg, {"table_identifier": "x", "upsert_kwargs": {}},
        ValueError, "upsert_kwargs", 'given with mode "append"', '"upsert"',
    ),
    (ROWS.write_sql, {"sql": 3, "connection_factory": print}, TypeError, "sql", "3 (int)", "a statement"),
    (
        ROWS.write_sql, {"sql": "insert", "connection_factory": 3},
        TypeError, "connection_factory", "3 (int)", "a function that returns a connection",
    ),
    (
        ROWS.write_sql, {"sql": "insert", "connection_factory": dict},
        TypeError, "what connection_factory returned", "{} (dict)", "a connection of Python's DB-API",
    ),
    (GROUPS.aggregate, {}, ValueError, "aggs", "empty", "at least one aggregate"),
    (ROWS.summary, {"columns": 3}, TypeError, "columns", "3 (int)", "None or a list of names"),
    (
        ROWS.summary, {"override_dtype_agg_mapping": 3},
        TypeError, "override_dtype_agg_mapping", "3 (int)", "None or a dict from types",
    ),
    (GROUPS.with_column, {"column_name": 3, "expr": col("id")}, TypeError, "column_name", "3 (int)", "a column's name"),
    (GROUPS.with_column, {"column_name": "a", "expr": 3}, TypeError, "expr", "3 (int)", "an expression"),
    (GROUPS.map_groups, {"fn": 3}, TypeError, "fn", "3 (int)", "a function or a class"),
    (ITERATOR.iter_batches, {"batch_size": 0}, ValueError, "batch_size", "0", ABOVE_0),
    (ITERATOR.iter_batches, {"prefetch_batches": -1}, ValueError, "prefetch_batches", "-1", "0 or more"),
    (ITERATOR.iter_batches, {"drop_last": 1}, TypeError, "drop_last", "1 (int)", BOOL),
    (
        ITERATOR.iter_batches, {"batch_size": None, "local_shuffle_buffer_size": 8},
        ValueError, "local_shuffle_buffer_size", "without batch_size", "with a batch_size",
    ),
    (ITERATOR.iter_torch_batches, {"dtypes": "float"}, TypeError, "dtypes", "'float' (str)", "a torch.dtype"),
    (ITERATOR.iter_torch_batches, {"collate_fn": 3}, TypeError, "collate_fn", "3 (int)", "None, a function"),
    (ITERATOR.load_state_dict, {"state_dict": {}}, TypeError, "state_dict", "{}", "what state_dict() gave"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "arguments", "kind", "argument", "given", "allowed"), METHODS)
def test_a_bad_argument_of_a_method_is_refused_by_name(call, arguments, kind, argument, given, allowed):
    with pytest.raises(kind) as caught:
        call(**arguments)
    assert_refused(caught, argument, given, allowed)


def test_two_results_need_two_names():
    with pytest.raises(ValueError, match=r"aggs has sum\(id\), sum\(id\); allowed: different names"):
        GROUPS.aggregate(Sum("id"), Sum("id"))
    with pytest.raises(ValueError, match=r"aggs has id; allowed: different names, and none of a key"):
        GROUPS.aggregate(Sum("id", alias_name="id"))
    assert GROUPS.aggregate(Sum("id"), Mean("id"))._plan.json()[-1]["args"]["operation"] == "aggregate"


def test_a_misspelled_argument_of_a_method_is_answered_with_the_right_one():
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'batch_sise'; did you mean 'batch_size'\?"):
        ITERATOR.iter_torch_batches(batch_sise=3)
    with pytest.raises(TypeError, match=r"unexpected keyword argument 'shufle'; did you mean 'shuffle'\?"):
        ROWS.train_test_split(0.1, shufle=True)
