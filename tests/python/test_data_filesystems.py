"""Files on filesystems that exist only in Python: function workers list and read them."""

from __future__ import annotations

import os

import fsspec
import headway.data as data
import numpy as np
import pyarrow as pa
import pyarrow.fs
import pyarrow.parquet as pq
import pytest
from fsspec.implementations.dirfs import DirFileSystem
from fsspec.implementations.local import LocalFileSystem
from headway import train
from headway.data.datasource import FilenameProvider

pytestmark = pytest.mark.usefixtures("the_engine_ends")

COLUMNS = {"id": np.arange(3000), "x": np.arange(3000) / 2}


@pytest.fixture
def bucket(tmp_path):
    """A folder with Parquet, text and a hidden file."""
    folder = tmp_path / "bucket"
    (folder / "year=2026").mkdir(parents=True)
    for number in range(3):
        rows = {name: values[number * 1000 : (number + 1) * 1000] for name, values in COLUMNS.items()}
        pq.write_table(pa.table(rows), folder / "year=2026" / f"part-{number}.parquet", row_group_size=100)
    (folder / "year=2026" / "_SUCCESS").write_text("")
    (folder / "words.txt").write_text("one\ntwo\n")
    return folder


class Shaky(DirFileSystem):
    """Fails until a file is there; says in a file what was asked of it."""

    protocol = "shaky"

    def open(self, path, *args, **kwargs):
        with open(os.path.join(self.path, "opened"), "a") as notes:
            notes.write(f"{os.getpid()} {path}\n")
        if "denied" in path:
            raise PermissionError(13, "you may not", path)
        if not os.path.exists(os.path.join(self.path, "well")):
            open(os.path.join(self.path, "well"), "w").close()
            raise ConnectionError("the line is bad")
        return super().open(path, *args, **kwargs)


class Full(DirFileSystem):
    """Has room for one file."""

    def open(self, path, mode="rb", **options):
        if mode == "wb" and self.find("out"):
            raise OSError("the disk is full")
        return super().open(path, mode, **options)


def wrapped(filesystem):
    return pyarrow.fs.PyFileSystem(pyarrow.fs.FSSpecHandler(filesystem))


@pytest.mark.parametrize("made", [lambda each: each, wrapped], ids=["fsspec", "pyarrow"])
def test_a_folder_is_listed_and_read_as_on_a_disk(bucket, made):
    filesystem = made(DirFileSystem(str(bucket.parent), LocalFileSystem()))
    found = data.read_parquet("bucket/year=2026", filesystem=filesystem, partitioning="hive")
    assert found.count() == 3000
    table = found.to_arrow()
    assert table.select(["id", "x"]).equals(data.read_parquet(str(bucket)).to_arrow().select(["id", "x"]))
    assert set(table["year"].to_pylist()) == {"2026"}
    assert [each["text"] for each in data.read_text("bucket/words.txt", filesystem=filesystem).take_all()] == [
        "one",
        "two",
    ]
    assert data.read_parquet(["bucket/*/part-[12].parquet"], filesystem=filesystem).count() == 2000


def test_columns_of_folders_have_the_types_that_are_asked_for(bucket):
    types = data.Partitioning("hive", field_types={"year": int})
    assert data.read_parquet(str(bucket / "year=2026"), partitioning=types).take(1)[0]["year"] == 2026


def test_a_url_on_a_filesystem_is_a_path_there(bucket):
    filesystem = DirFileSystem(str(bucket.parent), LocalFileSystem())
    assert data.read_parquet("dir://bucket/year=2026", filesystem=filesystem).count() == 3000
    assert data.read_parquet(str(bucket), filesystem=fsspec.filesystem("file")).count() == 3000


def test_a_read_is_tried_again_and_what_lasts_is_an_error_in_words(bucket):
    filesystem = Shaky(str(bucket), LocalFileSystem())
    assert data.read_parquet("year=2026", filesystem=filesystem).count() == 3000
    readers = {int(line.split()[0]) for line in (bucket / "opened").read_text().splitlines()}
    assert os.getpid() not in readers, "function workers read"
    (bucket / "denied.txt").write_text("one\n")
    with pytest.raises(
        Exception, match=r"cannot open denied.txt on a Python filesystem: PermissionError: .*you may not"
    ):
        data.read_text("denied.txt", filesystem=filesystem).take_all()
    with pytest.raises(Exception, match="nowhere"):
        data.read_text("nowhere.txt", filesystem=filesystem).take_all()


def test_paths_are_shown_as_they_are_on_the_filesystem(bucket):
    filesystem = DirFileSystem(str(bucket), LocalFileSystem())
    found = data.read_text("words.txt", filesystem=filesystem, include_paths=True)
    assert [each["path"] for each in found.take_all()] == ["words.txt", "words.txt"]
    given = []
    data.read_text("year=2026", filesystem=filesystem, partition_filter=lambda paths: given.extend(paths) or paths[:1])
    assert given == [f"year=2026/part-{number}.parquet" for number in range(3)]
    assert found.input_files() == ["words.txt"]


def test_a_training_reads_it_and_resumes_in_the_middle(bucket, tmp_path):
    filesystem = DirFileSystem(str(bucket), LocalFileSystem())
    rows = data.read_parquet("year=2026", filesystem=filesystem).random_shuffle(seed=3)

    def loop(config):
        seen = []
        for number, batch in enumerate(train.get_dataset_shard("train").iter_batches(batch_size=250)):
            seen += batch["id"].tolist()
            checkpoint = train.Checkpoint.from_dict({"seen": seen}) if number % 2 else None
            train.report({"rows": len(seen)}, checkpoint=checkpoint)
            if number == 4 and not os.path.exists(config["died"]):
                open(config["died"], "w").close()
                os.abort()
        with open(os.path.join(config["folder"], str(os.getpid())), "w") as file:
            file.write(str(len(seen)))

    folder = tmp_path / "seen"
    folder.mkdir()
    trainer = train.DataParallelTrainer(
        loop,
        train_loop_config={"died": str(tmp_path / "died"), "folder": str(folder)},
        datasets={"train": rows},
        scaling_config=train.ScalingConfig(num_workers=1),
        run_config=train.RunConfig(
            storage_path=str(tmp_path / "storage"), failure_config=train.FailureConfig(max_failures=1)
        ),
    )
    trainer.fit()
    (left,) = folder.iterdir()
    assert int(left.read_text()) == 3000 - 1000, "four batches were before the checkpoint"


@pytest.mark.parametrize("as_given", [lambda filesystem: filesystem, wrapped], ids=["fsspec", "pyarrow"])
def test_files_are_written_to_such_a_filesystem(bucket, as_given):
    filesystem = as_given(DirFileSystem(str(bucket), LocalFileSystem()))
    rows = data.range(6, override_num_blocks=2).with_column("kind", data.expressions.col("id") % 2)
    rows.write_parquet("out", filesystem=filesystem, partition_cols=["kind"])
    found = data.read_parquet("out", filesystem=filesystem, partitioning="hive")
    assert sorted(row["id"] for row in found.take_all()) == list(range(6))
    assert sorted(place.name for place in (bucket / "out").iterdir()) == ["kind=0", "kind=1"]
    with pytest.raises(FileExistsError, match="cannot write to out: there are files"):
        rows.write_parquet("out", filesystem=filesystem, mode="create")
    rows.write_json("out", filesystem=filesystem, mode="ignore")
    rows.write_json("dir://out", filesystem=filesystem, mode="overwrite")
    assert data.read_json(str(bucket / "out")).count() == 6
    rows.write_json("out", filesystem=filesystem)
    assert data.read_json(str(bucket / "out")).count() == 12
    with pytest.raises(FileNotFoundError, match="path is 'no', which is not there, and try_create_dir is False"):
        rows.write_json("no", filesystem=filesystem, try_create_dir=False)


def test_a_name_that_ends_in_gz_compresses_no_file(bucket):
    class Named(FilenameProvider):
        def get_filename_for_task(self, write_uuid, task_index):
            return f"{task_index}.json.gz"

    filesystem = DirFileSystem(str(bucket), LocalFileSystem())
    data.range(1).write_json("named", filesystem=filesystem, filename_provider=Named())
    assert (bucket / "named" / "0.json.gz").read_bytes() == b'{"id":0}\n'


def test_a_write_that_fails_leaves_nothing_on_such_a_filesystem(bucket):
    filesystem = Full(str(bucket), LocalFileSystem())
    with pytest.raises(OSError, match="the disk is full"):
        data.range(6).write_csv("out", filesystem=filesystem, max_rows_per_file=2)

    def fails(row):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        data.range(6).map(fails).write_csv("out", filesystem=filesystem)
    assert list(bucket.glob("out/*")) == []


def test_what_is_no_filesystem_is_refused():
    with pytest.raises(TypeError, match=r"filesystem is .*; allowed: a pyarrow.fs.FileSystem"):
        data.read_text("words.txt", filesystem=object())
