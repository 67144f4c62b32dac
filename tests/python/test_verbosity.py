"""What a run shows and keeps of its output: RunConfig's verbose and log_to_file, and the names of
older APIs.
"""

import os
import signal
import sys

import pytest
from headway import train


def fit_in(tmp_path, **options):
    def loop():
        print("hello from a rank")
        train.report({"loss": 0.5, "note": "a long text that fits in no column of the table"})

    config = train.RunConfig(name="run", storage_path=tmp_path / "storage", **options)
    return train.DataParallelTrainer(loop, run_config=config).fit()


def test_the_default_shows_the_table_and_the_output(tmp_path, capfd):
    fit_in(tmp_path)
    shown = capfd.readouterr().out
    assert "(rank 0) hello from a rank" in shown
    assert "loss" in shown
    assert "no column" not in shown


def test_0_shows_nothing_and_the_log_has_all(tmp_path, capfd):
    result = fit_in(tmp_path, verbose=0)
    assert capfd.readouterr().out == ""
    with open(os.path.join(result.path, "logs", "rank_0.log")) as log:
        assert log.read() == "hello from a rank\n"


def test_0_still_shows_warnings(tmp_path, capfd):
    config = train.RunConfig(storage_path=tmp_path / "storage", verbose=0)
    scaling = train.ScalingConfig(num_workers=os.cpu_count() + 1)
    train.DataParallelTrainer(lambda: None, run_config=config, scaling_config=scaling).fit()
    assert "headway: warning:" in capfd.readouterr().err


@pytest.mark.parametrize("verbose", [2, 3])
def test_2_and_3_show_reports_in_full(tmp_path, capfd, verbose):
    fit_in(tmp_path, verbose=verbose)
    lines = capfd.readouterr().out.splitlines()
    assert "(rank 0) hello from a rank" in lines
    assert "report 1:" in lines
    assert "  note: a long text that fits in no column of the table" in lines
    assert "  training_iteration: 1" in lines


def test_without_log_files_the_output_is_shown_all_the_same(tmp_path, capfd):
    result = fit_in(tmp_path, log_to_file=False)
    assert os.listdir(os.path.join(result.path, "logs")) == []
    assert "(rank 0) hello from a rank" in capfd.readouterr().out


def test_a_name_says_what_the_files_are_called(tmp_path):
    result = fit_in(tmp_path, log_to_file="train.log")
    with open(os.path.join(result.path, "logs", "rank_0.train.log")) as log:
        assert log.read() == "hello from a rank\n"


def test_two_names_keep_the_streams_apart_and_show_both(tmp_path, capfd):
    def loop():
        os.write(2, b"an error, written by C\n")
        print("a line of output")
        print("one of errors", file=sys.stderr)

    config = train.RunConfig(name="run", storage_path=tmp_path / "storage", log_to_file=("out.txt", "err.txt"))
    result = train.DataParallelTrainer(loop, run_config=config).fit()
    logs = os.path.join(result.path, "logs")
    assert sorted(os.listdir(logs)) == ["rank_0.err.txt", "rank_0.out.txt"]
    with open(os.path.join(logs, "rank_0.out.txt")) as log:
        assert log.read() == "a line of output\n"
    with open(os.path.join(logs, "rank_0.err.txt")) as log:
        assert log.read() == "an error, written by C\none of errors\n"
    shown = capfd.readouterr().out
    assert all(f"(rank 0) {line}\n" in shown for line in ("a line of output", "one of errors"))


def test_the_last_words_of_a_rank_that_dies_are_those_of_both_streams(tmp_path):
    def loop():
        print("going to die", file=sys.stderr)
        os.kill(os.getpid(), signal.SIGKILL)

    config = train.RunConfig(name="run", storage_path=tmp_path / "storage", log_to_file=("out", "err"))
    with pytest.raises(train.WorkerGroupError, match="going to die"):
        train.DataParallelTrainer(loop, run_config=config).fit()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"verbose": 4}, "RunConfig.verbose is 4; allowed: 0 (warnings)"),
        ({"verbose": "all"}, "RunConfig.verbose is 'all'"),
        (
            {"log_to_file": "logs/out.txt"},
            "RunConfig.log_to_file is 'logs/out.txt'; allowed: True, False, a file's name",
        ),
        ({"log_to_file": ("out", "out")}, "RunConfig.log_to_file is ('out', 'out'); allowed: True, False, a file's"),
        ({"log_to_file": ("out", 1)}, "a name in RunConfig.log_to_file is 1"),
        ({"log_to_file": ("a", "b", "c")}, "RunConfig.log_to_file is ('a', 'b', 'c')"),
        ({"log_to_file": 1}, "RunConfig.log_to_file is 1"),
        (
            {"local_dir": "/tmp/results"},
            "RunConfig.local_dir is '/tmp/results'; allowed: None (storage_path says where",
        ),
        ({"sync_config": {}}, "RunConfig.sync_config is {}"),
    ],
)
def test_a_bad_setting_is_refused_by_name(options, message):
    with pytest.raises((TypeError, ValueError)) as caught:
        train.RunConfig(**options)
    assert message in str(caught.value)


def test_the_older_variable_is_explained(monkeypatch):
    monkeypatch.setenv("RAY_AIR_LOCAL_CACHE_DIR", "/tmp/cache")
    with pytest.warns(UserWarning, match="RAY_AIR_LOCAL_CACHE_DIR has no effect: storage_path says where results go"):
        train.RunConfig()
