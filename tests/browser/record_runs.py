"""Makes the runs that the page is tested and pictured with: record_runs.py FOLDER

One that finished after a restart, one that failed, one that hung, a slow one, one that reads a data
set, one with hostile names, and experiments. All are real; the slow one is made longer than it was.
"""

import math
import os
import random
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import headway
import headway.data
import numpy as np
import slow_run
from headway import train, tune
from headway.tune.schedulers import ASHAScheduler, PopulationBasedTraining

HOSTILE = '<img src=x onerror="window.hacked=1">'


def metrics_at(step, steps, seed=0):
    place = step / steps
    noise = random.Random(step * 1000 + seed).gauss(0, 1)
    return {
        "loss": 2.2 * math.exp(-3.4 * place) + 0.21 + noise * 0.05 * (1.2 - place),
        "accuracy": 0.96 - 0.8 * math.exp(-4.2 * place) + noise * 0.01,
        "learning_rate": 3e-4 * min(1.0, place * 12) * (0.5 + 0.5 * math.cos(place * math.pi)),
        "gradient_norm": 1.2 + 3 * math.exp(-6 * place) + abs(noise) * 0.4,
    }


def trains(config):
    """Reports so many steps; rank 1 dies once in the middle, where that is wanted."""
    start = 0
    if checkpoint := train.get_checkpoint():
        start = checkpoint.to_dict()["step"] + 1
    rank = train.get_context().get_world_rank()
    for step in range(start, config["steps"]):
        if step == config.get("dies_at") and start == 0 and rank == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        values = metrics_at(step, config["steps"])
        print(f"step {step}: loss {values['loss']:.4f}")
        if step % 20 == 19:
            validation = config.get("validates", False) and step % 80 == 79
            checkpoint = train.Checkpoint.from_dict({"step": step}) if rank == 0 else None
            train.report(values, checkpoint, validation=validation)
        else:
            train.report(values)


def validate(checkpoint):
    return {"validation_accuracy": metrics_at(checkpoint.to_dict()["step"], 240)["accuracy"] - 0.02}


def reads(config):
    for epoch in range(2):
        rows = sum(len(batch["x"]) for batch in train.get_dataset_shard("train").iter_batches(batch_size=1000))
        train.report({"epoch": epoch, "rows": rows})


def decode(batch):
    """Slower than what is done with the rows."""
    x = batch["id"] * 2.0
    for _ in range(100):
        x = np.sin(x)
    return {"x": x}


def fails(config):
    for step in range(31):
        print(f"step {step}")
        train.report(metrics_at(step, 400))
    if train.get_context().get_world_rank() == 1:
        raise ValueError("bad batch: targets has 3 classes, the model 2")
    train.report(metrics_at(31, 400))


def hangs(config):
    for step in range(12):
        train.report(metrics_at(step, 400))
    if train.get_context().get_world_rank() == 1:
        print("reading the next shard")
        signal.pause()
    train.report(metrics_at(12, 400))


def is_hostile(config):
    print(HOSTILE)
    for step in range(3):
        train.report({HOSTILE: 1.0 / (step + 1)})


def fit(folder, name, loop, config=None, workers=2, validation=None, datasets=None, **options):
    trainer = train.DataParallelTrainer(
        loop,
        train_loop_config=config or {"name": name},
        scaling_config=train.ScalingConfig(num_workers=workers),
        run_config=train.RunConfig(name=name, storage_path=str(folder), **options),
        validation_config=validation,
        datasets=datasets,
    )
    try:
        trainer.fit()
    except train.WorkerGroupError as error:
        print(f"{name}: {str(error).splitlines()[0]}")


def slow(folder, name):
    """A run of eight ranks for 24 minutes, of which one became slow: what a driver writes of it."""
    config = {"steps": slow_run.STEPS, "batch_size": 256, "optimizer": "adamw"}
    fit(folder, name, trains, config, workers=slow_run.RANKS)
    slow_run.stretch(folder / name)


def objective(config):
    for step in range(27):
        distance = abs(math.log10(config["lr"]) + 2.5) + {"adam": 0, "sgd": 0.4, "adamw": 0.1}[config["optimizer"]]
        loss = 0.2 + distance * 0.3 + (2 + config["dropout"]) / (2 + step)
        tune.report({"loss": loss, "accuracy": 1 - loss / 3})


def experiment(folder, name):
    space = {
        "lr": tune.loguniform(1e-5, 1e-1),
        "layers": tune.randint(1, 5),
        "optimizer": tune.choice(["adam", "sgd", "adamw"]),
        "dropout": tune.uniform(0, 0.5),
        "seed": 0,
    }
    scheduler = ASHAScheduler(max_t=27, grace_period=3, reduction_factor=3)
    tuner = tune.Tuner(
        objective,
        param_space=space,
        tune_config=tune.TuneConfig(
            metric="loss", mode="min", num_samples=40, scheduler=scheduler, max_concurrent_trials=4
        ),
        run_config=tune.RunConfig(name=name, storage_path=str(folder)),
    )
    tuner.fit()


def climbs(config):
    """The value grows by the rate; it is what the checkpoint has."""
    checkpoint = train.get_checkpoint()
    state = checkpoint.to_dict() if checkpoint else {"step": 0, "value": 0.0}
    for step in range(state["step"] + 1, 13):
        state = {"step": step, "value": state["value"] + config["rate"]}
        train.report({"value": state["value"]}, train.Checkpoint.from_dict(state))


def population(folder, name):
    """Four trials, one after the other, so that the worse ones take over from the better ones."""
    scheduler = PopulationBasedTraining(
        time_attr="training_iteration",
        perturbation_interval=3,
        quantile_fraction=0.5,
        hyperparam_mutations={"rate": [8, 9, 10, 20]},
        synch=True,
    )
    tuner = tune.Tuner(
        climbs,
        param_space={"rate": tune.grid_search([1, 2, 8, 9]), "model": "small"},
        tune_config=tune.TuneConfig("value", "max", scheduler=scheduler, max_concurrent_trials=4),
        run_config=tune.RunConfig(name=name, storage_path=str(folder)),
    )
    tuner.fit()


def main(folder):
    began = time.monotonic()
    headway.init(num_cpus=8)
    config = {"steps": 240, "dies_at": 130, "lr": 3e-4, "batch_size": 64, "validates": True}
    once, three = train.FailureConfig(max_failures=1), train.CheckpointConfig(num_to_keep=3)
    validation = train.ValidationConfig(validate)
    fit(folder, "digits", trains, config, validation=validation, failure_config=once, checkpoint_config=three)
    subprocess.run([sys.executable, "-m", "headway", "checkpoint", "verify", str(folder / "digits")], check=True)
    fit(folder, "bad-batch", fails)
    fit(folder, "language-model", hangs, failure_config=train.FailureConfig(hang_warn_s=0.5, hang_fail_s=2))
    slow(folder, "vision-large")
    rows = headway.data.range(200_000).map_batches(decode)
    fit(folder, "tables", reads, datasets={"train": rows})
    fit(folder, HOSTILE, is_hostile, workers=1)
    experiment(folder, "sweep")
    population(folder, "population")
    headway.shutdown()
    print(f"recorded on {socket.gethostname()} in {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    random.seed(7)
    main(Path(sys.argv[1]).absolute())
