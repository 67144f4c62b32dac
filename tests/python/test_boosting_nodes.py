"""XGBoost and LightGBM with ranks on two nodes."""

import os

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
