"""Validation of checkpoints beside the training: its metrics, its order, and what becomes of those
that fail.
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest
import texts
from headway import train
from headway.train import (
    Checkpoint,
    CheckpointConfig,
    CheckpointConsistencyMode,
    ReportedCheckpointStatus,
    Result,
    ValidationConfig,
    ValidationTaskConfig,
)


def save(value):
    directory = tempfile.mkdtemp()
    Path(directory, "value").write_text(str(value))
    return Checkpoint.from_directory(directory)


def load(checkpoint):
    with checkpoint.as_directory() as directory:
        return int(Path(directory, "value").read_text())


def report(metrics, value, **options):
    """A report with a checkpoint that is handed over."""
    train.report(metrics, save(value), delete_local_checkpoint_after_upload=True, **options)


def score(checkpoint, factor=10, **others):
    return {"score": factor * load(checkpoint), **others}


def loop(config):
    for value in config["values"]:
        report({"value": value}, value, validation=True)


def kept(result):
    return [metrics for _, metrics in result.best_checkpoints]


@pytest.fixture
def gate(tmp_path):
    """A pipe with a name: who opens it for reading waits until somebody opens it for writing."""
    path = tmp_path / "gate"
    os.mkfifo(path)
    return str(path)


def test_metrics_are_merged_into_the_checkpoint_s_and_win(fit):
    def loop():
        report({"loss": 2.0, "epoch": 0}, 7, validation=True)

    def validate(checkpoint):
        print("looking at", checkpoint.path)
        return {"loss": 1.0, "score": load(checkpoint), "pid": os.getpid(), "parent": os.getppid()}

    result = fit(loop, workers=1, validation_config=ValidationConfig(validate))
    metrics = kept(result)[0]
    assert {**metrics, "pid": 0, "parent": 0} == {"loss": 1.0, "epoch": 0, "score": 7, "pid": 0, "parent": 0}
    assert os.getpid() not in (metrics["pid"], metrics["parent"])
    assert (result.metrics["score"], result.metrics["report_index"]) == (7, 0)
    again = Result.from_path(result.path)
    assert kept(again) == kept(result)
    assert again.metrics["score"] == 7
    assert [list(result.metrics_dataframe[name]) for name in ("loss", "epoch")] == [[2.0], [0]]
    log = Path(result.path, "logs", "validation_checkpoint_000000.log")
    assert log.read_text() == f"looking at {result.checkpoint.path}\n"


def test_its_output_is_shown_with_the_checkpoint_s_name(fit, capsys):
    def validate(checkpoint):
        print("hello from here")
        return {"third": 1 / 3, "epoch": 2}

    fit(loop, workers=1, config={"values": [1]}, validation_config=ValidationConfig(validate))
    told = capsys.readouterr()
    assert "(validation of checkpoint_000000) hello from here" in told.out
    assert re.search(r"checkpoint_000000 is validated after \d+\.\d s: third=0\.333333, epoch=2\n", told.err)


def test_training_goes_on_meanwhile(fit, gate):
    def loop():
        report({"step": 0}, 1, validation=True)
        train.report({"step": 1})
        with open(gate, "w") as file:
            file.write("go on")

    def validate(checkpoint):
        with open(gate) as file:
            return {"heard": file.read()}

    result = fit(loop, workers=1, validation_config=ValidationConfig(validate))
    assert kept(result) == [{"step": 0, "heard": "go on"}]
    assert result.metrics["step"] == 1
    assert "heard" not in result.metrics, "the last report has no checkpoint"


def test_a_report_s_arguments_go_over_the_trainer_s(fit):
    def loop():
        report({}, 1, validation=True)
        report({}, 2, validation=ValidationTaskConfig(fn_kwargs={"factor": 3, "note": ["own"]}))
        report({}, 3)

    defaults = ValidationTaskConfig(fn_kwargs={"factor": 2, "split": "test"})
    result = fit(loop, workers=1, validation_config=ValidationConfig(score, defaults))
    assert kept(result) == [
        {"score": 2, "split": "test"},
        {"score": 6, "split": "test", "note": ["own"]},
        {},
    ]


class Split:
    """Something that JSON does not have."""

    def __init__(self, size):
        self.size = size


def test_arguments_may_be_whatever_can_be_pickled(fit):
    def validate(checkpoint, split, pair):
        return {"size": split.size, "pair": f"{type(pair).__name__} of {len(pair)}"}

    def loop(config):
        report({}, 1, validation=True)
        report({}, 2, validation=ValidationTaskConfig(fn_kwargs={"split": config["split"]}))

    defaults = ValidationTaskConfig(fn_kwargs={"split": Split(10), "pair": (1, 2)})
    result = fit(loop, workers=1, config={"split": Split(20)}, validation_config=ValidationConfig(validate, defaults))
    assert [metrics["size"] for metrics in kept(result)] == [10, 20]
    assert {metrics["pair"] for metrics in kept(result)} == {"tuple of 2"}


def test_an_argument_that_cannot_be_pickled_is_named_before_anything_starts(fit, storage):
    defaults = ValidationTaskConfig(fn_kwargs={"lock": threading.Lock()})
    with pytest.raises(TypeError, match=r"validation_config.task_config.fn_kwargs\['lock'\] is a _thread.lock"):
        fit(loop, workers=1, config={"values": [1]}, validation_config=ValidationConfig(score, defaults))
    assert not Path(storage).exists()

    def asks():
        with pytest.raises(TypeError, match=r"Make it inside the validation function instead"):
            report({}, 1, validation=ValidationTaskConfig(fn_kwargs={"lock": threading.Lock()}))

    fit(asks, workers=1, validation_config=ValidationConfig(score))


def test_the_older_form(fit):
    def loop(config):
        scale = config["scale"]

        def validate(checkpoint, config):
            return {"score": load(checkpoint) * scale + config.get("offset", 0)}

        report({}, 1, validate_fn=validate, validate_config={"offset": 5})
        report({}, 2, validate_fn=validate)

    result = fit(loop, workers=1, config={"scale": 100})
    assert kept(result) == [{"score": 105}, {"score": 200}]


def test_rank_zero_asks(fit):
    def loop():
        rank = train.get_context().get_world_rank()
        report({"of": "rank 1"}, rank, checkpoint_dir_name="a", validation=rank == 1)
        report({"of": "rank 0"}, rank, checkpoint_dir_name="b", validation=rank == 0)

    result = fit(loop, validation_config=ValidationConfig(lambda checkpoint: {"checked": True}))
    assert kept(result) == [{"of": "rank 1"}, {"of": "rank 0", "checked": True}]


def test_all_ranks_may_make_the_same_call_though_one_alone_has_a_checkpoint(fit):
    def loop(config):
        rank = train.get_context().get_world_rank()
        checkpoint = save(3) if rank == 0 else None
        train.report({}, checkpoint, checkpoint_dir_name="newer", validation=True)
        checkpoint = save(4) if rank == 0 else None
        asked = {
            "validate_fn": lambda checkpoint, config: score(checkpoint, **config),
            "validate_config": {"factor": 1},
        }
        train.report({}, checkpoint, checkpoint_dir_name="older", **asked)

    result = fit(loop, validation_config=ValidationConfig(score))
    assert [(os.path.basename(each.path), found) for each, found in result.best_checkpoints] == [
        ("newer", {"score": 30}),
        ("older", {"score": 4}),
    ]


def test_the_best_by_a_validated_metric_are_kept(fit):
    keep = CheckpointConfig(num_to_keep=2, checkpoint_score_attribute="score")
    config = {"values": [3, 9, 1, 8, 2]}
    result = fit(loop, workers=1, config=config, keep=keep, validation_config=ValidationConfig(score))
    assert [metrics["score"] for metrics in kept(result)] == [90, 80, 20], "the best two, and the newest"
    names = {path.name for path in Path(result.path).glob("checkpoint_*")}
    assert names == {"checkpoint_000001", "checkpoint_000003", "checkpoint_000004"}
    assert result.get_best_checkpoint("score", "max").path.endswith("checkpoint_000001")


def test_several_at_a_time(fit, gate):
    def loop():
        report({}, 0, validation=True)
        report({}, 1, validation=True)

    def validate(checkpoint):
        # One can go on only while the other is there.
        with open(gate, "w" if load(checkpoint) else "r"):
            return {"met": True}

    result = fit(loop, workers=1, validation_config=ValidationConfig(validate, max_concurrent=2))
    assert kept(result) == [{"met": True}, {"met": True}]


def test_fit_waits_for_the_last_one(fit, hears, gate):
    def validate(checkpoint):
        with open(gate) as file:
            return {"heard": file.read()}

    def open_gate(text):
        with open(gate, "w") as file:
            file.write("at last")

    ear = hears("waiting for the validation of checkpoint_000000", open_gate)
    result = fit(loop, workers=1, config={"values": [1]}, validation_config=ValidationConfig(validate))
    assert kept(result)[0]["heard"] == "at last"
    assert ear.heard


def test_one_that_takes_too_long_is_stopped(fit, capsys):
    def validate(checkpoint):
        if load(checkpoint) == 0:
            signal.pause()
        return {"checked": True}

    config = ValidationConfig(validate, ValidationTaskConfig(timeout_s=0.2))

    def loop():
        report({}, 0, validation=True)
        report({}, 1, validation=ValidationTaskConfig())
        return [reported.status for reported in train.get_all_reported_checkpoints()]

    result = fit(loop, workers=1, validation_config=config)
    assert result.return_value == [ReportedCheckpointStatus.VALIDATION_TIMEOUT, ReportedCheckpointStatus.VALIDATED]
    assert kept(result) == [{}, {"checked": True}]
    assert "was not through after 0.2 s (timeout_s)" in capsys.readouterr().err


def test_a_process_that_is_killed_is_begun_again(fit, tmp_path, capsys):
    first = tmp_path / "first"

    def validate(checkpoint):
        if not first.exists():
            first.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return {"checked": True}

    result = fit(loop, workers=1, config={"values": [1]}, validation_config=ValidationConfig(validate))
    assert kept(result) == [{"value": 1, "checked": True}]
    assert f"validates checkpoint_000000 {texts.killed(9)}; it is begun again" in capsys.readouterr().err


def test_one_that_is_always_killed_is_given_up(fit, capsys):
    def validate(checkpoint):
        print("about to go", flush=True)
        os.kill(os.getpid(), signal.SIGKILL)

    def loop():
        report({}, 0, validation=True)
        return [reported.status for reported in train.get_all_reported_checkpoints()]

    config = ValidationConfig(validate, ray_remote_kwargs={"max_retries": 1})
    result = fit(loop, workers=1, validation_config=config)
    assert result.return_value == [ReportedCheckpointStatus.VALIDATION_FAILED]
    told = capsys.readouterr()
    assert told.out.count("about to go") == 2
    assert "about to go" in told.err, "its last words"


def test_resources_of_its_own(fit):
    def validate(checkpoint):
        return {"threads": os.environ["OMP_NUM_THREADS"], "gpus": os.environ["CUDA_VISIBLE_DEVICES"]}

    claimed = ValidationConfig(validate, ray_remote_kwargs={"num_cpus": 1})
    result = fit(loop, workers=1, config={"values": [1]}, validation_config=claimed)
    assert kept(result)[0] == {"value": 1, "threads": os.environ.get("OMP_NUM_THREADS", "1"), "gpus": ""}
    for wanted, words in (
        ({"resources": {"of no such kind": 1}}, "{of no such kind: 1}"),
        ({"accelerator_type": "A10G"}, "{accelerator_type:A10G: 0.001}"),
    ):
        never = ValidationConfig(validate, ray_remote_kwargs=wanted)
        with pytest.raises(
            ValueError, match=rf"for a validation, 1 worker with {re.escape(words)} each can never be placed"
        ):
            fit(loop, workers=1, config={"values": [1]}, validation_config=never)


def test_a_loop_asks_where_its_checkpoints_stand(fit, gate):
    def statuses(*arguments):
        return [(each.metrics, each.status.name) for each in train.get_all_reported_checkpoints(*arguments)]

    def loop():
        told = [statuses()]
        report({"x": 0}, 0)
        report({"x": 1}, 1, validation=True, checkpoint_upload_mode=train.CheckpointUploadMode.ASYNC)
        told.append(statuses(CheckpointConsistencyMode.COMMITTED))
        told.append(statuses(CheckpointConsistencyMode.VALIDATED, 0))
        with open(gate, "w"):
            pass
        told.append(statuses(CheckpointConsistencyMode.VALIDATED, 60))
        return told

    def validate(checkpoint):
        with open(gate):
            return {"checked": True}

    result = fit(loop, workers=1, validation_config=ValidationConfig(validate))
    pending = [({"x": 0}, "COMMITTED"), ({"x": 1}, "PENDING_VALIDATION")]
    validated = [({"x": 0}, "COMMITTED"), ({"x": 1, "checked": True}, "VALIDATED")]
    assert result.return_value == [[], pending, pending, validated]


def test_a_validation_is_no_rank(fit, capsys):
    def validate(checkpoint):
        train.report({})

    fit(loop, workers=1, config={"values": [1]}, validation_config=ValidationConfig(validate))
    assert "report() was called in a validation function" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"validation": 1}, TypeError, "validation is 1 (int); allowed: True, False or a ValidationTaskConfig"),
        ({"validation": True, "checkpoint": None}, ValueError, "validation is given without a checkpoint"),
        ({"validation": True}, ValueError, "the trainer has no validation_config"),
        ({"validate_fn": 3}, TypeError, "validate_fn is 3 (int); allowed: None or a function"),
        ({"validate_fn": print, "checkpoint": None}, ValueError, "validate_fn is given without a checkpoint"),
        ({"validate_fn": print, "validation": True}, ValueError, "together with validate_fn; allowed: one of them"),
        ({"validate_fn": lambda checkpoint: {}}, ValueError, "allowed: a function of a checkpoint and a dict"),
        ({"validate_config": {"a": 1}}, ValueError, "without validate_fn"),
        ({"validate_fn": print, "validate_config": [1]}, TypeError, "validate_config is [1] (list); allowed: None"),
    ],
)
def test_bad_arguments_of_a_report(fit, options, error, words):
    def loop():
        checkpoint = save(1)
        with pytest.raises(error) as caught:
            train.report({}, **{"checkpoint": checkpoint, **options})
        assert words in str(caught.value)
        train.report({"went": "on"})

    assert fit(loop, workers=1).metrics["went"] == "on"


def test_the_command_line_lists_what_a_validation_found(fit):
    result = fit(loop, workers=1, config={"values": [3]}, validation_config=ValidationConfig(score))
    command = [sys.executable, "-m", "headway", "checkpoint", "ls", result.path]
    assert "score=30" in subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout
