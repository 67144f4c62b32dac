"""Rows for test_arguments.py: bad arguments of headway.init, of runtime environments and of headway.tune."""

import headway
from headway import tune
from headway.train import RunConfig
from headway.tune import stopper

NAN = float("nan")
AT_LEAST_1 = "at least 1"

# (what is called, with what, exception, argument, as it is given, a part of what is allowed)
ROWS = [
    (headway.init, {"labels": ["eu"]}, TypeError, "labels", "['eu']", "a dict from labels"),
    (headway.init, {"runtime_env": "env"}, TypeError, "runtime_env", "'env'", "None or a dict"),
    (headway.init, {"runtime_env": {"conda": 1}}, ValueError, "runtime_env", "'conda'", "py_modules, working_dir"),
    (headway.init, {"runtime_env": {"env_vars": {"A": 1}}}, TypeError, "['env_vars']['A']", "1 (int)", "a string"),
    (headway.init, {"runtime_env": {"env_vars": {"A=": "1"}}}, ValueError, "['env_vars']", "'A='", "without '='"),
    (
        headway.init,
        {"runtime_env": {"working_dir": "/no/such/place"}},
        FileNotFoundError,
        "runtime_env['working_dir']",
        "/no/such/place",
        "a directory of this machine",
    ),
    (
        headway.init,
        {"runtime_env": {"working_dir": "s3://bucket/code.zip"}},
        ValueError,
        "runtime_env['working_dir']",
        "s3://bucket/code.zip",
        "a directory of this machine",
    ),
    (
        RunConfig,
        {"worker_runtime_env": {"py_modules": "code"}},
        TypeError,
        "RunConfig.worker_runtime_env['py_modules']",
        "'code'",
        "a list of directories",
    ),
    (
        RunConfig,
        {"worker_runtime_env": {"py_modules": [__file__]}},
        NotADirectoryError,
        "RunConfig.worker_runtime_env['py_modules'][0]",
        __file__,
        "a directory",
    ),
    (
        RunConfig,
        {"worker_runtime_env": {"pip": [1]}},
        TypeError,
        "RunConfig.worker_runtime_env['pip'][0]",
        "1 (int)",
        "a requirement",
    ),
    (
        RunConfig,
        {"worker_runtime_env": {"pip": "gone.txt"}},
        FileNotFoundError,
        "RunConfig.worker_runtime_env['pip']",
        "'gone.txt'",
        "requirements.txt",
    ),
    (RunConfig, {"stop": stopper.NoopStopper}, TypeError, "RunConfig.stop", "NoopStopper", "a tune.stopper.Stopper"),
    (tune.CLIReporter, {"metric_columns": "loss"}, TypeError, "metric_columns", "'loss'", "a list of names"),
    (tune.CLIReporter, {"metric_columns": [1]}, TypeError, "metric_columns", "[1]", "a list of names"),
    (tune.CLIReporter, {"max_report_frequency": "5"}, TypeError, "max_report_frequency", "'5'", "seconds"),
    (tune.CLIReporter, {"colour": "red"}, TypeError, "CLIReporter", "'colour'", "max_progress_rows"),
    (stopper.MaximumIterationStopper, {"max_iter": 0}, ValueError, "max_iter", "0", AT_LEAST_1),
    (stopper.TimeoutStopper, {"timeout": -1}, ValueError, "timeout", "-1", "above 0"),
    (stopper.FunctionStopper, {"function": 3}, TypeError, "function", "3 (int)", "a function"),
    (
        stopper.TrialPlateauStopper,
        {"metric": "loss", "metric_threshold": 1, "mode": "low"},
        ValueError,
        "mode",
        "'low'",
        '"min" or "max"',
    ),
    (stopper.ExperimentPlateauStopper, {"metric": "loss", "top": 1}, ValueError, "top", "1", "at least 2"),
    (headway.init, {"address": 1}, TypeError, "address", "1 (int)", '"local"'),
    (headway.init, {"address": "10.0.0.1:6379"}, ValueError, "address", "10.0.0.1:6379", '"local"'),
    (headway.init, {"num_cpus": "4"}, TypeError, "num_cpus", "'4' (str)", "a number"),
    (headway.init, {"num_cpus": True}, TypeError, "num_cpus", "True (bool)", "a number"),
    (headway.init, {"num_cpus": -1}, ValueError, "num_cpus", "-1", "not negative"),
    (headway.init, {"num_cpus": NAN}, ValueError, "num_cpus", "nan", "not negative"),
    (headway.init, {"num_gpus": "all"}, TypeError, "num_gpus", "'all'", "whole number"),
    (headway.init, {"num_gpus": 0.5}, ValueError, "num_gpus", "0.5", "whole number"),
    (headway.init, {"num_gpus": -1}, ValueError, "num_gpus", "-1", "whole number"),
    (headway.init, {"resources": ["disk"]}, TypeError, "resources", "['disk']", "a dict"),
    (headway.init, {"resources": {"disk": "big"}}, TypeError, "resources['disk']", "'big'", "a number"),
    (headway.init, {"resources": {"disk": -2}}, ValueError, 'resources["disk"]', "-2", "not negative"),
    (headway.init, {"resources": {"CPU": 2}}, ValueError, "resources", '"CPU"', "num_cpus"),
    (headway.init, {"resources": {"": 2}}, ValueError, "resources", "empty name", "names of your own"),
    (headway.init, {"preload": "torch"}, TypeError, "preload", "'torch' (str)", "a list of module names"),
    (headway.init, {"preload": [1]}, TypeError, "preload", "1 (int)", "a list of module names"),
    (
        headway.init,
        {"preload": ["no_such_module"]},
        ValueError,
        "preload",
        "'no_such_module'",
        "a list of module names",
    ),
    (headway.init, {"preload": [""]}, ValueError, "preload", "''", "a list of module names"),
    (headway.init, {"ignore_reinit_error": 1}, TypeError, "ignore_reinit_error", "1 (int)", "True or False"),
]
