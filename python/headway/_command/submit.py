"""``headway submit``: a driver as a job of an engine's."""

from __future__ import annotations

import argparse
import os
import shlex
import threading
from typing import Any

from headway._engines.slurm_commands import Slurm, SlurmError
from headway._engines.slurm_options import check_slurm

_NOTICE_S = 60


def add_to(subjects: Any) -> None:
    """The subcommand and its arguments."""
    submit = subjects.add_parser(
        "submit",
        help="run a driver as a job",
        description="Submits a command, such as `python train.py`, as a job. A script that calls "
        'headway.init("slurm") uses the nodes of that job.',
    )
    submit.add_argument("--engine", required=True, choices=["slurm"], help="where")
    submit.add_argument("--nodes", type=int, default=1, help="nodes of the job (default: 1)")
    for name in ("partition", "account", "qos"):
        submit.add_argument(f"--{name}", help="as sbatch has it")
    submit.add_argument("--time", help="how long the job may take: minutes, or hours:minutes:seconds")
    submit.add_argument("--cpus-per-node", type=int, help="default: all, and no other job on these nodes")
    submit.add_argument("--gpus-per-node", type=int, help="default: none")
    submit.add_argument("--name", help="the job's name (default: headway)", default="headway")
    submit.add_argument("--output", help="where its output goes (default: headway-JOB.log in this folder)")
    submit.add_argument("--sbatch-arg", action="append", default=[], metavar="ARG", help="any other argument of sbatch")
    submit.add_argument("command", nargs=argparse.REMAINDER, metavar="-- COMMAND", help="the driver and its arguments")
    submit.set_defaults(run=_submit)


def _submit(options: argparse.Namespace) -> bool:
    command = options.command[1:] if options.command[:1] == ["--"] else options.command
    if not command:
        raise ValueError(
            "there is no COMMAND; allowed: a command, such as: headway submit --engine slurm -- python x.py"
        )
    names = ("nodes", "partition", "account", "qos", "time", "cpus_per_node", "gpus_per_node")
    given = {name: getattr(options, name) for name in names if getattr(options, name) is not None}
    try:
        node = check_slurm("slurm", {**given, "sbatch_args": options.sbatch_arg, "notice_s": _NOTICE_S})["node"]
    except TypeError as error:
        raise ValueError(str(error)) from None
    output = os.path.abspath(options.output or "headway-%j.log")
    arguments = [f"--nodes={options.nodes}", "--ntasks-per-node=1", f"--job-name={options.name}"]
    arguments += [f"--output={output}", f"--signal=B:TERM@{_NOTICE_S}", f"--chdir={os.getcwd()}"]
    arguments += [f"--{name}={node[name]}" for name in ("partition", "account", "qos", "time") if node[name]]
    cpus, gpus = node["cpus_per_node"], node["gpus_per_node"]
    arguments += [f"--cpus-per-task={cpus}" if cpus else "--exclusive", *([f"--gres=gpu:{gpus}"] if gpus else [])]
    # The job's shell is replaced by the driver, which so hears Slurm's signals.
    notice = f"export HEADWAY_NOTICE_PERIOD_S=${{HEADWAY_NOTICE_PERIOD_S:-{_NOTICE_S * 5 // 6}}}"
    script = f"#!/bin/sh\n{notice}\nexec {shlex.join(command)}\n"
    try:
        job = Slurm(threading.Event()).submit([*arguments, *node["sbatch_args"]], script)
    except SlurmError as error:
        raise ValueError(f"Slurm refuses the job: {error}") from None
    print(f"job {job} is submitted (scancel {job} ends it); its output: {output.replace('%j', job)}")
    return True
