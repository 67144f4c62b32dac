"""Seconds of training in mid-run, start-up not counted: with a framework in a library's workers, or
started by the framework's own launcher.

launchers.py headway|ray|alone lightning|transformers|xgboost|lightgbm STEPS

Alone, Lightning starts its second rank by itself, Transformers runs under torchrun, and the ranks
of XGBoost and LightGBM are two processes that are given each other's addresses.
"""

from __future__ import annotations

import multiprocessing
import os
import socket
import sys
import time

import program
from first_step import threads
from frameworks import ALONE, Place, train_function, trainer_kind

WARM_UP_STEPS = 10


class Clock:
    """The time of each step, and the CPU time that this process had used by then."""

    def __init__(self):
        self.times = []
        self.cpu_times = []

    def __call__(self):
        self.times.append(time.perf_counter())
        self.cpu_times.append(time.process_time())

    def training_s(self):
        return self.times[-1] - self.times[WARM_UP_STEPS - 1]

    def cpu_s(self):
        return self.cpu_times[-1] - self.cpu_times[WARM_UP_STEPS - 1]


def loop_of(train):
    """The training function, which names what trains, as a script's own does."""

    def loop(config):
        context = program.train_module(config["library"]).get_context()
        train_and_note(train, config, Place(context.get_world_rank(), context.get_world_size()))

    return loop


def train_and_note(train, config, place):
    clock = Clock()
    train(config["library"], place, WARM_UP_STEPS + config["steps"], clock)
    assert len(clock.times) == WARM_UP_STEPS + config["steps"], "the ranks have made another number of steps"
    program.note(config, f"training_{place.rank}", clock.training_s())
    program.note(config, f"cpu_{place.rank}", clock.cpu_s())
    program.note(config, f"threads_{place.rank}", threads())


def run_alone(train, config):
    """Returns whether this process is the one that started the ranks, or the first of them."""
    if config["framework"] == "transformers":
        place = Place(int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]))
        train_and_note(train, config, place)
        return place.rank == 0
    if config["framework"] == "lightning":
        # Lightning runs this script once more, with this variable.
        place = Place(int(os.environ.get("LOCAL_RANK", 0)), program.WORKERS)
        train_and_note(train, config, place)
        return place.rank == 0
    {"xgboost": start_xgboost, "lightgbm": start_lightgbm}[config["framework"]](config)
    return True


def start_xgboost(config):
    from xgboost.tracker import RabitTracker

    tracker = RabitTracker(host_ip="127.0.0.1", n_workers=program.WORKERS, sortby="task")
    tracker.start()
    join([(config, rank, tracker.worker_args()) for rank in range(program.WORKERS)], rank_of_xgboost)


def rank_of_xgboost(config, rank, arguments):
    import xgboost

    with xgboost.collective.CommunicatorContext(**arguments, dmlc_task_id=f"{rank:08d}"):
        train_and_note(train_function("xgboost", ALONE), config, Place(rank, program.WORKERS))


def start_lightgbm(config):
    held = [socket.create_server(("127.0.0.1", 0)) for _ in range(program.WORKERS)]
    ports = [each.getsockname()[1] for each in held]
    for each in held:
        each.close()
    machines = {"machines": ",".join(f"127.0.0.1:{port}" for port in ports), "num_machines": len(ports)}
    networks = [{**machines, "local_listen_port": port} for port in ports]
    join([(config, rank, network) for rank, network in enumerate(networks)], rank_of_lightgbm)


def rank_of_lightgbm(config, rank, network):
    train_and_note(train_function("lightgbm", ALONE), config, Place(rank, program.WORKERS, network))


def join(arguments, target):
    """Runs ``target`` in a new process for each of the arguments, until all have ended."""
    spawn = multiprocessing.get_context("spawn")
    processes = [spawn.Process(target=target, args=each) for each in arguments]
    for each in processes:
        each.start()
    for each in processes:
        each.join()
    assert not any(each.exitcode for each in processes), "a rank has failed"


def main(library, framework, steps):
    steps = max(WARM_UP_STEPS, round(int(steps) * program.size()))
    config = {"framework": framework, "steps": steps, "library": library, "folder": str(program.folder())}
    train = train_function(framework, library)
    if library == ALONE:
        if not run_alone(train, config):
            return
    else:
        program.fit(library, trainer_kind(framework), loop_of(train), config, program.folder())
    figures = {name: program.noted(program.folder(), f"{name}_0")[0] for name in ("training", "cpu", "threads")}
    program.finish(training_s=figures["training"], cpu_s=figures["cpu"], threads=figures["threads"])


if __name__ == "__main__":
    main(*sys.argv[1:])
