"""Data sets: read, transformed and given to the ranks of a training, in an exact order.

A data set is made by a reader (:func:`read_parquet`) or of what is in memory
(:func:`from_items`), and is a plan: methods of :class:`Dataset` add to it. Given to a trainer as
``datasets=``, each rank gets its share by :func:`headway.train.get_dataset_shard`.
"""

from typing import Any

from headway._places.missing import explanation
from headway._values.named_arguments import offer, offer_methods
from headway.data._context import DataContext, ExecutionOptions, ExecutionResources
from headway.data._context import NodeIdStr as NodeIdStr
from headway.data._dataset import Dataset, MaterializedDataset
from headway.data._datasource import Datasource, ReadTask, read_datasource
from headway.data._files import FileShuffleConfig, Partitioning
from headway.data._frames import from_blocks, from_daft, from_dask, from_modin, from_ray, from_spark
from headway.data._functions import ActorPoolStrategy, TaskPoolStrategy
from headway.data._grouped import GroupedData
from headway.data._iterator import DataIterator
from headway.data._memory import (
    from_arrow,
    from_huggingface,
    from_items,
    from_numpy,
    from_pandas,
    from_tf,
    range_tensor,
)
from headway.data._memory import range as range
from headway.data._order import MixStoppingCondition, RandomSeedConfig
from headway.data._read import read_avro, read_csv, read_json, read_orc, read_parquet, read_text
from headway.data._read_samples import read_binary_files, read_images, read_numpy, read_tfrecords, read_webdataset
from headway.data._read_tables import read_delta, read_iceberg, read_lance
from headway.data._schema import Schema
from headway.data._sources import from_torch, read_sql
from headway.data._write import SaveMode

__all__ = [
    "ActorPoolStrategy",
    "DataContext",
    "DataIterator",
    "Dataset",
    "Datasource",
    "ExecutionOptions",
    "ExecutionResources",
    "FileShuffleConfig",
    "GroupedData",
    "MaterializedDataset",
    "MixStoppingCondition",
    "Partitioning",
    "RandomSeedConfig",
    "ReadTask",
    "SaveMode",
    "Schema",
    "TaskPoolStrategy",
    "from_arrow",
    "from_blocks",
    "from_daft",
    "from_dask",
    "from_huggingface",
    "from_items",
    "from_modin",
    "from_numpy",
    "from_pandas",
    "from_ray",
    "from_spark",
    "from_tf",
    "from_torch",
    "range",
    "range_tensor",
    "read_avro",
    "read_binary_files",
    "read_csv",
    "read_datasource",
    "read_delta",
    "read_iceberg",
    "read_images",
    "read_json",
    "read_lance",
    "read_numpy",
    "read_orc",
    "read_parquet",
    "read_sql",
    "read_text",
    "read_tfrecords",
    "read_webdataset",
]

offer(globals(), __all__)
for _kind in (Dataset, GroupedData, DataIterator):
    offer_methods(_kind)


def __getattr__(name: str) -> Any:
    """Words for names that Ray has and that are not here."""
    raise AttributeError(explanation(f"{__name__}.{name}") or f"module {__name__!r} has no attribute {name!r}")
