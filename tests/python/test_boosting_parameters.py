"""XGBoostTrainer and LightGBMTrainer by parameters, on data sets."""

import inspect
import os

import headway
import pytest
from headway import train
from headway.train.lightgbm import LightGBMTrainer
from headway.train.lightgbm import parameters as of_lightgbm
from headway.train.xgboost import XGBoostTrainer
from headway.train.xgboost import parameters as of_xgboost

pytestmark = pytest.mark.skipif(
    os.environ.get("HEADWAY_WORKER_START") == "exec", reason="the same code either way; once is enough"
)

TRAINERS = [XGBoostTrainer, LightGBMTrainer]


@pytest.fixture(scope="module", autouse=True)
def program():
    """boosting_data.py, imported here so that worker factories import the frameworks too."""
    headway.shutdown()
    import boosting_data

    yield boosting_data
    headway.shutdown()


@pytest.fixture
def fit_rows(program, storage):
    """``fit_rows(trainer, workers, datasets, ...)``: 20 rounds by parameters."""

    def run(trainer, workers, datasets, *, frequency=0, max_failures=0, name=None, **options):
        params = program.OF_XGBOOST if trainer is XGBoostTrainer else program.OF_LIGHTGBM
        given = {"label_column": program.LABEL, "num_boost_round": program.ROUNDS, **options}
        return trainer(
            params={**params, **given.pop("params", {})},
            datasets=datasets,
            scaling_config=train.ScalingConfig(num_workers=workers),
            run_config=train.RunConfig(
                name=name,
                storage_path=storage,
                checkpoint_config=train.CheckpointConfig(checkpoint_frequency=frequency),
                failure_config=train.FailureConfig(max_failures),
            ),
            **given,
        ).fit()

    return run


def alone(program, trainer, rows, weight=None, text=(), **params):
    """What the framework builds of the rows without Headway."""
    features = program.features(rows).astype(dict.fromkeys(text, "category"))
    if trainer is XGBoostTrainer:
        matrix = program.xgboost.DMatrix(
            features, rows[program.LABEL], weight=weight, nthread=1, enable_categorical=bool(text)
        )
        return program.xgboost.train({**program.OF_XGBOOST, **params}, matrix, program.ROUNDS)
    data = program.lightgbm.Dataset(features, rows[program.LABEL], weight=weight)
    return program.lightgbm.train({**program.OF_LIGHTGBM, **params}, data, program.ROUNDS)


@pytest.mark.parametrize("trainer", TRAINERS)
@pytest.mark.parametrize("workers", [0, 1])
def test_the_trees_are_those_of_the_framework_alone(program, fit_rows, trainer, workers):
    rows, valid = program.frame(400), program.frame(100, 1)
    result = fit_rows(trainer, workers, program.datasets(rows, valid))
    model = trainer.get_model(result.checkpoint)
    assert program.trees(model) == program.trees(alone(program, trainer, rows))
    frame = result.metrics_dataframe
    assert len(frame) in (program.ROUNDS, program.ROUNDS + 1), "each round, and the model after the last one"
    assert result.config["num_boost_round"] == program.ROUNDS


@pytest.mark.parametrize("trainer", TRAINERS)
def test_two_ranks_build_one_model_of_all_rows(program, fit_rows, trainer):
    rows, valid = program.frame(400), program.frame(100, 1)
    result = fit_rows(trainer, 2, program.datasets(rows, valid), frequency=5)
    model = trainer.get_model(result.checkpoint)
    assert program.rounds_of(model) == program.ROUNDS
    assert len(result.best_checkpoints) == 4
    features = program.features(valid)
    predicted = model.predict(program.xgboost.DMatrix(features) if trainer is XGBoostTrainer else features)
    name = "valid-logloss" if trainer is XGBoostTrainer else "valid-binary_logloss"
    assert result.metrics[name] == pytest.approx(program.logloss(valid[program.LABEL], predicted), rel=1e-4)
    first, last = result.metrics_dataframe[name].iloc[[0, -1]]
    assert last < first / 1.5


@pytest.mark.parametrize("trainer", TRAINERS)
def test_a_killed_rank_costs_the_rounds_since_the_newest_checkpoint(program, fit_rows, trainer, tmp_path):
    kill = (program.KillXGBoost if trainer is XGBoostTrainer else program.KillLightGBM)(13, tmp_path / "killed")
    datasets = program.datasets(program.frame(400))
    result = fit_rows(trainer, 2, datasets, frequency=5, max_failures=1, callbacks=[kill])
    assert len(result.metrics_dataframe) in (12 + 10, 13 + 10), "up to the kill, and from round 11 on"
    assert program.rounds_of(trainer.get_model(result.checkpoint)) == program.ROUNDS
    whole = fit_rows(trainer, 2, datasets)
    name = "train-logloss" if trainer is XGBoostTrainer else "train-binary_logloss"
    assert result.metrics[name] == pytest.approx(whole.metrics[name], rel=0.05)


@pytest.mark.parametrize("trainer", TRAINERS)
def test_a_run_is_restored_with_another_number_of_ranks(program, fit_rows, trainer, storage):
    datasets = program.datasets(program.frame(400))
    params = program.OF_XGBOOST if trainer is XGBoostTrainer else program.OF_LIGHTGBM
    keep = train.CheckpointConfig(checkpoint_frequency=5)
    run = train.RunConfig(name="run", storage_path=storage, stop={"training_iteration": 11}, checkpoint_config=keep)
    trainer(
        label_column=program.LABEL,
        params=params,
        num_boost_round=program.ROUNDS,
        datasets=datasets,
        scaling_config=train.ScalingConfig(num_workers=2),
        run_config=run,
    ).fit()
    restored = trainer.restore(
        f"{storage}/run",
        datasets=datasets,
        scaling_config=train.ScalingConfig(num_workers=3),
        run_config=train.RunConfig(checkpoint_config=keep),
    )
    result = restored.fit()
    assert program.rounds_of(trainer.get_model(result.checkpoint)) == program.ROUNDS
    assert len(result.metrics_dataframe) == 11 + 10, "resumed from the checkpoint of round 10"


@pytest.mark.parametrize("trainer", TRAINERS)
def test_rounds_that_another_run_has_trained_count(program, fit_rows, trainer):
    datasets = program.datasets(program.frame(60))
    first = fit_rows(trainer, 1, datasets, num_boost_round=5)
    with pytest.raises(train.WorkerGroupError, match=r"num_boost_round is 5, and the model of .* has 5 rounds already"):
        fit_rows(trainer, 1, datasets, num_boost_round=5, resume_from_checkpoint=first.checkpoint)


@pytest.mark.parametrize("trainer", TRAINERS)
def test_weights_are_a_column(program, fit_rows, trainer):
    rows = program.frame(400)
    datasets = {"train": headway.data.from_pandas(rows)}
    result = fit_rows(trainer, 1, datasets, dmatrix_params={"train": {"weight": "weight"}})
    model = trainer.get_model(result.checkpoint)
    assert program.trees(model) == program.trees(alone(program, trainer, rows, rows["weight"]))
    assert program.trees(model) != program.trees(alone(program, trainer, rows))


@pytest.mark.parametrize("trainer", TRAINERS)
def test_weights_count_in_both_ranks(program, fit_rows, trainer):
    """Half of each rank's labels are wrong, and weigh nothing."""
    rows, valid = program.frame(400), program.frame(100, 1)
    rows["weight"] = (rows.index // 2 % 2).astype("float32")
    right = rows.copy()
    rows.loc[rows["weight"] == 0, program.LABEL] ^= 1
    losses = []
    features = program.features(valid)
    data = program.xgboost.DMatrix(features) if trainer is XGBoostTrainer else features
    for table, weight in ((rows, "weight"), (right, "weight"), (rows, None)):
        given = table if weight else table.drop(columns="weight")
        more = {"dmatrix_params": {"train": {"weight": weight}}} if weight else {}
        result = fit_rows(trainer, 2, {"train": headway.data.from_pandas(given)}, **more)
        predicted = trainer.get_model(result.checkpoint).predict(data)
        losses.append(program.logloss(valid[program.LABEL], predicted))
    assert losses[0] == pytest.approx(losses[1], rel=1e-4), "wrong labels that weigh nothing change nothing"
    assert losses[2] > 1.3 * losses[0]


@pytest.mark.parametrize("trainer", TRAINERS)
def test_text_is_categories(program, fit_rows, trainer):
    """The trees are those of pandas' categories, and the model predicts for these."""
    rows = program.frame(400, text=True)
    small = {"max_cat_to_onehot": 1} if trainer is XGBoostTrainer else {"min_data_per_group": 10, "cat_smooth": 1}
    more = {"dmatrix_params": {"train": {"enable_categorical": True}}} if trainer is XGBoostTrainer else {}
    result = fit_rows(trainer, 1, program.datasets(rows), params=small, **more)
    model = trainer.get_model(result.checkpoint)
    expected = alone(program, trainer, rows, text=["city"], **small)
    assert "city" in program.trees(model)
    assert program.trees(model) == program.trees(expected)
    features = program.features(rows).astype({"city": "category"})
    data = program.xgboost.DMatrix(features, enable_categorical=True) if trainer is XGBoostTrainer else features
    assert model.predict(data).tolist() == expected.predict(data).tolist()


@pytest.mark.parametrize("trainer", TRAINERS)
def test_ranks_and_data_sets_agree_about_categories(program, fit_rows, trainer):
    """Rome is in the second half alone, and Lund in the validation rows alone."""
    rows, valid = program.frame(400, text=True), program.frame(100, 1, text=True)
    rows = rows.sort_values("city", kind="stable")
    valid.loc[0, "city"] = "Lund"
    small = {"max_cat_to_onehot": 1} if trainer is XGBoostTrainer else {"min_data_per_group": 10, "cat_smooth": 1}
    more = {"dmatrix_params": {"train": {"enable_categorical": True}}} if trainer is XGBoostTrainer else {}
    result = fit_rows(trainer, 2, program.datasets(rows, valid), params=small, **more)
    model = trainer.get_model(result.checkpoint)
    assert "city" in program.trees(model)
    cities = ["Bern", "Lund", "Oslo", "Rome"]
    features = program.features(valid)
    features["city"] = features["city"].astype(program.pandas.CategoricalDtype(cities))
    data = program.xgboost.DMatrix(features, enable_categorical=True) if trainer is XGBoostTrainer else features
    name = "valid-logloss" if trainer is XGBoostTrainer else "valid-binary_logloss"
    assert result.metrics[name] == pytest.approx(program.logloss(valid[program.LABEL], model.predict(data)), rel=1e-4)


def by_chance(program, rows):
    """Validation rows with labels of chance: more rounds make it worse."""
    valid = program.frame(rows, 1)
    valid[program.LABEL] = valid[program.LABEL].sample(frac=1, random_state=0).to_numpy()
    return valid


@pytest.mark.parametrize("trainer", TRAINERS)
def test_early_stopping_ends_all_ranks_at_one_round(program, fit_rows, trainer):
    valid = by_chance(program, 100)
    given = {"early_stopping_rounds": 3} if trainer is XGBoostTrainer else {"params": {"early_stopping_round": 3}}
    result = fit_rows(trainer, 2, program.datasets(program.frame(400), valid), num_boost_round=200, **given)
    assert 3 < result.metrics["training_iteration"] < 100
    model = trainer.get_model(result.checkpoint)
    name = "valid-logloss" if trainer is XGBoostTrainer else "valid-binary_logloss"
    losses = result.metrics_dataframe[name].tolist()[:-1]
    best = losses.index(min(losses)) + 1
    assert len(losses) == best + 3
    assert program.rounds_of(model) == (best + 3 if trainer is XGBoostTrainer else best)


@pytest.mark.parametrize("trainer", TRAINERS)
@pytest.mark.parametrize("frequency", [0, 1, 4])
@pytest.mark.parametrize("stopped", [True, False])
def test_the_last_checkpoint_has_the_rounds_up_to_the_best_one(program, fit_rows, trainer, frequency, stopped):
    """Also if all rounds are built before it stops early."""
    patience, rounds = (3, 200) if stopped else (50, 30)
    if trainer is XGBoostTrainer:
        given = {"callbacks": [program.xgboost.callback.EarlyStopping(rounds=patience, save_best=True)]}
    else:
        given = {"params": {"early_stopping_round": patience}}
    data = program.datasets(program.frame(400), by_chance(program, 100))
    result = fit_rows(trainer, 1, data, frequency=frequency, num_boost_round=rounds, **given)
    frame = result.metrics_dataframe
    losses = frame["valid-logloss" if trainer is XGBoostTrainer else "valid-binary_logloss"].tolist()
    assert (len(losses) < rounds) == stopped
    assert program.rounds_of(trainer.get_model(result.checkpoint)) == losses.index(min(losses)) + 1


@pytest.mark.parametrize("trainer", TRAINERS)
def test_a_rank_without_rows_is_an_error_with_words(program, fit_rows, trainer):
    with pytest.raises(
        train.WorkerGroupError, match=r"the data set 'train' has no rows for rank \d; allowed: at least"
    ):
        fit_rows(trainer, 2, program.datasets(program.frame(1)))


def test_text_without_categories_is_an_error_with_words(program, fit_rows):
    with pytest.raises(train.WorkerGroupError, match="the column 'city' is text; allowed: numbers, or enable_cat"):
        fit_rows(XGBoostTrainer, 1, program.datasets(program.frame(60, text=True)))


def test_all_arguments_of_the_frameworks_are_known(program):
    """Handed on, replaced, or of the form itself."""
    for form, function in (
        (of_xgboost.FORM, program.xgboost.train),
        (of_lightgbm.FORM, program.lightgbm.train),
    ):
        known = {*form.train_arguments, *form.instead, "params", "num_boost_round"}
        assert known == set(inspect.signature(function).parameters)
