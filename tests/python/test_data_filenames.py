"""Files of a write are named by the user's FilenameProvider."""

import os

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
import pytest
from headway import data
from headway.data.datasource import FilenameProvider

pytestmark = pytest.mark.usefixtures("the_engine_ends")


class Numbered(FilenameProvider):
    """Names without the write's id."""

    def get_filename_for_task(self, write_uuid, task_index):
        return f"part-{task_index}.{self.file_format}"


class Given(FilenameProvider):
    """Names from a list."""

    def __init__(self, *names):
        super().__init__()
        self.names = names

    def get_filename_for_task(self, write_uuid, task_index):
        name = self.names[task_index % len(self.names)]
        if isinstance(name, BaseException):
            raise name
        return name


class ByLabel(FilenameProvider):
    """The older method, by the row's values."""

    def get_filename_for_row(self, row, write_uuid, task_index, block_index, row_index):
        return f"{row['label']}_{task_index}_{block_index}_{row_index}.{self.file_format}"


class OfBlocks(FilenameProvider):
    """The older method, of the time before writes had ids."""

    def get_filename_for_block(self, block, task_index, block_index):
        assert block is None
        return f"block_{task_index}_{block_index}.csv"


def images():
    pixels = [np.full((2, 2, 3), number, np.uint8) for number in range(4)]
    rows = [{"image": each, "label": "cat" if number % 2 else "dog"} for number, each in enumerate(pixels)]
    return data.from_items(rows, override_num_blocks=2)


def images_by_name(folder):
    made = data.read_images(str(folder), include_paths=True).take_all()
    return {os.path.basename(row["path"]): int(row["image"][0, 0, 0]) for row in made}


WRITES = {
    "parquet": ("write_parquet", {}),
    "csv": ("write_csv", {}),
    "json": ("write_json", {}),
    "orc": ("write_orc", {}),
    "npy": ("write_numpy", {"column": "id"}),
    "tfrecords": ("write_tfrecords", {}),
    "tar": ("write_webdataset", {}),
}


@pytest.mark.parametrize("kind", WRITES)
def test_every_writer_asks_for_names(tmp_path, kind):
    method, more = WRITES[kind]
    provider = Numbered(file_format=kind)
    getattr(data.range(50), method)(str(tmp_path), max_rows_per_file=7, filename_provider=provider, **more)
    assert sorted(os.listdir(tmp_path)) == sorted(f"part-{number}.{kind}" for number in range(8))


def test_rows_are_in_the_files_of_their_numbers(tmp_path):
    data.range(3000).write_csv(str(tmp_path), max_rows_per_file=1, filename_provider=Numbered(file_format="csv"))
    assert len(os.listdir(tmp_path)) == 3000
    for number in (0, 1, 2047, 2999):
        assert pa.csv.read_csv(tmp_path / f"part-{number}.csv")["id"].to_pylist() == [number]


def test_the_plain_provider_has_the_ids_of_data_set_and_write(tmp_path):
    for _ in range(2):
        data.range(4).write_parquet(
            str(tmp_path), max_rows_per_file=2, filename_provider=FilenameProvider("a", "parquet")
        )
    names = sorted(os.listdir(tmp_path))
    assert len({name.split("_")[1] for name in names}) == 2
    assert sorted(name[-15:] for name in names) == ["_000000.parquet"] * 2 + ["_000001.parquet"] * 2
    assert all(name.startswith("a_") for name in names)
    assert data.read_parquet(str(tmp_path)).count() == 8


def test_partitions_have_files_of_these_names(tmp_path):
    rows = data.from_items([{"x": number, "part": number % 2} for number in range(4)])
    rows.write_parquet(str(tmp_path), partition_cols=["part"], filename_provider=Given("rows.parquet"))
    for part in (0, 1):
        table = pa.parquet.read_table(tmp_path / f"part={part}" / "rows.parquet", partitioning=None)
        assert table["x"].to_pylist() == [part, part + 2]


def test_no_rows_make_one_file_of_the_first_name(tmp_path):
    data.range(0).write_parquet(str(tmp_path), filename_provider=Numbered(file_format="parquet"))
    assert os.listdir(tmp_path) == ["part-0.parquet"]


def test_a_method_for_blocks_without_the_writes_id_is_called(tmp_path):
    data.range(4).write_csv(str(tmp_path), max_rows_per_file=2, filename_provider=OfBlocks())
    assert sorted(os.listdir(tmp_path)) == ["block_0_0.csv", "block_1_0.csv"]


def test_images_are_named_by_their_rows_numbers(tmp_path):
    images().write_images(str(tmp_path), "image", filename_provider=Numbered(file_format="png"))
    assert images_by_name(tmp_path) == {f"part-0_000000_{number:06}.png": number for number in range(4)}


def test_images_are_named_by_their_rows_values(tmp_path):
    images().write_images(str(tmp_path), "image", filename_provider=ByLabel(file_format="png"))
    names = {"dog_0_0_0.png": 0, "cat_0_0_1.png": 1, "dog_1_0_0.png": 2, "cat_1_0_1.png": 3}
    assert images_by_name(tmp_path) == names


@pytest.mark.parametrize(
    ("names", "kind", "words"),
    [
        (["../out.csv"], ValueError, 'cannot have the name "../out.csv": it is in a folder'),
        (["/tmp/out.csv"], ValueError, 'cannot have the name "/tmp/out.csv": it is in a folder'),
        ([".."], ValueError, 'cannot have the name "..": readers leave out names that begin with . or _'),
        (["_x.csv"], ValueError, 'cannot have the name "_x.csv": readers leave out'),
        ([""], ValueError, 'cannot have the name "": it is empty'),
        (["a\0b"], ValueError, "it is no text"),
        ([None], TypeError, r"what get_filename_for_task\(\) of filename_provider returned is None"),
        (["\udc80"], TypeError, "which is text"),
        (["a.csv"], ValueError, "two files would be .*/a.csv; each file of a write needs its own name"),
        ([KeyError("mine")], KeyError, "mine"),
        (["a.csv", KeyboardInterrupt()], KeyboardInterrupt, "^$"),
        (["x" * 300], ValueError, "it has more than 255 bytes"),
    ],
)
def test_what_is_no_name_ends_the_write_and_leaves_nothing(tmp_path, names, kind, words):
    with pytest.raises(kind, match=words):
        data.range(30).write_csv(str(tmp_path), max_rows_per_file=10, filename_provider=Given(*names))
    assert os.listdir(tmp_path) == []
    assert data.range(3).count() == 3


def test_a_file_that_is_there_is_not_written_over(tmp_path):
    write = {"filename_provider": Numbered(file_format="csv"), "max_rows_per_file": 10}
    data.range(20).write_csv(str(tmp_path), **write)
    with pytest.raises(FileExistsError, match=r"there is a file .*part-0.csv already; a write that adds to a folder"):
        data.range(30).write_csv(str(tmp_path), **write)
    assert sorted(os.listdir(tmp_path)) == ["part-0.csv", "part-1.csv"]
    data.range(30).write_csv(str(tmp_path), mode="overwrite", **write)
    assert data.read_csv(str(tmp_path)).count() == 30
    data.range(40).write_csv(str(tmp_path), mode="ignore", **write)
    assert data.read_csv(str(tmp_path)).count() == 30


def test_rows_that_name_their_files_alike_leave_nothing(tmp_path):
    class Same(FilenameProvider):
        def get_filename_for_row(self, row, write_uuid, task_index, block_index, row_index):
            return "one.png"

    with pytest.raises(ValueError, match=r"two files would be .*one.png"):
        images().write_images(str(tmp_path), "image", filename_provider=Same())
    assert os.listdir(tmp_path) == []
