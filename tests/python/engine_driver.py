"""What tests of all engines have in common: what their drivers run, and what must hold whoever
gives the nodes.
"""

import os
import signal
import textwrap
from pathlib import Path

import pytest

# Until it ends, whatever is killed on the way.
FIT = """
    def fit(loop, workers, **scaling):
        return train.DataParallelTrainer(
            loop,
            scaling_config=train.ScalingConfig(num_workers=workers, **scaling),
            run_config=train.RunConfig(
                name="run", storage_path=FOLDER + "/storage", failure_config=train.FailureConfig(max_failures=3)
            ),
        ).fit()
"""

# A driver's beginning; `start(**more)` is each engine's.
HELPERS = (
    FIT
    + """
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
"""
)

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


# Two workers that need no more than the engine's nodes.
WAITING = """
    start(PARTITION)
    fit(lambda: None, 2)
"""


# Each of three waits for the others.
TRIALS = """
    from headway import tune

    start(MORE)

    def trial(config):
        mark(f"trial{config['number']}")
        for number in range(3):
            wait_for(f"trial{number}")
        tune.report({"score": config["number"]})

    results = tune.Tuner(
        trial,
        param_space={"number": tune.grid_search([0, 1, 2])},
        run_config=tune.RunConfig(name="tuned", storage_path=FOLDER + "/storage"),
    ).fit()
    print("SCORES", sorted(each.metrics["score"] for each in results), flush=True)
"""


# Two workers, a node each, until they may end.
PAIR = """
    start(MORE)

    def loop():
        print("AT WORK", flush=True)
        wait_for("go")

    fit(loop, 2, placement_strategy="STRICT_SPREAD")
"""


class EngineDriver:
    """A driver script on a cluster; an engine's has ``start(code)`` and ``end()`` too."""

    def __init__(self, script, folder, cluster):
        self.script = script
        self.folder = folder
        self.cluster = cluster

    def start_steps(self, more=""):
        """Until rank 0 is at work."""
        self.start(STEPS.replace("MORE", more))
        self.script.wait_for("AT WORK")

    def finish(self):
        status, output = self.script.finish()
        assert status == 0, output
        return output

    def bridges(self):
        """The processes of bridges."""
        return [pid for pid, line in self.script.processes().items() if "_engines.__main__" in line]


def check_that_the_demo_learns_digits_on_three_nodes(driver, more=""):
    """With one changed line beside the number of workers; what was printed."""
    pytest.importorskip("torch")
    pytest.importorskip("sklearn")
    demo = (Path(__file__).parents[2] / "examples" / "digits.py").read_text()
    for line, changed in (("WORKERS = 2\n", "WORKERS = 3\n"), ("headway.init(", f"start({more}")):
        assert line in demo
        demo = demo.replace(line, changed)
    driver.start(textwrap.indent(demo, "    "))
    output = driver.finish()
    assert "From the kill until both workers had made a step again" in output
    driver.end()
    return output


def check_that_a_killed_driver_leaves_nothing(driver, number):
    driver.start_steps()
    os.kill(driver.script.process.pid, number)
    driver.script.finish()
    driver.end()


def check_that_a_stopped_driver_resumes_on_new_nodes(driver, agents):
    """``agents()``: the processes of agents."""
    driver.start_steps()
    (first,) = agents()
    os.kill(driver.script.process.pid, signal.SIGSTOP)
    # Nobody renews its lease: it ends its ranks and itself.
    driver.cluster.wait(lambda: first not in agents(), "end of the agent")
    os.kill(driver.script.process.pid, signal.SIGCONT)
    driver.script.wait_for("RESUMED")
    driver.finish()
    driver.end()


def check_that_a_new_bridge_finds_what_there_is(driver, allocations):
    """``allocations()``: the engine's own list of what the driver has."""
    driver.start_steps("idle_s=0")
    before = allocations()
    (first,) = driver.bridges()
    os.kill(first, signal.SIGKILL)
    driver.script.wait_for("it is started again")
    driver.cluster.wait(lambda: driver.bridges() not in ([], [first]), "second bridges")
    assert allocations() == before
    (driver.folder / "go").touch()
    assert "RESUMED" not in driver.finish()
    driver.end()


def check_that_trials_run_on_all_nodes_at_once(driver, more=""):
    driver.start(TRIALS.replace("MORE", more))
    assert "SCORES [0, 1, 2]" in driver.finish()
    driver.end()


def check_that_two_drivers_share_three_nodes(first, second, more=""):
    """The second one gets what the first one leaves, and nothing of the first one's."""
    first.start(PAIR.replace("MORE", more))
    first.script.wait_for("AT WORK", 2)
    second.start(PAIR.replace("MORE", more))
    second.script.wait_for(") has joined")
    (first.folder / "go").touch()
    assert "Restarting" not in first.finish()
    second.script.wait_for("AT WORK", 2)
    (second.folder / "go").touch()
    second.finish()
    first.end()
    second.end()
