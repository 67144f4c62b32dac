"""How a run's reports are shown: columns, terminals, progress reporters, and how much the run says
of itself.
"""

import os
import re

import pytest
from headway import train, tune
from terminal import shown_on_a_terminal


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
    shown = shown_on_a_terminal(NARROW, {"HEADWAY_STORAGE": storage, "COLUMNS": "60", "TERM": "dumb"})
    title = shown.splitlines()[0]
    assert "metric_0" in title
    assert "metric_7" not in title
    assert len(title) <= 60


WIDE = """
import os
from headway import train

def loop():
    for loss in (1e-9, 0.5):
        train.report({"epoch": 1, "loss": loss, "accuracy": 0.5, "samples_per_s": 12345.6})
    if not os.path.exists("again"):
        open("again", "w").close()
        raise ValueError("so many words that no terminal of this width has them all in one of its lines")

train.DataParallelTrainer(loop, run_config=train.RunConfig(failure_config=train.FailureConfig(1))).fit()
"""


def test_an_ordinary_terminal_fits_a_training_s_metrics_and_notices(storage):
    environment = {"HEADWAY_STORAGE": storage, "COLUMNS": "80", "TERM": "dumb"}
    shown = shown_on_a_terminal(WIDE, environment, with_errors=True)
    lines = shown.splitlines()
    titles = next(index for index, line in enumerate(lines) if line.startswith("report"))
    assert lines[titles].split() == ["report", "epoch", "loss", "accuracy", "samples_per_s", "time_s", "checkpoint"]
    assert len(lines[titles]) - len("checkpoint") + len("checkpoint_000000") <= 80
    assert lines[titles + 1].split()[2] == "1.00e-09"
    assert sum("accuracy" in line for line in lines) == 1, "no value is so wide that the titles move"
    notice = next(index for index, line in enumerate(lines) if line.startswith("headway: Restarting"))
    assert lines[notice + 1].startswith("    ")
    assert all(len(line) <= 80 for line in lines[notice : notice + 3])


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


def rows_of(storage, capfd, reports):
    def loop(config):
        for metrics in config["reports"]:
            train.report(metrics)

    train.DataParallelTrainer(
        loop, train_loop_config={"reports": reports}, run_config=train.RunConfig(storage_path=storage)
    ).fit()
    return capfd.readouterr().out.splitlines()


def test_nested_metrics_have_columns(storage, capfd):
    titles, row = rows_of(storage, capfd, [{"train": {"loss": 0.5}, "eval": {"loss": 1.5, "by": {"class": 3}}}])
    assert titles.split() == ["report", "train/loss", "eval/loss", "eval/by/class", "time_s", "checkpoint"]
    assert row.split()[:4] == ["1", "0.5000", "1.5000", "3"]


def test_a_metric_that_comes_later_gets_a_column_too(storage, capfd):
    lines = rows_of(storage, capfd, [{"loss": 1.0}, {"loss": 0.5, "accuracy": 0.25}, {"loss": 0.25}])
    assert [line.split()[0] for line in lines] == ["report", "1", "report", "2", "3"]
    assert lines[2].split() == ["report", "loss", "accuracy", "time_s", "checkpoint"]
    assert lines[3].split()[1:3] == ["0.5000", "0.2500"]
    assert lines[4].split()[1] == "0.2500"


def test_columns_stay_columns_when_their_values_get_wider(storage, capfd):
    reports = [
        {"loss": 0.5, "損失": 1.0},
        {"loss": -1e-9, "損失": 1.0},
        {"loss": 0.25, "損失": -1e-9},
        {"loss": 1.0, "損失": 1.0},
    ]
    lines = rows_of(storage, capfd, reports)
    assert [line.split()[0] for line in lines] == ["report", "1", "report", "2", "report", "3", "4"]

    def ends(line):
        """Where the first three cells end, on a terminal: its letters of East Asia are two columns
        wide.
        """
        shown = line.replace("損失", "loss")
        return [match.end() for match in re.finditer(r"\S+", shown)][:3]

    assert ends(lines[0]) == ends(lines[1])
    assert ends(lines[2]) == ends(lines[3])
    assert ends(lines[4]) == ends(lines[5]) == ends(lines[6])


def test_what_would_move_the_cursor_is_escaped_and_what_is_long_is_cut(storage, capfd):
    titles, row, *others = rows_of(storage, capfd, [{"a\x1b[2J": "b\x1b[2J", "note": "short"}, {"note": "x" * 100}])
    assert titles.split()[1] == "a\\x1b[2J"
    assert row.split()[1] == "b\\x1b[2J"
    assert others[-1].split()[1] == "x" * 21 + "..."


def test_a_row_is_one_line_whatever_is_in_it(storage, capfd):
    fit_shown(storage, loop=lambda: train.report({"note": "two\nlines", "loss": 1.5}))
    lines = capfd.readouterr().out.splitlines()
    assert len(lines) == 2
    assert re.split(r"\s\s+", lines[1].strip())[:3] == ["1", "two lines", "1.5000"]
