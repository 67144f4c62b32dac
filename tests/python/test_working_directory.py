"""Where ranks work, and what becomes of the files that they write there."""

import glob
import os
import pathlib
import signal
import stat
import subprocess
import sys

import processes
import pytest
from headway import train

pytestmark = pytest.mark.both_starts


def fit_in(tmp_path, loop, workers=2, sync=None, config=None, **options):
    return train.DataParallelTrainer(
        loop,
        train_loop_config=config,
        scaling_config=train.ScalingConfig(num_workers=workers),
        run_config=train.RunConfig(name="run", storage_path=tmp_path / "storage", sync_config=sync, **options),
    ).fit()


def save(directory):
    os.makedirs(directory, exist_ok=True)
    with open(os.path.join(directory, "state"), "w") as file:
        file.write("s")
    return train.Checkpoint.from_directory(directory)


def test_ranks_share_a_directory_that_is_not_the_driver_s_and_goes_when_it_is_empty(tmp_path, staging):
    def loop():
        assert os.getcwd() == train.get_context().get_trial_dir()
        open(f"rank_{train.get_context().get_world_rank()}", "w").close()
        train.report({})
        seen = sorted(os.listdir())
        train.report({})
        os.remove(f"rank_{train.get_context().get_world_rank()}")
        return seen, os.getcwd()

    seen, directory = fit_in(tmp_path, loop).return_value
    assert seen == ["rank_0", "rank_1"]
    assert directory.startswith(os.path.join(staging, "working_dirs", "run") + "/")
    assert not os.path.exists(directory)


DIES = """
import os, signal
from headway import train

def loop(config):
    if config["name"] == "writes":
        open("notes.txt", "w").close()
    train.report({})
    print("at work", flush=True)
    signal.pause()

name = os.environ["NAME"]
config = {"name": name}
train.DataParallelTrainer(loop, train_loop_config=config, run_config=train.RunConfig(name=name)).fit()
"""


def test_what_a_killed_driver_and_its_guard_left_empty_goes_with_the_next_start_and_nothing_else(
    script, tmp_path, staging
):
    def left_of(name):
        return [path for path in pathlib.Path(staging, "working_dirs", name).glob("*") if path.is_dir()]

    for name in ("writes", "empty"):  # The second one's start sweeps already.
        driver = script.start(DIES, NAME=name).process.pid
        script.wait_for("at work")
        (guard,) = (pid for pid in processes.children(driver) if processes.is_guard(pid))
        os.kill(guard, signal.SIGSTOP)  # It would clean up.
        os.kill(driver, signal.SIGKILL)
        os.kill(guard, signal.SIGKILL)
        status, output = script.finish()
        assert status == 137, output
        assert processes.wait_gone(script.processes, 10) == {}
    (empty,), (written,) = left_of("empty"), left_of("writes")

    def loop(config):
        other = "from headway import train; train.DataParallelTrainer(print).fit()"
        subprocess.run(
            [sys.executable, "-c", other], check=True, env={**os.environ, "HEADWAY_STORAGE": config["storage"]}
        )
        # It raises when the other driver has removed this directory, which is empty too.
        return os.getcwd()

    assert fit_in(tmp_path, loop, 1, config={"storage": script.storage}).return_value
    assert not empty.parent.exists()
    assert [path.name for path in written.parent.iterdir()] == [written.name], "no lock is left"
    assert [path.name for path in written.iterdir()] == ["notes.txt"]


def test_files_stay_after_the_run_and_a_notice_says_where(tmp_path, capfd):
    def loop():
        with open("notes.txt", "w") as file:
            file.write("mine")
        return os.getcwd()

    directory = fit_in(tmp_path, loop, 1).return_value
    with open(os.path.join(directory, "notes.txt")) as file:
        assert file.read() == "mine"
    assert f"is in {directory}" in capfd.readouterr().err


def test_files_stay_when_the_run_fails_and_a_restart_finds_them(tmp_path):
    def loop():
        with open("lives", "a") as file:
            file.write("x")
        if os.path.getsize("lives") < 3:
            os.kill(os.getpid(), signal.SIGKILL)
        raise ValueError(os.getcwd())

    with pytest.raises(train.WorkerGroupError) as caught:
        fit_in(tmp_path, loop, 1, failure_config=train.FailureConfig(max_failures=2))
    directory = str(caught.value.worker_failures[0])
    assert os.listdir(directory) == ["lives"]


def test_artifacts_are_brought_with_a_checkpoint_and_at_the_end_and_the_directory_goes(tmp_path, storage):
    def loop(config):
        rank = train.get_context().get_world_rank()
        os.makedirs(f"plots/{rank}", exist_ok=True)
        with open(f"plots/{rank}/first.txt", "w") as file:
            file.write("first")
        train.report({}, checkpoint=save(config["local"]) if rank == 0 else None)
        if rank == 0:
            # The copy is made beside training; a watch on the folder tells when.
            watch = subprocess.Popen(
                ["sh", "-c", "until test -e $0/0/first.txt -a -e $0/1/first.txt; do :; done", config["plots"]]
            )
            assert watch.wait(60) == 0
        train.report({})
        with open(f"plots/{rank}/second.txt", "w") as file:
            file.write("second")
        return os.getcwd()

    plots = str(tmp_path / "storage" / "run" / "artifacts" / "plots")
    sync = train.SyncConfig(sync_artifacts=True)
    result = fit_in(tmp_path, loop, sync=sync, config={"local": str(tmp_path / "local"), "plots": plots})
    found = sorted(os.path.relpath(path, plots) for path in glob.glob(plots + "/*/*"))
    assert found == ["0/first.txt", "0/second.txt", "1/first.txt", "1/second.txt"]
    assert not os.path.exists(result.return_value)


def test_artifacts_of_a_run_that_fails_are_brought_too(tmp_path):
    def loop():
        with open("last_words.txt", "w") as file:
            file.write("nan")
        raise ValueError("diverged")

    with pytest.raises(train.WorkerGroupError, match="diverged"):
        fit_in(tmp_path, loop, 1, sync=train.SyncConfig(sync_artifacts=True))
    assert (tmp_path / "storage" / "run" / "artifacts" / "last_words.txt").read_text() == "nan"


def test_a_copy_that_fails_warns_and_the_run_and_the_files_stay(tmp_path, capfd):
    def loop(config):
        with open("notes.txt", "w") as file:
            file.write("mine")
        open(config["artifacts"], "w").close()
        return os.getcwd()

    config = {"artifacts": str(tmp_path / "storage" / "run" / "artifacts")}
    result = fit_in(tmp_path, loop, 1, sync=train.SyncConfig(sync_artifacts=True), config=config)
    assert os.listdir(result.return_value) == ["notes.txt"]
    assert "could not be brought to artifacts/" in capfd.readouterr().err


CHDIR_OFF = """
    import os
    from headway import train

    with open("data.txt", "w") as file:
        file.write("some data")

    def loop():
        assert open("data.txt").read() == "some data"
        directory = train.get_context().get_trial_dir()
        with open(os.path.join(directory, "artifact.txt"), "w") as file:
            file.write("here")
        return os.getcwd()

    sync = train.SyncConfig(sync_artifacts=True)
    result = train.DataParallelTrainer(loop, run_config=train.RunConfig(name="run", sync_config=sync)).fit()
    assert result.return_value == os.getcwd()
    with open(os.path.join(result.path, "artifacts", "artifact.txt")) as file:
        print("artifact:", file.read())
"""


@pytest.mark.parametrize("name", ["HEADWAY_CHDIR_TO_TRIAL_DIR", "RAY_CHDIR_TO_TRIAL_DIR"])
def test_ranks_can_stay_in_the_driver_s_directory(script, name):
    status, output = script.run(CHDIR_OFF, **{name: "0"})
    assert status == 0, output
    assert "artifact: here" in output


def test_a_relative_path_of_the_driver_s_directory_is_explained(script):
    (script.folder / "data.txt").write_text("some data")
    code = """
        from headway import train

        def loop(config):
            try:
                open(config["path"])
            except OSError as error:
                raise ValueError("no data") from error

        for path in ("data.txt", "other.txt"):
            try:
                train.DataParallelTrainer(loop, train_loop_config={"path": path}).fit()
            except train.WorkerGroupError as error:
                print(error)
    """
    status, output = script.run(code)
    assert status == 0, output
    notes = [line for line in output.splitlines() if "Note:" in line]
    assert len(notes) == 1, "only a file that is in the driver's directory is explained"
    assert f"data.txt is in {script.folder}, where fit() was called; ranks work in" in notes[0]
    assert "set HEADWAY_CHDIR_TO_TRIAL_DIR=0" in notes[0]


def test_modules_beside_the_script_are_found_from_ranks_and_from_what_they_start(script):
    (script.folder / "beside.py").write_text("value = 42")
    (script.folder / "below").mkdir()
    (script.folder / "below" / "deeper.py").write_text("value = 43")
    code = """
        import subprocess, sys
        sys.path[:0] = ["", "below"]
        from headway import train

        def loop():
            import beside, deeper
            child = subprocess.run([sys.executable, "-c", "import deeper; print(deeper.value)"], capture_output=True)
            return beside.value, deeper.value, int(child.stdout)

        print(train.DataParallelTrainer(loop).fit().return_value)
    """
    package = os.path.dirname(os.path.dirname(os.path.abspath(train.__path__[0])))
    status, output = script.run(code, PYTHONPATH=os.pathsep.join([package, "below"]))
    assert status == 0, output
    assert "(42, 43, 43)" in output


def test_the_default_place_is_a_directory_of_the_user_s_own(tmp_path, monkeypatch):
    monkeypatch.delenv("HEADWAY_STAGING_DIR")
    monkeypatch.setenv("TMPDIR", str(tmp_path))

    def loop():
        open("kept", "w").close()
        return os.getcwd()

    directory = fit_in(tmp_path, loop, 1).return_value
    place = tmp_path / f"headway-staging-{os.geteuid()}"
    assert directory.startswith(str(place) + "/working_dirs/run/")
    assert stat.S_IMODE(place.stat().st_mode) == 0o700


def test_a_place_that_cannot_be_used_is_named_before_workers_start(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HEADWAY_STAGING_DIR", str(tmp_path / "file"))
    with pytest.raises(OSError, match="set HEADWAY_STAGING_DIR to another directory"):
        fit_in(tmp_path, lambda: None)
    assert not (tmp_path / "storage").exists()


def test_a_relative_place_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("HEADWAY_STAGING_DIR", "below")
    with pytest.raises(ValueError, match="HEADWAY_STAGING_DIR must be an absolute path, and 'below' was given"):
        fit_in(tmp_path, lambda: None)
    assert not (tmp_path / "storage").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a directory away")
def test_a_default_place_that_is_another_user_s_is_refused(tmp_path, monkeypatch):
    monkeypatch.delenv("HEADWAY_STAGING_DIR")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    place = tmp_path / "headway-staging-0"
    place.mkdir()
    os.chown(place, 65534, 65534)
    with pytest.raises(OSError, match="is not this user's own"):
        fit_in(tmp_path, lambda: None)


def test_a_setting_that_is_neither_0_nor_1_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("HEADWAY_CHDIR_TO_TRIAL_DIR", "no")
    with pytest.raises(ValueError, match='HEADWAY_CHDIR_TO_TRIAL_DIR is "no" in the environment; allowed: 1'):
        fit_in(tmp_path, lambda: None)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sync_period": 0}, "SyncConfig.sync_period is 0; allowed: seconds, above 0"),
        ({"sync_timeout": float("nan")}, "SyncConfig.sync_timeout is nan"),
        ({"sync_period": "5"}, "SyncConfig.sync_period is '5'"),
        ({"sync_artifacts": 1}, "SyncConfig.sync_artifacts is 1"),
        ({"sync_artifacts_on_checkpoint": None}, "SyncConfig.sync_artifacts_on_checkpoint is None"),
    ],
)
def test_bad_sync_settings_are_refused(options, message):
    with pytest.raises((TypeError, ValueError)) as caught:
        train.SyncConfig(**options)
    assert message in str(caught.value)
