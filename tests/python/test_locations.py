"""Locations: from a path and perhaps a filesystem to the text that the core takes, and back."""

import json
import os
import subprocess
import sys
import textwrap

import pytest
from headway import _core
from headway._storage import locations
from pyarrow import fs


@pytest.fixture
def subtree(tmp_path):
    """A filesystem that the core knows only through Python, and the folder that it shows."""
    folder = tmp_path / "shown"
    folder.mkdir()
    return fs.SubTreeFileSystem(str(folder), fs.LocalFileSystem()), folder


def test_paths_are_made_absolute_and_urls_keep_their_query(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert locations.location_of("runs") == str(tmp_path / "runs")
    assert locations.location_of("~/runs") == os.path.expanduser("~/runs")
    assert locations.location_of("file:///data/a%20run") == "/data/a run"
    assert locations.location_of("s3://bucket/runs/?region=x") == "s3://bucket/runs?region=x"
    assert locations.join("s3://bucket/runs?region=x", "a", "b c") == "s3://bucket/runs/a/b%20c?region=x"


def test_a_local_filesystem_is_plain_paths(tmp_path):
    location = locations.location_of(str(tmp_path), fs.LocalFileSystem())
    assert location == str(tmp_path)
    path, filesystem = locations.split(location)
    assert (path, filesystem) == (str(tmp_path), fs.LocalFileSystem())


def test_a_python_filesystem_comes_back_from_its_location(subtree):
    filesystem, _ = subtree
    location = locations.location_of("runs/", filesystem)
    assert location.startswith("python-")
    assert locations.split(location) == ("runs", filesystem)
    assert locations.path_of(location) == "runs"
    assert locations.location_of("runs", filesystem) == location


def test_a_url_splits_into_arrow_s_filesystem_and_its_path():
    path, filesystem = locations.split("s3://bucket/runs?endpoint_override=127.0.0.1:9&scheme=http&region=us-east-1")
    assert path == "bucket/runs"
    assert filesystem.type_name == "s3"


def test_files_are_written_read_and_downloaded_through_python(subtree, tmp_path):
    filesystem, folder = subtree
    location = locations.location_of("runs", filesystem)
    filesystem.create_dir("runs/parts")
    locations.replace_file(locations.join(location, "note"), b"\0one")
    locations.replace_file(locations.join(location, "note"), b"\0two")
    locations.replace_file(locations.join(location, "parts/deep"), b"deep")
    assert (folder / "runs" / "note").read_bytes() == b"\0two"
    assert locations.read_file(locations.join(location, "note")) == b"\0two"
    locations.download(location, str(tmp_path / "copy"))
    assert (tmp_path / "copy" / "note").read_bytes() == b"\0two"
    assert (tmp_path / "copy" / "parts" / "deep").read_text() == "deep"


def test_missing_files_and_folders_are_told_with_their_place(subtree, tmp_path):
    location = locations.location_of("nothing", subtree[0])
    for attempt in (lambda: locations.read_file(location), lambda: locations.download(location, str(tmp_path / "x"))):
        with pytest.raises(FileNotFoundError, match="nothing on the subtree filesystem"):
            attempt()


def test_fsspec_filesystems_are_reached(tmp_path):
    fsspec = pytest.importorskip("fsspec")
    filesystem = fs.PyFileSystem(fs.FSSpecHandler(fsspec.filesystem("file")))
    location = locations.location_of(str(tmp_path), filesystem)
    locations.replace_file(locations.join(location, "note"), b"text")
    assert (tmp_path / "note").read_text() == "text"
    locations.download(location, str(tmp_path / "copy"))
    assert (tmp_path / "copy" / "note").read_text() == "text"


def test_another_process_adopts_what_this_one_registered(subtree, tmp_path):
    filesystem, folder = subtree
    location = locations.location_of("runs", filesystem)
    (folder / "runs").mkdir()
    (folder / "runs" / "note").write_text("text")
    registered = [(scheme, pickled.hex()) for scheme, pickled in locations.registrations([location, None, "/local"])]
    script = f"""
        import json
        from headway._storage import locations
        registered = json.loads('''{json.dumps(registered)}''')
        locations.adopt((scheme, bytes.fromhex(pickled)) for scheme, pickled in registered)
        print(locations.read_file("{location}/note").decode(), locations.split("{location}")[0])
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["text", "runs"], done.stderr


class Failing(fs.FileSystemHandler):
    """A handler whose every call raises what it was given."""

    def __init__(self, error):
        self.error = error
        self.calls = 0

    def get_type_name(self):
        return "failing"

    def __eq__(self, other):
        return other is self

    def _raise(self, *args, **kwargs):
        self.calls += 1
        raise self.error

    def __reduce__(self):
        return (Failing, (self.error,))

    for _name in fs.FileSystemHandler.__abstractmethods__ - {"get_type_name"}:
        locals()[_name] = _raise


def test_an_exception_that_may_pass_is_tried_again_and_one_that_will_not_is_not(monkeypatch):
    monkeypatch.setenv("HEADWAY_STORAGE_ATTEMPTS", "2")
    for error, tries in ((OSError("connection reset"), 2), (PermissionError("not yours"), 1)):
        handler = Failing(error)
        location = locations.location_of("bucket/x", fs.PyFileSystem(handler))
        with pytest.raises(OSError, match=str(error)):
            _core.read_file(location)
        assert handler.calls == tries


@pytest.mark.parametrize(
    ("path", "filesystem", "kind", "words"),
    [
        (3, None, TypeError, "path is 3"),
        ("", None, ValueError, "path is ''"),
        ("runs", "s3", TypeError, "filesystem is 's3'"),
        ("runs", object(), TypeError, "pyarrow.fs.FileSystem"),
        ("file://host/runs", None, ValueError, "file:///path"),
    ],
)
def test_bad_arguments_are_named(path, filesystem, kind, words):
    with pytest.raises(kind, match=words):
        locations.location_of(path, filesystem)


def test_a_url_together_with_a_filesystem_is_refused(subtree):
    with pytest.raises(ValueError, match=r"s3://bucket/x.* together with filesystem.*'bucket/path'"):
        locations.location_of("s3://bucket/x", subtree[0])


def test_a_filesystem_that_cannot_be_pickled_is_named():
    class Stubborn(Failing):
        def __reduce__(self):
            raise RuntimeError("I stay")

    with pytest.raises(TypeError, match=r"cannot be sent to the workers.*I stay"):
        locations.location_of("x", fs.PyFileSystem(Stubborn(None)))
