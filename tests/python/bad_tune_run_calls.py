"""Rows for test_every_argument.py: bad arguments of ``tune.run`` and what is around it."""

from headway import tune
from headway.tune import logger, utils
from headway.tune.execution import placement_groups
from headway.tune.utils import log


def a_trial(config):
    """A trial."""


def of_run():
    run, good = tune.run, {"run_or_experiment": a_trial}
    folder = "a checkpoint's folder"
    return [
        (run, {"run_or_experiment": 3}, TypeError, "trainable", "3 (int)", "a function of a configuration"),
        (run, {**good, "name": 3}, TypeError, "name", "3 (int)", "None or a folder name"),
        (run, {**good, "metric": 3}, TypeError, "metric", "3 (int)", "the name of a metric"),
        (run, {**good, "mode": "up"}, ValueError, "mode", "'up'", '"min" or "max"'),
        (run, {**good, "stop": 3}, TypeError, "stop", "3 (int)", ""),
        (run, {**good, "time_budget_s": 0}, ValueError, "time_budget_s", "0", "seconds above 0"),
        (run, {**good, "config": [1]}, ValueError, "param_space", "[1] (list)", "None or a dict"),
        (run, {**good, "resources_per_trial": 3}, TypeError, "resources", "3 (int)", "a dict such"),
        (run, {**good, "num_samples": 0}, ValueError, "num_samples", "0", "at least 1, or -1"),
        (run, {**good, "storage_path": 3}, TypeError, "storage_path", "3 (int)", ""),
        (run, {**good, "storage_path": "x", "storage_filesystem": 3}, TypeError, "storage_filesystem", "3 (int)", ""),
        (run, {**good, "search_alg": "best"}, ValueError, "search_alg", "'best'", "optuna"),
        (run, {**good, "scheduler": "best"}, ValueError, "scheduler", "'best'", "asha"),
        (run, {**good, "checkpoint_config": 3}, TypeError, "checkpoint_config", "3 (int)", "a CheckpointConfig"),
        (run, {**good, "verbose": 9}, ValueError, "verbose", "9", "0 (warnings)"),
        (run, {**good, "progress_reporter": 3}, TypeError, "progress_reporter", "3 (int)", ""),
        (run, {**good, "log_to_file": 3}, TypeError, "log_to_file", "3 (int)", ""),
        (run, {**good, "trial_name_creator": 3}, TypeError, "trial_name_creator", "3 (int)", "a function of a Trial"),
        (run, {**good, "trial_dirname_creator": 3}, TypeError, "trial_dirname_creator", "3 (int)", "a function of a"),
        (run, {**good, "sync_config": 3}, TypeError, "sync_config", "3 (int)", "a SyncConfig"),
        (run, {**good, "export_formats": ["h5"]}, ValueError, "export_formats", "['h5']", "None"),
        (run, {**good, "max_failures": "1"}, TypeError, "max_failures", "'1' (str)", ""),
        (run, {**good, "fail_fast": "now"}, TypeError, "fail_fast", "'now' (str)", 'True, False or "raise"'),
        (run, {**good, "restore": 3}, TypeError, "restore", "3 (int)", folder),
        (run, {**good, "resume": "LATER"}, ValueError, "resume", "'LATER'", '"AUTO"'),
        (run, {**good, "resume": True}, ValueError, "resume", "True without a name", "the name of an experiment"),
        (run, {**good, "resume_config": {}}, TypeError, "resume_config", "{} (dict)", "a ResumeConfig or None"),
        (run, {**good, "reuse_actors": 1}, TypeError, "reuse_actors", "1 (int)", "True or False"),
        (run, {**good, "raise_on_failed_trial": 1}, TypeError, "raise_on_failed_trial", "1 (int)", "True or False"),
        (run, {**good, "callbacks": [3]}, TypeError, "callbacks[0]", "3 (int)", ""),
        (run, {**good, "max_concurrent_trials": 0}, ValueError, "max_concurrent_trials", "0", "at least 1"),
    ]


def of_experiments():
    several, experiment = tune.run_experiments, tune.Experiment
    given = {"experiments": experiment("first", a_trial)}
    resume = tune.ResumeConfig
    skip = resume.ResumeType.RESUME
    return [
        (several, {"experiments": 3}, TypeError, "experiments", "3 (int)", "an Experiment, a list"),
        (several, {"experiments": [3]}, TypeError, "experiments[0]", "3 (int)", "an Experiment"),
        (several, {**given, "scheduler": 3}, TypeError, "scheduler", "3 (int)", "a scheduler of"),
        (several, {**given, "verbose": 9}, ValueError, "verbose", "9", "0 (warnings)"),
        (several, {**given, "progress_reporter": 3}, TypeError, "progress_reporter", "3 (int)", ""),
        (several, {**given, "resume": "LATER"}, ValueError, "resume", "'LATER'", '"AUTO"'),
        (several, {**given, "resume_config": {}}, TypeError, "resume_config", "{} (dict)", "a ResumeConfig or None"),
        (several, {**given, "reuse_actors": 1}, TypeError, "reuse_actors", "1 (int)", "True or False"),
        (several, {**given, "raise_on_failed_trial": 1}, TypeError, "raise_on_failed_trial", "1 (int)", "True or"),
        (several, {**given, "concurrent": 1}, TypeError, "concurrent", "1 (int)", "True or False"),
        (several, {**given, "callbacks": [3]}, TypeError, "callbacks[0]", "3 (int)", ""),
        (experiment, {"name": 3, "run": a_trial}, TypeError, "name", "3 (int)", "a folder name"),
        (experiment, {"name": "first", "run": 3}, TypeError, "trainable", "3 (int)", "a function of a configuration"),
        (experiment.from_json, {"name": "first", "spec": 3}, TypeError, "spec", "3 (int)", "a dict of arguments"),
        (experiment.from_json, {"name": "first", "spec": {}}, ValueError, "spec", "{}", 'a dict with "run"'),
        (experiment.from_json, {"name": 3, "spec": {"run": a_trial}}, TypeError, "name", "3 (int)", "a folder name"),
        (resume, {"finished": skip}, ValueError, "finished", "RESUME", "SKIP or RESTART"),
        (resume, {"unfinished": "skip"}, TypeError, "unfinished", "'skip' (str)", "ResumeConfig.ResumeType"),
        (resume, {"errored": True}, TypeError, "errored", "True (bool)", "ResumeConfig.ResumeType"),
    ]


def of_names():
    register, env, analysis = tune.register_trainable, tune.register_env, tune.ExperimentAnalysis
    path = {"experiment_checkpoint_path": "/nowhere"}
    return [
        (register, {"name": 3, "trainable": a_trial}, TypeError, "name", "3 (int)", "a name"),
        (register, {"name": "a/b", "trainable": a_trial}, ValueError, "name", "'a/b'", "without '/'"),
        (register, {"name": "a", "trainable": 3}, TypeError, "trainable", "3 (int)", "a function of a configuration"),
        (register, {"name": "a", "trainable": a_trial, "warn": 1}, TypeError, "warn", "1 (int)", "True or False"),
        (env, {"name": 3, "env_creator": dict}, TypeError, "name", "3 (int)", "a name"),
        (env, {"name": "a", "env_creator": 3}, TypeError, "env_creator", "3 (int)", "a function of a configuration"),
        (tune.create_scheduler, {"scheduler": 3}, TypeError, "scheduler", "3 (int)", "the name of a scheduler"),
        (tune.create_searcher, {"search_alg": 3}, TypeError, "search_alg", "3 (int)", "the name of a searcher"),
        (analysis, path, ValueError, "experiment_checkpoint_path", "'/nowhere'", ""),
    ]


def of_nested_dicts():
    flat, nested, found, update, merge = (
        utils.flatten_dict,
        utils.unflatten_dict,
        utils.unflattened_lookup,
        utils.deep_update,
        utils.merge_dicts,
    )
    both = {"original": {}, "new_dict": {}}
    between = "what is between two names"
    return [
        (flat, {"dt": [1]}, TypeError, "dt", "[1] (list)", "a dict"),
        (flat, {"dt": {}, "delimiter": ""}, ValueError, "delimiter", "''", between),
        (flat, {"dt": {}, "prevent_delimiter": 1}, TypeError, "prevent_delimiter", "1 (int)", "True or False"),
        (flat, {"dt": {}, "flatten_list": 1}, TypeError, "flatten_list", "1 (int)", "True or False"),
        (nested, {"dt": [1]}, TypeError, "dt", "[1] (list)", "a dict"),
        (nested, {"dt": {}, "delimiter": 3}, TypeError, "delimiter", "3 (int)", between),
        (found, {"flat_key": 3, "lookup": {}}, TypeError, "flat_key", "3 (int)", 'such as "a/b"'),
        (found, {"flat_key": "a", "lookup": "b"}, TypeError, "lookup", "'b' (str)", "a dict or a list"),
        (update, {**both, "original": 3}, TypeError, "original", "3 (int)", "a dict"),
        (update, {**both, "new_dict": 3}, TypeError, "new_dict", "3 (int)", "a dict"),
        (update, {**both, "new_keys_allowed": 1}, TypeError, "new_keys_allowed", "1 (int)", "True or False"),
        *(
            (update, {**both, argument: "a"}, TypeError, argument, "'a' (str)", "a list of names")
            for argument in ("allow_new_subkey_list", "override_all_if_type_changes", "override_all_key_list")
        ),
        (merge, {"d1": 3, "d2": {}}, TypeError, "d1", "3 (int)", "a dict"),
        (merge, {"d1": {}, "d2": 3}, TypeError, "d2", "3 (int)", "a dict"),
    ]


def of_helpers():
    monitor, wait, diagnose = utils.UtilMonitor, utils.wait_for_gpu, utils.diagnose_serialization
    restores, slow, level = utils.validate_save_restore, utils.warn_if_slow, "a Verbosity, or a number from 0 to 3"
    kind = {"trainable_cls": tune.Trainable}
    bundle = placement_groups.resource_dict_to_pg_factory
    return [
        (monitor, {"start": 1}, TypeError, "start", "1 (int)", "True or False"),
        (monitor, {"start": False, "delay": 0}, ValueError, "delay", "0", "seconds above 0"),
        (wait, {"gpu_id": 1.5}, TypeError, "gpu_id", "1.5 (float)", "a GPU's number or UUID"),
        (wait, {"target_util": 2}, ValueError, "target_util", "2", "a share from 0 to 1"),
        (wait, {"retry": 0}, ValueError, "retry", "0", "at least 1"),
        (wait, {"delay_s": -1}, ValueError, "delay_s", "-1", "at least 0"),
        (wait, {"gpu_memory_limit": "1"}, TypeError, "gpu_memory_limit", "'1' (str)", "a number, or None"),
        (diagnose, {"trainable": 3}, TypeError, "trainable", "3 (int)", "a function or a class"),
        (restores, {"trainable_cls": a_trial}, TypeError, "trainable_cls", "", "a subclass of headway.tune.Trainable"),
        (restores, {**kind, "config": [1]}, TypeError, "config", "[1] (list)", "None or a dict"),
        (restores, {**kind, "num_gpus": -1}, ValueError, "num_gpus", "-1", "at least 0"),
        (slow, {"name": 3}, TypeError, "name", "3 (int)", "what is done"),
        (slow, {"name": "it", "threshold": "1"}, TypeError, "threshold", "'1' (str)", "seconds, or None"),
        (slow, {"name": "it", "message": 3}, TypeError, "message", "3 (int)", "{duration}"),
        (slow, {"name": "it", "disable": 1}, TypeError, "disable", "1 (int)", "True or False"),
        (log.set_verbosity, {"level": 4}, ValueError, "level", "4", level),
        (log.has_verbosity, {"level": "V0"}, TypeError, "level", "'V0' (str)", level),
        (logger.pretty_print, {"result": 3}, TypeError, "result", "3 (int)", "a dict"),
        (logger.pretty_print, {"result": {}, "exclude": [3]}, TypeError, "exclude", "3 (int)", "None or names"),
        (bundle, {"spec": 3}, TypeError, "spec", "3 (int)", "a dict such as"),
    ]


ROWS = [*of_run(), *of_experiments(), *of_names(), *of_nested_dicts(), *of_helpers()]
