"""to_dmatrix and to_dataset: a share of a data set as XGBoost and LightGBM take it."""

import functools
import os

import headway
import headway.data
import headway.data.expressions
import pytest
from headway import train
from headway.data.preprocessors import Concatenator, OneHotEncoder
from headway.train.lightgbm import LightGBMTrainer, to_dataset
from headway.train.xgboost import XGBoostTrainer, to_dmatrix

pytestmark = pytest.mark.skipif(
    os.environ.get("HEADWAY_WORKER_START") == "exec", reason="the same code either way; once is enough"
)


@pytest.fixture(scope="module", autouse=True)
def program():
    """boosting_data.py, imported here so that worker factories import the frameworks too."""
    headway.shutdown()
    import boosting_data

    yield boosting_data
    headway.shutdown()


def built(program, data):
    if isinstance(data, program.xgboost.DMatrix):
        return program.xgboost.train(program.OF_XGBOOST, data, program.ROUNDS)
    return program.lightgbm.train(program.OF_LIGHTGBM, data, program.ROUNDS)


def test_a_matrix_on_disk_gives_the_trees_of_xgboosts_own(program):
    rows = program.frame(1000)

    class Pieces(program.xgboost.DataIter):
        def next(self, input_data):
            self.piece += 1
            some = rows[200 * self.piece : 200 * (self.piece + 1)]
            if len(some):
                input_data(data=program.features(some), label=some[program.LABEL])
            return len(some) > 0

        def reset(self):
            self.piece = -1

    data = headway.data.from_pandas(rows.drop(columns="weight"))
    ours = to_dmatrix(data, program.LABEL, external_memory=True, batch_size=200, nthread=1)
    assert isinstance(ours, program.xgboost.ExtMemQuantileDMatrix)
    theirs = program.xgboost.QuantileDMatrix(Pieces(), nthread=1)
    assert program.trees(built(program, ours)) == program.trees(built(program, theirs))


def test_rows_on_disk_give_the_same_trees_of_lightgbm(program):
    data = headway.data.from_pandas(program.frame(1000).drop(columns="weight"))
    on_disk = built(program, to_dataset(data, program.LABEL, external_memory=True))
    assert program.trees(on_disk) == program.trees(built(program, to_dataset(data, program.LABEL)))


@pytest.mark.heavy
@pytest.mark.parametrize("on_disk", [False, True])
def test_a_matrix_on_disk_takes_little_memory(fit, on_disk):
    """163 MB of features. A rank keeps what it frees, so this is the most that it has had."""
    columns = {f"f{n}": headway.data.expressions.col("id") * (n + 0.5) for n in range(50)}
    data = headway.data.range(400_000).with_columns({**columns, "y": headway.data.expressions.col("id") % 2})

    def loop():
        def anonymous():
            with open("/proc/self/status") as file:
                fields = dict(line.split(":", 1) for line in file)
            return int(fields["RssAnon"].split()[0]) / 1024

        shard = train.get_dataset_shard("train")
        to_dmatrix(headway.data.range(10), "id", features=["id"])
        before = anonymous()
        some = {"external_memory": True, "batch_size": 20_000} if on_disk else {}
        matrix = to_dmatrix(shard, "y", **some)
        return matrix.num_row(), matrix.num_col(), anonymous() - before

    rows, width, grown = fit(loop, 1, trainer=XGBoostTrainer, datasets={"train": data}).return_value
    assert (rows, width) == (400_000, 51)
    assert (grown < 163) == on_disk, f"{grown} MB"


@pytest.mark.parametrize("to_data", [to_dmatrix, to_dataset])
def test_a_share_is_the_same_each_time_and_its_position_stays(program, fit, to_data):
    """The rows are shuffled, so another epoch would have others."""
    trainer = XGBoostTrainer if to_data is to_dmatrix else LightGBMTrainer
    data = headway.data.from_pandas(program.frame(400)).random_shuffle()

    def loop():
        shard = train.get_dataset_shard("train")
        made = [to_data(shard, program.LABEL, external_memory=on_disk) for on_disk in (False, True)]
        if to_data is to_dataset:
            made = [each.construct() for each in made]
        labels = [each.get_label().tolist() for each in made]
        assert labels[0] == labels[1]
        rows = [label for batch in shard.iter_batches() for label in batch[program.LABEL].tolist()]
        return labels[0] == rows, len(rows)

    result = fit(loop, 2, trainer=trainer, datasets={"train": data})
    assert result.return_value == (True, 200)


@pytest.mark.parametrize("to_data", [to_dmatrix, to_dataset])
def test_lists_of_numbers_are_a_feature_for_each_place(program, to_data):
    import numpy

    values = numpy.arange(24, dtype="float32").reshape(6, 4)
    data = headway.data.from_numpy(values).with_column("y", headway.data.expressions.lit(1))
    made = to_data(data, "y")
    if to_data is to_dataset:
        made = made.construct()
        assert made.feature_name == ["data_0", "data_1", "data_2", "data_3"]
        return
    assert made.feature_names == ["data_0", "data_1", "data_2", "data_3"]
    assert made.get_data().toarray().tolist() == values.tolist()


@pytest.mark.parametrize(("trainer", "to_data"), [(XGBoostTrainer, to_dmatrix), (LightGBMTrainer, to_dataset)])
def test_a_training_function_takes_the_vectors_of_preprocessors(program, fit, trainer, to_data):
    """As rows of numbers would be: data frames of such a share are refused by both frameworks."""
    texts, numbers = ("red", "green", "blue"), range(300)
    rows = [{"color": texts[n % 3], "x": n % 17 / 4, program.LABEL: n % 2} for n in numbers]

    def label(row):
        return {program.LABEL: row[program.LABEL]}

    encoder, joined = OneHotEncoder(columns=["color"]), Concatenator(columns=["x", "color"], dtype="float32")
    data = headway.data.from_items(rows)
    vectors = joined.fit_transform(encoder.fit_transform(data))
    hot = {f"concat_out_{place}": text for place, text in enumerate(sorted(texts), 1)}
    flat = data.map(
        lambda row: {"concat_out_0": row["x"], **{at: row["color"] == text for at, text in hot.items()}, **label(row)}
    )

    def loop():
        made = to_data(train.get_dataset_shard("train"), program.LABEL)
        return program.trees(built(program, made))

    of_vectors, of_numbers = (fit(loop, 1, trainer=trainer, datasets={"train": each}) for each in (vectors, flat))
    assert of_vectors.return_value == of_numbers.return_value


def test_null_is_missing(program):
    data = headway.data.from_items([{"x": 1.5, "y": 1}, {"x": None, "y": 0}, {"x": -1.0, "y": 0}])
    assert to_dmatrix(data, "y").num_nonmissing() == 2
    assert to_dmatrix(data, "y", missing=-1.0).num_nonmissing() == 1


@pytest.mark.parametrize("to_data", [functools.partial(to_dmatrix, enable_categorical=True), to_dataset])
def test_a_text_beyond_the_given_categories_is_refused(program, to_data):
    data = headway.data.from_items([{"x": "a", "y": 1}, {"x": "b", "y": 0}])
    with pytest.raises(ValueError, match=r"categories\['x'\] has no 'b', which is in the data; allowed: all values"):
        to_data(data, "y", categories={"x": ["a"]})


@pytest.mark.parametrize("to_data", [to_dmatrix, to_dataset])
def test_a_column_that_is_no_number_is_refused(program, to_data):
    import datetime

    data = headway.data.from_items([{"x": datetime.datetime(2026, 1, 1), "y": 1}])
    with pytest.raises(TypeError, match="the column 'x' is of the type timestamp"):
        to_data(data, "y")
