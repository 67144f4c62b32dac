"""XGBoost in a training function: the same trees as by itself, checkpoints, recovery."""

import functools
import os
import signal
import subprocess
import sys

import bad_boosting_calls
import golden
import headway
import pytest
from conftest import PACKAGES
from headway import train
from headway.train.xgboost import ReportCallback, XGBoostTrainer


@pytest.fixture(scope="module", autouse=True)
def program():
    """xgboost_program.py, imported here so that worker factories import XGBoost too."""
    headway.shutdown()
    import xgboost_program

    yield xgboost_program
    headway.shutdown()


def test_ranks_that_are_no_communicator_are_refused(program, fit_torch):
    """Each would build a model alone, from its own rows."""

    def loop():
        rows = program.xgboost.DMatrix([[0.0], [1.0]], [0, 1])
        program.xgboost.train({}, rows, 1, callbacks=[ReportCallback()])

    with pytest.raises(train.WorkerGroupError, match=r"XGBoost trains with 1 of the run's 2 ranks.*XGBoostTrainer"):
        fit_torch(loop, 2)


@pytest.fixture
def fit_xgboost(fit):
    return functools.partial(fit, trainer=XGBoostTrainer)


def test_the_trees_are_those_of_xgboost_alone(program, fit_xgboost, tmp_path):
    path = tmp_path / "alone.ubj"
    environment = {**os.environ, "PYTHONPATH": PACKAGES}
    done = subprocess.run(
        [sys.executable, program.__file__, path], capture_output=True, text=True, timeout=60, env=environment
    )
    assert done.returncode == 0, done.stdout + done.stderr
    alone = program.xgboost.Booster(model_file=path)

    result = fit_xgboost(program.loop, config={})
    assert result.return_value == (0, 2, program.ROUNDS)
    assert XGBoostTrainer.get_model(result.checkpoint).get_dump() == alone.get_dump()
    golden.check_trees(golden.trees(alone.trees_to_dataframe(), "Feature", "Split", "Gain"), "xgboost")
    losses = result.metrics_dataframe["train-logloss"].tolist()
    assert losses == sorted(losses, reverse=True)
    assert len(result.best_checkpoints) == 4


def test_a_rank_that_is_killed_costs_the_rounds_since_the_newest_checkpoint(program, fit_xgboost):
    result = fit_xgboost(program.loop, config={"kill": 13}, max_failures=1)
    assert result.return_value == (0, 2, program.ROUNDS)
    assert len(result.metrics_dataframe) in (12 + 10, 13 + 10), "up to the kill, and from round 11 on"
    model = XGBoostTrainer.get_model(result.checkpoint)
    assert model.num_boosted_rounds() == program.ROUNDS
    whole = fit_xgboost(program.loop, config={})
    assert result.metrics["train-logloss"] == pytest.approx(whole.metrics["train-logloss"], rel=0.05)


def test_the_error_is_that_of_the_rank_that_was_killed(program, fit_xgboost):
    """Not XGBoost's in the other rank, which has lost its peer."""
    with pytest.raises(train.WorkerGroupError) as caught:
        fit_xgboost(program.loop, config={"kill": 3})
    assert list(caught.value.worker_failures) == [1]
    assert caught.value.worker_failures[1].signal == signal.SIGKILL


def test_an_exception_in_one_rank_ends_all(program, fit_xgboost):
    def loop():
        rank, ranks = train.get_context().get_world_rank(), train.get_context().get_world_size()
        if rank == 1:
            raise ValueError("no rows")
        program.train_share(rank, ranks)

    with pytest.raises(train.WorkerGroupError, match="no rows"):
        fit_xgboost(loop)


@pytest.mark.parametrize("workers", [0, 1, 3])
def test_a_checkpoint_is_resumed_with_another_number_of_ranks(program, fit_xgboost, workers):
    first = fit_xgboost(program.loop, config={"rounds": 10})
    result = fit_xgboost(program.loop, workers, config={}, resume_from_checkpoint=first.checkpoint)
    assert result.return_value == (0, max(1, workers), program.ROUNDS)
    assert result.metrics["train-logloss"] < first.metrics["train-logloss"]


def test_the_callback_reports_what_is_asked_for(program, fit_xgboost):
    callback = {
        "metrics": {"loss": "train-logloss"},
        "filename": "trees.json",
        "results_postprocessing_fn": lambda metrics: {**metrics, "more": 1},
    }
    result = fit_xgboost(program.loop, config={"rounds": 3, "callback": callback})
    assert set(result.metrics) >= {"loss", "more"}
    assert "train-logloss" not in result.metrics
    assert len(result.best_checkpoints) == 1
    assert ReportCallback.get_model(result.checkpoint, "trees.json").num_boosted_rounds() == 3
    with pytest.raises(FileNotFoundError, match=r"filename is 'model.ubj'; .* has: .*trees.json"):
        XGBoostTrainer.get_model(result.checkpoint)


def test_a_metric_that_xgboost_does_not_evaluate_is_refused(program, fit_xgboost):
    with pytest.raises(train.WorkerGroupError, match="metrics has 'rmse'; what is evaluated: train-logloss"):
        fit_xgboost(program.loop, config={"callback": {"metrics": "rmse"}})


@pytest.mark.parametrize(("call", "arguments", "kind", "argument", "given", "allowed"), bad_boosting_calls.of_xgboost())
def test_a_bad_argument_is_refused_by_name(call, arguments, kind, argument, given, allowed):
    with pytest.raises(kind) as caught:
        call(**arguments)
    for words in (argument, given, allowed):
        assert words in str(caught.value)
