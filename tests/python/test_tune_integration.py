"""Callbacks of other libraries in function trials, each with the real library."""

import pytest
from headway import data, train, tune


@pytest.fixture
def fit(tmp_path):
    def run(trainable, **config):
        run_config = train.RunConfig(storage_path=tmp_path, name="sweep", verbose=0)
        grid = tune.Tuner(trainable, tune_config=tune.TuneConfig(**config), run_config=run_config).fit()
        assert grid.num_errors == 0, grid.errors
        return grid[0]

    return run


def rows():
    import numpy as np

    x = np.random.default_rng(0).normal(size=(60, 3))
    return x, (x[:, 0] > 0).astype("float32")


def test_a_round_of_xgboost_is_a_report_of_the_trial(fit):
    pytest.importorskip("xgboost")

    def trial(config):
        import xgboost
        from headway.tune.integration.xgboost import TuneReportCheckpointCallback

        data = xgboost.DMatrix(*rows())
        callback = TuneReportCheckpointCallback({"loss": "test-logloss"}, frequency=2)
        params = {"objective": "binary:logistic", "nthread": 1}
        xgboost.train(params, data, 3, evals=[(data, "test")], callbacks=[callback], verbose_eval=False)

    result = fit(trial)
    assert result.metrics["training_iteration"] == 4  # three rounds, and the model of the last
    assert 0 < result.metrics["loss"] < 0.6
    from headway.tune.integration.xgboost import TuneReportCheckpointCallback

    assert TuneReportCheckpointCallback.get_model(result.checkpoint).num_boosted_rounds() == 3


def test_folds_of_xgboost_are_averaged_without_checkpoints(fit):
    pytest.importorskip("xgboost")

    def trial(config):
        import xgboost
        from headway.tune.integration.xgboost import TuneReportCallback

        def mean(metrics):
            return {name: value[0] if isinstance(value, tuple) else value for name, value in metrics.items()}

        params = {"objective": "binary:logistic", "nthread": 1}
        callback = TuneReportCallback(results_postprocessing_fn=mean)
        xgboost.cv(params, xgboost.DMatrix(*rows()), 2, nfold=2, callbacks=[callback])

    result = fit(trial)
    assert 0 < result.metrics["test-logloss"] < 0.7
    assert result.checkpoint is None


def test_a_round_of_lightgbm_is_a_report_of_the_trial(fit):
    pytest.importorskip("lightgbm")

    def trial(config):
        import lightgbm
        from headway.tune.integration.lightgbm import TuneReportCallback, TuneReportCheckpointCallback

        params = {"objective": "binary", "num_threads": 1, "verbose": -1, "min_data_in_leaf": 2}
        for kind in (TuneReportCallback, TuneReportCheckpointCallback):
            data = lightgbm.Dataset(*rows())
            callbacks = [kind({"loss": "test-binary_logloss"})]
            lightgbm.train(params, data, 2, valid_sets=[data], valid_names=["test"], callbacks=callbacks)

    result = fit(trial)
    assert result.metrics["training_iteration"] >= 4
    assert 0 < result.metrics["loss"] < 0.7
    from headway.tune.integration.lightgbm import TuneReportCheckpointCallback

    assert TuneReportCheckpointCallback.get_model(result.checkpoint).num_trees() == 2


@pytest.mark.heavy
def test_a_validation_of_lightning_is_a_report_of_the_trial(fit):
    pytest.importorskip("lightning")

    def trial(config):
        import lightning
        import torch
        from headway.tune.integration.pytorch_lightning import TuneReportCallback, TuneReportCheckpointCallback

        class Model(lightning.LightningModule):
            def __init__(self):
                super().__init__()
                self.layer = torch.nn.Linear(3, 1)

            def training_step(self, batch, index):
                return self.layer(batch[0]).square().mean()

            def validation_step(self, batch, index):
                self.log("val_loss", self.layer(batch[0]).square().mean())

            def configure_optimizers(self):
                return torch.optim.SGD(self.parameters(), 0.1)

        data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.ones(8, 3)), 4)
        quiet = {"enable_progress_bar": False, "logger": False, "enable_model_summary": False, "accelerator": "cpu"}
        for kind in (TuneReportCallback, TuneReportCheckpointCallback):
            callbacks = [kind({"loss": "val_loss", "other": "not_there"})]
            trainer = lightning.Trainer(max_epochs=2, callbacks=callbacks, enable_checkpointing=False, **quiet)
            trainer.fit(Model(), data, data)

    result = fit(trial)
    assert result.metrics["training_iteration"] == 4
    assert result.metrics["loss"] >= 0
    assert len(result.best_checkpoints) == 2
    with result.checkpoint.as_directory() as folder:
        import torch

        assert torch.load(f"{folder}/checkpoint", weights_only=False)["epoch"] == 1


@pytest.mark.heavy
def test_hooks_that_lightning_does_not_have_are_refused():
    pytest.importorskip("lightning")
    from headway.tune.integration.pytorch_lightning import TuneCallback, TuneReportCheckpointCallback

    with pytest.raises(ValueError, match=r"on has 'validation'; allowed: .*validation_end"):
        TuneReportCheckpointCallback(on=["validation_end", "validation"])
    with pytest.raises(NotImplementedError, match="TuneCallback has no _handle"):
        TuneCallback("train_end").on_train_end(None, None)


@pytest.mark.heavy
def test_an_epoch_of_keras_is_a_report_of_the_trial(fit):
    pytest.importorskip("tensorflow")

    def trial(config):
        import keras
        from headway.tune.integration.keras import TuneReportCallback, TuneReportCheckpointCallback

        for callback in (TuneReportCallback({"mean_loss": "loss"}), TuneReportCheckpointCallback(metrics="loss")):
            model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(1)])
            model.compile("sgd", "mse")
            model.fit(*rows(), epochs=2, verbose=0, callbacks=[callback])

    result = fit(trial)
    assert result.metrics["loss"] > 0
    assert result.checkpoint is not None


def test_a_trial_of_a_trainer_by_parameters_has_its_own():
    pytest.importorskip("xgboost")
    from headway.train.xgboost import XGBoostTrainer
    from headway.tune._experiment.trial_start import _configured

    rows = data.from_items([{"a": 1.0, "target": 1}])
    trainer = XGBoostTrainer(label_column="target", params={"eta": 1}, num_boost_round=4, datasets={"train": rows})
    made = _configured(trainer, {"params": {"max_depth": 2}, "num_boost_round": 2}, train.RunConfig(), None)
    assert made._parameters["params"] == {"eta": 1, "max_depth": 2}
    assert made._parameters["num_boost_round"] == 2
    assert made.train_loop_config != trainer.train_loop_config
