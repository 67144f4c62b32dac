"""Guards and factories that somebody has stopped (SIGSTOP): limits, and lines that name them."""

import os
import re
import signal

import processes
from headway import train
from headway.train import collective


def test_a_guard_that_is_stopped_does_not_keep_a_driver_from_ending(script):
    status, output = script.run(
        """
        import os, pathlib, signal
        from headway import train

        print("trained:", train.DataParallelTrainer(lambda: os.getppid()).fit().return_value)
        children = [path.read_text().split() for path in pathlib.Path("/proc/self/task").glob("*/children")]
        (guard,) = (int(pid) for some in children for pid in some)
        os.kill(guard, signal.SIGSTOP)
        print("guard", guard, flush=True)
        """
    )
    assert status == 0, output
    guard = re.search(r"guard (\d+)", output).group(1)
    assert f"headway: the guard of a worker factory (pid {guard}) has not ended 5 s after the order to end" in output
    assert processes.wait_gone(script.processes, 5) == {}


def test_a_factory_that_is_stopped_does_not_keep_a_run_from_its_end(fit, hears):
    ear = hears("has not answered for")

    def loop():
        train.report({"rank": train.get_context().get_world_rank()})
        collective.barrier()
        if train.get_context().get_world_rank() == 0:
            os.kill(os.getppid(), signal.SIGSTOP)
        return os.getppid()

    result = fit(loop)
    assert result.error is None
    assert f"the worker factory (pid {result.return_value}) has not answered for 5 s: it is stopped" in ear.heard
    assert fit(lambda: "again").return_value == "again"
