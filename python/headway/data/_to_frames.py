"""Data sets as data frames of other engines. All rows come to this process first."""

from __future__ import annotations

from typing import Any

from headway._values.arguments import check_none_or_above_0, refuse
from headway._values.packages import needed
from headway.data._consume import Consume

#: Rows of a partition of a frame of Dask, unless the user says how many partitions there are.
_ROWS_OF_PARTITION = 1_000_000


class ToFrames(Consume):
    """Data sets as data frames of Dask, Daft, Modin and Spark."""

    def to_dask(self, npartitions: int | None = None) -> Any:
        """All rows as a ``dask.dataframe.DataFrame``.

        Args:
            npartitions: Into how many parts it is cut; None: one for each million rows.

        Raises:
            ModuleNotFoundError: Dask is not installed.
        """
        check_none_or_above_0("npartitions", npartitions)
        dask = (
            needed("to_dask", "dask.dataframe", "dask[dataframe]") if _is_there("dask") else needed("to_dask", "dask")
        )
        rows = self.to_pandas()
        return dask.from_pandas(rows, npartitions=npartitions or max(1, -(-len(rows) // _ROWS_OF_PARTITION)))

    def to_daft(self) -> Any:
        """All rows as a ``daft.DataFrame``.

        Raises:
            ModuleNotFoundError: Daft is not installed.
        """
        return needed("to_daft", "daft").from_arrow(self.to_arrow())

    def to_modin(self) -> Any:
        """All rows as a ``modin.pandas.DataFrame``.

        Raises:
            ModuleNotFoundError: Modin is not installed.
        """
        modin = needed("to_modin", "modin.pandas", "modin") if _is_there("modin") else needed("to_modin", "modin")
        return modin.DataFrame(self.to_pandas())

    def to_spark(self, spark: Any) -> Any:
        """All rows as a ``pyspark.sql.DataFrame``.

        Args:
            spark: The ``SparkSession``, of Spark 4 or newer for rows with tensors or lists.
        """
        if not hasattr(spark, "createDataFrame"):
            refuse("spark", spark, "a pyspark.sql.SparkSession")
        major = int(str(getattr(spark, "version", "4")).partition(".")[0])
        return spark.createDataFrame(self.to_arrow() if major >= 4 else self.to_pandas())


def _is_there(package: str) -> bool:
    import importlib.util

    return importlib.util.find_spec(package) is not None
