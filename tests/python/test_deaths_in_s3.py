"""Drivers and ranks die by SIGKILL at each step of a commit to an object store, which knows no
rename.
"""

import signal

import object_store
import pytest
import texts
from dying import Runs, assert_nothing_lost_and_nothing_twice


class Folder:
    """A run's folder in the store."""

    def __init__(self, store, path):
        self.store = store
        self.path = path

    def files(self):
        return self.store.objects(self.path)

    def read(self, name):
        with self.store.filesystem().open_input_stream(f"{self.path}/{name}") as file:
            return file.read().decode()


@pytest.fixture(scope="module")
def s3():
    with object_store.serve() as store:
        yield store


@pytest.fixture
def runs(s3, script, tmp_path):
    path = f"runs/{script.mark}"
    env = {
        **object_store.CREDENTIALS,
        "HEADWAY_STORAGE": s3.url(path),
        "HEADWAY_STAGING_DIR": str(tmp_path / "staging"),
    }
    return Runs(script, tmp_path, Folder(s3, f"{path}/run"), **env)


# The first driver has committed one checkpoint when it dies in the second; those after it die in
# their first passage.
POINTS = [
    "remote.begin.marked:2 remote.sweep.removed_one remote.begin.free remote.commit.before journal.begin journal.end",
    "remote.commit.manifest_written:2 remote.commit.marker_removed commit.answer journal.begin:2 journal.end:2",
]


@pytest.mark.parametrize("points", POINTS)
def test_one_driver_after_another_dies(runs, points):
    for point in points.split():
        runs.dies_at(point)
    runs.goes_on()
    assert_nothing_lost_and_nothing_twice(runs)


def test_drivers_die_while_old_checkpoints_go(runs):
    for point in ("remote.remove.marked", "remote.remove.manifest_removed", "remote.tree_removed"):
        runs.dies_at(point, KEEP="1")
    runs.goes_on(KEEP="1")
    assert_nothing_lost_and_nothing_twice(runs, kept=1)


# The first upload of the first driver is let through, so that each of those that follow finds a
# checkpoint.
@pytest.mark.parametrize("writers", ["0", "01"])
def test_the_ranks_that_store_a_checkpoint_die_in_it(runs, writers):
    for step in ("remote.upload.directories_made:2", "remote.upload.one_sent:1"):
        status, output = runs.again(writers=writers, HEADWAY_FAULT_POINT=step)
        assert status == 1, f"{step}:\n{output}"
        assert texts.killed(9) in output
        assert runs.committed() == [0], step
    runs.goes_on(writers=writers)
    assert_nothing_lost_and_nothing_twice(runs, writers=writers)


def test_the_factory_dies_while_the_driver_commits(runs):
    for step in ("remote.begin.marked:2", "remote.commit.before:1", "remote.commit.manifest_written:1"):
        runs.fails_when_one_dies_at(step, "factory")
    runs.goes_on()
    assert_nothing_lost_and_nothing_twice(runs)


def test_lines_that_were_not_in_the_store_yet_are_there_after_the_next_driver_on_this_machine(s3, script, tmp_path):
    """A report without a checkpoint is brought to the store later, and the driver dies before."""
    env = {
        **object_store.CREDENTIALS,
        "HEADWAY_STORAGE": s3.url(f"runs/{script.mark}"),
        "HEADWAY_STAGING_DIR": str(tmp_path / "staging"),
    }
    code = """
        from headway import train
        def loop():
            for step in range(3):
                train.report({"step": step})
        result = train.DataParallelTrainer(loop, run_config=train.RunConfig(name="run")).fit()
        frame = result.metrics_dataframe
        print("rows", list(zip(frame["attempt"], frame["step"])))
    """
    script.start(code, HEADWAY_FAULT_POINT="result.end:3", **env)
    assert script.finish()[0] == 137
    script.start(code, **env)
    status, output = script.finish()
    assert status == 0, output
    assert "rows [(1, 0), (1, 1), (1, 2), (2, 0), (2, 1), (2, 2)]" in output


def test_a_killed_drivers_staging_is_removed_by_the_next_one(s3, script, tmp_path):
    root = tmp_path / "staging"
    code = f"""
        from headway import train
        def loop():
            train.report({{"step": 0}})
            print("reported")
            import signal; signal.pause()
        train.DataParallelTrainer(loop, run_config=train.RunConfig(storage_path="{s3.url("runs")}", name="%s")).fit()
    """
    env = {**object_store.CREDENTIALS, "HEADWAY_STAGING_DIR": str(root)}
    script.start(code % "killed", **env).wait_for("reported")
    left = {each.name for each in root.iterdir() if each.name not in ("working_dirs", "tmp")}
    assert len(left) == 2  # A directory and its lock.
    script.process.kill()
    script.finish()
    script.start(code % "next", **env).wait_for("reported")
    # The lines that were not brought to storage wait for a driver of their run.
    assert {path.name for each in left for path in (root / each).rglob("*")} <= {"result.json"}
    script.process.send_signal(signal.SIGINT)
    script.finish()
    script.start(code % "killed", **env).wait_for("reported")
    assert not left & {each.name for each in root.iterdir()}
    script.process.send_signal(signal.SIGINT)
    script.finish()
