"""A sweep whose driver is killed, and restored, and killed again: what it finds is what it finds
undisturbed.
"""

import json

import pytest

SWEEP = """
import json, os, sys
from headway import train, tune
from headway.tune.schedulers import ASHAScheduler

def trial(config):
    checkpoint = tune.get_checkpoint()
    first = checkpoint.to_dict()["epoch"] if checkpoint else 0
    for epoch in range(first + 1, 10):
        loss = (config["x"] - 0.3) ** 2 + 1 / (epoch + config["x"])
        tune.report({"loss": loss}, checkpoint=train.Checkpoint.from_dict({"epoch": epoch}))

folder, search = os.environ["SWEEP"], os.environ["SEARCH"]
if tune.Tuner.can_restore(folder):
    tuner = tune.Tuner.restore(folder, trial)
else:
    if search == "random":
        searcher = tune.search.BasicVariantGenerator(random_state=11)
    else:
        from headway.tune.search.optuna import OptunaSearch
        searcher = OptunaSearch(seed=11)
    tuner = tune.Tuner(
        trial,
        param_space={"x": tune.uniform(0, 1)},
        tune_config=tune.TuneConfig(
            metric="loss", mode="min", num_samples=6, max_concurrent_trials=1, search_alg=searcher,
            scheduler=ASHAScheduler(max_t=9, grace_period=1, reduction_factor=3),
        ),
        run_config=train.RunConfig(
            name=os.path.basename(folder), storage_path=os.path.dirname(folder), verbose=0,
            checkpoint_config=train.CheckpointConfig(num_to_keep=1),
        ),
    )
grid = tuner.fit()
best = grid.get_best_result()
print(json.dumps({
    "best": best.config, "loss": best.metrics["loss"],
    "trials": [[each.config, each.metrics_dataframe["loss"].tolist()] for each in grid],
}))
"""

#: Each kills the first driver, and then the second, at the passage of that number.
POINTS = [("experiment.appended:9", "experiment.appended:9"), ("commit.answer:4", "experiment.append:7")]


@pytest.fixture
def sweep(script, tmp_path):
    def run(name, search, point=None, code=0):
        env = {"SWEEP": str(tmp_path / name), "SEARCH": search}
        ended, output = script.run(SWEEP, **env, **({"HEADWAY_FAULT_POINT": point} if point else {}))
        assert ended == code, output
        return None if point else json.loads(output.splitlines()[-1])

    return run


@pytest.mark.parametrize("search", ["random", "optuna"])
def test_a_sweep_that_was_killed_twice_finds_the_same_best_trial(sweep, search):
    undisturbed = sweep("undisturbed", search)
    assert len({len(losses) for _, losses in undisturbed["trials"]}) > 1, "ASHA has ended some of them early"
    for number, (first, second) in enumerate(POINTS):
        sweep(f"killed{number}", search, first, code=137)
        sweep(f"killed{number}", search, second, code=137)
        assert sweep(f"killed{number}", search) == undisturbed
