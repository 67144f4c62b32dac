"""Drivers on the cluster of slurm_cluster.py, and what they have in common."""

import shlex
import sys
import textwrap

import processes
from engine_driver import HELPERS, EngineDriver

DRIVER = (
    """
    import json, os, re, signal, sys, tempfile, threading, time
    import headway
    from headway import train

    def start(**more):
        more.setdefault("nodes", (0, 3))
        headway.init("slurm", token_file=FOLDER + "/token", node_lease_s=2, idle_s=more.pop("idle_s", 60), **more)

"""
    + HELPERS
)


class SlurmDriver(EngineDriver):
    """A driver script on the cluster."""

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

    def end(self, idle=True):
        """Nothing is left: no process, no job; with ``idle`` all nodes are as before."""
        self.cluster.wait(lambda: not self.cluster.jobs(), "emptiness", 30)
        assert processes.wait_gone(self.script.processes, 30) == {}
        if idle:
            self.cluster.wait_idle()


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
