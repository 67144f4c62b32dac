"""A run whose processes are killed at fault points, script after script, and what must be true of
it in the end.
"""

import json
import os
import pathlib
import select
import signal

import processes

EPOCHS = 5

# Each epoch's report has a checkpoint, of both ranks or of those that WRITERS names. What report
# has returned for is noted outside of the run's folder, and so is who runs.
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


class Folder:
    """A run's folder on a disk."""

    def __init__(self, path):
        self.path = pathlib.Path(path)

    def files(self):
        """The names of all files in it, with their directories, sorted; none when it is not
        there.
        """
        return sorted(str(path.relative_to(self.path)) for path in self.path.rglob("*") if path.is_file())

    def read(self, name):
        return (self.path / name).read_text()


class Runs:
    """The script, run again and again on one run's folder. ``env`` is what each of its drivers
    needs to get there.
    """

    def __init__(self, script, tmp_path, folder=None, **env):
        self.script = script
        self.folder = folder or Folder(os.path.join(script.storage, "run"))
        self.env = env
        self.temporary = tmp_path / "temporary"
        self.returned = tmp_path / "returned"
        self.scratch = tmp_path / "scratch"
        self.pids = tmp_path / "pids"
        for directory in (self.temporary, self.scratch, self.pids):
            directory.mkdir()

    def start(self, writers="01", **env):
        places = {"TMPDIR": self.temporary, "RETURNED": self.returned, "SCRATCH": self.scratch, "PIDS": self.pids}
        places = {name: str(place) for name, place in places.items()}
        return self.script.start(DRIVER, WRITERS=writers, **places, **self.env, **env)

    def end(self):
        status, output = self.script.finish()
        assert processes.wait_gone(self.script.processes, 10) == {}
        return status, output

    def again(self, **env):
        self.start(**env)
        return self.end()

    def kill(self, victim):
        """Kills ``rank_0``, ``rank_1`` or the ``factory`` that both come from; returns when it is
        dead.
        """
        rank, factory = map(int, (self.pids / victim.replace("factory", "rank_0")).read_text().split())
        victim_fd = os.pidfd_open(factory if victim == "factory" else rank)
        signal.pidfd_send_signal(victim_fd, signal.SIGKILL)
        assert select.select([victim_fd], [], [], 10)[0], f"{victim} outlives SIGKILL"
        os.close(victim_fd)

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

    def manifests(self):
        """The committed checkpoints' manifests, in order of commit."""
        found = [self.folder.read(name) for name in self.folder.files() if name.endswith("/.headway.json")]
        return sorted(map(json.loads, found), key=lambda manifest: manifest["index"])

    def committed(self):
        """The epochs of the committed checkpoints, in order of commit."""
        return [manifest["metrics"]["epoch"] for manifest in self.manifests()]

    def returned_epochs(self):
        return [int(line) for line in self.returned.read_text().split()] if self.returned.exists() else []

    def assert_nothing_lost(self):
        assert set(self.returned_epochs()) <= set(self.committed()), "what report had returned for is there"

    def goes_on(self, **env):
        status, output = self.again(**env)
        assert status == 0, output
        return output

    def lines(self):
        return [json.loads(line) for line in self.folder.read("result.json").splitlines()]


def assert_nothing_lost_and_nothing_twice(runs, kept=EPOCHS, writers="01"):
    lines = runs.lines()
    assert [line["epoch"] for line in lines] == list(range(EPOCHS)), "each epoch once: no commit was lost or repeated"
    assert [line["training_iteration"] for line in lines] == list(range(1, EPOCHS + 1))
    assert len({(line["attempt"], line["report_index"]) for line in lines}) == len(lines)
    assert len({line["trial_id"] for line in lines}) == 1
    returned = runs.returned_epochs()
    assert len(set(returned)) == len(returned), "a report that had returned was never made again"

    manifests = runs.manifests()
    assert runs.committed() == list(range(EPOCHS))[-kept:]
    committed = [manifest["checkpoint"] for manifest in manifests]
    assert [line["checkpoint_dir_name"] for line in lines][-kept:] == committed
    expected = {f"{name}/{file}" for name in committed for file in (".headway.json", *(f"rank_{r}" for r in writers))}
    # A begun marker beside a manifest means nothing: it is the last thing that a commit removes.
    left = {name for name in runs.folder.files() if name.startswith((".headway.part", ".headway.begun", "checkpoint_"))}
    assert {name for name in left if not name.endswith("/.headway.begun")} == expected, "no orphan is left"
    # The user's directory for downloads stays, empty.
    temporary = {str(path.relative_to(runs.temporary)) for path in runs.temporary.rglob("*")}
    assert temporary <= {f"headway-{os.getuid()}", f"headway-{os.getuid()}/downloads"}
    assert json.loads(runs.folder.read("run.json"))["state"] == "finished"
