"""Data sets in a training: equal shares, the same order after deaths and resizes, older names."""

import gc
import json
import os
import signal
import sys
from pathlib import Path

import headway
import numpy as np
import processes
import pytest
from headway import data, train
from headway.air import session
from headway.data.expressions import col
from headway.train import Checkpoint, DataConfig, DataParallelTrainer, FailureConfig, RunConfig, ScalingConfig

ROWS = 240


@pytest.fixture(autouse=True)
def one_runtime_a_test():
    yield
    headway.shutdown()


@pytest.fixture
def folder(tmp_path):
    """Where ranks write down what they train on."""
    made = tmp_path / "recorded"
    made.mkdir()
    return made


def record(folder, batch):
    """Appends what this rank trains on: a line a step."""
    context = train.get_context()
    with open(os.path.join(folder, f"rank {context.get_world_rank()}"), "a") as file:
        print(json.dumps([int(each) for each in batch["id"]]), file=file)


def recorded(folder):
    """By rank: the ids of each step."""
    ranks = (name for name in os.listdir(folder) if name.startswith("rank"))
    return {name: [json.loads(line) for line in (folder / name).read_text().splitlines()] for name in ranks}


def flat(shares):
    """All ids."""
    return [each for steps in shares.values() for step in steps for each in step]


def made_in_memory():
    """A data set that lies in a file of this process's until nobody holds it."""
    return data.from_items([{"id": number} for number in range(ROWS)]).materialize()


def count_after_collection(config):
    """Counts what its rank gets, when the driver has collected its garbage."""
    with open(config["collected"]) as pipe:
        pipe.read()
    shard = train.get_dataset_shard("train")
    train.report({"rows": sum(len(batch["id"]) for batch in shard.iter_batches(batch_size=8))})


def trainer(loop, storage, config, workers=2, **options):
    options.setdefault("datasets", {"train": data.range(ROWS)})
    run = RunConfig(storage_path=storage, name=options.pop("name", None), verbose=0,
                    failure_config=options.pop("failure_config", None) or FailureConfig())  # fmt: skip
    return DataParallelTrainer(
        loop,
        train_loop_config=config,
        scaling_config=ScalingConfig(num_workers=workers),
        run_config=run,
        **options,
    )


def every_batch(config):
    for batch in train.get_dataset_shard("train").iter_batches(batch_size=20):
        record(config["folder"], batch)
    train.report({"done": 1})


def test_ranks_get_equal_shares_without_a_row_twice(storage, folder):
    trainer(every_batch, storage, {"folder": str(folder)}).fit()
    shares = recorded(folder)
    assert [len(shares[f"rank {rank}"]) for rank in range(2)] == [6, 6]
    assert sorted(flat(shares)) == list(range(ROWS))
    assert shares["rank 0"][0] + shares["rank 1"][0] == list(range(40)), "a step takes the next rows"


def test_what_is_left_at_the_end_is_divided_and_at_most_a_rank_less_one_row_dropped(storage, folder):
    trainer(every_batch, storage, {"folder": str(folder)}, datasets={"train": data.range(55)}).fit()
    shares = recorded(folder)
    assert [[len(step) for step in shares[f"rank {rank}"]] for rank in range(2)] == [[20, 7], [20, 7]]
    assert sorted(flat(shares)) == list(range(54))


def two_epochs(config):
    shard = train.get_dataset_shard("train")
    for _ in range(2):
        rows = sum(len(batch["id"]) for batch in shard.iter_batches(batch_size=20, drop_last=config["drop_last"]))
    train.report({"rows": rows})


@pytest.mark.parametrize("drop_last", [False, True])
def test_rows_that_are_dropped_are_said_once_unless_the_loop_asked_for_it(storage, drop_last):
    trained = trainer(two_epochs, storage, {"drop_last": drop_last}, 3, datasets={"train": data.range(65)}).fit()
    assert trained.metrics["rows"] == (20 if drop_last else 21)
    logs = [os.path.join(trained.path, "logs", f"rank_{rank}.log") for rank in range(3)]
    said = [line for log in logs if os.path.exists(log) for line in Path(log).read_text().splitlines()]
    last = "headway: data set 'train': the last 2 rows of an epoch were dropped, because the 3 ranks have equal shares"
    assert said == ([] if drop_last else [last])


def test_what_a_function_in_datasets_gives_is_there_until_the_runs_end(storage, tmp_path):
    """Nothing else in the driver holds the data set once the task is pickled."""
    collected = tmp_path / "collected"
    os.mkfifo(collected)
    config = {"collected": str(collected)}
    handle = trainer(count_after_collection, storage, config, 1, datasets={"train": made_in_memory}).start()
    gc.collect()
    collected.write_text("")  # Waits until the rank is there.
    assert handle.wait().metrics["rows"] == ROWS


def odd(batch):
    keep = batch["id"] % 3 == 0
    return {name: values[keep] for name, values in batch.items()}


def test_shares_are_equal_behind_functions_that_drop_rows(storage, folder):
    rows = data.range(ROWS).map_batches(odd).filter(expr=col("id") > 5)
    trainer(every_batch, storage, {"folder": str(folder)}, datasets={"train": rows}).fit()
    shares = recorded(folder)
    assert [len(step) for step in shares["rank 0"]] == [len(step) for step in shares["rank 1"]]
    assert sorted(flat(shares)) == list(range(6, ROWS, 3))


def data_process_of(driver):
    [found] = [pid for pid, line in processes.descendants(driver).items() if line.endswith("/headway-data")]
    return found


def resumable(config):
    """Trains two epochs with a checkpoint after each step; dies where the configuration says."""
    context, shard = train.get_context(), train.get_dataset_shard("train")
    done = 0
    checkpoint = train.get_checkpoint()
    if checkpoint is not None:
        with checkpoint.as_directory() as folder, open(os.path.join(folder, "state.json")) as file:
            done = json.load(file)["epoch"]
    for epoch in range(done, 2):
        batches = iter(shard.iter_batches(batch_size=config["batch_size"]))
        for step, batch in enumerate(batches):
            marker = os.path.join(config["folder"], "killed")
            if (epoch, step) in (config.get("dies_at"), config.get("fails_at")) and not os.path.exists(marker):
                train.collective.barrier()  # All have written down the steps before.
                if context.get_world_rank() == context.get_world_size() - 1:
                    open(marker, "w").close()
                    if "driver" in config:
                        os.kill(data_process_of(config["driver"]), signal.SIGKILL)
                        for _ in batches:
                            pass  # Those that are there already; then it is seen to have ended.
                    elif "dies_at" in config:
                        os.kill(os.getpid(), signal.SIGKILL)
                    raise RuntimeError("as configured")
                signal.pause()
            os.makedirs("state", exist_ok=True)
            with open("state/state.json", "w") as file:
                json.dump({"epoch": epoch}, file)
            ids = [int(each) for each in batch["id"]]
            train.report({"epoch": epoch, "ids": json.dumps(ids)}, checkpoint=Checkpoint("state"))
            record(config["folder"], batch)


def trained(folder, world_size):
    """The ids in the order in which the group trained on them, each step's by rank."""
    shares = recorded(folder)
    steps = zip(*(shares[f"rank {rank}"] for rank in range(world_size)), strict=True)
    return [each for step in steps for ids in step for each in ids]


@pytest.fixture
def undisturbed(storage, tmp_path):
    """The ids of a run that nothing happened to, with the data set that it had."""

    def run(rows, name):
        folder = tmp_path / name
        folder.mkdir()
        config = {"folder": str(folder), "batch_size": 20}
        trainer(resumable, storage, config, datasets={"train": rows}, name=name).fit()
        return trained(folder, 2)

    return run


def test_a_killed_rank_s_group_resumes_at_the_next_row(storage, tmp_path, undisturbed):
    rows = data.range(ROWS).random_shuffle(seed=7)
    expected = undisturbed(rows, "undisturbed")
    assert sorted(expected) == sorted([*range(ROWS)] * 2)
    folder = tmp_path / "disturbed"
    folder.mkdir()
    config = {"folder": str(folder), "batch_size": 20, "dies_at": (1, 3)}
    options = {"datasets": {"train": rows}, "failure_config": FailureConfig(max_failures=1)}
    trainer(resumable, storage, config, name="disturbed", **options).fit()
    assert (folder / "killed").exists()
    assert trained(folder, 2) == expected


def test_a_killed_data_process_s_group_resumes_at_the_next_row(storage, tmp_path, undisturbed):
    rows = data.range(ROWS).random_shuffle(seed=7)
    expected = undisturbed(rows, "undisturbed")
    folder = tmp_path / "disturbed"
    folder.mkdir()
    config = {"folder": str(folder), "batch_size": 20, "dies_at": (1, 3), "driver": os.getpid()}
    options = {"datasets": {"train": rows}, "failure_config": FailureConfig(max_failures=1)}
    trainer(resumable, storage, config, name="disturbed", **options).fit()
    assert (folder / "killed").exists()
    assert trained(folder, 2) == expected


@pytest.mark.parametrize(("before", "after"), [(2, 1), (1, 2)])
def test_a_run_resumes_with_another_number_of_workers_at_the_next_row(storage, tmp_path, undisturbed, before, after):
    rows = data.range(ROWS).random_shuffle(seed=7)
    expected = undisturbed(rows, "undisturbed")
    parts = []
    for part, workers in enumerate((before, after)):
        folder = tmp_path / f"part {part}"
        folder.mkdir()
        config = {"folder": str(folder), "batch_size": 40 // workers}
        if part == 0:
            config["fails_at"] = (0, 4)
            with pytest.raises(train.WorkerGroupError):
                trainer(resumable, storage, config, workers, datasets={"train": rows}, name="resized").fit()
        else:
            trainer(resumable, storage, config, workers, datasets={"train": rows}, name="resized").fit()
        parts += trained(folder, workers)
    assert parts == expected


def test_an_unseeded_shuffle_resumes_in_its_own_order(storage, folder):
    rows = data.range(ROWS).random_shuffle()
    for part in range(2):
        config = {"folder": str(folder), "batch_size": 20}
        if part == 0:
            config["fails_at"] = (0, 2)
            with pytest.raises(train.WorkerGroupError):
                trainer(resumable, storage, config, datasets={"train": rows}, name="unseeded").fit()
        else:
            trainer(resumable, storage, config, datasets={"train": rows}, name="unseeded").fit()
    ids = trained(folder, 2)
    assert sorted(ids[:ROWS]) == sorted(ids[ROWS:]) == list(range(ROWS))
    assert ids[:ROWS] != ids[ROWS:]


def test_what_is_not_split_goes_to_every_rank_whole(storage, tmp_path):
    def loop(config):
        rows = [int(each) for batch in train.get_dataset_shard("val").iter_batches() for each in batch["id"]]
        shared = sum(len(batch["id"]) for batch in train.get_context().get_dataset_shard().iter_batches())
        train.report({"rows": len(rows), "shared": shared}, reduce="sum")

    datasets = {"train": data.range(ROWS), "val": data.range(10)}
    options = {"datasets": datasets, "dataset_config": DataConfig(datasets_to_split=["train"])}
    metrics = trainer(loop, storage, {}, **options).fit().metrics
    assert (metrics["rows"], metrics["shared"]) == (20, ROWS)


class OwnConfig(DataConfig):
    def configure(self, datasets, world_size, worker_handles, worker_node_ids, **kwargs):
        assert worker_handles is None
        context = data.DataContext.get_current()
        context.execution_options = DataConfig.default_ingest_options()
        shards = datasets["train"].streaming_split(world_size, equal=True, locality_hints=worker_node_ids)
        return [{"own": shard} for shard in shards]


def test_a_user_s_own_split(storage):
    def loop(config):
        rows = sum(len(batch["id"]) for batch in train.get_dataset_shard("own").iter_batches())
        train.report({"rows": rows}, reduce="sum")

    assert trainer(loop, storage, {}, dataset_config=OwnConfig()).fit().metrics["rows"] == ROWS


def test_the_training_function_in_this_process_has_its_shard(storage, folder):
    trainer(every_batch, storage, {"folder": str(folder)}, workers=0).fit()
    assert flat(recorded(folder)) == list(range(ROWS))


def test_a_rank_need_not_import_what_batches_need(storage):
    def loop():
        before = set(sys.modules)
        next(iter(train.get_dataset_shard("train").iter_batches(batch_size=4)))
        return sorted({name.partition(".")[0] for name in set(sys.modules) - before})

    trainer = DataParallelTrainer(loop, datasets={"train": data.range(8)}, run_config=RunConfig(storage_path=storage))
    assert "numpy" not in trainer.fit().return_value


def test_a_name_that_the_trainer_does_not_have(storage):
    def loop(config):
        with pytest.raises(KeyError, match="there is no data set 'test': the trainer has 'train'"):
            train.get_dataset_shard("test")
        train.report({"done": 1})

    assert trainer(loop, storage, {}, workers=0).fit().metrics["done"] == 1


def test_torch_batches_of_a_rank_are_tensors(storage):
    def loop(config):
        import torch

        shard = session.get_dataset_shard("train")
        total = torch.zeros(())
        for batch in shard.iter_torch_batches(batch_size=16, dtypes=torch.float32):
            assert batch["id"].shape == (16,) or len(batch["id"]) == ROWS // 2 % 16
            total += batch["id"].sum()
        train.report({"total": total.item()}, reduce="sum")

    assert trainer(loop, storage, {}).fit().metrics["total"] == ROWS * (ROWS - 1) / 2


def broken(batch):
    raise ZeroDivisionError("of the function")


def test_a_function_s_exception_ends_the_run_under_its_own_name(storage):
    rows = data.range(ROWS).map_batches(broken)
    with pytest.raises(train.WorkerGroupError, match="of the function") as caught:
        trainer(every_batch, storage, {"folder": "."}, datasets={"train": rows}).fit()
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    text = str(caught.value)
    assert "In the data set's function:\nTraceback (most recent call last):\n" in text
    assert [place for place in ("in every_batch", "in broken", "contextlib", "_client.py") if place in text] == [
        "in every_batch",
        "in broken",
    ]


def test_functions_and_sources_work_where_fit_was_called(storage, tmp_path, monkeypatch):
    """As they do outside of a training."""
    import torch

    (tmp_path / "one.txt").write_text("1")

    class Ones(torch.utils.data.Dataset):
        def __len__(self):
            return 8

        def __getitem__(self, index):
            return {"one": int(open("one.txt").read())}

    def opened(row):
        return {**row, "two": int(open("one.txt").read()) + 1}

    def loop(config):
        for batch in train.get_dataset_shard("train").iter_batches(batch_size=4):
            train.report({"ones": int(batch["one"].sum()), "twos": int(batch["two"].sum())})

    monkeypatch.chdir(tmp_path)
    rows = data.from_torch(Ones()).map(opened)
    assert rows.take(1) == [{"one": 1, "two": 2}]
    assert trainer(loop, storage, {}, datasets={"train": rows}).fit().metrics["twos"] == 8


def test_data_sets_are_given_again_to_restore(storage, folder):
    trainer(every_batch, storage, {"folder": str(folder)}, name="there").fit()
    with pytest.raises(ValueError, match=r"datasets has no 'train', which the run in .* trains with; data sets"):
        DataParallelTrainer.restore(f"{storage}/there")
    assert DataParallelTrainer.restore(f"{storage}/there", datasets={"train": data.range(4)}).datasets


def test_arrays_in_a_rank_are_its_own_to_change(storage):
    def loop(config):
        for batch in train.get_dataset_shard("train").iter_batches(batch_size=30):
            batch["id"] *= 2
            assert np.all(batch["id"] % 2 == 0)
        train.report({"done": 1})

    trainer(loop, storage, {}).fit()
