"""Population based training: copies of better trials, and the replay of their schedules."""

import json
import os
import random
from pathlib import Path

import pytest
from headway import train, tune
from headway.tune.schedulers import ASHAScheduler, PopulationBasedTraining, PopulationBasedTrainingReplay
from headway.tune.schedulers._explore import explore, fill


def climb(config):
    """The value grows by the rate; it is what the checkpoint has."""
    checkpoint = tune.get_checkpoint()
    state = checkpoint.to_dict() if checkpoint else {"step": 0, "value": 0.0}
    for step in range(state["step"] + 1, 9):
        value = state["value"] = state["value"] + config["rate"]
        saved = train.Checkpoint.from_dict({"step": step, "value": value})
        tune.report({"value": value, "step": step, "rate": config["rate"]}, checkpoint=saved)


class Climb(tune.Trainable):
    def setup(self, config):
        self.value = 0.0

    def step(self):
        self.value += self.config["rate"]
        return {"value": self.value, "rate": self.config["rate"]}

    def save_checkpoint(self, checkpoint_dir):
        return {"value": self.value}

    def load_checkpoint(self, checkpoint):
        self.value = checkpoint["value"]


def pbt(**arguments):
    return PopulationBasedTraining(
        **{
            "time_attr": "training_iteration",
            "perturbation_interval": 2,
            "quantile_fraction": 0.5,
            "hyperparam_mutations": {"rate": [10, 100]},
            **arguments,
        }
    )


@pytest.fixture
def fit(tmp_path):
    """One trial at a time: the order of all reports is known."""

    def run(scheduler, trainable=climb, rates=(1, 100), name="population", **run_config):
        return tune.Tuner(
            trainable,
            param_space={"rate": tune.grid_search(list(rates))},
            tune_config=tune.TuneConfig("value", "max", scheduler=scheduler, max_concurrent_trials=1),
            run_config=train.RunConfig(name=name, storage_path=tmp_path, verbose=0, **run_config),
        ).fit()

    return run


def policies(grid, name="pbt_global.txt"):
    return [json.loads(line) for line in Path(grid.experiment_path, name).read_text().splitlines()]


@pytest.mark.parametrize("synch", [False, True])
def test_the_worse_trial_goes_on_from_the_better_ones_checkpoint(fit, synch):
    grid = fit(pbt(synch=synch))
    lines = grid[0].metrics_dataframe
    copied = lines[lines["rate"] != 1]
    assert len(copied), "it has another configuration since"
    assert copied["value"].iloc[0] >= 100, "it resumed from the other trial's value"
    assert lines["training_iteration"].tolist()[-1] == 8, "and counts on from its iteration"
    assert lines["step"].tolist() == lines["training_iteration"].tolist()
    log = policies(grid)
    tag, donor, _, step, old, new = log[0]
    assert (tag, donor) == ("0_rate=1", "1_rate=100")
    assert step == 2
    assert old == {"rate": 100}
    assert new == {"rate": int(copied["rate"].iloc[0])}
    policy = policies(grid, f"pbt_policy_{grid[0].metrics['trial_id']}.txt")
    assert policy[0] == log[0]
    assert policy[-1][5] == grid[0].config


def test_a_copy_needs_the_donors_checkpoint_however_few_are_kept(fit):
    kept = train.CheckpointConfig(num_to_keep=1)
    grid = fit(pbt(), rates=(1, 2, 50, 100), checkpoint_config=kept)
    assert len(policies(grid)) >= 2
    assert all(result.metrics["step"] == 8 for result in grid)
    for result in grid:
        there = [name for name in os.listdir(result.path) if name.startswith("checkpoint_")]
        assert len(there) <= 2, "what was pinned has gone, but for a donor's last one"


def test_a_class_is_saved_where_it_is_judged(fit):
    grid = fit(pbt(perturbation_interval=3), Climb, stop={"training_iteration": 8})
    assert not grid.errors
    lines = grid[0].metrics_dataframe
    assert lines["training_iteration"].tolist()[-1] == 8
    assert lines["value"].iloc[-1] >= 300
    assert policies(grid)[0][3] == 3


def test_more_trials_than_places_take_turns(fit):
    grid = fit(pbt(quantile_fraction=0), rates=(1, 2, 3))
    assert all(result.metrics_dataframe["step"].tolist() == list(range(1, 9)) for result in grid)
    journal = Path(grid.experiment_path, "experiment.journal").read_text().splitlines()
    events = [json.loads(line.split(" ", 1)[1]) for line in journal]
    order = [event["event"]["trial"] for event in events if event["is"] == "trial_reported"]
    assert order == [0, 0, 1, 1, 2, 2] * 4, "who has trained least is next"


def test_a_parameter_that_no_configuration_has_is_drawn_by_its_mutation(tmp_path):
    scheduler = pbt(hyperparam_mutations={"rate": tune.uniform(1, 2)})
    grid = tune.Tuner(
        climb,
        tune_config=tune.TuneConfig("value", "max", scheduler=scheduler, num_samples=2),
        run_config=train.RunConfig(storage_path=tmp_path, verbose=0),
    ).fit()
    assert not grid.errors
    assert all(1 <= result.metrics_dataframe["rate"].iloc[0] <= 2 for result in grid)


def test_a_trial_replays_a_schedule(fit, tmp_path):
    grid = fit(pbt())
    policy = Path(grid.experiment_path, f"pbt_policy_{grid[0].metrics['trial_id']}.txt")
    rows = [["0_a", "1_b", 2, 2, {"rate": 7}, {"rate": 20}], ["0_a", "1_b", 4, 5, {"rate": 20}, {"rate": 30}]]
    policy.write_text("".join(json.dumps(row) + "\n" for row in rows))
    replay = PopulationBasedTrainingReplay(str(policy))
    assert replay.config == {"rate": 20}, "what came before the change of tags was overwritten"
    rows[0][0] = "1_b"
    policy.write_text("".join(json.dumps(row) + "\n" for row in rows))
    replay = PopulationBasedTrainingReplay(str(policy))
    (result,) = tune.Tuner(
        climb,
        tune_config=tune.TuneConfig("value", "max", scheduler=replay),
        run_config=train.RunConfig(name="replay", storage_path=tmp_path, verbose=0),
    ).fit()
    assert result.metrics_dataframe["rate"].tolist() == [7, 7, 20, 20, 20, 30, 30, 30]


def test_an_experiment_that_was_stopped_goes_on_with_its_population(tmp_path):
    marker = tmp_path / "second"

    class Stop(tune.Callback):
        def on_trial_restore(self, iteration, trials, trial, **info):
            if not marker.exists():
                marker.touch()
                raise KeyboardInterrupt

    tuner = tune.Tuner(
        climb,
        param_space={"rate": tune.grid_search([1, 100])},
        tune_config=tune.TuneConfig(
            "value", "max", scheduler=pbt(hyperparam_mutations={"rate": [100]}), max_concurrent_trials=1
        ),
        run_config=train.RunConfig(name="stopped", storage_path=tmp_path, verbose=0, callbacks=[Stop()]),
    )
    try:
        tuner.fit()
    except KeyboardInterrupt:
        pass
    else:
        pytest.fail("no trial has gone on as a copy")
    grid = tune.Tuner.restore(str(tmp_path / "stopped"), climb).fit()
    lines = grid[0].metrics_dataframe
    assert lines["training_iteration"].iloc[-1] == 8
    assert grid[0].config == {"rate": 100}
    assert lines["value"].iloc[-1] == 800, "as one that was never stopped"
    assert policies(grid)[0][5] == {"rate": 100}


def test_a_trainer_is_copied_too(tmp_path):
    trainer = train.DataParallelTrainer(climb, scaling_config=train.ScalingConfig(num_workers=1))
    scheduler = pbt(hyperparam_mutations={"train_loop_config": {"rate": [10, 100]}})
    grid = tune.Tuner(
        trainer,
        param_space={"train_loop_config": {"rate": tune.grid_search([1, 100])}},
        tune_config=tune.TuneConfig("value", "max", scheduler=scheduler, max_concurrent_trials=1),
        run_config=train.RunConfig(storage_path=tmp_path, verbose=0),
    ).fit()
    assert not grid.errors
    assert grid[0].metrics_dataframe["rate"].nunique() > 1


def test_configurations_change_as_in_ray():
    random.seed(1)
    mutations = {"a": [1, 2, 3], "b": lambda: 5.0, "c": {"d": tune.choice([4])}}
    changed = [
        explore({"a": 2, "b": 1.0, "c": {"d": 10}, "e": "x"}, mutations, 0.25, (1.2, 0.8), None) for _ in range(99)
    ]
    assert {config["a"] for config, _ in changed} == {1, 2, 3}
    assert {config["b"] for config, _ in changed} == {5.0, 1.2, 0.8}
    assert {config["c"]["d"] for config, _ in changed} == {4, 12, 8}, "an integer stays one"
    assert all(config["e"] == "x" for config, _ in changed)
    assert {done["a"] for _, done in changed} == {"resample", "shift left", "shift right"}
    config, done = explore({"a": 9}, {"a": [9]}, 0, (1.2,), lambda config: {**config, "more": 1})
    assert (config, done) == ({"a": 9, "more": 1}, {"a": done["a"]})
    assert done["a"].endswith("(noop)")


def test_missing_parameters_are_drawn():
    config = {"a": 1}
    assert fill(config, {"a": [2], "b": [3], "c": {"d": lambda: 4}}) == {"b": 3, "c": {"d": 4}}
    assert config == {"a": 1, "b": 3, "c": {"d": 4}}


WRONG = {
    "perturbation_interval is 0; allowed: a number above 0": {"perturbation_interval": 0},
    "quantile_fraction is 0.6; allowed: a number from 0 to 0.5": {"quantile_fraction": 0.6},
    "resample_probability is -1; allowed: a number from 0 to 1": {"resample_probability": -1},
    r"perturbation_factors is \(\) \(tuple\); allowed: a list of numbers": {"perturbation_factors": ()},
    r"hyperparam_mutations\['a'\] is 'x' \(str\); allowed: a list or tuple of values": {
        "hyperparam_mutations": {"a": "x"}
    },
    r"hyperparam_mutations\['a'\] is tune.sample_from; allowed": {
        "hyperparam_mutations": {"a": tune.sample_from(lambda spec: 1)}
    },
    r"hyperparam_mutations\['a'\] is empty; allowed: at least one value": {"hyperparam_mutations": {"a": []}},
    r"custom_explore_fn is 1 \(int\); allowed: None, or a function": {"custom_explore_fn": 1},
    r"synch is 1 \(int\); allowed": {"synch": 1},
}


@pytest.mark.parametrize(("words", "arguments"), WRONG.items())
def test_wrong_arguments_are_named(words, arguments):
    with pytest.raises((TypeError, ValueError), match=words):
        pbt(**arguments)


def test_something_must_change():
    with pytest.raises(tune.TuneError, match="neither hyperparam_mutations nor custom_explore_fn"):
        PopulationBasedTraining()


def test_a_searcher_does_not_go_with_it(tmp_path):
    class Mine(tune.search.Searcher):
        def suggest(self, trial_id):
            return {"rate": 1}

        def on_trial_complete(self, trial_id, result=None, error=False):
            pass

    config = tune.TuneConfig("value", "max", scheduler=pbt(), search_alg=Mine())
    tuner = tune.Tuner(climb, tune_config=config, run_config=train.RunConfig(storage_path=tmp_path))
    with pytest.raises(ValueError, match="Search algorithms cannot be used with PopulationBasedTraining schedulers"):
        tuner.fit()


def test_a_replay_is_of_one_trial(tmp_path):
    policy = tmp_path / "policy.txt"
    policy.write_text(json.dumps(["a", "b", 1, 2, {"rate": 1}, {"rate": 2}]))
    config = tune.TuneConfig("value", "max", scheduler=PopulationBasedTrainingReplay(policy), num_samples=2)
    tuner = tune.Tuner(climb, tune_config=config, run_config=train.RunConfig(storage_path=tmp_path))
    with pytest.raises(ValueError, match="2 trials are planned for the replay of one"):
        tuner.fit()
    with pytest.raises(ValueError, match="Policy file not found"):
        PopulationBasedTrainingReplay(str(tmp_path / "none"))
    policy.write_text("{}")
    with pytest.raises(ValueError, match="Could not read PBT policy file"):
        PopulationBasedTrainingReplay(policy)


def test_other_schedulers_leave_no_files_of_it(fit):
    grid = fit(ASHAScheduler(max_t=4))
    assert not [name for name in os.listdir(grid.experiment_path) if name.startswith("pbt_")]
