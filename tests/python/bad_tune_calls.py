"""Rows for test_every_argument.py: bad arguments of search spaces and searchers."""

import optuna
from headway import train, tune
from headway.tune.schedulers import (
    PB2,
    ASHAScheduler,
    HyperBandForBOHB,
    HyperBandScheduler,
    MedianStoppingRule,
    PopulationBasedTraining,
    PopulationBasedTrainingReplay,
    ResourceChangingScheduler,
)
from headway.tune.search import BasicVariantGenerator, ConcurrencyLimiter, Repeater, Searcher
from headway.tune.search.optuna import OptunaSearch

# A user gets them from functions of headway.tune.
DOMAINS = ("Domain", "Float", "Integer", "Categorical", "Function")
# Headway calls their methods.
SCHEDULERS = (
    *("TrialScheduler", "FIFOScheduler", "AsyncHyperBandScheduler", "HyperBandScheduler", "HyperBandForBOHB", "PB2"),
    *("MedianStoppingRule", "PopulationBasedTraining", "PopulationBasedTrainingReplay", "ResourceChangingScheduler"),
)
SEARCHERS = ("Searcher", "ConcurrencyLimiter", "Repeater", "BasicVariantGenerator", "OptunaSearch")

INF, NAN = float("inf"), float("nan")
FINITE = "a finite number"
SAMPLER = optuna.samplers.RandomSampler()


def of_bounds():
    """Rows of what has two bounds, a step, or a logarithm."""
    floats = {tune.uniform: {}, tune.quniform: {"q": 1}, tune.loguniform: {}, tune.qloguniform: {"q": 1}}
    integers = {tune.randint: {}, tune.qrandint: {}, tune.lograndint: {}, tune.qlograndint: {"q": 1}}
    for call, more in (floats | integers).items():
        good = {"lower": 1, "upper": 2, **more}
        yield call, {**good, "lower": "1"}, TypeError, "lower", "'1' (str)", "number" if call in floats else "integer"
        yield call, {**good, "upper": None}, TypeError, "upper", "None", "number" if call in floats else "integer"
        yield call, {**good, "upper": 1}, ValueError, "lower, upper", "1, 1", "upper above lower"
    for call, more in floats.items():
        good = {"lower": 1, "upper": 2, **more}
        yield call, {**good, "upper": INF}, ValueError, "upper", "inf", FINITE
        yield call, {**good, "lower": NAN}, ValueError, "lower", "nan", FINITE
    for call, more in integers.items():
        yield call, {"lower": 1.5, "upper": 3, **more}, ValueError, "lower", "1.5", "an integer"
    for call in (tune.loguniform, tune.qloguniform, tune.lograndint, tune.qlograndint):
        more = floats.get(call, integers.get(call))
        yield call, {"lower": 0, "upper": 2, **more}, ValueError, "lower", "0", "above 0, since its logarithm is drawn"
        yield call, {"lower": 1, "upper": 2, **more, "base": "e"}, TypeError, "base", "'e' (str)", FINITE
        yield call, {"lower": 1, "upper": 2, **more, "base": 1}, ValueError, "base", "1", "that is not 1"
    for call in (tune.quniform, tune.qloguniform, tune.qrandint, tune.qlograndint):
        yield (
            call,
            {"lower": 1, "upper": 2, "q": "1"},
            TypeError,
            "q",
            "'1' (str)",
            "number" if call in floats else "int",
        )
        yield (
            call,
            {"lower": 1, "upper": 2, "q": 0},
            ValueError,
            "q",
            "0",
            "above 0" if call in floats else "at least 1",
        )
        yield call, {"lower": 2, "upper": 5, "q": 2}, ValueError, "upper", "5", "a multiple of q, which is 2"


def of_optuna():
    space = {"x": tune.uniform(0, 1)}
    one_point = {"points_to_evaluate": [{"x": 1}]}
    return [
        (OptunaSearch, {"space": 3}, TypeError, "space", "3 (int)", "None, a dict from parameters"),
        (OptunaSearch, {"space": {"x": 3}}, ValueError, "space", "{'x': 3}", "at least one parameter to search"),
        (OptunaSearch, {"metric": 3}, TypeError, "metric", "3 (int)", "the name of a metric, or a list"),
        (OptunaSearch, {"mode": "best"}, ValueError, "mode", "'best'", '"min" or "max"'),
        (OptunaSearch, {"mode": 1}, TypeError, "mode", "1 (int)", '"min" or "max"'),
        (OptunaSearch, {"metric": ["a", "b"], "mode": ["min"]}, ValueError, "mode", "['min']", "as many modes"),
        (OptunaSearch, {"points_to_evaluate": {"x": 1}}, TypeError, "points_to_evaluate", "{'x': 1}", "a list of"),
        (OptunaSearch, {"points_to_evaluate": [1]}, TypeError, "points_to_evaluate[0]", "1 (int)", "a dict from"),
        (OptunaSearch, {"sampler": "tpe"}, TypeError, "sampler", "'tpe' (str)", "a sampler of Optuna"),
        (OptunaSearch, {"study_name": 3}, TypeError, "study_name", "3 (int)", "None or a name"),
        (OptunaSearch, {"storage": 3}, TypeError, "storage", "3 (int)", "None, a URL, or a storage of Optuna"),
        (OptunaSearch, {"seed": "1"}, TypeError, "seed", "'1' (str)", "None or an integer"),
        (OptunaSearch, {"sampler": SAMPLER, "seed": 1}, ValueError, "seed", "1, beside a sampler", "one of them"),
        (OptunaSearch, {"evaluated_rewards": 3}, TypeError, "evaluated_rewards", "3 (int)", "None, or a list"),
        (OptunaSearch, {**one_point, "evaluated_rewards": []}, ValueError, "evaluated_rewards", "0 values", "are 1"),
        (OptunaSearch(space).suggest, {"trial_id": "t"}, ValueError, "metric", "no metric", "TuneConfig"),
    ]


def a_trial(config):
    """A trial of the tuners below."""


def of_tuner():
    local = train.DataParallelTrainer(a_trial, scaling_config=train.ScalingConfig(num_workers=0))
    tuner = {"trainable": a_trial}
    return [
        (tune.Tuner, {"trainable": 3}, TypeError, "trainable", "3 (int)", "a function of a configuration, a subclass"),
        (tune.Tuner, {"trainable": dict}, TypeError, "trainable", "dict", "a function of a configuration, a subclass"),
        (tune.Tuner, {"trainable": local}, ValueError, "ScalingConfig.num_workers", "0 with a Tuner", "at least 1"),
        (tune.Tuner, {**tuner, "param_space": [1]}, ValueError, "param_space", "[1] (list)", "None or a dict"),
        (
            tune.Tuner,
            {**tuner, "param_space": {"run_config": 1}},
            ValueError,
            "param_space",
            "'run_config'",
            "RunConfig",
        ),
        (tune.Tuner, {**tuner, "tune_config": {}}, TypeError, "tune_config", "{} (dict)", "a TuneConfig or None"),
        (tune.Tuner, {**tuner, "run_config": {}}, TypeError, "run_config", "{} (dict)", "a RunConfig or None"),
    ]


def of_tune_config():
    config = tune.TuneConfig
    return [
        (config, {"metric": 3}, TypeError, "metric", "3 (int)", "None or the name of a metric"),
        (config, {"mode": "best"}, ValueError, "mode", "'best'", '"min" or "max"'),
        (config, {"search_alg": "optuna"}, TypeError, "search_alg", "'optuna' (str)", "a Searcher or None"),
        (
            config,
            {"scheduler": "asha"},
            TypeError,
            "scheduler",
            "'asha' (str)",
            "a scheduler of headway.tune.schedulers",
        ),
        (config, {"num_samples": 0}, ValueError, "num_samples", "0", "at least 1, or -1"),
        (config, {"num_samples": 1.5}, TypeError, "num_samples", "1.5 (float)", "at least 1, or -1"),
        (config, {"max_concurrent_trials": 0}, ValueError, "max_concurrent_trials", "0", "at least 1"),
        (config, {"time_budget_s": 0}, ValueError, "time_budget_s", "0", "seconds above 0"),
        (config, {"time_budget_s": "1h"}, TypeError, "time_budget_s", "'1h' (str)", "seconds above 0"),
        (config, {"reuse_actors": 1}, TypeError, "reuse_actors", "1 (int)", "True or False"),
        (config, {"trial_name_creator": 1}, TypeError, "trial_name_creator", "1 (int)", "a function of a Trial"),
        (config, {"trial_dirname_creator": 1}, TypeError, "trial_dirname_creator", "1 (int)", "a function of a Trial"),
        (config, {"chdir_to_trial_dir": True}, DeprecationWarning, "chdir_to_trial_dir", "older API", "HEADWAY_CHDIR"),
    ]


def of_schedulers():
    asha, median = ASHAScheduler, MedianStoppingRule
    rows = []
    for kind in (asha, median, HyperBandScheduler, HyperBandForBOHB, PopulationBasedTraining):
        rows += [
            (kind, {"time_attr": 1}, TypeError, "time_attr", "1 (int)", "the name of a metric that grows"),
            (kind, {"metric": 1}, TypeError, "metric", "1 (int)", "the name of a metric"),
            (kind, {"metric": ["a"]}, TypeError, "metric", "['a'] (list)", "a scheduler has one"),
            (kind, {"mode": "up"}, ValueError, "mode", "'up'", '"min" or "max"'),
        ]
    for kind in (HyperBandScheduler, HyperBandForBOHB):
        rows += [
            (kind, {"max_t": 0}, ValueError, "max_t", "0", "a number of at least 1"),
            (kind, {"max_t": "9"}, TypeError, "max_t", "'9' (str)", "a number of at least 1"),
            (kind, {"reduction_factor": 1}, ValueError, "reduction_factor", "1", "a number above 1"),
            (kind, {"stop_last_trials": 1}, TypeError, "stop_last_trials", "1 (int)", "True or False"),
        ]
    return [
        *rows,
        (asha, {"max_t": 0}, ValueError, "max_t", "0", "a number above 0"),
        (asha, {"max_t": 5, "grace_period": 10}, ValueError, "max_t", "5", "at least grace_period"),
        (asha, {"grace_period": "1"}, TypeError, "grace_period", "'1' (str)", "a number above 0"),
        (asha, {"reduction_factor": 1}, ValueError, "reduction_factor", "1", "a number above 1"),
        (asha, {"brackets": 0}, ValueError, "brackets", "0", "an integer of at least 1"),
        (asha, {"stop_last_trials": 1}, TypeError, "stop_last_trials", "1 (int)", "True or False"),
        (median, {"grace_period": -1}, ValueError, "grace_period", "-1", "at least 0"),
        (median, {"min_samples_required": 0}, ValueError, "min_samples_required", "0", "at least 1"),
        (median, {"min_time_slice": "x"}, TypeError, "min_time_slice", "'x' (str)", "at least 0"),
        (median, {"hard_stop": 0}, TypeError, "hard_stop", "0 (int)", "True or False"),
        (asha, {"promote": 1}, TypeError, "promote", "1 (int)", "True or False"),
    ]


def of_populations():
    changes = {"hyperparam_mutations": {"lr": [0.1]}}
    bounds = {"hyperparam_bounds": {"lr": [0, 1]}}
    values = "a list or tuple of values"
    shared = [
        ({"perturbation_interval": 0}, ValueError, "perturbation_interval", "0", "a number above 0"),
        ({"quantile_fraction": 0.6}, ValueError, "quantile_fraction", "0.6", "a number from 0 to 0.5"),
        ({"log_config": 1}, TypeError, "log_config", "1 (int)", "True or False"),
        ({"require_attrs": 1}, TypeError, "require_attrs", "1 (int)", "True or False"),
        ({"synch": 1}, TypeError, "synch", "1 (int)", "True or False"),
        ({"custom_explore_fn": 1}, TypeError, "custom_explore_fn", "1 (int)", "a function of a configuration"),
    ]
    alone = [
        ({"burn_in_period": INF}, ValueError, "burn_in_period", "inf", "a number"),
        ({"resample_probability": 2}, ValueError, "resample_probability", "2", "a number from 0 to 1"),
        ({"perturbation_factors": 2}, TypeError, "perturbation_factors", "2 (int)", "a list of numbers"),
    ]
    named = [
        ({"time_attr": 1}, TypeError, "time_attr", "1 (int)", "the name of a metric that grows"),
        ({"metric": 1}, TypeError, "metric", "1 (int)", "the name of a metric"),
        ({"mode": "up"}, ValueError, "mode", "'up'", '"min" or "max"'),
    ]
    return [
        *((PopulationBasedTraining, {**changes, **given}, *rest) for given, *rest in [*shared, *alone]),
        *((PB2, {**bounds, **given}, *rest) for given, *rest in [*shared, *named]),
        (PopulationBasedTraining, {"hyperparam_mutations": 1}, TypeError, "hyperparam_mutations", "1 (int)", "a dict"),
        (
            *(PopulationBasedTraining, {"hyperparam_mutations": {"a": 1}}, TypeError),
            *("hyperparam_mutations['a']", "1 (int)", values),
        ),
        (PB2, {"hyperparam_bounds": 1}, TypeError, "hyperparam_bounds", "1 (int)", "a dict of parameters"),
        (PopulationBasedTrainingReplay, {"policy_file": 1}, TypeError, "policy_file", "1 (int)", "the path of a file"),
        (ResourceChangingScheduler, {"base_scheduler": 1}, TypeError, "base_scheduler", "1 (int)", "a scheduler"),
        (
            *(ResourceChangingScheduler, {"resources_allocation_function": 1}, TypeError),
            *("resources_allocation_function", "1 (int)", "a function"),
        ),
    ]


def of_trainables():
    group = tune.PlacementGroupFactory
    return [
        (tune.with_parameters, {"trainable": 3}, TypeError, "trainable", "3 (int)", "a function or a subclass"),
        (tune.with_resources, {"trainable": 3, "resources": {}}, TypeError, "trainable", "3 (int)", "a function or"),
        (tune.with_resources, {"trainable": a_trial, "resources": 3}, TypeError, "resources", "3 (int)", "a dict such"),
        (group, {"bundles": {"CPU": 1}}, TypeError, "bundles", "{'CPU': 1} (dict)", "a list of dicts"),
        (group, {"bundles": []}, TypeError, "bundles", "[] (list)", "at least one"),
        (group, {"bundles": [{"CPU": 1}], "strategy": 1}, TypeError, "strategy", "1 (int)", '"PACK"'),
    ]


# (what is called, with what, exception, argument, as it is given, a part of what is allowed)
ROWS = [
    *of_bounds(),
    *of_optuna(),
    *of_tuner(),
    *of_tune_config(),
    *of_schedulers(),
    *of_populations(),
    *of_trainables(),
    (tune.randn, {"mean": "0"}, TypeError, "mean", "'0' (str)", FINITE),
    (tune.randn, {"sd": 0}, ValueError, "sd", "0", "above 0"),
    (tune.qrandn, {"mean": INF, "sd": 1, "q": 1}, ValueError, "mean", "inf", FINITE),
    (tune.qrandn, {"mean": 0, "sd": -1, "q": 1}, ValueError, "sd", "-1", "above 0"),
    (tune.qrandn, {"mean": 0, "sd": 1, "q": 0}, ValueError, "q", "0", "above 0"),
    (tune.choice, {"categories": 3}, TypeError, "categories", "3 (int)", "a list of values"),
    (tune.choice, {"categories": "sgd"}, TypeError, "categories", "'sgd' (str)", "a list of values"),
    (tune.choice, {"categories": []}, ValueError, "categories", "[]", "at least one"),
    (tune.grid_search, {"values": {"a": 1}}, TypeError, "values", "{'a': 1} (dict)", "a list of values"),
    (tune.grid_search, {"values": ()}, ValueError, "values", "()", "at least one"),
    (tune.sample_from, {"func": 3}, TypeError, "func", "3 (int)", "a function of the configuration"),
    (Searcher, {"metric": 3}, TypeError, "metric", "3 (int)", "the name of a metric"),
    (Searcher, {"mode": "up"}, ValueError, "mode", "'up'", '"min" or "max"'),
    (ConcurrencyLimiter, {"searcher": 3, "max_concurrent": 1}, TypeError, "searcher", "3 (int)", "a Searcher"),
    (
        ConcurrencyLimiter,
        {"searcher": Searcher(), "max_concurrent": 0},
        ValueError,
        "max_concurrent",
        "0",
        "at least 1",
    ),
    (
        ConcurrencyLimiter,
        {"searcher": Searcher(), "max_concurrent": 1, "batch": 1},
        TypeError,
        "batch",
        "1 (int)",
        "True or False",
    ),
    (Repeater, {"searcher": 3}, TypeError, "searcher", "3 (int)", "a Searcher"),
    (Repeater, {"searcher": Searcher(), "repeat": 0}, ValueError, "repeat", "0", "at least 1"),
    (Repeater, {"searcher": Searcher(), "set_index": 1}, TypeError, "set_index", "1 (int)", "True or False"),
    (BasicVariantGenerator, {"points_to_evaluate": 3}, TypeError, "points_to_evaluate", "3 (int)", "a list of"),
    (BasicVariantGenerator, {"max_concurrent": -1}, ValueError, "max_concurrent", "-1", "0 or a number of trials"),
    (BasicVariantGenerator, {"max_concurrent": "1"}, TypeError, "max_concurrent", "'1'", "0 or a number of trials"),
    (BasicVariantGenerator, {"constant_grid_search": 1}, TypeError, "constant_grid_search", "1 (int)", "True or False"),
    (BasicVariantGenerator, {"random_state": "x"}, TypeError, "random_state", "'x' (str)", "a seed"),
    (BasicVariantGenerator, {"random_state": -1}, ValueError, "random_state", "-1", "a seed of at least 0"),
]
