"""JAX, TensorFlow and DeepSpeed with ranks on two nodes."""

import json
import os

import golden
import pytest

import cluster

pytestmark = pytest.mark.heavy

LOOP = """
    import sys
    sys.path.insert(0, TESTS)
    import PROGRAM
    from headway.train.PACKAGE import TRAINER

    wait_for_nodes(2)
    result = TRAINER(
        PROGRAM.loop,
        train_loop_config=CONFIG,
        scaling_config=train.ScalingConfig(num_workers=2, resources_per_worker={"CPU": 1}),
        run_config=train.RunConfig(storage_path=STORAGE, failure_config=train.FailureConfig(1)),
    ).fit()
    print("RESULT", result.return_value)
"""
RUNS = {
    "jax": ("JaxTrainer", {"kill": 6, "rank": 1}, "RESULT (2, 2, 8)"),
    "tensorflow": ("TensorflowTrainer", {"kill": 12, "epochs": 2}, "RESULT (2, 16, 2)"),
}


@cluster.needs_tls
@pytest.mark.parametrize("package", RUNS)
def test_ranks_on_two_nodes_train_together_and_resume(nodes, tmp_path, package):
    trainer, config, expected = RUNS[package]
    storage, folder = repr(str(tmp_path / "storage")), repr(os.path.dirname(__file__))
    words = {"STORAGE": storage, "TESTS": folder, "TRAINER": trainer, "CONFIG": repr(config), "PACKAGE": package}
    code = LOOP.replace("PROGRAM", f"{package}_program")
    for word, value in words.items():
        code = code.replace(word, value)
    nodes.start(code)
    assert nodes.agent().join() == "node-1"
    status, output = nodes.script.finish(110)
    assert status == 0, output
    assert expected in output


DEEPSPEED = """
    import json, sys
    sys.path.insert(0, TESTS)
    import deepspeed_program
    from headway.train.torch import TorchTrainer

    def fit_deepspeed(workers, cpus, checkpoint=None, **config):
        return TorchTrainer(
            deepspeed_program.loop,
            train_loop_config={"stage": STAGE, **config},
            scaling_config=train.ScalingConfig(num_workers=workers, resources_per_worker={"CPU": cpus}),
            run_config=train.RunConfig(storage_path=STORAGE, failure_config=train.FailureConfig(1)),
            resume_from_checkpoint=checkpoint,
        ).fit()

    wait_for_nodes(2)
    first = fit_deepspeed(2, 1, steps=8, kill=6)
    print("SHARDS", json.dumps(os.listdir(os.path.join(first.checkpoint.path, "global_step8"))))
    for workers, cpus in ((3, 0.5), (1, 1)):
        result = fit_deepspeed(workers, cpus, first.checkpoint)
        print("RESULT", json.dumps([*result.return_value, *result.metrics_dataframe["loss"]]))
"""
SHARDS = {
    1: {"mp_rank_00_model_states.pt", "zero_pp_rank_{}_mp_rank_00_optim_states.pt"},
    3: {"zero_pp_rank_{}_mp_rank_00_model_states.pt", "zero_pp_rank_{}_mp_rank_00_optim_states.pt"},
}


@cluster.needs_tls
@pytest.mark.parametrize("stage", SHARDS)
def test_deepspeed_on_two_nodes_makes_one_checkpoint_that_any_number_of_ranks_resumes(nodes, tmp_path, stage):
    """A rank is killed on the way. Of the three ranks that resume, two are on one node and one on
    the other.
    """
    code = DEEPSPEED
    words = {"STORAGE": str(tmp_path / "storage"), "TESTS": os.path.dirname(__file__), "STAGE": stage}
    for word, value in words.items():
        code = code.replace(word, repr(value))
    nodes.start(code)
    assert nodes.agent().join() == "node-1"
    status, output = nodes.script.finish(110)
    assert status == 0, output
    found = {word: [] for word in ("SHARDS", "RESULT")}
    for line in output.splitlines():
        word, _, value = line.partition(" ")
        if word in found:
            found[word].append(json.loads(value))
    assert set(found["SHARDS"][0]) == {name.format(rank) for name in SHARDS[stage] for rank in (0, 1)}
    losses = golden.kept("deepspeed")[8:]
    assert found["RESULT"] == [pytest.approx([ranks, 4, *losses], rel=1e-4) for ranks in (3, 1)]
