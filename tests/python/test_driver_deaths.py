"""The driver dies by SIGKILL at each of its steps; the same script again goes on. Nothing is lost, nothing is twice."""

import json
import pathlib

import processes
import pytest
from headway import _core, train

EPOCHS = 4

# Each epoch's report has a checkpoint of both ranks. What report has returned for is noted outside of the run's folder.
DRIVER = f"""
import os, tempfile
from headway import train

def loop(config):
    first, rank = 0, train.get_context().get_world_rank()
    checkpoint = train.get_checkpoint()
    if checkpoint:
        with checkpoint.as_directory() as directory, open(os.path.join(directory, "rank_0")) as file:
            first = int(file.read()) + 1
    for epoch in range(first, {EPOCHS}):
        with tempfile.TemporaryDirectory(dir=config["scratch"]) as directory:
            with open(os.path.join(directory, f"rank_{{rank}}"), "w") as file:
                file.write(str(epoch))
            train.report({{"epoch": epoch}}, checkpoint=train.Checkpoint(directory))
        if rank == 0:
            with open(config["returned"], "a") as file:
                file.write(f"{{epoch}}\\n")

keep = os.environ.get("KEEP")
train.DataParallelTrainer(
    loop,
    train_loop_config={{"scratch": os.environ["SCRATCH"], "returned": os.environ["RETURNED"]}},
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
        self.temporary.mkdir()
        self.scratch.mkdir()

    def again(self, **env):
        places = {"TMPDIR": self.temporary, "RETURNED": self.returned, "SCRATCH": self.scratch}
        status, output = self.script.run(DRIVER, **{name: str(place) for name, place in places.items()}, **env)
        assert processes.wait_gone(self.script.processes, 10) == {}
        return status, output

    def dies_at(self, point, **env):
        status, output = self.again(HEADWAY_FAULT_POINT=point, **env)
        assert status == 137, f"the driver did not reach {point}:\n{output}"

    def goes_on(self, **env):
        status, output = self.again(**env)
        assert status == 0, output
        return output

    def lines(self):
        return [json.loads(line) for line in (self.folder / "result.json").read_text().splitlines()]


@pytest.fixture
def runs(script, tmp_path):
    return Runs(script, tmp_path)


def assert_nothing_lost_and_nothing_twice(runs, kept=EPOCHS):
    lines = runs.lines()
    assert [line["epoch"] for line in lines] == list(range(EPOCHS)), "each epoch once: no commit was lost or repeated"
    assert [line["training_iteration"] for line in lines] == list(range(1, EPOCHS + 1))
    assert len({(line["attempt"], line["report_index"]) for line in lines}) == len(lines)
    assert len({line["trial_id"] for line in lines}) == 1
    returned = [int(line) for line in runs.returned.read_text().split()]
    assert len(set(returned)) == len(returned), "a report that had returned was never made again"

    manifests = json.loads(_core.list_checkpoints(str(runs.folder)))
    assert [manifest["metrics"]["epoch"] for manifest in manifests] == list(range(EPOCHS))[-kept:]
    assert len({manifest["checkpoint"] for manifest in manifests}) == kept
    assert [line["checkpoint_dir_name"] for line in lines][-kept:] == [m["checkpoint"] for m in manifests]
    for manifest in manifests:
        files = {entry.name for entry in (runs.folder / manifest["checkpoint"]).iterdir()}
        # A begun marker beside a manifest means nothing: it is the last thing that a commit removes.
        assert files - {".headway.begun"} == {".headway.json", "rank_0", "rank_1"}

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
    *("result.begin:2", "result.end:2", "result.end:4"),
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


# In the second driver's start the first one's unfinished checkpoint is there, and a line that is torn.
RESTORE_POINTS = [
    *("lease.taken", "lease.written", "prepare.found", "prepare.results_cut"),
    *("replace.written:1", "replace.renamed:3", "journal.begin:1", "journal.end:1", "journal.end:2"),
    *("sweep.removed_one", "remove.renamed:1", "append.half:1", "result.end:1"),
]


@pytest.mark.parametrize("point", RESTORE_POINTS)
def test_the_driver_dies_and_so_does_the_one_that_takes_the_run_up(runs, point):
    runs.dies_at("begin.renamed:3")
    lines = (runs.folder / "result.json").read_text().splitlines(keepends=True)
    # As if it had died between the second commit and the end of its line.
    (runs.folder / "result.json").write_text(lines[0] + lines[1][:40])
    runs.dies_at(point)
    told = runs.goes_on()
    assert "Going on with the run in" in told
    assert "the driver ended before the run did" in told
    assert_nothing_lost_and_nothing_twice(runs)


@pytest.mark.parametrize(
    "point",
    ["upload.directories_made:2", "upload.file_copied:3", "upload.files_synced:2", "upload.directories_synced:3"],
)
def test_the_ranks_die_in_an_upload_and_the_run_fails(runs, point):
    status, output = runs.again(HEADWAY_FAULT_POINT=point)
    assert status == 1, output
    assert "was killed by SIGKILL" in output
    told = runs.goes_on()
    assert "was killed by SIGKILL" in told, "why the run had not finished"
    assert_nothing_lost_and_nothing_twice(runs)


def test_the_script_of_a_complete_run_again_is_idempotent(runs):
    runs.goes_on()
    told = runs.goes_on()
    assert "is complete" in told
    assert f"Going on from {runs.lines()[-1]['checkpoint_dir_name']}, as attempt 2" in told
    assert_nothing_lost_and_nothing_twice(runs)
