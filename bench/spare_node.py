"""From the end of an agent until all ranks have stepped again, one of them on a spare node.

spare_node.py left|killed

Three agents have joined, and two ranks work on a node each. The agent of one leaves (Ctrl-C: it
ends its ranks and says so), or it is killed: then the next attempt waits until its lease, of two
seconds, has run out, as ranks of a node that is merely cut off would live until then.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import program

AGENTS = 3
WORKERS = 2
LEASE_S = 2


def loop(config: dict[str, Any]) -> None:
    import program
    from headway import train

    rank = train.get_context().get_world_rank()
    if train.get_checkpoint() is None:
        with tempfile.TemporaryDirectory() as folder:
            train.report({"back": 0}, checkpoint=train.Checkpoint.from_directory(folder) if rank == 0 else None)
        if rank == WORKERS - 1:
            program.note(config, "ended")
            if config["how"] == "killed":
                os.kill(agent_pid(), signal.SIGKILL)
            else:
                os.kill(agent_pid(), signal.SIGINT)
        threading.Event().wait()
    program.note(config, f"step_{rank}")
    train.report({"back": 1})


def agent_pid() -> int:
    """Of this rank's node, by what its factory was started with."""
    told = Path(f"/proc/{os.getppid()}/environ").read_bytes().split(b"\0")
    return int(next(line for line in told if line.startswith(b"HEADWAY_AGENT_PID=")).partition(b"=")[2])


def main(how: str) -> None:
    """Prints the seconds."""
    import headway
    from headway import train

    token = program.folder() / "token"
    headway.init(num_cpus=0, num_gpus=0, listen="127.0.0.1:0", token_file=str(token), node_lease_s=LEASE_S)
    join = ["--join", headway.join_address(), "--token-file", str(token), "--num-cpus", "1", "--num-gpus", "0"]
    agents = [
        subprocess.Popen([sys.executable, "-m", "headway.agent", *join], stderr=subprocess.DEVNULL)
        for _ in range(AGENTS)
    ]
    try:
        while headway.cluster_resources().get("CPU", 0) < AGENTS:
            assert all(agent.poll() is None for agent in agents), "an agent has ended before it joined"
            time.sleep(0.01)
        where = program.folder() / "run"
        where.mkdir()
        train.DataParallelTrainer(
            loop,
            train_loop_config={"folder": str(where), "how": how},
            scaling_config=train.ScalingConfig(
                num_workers=WORKERS, resources_per_worker={"CPU": 1}, placement_strategy="STRICT_SPREAD"
            ),
            run_config=train.RunConfig(
                storage_path=str(where), name="run", failure_config=train.FailureConfig(max_failures=1)
            ),
        ).fit()
        (ended,) = program.noted(where, "ended")
        program.finish(recovery_s=max(program.noted(where, "step_*")) - ended)
    finally:
        headway.shutdown()
        for agent in agents:
            agent.wait(30)


if __name__ == "__main__":
    main(sys.argv[1])
