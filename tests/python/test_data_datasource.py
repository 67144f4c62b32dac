"""Data sources of users: what their tasks give, how often they run, and what is wrong with them."""

import numpy as np
import pyarrow as pa
import pytest
from headway import data
from headway.data.block import BlockMetadata

pytestmark = pytest.mark.usefixtures("the_engine_ends")


class Source(data.Datasource):
    """Tasks, as they are given."""

    def __init__(self, *tasks):
        self.tasks = tasks
        self.asked_for = []

    def get_read_tasks(self, parallelism):
        self.asked_for.append(parallelism)
        return list(self.tasks)


def task(*made, rows=None):
    return data.ReadTask(lambda: iter(made), BlockMetadata(num_rows=rows))


def test_each_kind_of_rows():
    source = Source(
        task(pa.table({"x": [1, 2]}), {"x": np.array([3])}),
        task([{"x": 4}, {"x": 5}], {"x": [6]}),
        task(pa.table({"x": [7]}).to_pandas()),
    )
    rows = data.read_datasource(source)
    assert [row["x"] for row in rows.take_all()] == [1, 2, 3, 4, 5, 6, 7]
    assert sorted(row["x"] for row in rows.random_shuffle(seed=3).take_all()) == [1, 2, 3, 4, 5, 6, 7]


def test_how_many_tasks_are_asked_for():
    source = Source(task({"x": [1]}))
    data.read_datasource(source, parallelism=3)
    data.read_datasource(source, override_num_blocks=5)
    data.read_datasource(source)
    assert source.asked_for == [3, 5, data.DataContext.get_current().read_op_min_num_blocks]


def test_sources_that_cannot_be_read():
    with pytest.raises(ValueError, match=r"datasource: Source has no read task; allowed: at least one"):
        data.read_datasource(Source())
    with pytest.raises(NotImplementedError, match=r"Datasource has no method get_read_tasks\(parallelism\)"):
        data.read_datasource(data.Datasource())
    with pytest.raises(ValueError, match="Source: read task 0 gave 1 rows, and its metadata says 2"):
        data.read_datasource(Source(task({"x": [1]}, rows=2))).take_all()
