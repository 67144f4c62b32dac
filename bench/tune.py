"""Experiments of trials that do next to nothing: what is left is the library's own time.

tune.py headway|ray|alone search TRIALS        Optuna proposes, two slots; alone: Optuna by itself
tune.py headway|ray slots TRIALS SECONDS SLOTS  trials that sleep: how long a slot is empty, and
                                                what 10 000 of them take
tune.py headway|ray reports TRIALS REPORTS      results of all trials in a second, all loggers on
tune.py headway|ray memory TRIALS               what the driver grows by, a trial that has ended
tune.py headway|ray exploit TRIALS STEPS        PBT: from a trial's last report to its first step as
                                                a copy of another one; a checkpoint each second

The same functions for both libraries.
"""

from __future__ import annotations

import gc
import importlib
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import program

CPUS = 2


def tuned(library: str, function: Any, space: dict[str, Any], trials: int, slots: int, **search: Any) -> float:
    """Runs an experiment with these arguments of ``TuneConfig``; returns its seconds."""
    tune = importlib.import_module(f"{library}.tune")
    tuner = tune.Tuner(
        function,
        param_space=space,
        tune_config=tune.TuneConfig(
            num_samples=trials, metric="loss", mode="min", max_concurrent_trials=slots, **search
        ),
        run_config=tune.RunConfig(storage_path=str(program.folder()), name=f"{trials}", verbose=0),
    )
    started = time.perf_counter()
    grid = tuner.fit()
    seconds = time.perf_counter() - started
    assert len(grid) == trials, len(grid)
    assert not grid.num_errors
    return seconds


def function_of(library: str) -> Any:
    """A trial: it sleeps, and reports."""
    tune = importlib.import_module(f"{library}.tune")

    def trial(config: dict[str, Any]) -> None:
        if config["sleep_s"]:
            time.sleep(config["sleep_s"])
        for step in range(config["reports"]):
            tune.report({"loss": (config["x"] - 1) ** 2, "step": step})

    return trial


def space_of(library: str, *, sleep_s: float = 0.0, reports: int = 1) -> dict[str, Any]:
    """Its search space."""
    uniform = importlib.import_module(f"{library}.tune").uniform
    return {"x": uniform(0, 2), "sleep_s": sleep_s, "reports": reports}


def optuna_alone(trials: int) -> float:
    """Optuna's own loop, in one process."""
    optuna = importlib.import_module("optuna")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=1))
    started = time.perf_counter()
    study.optimize(lambda trial: (trial.suggest_float("x", 0, 2) - 1) ** 2, n_trials=trials)
    return time.perf_counter() - started


def search(library: str, trials: int) -> None:
    """Trials with Optuna."""
    if library == "alone":
        program.finish(trials_s=optuna_alone(trials))
        return
    importlib.import_module(library).init(num_cpus=CPUS)
    kind = importlib.import_module(f"{library}.tune.search.optuna").OptunaSearch
    found = kind(metric="loss", mode="min", seed=1)
    program.finish(trials_s=tuned(library, function_of(library), space_of(library), trials, CPUS, search_alg=found))


def slots(library: str, trials: int, sleep_s: float, count: int) -> None:
    """What a slot needs from one trial to the next, beyond the trials' own time. The experiment's
    start and end, and its first rounds, are a shorter experiment's, which is subtracted.
    """
    importlib.import_module(library).init(num_cpus=count)
    function, space, few = function_of(library), space_of(library, sleep_s=sleep_s), 5 * count
    tuned(library, function, space, count, count)  # What only the first one of a process does.
    few_s = tuned(library, function, space, few, count)
    many_s = tuned(library, function, space, few + trials, count)
    a_trial_s = (many_s - few_s) / trials
    program.finish(turnover_s=a_trial_s * count - sleep_s, whole_s=few_s + (10_000 - few) * a_trial_s)


def reports(library: str, trials: int, count: int) -> None:
    """Results that an experiment takes in a second, its start and end included."""
    importlib.import_module(library).init(num_cpus=trials)
    seconds = tuned(library, function_of(library), space_of(library, reports=count), trials, trials)
    program.finish(results_in_a_second=trials * count / seconds)


def memory(library: str, trials: int) -> None:
    """The growth from a first experiment, which brings in what the process uses, to the end of a
    second one.
    """
    importlib.import_module(library).init(num_cpus=CPUS)
    reuse = library == "ray"  # The driver is the same, and the trials take a tenth of the time.
    tuned(library, function_of(library), space_of(library), trials // 10, CPUS, reuse_actors=reuse)
    gc.collect()
    before = resident_kib()
    tuned(library, function_of(library), space_of(library), trials, CPUS, reuse_actors=reuse)
    gc.collect()
    program.finish(kib_a_trial=max(0.0, resident_kib() - before) / trials)


def exploit(library: str, trials: int, steps: int) -> None:
    """How long a trial that becomes a copy does not train, small files included."""
    tune = importlib.import_module(f"{library}.tune")
    importlib.import_module(library).init(num_cpus=trials)

    def trial(config: dict[str, Any]) -> None:
        began, checkpoint = time.time(), tune.get_checkpoint()
        first = 0
        if checkpoint:
            with checkpoint.as_directory() as folder:
                first = int(Path(folder, "step").read_text())
        for step in range(first + 1, steps + 1):
            time.sleep(1)
            with tempfile.TemporaryDirectory() as folder:
                Path(folder, "step").write_text(str(step))
                metrics = {"loss": -config["rate"], "began": began, "at": time.time()}
                tune.report(metrics, checkpoint=tune.Checkpoint.from_directory(folder))

    scheduler = importlib.import_module(f"{library}.tune.schedulers").PopulationBasedTraining(
        time_attr="training_iteration", perturbation_interval=1, hyperparam_mutations={"rate": tune.uniform(0, 1)}
    )
    grid = tune.Tuner(
        trial,
        param_space={"rate": tune.uniform(0, 1)},
        tune_config=tune.TuneConfig(metric="loss", mode="min", num_samples=trials, scheduler=scheduler),
        run_config=tune.RunConfig(storage_path=str(program.folder()), name="population", verbose=0),
    ).fit()
    gaps = []
    for result in grid:
        lines = result.metrics_dataframe
        pairs = zip(lines["at"], lines["began"].iloc[1:], lines["began"], strict=False)
        gaps += [began - at for at, began, before in pairs if began != before]
    program.finish(exploit_s=statistics.median(gaps), exploits=len(gaps))


def resident_kib() -> float:
    """What this process has in memory."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGESIZE") / 1024


def main(library: str, what: str, *arguments: str) -> None:
    if what == "search":
        search(library, int(arguments[0]))
    elif what == "slots":
        slots(library, int(arguments[0]), float(arguments[1]), int(arguments[2]))
    elif what == "reports":
        reports(library, int(arguments[0]), int(arguments[1]))
    elif what == "exploit":
        exploit(library, int(arguments[0]), int(arguments[1]))
    else:
        memory(library, int(arguments[0]))


if __name__ == "__main__":
    main(*sys.argv[1:])
