"""A data set's shares on two nodes, each with a data process."""

import re

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


def run_on_two_nodes(nodes, folder, code):
    """What a driver prints that one other node joins."""
    nodes.start(code.replace("STORAGE", repr(str(folder / "storage"))).replace("FOLDER", repr(str(folder))))
    assert nodes.agent().join() == "node-1"
    status, output = nodes.script.finish()
    assert status == 0, output
    return output


@cluster.needs_tls
def test_ranks_on_two_nodes_divide_the_rows_and_resume_at_the_next_one(nodes, tmp_path):
    output = run_on_two_nodes(nodes, tmp_path, SHARES)
    assert "STEPS [5, 5]" in output, output
    assert "ROWS 94 94 False" in output, "one row less than there are: shares are equal"


LANES = """
    import numpy
    import headway.data

    ROWS, STEP_ROWS = 1_000_000, 100_000

    def loop(config):
        context = train.get_context()
        rank, world_size = context.get_world_rank(), context.get_world_size()
        shard = train.get_dataset_shard("train")
        batches = shard.iter_batches(
            batch_size=STEP_ROWS // world_size, local_shuffle_buffer_size=150_000, local_shuffle_seed=7
        )
        first = 0
        checkpoint = train.get_checkpoint()
        if checkpoint is not None:
            with checkpoint.as_directory() as directory, open(os.path.join(directory, "text")) as file:
                first = int(file.read()) + 1
        for step, batch in enumerate(batches, first):
            numpy.save(os.path.join(FOLDER, f"{config['name']} {step} {rank}"), batch["id"])
            if step == config.get("fails_at"):
                raise RuntimeError("a step fails")
            train.report({"step": step}, checkpoint=save(str(step)))
        read = next(line for line in shard.stats().splitlines() if line.startswith("range "))
        print("READ", config["name"], world_size, rank, read.split()[1].replace(",", ""), flush=True)

    def fit(name, workers, **config):
        train.DataParallelTrainer(
            loop,
            train_loop_config={"name": name, **config},
            datasets={"train": headway.data.range(ROWS).randomize_block_order(seed=5)},
            scaling_config=train.ScalingConfig(num_workers=workers, resources_per_worker={"CPU": 1}),
            run_config=train.RunConfig(name=name, storage_path=STORAGE, failure_config=train.FailureConfig(0)),
        ).fit()

    def steps(name, ranks):
        of_rank = lambda step, rank: numpy.load(os.path.join(FOLDER, f"{name} {step} {rank}.npy"))
        return [numpy.concatenate([of_rank(step, rank) for rank in ranks(step)]) for step in range(10)]

    wait_for_nodes(2)
    fit("whole", 2)
    try:
        fit("cut", 2, fails_at=4)
    except train.WorkerGroupError as error:
        assert "a step fails" in str(error), error
    fit("cut", 1)
    whole = steps("whole", lambda step: [0, 1])
    cut = steps("cut", lambda step: [0, 1] if step < 4 else [0])
    print("EQUAL", [bool((one == other).all()) for one, other in zip(whole, cut)])
    ids = numpy.concatenate(whole)
    print("ROWS", len(numpy.unique(ids)), bool((ids == numpy.sort(ids)).all()))
"""


@cluster.needs_tls
def test_machines_read_their_own_lanes_and_one_machine_trains_the_same_steps(nodes, tmp_path):
    output = run_on_two_nodes(nodes, tmp_path, LANES)
    assert f"EQUAL {[True] * 10}" in output, output
    assert "ROWS 1000000 False" in output, output
    read = re.findall(r"READ whole 2 (\d) (\d+)", output)
    assert sorted(rank for rank, _ in read) == ["0", "1"], output
    unit = 1 << 17
    assert all(int(rows) < 500_000 + unit for _, rows in read), f"each machine reads half: {output}"
