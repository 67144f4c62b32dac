"""Preprocessors of categories, bins, vectors and text: what they make of values that are easily
taken for others.
"""

import numpy as np
import pandas
import pytest
from headway import data
from headway.data.preprocessors import (
    CountVectorizer,
    FeatureHasher,
    HashingVectorizer,
    LabelEncoder,
    MultiHotEncoder,
    Normalizer,
    PowerTransformer,
    Tokenizer,
    TorchVisionPreprocessor,
    UniformKBinsDiscretizer,
)

pytestmark = pytest.mark.usefixtures("the_engine_ends")


def made(preprocessor, rows, column):
    return [row[column] for row in preprocessor.fit_transform(data.from_items(rows)).take_all()]


def test_labels_that_were_not_there_at_fit_do_not_become_another_label():
    labels = LabelEncoder("kind").fit(data.from_items([{"kind": "cat"}, {"kind": "dog"}]))
    numbers = labels.transform(data.from_items([{"kind": "dog"}, {"kind": "cow"}]))
    assert [row["kind"] for row in labels.inverse_transform(numbers).take_all()] == ["dog", None]
    missing = data.from_items([{"kind": 0}, {"kind": None}])
    assert [row["kind"] for row in labels.inverse_transform(missing).take_all()] == ["cat", None]


def test_a_category_may_be_in_a_list_hundreds_of_times():
    assert [list(row) for row in made(MultiHotEncoder(["t"]), [{"t": ["a"] * 300 + ["b"]}], "t")] == [[300, 1]]


@pytest.mark.parametrize("right", [True, False])
def test_uniform_bins_are_those_of_pandas(right):
    values = [0.2, 1.4, 2.5, 6.2, 9.7, 2.1]
    bins = made(UniformKBinsDiscretizer(["x"], bins=4, right=right), [{"x": value} for value in values], "x")
    assert bins == pandas.cut(pandas.Series(values), 4, labels=False, right=right).tolist()


@pytest.mark.parametrize(("right", "bins"), [(True, 1), (False, 2)])
def test_a_column_of_one_number_lies_in_a_bin(right, bins):
    rows = [{"x": 3.0}, {"x": 3.0}, {"x": None}]
    found = made(UniformKBinsDiscretizer(["x"], bins=4, right=right), rows, "x")
    assert found[:2] == pandas.cut(pandas.Series([3.0, 3.0]), 4, labels=False, right=right).tolist()
    assert np.isnan(found[2])
    with pytest.raises(ValueError, match="column 'x' has no numbers"):
        UniformKBinsDiscretizer(["x"], bins=2).fit(data.from_items([{"x": 1.0}]).filter(lambda row: False))


@pytest.mark.parametrize(("norm", "divisor"), [("l1", 7), ("l2", 5), ("max", 4)])
def test_rows_are_divided_by_their_norm(norm, divisor):
    rows = [{"a": 3, "b": -4}, {"a": 0, "b": 0}]
    assert made(Normalizer(["a", "b"], norm=norm), rows, "a") == [3 / divisor, 0]


@pytest.mark.parametrize("power", [0, 0.5, 1, 2, 3.0])
def test_powers_are_those_of_scipy(power):
    stats = pytest.importorskip("scipy.stats")
    values = np.array([-2.0, -0.5, 0.0, 1.0, 4.0])
    found = PowerTransformer(["x"], power=power).transform_batch({"x": values})["x"]
    assert np.allclose(found, stats.yeojohnson(values, lmbda=power))
    found = PowerTransformer(["x"], power=power, method="box-cox").transform_batch({"x": values[3:]})["x"]
    assert np.allclose(found, stats.boxcox(values[3:], lmbda=power))


def test_words_are_cut_counted_and_hashed():
    texts = [{"t": "a b a"}, {"t": "c"}, {"t": "b b b b"}]
    assert [list(words) for words in made(Tokenizer(["t"]), texts, "t")] == [["a", "b", "a"], ["c"], ["b"] * 4]
    assert [list(row) for row in made(CountVectorizer(["t"]), texts, "t")] == [[1, 2, 0], [0, 0, 1], [4, 0, 0]]
    assert [list(row) for row in made(CountVectorizer(["t"], max_features=1), texts, "t")] == [[1], [0], [4]]
    letters = CountVectorizer(["t"], tokenization_fn=list, output_columns=["letters"])
    assert made(letters, [{"t": "aab"}], "letters")[0].tolist() == [2, 1]
    hashed = made(HashingVectorizer(["t"], num_features=16), texts, "t")
    assert [int(row.sum()) for row in hashed] == [3, 1, 4]
    assert hashed[2].max() == 4
    assert hashed[0][hashed[2].argmax()] == 1
    counts = made(FeatureHasher(["a", "b"], num_features=8, output_column="v"), [{"a": 2, "b": 3, "c": 1}], "v")
    assert int(counts[0].sum()) == 5


def test_transforms_of_torchvision_get_each_image_or_all():
    torch = pytest.importorskip("torch")
    images = data.from_numpy(np.arange(48, dtype=np.float32).reshape(2, 4, 6))
    halved = TorchVisionPreprocessor(["data"], transform=lambda image: image[::2])
    assert halved.transform(images).take_batch()["data"].shape == (2, 2, 6)
    together = TorchVisionPreprocessor(["data"], transform=lambda batch: batch.mean((1, 2)), batched=True)
    assert together.transform(images).take_batch()["data"].tolist() == [11.5, 35.5]
    flipped = TorchVisionPreprocessor(["data"], transform=lambda image: image.flip(0))
    assert flipped.transform(images).take_batch()["data"][0, 0].tolist() == [18, 19, 20, 21, 22, 23]

    def of_arrays(image):
        if not isinstance(image, np.ndarray):
            raise TypeError("pic should be PIL Image or ndarray")
        return torch.from_numpy(image[:1].copy())

    assert TorchVisionPreprocessor(["data"], transform=of_arrays).transform(images).take_batch()["data"].shape == (
        2,
        1,
        6,
    )
