"""The driver, a rank or the worker factory dies by SIGKILL at each step of a commit; the same script again goes on.

Nothing is lost, nothing is twice, and nothing is left.
"""

import json
import os
import pathlib
import signal

import processes
import pytest
from headway import _core, train

EPOCHS = 5

# Each epoch's report has a checkpoint, of both ranks or of those that WRITERS names. What report has returned for is
# noted outside of the run's folder, and so is who runs.
DRIVER = f"""
import os, tempfile
from headway import train

def loop(config):
    first, rank = 0, train.get_context().get_world_rank()
    with open(os.path.join(config["pids"], f"rank_{{rank}}"), "w") as file:
        file.write(f"{{os.getpid()}} {{os.getppid()}}")
    checkpoint = train.get_checkpoint()
    if checkpoint:
        with checkpoint.as_directory() as directory:
            with open(os.path.join(directory, "rank_" + config["writers"][0])) as file:
                first = int(file.read()) + 1
    for epoch in range(first, {EPOCHS}):
        with tempfile.TemporaryDirectory(dir=config["scratch"]) as directory:
            with open(os.path.join(directory, f"rank_{{rank}}"), "w") as file:
                file.write(str(epoch))
            writes = str(rank) in config["writers"]
            train.report({{"epoch": epoch}}, checkpoint=train.Checkpoint(directory) if writes else None)
        if rank == 0:
            with open(config["returned"], "a") as file:
                file.write(f"{{epoch}}\\n")

keep = os.environ.get("KEEP")
train.DataParallelTrainer(
    loop,
    train_loop_config={{name.lower(): os.environ[name] for name in ("SCRATCH", "RETURNED", "PIDS", "WRITERS")}},
    scaling_config=train.ScalingConfig(num_workers=2),
    run_config=train.RunConfig(
        name="run", checkpoint_config=train.CheckpointConfig(num_to_keep=int(keep) if keep else None)
    ),
).fit()
"""


class Runs:
    """The script, run again and again on one run's folder."""

    def __init__(self, script, tmp_path):
        self.script = script
        self.folder = pathlib.Path(script.storage) / "run"
        self.temporary = tmp_path / "temporary"
        self.returned = tmp_path / "returned"
        self.scratch = tmp_path / "scratch"
        self.pids = tmp_path / "pids"
        for directory in (self.temporary, self.scratch, self.pids):
            directory.mkdir()

    def start(self, writers="01", **env):
        places = {"TMPDIR": self.temporary, "RETURNED": self.returned, "SCRATCH": self.scratch, "PIDS": self.pids}
        places = {name: str(place) for name, place in places.items()}
        return self.script.start(DRIVER, WRITERS=writers, **places, **env)

    def end(self):
        status, output = self.script.finish()
        assert processes.wait_gone(self.script.processes, 10) == {}
        return status, output

    def again(self, **env):
        self.start(**env)
        return self.end()

    def kill(self, victim):
        """Kills ``rank_0``, ``rank_1`` or the ``factory`` that both come from."""
        rank, factory = map(int, (self.pids / victim.replace("factory", "rank_0")).read_text().split())
        os.kill(factory if victim == "factory" else rank, signal.SIGKILL)

    def dies_at(self, point, **env):
        status, output = self.again(HEADWAY_FAULT_POINT=point, **env)
        assert status == 137, f"the driver did not reach {point}:\n{output}"
        if "KEEP" not in env:
            self.assert_nothing_lost()

    def fails_when_one_dies_at(self, point, victim):
        """The driver stops at the point, and goes on when the victim is dead."""
        driver = self.start(HEADWAY_FAULT_POINT=f"{point}:stop").process.pid
        seen = os.waitid(os.P_PID, driver, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
        assert seen.si_code == os.CLD_STOPPED, f"the driver did not reach {point}:\n{self.end()[1]}"
        self.kill(victim)
        os.kill(driver, signal.SIGCONT)
        status, output = self.end()
        assert status == 1, output
        self.assert_nothing_lost()

    def committed(self):
        """The epochs of the committed checkpoints, in order of commit."""
        if not self.folder.exists():
            return []
        return [manifest["metrics"]["epoch"] for manifest in json.loads(_core.list_checkpoints(str(self.folder)))]

    def returned_epochs(self):
        return [int(line) for line in self.returned.read_text().split()] if self.returned.exists() else []

    def assert_nothing_lost(self):
        assert set(self.returned_epochs()) <= set(self.committed()), "what report had returned for is there"

    def goes_on(self, **env):
        status, output = self.again(**env)
        assert status == 0, output
        return output

    def lines(self):
        return [json.loads(line) for line in (self.folder / "result.json").read_text().splitlines()]


@pytest.fixture
def runs(script, tmp_path):
    return Runs(script, tmp_path)


def assert_nothing_lost_and_nothing_twice(runs, kept=EPOCHS, writers="01"):
    lines = runs.lines()
    assert [line["epoch"] for line in lines] == list(range(EPOCHS)), "each epoch once: no commit was lost or repeated"
    assert [line["training_iteration"] for line in lines] == list(range(1, EPOCHS + 1))
    assert len({(line["attempt"], line["report_index"]) for line in lines}) == len(lines)
    assert len({line["trial_id"] for line in lines}) == 1
    returned = runs.returned_epochs()
    assert len(set(returned)) == len(returned), "a report that had returned was never made again"

    manifests = json.loads(_core.list_checkpoints(str(runs.folder)))
    assert runs.committed() == list(range(EPOCHS))[-kept:]
    assert len({manifest["checkpoint"] for manifest in manifests}) == kept
    assert [line["checkpoint_dir_name"] for line in lines][-kept:] == [m["checkpoint"] for m in manifests]
    for manifest in manifests:
        files = {entry.name for entry in (runs.folder / manifest["checkpoint"]).iterdir()}
        # A begun marker beside a manifest means nothing: it is the last thing that a commit removes.
        assert files - {".headway.begun"} == {".headway.json", *(f"rank_{rank}" for rank in writers)}

    committed = {manifest["checkpoint"] for manifest in manifests}
    left = {entry.name for entry in runs.folder.iterdir() if entry.name.startswith((".headway.part", "checkpoint_"))}
    assert left == committed, "no orphan is left"
    assert list(runs.temporary.iterdir()) == []
    assert train.Result.from_path(runs.folder).metrics["done"] is True


# The number says at which passage: the journal is written before nodes are had, at an attempt's start, and at the end.
POINTS = [
    *("lease.taken", "lease.written", "prepare.found"),
    *(f"replace.written:{count}" for count in range(1, 6)),
    *(f"replace.renamed:{count}" for count in range(1, 6)),
    *(f"journal.begin:{count}" for count in range(1, 4)),
    *(f"journal.end:{count}" for count in range(1, 4)),
    *("begin.staged:2", "begin.marked:2", "begin.renamed:2"),
    *("commit.manifest_written:2", "commit.manifest_renamed:2", "commit.directories_synced:2"),
    *("commit.marker_removed:2", "commit.answer:2"),
    *("result.begin:2", "result.end:2", f"result.end:{EPOCHS}"),
    *(f"append.half:{count}" for count in range(1, 5)),  # A report has a line in result.json and a row in progress.csv.
]


@pytest.mark.parametrize("point", POINTS)
def test_the_driver_dies(runs, point):
    runs.dies_at(point)
    runs.goes_on()
    assert_nothing_lost_and_nothing_twice(runs)


@pytest.mark.parametrize("point", ["remove.renamed:1", "remove.synced:1", "commit.answer:3"])
def test_the_driver_dies_while_old_checkpoints_go(runs, point):
    runs.dies_at(point, KEEP="1")
    runs.goes_on(KEEP="1")
    assert_nothing_lost_and_nothing_twice(runs, kept=1)


# In the second driver's start the first one's unfinished checkpoint is there, and a line that is torn. Until
# all that is there was found a driver changes nothing but that line, so several may die one after another.
RESTORE_POINTS = [
    "lease.taken lease.written prepare.results_cut prepare.found",
    *("replace.written:1", "replace.renamed:3", "journal.begin:1", "journal.end:1", "journal.end:2"),
    *("sweep.removed_one", "remove.renamed:1", "append.half:1", "result.end:1"),
]


@pytest.mark.parametrize("points", RESTORE_POINTS)
def test_the_driver_dies_and_so_does_the_one_that_takes_the_run_up(runs, points):
    runs.dies_at("begin.renamed:3")
    lines = (runs.folder / "result.json").read_text().splitlines(keepends=True)
    # As if it had died between the second commit and the end of its line.
    (runs.folder / "result.json").write_text(lines[0] + lines[1][:40])
    for point in points.split():
        runs.dies_at(point)
    told = runs.goes_on()
    assert "Going on with the run in" in told
    assert "the driver ended before the run did" in told
    assert_nothing_lost_and_nothing_twice(runs)


STEPS = [
    *("begin.staged", "begin.marked", "begin.renamed"),
    *("commit.manifest_written", "commit.manifest_renamed", "commit.directories_synced", "commit.marker_removed"),
    *("commit.answer", "result.begin", "result.end"),
]


@pytest.mark.parametrize("step", STEPS)
def test_other_processes_die_while_the_driver_is_at_a_step(runs, step):
    """One driver after another goes on with the run, and each loses another process at this step."""
    runs.fails_when_one_dies_at(f"{step}:2", "rank_0")
    runs.fails_when_one_dies_at(f"{step}:1", "rank_1")
    runs.fails_when_one_dies_at(f"{step}:1", "factory")
    runs.goes_on()
    assert_nothing_lost_and_nothing_twice(runs)


# The first upload of the first driver is let through, so that each of those that follow finds a checkpoint.
UPLOAD_STEPS = [
    "upload.directories_made:2",
    "upload.file_copied:1",
    "upload.files_synced:1",
    "upload.directories_synced:1",
]


@pytest.mark.parametrize("writers", ["0", "1", "01"])
def test_the_ranks_that_store_a_checkpoint_die_in_it(runs, writers):
    for step in UPLOAD_STEPS:
        status, output = runs.again(writers=writers, HEADWAY_FAULT_POINT=step)
        assert status == 1, f"{step}:\n{output}"
        assert "was killed by SIGKILL" in output
        assert runs.committed() == [0], step
    told = runs.goes_on(writers=writers)
    assert "was killed by SIGKILL" in told, "why the run had not finished"
    assert_nothing_lost_and_nothing_twice(runs, writers=writers)


def test_the_factory_dies_while_a_rank_stores_its_part(runs):
    for step in UPLOAD_STEPS:
        runs.start(writers="1", HEADWAY_FAULT_POINT=f"{step}:stop", HEADWAY_HANG_WARN_S="0.5")
        told = runs.script.wait_for("stopped (SIGSTOP)")  # That nothing goes on is told with the reason.
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
    assert f"Going on from {runs.lines()[-1]['checkpoint_dir_name']}, as attempt 2" in told
    assert_nothing_lost_and_nothing_twice(runs)
