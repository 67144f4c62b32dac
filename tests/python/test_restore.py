"""Trainer.restore and can_restore: a run is taken up from its folder alone."""

import json
import os
import pathlib
import signal
import threading

import headway
import pyarrow.fs
import pytest
from headway import train
from headway.train.torch import TorchConfig, TorchTrainer


def write_checkpoint(state):
    """A checkpoint of one small file, in a directory that report takes over."""
    import tempfile

    directory = tempfile.mkdtemp()
    with open(os.path.join(directory, "state.json"), "w") as file:
        json.dump(state, file)
    return train.Checkpoint(directory)


def read_checkpoint():
    checkpoint = train.get_checkpoint()
    if checkpoint is None:
        return None
    with checkpoint.as_directory() as directory, open(os.path.join(directory, "state.json")) as file:
        return json.load(file)


def fails_at_two(config):
    state = read_checkpoint()
    for epoch in range(state["epoch"] + 1 if state else 0, config["epochs"]):
        if epoch == 2 and config.get("fails", True):
            raise ValueError("bad batch")
        checkpoint = write_checkpoint({"epoch": epoch}) if train.get_context().get_world_rank() == 0 else None
        train.report({"epoch": epoch}, checkpoint=checkpoint, delete_local_checkpoint_after_upload=True)
    return state["epoch"] if state else None


@pytest.fixture
def failed(storage):
    """The folder of a run that has failed with two epochs done."""
    trainer = train.DataParallelTrainer(
        fails_at_two,
        train_loop_config={"epochs": 4},
        scaling_config=train.ScalingConfig(num_workers=2),
        run_config=train.RunConfig(name="run", storage_path=storage),
    )
    with pytest.raises(train.WorkerGroupError):
        trainer.fit()
    return os.path.join(storage, "run")


def epochs_of(folder):
    with open(os.path.join(folder, "result.json")) as lines:
        return [(line["attempt"], line["epoch"]) for line in map(json.loads, lines)]


def test_a_failed_run_is_restored_with_another_configuration(failed, capfd):
    trainer = train.DataParallelTrainer.restore(failed, train_loop_config={"epochs": 4, "fails": False})
    assert trainer.scaling_config.num_workers == 2
    result = trainer.fit()
    assert result.path == failed
    assert result.return_value == 1, "it has resumed from the newest checkpoint"
    assert epochs_of(failed) == [(1, 0), (1, 1), (2, 2), (2, 3)]
    told = capfd.readouterr().err
    assert f"Resuming the run in {failed} from checkpoint_000001, as attempt 2" in told
    assert "ValueError: bad batch" in told
    journal = json.loads((pathlib.Path(failed) / "run.json").read_text())
    assert journal["state"] == "finished"
    assert journal["attempt_ends"] == ["ValueError: bad batch", "every rank has finished"]
    assert journal["owner_epoch"] == 2


def test_the_function_and_its_configuration_come_back_and_fail_again_with_a_fresh_budget(failed):
    trainer = train.DataParallelTrainer.restore(
        failed, run_config=train.RunConfig(failure_config=train.FailureConfig(max_failures=1))
    )
    with pytest.raises(train.WorkerGroupError, match="ValueError: bad batch"):
        trainer.fit()
    journal = json.loads((pathlib.Path(failed) / "run.json").read_text())
    assert journal["attempt"] == 3
    assert journal["failures"] == 2


def test_the_function_may_be_replaced(failed):
    result = train.DataParallelTrainer.restore(failed, lambda config: config["epochs"]).fit()
    assert result.return_value == 4


def test_a_relative_path_another_directory_and_a_folder_that_has_moved(failed, tmp_path, monkeypatch):
    moved = tmp_path / "elsewhere" / "renamed"
    moved.parent.mkdir()
    os.rename(failed, moved)
    monkeypatch.chdir(tmp_path / "elsewhere")
    trainer = train.DataParallelTrainer.restore("renamed", train_loop_config={"epochs": 3, "fails": False})
    monkeypatch.chdir("/")
    result = trainer.fit()
    assert result.path == str(moved)
    assert result.checkpoint.path == str(moved / "checkpoint_000002")
    assert not os.path.exists(failed)


def test_a_function_that_cannot_be_loaded_may_be_given_anew(script, tmp_path):
    (tmp_path / "gone_module.py").write_text("def loop():\n    raise ValueError('bad batch')\n")
    status, output = script.run(
        """
        import gone_module
        from headway import train
        train.DataParallelTrainer(gone_module.loop, run_config=train.RunConfig(name="run")).fit()
        """
    )
    assert status == 1, output
    folder = os.path.join(script.storage, "run")
    with pytest.raises(RuntimeError) as caught:
        train.DataParallelTrainer.restore(folder)
    assert f"train_loop_per_worker of the run in {folder} cannot be loaded here" in str(caught.value)
    assert "gone_module" in str(caught.value)
    assert "DataParallelTrainer.restore(path, train_loop_per_worker=...)" in str(caught.value)
    assert train.DataParallelTrainer.restore(folder, lambda: "anew").fit().return_value == "anew"


class HoldsALock(train.BackendConfig):
    def __init__(self):
        import threading

        self.lock = threading.Lock()


def test_an_argument_that_could_not_be_stored_may_be_given_anew(fit, storage):
    fit(lambda: 1, workers=1, name="run", backend_config=HoldsALock())
    folder = os.path.join(storage, "run")
    with pytest.raises(RuntimeError, match=r"backend_config of the run in .* could not be stored"):
        train.DataParallelTrainer.restore(folder)
    train.DataParallelTrainer.restore(folder, backend_config=train.BackendConfig())


def test_what_can_be_restored(failed, storage, tmp_path):
    assert train.DataParallelTrainer.can_restore(failed)
    assert train.DataParallelTrainer.can_restore(pathlib.Path(failed))
    assert TorchTrainer.can_restore(failed)
    assert not train.DataParallelTrainer.can_restore(storage)
    assert not train.DataParallelTrainer.can_restore(tmp_path / "nowhere" / "at" / "all")
    assert not train.DataParallelTrainer.can_restore(os.path.join(failed, "run.json"))
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "run.json").write_text('{"my": "run"}')
    (tmp_path / "other" / "trainer.pkl").write_text("mine")
    assert not train.DataParallelTrainer.can_restore(tmp_path / "other")
    with pytest.raises(TypeError, match="path is 7"):
        train.DataParallelTrainer.can_restore(7)


def test_what_cannot_be_restored_is_named(failed, tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        train.DataParallelTrainer.restore(tmp_path / "nowhere")
    with pytest.raises(ValueError, match="a run of DataParallelTrainer; allowed: one of TorchTrainer"):
        TorchTrainer.restore(failed)
    with pytest.raises(ValueError, match=r"run_config\.name is 'other'"):
        train.DataParallelTrainer.restore(failed, run_config=train.RunConfig(name="other"))
    with pytest.raises(TypeError, match=r"datasets\['train'\] is <object .*; allowed: a headway.data.Dataset"):
        train.DataParallelTrainer.restore(failed, datasets={"train": object()})
    with pytest.raises(TypeError, match="path is 7"):
        train.DataParallelTrainer.restore(7)
    os.remove(os.path.join(failed, "trainer.pkl"))
    assert not train.DataParallelTrainer.can_restore(failed)
    with pytest.raises(FileNotFoundError, match="make its trainer anew"):
        train.DataParallelTrainer.restore(failed)


def test_a_torch_trainer_keeps_its_process_groups_settings(fit, storage):
    fit(lambda: 1, workers=1, name="run", trainer=TorchTrainer, torch_config=TorchConfig(timeout_s=77))
    restored = TorchTrainer.restore(os.path.join(storage, "run"))
    assert restored.backend_config == TorchConfig(timeout_s=77)
    given = TorchTrainer.restore(os.path.join(storage, "run"), torch_config=TorchConfig(timeout_s=5))
    assert given.backend_config.timeout_s == 5


def test_the_users_own_checkpoint_counts_until_the_run_has_one(storage, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "state.json").write_text('{"epoch": 1}')

    def loop(config):
        state = read_checkpoint()
        if config["fails"]:
            raise ValueError("before its first checkpoint")
        if state["epoch"] == 1:
            train.report({}, checkpoint=write_checkpoint({"epoch": 2}), delete_local_checkpoint_after_upload=True)
        return state["epoch"]

    folder = os.path.join(storage, "run")
    with pytest.raises(train.WorkerGroupError):
        train.DataParallelTrainer(
            loop,
            train_loop_config={"fails": True},
            run_config=train.RunConfig(name="run", storage_path=storage),
            resume_from_checkpoint=train.Checkpoint(str(tmp_path / "mine")),
        ).fit()
    for seen in (1, 2):
        restored = train.DataParallelTrainer.restore(folder, train_loop_config={"fails": False})
        assert restored.fit().return_value == seen


AUTO_RESUME = """
import os, sys, json, tempfile
from headway import train
from headway.train import DataParallelTrainer

def loop(config):
    first, checkpoint = 0, train.get_checkpoint()
    if checkpoint:
        with checkpoint.as_directory() as directory, open(os.path.join(directory, "epoch")) as file:
            first = int(file.read()) + 1
    for epoch in range(first, config["epochs"]):
        with tempfile.TemporaryDirectory() as directory:
            with open(os.path.join(directory, "epoch"), "w") as file:
                file.write(str(epoch))
            train.report({"epoch": epoch}, checkpoint=train.Checkpoint(directory))
        print("epoch", epoch, flush=True)

path = os.path.join(os.environ["HEADWAY_STORAGE"], "auto")
if DataParallelTrainer.can_restore(path):
    trainer = DataParallelTrainer.restore(path)
else:
    trainer = DataParallelTrainer(
        loop, train_loop_config={"epochs": 4}, run_config=train.RunConfig(name="auto")
    )
result = trainer.fit()
print("LAST", result.metrics["epoch"], len(result.metrics_dataframe))
"""


def test_the_pattern_that_resumes_by_itself(script):
    status, output = script.run(AUTO_RESUME, HEADWAY_FAULT_POINT="commit.answer:2")
    assert status == 137, output
    status, output = script.run(AUTO_RESUME)
    assert status == 0, output
    assert "LAST 3 4" in output
    assert "epoch 0" not in output


def test_the_journal_and_the_saved_trainer_hold_nothing_of_the_environment(script):
    secret = "hunter2-of-the-environment"
    script.run(AUTO_RESUME, SECRET=secret)
    folder = pathlib.Path(script.storage) / "auto"
    for name in ("run.json", "trainer.pkl", ".headway.owner"):
        assert secret.encode() not in (folder / name).read_bytes()


UNTIL_STOPPED = """
import os, threading
import headway
from headway import train

def loop():
    train.report({"epoch": 0})
    print("at work", flush=True)
    threading.Event().wait()

trainer = train.DataParallelTrainer(loop, run_config=train.RunConfig(name="run"))
"""


def test_the_saved_trainer_does_not_tell_how_its_storage_is_reached(tmp_path):
    base = tmp_path / "key-and-secret"
    base.mkdir()
    filesystem = pyarrow.fs.SubTreeFileSystem(str(base), pyarrow.fs.LocalFileSystem())
    where = train.RunConfig(name="run", storage_path="runs", storage_filesystem=filesystem)
    train.DataParallelTrainer(lambda: "done", run_config=where).fit()
    saved = (base / "runs" / "run" / "trainer.pkl").read_bytes()
    assert b"key-and-secret" not in saved
    restored = train.DataParallelTrainer.restore("runs/run", storage_filesystem=filesystem)
    assert restored.fit().return_value == "done"


def test_ctrl_c_leaves_a_run_to_go_on_with(script):
    script.start(UNTIL_STOPPED + "trainer.fit()\n")
    script.wait_for("at work")
    os.kill(script.process.pid, signal.SIGINT)
    status, output = script.finish()
    assert status == 130, output
    journal = json.loads((pathlib.Path(script.storage) / "run" / "run.json").read_text())
    assert (journal["state"], journal["abort_reason"]) == ("aborted", "Ctrl-C")
    folder = os.path.join(script.storage, "run")
    assert train.DataParallelTrainer.restore(folder, lambda: "gone on").fit().return_value == "gone on"


def test_shutdown_leaves_its_reason_and_a_run_to_go_on_with(storage, tmp_path, capfd):
    gate = tmp_path / "gate"
    os.mkfifo(gate)

    def loop(config):
        train.report({"epoch": 0})
        with open(config["gate"], "w") as opened:
            opened.write("at work")
        threading.Event().wait()

    run_config = train.RunConfig(name="run", storage_path=storage)
    trainer = train.DataParallelTrainer(loop, train_loop_config={"gate": str(gate)}, run_config=run_config)
    ended = []

    def fit_until_it_ends():
        try:
            trainer.fit()
        except RuntimeError as error:
            ended.append(str(error))

    thread = threading.Thread(target=fit_until_it_ends)
    thread.start()
    folder = pathlib.Path(storage) / "run"
    assert gate.read_text() == "at work"
    headway.shutdown()
    thread.join()
    assert ended == ["the shutdown of Headway ended the run"]
    journal = json.loads((folder / "run.json").read_text())
    assert (journal["state"], journal["abort_reason"]) == ("aborted", "the shutdown of Headway ended the run")
    assert journal["attempt_ends"] == ["the shutdown of Headway ended the run"]
    assert train.DataParallelTrainer.restore(folder, lambda: "gone on").fit().return_value == "gone on"
    assert "Why it had not finished: the shutdown of Headway ended the run" in capfd.readouterr().err
