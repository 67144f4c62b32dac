"""How a run's reports are shown: columns, terminals, progress reporters, and how much the run says of itself."""

import os
import pty
import re
import subprocess
import sys

import pytest
from conftest import PACKAGES
from headway import train, tune


def loop(config):
    for step in range(3):
        train.report({"loss": 1 / (step + 1), "accuracy": step / 3, "eval": {"loss": step}})


def fit_shown(storage, reporter=None, loop=loop, **options):
    return train.DataParallelTrainer(
        loop,
        train_loop_config={"lr": 0.1},
        run_config=train.RunConfig(storage_path=storage, progress_reporter=reporter, **options),
    ).fit()


def test_columns_are_those_that_were_asked_for(storage, capfd):
    reporter = tune.CLIReporter(metric_columns={"eval/loss": "evaluation"}, parameter_columns=["lr"])
    fit_shown(storage, reporter)
    lines = capfd.readouterr().out.splitlines()
    assert lines[0] == "lr=0.1"
    assert re.split(r"\s\s+", lines[1].strip()) == ["report", "evaluation", "time_s", "checkpoint"]
    assert [line.split()[1] for line in lines[2:5]] == ["0", "1", "2"]


def test_a_long_interval_shows_the_first_and_the_last_report(storage, capfd):
    fit_shown(storage, tune.CLIReporter(max_report_frequency=1000))
    lines = capfd.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["report", "1", "3"]


def test_a_reporter_of_one_s_own_is_called_instead(storage, capfd):
    class Own(tune.ProgressReporter):
        def setup(self, **info):
            self.seen = []

        def should_report(self, trials, done=False):
            return done or trials[0].last_result["training_iteration"] != 2

        def report(self, trials, done, *sys_info):
            self.seen.append((trials[0].last_result["training_iteration"], done, trials[0].status))

    own = Own()
    fit_shown(storage, own)
    assert own.seen == [(1, False, "RUNNING"), (3, False, "RUNNING"), (3, True, "TERMINATED")]
    assert capfd.readouterr().out == ""


NARROW = """
from headway import train

def loop():
    train.report({f"metric_{i}": i for i in range(8)})

train.DataParallelTrainer(loop).fit()
"""


def test_a_narrow_terminal_gets_the_columns_that_fit(storage):
    main, terminal = pty.openpty()
    environment = {**os.environ, "PYTHONPATH": PACKAGES, "HEADWAY_STORAGE": storage, "COLUMNS": "60"}
    done = subprocess.run([sys.executable, "-c", NARROW], env=environment, stdout=terminal, timeout=60, check=False)
    assert done.returncode == 0
    shown = os.read(main, 1 << 16).decode()
    os.close(terminal)
    os.close(main)
    title = shown.splitlines()[0]
    assert "metric_0" in title
    assert "metric_7" not in title
    assert len(title) <= 60


@pytest.mark.parametrize(("level", "notices", "warnings"), [("INFO", 1, 1), ("warning", 0, 1), ("ERROR", 0, 0)])
def test_the_log_level_says_what_is_said(storage, capfd, level, notices, warnings):
    def loop(config):
        if not os.path.exists(storage + "_again"):
            open(storage + "_again", "w").close()
            raise ValueError("once")
        train.report({"loss": 1})

    fit_shown(
        storage,
        loop=loop,
        logging_config=train.LoggingConfig(level),
        failure_config=train.FailureConfig(1),
        stop={"no_such": 1},
    )
    errors = capfd.readouterr().err
    assert errors.count("Restarting the worker group") == notices
    assert errors.count("RunConfig.stop names") == warnings


def test_a_progress_bar_of_a_rank_is_shown_as_it_ended_with_the_rank_in_front(storage, capfd):
    def loop():
        for percent in (0, 50, 100):
            print(f"\r{percent}% done", end="")
        print()
        print("and with the ends of another system", end="\r\n")

    result = fit_shown(storage, loop=loop)
    assert capfd.readouterr().out == "(rank 0) 100% done\n(rank 0) and with the ends of another system\n"
    with open(os.path.join(result.path, "logs", "rank_0.log"), "rb") as log:
        assert b"\r0% done\r50% done\r100% done\n" in log.read()


def test_a_row_is_one_line_whatever_is_in_it(storage, capfd):
    fit_shown(storage, loop=lambda: train.report({"note": "two\nlines", "loss": 1.5}))
    lines = capfd.readouterr().out.splitlines()
    assert len(lines) == 2
    assert re.split(r"\s\s+", lines[1].strip())[:3] == ["1", "two lines", "1.5000"]
