"""Images of data sets, beside what Pillow makes of the same files."""

from __future__ import annotations

import io
from pathlib import Path

import headway
import headway.data
import numpy as np
import pytest

pytest.importorskip("PIL")
from PIL import Image

pytestmark = pytest.mark.usefixtures("the_engine_ends")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Five images of different heights: PNG and JPEG in turn."""
    for number in range(5):
        colours = np.random.default_rng(number).integers(0, 256, (20 + number, 30, 3), dtype=np.uint8)
        file = io.BytesIO()
        Image.fromarray(colours).save(file, "JPEG" if number % 2 else "PNG")
        (tmp_path / f"{number}.{'jpg' if number % 2 else 'png'}").write_bytes(file.getvalue())
    return tmp_path


def test_images_of_one_size_are_one_array_with_the_bits_of_pillow(folder: Path) -> None:
    found = headway.data.read_images(str(folder), size=(16, 24), mode="RGB").take_batch(5)["image"]
    pictures = [Image.open(path).convert("RGB") for path in sorted(folder.iterdir())]
    expected = [np.asarray(each.resize((24, 16), Image.Resampling.BILINEAR)) for each in pictures]
    np.testing.assert_array_equal(found, np.stack(expected))


def test_images_of_other_sizes_are_arrays_of_their_own(folder: Path) -> None:
    images = headway.data.read_images(str(folder), mode="RGB")
    expected = [np.asarray(Image.open(path).convert("RGB")) for path in sorted(folder.iterdir())]
    for row, one in zip(images.take_all(), expected, strict=True):
        np.testing.assert_array_equal(row["image"], one)
    batch = images.take_batch(5)["image"]
    assert batch.dtype == object
    assert [each.shape for each in batch] == [one.shape for one in expected]
    np.testing.assert_array_equal(images.take_batch(1)["image"], np.stack(expected[:1]))


def test_images_that_happen_to_have_one_size_are_one_array_of_one_s_own(folder: Path) -> None:
    for path in sorted(folder.iterdir())[1:]:
        Image.open(folder / "0.png").save(path)
    expected = np.stack([np.asarray(Image.open(path)) for path in sorted(folder.iterdir())])
    batches = headway.data.read_images(str(folder), mode="RGB").iter_batches(batch_size=3)
    found = [batch["image"] for batch in batches]
    np.testing.assert_array_equal(np.concatenate(found), expected)
    found[0][:] = 0  # A view of memory that is nobody else's.
    assert not found[0].any()


def test_samples_and_records_are_read_as_they_were_written(tmp_path: Path) -> None:
    numbers = headway.data.range(10)
    numbers.write_tfrecords(str(tmp_path / "records"))
    numbers.write_webdataset(str(tmp_path / "samples"))
    numbers.write_numpy(str(tmp_path / "arrays"), column="id")
    assert [row["id"] for row in headway.data.read_tfrecords(str(tmp_path / "records")).take_all()] == list(range(10))
    assert headway.data.read_webdataset(str(tmp_path / "samples")).count() == 10
    assert [row["data"] for row in headway.data.read_numpy(str(tmp_path / "arrays")).take_all()] == list(range(10))
