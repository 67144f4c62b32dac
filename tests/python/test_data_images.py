"""Images of data sets, beside what Pillow makes of the same files."""

from __future__ import annotations

import io
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

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


@pytest.fixture
def large(tmp_path: Path) -> tuple[str, list[np.ndarray]]:
    """40 images of more than 64 KiB each, and their pixels."""
    random = np.random.default_rng(0)
    pixels = []
    for number in range(40):
        colours = random.integers(0, 256, (150 + number, 200, 3), dtype=np.uint8)
        Image.fromarray(colours).save(tmp_path / f"{number:02}.png", compress_level=1)
        pixels.append(colours)
    return str(tmp_path), pixels


@pytest.mark.parametrize("batch_size", [1, 3, 16])
def test_large_images_stay_what_they_are_while_others_are_read(
    large: tuple[str, list[np.ndarray]], batch_size: int
) -> None:
    folder, pixels = large
    # All batches are kept: their memory is not used again.
    images = headway.data.read_images(folder, mode="RGB")
    batches = [batch["image"] for batch in images.iter_batches(batch_size=batch_size)]
    found = [image for batch in batches for image in batch]
    for one, expected in zip(found, pixels, strict=True):
        np.testing.assert_array_equal(one, expected)


def test_what_a_user_writes_into_large_images_is_nobody_elses(large: tuple[str, list[np.ndarray]]) -> None:
    folder, pixels = large
    images = headway.data.read_images(folder, mode="RGB")
    seen = 0
    for batch in images.iter_batches(batch_size=4):
        for image in batch["image"]:
            np.testing.assert_array_equal(image, pixels[seen])
            image[:] = 0
            seen += 1
    assert seen == len(pixels)


def test_large_images_of_one_size_are_the_same_in_every_form(large: tuple[str, list[np.ndarray]]) -> None:
    folder, pixels = large
    images = headway.data.read_images(folder, mode="RGB", size=(160, 170), include_paths=True)
    resized = [Image.fromarray(each).resize((170, 160), Image.Resampling.BILINEAR) for each in pixels]
    expected = np.stack([np.asarray(each) for each in resized])
    alone = headway.data.read_images(folder, mode="RGB", size=(160, 170))
    tensors = [batch["image"] for batch in alone.iter_torch_batches(batch_size=8)]
    np.testing.assert_array_equal(np.concatenate([each.numpy() for each in tensors]), expected)
    tables = images.iter_batches(batch_size=8, batch_format="pyarrow")
    values = [table["image"].combine_chunks().to_numpy_ndarray() for table in tables]
    np.testing.assert_array_equal(np.concatenate(values), expected)


def test_two_ranks_share_large_images(large: tuple[str, list[np.ndarray]]) -> None:
    folder, pixels = large

    def consume(part: Any) -> list[np.ndarray]:
        return [image for batch in part.iter_batches(batch_size=4) for image in batch["image"]]

    parts = headway.data.read_images(folder, mode="RGB").streaming_split(2, equal=True)
    with ThreadPoolExecutor(2) as threads:
        first, second = threads.map(consume, parts)
    # Rank by rank, four rows each.
    for rank, found in enumerate((first, second)):
        expected = [each for number, each in enumerate(pixels) if number // 4 % 2 == rank]
        for one, pixel in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, pixel)


def test_a_large_image_that_is_broken_is_named(
    large: tuple[str, list[np.ndarray]], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, pixels = large
    broken = Path(folder) / "17.png"
    broken.write_bytes(broken.read_bytes()[:2000])
    with pytest.raises(ValueError, match=r"17\.png.*ends early"):
        for _ in headway.data.read_images(folder, mode="RGB").iter_batches(batch_size=4):
            pass
    monkeypatch.setattr(headway.data.DataContext.get_current(), "max_errored_blocks", 1)
    images = headway.data.read_images(folder, mode="RGB")
    found = [image for batch in images.iter_batches(batch_size=4) for image in batch["image"]]
    for one, expected in zip(found, pixels[:17] + pixels[18:], strict=True):
        np.testing.assert_array_equal(one, expected)
