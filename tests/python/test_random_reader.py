"""Parts of files: on the local disk, in S3, and on filesystems that the core knows only through
Python.
"""

import concurrent.futures
import os

import object_store
import pytest
from headway import _core
from headway._storage import locations
from pyarrow import fs

CONTENT = os.urandom(3_000_000)


@pytest.fixture(scope="module")
def s3():
    with object_store.serve() as store:
        with store.filesystem().open_output_stream("runs/parts/file") as file:
            file.write(CONTENT)
        yield store


@pytest.fixture
def python_filesystem(request, tmp_path):
    fsspec = pytest.importorskip("fsspec")
    if request.param == "subtree":
        return fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem())
    return fs.PyFileSystem(fs.FSSpecHandler(fsspec.filesystem("dir", path=str(tmp_path))))


def check(location):
    reader = _core.RandomReader(location)
    assert reader.size == len(CONTENT)
    assert reader.read_at(0, 10) == CONTENT[:10]
    assert reader.read_at(len(CONTENT) - 5, 10) == CONTENT[-5:]
    assert reader.read_at(len(CONTENT), 10) == b""
    assert reader.read_at(2**62, 2**62) == b""
    offsets = range(0, len(CONTENT), 300_000)
    with concurrent.futures.ThreadPoolExecutor(4) as threads:
        pieces = list(threads.map(lambda offset: reader.read_at(offset, 300_000), offsets))
    assert b"".join(pieces) == CONTENT


def test_parts_of_a_local_file(tmp_path):
    (tmp_path / "file").write_bytes(CONTENT)
    check(locations.location_of(str(tmp_path / "file")))


def test_parts_of_a_file_in_s3(s3):
    url = s3.url("runs/parts/file").replace("s3://", "s3://key:secret@")
    check(locations.location_of(url))
    with pytest.raises(FileNotFoundError, match=r"cannot open s3://runs/parts/none: there is nothing"):
        _core.RandomReader(locations.location_of(url.replace("parts/file", "parts/none")))


@pytest.mark.parametrize("python_filesystem", ["subtree", "fsspec"], indirect=True)
def test_parts_of_a_file_on_a_filesystem_of_pythons(python_filesystem, tmp_path):
    (tmp_path / "file").write_bytes(CONTENT)
    check(locations.location_of("file", python_filesystem))
