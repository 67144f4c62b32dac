"""Rows for test_every_argument.py: bad arguments of headway.data."""

import inspect

from headway import data
from headway.data import aggregate, block, datasource, datatype, expressions, preprocessors
from headway.train import DataConfig

NAMES = "a list"
BOOL = "True or False"
ABOVE_0 = "an integer above 0"
PREPROCESSORS = set(preprocessors.__all__)
COUNTS = ("override_num_blocks", "concurrency")


def readers():
    """What all readers refuse."""
    elsewhere = {"read_datasource", "read_sql", "read_delta", "read_iceberg", "read_lance"}
    calls = [getattr(data, name) for name in data.__all__ if name.startswith("read_") and name not in elsewhere]
    bad = [
        ("paths", 3, TypeError, "3 (int)", "a path, a URL, or a list"),
        ("filesystem", 3, TypeError, "3 (int)", "a pyarrow.fs.FileSystem"),
        ("partition_filter", 3, TypeError, "3 (int)", "a function from paths to paths"),
        ("partitioning", 3, TypeError, "3 (int)", 'None, "hive" or a Partitioning'),
        ("include_paths", 1, TypeError, "1 (int)", BOOL),
        ("ignore_missing_paths", 1, TypeError, "1 (int)", BOOL),
        ("shuffle", "rows", TypeError, "'rows' (str)", 'None, "files" or a FileShuffleConfig'),
        ("file_extensions", "csv", TypeError, "'csv' (str)", "a list of text"),
        *((name, 0, ValueError, "0", ABOVE_0) for name in (*COUNTS, "parallelism")),
    ]
    own = {
        "skip_paths": (3, TypeError, "3 (int)", "a path, a URL, or a list of them"),
        "columns": (3, TypeError, "3 (int)", "None or a list of columns' names"),
        "read_options": (3, TypeError, "3 (int)", "pyarrow.csv.ReadOptions"),
        "parse_options": (3, TypeError, "3 (int)", "pyarrow.csv.ParseOptions"),
        "convert_options": (3, TypeError, "3 (int)", "pyarrow.csv.ConvertOptions"),
        "lines": (1, TypeError, "1 (int)", BOOL),
        "encoding": (1, TypeError, "1 (int)", "an encoding's name"),
        "drop_empty_lines": (1, TypeError, "1 (int)", BOOL),
        "size": ((3,), TypeError, "(3,) (tuple)", "a height and a width"),
        "mode": (3, TypeError, "3 (int)", "a mode of Pillow"),
        "decoder": (1, TypeError, "1 (int)", "a function of samples"),
        "fileselect": ("jpg", TypeError, "'jpg' (str)", "a list of names or patterns"),
        "filerename": ("x", TypeError, "'x' (str)", "a function of names"),
        "suffixes": ("jpg", TypeError, "'jpg' (str)", "a list of names or patterns"),
        "verbose_open": (1, TypeError, "1 (int)", BOOL),
        "expand_json": (1, TypeError, "1 (int)", BOOL),
    }
    for call in calls:
        named = inspect.signature(call).parameters
        for name, value, kind, given, allowed in bad:
            if name in named:
                yield call, {"paths": "/", name: value}, kind, name, given, allowed
        for name, (value, kind, given, allowed) in own.items():
            if name in named:
                yield call, {"paths": "/", name: value}, kind, name, given, allowed


def of_tables():
    """What is refused before anything looks whether the package is there."""
    a_dict = "None or a dict"
    lance, delta, iceberg = {"uri": "x"}, {"path": "x"}, {"table_identifier": "x"}
    yield data.read_lance, {"uri": 3}, TypeError, "uri", "3 (int)", "a path, a URL, or a list of them"
    yield data.read_lance, {**lance, "version": 1.5}, TypeError, "version", "1.5 (float)", "a number or a tag"
    yield data.read_lance, {**lance, "filter": 3}, TypeError, "filter", "3 (int)", "a condition of SQL"
    yield data.read_lance, {**lance, "scanner_options": 3}, TypeError, "scanner_options", "3 (int)", a_dict
    yield data.read_delta, {"path": 3}, TypeError, "path", "3 (int)", "a table's folder or URL"
    yield data.read_delta, {**delta, "version": "1"}, TypeError, "version", "'1' (str)", "None or a number"
    for call, given in ((data.read_lance, lance), (data.read_delta, delta)):
        yield call, {**given, "columns": 3}, TypeError, "columns", "3 (int)", "None or a list of columns' names"
        yield call, {**given, "storage_options": 3}, TypeError, "storage_options", "3 (int)", a_dict
        for name in COUNTS:
            yield call, {**given, name: 0}, ValueError, name, "0", ABOVE_0
    yield data.read_iceberg, {"table_identifier": 3}, TypeError, "table_identifier", "3 (int)", "a table's name"
    fields = {**iceberg, "selected_fields": "id"}
    yield data.read_iceberg, fields, TypeError, "selected_fields", "'id' (str)", "a list of columns' names"
    condition = {**iceberg, "row_filter": 3}
    yield data.read_iceberg, condition, TypeError, "row_filter", "3 (int)", "None, a condition as text"
    yield data.read_iceberg, {**iceberg, "snapshot_id": "1"}, TypeError, "snapshot_id", "'1' (str)", "None or a number"
    yield data.read_iceberg, {**iceberg, "parallelism": 0}, ValueError, "parallelism", "0", "-1 or an integer above 0"
    yield data.read_iceberg, {**iceberg, "override_num_blocks": 0}, ValueError, "override_num_blocks", "0", ABOVE_0
    for name in ("scan_kwargs", "catalog_kwargs"):
        yield data.read_iceberg, {**iceberg, name: 3}, TypeError, name, "3 (int)", a_dict


def of_memory():
    yield data.from_items, {"items": 3}, TypeError, "items", "3 (int)", "a list of dicts"
    yield data.from_items, {"items": []}, ValueError, "items", "empty", "at least one item"
    yield data.from_items, {"items": [1], "parallelism": 0}, ValueError, "parallelism", "0", "-1 or an integer above 0"
    yield data.from_arrow, {"tables": 3}, TypeError, "tables", "3 (int)", "a pyarrow.Table"
    yield data.from_pandas, {"dfs": 3}, TypeError, "dfs", "3 (int)", "a pandas.DataFrame"
    yield data.from_numpy, {"ndarrays": 3}, TypeError, "ndarrays", "3 (int)", "a numpy.ndarray"
    yield data.from_huggingface, {"dataset": 3}, TypeError, "dataset", "3 (int)", "a datasets.Dataset"
    yield data.from_huggingface, {"dataset": {"train": 1}}, TypeError, "dataset", "a dict", "one of 'train'"
    yield data.from_huggingface, {"dataset": 3, "parallelism": 0}, ValueError, "parallelism", "0", "-1 or an integer"
    yield data.from_tf, {"dataset": 3}, TypeError, "dataset", "3 (int)", "a tf.data.Dataset"
    yield data.from_dask, {"df": 3}, TypeError, "df", "3 (int)", "a dask.dataframe.DataFrame"
    yield data.from_daft, {"df": 3}, TypeError, "df", "3 (int)", "a daft.DataFrame"
    yield data.from_modin, {"df": 3}, TypeError, "df", "3 (int)", "a modin.pandas.DataFrame"
    yield data.from_spark, {"df": 3}, TypeError, "df", "3 (int)", "a pyspark.sql.DataFrame"
    for name in ("parallelism", "override_num_blocks"):
        yield data.from_spark, {"df": 3, name: 0}, ValueError, name, "0", ABOVE_0
    yield data.from_ray, {"dataset": 3}, TypeError, "dataset", "3 (int)", "a ray.data.Dataset"
    yield data.from_blocks, {"blocks": 3}, TypeError, "blocks", "3 (int)", "a list of tables"
    yield data.from_torch, {"dataset": 3}, TypeError, "dataset", "3 (int)", "a torch.utils.data.Dataset"
    yield data.from_torch, {"dataset": [], "local_read": 1}, TypeError, "local_read", "1 (int)", BOOL
    yield data.read_datasource, {"datasource": 3}, TypeError, "datasource", "3 (int)", "a headway.data.Datasource"
    source = {"datasource": type("Empty", (data.Datasource,), {"get_read_tasks": lambda self, parallelism: [3]})()}
    yield data.read_datasource, source, TypeError, "datasource.get_read_tasks()", "3 (int)", "a list of headway.data.R"
    for name in (*COUNTS, "parallelism"):
        yield data.read_datasource, {**source, name: 0}, ValueError, name, "0", ABOVE_0
    yield data.ReadTask, {"read_fn": 3}, TypeError, "read_fn", "3 (int)", "a function without arguments"
    yield data.ReadTask, {"read_fn": print, "metadata": 3}, TypeError, "metadata", "3 (int)", "BlockMetadata"
    yield block.BlockMetadata, {"num_rows": -1}, ValueError, "num_rows", "-1", "0 or more"
    for name in ("dataset_uuid", "file_format"):
        yield datasource.FilenameProvider, {name: 3}, TypeError, name, "3 (int)", "None or text"
    yield data.read_sql, {"sql": 3, "connection_factory": print}, TypeError, "sql", "3 (int)", "a query"
    yield data.read_sql, {"sql": "", "connection_factory": 3}, TypeError, "connection_factory", "3 (int)", "a function"
    query = {"sql": "", "connection_factory": print, "sql_params": "1"}
    yield data.read_sql, query, TypeError, "sql_params", "'1' (str)", "None, a list of values"
    yield data.range, {"n": -1}, ValueError, "n", "-1", "0 or more"
    yield data.range, {"n": 2**40 + 1}, ValueError, "n", "1099511627777", "at most 1099511627776"
    yield data.range_tensor, {"n": "3"}, TypeError, "n", "'3' (str)", "0 or more"
    yield data.range_tensor, {"n": 3, "shape": 3}, TypeError, "shape", "3 (int)", "a tuple of lengths"
    for call in (data.range, data.range_tensor):
        yield call, {"n": 3, "parallelism": 0}, ValueError, "parallelism", "0", "-1 or an integer above 0"
    import numpy
    import pandas
    import pyarrow

    makers = (
        *((data.range, {"n": 1}), (data.range_tensor, {"n": 1}), (data.from_items, {"items": [1]})),
        (data.from_arrow, {"tables": pyarrow.table({"a": [1]})}),
        (data.from_pandas, {"dfs": pandas.DataFrame({"a": [1]})}),
        (data.from_numpy, {"ndarrays": numpy.ones(2)}),
    )
    for call, given in makers:
        for name in COUNTS:
            if name in inspect.signature(call).parameters:
                yield call, {**given, name: 0}, ValueError, name, "0", ABOVE_0
    yield data.from_huggingface, {"dataset": 1, "concurrency": 0}, ValueError, "concurrency", "0", ABOVE_0


def settings():
    for name in ("cpu", "gpu", "object_store_memory", "memory"):
        for call in (data.ExecutionResources, data.ExecutionResources.for_limits):
            yield call, {name: -1}, ValueError, name, "-1", "0 or more"
    one = data.ExecutionResources(cpu=1)
    yield _of(one, "add"), {"other": 1}, TypeError, "other", "1 (int)", "ExecutionResources"
    for name in ("cpu", "gpu", "memory", "object_store_memory"):
        yield _of(one, "copy"), {name: -1}, ValueError, name, "-1", "0 or more"
    yield _of(one, "subtract"), {"other": 1}, TypeError, "other", "1 (int)", "ExecutionResources"
    for name in ("resource_limits", "exclude_resources"):
        yield data.ExecutionOptions, {name: 1}, TypeError, name, "1 (int)", "ExecutionResources or None"
    for name in ("preserve_order", "actor_locality_enabled", "verbose_progress"):
        yield data.ExecutionOptions, {name: 1}, TypeError, name, "1 (int)", BOOL
    for given, shown in ((3, "3 (int)"), ({"kind": 1}, "dict")):
        allowed = "None or a dict of strings by label"
        yield data.ExecutionOptions, {"label_selector": given}, TypeError, "label_selector", shown, allowed
    yield data.DataContext, {"execution_options": 1}, TypeError, "execution_options", "1 (int)", "ExecutionOptions"
    yield data.DataContext, {"enable_progress_bars": 1}, TypeError, "enable_progress_bars", "1 (int)", BOOL
    for name in ("target_max_block_size", "target_min_block_size", "read_op_min_num_blocks"):
        yield data.DataContext, {name: 0}, ValueError, name, "0", ABOVE_0
    yield data.TaskPoolStrategy, {"size": 0}, ValueError, "size", "0", ABOVE_0
    for name in ("size", "min_size", "max_size", "initial_size"):
        yield data.ActorPoolStrategy, {name: 0}, ValueError, name, "0", ABOVE_0
    for call in (data.FileShuffleConfig, data.RandomSeedConfig):
        yield call, {"seed": -1}, ValueError, "seed", "-1", "None or an integer from 0"
        yield call, {"reseed_after_execution": 1}, TypeError, "reseed_after_execution", "1 (int)", BOOL
    yield data.Partitioning, {"style": "tree"}, ValueError, "style", "'tree'", '"hive" or "dir"'
    yield data.Partitioning, {"base_dir": 3}, TypeError, "base_dir", "3 (int)", "None or a folder"
    yield data.Partitioning, {"field_names": 3}, TypeError, "field_names", "3 (int)", "names"
    yield data.Partitioning, {"field_types": 3}, TypeError, "field_types", "3 (int)", "None or a dict of names"
    yield data.Partitioning, {"field_types": {"a": list}}, ValueError, "field_types['a']", "list", "int, float, bool"
    yield DataConfig, {"datasets_to_split": 3}, TypeError, "datasets_to_split", "3 (int)", '"all" or a list of names'
    yield DataConfig, {"execution_options": 3}, TypeError, "execution_options", "3 (int)", "None, ExecutionOptions"
    yield DataConfig, {"enable_shard_locality": 1}, TypeError, "enable_shard_locality", "1 (int)", BOOL


def _of(thing, method):
    """A method under its class's name."""

    def call(**arguments):
        return getattr(thing, method)(**arguments)

    call.__qualname__ = f"{type(thing).__name__}.{method}"
    return call


def of_expressions():
    yield expressions.col, {"name": 3}, TypeError, "name", "3 (int)", "a column's name"
    yield expressions.lit, {"value": {1}}, TypeError, "value", "{1} (set)", "a number, text"
    yield expressions.lit, {"value": 1, "dtype": 3}, TypeError, "dtype", "3 (int)", "a pyarrow or numpy type"
    yield expressions.random, {"seed": "1"}, TypeError, "seed", "'1' (str)", "None or an integer"
    yield expressions.download, {"uri_column_name": 3}, TypeError, "uri_column_name", "3 (int)", "a column's name"
    given = {"uri_column_name": "uri", "filesystem": 3}
    yield expressions.download, given, TypeError, "filesystem", "3 (int)", "None, a pyarrow.fs.FileSystem"
    yield (
        expressions.unnest,
        {"expr": "place"},
        TypeError,
        "expr",
        "'place' (str)",
        'an expression such as col("place")',
    )
    for call in (expressions.udf, expressions.pyarrow_udf):
        yield call, {"return_dtype": len}, TypeError, "return_dtype", "len", "write @udf() above the function"


def of_aggregates():
    for name in aggregate.__all__:
        call = getattr(aggregate, name)
        named = inspect.signature(call).parameters
        if name.startswith("AggregateFn"):
            continue
        given = {} if name == "Count" else {"on": "a"}
        given.update({"ApproximateQuantile": {"quantiles": [0.5]}, "ApproximateTopK": {"k": 1}}.get(name, {}))
        rows = {
            "on": (3, TypeError, "3 (int)", "a column's name"),
            "ignore_nulls": (1, TypeError, "1 (int)", BOOL),
            "alias_name": (1, TypeError, "1 (int)", "None or a column's name"),
            "ddof": (-1, ValueError, "-1", "0 or more"),
            "q": (2, ValueError, "2", "from 0 to 1"),
            "quantiles": ([0.5, 2], ValueError, "[0.5, 2]", "from 0 to 1"),
            "quantile_precision": (0, ValueError, "0", ABOVE_0),
            "k": (0, ValueError, "0", ABOVE_0),
            "log_capacity": (0, ValueError, "0", ABOVE_0),
            "encode_lists": (1, TypeError, "1 (int)", BOOL),
        }
        for argument, (value, *rest) in rows.items():
            if argument in named:
                yield call, {**given, argument: value}, rest[0], argument, *rest[1:]


def of_own_aggregates():
    for call in (aggregate.Min, aggregate.Max, aggregate.AbsMax):
        yield call, {"on": "x", "zero_factory": 3}, TypeError, "zero_factory", "3 (int)", "None or a function"
    yield aggregate.Unique, {"on": "x", "encode_lists": 1}, TypeError, "encode_lists", "1 (int)", BOOL
    yield data.read_numpy, {"paths": __file__, "allow_pickle": 1}, TypeError, "allow_pickle", "1 (int)", BOOL
    yield aggregate.ApproximateTopK, {"on": "count", "k": 1}, ValueError, "on", "'count'", "another name"
    given = {"init": print, "merge": print, "name": "a", "accumulate_row": print}
    for name in ("init", "merge", "accumulate_row", "accumulate_block", "finalize"):
        yield aggregate.AggregateFn, {**given, name: 3}, TypeError, name, "3 (int)", "a function"
    yield aggregate.AggregateFn, {**given, "name": ""}, ValueError, "name", "''", "a column's name"
    both = {**given, "accumulate_block": print}
    yield aggregate.AggregateFn, both, ValueError, "accumulate_row", "both", "one of them"

    class AggregateFnV2(aggregate.AggregateFnV2):
        """What users derive from it has its constructor."""

        def aggregate_block(self, block):
            """Never called."""

        def combine(self, current_accumulator, new):
            """Never called."""

    AggregateFnV2.__qualname__ = "AggregateFnV2"
    given = {"name": "a", "zero_factory": list, "on": None, "ignore_nulls": True}
    yield AggregateFnV2, {**given, "name": 3}, TypeError, "name", "3 (int)", "a column's name"
    yield AggregateFnV2, {**given, "zero_factory": 3}, TypeError, "zero_factory", "3 (int)", "a function that returns"
    yield AggregateFnV2, {**given, "on": 3}, TypeError, "on", "3 (int)", "None or a column's name"
    yield AggregateFnV2, {**given, "ignore_nulls": 1}, TypeError, "ignore_nulls", "1 (int)", BOOL


def of_preprocessors():
    for name in sorted(PREPROCESSORS):
        call = getattr(preprocessors, name)
        if name in NEEDED:
            named = inspect.signature(call).parameters
            for argument, (value, kind, given, allowed) in {**SHARED, **OWN.get(name, {})}.items():
                if argument in named:
                    yield call, {**NEEDED[name], argument: value}, kind, argument, given, allowed
    constant = {**ONE, "strategy": "constant", "fill_value": None}
    yield preprocessors.SimpleImputer, constant, ValueError, "fill_value", "None", "a value"
    chosen = {"columns": ["a"], "include": ["b"]}
    yield preprocessors.Concatenator, chosen, ValueError, "include", "given beside columns", "one of them"
    chosen = {"columns": ["a"], "exclude": ["b"]}
    yield preprocessors.Concatenator, chosen, ValueError, "exclude", "given beside columns", "one of them"


ONE = {"columns": ["a"]}
#: What each constructor needs beside the bad argument.
NEEDED = {
    **{name: ONE for name in PREPROCESSORS if name.endswith(("Scaler", "Encoder", "Vectorizer"))},
    "SimpleImputer": ONE,
    "Tokenizer": ONE,
    "LabelEncoder": {"label_column": "a"},
    "Normalizer": ONE,
    "Concatenator": {},
    "PowerTransformer": {**ONE, "power": 1},
    "HashingVectorizer": {**ONE, "num_features": 1},
    "FeatureHasher": {**ONE, "num_features": 1, "output_column": "b"},
    "CustomKBinsDiscretizer": {**ONE, "bins": [1, 2]},
    "UniformKBinsDiscretizer": {**ONE, "bins": 2},
    "TorchVisionPreprocessor": {**ONE, "transform": print},
    "Categorizer": ONE,
    "BatchMapper": {"fn": print},
}
FUNCTION = ("no", TypeError, "'no' (str)", "a function")
FLAG = (1, TypeError, "1 (int)", BOOL)
SHARED = {
    "columns": (3, TypeError, "3 (int)", "a list of columns' names"),
    "output_columns": (["a", "b"], ValueError, "2 names", "one for each of the 1 columns"),
    "tokenization_fn": FUNCTION,
    "num_features": (0, ValueError, "0", ABOVE_0),
    "max_features": (0, ValueError, "0", ABOVE_0),
    "max_categories": ({"b": 1}, ValueError, "'b'", "one of columns: a"),
    "right": FLAG,
    "include_lowest": FLAG,
}
OWN = {
    "RobustScaler": {"quantile_range": ((1, 0), ValueError, "(1, 0)", "the lower one first")},
    "OrdinalEncoder": {"encode_lists": FLAG},
    "Categorizer": {"dtypes": ({"a": "category"}, TypeError, "'category' (str)", "a pandas.CategoricalDtype")},
    "LabelEncoder": {
        "label_column": (3, TypeError, "3 (int)", "a column's name"),
        "output_column": (3, TypeError, "3 (int)", "None or a column's name"),
    },
    "Normalizer": {"norm": ("l3", ValueError, "'l3'", '"l1", "l2" or "max"')},
    "PowerTransformer": {
        "power": ("1", TypeError, "'1' (str)", "a number"),
        "method": ("log", ValueError, "'log'", '"yeo-johnson" or "box-cox"'),
    },
    "FeatureHasher": {"output_column": (3, TypeError, "3 (int)", "a column's name")},
    "CustomKBinsDiscretizer": {"bins": ([2, 1], ValueError, "[2, 1]", "edges from the least on")},
    "UniformKBinsDiscretizer": {"bins": (0, ValueError, "0", ABOVE_0)},
    "TorchVisionPreprocessor": {"transform": FUNCTION, "batched": FLAG},
    "BatchMapper": {
        "fn": FUNCTION,
        "batch_format": ("polars", ValueError, "'polars'", '"numpy", "pandas"'),
        "batch_size": (0, ValueError, "0", ABOVE_0),
    },
    "SimpleImputer": {
        "strategy": ("median", ValueError, "'median'", "mean, most_frequent, constant"),
    },
    "Concatenator": {
        "output_column_name": (3, TypeError, "3 (int)", "a column's name"),
        "raise_if_missing": FLAG,
        "flatten": FLAG,
        "dtype": ("number", TypeError, "'number' (str)", "a numpy type"),
        "exclude": (3, TypeError, "3 (int)", "a list of columns' names"),
    },
}


def of_types():
    """What types by Ray's names refuse."""
    kind, made, number = "a DataType", datatype.DataType, datatype.DataType.int8()
    yield made, {"arrow": 3}, TypeError, "arrow", "3 (int)", "a pyarrow.DataType"
    yield made.from_arrow, {"arrow_type": 3}, TypeError, "arrow_type", "3 (int)", "a pyarrow.DataType"
    yield made.from_numpy, {"numpy_dtype": "x1"}, TypeError, "numpy_dtype", "'x1' (str)", "a numpy type"
    for call in (made.list, made.large_list):
        yield call, {"value_type": 3}, TypeError, "value_type", "3 (int)", kind
    yield made.fixed_size_list, {"value_type": 3, "list_size": 2}, TypeError, "value_type", "3 (int)", kind
    yield made.fixed_size_list, {"value_type": number, "list_size": -1}, ValueError, "list_size", "-1", "0 or more"
    yield made.struct, {"fields": 3}, TypeError, "fields", "3 (int)", "a list of pairs"
    yield made.map, {"key_type": 3, "value_type": number}, TypeError, "key_type", "3 (int)", kind
    yield made.map, {"key_type": number, "value_type": 3}, TypeError, "value_type", "3 (int)", kind
    yield made.tensor, {"shape": 3, "dtype": number}, TypeError, "shape", "3 (int)", "a list of lengths"
    yield made.tensor, {"shape": [2], "dtype": 3}, TypeError, "dtype", "3 (int)", kind
    yield made.temporal, {"temporal_type": "year"}, ValueError, "temporal_type", "'year'", "timestamp"
    yield made.temporal, {"temporal_type": "time32", "unit": "ns"}, ValueError, "unit", "'ns'", "s, ms"
    yield made.temporal, {"temporal_type": "timestamp", "tz": 3}, TypeError, "tz", "3 (int)", "None or a time zone"


# (what is called, with what, exception, argument, as it is given, a part of what is allowed)
ROWS = [
    *readers(),
    *of_tables(),
    *of_memory(),
    *settings(),
    *of_expressions(),
    *of_types(),
    *of_aggregates(),
    *of_own_aggregates(),
    *of_preprocessors(),
]
