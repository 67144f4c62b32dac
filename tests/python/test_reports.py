"""Reports: what of them is recorded, what is refused by its key, and that all ranks' calls belong
together.
"""

import csv
import json
import math
import os
import time

import pytest
import texts
from headway import train


@pytest.mark.parametrize(
    ("reduce", "loss", "samples", "acc"),
    [
        (None, 1.0, 10, 0.5),
        ("mean", 2.0, 20.0, 0.4),
        ({"loss": "max", "samples": "sum"}, 3.0, 60, 0.5),
        ({"eval/acc": "min"}, 1.0, 10, 0.3),
    ],
)
def test_metrics_are_reduced_over_the_ranks_where_the_report_asks_for_it(fit, reduce, loss, samples, acc):
    def loop():
        rank = train.get_context().get_world_rank()
        metrics = {"loss": 1.0 + rank, "samples": 10 * (rank + 1), "eval": {"acc": 0.5 - rank / 10}, "name": str(rank)}
        train.report(metrics, reduce=reduce)

    metrics = fit(loop, workers=3).metrics
    assert (metrics["loss"], metrics["samples"], metrics["name"]) == (loss, samples, "0")
    assert type(metrics["samples"]) is type(samples)
    assert metrics["eval"]["acc"] == pytest.approx(acc)


def test_every_report_is_recorded_with_automatic_metrics(fit):
    def loop(config):
        for epoch in range(3):
            train.report({"epoch": epoch, "rank": train.get_context().get_world_rank()})

    before = time.time()
    result = fit(loop, config={"lr": 0.1}, name="run")
    assert result.metrics["epoch"] == 2
    assert result.metrics["rank"] == 0, "rank 0's metrics alone count"
    assert result.metrics["training_iteration"] == 3
    assert result.metrics["iterations_since_restore"] == 3
    assert result.metrics["done"] is True
    assert result.metrics["config"] == {"lr": 0.1}
    assert result.metrics["attempt"] == 1
    assert int(before) <= result.metrics["timestamp"] <= time.time()
    assert 0 <= result.metrics["time_this_iter_s"] <= result.metrics["time_total_s"] < 60
    assert {"date", "pid", "hostname", "node_ip", "trial_id", "time_since_restore"} <= result.metrics.automatic.keys()
    assert result.metrics["pid"] != os.getpid()
    frame = result.metrics_dataframe
    assert list(frame["epoch"]) == [0, 1, 2]
    assert list(frame["training_iteration"]) == [1, 2, 3]
    with open(os.path.join(result.path, "result.json")) as lines:
        assert [json.loads(line)["epoch"] for line in lines] == [0, 1, 2]


def test_nested_metrics_are_columns_of_the_dataframe_as_in_progress_csv(fit):
    def loop():
        train.report({"eval": {"loss": 0.5, "by": {"class": [1, 2]}}, "loss": 1})
        train.report({"eval": {"loss": 0.25}, "eval/by/class": "mine"})

    result = fit(loop)
    frame = result.metrics_dataframe
    assert list(frame["eval/loss"]) == [0.5, 0.25]
    assert list(frame["eval/by/class"]) == [[1, 2], "mine"]
    with open(os.path.join(result.path, "progress.csv"), newline="") as table:
        assert set(frame.columns) == set(next(csv.reader(table)))


def test_of_two_metrics_with_one_name_the_less_nested_counts(fit):
    def loop():
        train.report({"a": {"b": {"c": 3}, "b/c": 2}, "a/b/c": 1})

    assert list(fit(loop).metrics_dataframe["a/b/c"]) == [1]


def test_the_result_of_a_run_without_reports(fit, storage):
    result = fit(lambda: None, name="quiet")
    assert result.metrics is None
    assert result.metrics_dataframe is None
    assert result.checkpoint is None
    assert result.best_checkpoints == []
    assert result.error is None
    assert result.return_value is None
    assert result.path == os.path.join(storage, "quiet")


def test_rank_0_returns_a_value(fit):
    def loop():
        return {"rank": train.get_context().get_world_rank(), "data": bytes(3_000_000)}

    value = fit(loop).return_value
    assert value["rank"] == 0
    assert len(value["data"]) == 3_000_000


def test_every_kind_of_number_arrives_as_it_was(fit):
    def loop():
        import numpy

        train.report(
            {
                "nan": float("nan"),
                "inf": float("inf"),
                "minus_inf": -float("inf"),
                "big": 2**63 + 1,
                "small": -(2**63),
                "float": 0.1 + 0.2,
                "tiny": 5e-324,
                "bool": True,
                "none": None,
                "text": 'ü "quoted"\n\u2028',
                "nested": {"a": {"b": [1, 2.5, (3,)]}},
                "numpy_float32": numpy.float32(0.5),
                "numpy_float64": numpy.float64(0.1),
                "numpy_int": numpy.int64(-7),
                "numpy_bool": numpy.bool_(True),
                "numpy_longdouble": numpy.longdouble(0.25),
            }
        )

    metrics = fit(loop, workers=1).metrics
    assert math.isnan(metrics["nan"])
    assert metrics["inf"] == math.inf
    assert metrics["minus_inf"] == -math.inf
    assert metrics["big"] == 2**63 + 1
    assert metrics["small"] == -(2**63)
    assert metrics["float"] == 0.1 + 0.2
    assert metrics["tiny"] == 5e-324
    assert metrics["bool"] is True
    assert metrics["none"] is None
    assert metrics["text"] == 'ü "quoted"\n\u2028'
    assert metrics["nested"] == {"a": {"b": [1, 2.5, [3]]}}
    assert metrics["numpy_float32"] == 0.5
    assert metrics["numpy_float64"] == 0.1
    assert metrics["numpy_int"] == -7
    assert metrics["numpy_bool"] is True
    assert metrics["numpy_longdouble"] == 0.25


BAD_VALUES = {
    "object": (object, "metrics['x']", "object"),
    "bytes": (lambda: b"x", "metrics['x']", "bytes"),
    "set": (lambda: {1}, "metrics['x']", "set"),
    "complex": (lambda: 1j, "metrics['x']", "complex"),
    "too_big": (lambda: 2**64, "metrics['x']", "64 bits"),
    "nested": (lambda: {"loss": [1.0, print]}, "metrics['x']['loss'][1]", "builtin_function_or_method"),
    "key": (lambda: {1: 2}, "metrics['x']", "key 1 (int)"),
    "half_a_character": (lambda: "\ud800", "metrics['x']", "surrogate"),
    "long_complex": (lambda: __import__("numpy").clongdouble(1j), "metrics['x']", "clongdouble"),
    "array": (lambda: __import__("numpy").zeros(3), "metrics['x']", "numpy.ndarray"),
    "array_hint": (lambda: __import__("numpy").zeros(3), "metrics['x']", ".tolist()"),
}


def test_a_value_that_cannot_be_recorded_is_named_by_its_key(fit):
    def loop():
        refusals = {}
        for name, (make, _, _) in BAD_VALUES.items():
            try:
                train.report({"fine": 1.0, "x": make()})
            except ValueError as error:
                refusals[name] = str(error)
        for name, bad in {"not_a_dict": [1], "none": None}.items():
            try:
                train.report(bad)
            except TypeError as error:
                refusals[name] = str(error)
        try:
            itself = {}
            itself["x"] = itself
            train.report(itself)
        except ValueError as error:
            refusals["endless"] = str(error)
        train.report({"fine": 2.0})
        return refusals

    result = fit(loop)
    assert result.return_value.keys() == {*BAD_VALUES, "not_a_dict", "none", "endless"}
    for name, (_, key, reason) in BAD_VALUES.items():
        assert key in result.return_value[name]
        assert reason in result.return_value[name]
    assert "metrics is [1] (list); allowed: a dict" in result.return_value["not_a_dict"]
    assert "hold itself" in result.return_value["endless"]
    assert list(result.metrics_dataframe["fine"]) == [2.0], "nothing of a refused report is recorded"


def test_one_rank_has_a_bad_metric_and_nobody_hangs(fail, storage):
    def loop():
        train.report({"loss": 1.0})
        train.report({"loss": object() if train.get_context().get_world_rank() == 1 else 0.5})

    error = fail(loop, name="half")
    assert str(error).startswith("ValueError: metrics['loss'] is an object")
    frames = [line for line in str(error).splitlines() if line.startswith("  File")]
    assert [frame.rpartition(", in ")[2] for frame in frames] == ["loop"]
    assert "rank 1" in str(error)
    assert set(error.worker_failures) == {1}
    with open(os.path.join(storage, "half", "result.json")) as lines:
        assert [json.loads(line)["loss"] for line in lines] == [1.0], "the second report is not recorded for any rank"


def test_tensors_and_arrays_without_dimensions_are_numbers(fit):
    def loop():
        import numpy
        import torch

        weight = torch.ones((), requires_grad=True)
        arrays = {"array": numpy.array(3), "scalar": numpy.float32(0.5), "nan": torch.tensor(float("nan"))}
        nested = {"ok": [torch.tensor(True), torch.tensor(2)]}
        train.report({"loss": weight * 2, "half": torch.tensor(0.5, dtype=torch.bfloat16), **arrays, **nested})
        with pytest.raises(ValueError, match=r"metrics\['loss'\] is a torch.Tensor; .*use \.item\(\)"):
            train.report({"loss": torch.ones(2)})
        with pytest.raises(ValueError, match=r"metrics\['loss'\] is a complex"):
            train.report({"loss": torch.tensor(1j)})

    metrics = fit(loop, workers=1).metrics
    assert (metrics["loss"], metrics["half"], metrics["array"], metrics["scalar"]) == (2.0, 0.5, 3, 0.5)
    assert metrics["nan"] != metrics["nan"]
    assert metrics["ok"] == [True, 2]


def test_bad_arguments_of_report(fit, tmp_path):
    (tmp_path / "model").mkdir()

    def loop(config):
        checkpoint = train.Checkpoint.from_directory(config["model"])
        with pytest.raises(TypeError, match=r"checkpoint is '/tmp' \(str\); allowed: a headway.train.Checkpoint"):
            train.report({}, checkpoint="/tmp")
        with pytest.raises(TypeError, match=r"checkpoint_dir_name is 3 \(int\); allowed"):
            train.report({}, checkpoint=checkpoint, checkpoint_dir_name=3)
        for name in ("", "..", "a/b", "a\0b", "x" * 300):
            with pytest.raises(ValueError, match=r"checkpoint_dir_name is .*; allowed"):
                train.report({}, checkpoint=checkpoint, checkpoint_dir_name=name)
        with pytest.raises(
            TypeError, match=r"delete_local_checkpoint_after_upload is 1 \(int\); allowed: True or False"
        ):
            train.report({}, checkpoint=checkpoint, delete_local_checkpoint_after_upload=1)
        with pytest.raises(ValueError, match="/nowhere: no such file or directory"):
            train.report({}, checkpoint=train.Checkpoint("/nowhere"))
        train.report({"accepted": 1})

    result = fit(loop, workers=1, config={"model": str(tmp_path / "model")})
    assert list(result.metrics_dataframe["accepted"]) == [1]
    assert result.checkpoint is None


def test_two_threads_of_a_rank_cannot_report_at_once(fit):
    def loop():
        import threading

        if train.get_context().get_world_rank() == 1:
            train.report({})
            return None
        errors = []

        def report():
            try:
                train.report({"loss": 1.0})
            except ValueError as error:
                errors.append(str(error))

        # Rank 1's one report answers one of them; the other is refused, or comes too late and waits
        # for none.
        threads = [threading.Thread(target=report, daemon=True) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return errors

    # Either both were in report at once (one is refused), or one after the other (rank 1 has
    # finished by then).
    try:
        errors = fit(loop).return_value
    except train.WorkerGroupError as error:
        assert error.worker_failures[1].call == "report"  # noqa: PT017
    else:
        assert "two threads of one rank" in errors[0]


def test_unequal_report_counts_end_the_run_with_both_ranks_named(fail):
    def loop():
        rank = train.get_context().get_world_rank()
        for _ in range(3 if rank == 0 else 2):
            train.report({"x": 1})

    error = fail(loop)
    assert str(error).startswith(texts.finished_early(1, 0, "report #3"))
    assert texts.EQUALLY_OFTEN in str(error)
    assert set(error.worker_failures) == {1}
    unmatched = error.worker_failures[1]
    assert type(unmatched) is train.UnmatchedCall
    assert (unmatched.rank, unmatched.call) == (1, "report")


def test_a_rank_that_never_reports_does_not_leave_the_others_waiting(fail):
    def loop():
        if train.get_context().get_world_rank() != 2:
            train.report({"x": 1})

    failures = fail(loop, workers=3).worker_failures
    assert set(failures) == {2}
    assert failures[2].call == "report"


def test_a_run_reports_thousands_of_times(fit):
    def loop():
        for step in range(2000):
            train.report({"step": step})

    frame = fit(loop).metrics_dataframe
    assert list(frame["step"]) == list(range(2000))
