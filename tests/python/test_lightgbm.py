"""LightGBM in a training function: the same trees as by itself, checkpoints, recovery."""

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
from headway.train.lightgbm import LightGBMTrainer, ReportCallback


@pytest.fixture(scope="module", autouse=True)
def program():
    """lightgbm_program.py, imported here so that worker factories import LightGBM too."""
    headway.shutdown()
    import lightgbm_program

    yield lightgbm_program
    headway.shutdown()


@pytest.fixture
def fit_lightgbm(fit):
    return functools.partial(fit, trainer=LightGBMTrainer)


def trees(model):
    return model.trees_to_dataframe().drop(columns=["tree_index"]).to_csv()


def test_the_trees_are_those_of_lightgbm_alone(program, fit_lightgbm, tmp_path):
    path = tmp_path / "alone.txt"
    environment = {**os.environ, "PYTHONPATH": PACKAGES}
    done = subprocess.run(
        [sys.executable, program.__file__, path], capture_output=True, text=True, timeout=60, env=environment
    )
    assert done.returncode == 0, done.stdout + done.stderr
    alone = program.lightgbm.Booster(model_file=path)

    result = fit_lightgbm(program.loop, config={})
    assert result.return_value == program.ROUNDS
    assert trees(LightGBMTrainer.get_model(result.checkpoint)) == trees(alone)
    golden.check_trees(golden.trees(alone.trees_to_dataframe(), "split_feature", "threshold", "value"), "lightgbm")
    losses = result.metrics_dataframe["train-binary_logloss"].tolist()
    assert losses == sorted(losses, reverse=True)
    assert len(result.best_checkpoints) == 4


def test_several_trainings_in_one_attempt(program, fit_lightgbm):
    """Each at another port: the system refuses the first one's for a minute."""

    def loop():
        context = train.get_context()
        place = context.get_world_rank(), context.get_world_size()
        models = [program.train_share(*place, program.get_network_params(), 5) for _ in range(3)]
        for _ in range(64 - 3):
            program.get_network_params()
        with pytest.raises(RuntimeError, match="for more than 64 trainings in one attempt; allowed: one call for each"):
            program.get_network_params()
        return [trees(model) for model in models]

    first, second, third = fit_lightgbm(loop).return_value
    assert first == second == third


def test_metrics_are_means_over_the_ranks(program, fit_lightgbm):
    def loop():
        context = train.get_context()
        place = context.get_world_rank(), context.get_world_size()
        seen = []
        network = program.get_network_params()
        callbacks = [lambda env: seen.append(env.evaluation_result_list[0][2]), ReportCallback()]
        program.train_share(*place, network, 2, callbacks=callbacks)
        train.report({"mean": seen[-1]}, reduce="mean")

    frame = fit_lightgbm(loop).metrics_dataframe
    assert frame["train-binary_logloss"].dropna().iloc[-1] == frame["mean"].iloc[-1]


@pytest.mark.parametrize(("by", "frequency"), [("parameter", 0), ("callback", 0), ("callback", 1)])
def test_early_stopping_ends_all_ranks_at_one_round(program, fit_lightgbm, by, frequency):
    """Each rank's own rows would end it at another round: rank 0's labels are its own."""

    def loop():
        lightgbm, context = program.lightgbm, train.get_context()
        rank, ranks = context.get_world_rank(), context.get_world_size()
        rows = program.rows(rank, ranks)
        random = program.numpy.random.default_rng(rank)
        features = random.normal(size=(100, 6))
        learnt = features[:, 0] * features[:, 1] + features[:, 2] > 0
        labels = random.permutation(learnt) if rank == 0 else learnt
        own, agreed, callback = [], [], ReportCallback(frequency=frequency)
        stop = {"early_stopping_round": 3} if by == "parameter" else {}
        stops = [] if stop else [lightgbm.early_stopping(3, verbose=False)]
        model = lightgbm.train(
            {**program.PARAMETERS, **stop, **program.get_network_params()},
            rows,
            100,
            valid_sets=[rows.create_valid(features, labels)],
            valid_names=["valid"],
            callbacks=[
                lambda env: own.append(env.evaluation_result_list[0][2]),
                callback,
                lambda env: agreed.append(env.evaluation_result_list[0][2]),
                *stops,
            ],
        )
        callback.finish(model)
        last = {"own": own[-1], "agreed": agreed[-1], "best": model.best_iteration, "rounds": len(own)}
        train.report(last, reduce="mean")
        return own, model.best_iteration, model.best_score["valid"]["binary_logloss"]

    result = fit_lightgbm(loop)
    own, best, score = result.return_value
    assert result.metrics["agreed"] == own[-1], "rank 0's are the other's too"
    assert best == own.index(min(own)) + 1
    assert (len(own), score) == (best + 3, min(own))
    assert (result.metrics["rounds"], result.metrics["best"]) == (len(own), best), "in both ranks"
    reported = result.metrics_dataframe["valid-binary_logloss"].dropna().tolist()
    assert reported[len(own) - 1] == pytest.approx(result.metrics["own"])
    assert reported[len(own) - 1] != own[-1]
    assert LightGBMTrainer.get_model(result.checkpoint).current_iteration() == best


def of_some_ranks(program, evaluating, stopping=(), **options):
    """A loop in which only these ranks evaluate, and only these stop early."""

    def loop():
        lightgbm, context = program.lightgbm, train.get_context()
        rank, ranks = context.get_world_rank(), context.get_world_size()
        rows = program.rows(rank, ranks)
        stops = [lightgbm.early_stopping(2, verbose=False)] if rank in stopping else []
        return lightgbm.train(
            {**program.PARAMETERS, **program.get_network_params()},
            rows,
            5,
            valid_sets=[rows.create_valid(rows.data, rows.label)] if rank in evaluating else None,
            callbacks=[ReportCallback(**options), *stops],
        ).current_iteration()

    return loop


@pytest.mark.parametrize("evaluating", [0, 1])
def test_one_rank_alone_may_evaluate(program, fit_lightgbm, evaluating):
    result = fit_lightgbm(of_some_ranks(program, {evaluating}))
    assert result.return_value == 5
    frame = result.metrics_dataframe
    assert len(frame) == 5 + 1, "the last one has the checkpoint"
    name = "valid_0-binary_logloss"
    assert (name in frame) == (evaluating == 0), "a report has what rank 0's has"
    losses = frame[name].tolist() if evaluating == 0 else []
    assert losses == sorted(losses, reverse=True)


def test_the_metrics_of_a_report_are_needed_in_rank_0_alone(program, fit_lightgbm):
    name = "valid_0-binary_logloss"
    options = {"metrics": {"loss": name}, "results_postprocessing_fn": lambda values: {"twice": 2 * values["loss"]}}
    frame = fit_lightgbm(of_some_ranks(program, {0}, **options)).metrics_dataframe
    assert len(frame["twice"]) == 5 + 1


@pytest.mark.parametrize(("evaluating", "stopping"), [({0}, {0}), ({0, 1}, {0}), ({1}, {1}), ({0}, {0, 1})])
def test_a_rank_that_might_stop_alone_is_refused(program, fit_lightgbm, evaluating, stopping):
    has = {rank: ("" if rank in evaluating else "no ", "" if rank in stopping else "no ") for rank in (0, 1)}
    first, second = (f"{sets}valid_sets and {stops}early stopping" for sets, stops in has.values())
    with pytest.raises(train.WorkerGroupError, match=f"rank 0 has {first} and rank 1 has {second}, so one would stop"):
        fit_lightgbm(of_some_ranks(program, evaluating, stopping))


def test_a_rank_that_is_killed_costs_the_rounds_since_the_newest_checkpoint(program, fit_lightgbm):
    result = fit_lightgbm(program.loop, config={"kill": 13}, max_failures=1)
    assert result.return_value == program.ROUNDS
    assert len(result.metrics_dataframe) in (12 + 10, 13 + 10), "up to the kill, and from round 11 on"
    assert LightGBMTrainer.get_model(result.checkpoint).current_iteration() == program.ROUNDS
    whole = fit_lightgbm(program.loop, config={})
    name = "train-binary_logloss"
    assert result.metrics[name] == pytest.approx(whole.metrics[name], rel=0.05)


def test_the_error_is_that_of_the_rank_that_was_killed(program, fit_lightgbm):
    """Not LightGBM's in the other rank, which has lost its peer."""
    with pytest.raises(train.WorkerGroupError) as caught:
        fit_lightgbm(program.loop, config={"kill": 3})
    assert list(caught.value.worker_failures) == [1]
    assert caught.value.worker_failures[1].signal == signal.SIGKILL


def test_an_exception_in_one_rank_ends_all(program, fit_lightgbm):
    def loop():
        rank, ranks = train.get_context().get_world_rank(), train.get_context().get_world_size()
        network = program.get_network_params()
        if rank == 1:
            raise ValueError("no rows")
        program.train_share(rank, ranks, network)

    with pytest.raises(train.WorkerGroupError, match="no rows"):
        fit_lightgbm(loop)


@pytest.mark.parametrize("workers", [0, 1, 3])
def test_a_checkpoint_is_resumed_with_another_number_of_ranks(program, fit_lightgbm, workers):
    first = fit_lightgbm(program.loop, config={"rounds": 10})
    result = fit_lightgbm(program.loop, workers, config={}, resume_from_checkpoint=first.checkpoint)
    assert result.return_value == program.ROUNDS
    assert result.metrics["train-binary_logloss"] < first.metrics["train-binary_logloss"]


def test_ranks_that_would_train_alone_are_refused(program, fit_lightgbm):
    with pytest.raises(train.WorkerGroupError, match=r"num_machines is 1, so each rank builds a model alone"):
        fit_lightgbm(program.loop, config={"alone": True})


def test_the_callback_reports_what_is_asked_for(program, fit_lightgbm):
    callback = {
        "metrics": {"loss": "train-binary_logloss"},
        "filename": "trees.txt",
        "results_postprocessing_fn": lambda metrics: {**metrics, "more": 1},
    }
    result = fit_lightgbm(program.loop, config={"rounds": 3, "callback": callback})
    assert set(result.metrics) >= {"loss", "more"}
    assert "train-binary_logloss" not in result.metrics
    assert len(result.best_checkpoints) == 1
    assert ReportCallback.get_model(result.checkpoint, "trees.txt").current_iteration() == 3


@pytest.mark.parametrize(
    ("call", "arguments", "kind", "argument", "given", "allowed"), bad_boosting_calls.of_lightgbm()
)
def test_a_bad_argument_is_refused_by_name(call, arguments, kind, argument, given, allowed):
    with pytest.raises(kind) as caught:
        call(**arguments)
    for words in (argument, given, allowed):
        assert words in str(caught.value)
