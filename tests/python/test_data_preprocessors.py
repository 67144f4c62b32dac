"""Preprocessors: what they learn, and what they make of data sets and of single batches."""

import numpy as np
import pandas
import pytest
from headway import data
from headway.data import preprocessors
from headway.data.preprocessors import (
    Chain,
    Concatenator,
    CustomKBinsDiscretizer,
    LabelEncoder,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    Preprocessor,
    RobustScaler,
    SimpleImputer,
    StandardScaler,
)

pytestmark = pytest.mark.usefixtures("the_engine_ends")


VALUES = [1.0, 2.0, None, 4.0, 10.0]


@pytest.fixture(scope="module")
def rows():
    return data.from_items([{"x": value, "kind": kind} for value, kind in zip(VALUES, "baacb", strict=True)])


PRESENT = np.array([1.0, 2.0, 4.0, 10.0])


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (StandardScaler, (PRESENT - PRESENT.mean()) / PRESENT.std()),
        (MinMaxScaler, (PRESENT - 1) / 9),
        (MaxAbsScaler, PRESENT / 10),
        (RobustScaler, (PRESENT - 3) / (np.quantile(PRESENT, 0.75) - np.quantile(PRESENT, 0.25))),
    ],
)
def test_scalers_make_the_same_of_data_sets_and_of_batches(rows, kind, expected):
    scaler = kind(columns=["x"])
    made = scaler.fit_transform(rows).take_batch()["x"]
    assert np.allclose(made[~np.isnan(made)], expected)
    for batch in ({"x": np.array(PRESENT)}, pandas.DataFrame({"x": PRESENT})):
        assert np.allclose(scaler.transform_batch(batch)["x"], expected)
    assert str(scaler.fit_status()) in ("FitStatus.FITTED", "FITTED")


def test_a_column_of_one_value_becomes_zeros():
    same = data.from_items([{"x": 3.0}, {"x": 3.0}])
    assert StandardScaler(columns=["x"]).fit_transform(same).take_batch()["x"].tolist() == [0.0, 0.0]


def test_what_was_learned_travels_as_text(rows):
    chain = Chain(StandardScaler(columns=["x"]), OneHotEncoder(columns=["kind"]))
    assert chain.fit_status() == preprocessors.FitStatus.NOT_FITTED
    chain.fit(rows)
    text = chain.serialize()
    assert isinstance(text, str)
    restored = StandardScaler.deserialize(text)
    batch = {"x": np.array([4.25]), "kind": np.array(["c"], dtype=object)}
    assert restored.transform_batch(batch)["kind"].tolist() == [[0, 0, 1]]
    with pytest.raises(ValueError, match="allowed: what serialize"):
        Preprocessor.deserialize("pickle")


def test_categories_become_numbers_and_vectors(rows):
    assert [row["kind"] for row in OrdinalEncoder(columns=["kind"]).fit_transform(rows).take_all()] == [1, 0, 0, 2, 1]
    encoder = OneHotEncoder(columns=["kind"], max_categories={"kind": 2}, output_columns=["vector"]).fit(rows)
    assert encoder.transform(rows).take_batch()["vector"].tolist() == [[0, 1], [1, 0], [1, 0], [0, 0], [0, 1]]
    labels = LabelEncoder("kind")
    numbers = labels.fit_transform(rows)
    assert [row["kind"] for row in labels.inverse_transform(numbers).take_all()] == list("baacb")


def test_missing_values_are_filled_in(rows):
    assert SimpleImputer(columns=["x"]).fit_transform(rows).take_batch()["x"][2] == 4.25
    constant = SimpleImputer(columns=["x"], strategy="constant", fill_value=7)
    assert constant.transform(rows).take_batch()["x"][2] == 7
    texts = data.from_items([{"t": "a"}, {"t": None}, {"t": "a"}])
    filled = SimpleImputer(columns=["t"], strategy="most_frequent").fit_transform(texts)
    assert [row["t"] for row in filled.take_all()] == ["a", "a", "a"]


def test_both_forms_of_the_concatenator():
    rows = data.from_items([{"a": 1.0, "b": 2, "y": 0}, {"a": 3.0, "b": 4, "y": 1}])
    older = Concatenator(exclude=["y"], dtype=np.float32).fit_transform(rows).take_batch()
    newer = Concatenator(columns=["a", "b"], dtype=np.float32).transform(rows).take_batch()
    for made in (older, newer):
        assert made["concat_out"].tolist() == [[1.0, 2.0], [3.0, 4.0]]
        assert made["concat_out"].dtype == np.float32
        assert sorted(made) == ["concat_out", "y"]


def test_the_concatenator_takes_lists_of_one_length():
    rows = data.from_items([{"v": [1.0, 2.0], "y": 3}, {"v": [4.0, None], "y": 5}])
    made = Concatenator(columns=["y", "v"]).transform(rows).take_batch()["concat_out"]
    assert np.array_equal(made, [[3, 1, 2], [5, 4, np.nan]], equal_nan=True)
    frame = pandas.DataFrame({"v": [[1, 2], [3, 4]]})
    assert Concatenator(columns=["v"]).transform_batch(frame)["concat_out"][1].tolist() == [3, 4]
    with pytest.raises(TypeError, match="column 'v' holds lists of different lengths"):
        Concatenator(columns=["v"]).transform_batch({"v": np.array([[1], [2, 3]], dtype=object)})


def test_bins_are_those_of_pandas():
    values = [0.0, 1.0, 5.0, 10.0, 11.0]
    made = CustomKBinsDiscretizer(columns=["x"], bins=[0, 5, 10]).transform_batch({"x": values})["x"]
    expected = pandas.cut(values, [0, 5, 10], labels=False)
    assert np.array_equal(made, expected, equal_nan=True)
    edges = CustomKBinsDiscretizer(columns=["x"], bins=np.array([0, 5, 10]))
    assert np.array_equal(edges.transform_batch({"x": values})["x"], expected, equal_nan=True)
    with pytest.raises(TypeError, match="allowed: at least two edges"):
        CustomKBinsDiscretizer(columns=["x"], bins=pandas.IntervalIndex.from_breaks([0, 5, 10]))


def test_one_that_was_not_fitted_says_so(rows):
    with pytest.raises(preprocessors.PreprocessorNotFittedException, match="StandardScaler has not been fitted"):
        StandardScaler(columns=["x"]).transform(rows)
    with pytest.raises(ValueError, match="columns has 'y'; allowed: columns of the data set: x, kind"):
        StandardScaler(columns=["y"]).fit(rows)
    with pytest.raises(TypeError, match="column 'kind' holds object; allowed: a column of numbers"):
        StandardScaler(columns=["kind"]).fit(rows)
