"""JAX and TensorFlow with ranks on two nodes."""

import os

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
