"""Validations outlive the driver: what was asked for is validated by the next one."""

import os
import signal

import processes
from headway import train

DRIVER = """
import os, signal, tempfile
from headway import train

def validate(checkpoint, bonus=0):
    if os.environ.get("WAIT"):
        print("validating", checkpoint.path, flush=True)
        signal.pause()
    with checkpoint.as_directory() as directory, open(os.path.join(directory, "value")) as file:
        return {"score": int(file.read()) + bonus}

def loop():
    if train.get_checkpoint() is not None:
        return
    for value in (5, 9, 7):
        with tempfile.TemporaryDirectory() as directory:
            with open(os.path.join(directory, "value"), "w") as file:
                file.write(str(value))
            asked = {"validation": train.ValidationTaskConfig(fn_kwargs={"bonus": 100})}
            if os.environ["FORM"] == "older":
                own = lambda checkpoint, config: validate(checkpoint, **config)
                asked = {"validate_fn": own, "validate_config": {"bonus": 100}}
            train.report({"value": value}, train.Checkpoint(directory), **asked)

config = train.ValidationConfig(validate) if os.environ["FORM"] == "newer" else None
result = train.DataParallelTrainer(
    loop,
    run_config=train.RunConfig(
        name="run",
        checkpoint_config=train.CheckpointConfig(num_to_keep=1, checkpoint_score_attribute="score"),
    ),
    validation_config=config,
).fit()
print("scores", [metrics["score"] for _, metrics in result.best_checkpoints])
"""


def killed_and_again(script, form):
    script.start(DRIVER, WAIT="1", FORM=form)
    script.wait_for("waiting for the validation of checkpoint_000000, checkpoint_000001, checkpoint_000002")
    os.kill(script.process.pid, signal.SIGKILL)
    script.finish()
    assert processes.wait_gone(script.processes, 10) == {}
    assert len(train.Result.from_path(f"{script.storage}/run").best_checkpoints) == 3, (
        "none goes before its score is known"
    )
    status, output = script.run(DRIVER, FORM=form)
    assert status == 0, output
    assert "scores [109, 107]" in output, output
    again = train.Result.from_path(f"{script.storage}/run")
    assert [metrics["score"] for _, metrics in again.best_checkpoints] == [109, 107]
    assert processes.wait_gone(script.processes, 10) == {}


def test_the_driver_is_killed_while_checkpoints_wait(script):
    killed_and_again(script, "newer")


def test_the_older_form_s_function_outlives_the_driver_too(script):
    killed_and_again(script, "older")


def test_ctrl_c_ends_a_validation_and_the_next_driver_begins_it_again(script):
    script.start(DRIVER, WAIT="1", FORM="newer")
    script.wait_for("waiting for the validation of")
    os.kill(script.process.pid, signal.SIGINT)
    status, output = script.finish()
    assert status != 0
    assert "headway: aborted after" in output
    assert processes.wait_gone(script.processes, 10) == {}
    status, output = script.run(DRIVER, FORM="newer")
    assert status == 0, output
    assert "scores [109, 107]" in output
