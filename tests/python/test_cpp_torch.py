"""headway/torch.hpp in two ranks of a C++ program, against what PyTorch does here."""

import json
import os
import subprocess
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

PROGRAM = Path(__file__).parents[2] / "build/tests/library_test_torch"


def run(mode, storage):
    """The reports, each with the metrics of both ranks, and what else was printed."""
    done = subprocess.run([PROGRAM, mode, storage], capture_output=True, text=True, timeout=300)
    marked = [line for line in done.stdout.splitlines() if line.startswith("REPORT ")]
    return done.returncode, [json.loads(line.removeprefix("REPORT ")) for line in marked], done.stdout + done.stderr


def reports_of(mode, storage):
    code, reports, output = run(mode, storage)
    assert code == 0, output
    return reports


def test_gradients_add_up_alone_and_are_averaged_after_it(tmp_path):
    ((first, second),) = reports_of("accumulate", tmp_path)
    assert first["together"] == second["together"] == [1.5, 1.5]  # of inputs 1 and 2
    assert (first["alone"], second["alone"]) == ([1, 1], [2, 2])
    assert first["after"] == second["after"] == [16.5, 16.5]  # of 1 + 10 and 2 + 20


def test_steps_are_counted_and_a_rank_that_waits_for_another_has_its_share(tmp_path):
    reports_of("be_slow_in_rank_1", tmp_path)
    fast, slow = json.loads((tmp_path / "run" / "step_times_1.json").read_text())["ranks"]
    assert fast["steps"]["count"] == slow["steps"]["count"] == 9
    assert fast["waiting_share"] > 0.5
    assert slow["waiting_share"] < 0.4


def test_a_pass_may_leave_parameters_out(tmp_path):
    ((first, second),) = reports_of("leave_parameters_out", tmp_path)
    assert first["left"] == second["left"] == [1.5, 1.5]
    assert first["weights"] == second["weights"]


def test_rank_zeros_buffers_are_everyones(tmp_path):
    ((first, second),) = reports_of("send_buffers", tmp_path)
    assert first == second == {"made": [5.0], "sent": [10.0]}


def test_models_of_different_shapes_are_told(tmp_path):
    code, _, output = run("differ_in_shape", tmp_path)
    assert code == 1
    assert "params[0]" in output


def test_a_loader_gives_each_rank_what_pytorchs_sampler_gives_it(tmp_path):
    reports = reports_of("load_data", tmp_path)
    assert len(reports) == 2
    for ranks in reports:
        for rank, found in enumerate(ranks):
            sampler = torch.utils.data.DistributedSampler(range(11), num_replicas=2, rank=rank, seed=7)
            sampler.set_epoch(found["epoch"])
            assert found["seen"] == list(sampler)
            assert found["size"] == len(sampler) == 6


def test_a_model_and_its_optimizer_go_on_where_they_were(tmp_path):
    whole = reports_of("go_on", tmp_path / "whole")
    after_death = reports_of("go_on_after_a_death", tmp_path / "died")
    assert [ranks[0]["begun_at"] for ranks in after_death][-1] == 3
    assert len(whole) == len(after_death) == 5
    for one, other in zip(whole, after_death, strict=True):
        assert one[0]["weights"] == one[1]["weights"]
        assert other[0]["weights"] == pytest.approx(one[0]["weights"], abs=1e-6)


def test_numbers_are_those_of_pytorch_for_the_seed_on_the_ranks_device(tmp_path):
    ((first, second),) = reports_of("draw", tmp_path)
    torch.manual_seed(3)
    assert first["drawn"] == pytest.approx(torch.rand(3).tolist(), abs=1e-7)
    assert first == second
    assert first["deterministic"] is True
    assert first["device"] == "cpu"


def test_workers_by_exec_find_the_same(tmp_path, monkeypatch):
    other = "fork" if os.environ.get("HEADWAY_WORKER_START") == "exec" else "exec"
    monkeypatch.setenv("HEADWAY_WORKER_START", other)
    ((first, second),) = reports_of("accumulate", tmp_path)
    assert first["after"] == second["after"] == [16.5, 16.5]


def test_a_rank_computes_with_its_cpus_where_the_environment_does_not_say(tmp_path):
    ((first, second),) = reports_of("compute_without_variable", tmp_path)
    assert first == second == {"sum": 2.0, "threads": 1}


def test_a_validation_function_is_told_its_device(tmp_path):
    _, (first, second) = reports_of("validate_on_device", tmp_path)
    assert (first["device"], second["device"]) == ("cpu", "cpu")
    assert first["cpus"] == 1


def test_columns_of_a_data_set_are_tensors_where_they_lie(tmp_path):
    (ranks,) = reports_of("share_columns", tmp_path)
    assert sorted(number for rank in ranks for number in rank["ids"]) == list(range(8))
    assert all(rank["shared"] and rank["batches"] == 2 for rank in ranks)
