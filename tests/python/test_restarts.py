"""Restarts: how many failures a run survives, where it resumes, and what is recorded of each
attempt.
"""

import json
import os

import pytest
import texts
from headway import train


def save_and_fail_at(config):
    """Counts to ``config["epochs"]`` with a checkpoint each; fails once at each epoch of
    ``config["fail_at"]``.
    """
    import os
    import signal
    import tempfile

    first = 0
    checkpoint = train.get_checkpoint()
    if checkpoint is not None:
        with checkpoint.as_directory() as directory, open(os.path.join(directory, "epoch")) as file:
            first = int(file.read()) + 1
    rank = train.get_context().get_world_rank()
    for epoch in range(first, config["epochs"]):
        mark = os.path.join(train.get_context().get_trial_dir(), f"failed_at_{epoch}")
        if rank == 0 and epoch in config["fail_at"] and not os.path.exists(mark):
            open(mark, "w").close()
            if config["how"] == "raise":
                raise ValueError(f"epoch {epoch}")
            os.kill(os.getpid(), signal.SIGKILL)
        with tempfile.TemporaryDirectory() as directory:
            if rank == 0:
                with open(os.path.join(directory, "epoch"), "w") as file:
                    file.write(str(epoch))
            train.report({"epoch": epoch}, checkpoint=train.Checkpoint(directory) if rank == 0 else None)
    return first


@pytest.mark.parametrize("how", ["raise", "kill"])
def test_a_run_goes_on_from_the_newest_checkpoint(fit, how, capfd):
    result = fit(save_and_fail_at, config={"epochs": 5, "fail_at": [2, 4], "how": how}, max_failures=2)
    assert result.return_value == 4
    assert result.metrics["epoch"] == 4
    assert result.metrics["training_iteration"] == 5
    assert result.metrics["iterations_since_restore"] == 1
    with open(os.path.join(result.path, "result.json")) as lines:
        recorded = [(line["attempt"], line["epoch"]) for line in map(json.loads, lines)]
    assert recorded == [(1, 0), (1, 1), (2, 2), (2, 3), (3, 4)]
    assert len({checkpoint.path for checkpoint, _ in result.best_checkpoints}) == 5
    told = capfd.readouterr().err
    assert "Restarting the worker group (failure 1 of 2 allowed) from checkpoint_000001" in told
    assert "Restarting the worker group (failure 2 of 2 allowed) from checkpoint_000003" in told
    assert ("ValueError: epoch 2" if how == "raise" else texts.killed(9)) in told


def test_the_journal_says_that_the_run_is_running_while_it_is(fit):
    def loop():
        import tempfile

        # Committed, so that all that was written before it is there.
        with tempfile.TemporaryDirectory() as directory:
            train.report({"x": 1}, checkpoint=train.Checkpoint.from_directory(directory))
        path = train.get_context().get_storage().experiment_fs_path
        with open(os.path.join(path, "run.json")) as file:
            journal = json.load(file)
        return [journal["state"], journal["attempt"]]

    result = fit(loop, workers=1, name="run")
    assert result.return_value == ["running", 1]
    with open(os.path.join(result.path, "run.json")) as file:
        assert json.load(file)["state"] == "finished"


def test_one_failure_more_than_allowed_ends_the_run(fail, storage):
    config = {"epochs": 5, "fail_at": [1, 2], "how": "raise"}
    error = fail(save_and_fail_at, config=config, max_failures=1, name="run")
    assert str(error).startswith("ValueError: epoch 2\n")
    assert "attempt 2" in str(error)
    with open(os.path.join(storage, "run", "run.json")) as file:
        journal = json.load(file)
    assert journal["state"] == "errored"
    assert journal["failures"] == 2
    assert journal["attempt_ends"] == ["ValueError: epoch 1", "ValueError: epoch 2"]
    assert [entry["name"] for entry in journal["checkpoints"]] == ["checkpoint_000000", "checkpoint_000001"]


def test_epochs_run_again_appear_again_with_their_attempt(fit):
    def loop():
        mark = os.path.join(train.get_context().get_trial_dir(), "failed")
        for epoch in range(3):
            train.report({"epoch": epoch})
        if not os.path.exists(mark):
            if train.get_context().get_world_rank() == 1:
                open(mark, "w").close()
                raise RuntimeError("once")
            train.report({"epoch": 3})

    frame = fit(loop, max_failures=-1).metrics_dataframe
    assert list(zip(frame["attempt"], frame["epoch"], strict=True)) == [
        (1, 0), (1, 1), (1, 2), (2, 0), (2, 1), (2, 2),
    ]  # fmt: skip
    assert list(frame["training_iteration"]) == [1, 2, 3, 4, 5, 6]


def test_a_restart_without_a_checkpoint_begins_with_the_one_to_resume_from(fit, tmp_path):
    (tmp_path / "old").mkdir()

    def loop():
        mark = os.path.join(train.get_context().get_trial_dir(), "failed")
        if not os.path.exists(mark):
            open(mark, "w").close()
            raise RuntimeError("once")
        return train.get_checkpoint().path

    old = train.Checkpoint(tmp_path / "old")
    result = fit(loop, workers=1, max_failures=1, resume_from_checkpoint=old)
    assert result.return_value == str(tmp_path / "old")


def test_the_trial_and_the_folder_stay_the_same_over_a_restart(fit):
    def loop():
        context = train.get_context()
        with open(os.path.join(context.get_trial_dir(), "ids"), "a") as file:
            file.write(f"{context.get_trial_id()} {os.getpid()}\n")
        with open(os.path.join(context.get_trial_dir(), "ids")) as file:
            lines = file.readlines()
        if len(lines) == 1:
            raise RuntimeError("once")
        return [line.split() for line in lines]

    (first, first_pid), (second, second_pid) = fit(loop, workers=1, max_failures=1).return_value
    assert first == second
    assert first_pid != second_pid


def test_the_logs_of_both_attempts_are_kept_in_order(fit):
    def loop():
        mark = os.path.join(train.get_context().get_trial_dir(), "failed")
        print("attempt 2" if os.path.exists(mark) else "attempt 1")
        if not os.path.exists(mark):
            open(mark, "w").close()
            raise RuntimeError("once")

    result = fit(loop, workers=1, max_failures=1)
    with open(os.path.join(result.path, "logs", "rank_0.log")) as log:
        text = log.read()
    assert text.index("attempt 1") < text.index("attempt 2")


def test_a_failing_set_up_counts_as_a_failure(fit):
    class Hooks(train.Backend):
        def on_start(self, worker_group, backend_config):
            backend_config.starts += 1
            if backend_config.starts == 1:
                raise ConnectionError("no route")

    class Config(train.BackendConfig):
        starts = 0

        @property
        def backend_cls(self):
            return Hooks

    config = Config()
    assert fit(lambda: "through", backend_config=config, max_failures=1).return_value == "through"
    assert config.starts == 2


def test_a_worker_that_dies_during_set_up_is_named(fail):
    class Hooks(train.Backend):
        def on_start(self, worker_group, backend_config):
            worker_group.execute_single(1, os._exit, 4)

    class Config(train.BackendConfig):
        @property
        def backend_cls(self):
            return Hooks

    error = fail(lambda: None, backend_config=Config())
    assert error.worker_failures[1].exit_code == 4
    assert "rank 1" in str(error)
