"""How an experiment is shown: its table, its moving line, progress reporters, notebooks."""

import pytest
from headway import train, tune
from headway._callbacks.trial_table import TableStyle, table_of
from headway.tune._experiment.display import ExperimentDisplay
from headway.tune._experiment.records import Records, TrialRecord
from terminal import shown_on_a_terminal


def trials(count, **states):
    found = []
    for index in range(count):
        config = {"lr": index / 10, "fixed": 1, "deep": {"units": index}}
        result = {"loss": (index - 3) ** 2, "training_iteration": index, "pid": 7, "eval": {"acc": 0.5}}
        status = next((state for state, chosen in states.items() if index in chosen), "TERMINATED")
        found.append(tune.Trial(f"t{index}", f"name_{index}", "f", config, f"/at/{index}", status, result))
    return found


def test_a_table_of_three_trials_has_their_parameters_and_metrics():
    text = table_of(trials(3, RUNNING=[2], ERROR=[0]), TableStyle(metric="loss", mode="min"), 5).as_text()
    assert text.splitlines() == [
        "3 of 5 trials: 1 RUNNING, 1 ERROR, 1 TERMINATED; best loss=1 (name_2)",
        "trial   status      lr   deep/units  iter  loss  eval/acc",
        "name_2  RUNNING     0.2  2           2     1     0.5",
        "name_0  ERROR       0    0           0     9     0.5",
        "name_1  TERMINATED  0.1  1           1     4     0.5",
        "Errors:",
        "  name_0: /at/0/error.txt",
    ]


def test_a_table_of_many_trials_stays_short_and_has_some_of_each_state():
    many = trials(3000, RUNNING=range(2990, 3000), ERROR=range(100))
    table = table_of(many, TableStyle(rows_max=8, error_rows_max=2))
    assert [row[1] for row in table.rows] == ["RUNNING"] * 3 + ["ERROR"] * 3 + ["TERMINATED"] * 2
    assert table.more == "... and 2992 more trials (97 ERROR, 7 RUNNING, 2888 TERMINATED)"
    assert table.as_text().splitlines()[-1] == "  and 98 more"


def test_the_best_trials_come_first_where_a_table_is_sorted():
    table = table_of(trials(9), TableStyle({"loss": "LOSS"}, {"lr": "rate"}, 3, metric="loss", mode="min", sorts=True))
    assert table.titles == ["trial", "status", "rate", "iter", "LOSS"]
    assert [row[0] for row in table.rows] == ["name_3", "name_2", "name_4"]


def test_long_texts_show_their_ends():
    (trial,) = trials(1)
    trial.config = {"path": "/a/long/way/to/the/data.parquet"}
    (row,) = table_of([trial], TableStyle(column_length_max=12)).rows
    assert row[2] == "...a.parquet"


def test_html_has_what_text_has_and_escapes_it():
    (trial,) = trials(1, ERROR=[0])
    trial.config = {"x": "<b>"}
    page = table_of([trial], TableStyle()).as_html()
    assert "&lt;b&gt;" in page
    assert "<td>/at/0/error.txt</td>" in page


@pytest.fixture
def show(tmp_path, capfd):
    def run(reporter, count=3, **options):
        def trial(config):
            tune.report({"loss": config["x"]})

        tune.Tuner(
            trial,
            param_space={"x": tune.grid_search(list(range(count)))},
            tune_config=tune.TuneConfig("loss", "min"),
            run_config=train.RunConfig(storage_path=tmp_path, name="s", progress_reporter=reporter, **options),
        ).fit()
        return capfd.readouterr().out

    return run


def test_the_end_of_an_experiment_has_a_table_of_its_best_trials(show):
    lines = show(None).splitlines()
    table = next(index for index, line in enumerate(lines) if line.startswith("trial "))
    titles = next(index for index, line in enumerate(lines) if line.split()[:2] == ["trial", "status"])
    assert table < titles
    assert [line.split()[1:] for line in lines[titles + 1 : titles + 4]] == [
        ["TERMINATED", str(x), "1", str(x)] for x in range(3)
    ]
    assert lines[-1].startswith("experiment finished: all of 3 trials have ended; best: loss=0")


def test_a_reporter_prints_its_own_columns(show):
    reporter = tune.CLIReporter(
        metric_columns=["loss"], parameter_columns={"x": "input"}, max_report_frequency=1000, sort_by_metric=True
    )
    reporter.add_metric_column("time_total_s", "seconds")
    text = show(reporter)
    first, last = text.split("3 of 3 trials: ")
    assert "of 3 trials" in first
    titles, *rows = last.splitlines()[1:]
    assert titles.split() == ["trial", "status", "input", "iter", "loss", "seconds"]
    assert [row.split()[2] for row in rows] == ["0", "1", "2"]


def test_a_reporter_may_print_its_table_at_the_end_only(show):
    text = show(tune.CLIReporter(print_intermediate_tables=False, max_report_frequency=0, total_samples=7))
    assert text.count("of 7 trials: ") > 1
    assert sum(line.split()[:2] == ["trial", "status"] for line in text.splitlines()) == 1


def test_a_reporter_outside_of_a_notebook_is_text(show):
    assert "3 of 3 trials: 3 TERMINATED; best loss=0" in show(tune.JupyterNotebookReporter(max_report_frequency=1000))


def test_the_summary_of_thousands_of_trials_is_a_few_lines(tmp_path, capfd):
    records = Records(str(tmp_path))
    display = ExperimentDisplay(1, "loss", "min", records, reports=False)
    display.begin(str(tmp_path), 3000)
    for index in range(3000):
        record = TrialRecord(f"t{index}", f"folder{index}", "terminated", last={"loss": float(index)}, reports=1)
        records.add(record)
        display.started()
        display.left()
        display.ended(record)
    display.finish("finished", "", None)
    lines = capfd.readouterr().out.splitlines()
    assert len(lines) < 130
    assert lines[-2] == "... and 2980 more trials (2980 TERMINATED)"


LIVE = """
import signal
from headway import train, tune

def trial(config):
    for step in range(3):
        tune.report({"loss": step})
        if step == 1:
            signal.sigtimedwait([signal.SIGUSR2], 0.6)

tune.Tuner(trial, tune_config=tune.TuneConfig("loss", "min"), run_config=train.RunConfig(name="live")).fit()
"""


def test_a_terminal_has_a_line_that_moves(tmp_path):
    shown = shown_on_a_terminal(LIVE, {"HEADWAY_STORAGE": str(tmp_path), "TERM": "xterm"})
    assert "\r1 running, 0 of 1 ended | " in shown
    assert "\r\x1b[K" in shown
