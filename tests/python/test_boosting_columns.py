"""Weights and categories in training functions of XGBoost and LightGBM in two ranks: the trees are
those of the framework alone.
"""

import functools
import json
import os
import subprocess
import sys

import headway
import headway.data
import pytest
from conftest import PACKAGES
from headway.train.lightgbm import LightGBMTrainer
from headway.train.xgboost import XGBoostTrainer

pytestmark = pytest.mark.skipif(
    os.environ.get("HEADWAY_WORKER_START") == "exec", reason="the same code either way; once is enough"
)


@pytest.fixture(scope="module", autouse=True)
def program():
    """boosting_columns.py, imported here so that worker factories import the frameworks too."""
    headway.shutdown()
    import boosting_columns

    yield boosting_columns
    headway.shutdown()


@pytest.mark.parametrize("trainer", [XGBoostTrainer, LightGBMTrainer])
def test_weights_and_categories_give_the_trees_of_the_framework_alone(program, fit, trainer, tmp_path):
    framework = "xgboost" if trainer is XGBoostTrainer else "lightgbm"

    datasets = {"train": headway.data.from_pandas(program.table())}
    result = fit(functools.partial(program.loop, framework), trainer=trainer, datasets=datasets)
    rows, (own, of_shard, unweighted) = result.return_value
    assert len(rows) == 200
    path = tmp_path / "alone.ubj"
    done = subprocess.run(
        [sys.executable, program.__file__, framework, path, json.dumps(rows)],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": PACKAGES},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    library = program.xgboost.Booster if trainer is XGBoostTrainer else program.lightgbm.Booster
    alone = program.boosting_data.trees(library(model_file=path))
    assert "city" in alone
    assert own == alone
    assert of_shard == alone, "with the categories of all ranks"
    assert unweighted != alone
