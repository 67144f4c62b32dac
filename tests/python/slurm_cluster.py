"""A Slurm cluster on this machine: slurmctld and several slurmd in a network namespace.
``scripts/slurm_servers.sh`` installs the programs.
"""

import contextlib
import ctypes
import os
import shutil
import signal
import socket
import subprocess

import pytest
from engine_cluster import EngineCluster

PROGRAMS = ("slurmctld", "slurmd", "munged", "sbatch", "unshare")
CPUS = 2

CONF = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.sock,cred_expire=10
SlurmctldPort=7817
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=2,sched_min_interval=0
ReturnToService=2
SlurmdTimeout=5
SlurmctldTimeout=30
InactiveLimit=0
KillWait=5
MinJobAge=60
WaitTime=0
JobRequeue=1
MessageTimeout=5
GresTypes=gpu
SlurmdParameters=config_overrides
{nodes}
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
PartitionName=first Nodes=n1 MaxTime=INFINITE State=UP
PartitionName=others Nodes={others} MaxTime=INFINITE State=UP
"""


def needed():
    """Skips the test where there is no Slurm, or no right to make a network namespace."""
    missing = [each for each in PROGRAMS if shutil.which(each) is None]
    if missing:
        pytest.skip(f"scripts/slurm_servers.sh installs Slurm: there is no {missing[0]}")
    if subprocess.run(["unshare", "-n", "true"], check=False, capture_output=True).returncode != 0:
        pytest.skip("no network namespace can be made here")


class SlurmCluster(EngineCluster):
    """Nodes n1, n2, ... with two CPUs and two GPUs each."""

    def __init__(self, folder, nodes=3):
        self.folder = str(folder)
        self.nodes = [f"n{number}" for number in range(1, nodes + 1)]
        self.holder = None

    def _start(self):
        os.makedirs(f"{self.folder}/state")
        devices = [f"{self.folder}/gpu{number}" for number in range(2)]
        for each in devices:
            open(each, "w").close()
        host = socket.gethostname()
        lines = [
            f"NodeName={name} NodeHostname={host} NodeAddr=127.0.0.1 Port={7820 + number} CPUs={CPUS} RealMemory=4000 "
            f"Gres=gpu:2 State=UNKNOWN"
            for number, name in enumerate(self.nodes, 1)
        ]
        self._write(
            "slurm.conf",
            CONF.format(host=host, folder=self.folder, nodes="\n".join(lines), others=",".join(self.nodes[1:])),
        )
        self._write("gres.conf", f"NodeName=n[1-{len(self.nodes)}] Name=gpu File={self.folder}/gpu[0-1]\n")
        with open(f"{self.folder}/munge.key", "wb") as file:
            file.write(os.urandom(128))
        os.chmod(f"{self.folder}/munge.key", 0o600)
        # It holds the namespace; munged and the others are started within.
        self.holder = subprocess.Popen(
            [
                "unshare",
                "-n",
                "sh",
                "-c",
                "ip link set lo up && ip addr add 10.77.0.1/32 dev lo && echo up && exec cat",
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        assert self.holder.stdout.readline() == b"up\n"
        self._start_servers()

    def _start_servers(self):
        munge = ["munged", "--force", f"--socket={self.folder}/munge.sock", f"--key-file={self.folder}/munge.key"]
        munge += [f"--{name}-file={self.folder}/munged.{name}" for name in ("pid", "seed", "log")]
        self.run(*munge)
        self.run("slurmctld", "-c")
        for name in self.nodes:
            self.start_slurmd(name)
        self.wait_idle()

    def wait_idle(self):
        """Until no node has a job, and none is out of service."""
        states = ("sinfo", "-h", "-N", "--partition=main", "-o", "%T %E")
        self.wait(lambda: self.run(*states).splitlines() == ["idle none"] * len(self.nodes), "idle nodes")

    def _write(self, name, text):
        with open(f"{self.folder}/{name}", "w") as file:
            file.write(text)

    def start_slurmd(self, name):
        os.makedirs(f"{self.folder}/spool/{name}", exist_ok=True)
        self.run("slurmd", "-N", name)

    @property
    def environment(self):
        return {**os.environ, "SLURM_CONF": f"{self.folder}/slurm.conf"}

    def enter(self):
        """In a child, before exec: it is in the namespace then."""
        with open(f"/proc/{self.holder.pid}/ns/net") as namespace:
            if ctypes.CDLL(None, use_errno=True).setns(namespace.fileno(), 0) != 0:
                raise OSError(ctypes.get_errno(), "setns")

    def run(self, *command, limit_s=60):
        """A command's output."""
        done = subprocess.run(
            command,
            env=self.environment,
            preexec_fn=self.enter,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
        return done.stdout

    def jobs(self, state=None):
        """The jobs that are not over, as ``squeue`` shows them: (number, state)."""
        lines = [line.split("|") for line in self.run("squeue", "-h", "--array", "-o", "%i|%T").splitlines()]
        return [(number, found) for number, found in lines if state in (None, found)]

    def _shown(self):
        return f": {self.jobs()}, {self.run('sinfo', '-N', '-o', '%N %T %E')}"

    def pid(self, name):
        """Of ``slurmctld``, or of ``slurmd.n1``."""
        with open(f"{self.folder}/{name}.pid") as file:
            return int(file.read())

    def signal(self, name, number):
        os.kill(self.pid(name), number)

    def renew(self):
        """Starts all servers again, without jobs and without what they remember."""
        self._kill_servers()
        for name in ("state", "spool"):
            shutil.rmtree(f"{self.folder}/{name}", ignore_errors=True)
        os.makedirs(f"{self.folder}/state")
        self._start_servers()

    def _kill_servers(self):
        for name in [*(f"slurmd.{each}" for each in self.nodes), "slurmctld", "munged"]:
            with contextlib.suppress(OSError, ValueError):
                pid = self.pid(name)
                os.kill(pid, signal.SIGCONT)
                os.kill(pid, signal.SIGKILL)
                os.remove(f"{self.folder}/{name}.pid")

    def __exit__(self, *exception):
        self._kill_servers()
        if self.holder is not None:
            self.holder.stdin.close()
            self.holder.stdout.close()
            self.holder.wait(10)
