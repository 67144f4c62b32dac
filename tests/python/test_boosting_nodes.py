"""XGBoost and LightGBM with ranks on two nodes."""

import os
import signal

import pytest

import cluster

BOTH = """
    import sys
    sys.path.insert(0, TESTS)
    import lightgbm_program
    import xgboost_program
    from headway.train.lightgbm import LightGBMTrainer
    from headway.train.xgboost import XGBoostTrainer

    wait_for_nodes(2)
    for trainer, program in ((XGBoostTrainer, xgboost_program), (LightGBMTrainer, lightgbm_program)):
        result = trainer(
            program.loop,
            train_loop_config={"kill": 13},
            scaling_config=train.ScalingConfig(num_workers=2, resources_per_worker={"CPU": 1}),
            run_config=train.RunConfig(storage_path=STORAGE, failure_config=train.FailureConfig(1)),
        ).fit()
        model = trainer.get_model(result.checkpoint)
        rounds = model.num_boosted_rounds() if trainer is XGBoostTrainer else model.current_iteration()
        print("RESULT", trainer.__name__, result.return_value, rounds)
"""


@cluster.needs_tls
def test_ranks_on_two_nodes_build_one_model_and_resume(nodes, tmp_path):
    storage, folder = repr(str(tmp_path / "storage")), repr(os.path.dirname(__file__))
    nodes.start(BOTH.replace("STORAGE", storage).replace("TESTS", folder))
    assert nodes.agent().join() == "node-1"
    status, output = nodes.script.finish()
    assert status == 0, output
    assert "RESULT XGBoostTrainer (0, 2, 20) 20" in output
    assert "RESULT LightGBMTrainer 20 20" in output


ELASTIC = """
    import sys
    sys.path.insert(0, TESTS)
    import PROGRAM
    from headway.train.PACKAGE import TRAINER

    wait_for_nodes(2)
    result = TRAINER(
        PROGRAM.loop,
        train_loop_config={"kill": 13, "waits": True},
        scaling_config=train.ScalingConfig(num_workers=(1, 2), resources_per_worker={"CPU": 1}),
        run_config=train.RunConfig(storage_path=STORAGE, failure_config=train.FailureConfig(1)),
    ).fit()
    print("RESULT", result.return_value)
"""


@cluster.needs_tls
@pytest.mark.parametrize(
    ("package", "trainer", "expected"),
    [("xgboost", "XGBoostTrainer", "RESULT (0, 1, 20)"), ("lightgbm", "LightGBMTrainer", "RESULT 20")],
)
def test_a_lost_node_leaves_one_rank_that_builds_the_rest_of_the_model(nodes, tmp_path, package, trainer, expected):
    words = {"STORAGE": repr(str(tmp_path / "storage")), "TESTS": repr(os.path.dirname(__file__)), "TRAINER": trainer}
    code = ELASTIC.replace("PROGRAM", f"{package}_program").replace("PACKAGE", package)
    for word, value in words.items():
        code = code.replace(word, value)
    nodes.start(code)
    agent = nodes.agent()
    agent.join()
    said = nodes.script.wait_for("ROUND 13")
    agent.signal(signal.SIGKILL)
    status, output = nodes.script.finish()
    assert status == 0, said + output
    assert "The worker group has 1 worker now, 2 before" in said + output
    assert expected in output
