"""Wide rows that a shuffle writes where ranks see them: what ranks keep stays as it is."""

import json
import os
import signal

import headway
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from headway import data, train
from headway.train import Checkpoint, DataParallelTrainer, FailureConfig, RunConfig, ScalingConfig

ROWS, EPOCHS, BATCH_ROWS = 4_000, 3, 24


@pytest.fixture(autouse=True)
def one_runtime_a_test():
    yield
    headway.shutdown()


@pytest.fixture
def rows(tmp_path):
    """Rows of 4 KB in two files: a number, and 512 numbers that are equal to it."""
    folder = tmp_path / "rows"
    folder.mkdir()
    for part, ids in enumerate(np.split(np.arange(ROWS), 2)):
        values = pa.FixedSizeListArray.from_arrays(pa.array(np.repeat(ids, 512)), 512)
        pq.write_table(pa.table({"id": ids, "values": values}), folder / f"{part}.parquet", row_group_size=500)
    return data.read_parquet(str(folder))


def assert_unchanged(kept):
    for batch, ids in kept:
        assert (batch["id"] == ids).all()
        assert (batch["values"] == ids[:, None]).all()


def epoch_before():
    """That of the checkpoint."""
    checkpoint = train.get_checkpoint()
    if checkpoint is None:
        return 0
    with checkpoint.as_directory() as folder, open(os.path.join(folder, "epoch")) as file:
        return int(file.read())


def die_once(folder):
    """The last rank dies, when all have written down the steps before."""
    if os.path.exists(folder + "/died"):
        return
    train.collective.barrier()
    if train.get_context().get_world_rank() == 0:
        signal.pause()
    open(folder + "/died", "w").close()
    os.kill(os.getpid(), signal.SIGKILL)


def keeping(config):
    """Trains on all epochs. Keeps batches until the end, and writes into others."""
    rank, shard = train.get_context().get_world_rank(), train.get_dataset_shard("train")
    kept = []
    for epoch in range(epoch_before(), EPOCHS):
        shuffled = shard.iter_batches(batch_size=BATCH_ROWS, local_shuffle_buffer_size=1_000, local_shuffle_seed=1)
        for step, batch in enumerate(shuffled):
            ids = batch["id"].copy()
            assert_unchanged([(batch, ids)])
            if (epoch, step) == config.get("leaves_at") and rank == 1:
                break
            if "dies_at" in config:
                if (epoch, step) == config["dies_at"]:
                    die_once(config["folder"])
                os.makedirs("state", exist_ok=True)
                with open("state/epoch", "w") as file:
                    file.write(str(epoch))
                train.report({"epoch": epoch}, checkpoint=Checkpoint("state") if rank == 0 else None)
            with open(f"{config['folder']}/{epoch} {rank}", "a") as file:
                print(json.dumps(ids.tolist()), file=file)
            if step % 3 == 0:
                kept.append((batch, ids))
            else:
                batch["values"][...] = -1
        assert_unchanged(kept)
    del shard, shuffled
    assert_unchanged(kept)
    train.report({"kept": len(kept)})


def trained(rows, storage, folder, **config):
    """The ids of each epoch by rank, as they came."""
    folder.mkdir()
    DataParallelTrainer(
        keeping,
        train_loop_config={"folder": str(folder), **config},
        scaling_config=ScalingConfig(num_workers=2),
        run_config=RunConfig(
            storage_path=storage, name=folder.name, verbose=0, failure_config=FailureConfig(max_failures=1)
        ),
        datasets={"train": rows},
    ).fit()
    return [
        [
            [number for line in (folder / f"{epoch} {rank}").read_text().splitlines() for number in json.loads(line)]
            for rank in range(2)
        ]
        for epoch in range(EPOCHS)
    ]


def test_a_rank_that_leaves_an_epoch_or_dies_in_one_changes_nothing_for_others(rows, storage, tmp_path):
    whole = trained(rows, storage, tmp_path / "whole")
    for first, second in whole:
        assert sorted(first + second) == list(range(ROWS))
    left = trained(rows, storage, tmp_path / "left", leaves_at=(0, 5))
    assert left == [[whole[0][0], whole[0][1][: 5 * BATCH_ROWS]], *whole[1:]]
    died = trained(rows, storage, tmp_path / "died", dies_at=(1, 9))
    assert (tmp_path / "died" / "died").exists()
    assert died == whole
