"""A data set's shares on two nodes, each with a data process."""

import cluster

SHARES = """
    import json, os, signal
    import headway.data

    def loop(config):
        context = train.get_context()
        checkpoint = train.get_checkpoint()
        with open(os.path.join(FOLDER, f"rank {context.get_world_rank()}"), "a") as file:
            for step, batch in enumerate(train.get_dataset_shard("train").iter_batches(batch_size=10)):
                if step == 3 and checkpoint is None:
                    train.collective.barrier()
                    if context.get_world_rank() == 1:
                        os.kill(os.getpid(), signal.SIGKILL)
                    signal.pause()
                train.report({"step": step, "node": context.get_node_rank()}, checkpoint=save("x"))
                print(json.dumps([int(each) for each in batch["id"]]), file=file, flush=True)

    wait_for_nodes(2)
    rows = headway.data.range(95).map_batches(lambda batch: {"id": batch["id"]}).random_shuffle(seed=5)
    train.DataParallelTrainer(
        loop,
        train_loop_config={},
        datasets={"train": rows},
        scaling_config=train.ScalingConfig(num_workers=2, resources_per_worker={"CPU": 1}),
        run_config=train.RunConfig(storage_path=STORAGE, failure_config=train.FailureConfig(1)),
    ).fit()
    ranks = [[json.loads(line) for line in open(os.path.join(FOLDER, f"rank {rank}"))] for rank in range(2)]
    print("STEPS", [len(steps) for steps in ranks])
    ids = [each for step in zip(*ranks) for part in step for each in part]
    print("ROWS", len(ids), len(set(ids)), ids == sorted(ids))
"""


@cluster.needs_tls
def test_ranks_on_two_nodes_divide_the_rows_and_resume_at_the_next_one(nodes, tmp_path):
    storage, folder = repr(str(tmp_path / "storage")), repr(str(tmp_path))
    nodes.start(SHARES.replace("STORAGE", storage).replace("FOLDER", folder))
    assert nodes.agent().join() == "node-1"
    status, output = nodes.script.finish()
    assert status == 0, output
    assert "STEPS [5, 5]" in output, output
    assert "ROWS 94 94 False" in output, "one row less than there are: shares are equal"
