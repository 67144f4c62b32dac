"""A driver with a dashboard, and work that stands still until somebody writes to a named pipe:
live_views.py FOLDER PIPE WHAT, where WHAT is "run" or "experiment". Prints the page's address.
"""

import os
import signal
import sys

import headway
import headway.data
from headway import train, tune
from headway.tune.schedulers import PopulationBasedTraining

DIES_AT = 14
STANDS_AT = 20


def stands_still(pipe):
    opened = os.open(pipe, os.O_RDONLY)
    os.read(opened, 1)
    os.close(opened)


def loop(config):
    """Rank 1 dies once, and later stands still while rank 0 waits for it."""
    checkpoint = train.get_checkpoint()
    start = checkpoint.to_dict()["step"] + 1 if checkpoint else 0
    rank = train.get_context().get_world_rank()
    batches = iter(train.get_dataset_shard("train").iter_batches(batch_size=10))
    for step in range(start, 24):
        rows = len(next(batches)["id"])
        print(f"step {step}", flush=True)
        if rank == 1 and step == DIES_AT and not checkpoint:
            os.kill(os.getpid(), signal.SIGKILL)
        if rank == 1 and step == STANDS_AT:
            stands_still(config["pipe"])
        stored = train.Checkpoint.from_dict({"step": step}) if rank == 0 and step % 5 == 4 else None
        train.report({"loss": 1 / (step + 1), "rows": rows}, stored)
    for _ in batches:
        pass


def run(folder, pipe):
    train.DataParallelTrainer(
        loop,
        train_loop_config={"pipe": pipe},
        scaling_config=train.ScalingConfig(num_workers=2),
        datasets={"train": headway.data.range(1000)},
        run_config=train.RunConfig(
            name="views", storage_path=folder, failure_config=train.FailureConfig(max_failures=1, hang_warn_s=0.5)
        ),
    ).fit()


def climbs(config):
    """The worse trials take over from the better ones after three and six reports."""
    checkpoint = train.get_checkpoint()
    state = checkpoint.to_dict() if checkpoint else {"step": 0, "value": 0.0}
    for step in range(state["step"] + 1, 10):
        if step == 9:
            stands_still(config["pipe"])
        state = {"step": step, "value": state["value"] + config["rate"]}
        train.report({"value": state["value"]}, train.Checkpoint.from_dict(state))


def experiment(folder, pipe):
    scheduler = PopulationBasedTraining(
        time_attr="training_iteration",
        perturbation_interval=3,
        quantile_fraction=0.5,
        hyperparam_mutations={"rate": [8, 9, 10, 20]},
        synch=True,
    )
    tune.Tuner(
        climbs,
        param_space={"rate": tune.grid_search([1, 2, 8, 9]), "pipe": pipe},
        tune_config=tune.TuneConfig("value", "max", scheduler=scheduler, max_concurrent_trials=4),
        run_config=tune.RunConfig(name="views", storage_path=folder),
    ).fit()


def main(folder, pipe, what):
    headway.init(num_cpus=4, dashboard=True)
    print(headway.dashboard_url(), flush=True)
    {"run": run, "experiment": experiment}[what](folder, pipe)
    sys.stdin.read()  # The page is there until the test has seen the end.


if __name__ == "__main__":
    main(*sys.argv[1:])
