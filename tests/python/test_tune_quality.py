"""What a search finds: ASHA over TPE's suggestions beside random search, with the same number of
epochs, on learning curves that are fitted here.
"""

import itertools
import statistics

import learning_curves
from headway import train, tune
from headway.tune.schedulers import ASHAScheduler
from headway.tune.search import BasicVariantGenerator
from headway.tune.search.optuna import OptunaSearch

SPACE = {
    "lr": tune.loguniform(1e-5, 100),
    "momentum": tune.uniform(0, 0.99),
    "decay": tune.loguniform(1e-6, 10),
}
TRIALS = 16


def trial(config):
    for loss in learning_curves.losses(config):
        tune.report({"loss": loss})


def best_of_asha(seed, path):
    """The best loss, and how many epochs it took. One trial at a time: every run is the same."""
    grid = tune.Tuner(
        trial,
        param_space=SPACE,
        tune_config=tune.TuneConfig(
            "loss",
            "min",
            num_samples=TRIALS,
            max_concurrent_trials=1,
            search_alg=OptunaSearch(seed=seed),
            scheduler=ASHAScheduler(max_t=learning_curves.EPOCHS, grace_period=1, reduction_factor=3),
        ),
        run_config=train.RunConfig(storage_path=path, name=f"asha-{seed}", verbose=0),
    ).fit()
    epochs = sum(each.metrics["training_iteration"] for each in grid)
    return grid.get_best_result(scope="all").metrics_dataframe["loss"].min(), epochs


def best_of_random(seed, epochs):
    """The best loss that whole trials with random configurations reach in as many epochs."""
    search = BasicVariantGenerator(random_state=seed)
    search.set_search_properties("loss", "min", SPACE, num_samples=-1)
    curves = (learning_curves.losses(search.suggest(str(index))) for index in itertools.count())
    return min(itertools.islice(itertools.chain.from_iterable(curves), epochs))


def test_asha_and_tpe_find_more_than_random_search_in_the_same_number_of_epochs(tmp_path):
    ours, random, shares = [], [], []
    for seed in range(2):
        loss, epochs = best_of_asha(seed, tmp_path)
        ours.append(loss)
        # Random search is cheap here: the median of many is what it finds.
        random.append(statistics.median(best_of_random(100 * seed + each, epochs) for each in range(15)))
        shares.append(epochs / (TRIALS * learning_curves.EPOCHS))
    assert statistics.mean(ours) <= statistics.mean(random)
    assert max(shares) < 0.6
