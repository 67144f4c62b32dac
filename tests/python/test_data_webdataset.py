"""Samples of WebDataset: what their files become by suffix, and what becomes files."""

import io
import json
import pickle
import sys
import tarfile

import msgpack
import numpy as np
import pyarrow.fs
import pytest
from headway import data
from headway.data import _webdataset

pytestmark = pytest.mark.usefixtures("the_engine_ends")

UNSAFE = "HEADWAY_DATA_WEBDATASET_ALLOW_UNSAFE_DESERIALIZATION"
PIXELS = np.arange(24, dtype=np.uint8).reshape(2, 4, 3)


def archive(path, files):
    with tarfile.open(path, "w") as out:
        for name, content in files:
            member = tarfile.TarInfo(name)
            member.size = len(content)
            out.addfile(member, io.BytesIO(content))
    return str(path)


def file_of(save, *args, **kwargs):
    file = io.BytesIO()
    save(file, *args, **kwargs)
    return file.getvalue()


def image_file(pixels, kind):
    from PIL import Image

    return file_of(Image.fromarray(pixels).save, format=kind)


@pytest.fixture
def shard(tmp_path):
    return archive(
        tmp_path / "a.tar",
        [
            ("d/1.png", image_file(PIXELS, "png")),
            ("d/1.seg.ppm", image_file(PIXELS + 1, "ppm")),
            ("d/1.json", b'{"boxes": [1, 2], "name": "cat"}'),
            ("d/1.npy", file_of(np.save, np.arange(3.0))),
            ("d/1.cls", b"7\n"),
            ("d/1.txt", "a cät".encode()),
            ("d/1.raw", b"\x00\xff"),
            ("d/2.png", image_file(PIXELS[:, :2], "png")),
            ("d/2.cls", b"8"),
        ],
    )


def test_the_suffix_says_what_a_file_is(shard):
    first, second = data.read_webdataset(shard).take_all()
    assert first["__key__"] == "d/1"
    assert first["__url__"] == shard
    assert np.array_equal(first["png"], PIXELS)
    assert np.array_equal(first["seg.ppm"], PIXELS + 1)
    assert first["json"] == {"boxes": [1, 2], "name": "cat"}
    assert np.array_equal(first["npy"], np.arange(3.0))
    assert (first["cls"], first["txt"], first["raw"]) == (7, "a cät", b"\x00\xff")
    assert np.array_equal(second["png"], PIXELS[:, :2])
    assert second["cls"] == 8
    assert second["json"] is None
    assert second["npy"] is None


@pytest.mark.parametrize("none", [None, False])
def test_without_a_decoder_all_is_bytes(shard, none):
    first = data.read_webdataset(shard, decoder=none, suffixes=["cls", ".json"]).take(1)[0]
    assert first == {"__key__": "d/1", "cls": b"7\n", "json": b'{"boxes": [1, 2], "name": "cat"}', "__url__": shard}


def test_functions_decode_one_after_the_other(shard):
    def sizes(sample):
        return {"key": sample["__key__"], "size": list(sample["png"].size)}

    assert data.read_webdataset(shard, decoder=["PIL", sizes]).take_all() == [
        {"key": "d/1", "size": [4, 2]},
        {"key": "d/2", "size": [2, 2]},
    ]
    bare = data.read_webdataset(shard, decoder=lambda sample: {"files": sorted(sample)})
    assert bare.take_all()[1] == {"files": ["__key__", "__url__", "cls", "png"]}
    assert np.array_equal(data.read_webdataset(shard, decoder="PIL").take(1)[0]["png"], PIXELS)
    with pytest.raises(TypeError, match="decoder gave 3"):
        data.read_webdataset(shard, decoder=lambda sample: 3).take_all()


def test_patterns_and_functions_choose_and_name_files(shard, tmp_path):
    def rows(**options):
        return data.read_webdataset(shard, **options).take_all()

    assert list(rows(suffixes=["*.p*"])[0]) == ["__key__", "png", "seg.ppm", "__url__"]
    assert list(rows(suffixes=lambda suffix: suffix == "cls")[1]) == ["__key__", "cls", "__url__"]
    chosen = rows(fileselect=lambda name: name.startswith("d/2"), filerename=[str.upper, str.lower], include_paths=True)
    assert [list(row) for row in chosen] == [["__key__", "png", "cls", "__url__", "path"]]
    assert chosen[0]["path"] == shard
    assert [row["cls"] for row in rows(filerename=lambda name: name.replace("d/", "e/"), suffixes=["cls"])] == [7, 8]
    with pytest.raises(TypeError, match="filerename gave 3"):
        rows(filerename=lambda name: 3)
    archive(tmp_path / "b.tar", [("1.cls", b"1"), ("2.cls", b"2"), ("1.txt", b"x")])
    for more in ({}, {"verbose_open": True}):
        with pytest.raises(Exception, match="the files of the sample 1 are not all next to each other"):
            data.read_webdataset(str(tmp_path / "b.tar"), **more).take_all()
    (tmp_path / "c.tar").write_bytes(b"x" * 600)
    with pytest.raises(ValueError, match=r"c\.tar: it is no tar archive"):
        data.read_webdataset(str(tmp_path / "c.tar"), verbose_open=True).take_all()


def test_archives_on_a_filesystem_of_python(shard, tmp_path):
    local = pyarrow.fs.SubTreeFileSystem(str(tmp_path), pyarrow.fs.LocalFileSystem())
    for options in ({}, {"suffixes": ["*ls"]}):
        rows = data.read_webdataset("a.tar", filesystem=local, **options).take_all()
        assert [row["cls"] for row in rows] == [7, 8]


def test_a_file_that_cannot_be_decoded_is_named(tmp_path):
    for name, content in (("1.json", b"{"), ("1.png", b"no image"), ("1.npy", b"no array"), ("1.seg.pgm", b"")):
        place = archive(tmp_path / "a.tar", [(name, content)])
        suffix = name.partition(".")[2]
        with pytest.raises(ValueError, match=rf"a\.tar: the file \.{suffix} of the sample 1 cannot be decoded"):
            data.read_webdataset(place).take_all()


def test_nothing_is_unpickled_unless_that_is_asked_for(tmp_path, monkeypatch):
    place = archive(tmp_path / "a.tar", [("1.pkl", pickle.dumps([1, 2]))])
    with pytest.raises(ValueError, match=f"unpickling runs code of the file.* set {UNSAFE}=1"):
        data.read_webdataset(place).take_all()
    monkeypatch.setenv(UNSAFE, "1")
    assert data.read_webdataset(place).take_all()[0]["pkl"] == [1, 2]


def test_messages_of_msgpack_are_values(tmp_path):
    message = {"boxes": [1, 2], "name": "cät", "raw": b"\x00"}
    place = archive(tmp_path / "a.tar", [("1.mp", msgpack.packb(message)), ("1.more.mp", msgpack.packb(7))])
    (row,) = data.read_webdataset(place).take_all()
    assert (row["mp"], row["more.mp"]) == (message, 7)
    data.from_items([{"mp": message}]).write_webdataset(str(tmp_path / "out"))
    with tarfile.open(next((tmp_path / "out").glob("*.tar"))) as made:
        assert msgpack.unpackb(made.extractfile(made.getnames()[0]).read()) == message
    broken = archive(tmp_path / "b.tar", [("1.mp", b"\xc1")])
    with pytest.raises(ValueError, match=r"b\.tar: the file \.mp of the sample 1 cannot be decoded"):
        data.read_webdataset(broken).take_all()


def test_tensors_of_torch_are_arrays(tmp_path, monkeypatch):
    torch = pytest.importorskip("torch")
    weights = {"w": torch.ones(2, requires_grad=True), "steps": [torch.tensor(3)], "name": "a"}

    def saved(value):
        return file_of(lambda file: torch.save(value, file))

    files = [("1.pt", saved(torch.arange(6.0).reshape(2, 3))), ("1.pth", saved(weights))]
    with pytest.raises(
        ValueError, match=f"the file .pt of the sample 1 cannot be decoded: unpickling.* set {UNSAFE}=1"
    ):
        data.read_webdataset(archive(tmp_path / "a.tar", files)).take_all()
    monkeypatch.setenv(UNSAFE, "1")
    (row,) = data.read_webdataset(str(tmp_path / "a.tar")).take_all()
    assert np.array_equal(row["pt"], [[0, 1, 2], [3, 4, 5]])
    assert row["pth"] == {"w": [1, 1], "steps": [3], "name": "a"}
    data.from_items([{"__key__": "1", "pt": row["pt"]}]).write_webdataset(str(tmp_path / "out"))
    with tarfile.open(next((tmp_path / "out").glob("*.tar"))) as made:
        written = torch.load(made.extractfile("1.pt"), weights_only=True)
    assert torch.equal(written, torch.arange(6.0).reshape(2, 3))


@pytest.mark.parametrize(("suffix", "module"), [("mp", "msgpack"), ("pt", "torch"), ("pth", "torch")])
def test_a_package_that_is_missing_is_named(suffix, module, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setenv(UNSAFE, "1")
    words = f"a file .{suffix} of a WebDataset needs the package {module}, which is not installed; run: pip install"
    with pytest.raises(ValueError, match=f"the file .{suffix} of the sample 1 cannot be decoded: {words}"):
        _webdataset.Decode([True])({"__key__": "1", "__url__": "a.tar", suffix: b"x"})
    with pytest.raises(ModuleNotFoundError, match=words):
        _webdataset.Encode([True])({suffix: 1})


def test_names_in_json_become_columns(tmp_path):
    place = archive(tmp_path / "a.tar", [("1.json", b'{"a": 1, "b": "x"}'), ("2.json", b'{"a": 2, "b": "y"}')])
    for decoder in (True, None):
        rows = data.read_webdataset(place, expand_json=True, decoder=decoder).take_all()
        assert [(row["a"], row["b"]) for row in rows] == [(1, "x"), (2, "y")]
    bad = archive(tmp_path / "b.tar", [("1.json", b'{"txt": 1}'), ("1.txt", b"x")])
    with pytest.raises(ValueError, match=r"sample 1 of .*b\.tar has txt in its file \.json, and beside it"):
        data.read_webdataset(bad, expand_json=True).take_all()
    with pytest.raises(ValueError, match=r"has no file \.json"):
        data.read_webdataset(archive(tmp_path / "c.tar", [("1.txt", b"x")]), expand_json=True).take_all()


def test_what_is_written_is_read_again(tmp_path):
    sample = {"__key__": "one", "png": PIXELS, "json": {"a": [1]}, "npy": np.eye(2), "cls": 3, "txt": "x", "raw": b"r"}
    data.from_items([sample]).write_webdataset(str(tmp_path / "out"))
    (again,) = data.read_webdataset(str(tmp_path / "out")).take_all()
    assert np.array_equal(again["png"], PIXELS)
    assert np.array_equal(again["npy"], np.eye(2))
    assert {name: again[name] for name in ("__key__", "json", "cls", "txt", "raw")} == {
        "__key__": "one", "json": {"a": [1]}, "cls": 3, "txt": "x", "raw": b"r",
    }  # fmt: skip
    with pytest.raises(TypeError, match=r"column 'png': 'x' cannot be written as \.png"):
        data.from_items([{"png": "x"}]).write_webdataset(str(tmp_path / "bad"))


def test_encoders_of_ones_own(tmp_path):
    def shout(sample):
        return {"__key__": sample["__key__"], "txt": sample["txt"].upper(), "json": sample["json"]}

    rows = data.from_items([{"__key__": "1", "txt": "a", "json": [1, 2], "more": 1}])
    for encoder, encoded in (([shout, True], "[1, 2]"), (shout, "[1,2]")):
        place = tmp_path / encoded
        rows.write_webdataset(str(place), encoder=encoder)
        with tarfile.open(next(place.glob("*.tar"))) as made:
            files = {name: made.extractfile(name).read() for name in made.getnames()}
        assert files == {"1.txt": b"A", "1.json": encoded.encode()}
        assert json.loads(files["1.json"]) == [1, 2]
