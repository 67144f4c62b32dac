"""Drivers on the cluster of slurm_cluster.py, and what they have in common."""

import shlex
import sys
import textwrap

import processes

DRIVER = """
    import json, os, signal, sys, tempfile, threading, time
    import headway
    from headway import train

    def start(**more):
        more.setdefault("nodes", (0, 3))
        headway.init("slurm", token_file=FOLDER + "/token", node_lease_s=2, idle_s=more.pop("idle_s", 60), **more)

    def wait_for(path):
        while not os.path.exists(FOLDER + "/" + path):
            threading.Event().wait(0.02)

    def mark(path):
        open(FOLDER + "/" + path, "w").close()

    def save(step):
        directory = tempfile.mkdtemp()
        with open(os.path.join(directory, "step"), "w") as file:
            file.write(str(step))
        train.report({"step": step}, checkpoint=train.Checkpoint.from_directory(directory))

    def fit(loop, workers, **scaling):
        return train.DataParallelTrainer(
            loop,
            scaling_config=train.ScalingConfig(num_workers=workers, **scaling),
            run_config=train.RunConfig(
                name="run", storage_path=FOLDER + "/storage", failure_config=train.FailureConfig(max_failures=3)
            ),
        ).fit()
"""


class SlurmDriver:
    """A driver script on the cluster."""

    def __init__(self, script, folder, cluster):
        self.script = script
        self.folder = folder
        self.cluster = cluster

    def start(self, code):
        enter = (
            "    import ctypes\n"
            f"    ctypes.CDLL(None).setns(os.open('/proc/{self.cluster.holder.pid}/ns/net', os.O_RDONLY), 0)\n"
        )
        names = f"    import os\n    FOLDER = {str(self.folder)!r}\n"
        conf = self.cluster.environment["SLURM_CONF"]
        return self.script.start(names + enter + DRIVER + code, SLURM_CONF=conf)

    def write(self, code):
        """A script that Slurm is to start; the command for it."""
        path = self.folder / "script.py"
        path.write_text(textwrap.dedent(f"    FOLDER = {str(self.folder)!r}\n" + DRIVER + code))
        environment = self.script._environment()
        settings = [f"{name}={environment[name]}" for name in ("PYTHONPATH", "HEADWAY_STORAGE", processes.MARK)]
        self.command = shlex.join(["env", *settings, sys.executable, str(path)])

    def finish(self):
        status, output = self.script.finish()
        assert status == 0, output
        return output

    def end(self, idle=True):
        """Nothing is left: no process, no job; with ``idle`` all nodes are as before."""
        self.cluster.wait(lambda: not self.cluster.jobs(), "emptiness", 30)
        assert processes.wait_gone(self.script.processes, 30) == {}
        if idle:
            self.cluster.wait_idle()


# Rank 0's steps; a second attempt says so and ends when it may.
STEPS = """
    start(MORE)

    def loop():
        checkpoint = train.get_checkpoint()
        if checkpoint is not None:
            print("RESUMED", flush=True)
            return
        save(0)
        print("AT WORK", os.getppid(), flush=True)
        while not os.path.exists(FOLDER + "/go"):
            threading.Event().wait(0.02)
            if train.get_preemption_info():
                save(1)
                print("NOTICED", flush=True)
                threading.Event().wait()

    fit(loop, 1)
    mark("over")
"""


# Two workers that need no more than Slurm's nodes.
WAITING = """
    start(PARTITION)
    fit(lambda: None, 2)
"""


def hold_nodes(driver, count):
    """A job of somebody else's."""
    held = driver.cluster.run(
        "sbatch", "--parsable", f"-N{count}", "--exclusive", "--output=/dev/null", "--wrap", "exec tail -f /dev/null"
    ).strip()
    driver.cluster.wait(lambda: driver.cluster.jobs("RUNNING"), "running jobs")
    return held


def agents(driver):
    """The processes of agents."""
    found = driver.script.processes()
    return [pid for pid, line in found.items() if "headway.agent" in line and "srun" not in line]


def bridges(driver):
    return [pid for pid, line in driver.script.processes().items() if "_engines.__main__" in line]
