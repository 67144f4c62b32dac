"""Real runs whose folders the page is shown: one that finished, one that failed, one that hung and
one with a slow rank, and an experiment. ``record_runs.py FOLDER`` makes them in a few seconds.
"""

import os
import sys
import time

from headway import train, tune


def train_on(config):
    rank = train.get_context().get_world_rank()
    kept = train.get_checkpoint()
    first = 0
    if kept is not None:
        first = kept.to_dict()["step"] + 1
    for step in range(first, config["steps"]):
        if step == 3 and kept is None and rank == 1 and config.get("dies"):
            os.abort()
        if step == 3 and config.get("raises"):
            print("about to divide")
            1 / (step - 3)
        if step == 3 and rank == 1 and config.get("hangs"):
            wait_for_nothing()
        _computed_for(0.03 if rank == 1 and config.get("slow") else 0.002)
        print("step", step, "of rank", rank)
        checkpoint = train.Checkpoint.from_dict({"step": step}) if step % 2 == 0 else None
        train.report({"loss": 1 / (step + 1), "accuracy": 1 - 1 / (step + 2)}, checkpoint=checkpoint)


def wait_for_nothing():
    import threading

    threading.Event().wait()


def _computed_for(seconds):
    """At work for so long: it stands for a step that computes."""
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        pass


def record(folder):
    """The runs `finished` (its rank 1 dies once), `failed`, `hung` and `slow`, and the experiment
    `search`, in a folder.
    """
    _run(folder, "finished", {"dies": True}, train.FailureConfig(max_failures=1))
    _run(folder, "failed", {"raises": True})
    _run(folder, "hung", {"hangs": True}, train.FailureConfig(hang_warn_s=0.3, hang_fail_s=1))
    _run(folder, "slow", {"slow": True, "steps": 20})
    tune.Tuner(
        _trial,
        param_space={"lr": tune.grid_search([0.001, 0.01, 0.1]), "optimizer": tune.grid_search(["sgd", "adam"])},
        tune_config=tune.TuneConfig(metric="loss", mode="min", scheduler=tune.schedulers.ASHAScheduler(max_t=8)),
        run_config=train.RunConfig(name="search", storage_path=str(folder)),
    ).fit()


def _run(folder, name, config, failure=None):
    try:
        train.DataParallelTrainer(
            train_on,
            train_loop_config={"steps": 8, **config},
            scaling_config=train.ScalingConfig(num_workers=2),
            run_config=train.RunConfig(
                name=name,
                storage_path=str(folder),
                failure_config=failure,
                checkpoint_config=train.CheckpointConfig(num_to_keep=2),
            ),
        ).fit()
    except train.TrainingFailedError:
        assert name in ("failed", "hung"), name


def _trial(config):
    for step in range(8):
        tune.report({"loss": abs(config["lr"] - 0.02) + 1 / (step + 1) + (config["optimizer"] == "sgd")})


if __name__ == "__main__":
    record(sys.argv[1])
