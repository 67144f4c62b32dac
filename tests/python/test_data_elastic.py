"""A data set in a group that shrinks and grows: the group trains on the rows of a run that nothing
happened to, in the same order. See cluster.py.
"""

import json
import re
import signal

import pytest

import cluster

# A step takes the next rows, by however many ranks. The third step of an epoch waits until it is
# let go, so that what happens meanwhile happens in mid-epoch.
ELASTIC = """
    import json
    import headway.data

    EPOCHS, EPOCH_STEPS, STEP_ROWS = 4, 6, 40

    def position_of(checkpoint):
        if checkpoint is None:
            return 0, 0
        with checkpoint.as_directory() as directory, open(os.path.join(directory, "text")) as file:
            epoch, step = json.load(file)
        return (epoch, step) if step < EPOCH_STEPS else (epoch + 1, 0)

    def wait_until_let_go(ranks, epoch):
        if train.get_context().get_world_rank() == 0:
            print("WAITS", ranks, epoch, flush=True)
        while not os.path.exists(os.path.join(FOLDER, f"go {ranks} {epoch}")):
            threading.Event().wait(0.01)

    def loop(config):
        context = train.get_context()
        rank, ranks = context.get_world_rank(), context.get_world_size()
        first = epoch, step = position_of(train.get_checkpoint())
        if rank == 0:
            print("FIRST", config["name"], ranks, epoch, step, flush=True)
        shard = train.get_dataset_shard("train")
        while epoch < EPOCHS:
            for batch in shard.iter_batches(batch_size=STEP_ROWS // ranks, **SHUFFLED):
                if config["name"] == "elastic" and step == 2 and (epoch, step) != first:
                    wait_until_let_go(ranks, epoch)
                ids = [int(each) for each in batch["id"]]
                with open(os.path.join(FOLDER, f"{config['name']} {epoch} {step} {ranks} {rank}"), "w") as file:
                    json.dump(ids, file)
                step += 1
                train.report({"epoch": epoch}, checkpoint=save(json.dumps([epoch, step])))
            epoch, step = epoch + 1, 0

    def run(name, workers):
        train.DataParallelTrainer(
            loop,
            train_loop_config={"name": name},
            datasets={"train": DATA},
            scaling_config=train.ScalingConfig(
                num_workers=workers, resources_per_worker={"CPU": 1}, elastic_resize_monitor_interval_s=0.0
            ),
            run_config=train.RunConfig(
                name=name, storage_path=os.path.join(FOLDER, "storage"), failure_config=train.FailureConfig(1)
            ),
        ).fit()

    run("elastic", (1, 2))
    run("undisturbed", UNDISTURBED)
"""


def trained(folder, name):
    """The ids of each (epoch, step); a step that was repeated has trained on the same rows."""
    steps = {}
    for path in folder.glob(f"{name} *"):
        epoch, step, ranks, rank = (int(each) for each in path.name.split()[1:])
        steps.setdefault((epoch, step), {}).setdefault(ranks, {})[rank] = json.loads(path.read_text())
    together = {}
    for place, of_groups in steps.items():
        whole = [parts for ranks, parts in of_groups.items() if len(parts) == ranks]
        [together[place]] = {tuple(each for rank in sorted(parts) for each in parts[rank]) for parts in whole}
    return together


@pytest.mark.parametrize(
    ("data", "shuffled", "undisturbed"),
    [
        (
            "headway.data.range(240).map_batches(lambda batch: {'id': batch['id']})"
            ".random_shuffle(seed=headway.data.RandomSeedConfig(5, reseed_after_execution=True))",
            {},
            2,
        ),
        ("headway.data.range(240)", {"local_shuffle_buffer_size": 100, "local_shuffle_seed": 3}, 1),
    ],
)
@cluster.needs_tls
def test_a_group_that_grows_and_shrinks_in_mid_epoch_trains_on_the_same_rows(
    nodes, tmp_path, data, shuffled, undisturbed
):
    """Machines shuffle apart what they read, so that the order of windows follows the machines of
    the run's start: one.
    """
    script = ELASTIC.replace("FOLDER", repr(str(tmp_path)))
    nodes.start(
        script.replace("SHUFFLED", repr(shuffled)).replace("UNDISTURBED", str(undisturbed)).replace("DATA", data)
    )
    said = nodes.script.wait_for("WAITS 1 0")
    agent = nodes.agent()
    agent.join()
    (tmp_path / "go 1 0").touch()
    said += nodes.script.wait_for("WAITS 2 1")
    agent.signal(signal.SIGKILL)
    said += nodes.script.wait_for("WAITS 1 2")
    nodes.agent().join()
    (tmp_path / "go 1 2").touch()
    said += nodes.script.wait_for("WAITS 2 3")
    (tmp_path / "go 2 3").touch()
    status, output = nodes.script.finish()
    said += output
    assert status == 0, said
    groups = [[int(each) for each in found] for found in re.findall(r"FIRST elastic (\d) (\d) (\d)", said)]
    assert [(ranks, epoch) for ranks, epoch, _ in groups] == [(1, 0), (2, 0), (1, 1), (2, 2)], said
    assert all(0 < step < 6 for _, _, step in groups[1:]), f"each change was in mid-epoch: {groups}"
    expected = trained(tmp_path, "undisturbed")
    assert trained(tmp_path, "elastic") == expected
    for epoch in range(4):
        assert sorted(each for step in range(6) for each in expected[epoch, step]) == list(range(240))
    assert expected[0, 0] != expected[1, 0]
    assert list(expected[0, 0]) != sorted(expected[0, 0])
    assert nodes.left() == {}
