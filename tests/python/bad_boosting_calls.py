"""Rows for test_every_argument.py: bad arguments of XGBoost's and LightGBM's packages, which must
be installed.
"""

import bad_calls
import headway.data
from headway import train
from headway.train import lightgbm as lightgbm_names
from headway.train import xgboost as xgboost_names
from headway.train.lightgbm import LightGBMTrainer
from headway.train.xgboost import XGBoostTrainer


def of_xgboost():
    """Rows for which XGBoost must be installed: test_xgboost.py."""
    call, shard = xgboost_names.to_dmatrix, {"shard": headway.data.range(3)}
    above_0, on_disk = "None or an integer above 0", {**shard, "external_memory": True}
    roles = ("label", "weight", "base_margin", "label_lower_bound", "label_upper_bound")
    return [
        *of_boosting(xgboost_names, xgboost_names.XGBoostTrainer),
        *of_parameters(XGBoostTrainer, "obj", "xgb_model"),
        *of_shares(call, roles),
        (call, {**shard, "enable_categorical": 1}, TypeError, "enable_categorical", "1 (int)", bad_calls.BOOL),
        (call, {**shard, "missing": "x"}, TypeError, "missing", "'x' (str)", "None or a number"),
        (call, {**shard, "feature_weights": 1}, TypeError, "feature_weights", "1 (int)", "one for each feature"),
        (call, {**shard, "ref": 1}, TypeError, "ref", "1 (int)", "None or an xgboost.DMatrix"),
        (call, {**shard, "nthread": 0}, ValueError, "nthread", "0", above_0),
        (call, {**on_disk, "batch_size": 0}, ValueError, "batch_size", "0", above_0),
        (call, {**shard, "batch_size": 5}, ValueError, "batch_size", "5", "with external_memory=True"),
        (call, {**on_disk, "max_bin": "9"}, TypeError, "max_bin", "'9' (str)", above_0),
    ]


def of_lightgbm():
    """Rows of LightGBM: test_lightgbm.py."""
    call, shard, named = lightgbm_names.to_dataset, {"shard": headway.data.range(3)}, "categorical_feature"
    split = {"dataset_config": train.DataConfig(), "datasets": dict.fromkeys(("train", "valid"), shard["shard"])}
    of_params = {"label_column": "id", "params": {}, **split}
    return [
        *of_boosting(lightgbm_names, lightgbm_names.LightGBMTrainer),
        *of_parameters(LightGBMTrainer, "feval", "init_model"),
        *of_shares(call, ("label", "weight", "init_score")),
        (call, {**shard, named: 3}, TypeError, named, "3 (int)", '"auto" or a list of features'),
        (call, {**shard, named: ["x"]}, ValueError, named, "'x'", "features: id"),
        (call, {**shard, "reference": 1}, TypeError, "reference", "1 (int)", "None or a lightgbm.Dataset"),
        (call, {**shard, "params": 1}, TypeError, "params", "1 (int)", "a dict of LightGBM's parameters"),
        (LightGBMTrainer, of_params, ValueError, "dataset_config", "'valid'", "datasets_to_split=['train']"),
    ]


def of_shares(call, roles):
    """Rows of what makes a framework's data of a share."""
    shard, column = {"shard": headway.data.range(3)}, "a column of the data set: id"
    return [
        (call, {"shard": 3}, TypeError, "shard", "3 (int)", "a headway.data.Dataset"),
        *((call, {**shard, role: "x"}, ValueError, role, "'x'", column) for role in roles),
        *((call, {**shard, role: 3}, TypeError, role, "3 (int)", "None or a column's name") for role in roles),
        (call, {**shard, "features": "id"}, TypeError, "features", "'id' (str)", "None or a list of columns"),
        (call, {**shard, "features": ["x"]}, ValueError, "features[0]", "'x'", column),
        (call, {**shard, "label": "id"}, ValueError, "features", "[]", "at least one column beside id"),
        (call, {**shard, "categories": 3}, TypeError, "categories", "3 (int)", "a dict from columns of text"),
        (call, {**shard, "categories": {"id": ["a"]}}, ValueError, "categories", "'id'", "columns of text"),
        (call, {**shard, "external_memory": 1}, TypeError, "external_memory", "1 (int)", bad_calls.BOOL),
    ]


def of_parameters(trainer, own, instead):
    """Rows of the form of a trainer that has parameters instead of a training function.

    Args:
        trainer: The class.
        own: A parameter of its ``train`` that is handed on.
        instead: One that is not.
    """
    rows = headway.data.range(3)
    form = {"label_column": "id", "params": {}, "datasets": {"train": rows}}
    loop, data = {"train_loop_per_worker": print}, "dmatrix_params"
    return [
        (trainer, {}, ValueError, "train_loop_per_worker", "neither", "a training function, or label_column and"),
        (trainer, {**form, **loop}, ValueError, "label_column", "beside train_loop_per_worker", "a training function"),
        (trainer, {**loop, own: None}, ValueError, own, "beside train_loop_per_worker", "a training function, or"),
        (trainer, {**form, "train_loop_config": {}}, ValueError, "train_loop_config", "beside params", "with train_lo"),
        (trainer, {**form, "label_column": None}, TypeError, "label_column", "None", "the column of the labels"),
        (trainer, {**form, "params": [1]}, TypeError, "params", "[1] (list)", "a dict of the framework's parameters"),
        (trainer, {**form, "datasets": None}, ValueError, "datasets", "None", "a dict with a data set 'train'"),
        (trainer, {**form, "datasets": {"x": rows}}, ValueError, "datasets", "'x'", "a dict with a data set 'train'"),
        (trainer, {**form, "num_boost_round": 0}, ValueError, "num_boost_round", "0", "a number of rounds, from 1"),
        (trainer, {**form, "num_boost_round": "1"}, TypeError, "num_boost_round", "'1' (str)", "a number of rounds"),
        (trainer, {**form, data: 3}, TypeError, data, "3 (int)", "a dict from names of datasets"),
        (trainer, {**form, data: {"train": 3}}, TypeError, data, "3 (int)", "a dict from names of datasets"),
        (trainer, {**form, data: {"x": {}}}, ValueError, data, "'x'", "'train'"),
        (trainer, {**form, data: {"train": {"wait": 1}}}, ValueError, data, "'wait'", "weight"),
        (trainer, {**form, instead: None}, ValueError, instead, "is given", "resume_from_checkpoint"),
        (trainer, {**form, "parms": 1}, TypeError, "parms", "unexpected keyword argument", "did you mean 'params'?"),
        (trainer, {**loop, "scaling_confg": 1}, TypeError, "scaling_confg", "unexpected", "'scaling_config'?"),
    ]


def of_boosting(names, trainer):
    call, get_model, from_trainer = names.ReportCallback, names.ReportCallback.get_model, trainer.get_model
    post = "results_postprocessing_fn"
    return [
        (call, {"metrics": 3}, TypeError, "metrics", "3 (int)", "a dict from names to metrics"),
        (call, {"metrics": [1]}, TypeError, "metrics", "1 (int)", "a dict from names to metrics"),
        (call, {"metrics": {"a": 1}}, TypeError, "metrics['a']", "1 (int)", "a dict from names to metrics"),
        (call, {"filename": "a/b"}, ValueError, "filename", "'a/b'", "without '/'"),
        (call, {"frequency": -1}, ValueError, "frequency", "-1", "a number of rounds, from 0"),
        (call, {"frequency": "1"}, TypeError, "frequency", "'1' (str)", "a number of rounds, from 0"),
        (call, {"checkpoint_at_end": 1}, TypeError, "checkpoint_at_end", "1 (int)", bad_calls.BOOL),
        (call, {post: 1}, TypeError, post, "1 (int)", "a function of the metrics"),
        (get_model, {"checkpoint": 3}, TypeError, "checkpoint", "3 (int)", "a headway.train.Checkpoint"),
        (
            get_model,
            {"checkpoint": bad_calls.checkpoint(), "filename": ""},
            ValueError,
            "filename",
            "''",
            "a file's name",
        ),
        (from_trainer, {"checkpoint": 3}, TypeError, "checkpoint", "3 (int)", "a headway.train.Checkpoint"),
        (
            from_trainer,
            {"checkpoint": bad_calls.checkpoint(), "filename": ""},
            ValueError,
            "filename",
            "''",
            "a file's name",
        ),
    ]
