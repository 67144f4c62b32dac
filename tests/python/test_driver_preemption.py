"""SIGTERM to the driver is a notice: the ranks save a checkpoint, the run ends with that reason,
and the script that is started again resumes it.
"""

import json
import os
import pickle
import signal

import processes
import pytest
from headway import train

SIGTERM_STATUS = 128 + signal.SIGTERM

# Ranks train until they hear of a preemption, save once, and train on. The next start returns what
# it has found.
SAVING = """
import json, os, signal, subprocess, sys, tempfile, threading, time
from headway import train

def save(step):
    directory = tempfile.mkdtemp()
    with open(os.path.join(directory, "step"), "w") as file:
        file.write(str(step))
    train.report({"step": step}, checkpoint=train.Checkpoint.from_directory(directory))

def loop():
    rank = train.get_context().get_world_rank()
    checkpoint = train.get_checkpoint()
    if checkpoint:
        with checkpoint.as_directory() as directory, open(os.path.join(directory, "step")) as file:
            return {"resumed": int(file.read())}
    saved, step = SAVES == False, 0
    while True:
        info = train.get_preemption_info()
        if info and not saved:
            left_s = info.deadline_ms / 1000 - time.time()
            print("HEARD", rank, info.preempted_ranks, 0 < left_s <= 25, flush=True)
            save(step)
            saved = True
        if step == 1:
            print("AT WORK", flush=True)
        if info and info.deadline_ms / 1000 - time.time() < 23.9:
            print("ONE SECOND LATER", flush=True)
        step += 1
        threading.Event().wait(0.01)

def trainer(name="run", workers=2, **options):
    return train.DataParallelTrainer(
        loop,
        scaling_config=train.ScalingConfig(num_workers=workers),
        run_config=train.RunConfig(name=name, failure_config=train.FailureConfig(max_failures=3)),
        **options,
    )
"""


def program(rest="print(trainer().fit().return_value)\n", saves=True):
    return SAVING.replace("SAVES", str(saves)) + rest


def terminate(script, count=1):
    """Once the ranks are at work."""
    script.wait_for("AT WORK", count=count)
    os.kill(script.process.pid, signal.SIGTERM)


def journal_of(script, name="run"):
    with open(os.path.join(script.storage, name, "run.json")) as file:
        return json.load(file)


@pytest.mark.both_starts
def test_the_ranks_save_a_checkpoint_the_run_ends_with_that_reason_and_the_next_start_resumes(script):
    script.start(program())
    terminate(script, 2)
    status, output = script.finish(20)
    assert status == SIGTERM_STATUS, output
    assert "headway: The driver received SIGTERM: the run ends within 25.0 s, or as soon as a" in output
    assert "(rank 0) HEARD 0 [0, 1] True" in output
    assert "(rank 1) HEARD 1 [0, 1] True" in output
    reason = "preempted: the driver received SIGTERM; checkpoint_000000 was saved after that, in attempt 1"
    assert output.splitlines()[-1] == (
        f"headway: {reason}; what was reported so far is in {script.storage}/run; "
        "the same name and storage path resume the run"
    )
    assert "Traceback" not in output
    assert processes.wait_gone(script.processes, 2) == {}
    journal = journal_of(script)
    assert (journal["state"], journal["failure_kind"], journal["preemptions"]) == ("errored", "preempted", 1)
    assert journal["attempt_ends"] == [reason]
    step = journal["checkpoints"][0]["metrics"]["step"]
    status, output = script.run(program())
    assert status == 0, output
    assert f"Why it had not finished: {reason}" in output
    assert f"{{'resumed': {step}}}" in output


def test_fit_raises_an_error_that_a_script_may_catch(script):
    script.start(
        program(
            """
try:
    trainer().fit()
except train.PreemptionError as error:
    print("CAUGHT", error.of_driver, error.drain_timed_out, error.preemption_info.preempted_ranks)
stored = train.Result.from_path(os.path.join(os.environ["HEADWAY_STORAGE"], "run")).error
print("STORED", type(stored).__name__, stored.of_driver)
"""
        )
    )
    terminate(script, 2)
    status, output = script.finish(20)
    assert status == 0, output
    assert "CAUGHT True False [0, 1]" in output
    assert "STORED PreemptionError True" in output


def test_the_deadline_ends_ranks_that_do_not_ask(script):
    script.start(program(saves=False), HEADWAY_NOTICE_PERIOD_S="0.5")
    terminate(script, 2)
    status, output = script.finish(20)
    assert status == SIGTERM_STATUS, output
    reason = "preempted: the driver received SIGTERM; ranks were still at work at the deadline, in attempt 1"
    assert journal_of(script)["attempt_ends"] == [reason]
    assert processes.wait_gone(script.processes, 2) == {}


def test_a_second_sigterm_ends_the_run_at_once(script):
    script.start(program(saves=False))
    terminate(script, 2)
    script.wait_for("ONE SECOND LATER")
    os.kill(script.process.pid, signal.SIGTERM)
    status, output = script.finish(15)
    assert status == SIGTERM_STATUS, output
    assert journal_of(script)["attempt_ends"] == [
        "preempted: the driver received SIGTERM; a second one came, in attempt 1"
    ]
    assert processes.wait_gone(script.processes, 2) == {}


def test_ctrl_c_meanwhile_ends_the_run_at_once(script):
    script.start(program(saves=False))
    terminate(script, 2)
    script.wait_for("The driver received SIGTERM")
    os.kill(script.process.pid, signal.SIGINT)
    status, output = script.finish(15)
    assert status == 128 + signal.SIGINT, output
    assert journal_of(script)["state"] == "aborted"


def test_a_handler_of_the_script_is_left_alone(script):
    script.start(
        program(
            """
def handle(number, frame):
    print("HANDLED", flush=True)

signal.signal(signal.SIGTERM, handle)
handle_of_run = trainer().start()
while not handle_of_run.done:
    signal.pause()
    handle_of_run.stop("SIGTERM")
    print(handle_of_run.wait().return_value)
print(signal.getsignal(signal.SIGTERM) is handle)
"""
        )
    )
    terminate(script, 2)
    status, output = script.finish(20)
    assert status == 0, output
    assert "HANDLED" in output
    assert "The driver received SIGTERM" not in output
    assert output.endswith("True\n")


def test_each_run_of_the_driver_has_the_notice_on_whatever_thread_it_is_served(script):
    script.start(
        program(
            """
runs = {name: trainer(name, 1).start() for name in ("one", "two")}
for name, run in runs.items():
    try:
        run.wait()
    except train.PreemptionError as error:
        print("ENDED", name, error.of_driver)
try:
    trainer("three").fit()
except train.PreemptionError as error:
    print("THREE", str(error).splitlines()[0])
"""
        )
    )
    terminate(script, 2)
    status, output = script.finish(30)
    assert status == 0, output
    assert "ENDED one True" in output
    assert "ENDED two True" in output
    # Nothing begins in a process that is to end.
    assert "THREE preempted: the driver received SIGTERM; no rank was training" in output


def test_a_function_that_returns_meanwhile_has_finished(script):
    script.start(
        """
        import threading
        from headway import train

        def loop():
            print("AT WORK", flush=True)
            while train.get_preemption_info() is None:
                threading.Event().wait(0.01)
            return "through"

        print(train.DataParallelTrainer(loop, scaling_config=train.ScalingConfig(num_workers=2)).fit().return_value)
        """
    )
    terminate(script, 2)
    status, output = script.finish(20)
    assert status == 0, output
    assert "through" in output


@pytest.mark.parametrize("saves", [True, False], ids=["asks", "does_not_ask"])
def test_in_local_mode_the_process_ends_too(script, saves):
    script.start(
        program("trainer(workers=0).fit()\n", saves=saves) if saves else BUSY_LOCAL, HEADWAY_NOTICE_PERIOD_S="2"
    )
    terminate(script)
    status, output = script.finish(20)
    assert status == SIGTERM_STATUS, output
    why = "checkpoint_000000 was saved after that" if saves else "ranks were still at work at the deadline"
    reason = f"preempted: the driver received SIGTERM; {why}, in attempt 1"
    assert f"headway: {reason}; what was reported so far is in {script.storage}/run;" in output
    assert journal_of(script)["attempt_ends"] == [reason]


BUSY_LOCAL = """
import threading
from headway import train

def loop():
    print("AT WORK", flush=True)
    threading.Event().wait()

scaling, run = train.ScalingConfig(num_workers=0), train.RunConfig(name="run")
train.DataParallelTrainer(loop, scaling_config=scaling, run_config=run).fit()
"""


def test_a_process_that_the_script_has_forked_ends_by_its_own_sigterm(script):
    status, output = script.run(
        """
        import multiprocessing, signal, threading
        from headway import train

        def loop():
            while True:
                if train.get_preemption_info():
                    return "preempted"
                if os.path.exists(DONE):
                    return "undisturbed"
                threading.Event().wait(0.01)

        import os
        DONE = os.path.abspath("done")
        run = train.DataParallelTrainer(loop).start()
        next(run.events())
        child = multiprocessing.get_context("fork").Process(target=signal.pause)
        child.start()
        child.terminate()
        child.join()
        open(DONE, "w").close()
        print(child.exitcode, run.wait().return_value)
        """
    )
    assert status == 0, output
    assert output.endswith(f"{-signal.SIGTERM} undisturbed\n")


def test_a_bad_notice_period_is_refused(script):
    status, output = script.run(program(), HEADWAY_NOTICE_PERIOD_S="soon")
    assert status == 1
    assert 'HEADWAY_NOTICE_PERIOD_S is "soon" in the environment; allowed: 0 (at once), or seconds up to' in output


def test_the_error_can_be_pickled():
    error = train.PreemptionError(train.PreemptionInfo(None, {"node-1": [0]}), of_driver=True)
    assert pickle.loads(pickle.dumps(error)).of_driver
