"""The driver, a rank or the worker factory dies by SIGKILL in a commit; the same script again
resumes the run.

Nothing is lost, nothing is twice, and nothing is left. All steps are in
tests/library/driver_deaths_test.cpp, whose drivers start in a tenth of the time; these few are for
what a Python driver has beside: its files, hooks and exit.
"""

import pytest
import texts
from dying import Runs, assert_nothing_lost_and_nothing_twice
from headway import train


@pytest.fixture
def runs(script, tmp_path):
    return Runs(script, tmp_path)


# The number is the passage: the journal is written before nodes are had, at an attempt's start, and
# at the end.
POINTS = ["prepare.found", "replace.renamed:5", "begin.renamed:2", "commit.manifest_renamed:2", "journal.end:3"]


@pytest.mark.parametrize("point", POINTS)
def test_the_driver_dies(runs, point):
    runs.dies_at(point)
    runs.goes_on()
    assert_nothing_lost_and_nothing_twice(runs)
    assert train.Result.from_path(runs.folder.path).metrics["done"] is True


def test_the_driver_dies_while_old_checkpoints_go(runs):
    runs.dies_at("remove.renamed:1", KEEP="1")
    runs.goes_on(KEEP="1")
    assert_nothing_lost_and_nothing_twice(runs, kept=1)


# In the second driver's start the first one's unfinished checkpoint is there, and a line that is
# torn. Until all that is there was found a driver changes nothing but that line, so several may die
# one after another.
RESTORE_POINTS = ["lease.taken prepare.results_cut prepare.found", "replace.renamed:3", "append.half:1"]


@pytest.mark.parametrize("points", RESTORE_POINTS)
def test_the_driver_dies_and_so_does_the_one_that_takes_the_run_up(runs, points):
    runs.dies_at("begin.renamed:3")
    lines = runs.folder.read("result.json").splitlines(keepends=True)
    # As if it had died between the second commit and the end of its line.
    (runs.folder.path / "result.json").write_text(lines[0] + lines[1][:40])
    for point in points.split():
        runs.dies_at(point)
    told = runs.goes_on()
    assert "Resuming the run in" in told
    assert "the driver ended before the run did" in told
    assert_nothing_lost_and_nothing_twice(runs)


@pytest.mark.parametrize("step", ["begin.renamed", "commit.answer"])
def test_other_processes_die_while_the_driver_is_at_a_step(runs, step):
    """One driver after another resumes the run, and each loses another process at this
    step.
    """
    runs.fails_when_one_dies_at(f"{step}:2", "rank_0")
    runs.fails_when_one_dies_at(f"{step}:1", "rank_1")
    runs.fails_when_one_dies_at(f"{step}:1", "factory")
    runs.goes_on()
    assert_nothing_lost_and_nothing_twice(runs)


# The first upload of the first driver is let through, so that each of those that follow finds a
# checkpoint.
UPLOAD_STEPS = ["upload.directories_made:2", "upload.files_synced:1"]


@pytest.mark.parametrize("writers", ["1", "01"])
def test_the_ranks_that_store_a_checkpoint_die_in_it(runs, writers):
    for step in UPLOAD_STEPS:
        status, output = runs.again(writers=writers, HEADWAY_FAULT_POINT=step)
        assert status == 1, f"{step}:\n{output}"
        assert texts.killed(9) in output
        assert runs.committed() == [0], step
    told = runs.goes_on(writers=writers)
    assert texts.killed(9) in told, "why the run had not finished"
    assert_nothing_lost_and_nothing_twice(runs, writers=writers)


def test_the_factory_dies_while_a_rank_stores_its_part(runs):
    for step in UPLOAD_STEPS:
        runs.start(writers="1", HEADWAY_FAULT_POINT=f"{step}:stop", HEADWAY_HANG_WARN_S="0.5")
        # That nothing happens is said with the reason.
        told = runs.script.wait_for("stopped (SIGSTOP)")
        runs.kill("factory")
        status, output = runs.end()
        assert status == 1, f"{step}:\n{told + output}"
        assert runs.committed() == [0], step
    runs.goes_on(writers="1")
    assert_nothing_lost_and_nothing_twice(runs, writers="1")


def test_the_script_of_a_complete_run_again_is_idempotent(runs):
    runs.goes_on()
    told = runs.goes_on()
    assert "is complete" in told
    assert f"Resuming from {runs.lines()[-1]['checkpoint_dir_name']}, as attempt 2" in told
    assert_nothing_lost_and_nothing_twice(runs)
