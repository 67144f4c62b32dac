"""Decimals in expressions and scalers, and None in tokenizers."""

from decimal import Decimal

import pyarrow as pa
import pytest
from headway import data
from headway.data import preprocessors
from headway.data.expressions import col

pytestmark = pytest.mark.usefixtures("the_engine_ends")


def prices():
    values = [Decimal("1.25"), Decimal("-0.50"), None, Decimal("3.25")]
    return data.from_arrow(pa.table({"price": pa.array(values, pa.decimal128(10, 2))}))


def test_the_rest_of_decimals_is_a_decimal():
    made = prices().with_column("price", col("price") % 1).take_all()
    assert [row["price"] for row in made] == [Decimal("0.25"), Decimal("0.50"), None, Decimal("0.25")]
    half = prices().with_column("price", col("price") % 0.5).take_all()
    assert [row["price"] for row in half] == [0.25, 0.0, None, 0.25]


@pytest.mark.parametrize("name", ["StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler"])
def test_scalers_take_decimals_as_floats(name):
    floats = prices().with_column("price", col("price").cast("float64"))
    of_decimals, of_floats = (getattr(preprocessors, name)(columns=["price"]).fit(rows) for rows in (prices(), floats))
    assert of_decimals.stats_ == of_floats.stats_
    assert of_decimals.transform(prices()).take_all() == of_floats.transform(floats).take_all()
    batch = of_decimals.transform_batch(prices().take_batch())
    assert batch["price"].dtype == float


def test_a_tokenizer_leaves_none_and_others_name_the_column():
    texts = data.from_items([{"text": "a b"}, {"text": None}])
    words = preprocessors.Tokenizer(columns=["text"]).transform(texts).take_all()
    assert words == [{"text": ["a", "b"]}, {"text": None}]
    fill = r"column 'text' has None, which has no words; fill it"
    with pytest.raises(ValueError, match=fill):
        preprocessors.HashingVectorizer(columns=["text"], num_features=2).transform(texts).take_all()
    with pytest.raises(ValueError, match=fill):
        preprocessors.CountVectorizer(columns=["text"]).fit(texts)
