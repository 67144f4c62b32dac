"""init, shutdown, resources, and several runs at a time."""

import itertools
import threading

import headway
import processes
import pytest
from headway import train

pytestmark = pytest.mark.both_starts


@pytest.fixture(autouse=True)
def a_runtime_of_its_own():
    headway.shutdown()
    yield
    headway.shutdown()


def trainer(loop, storage, workers=1, **resources):
    scaling = train.ScalingConfig(num_workers=workers, resources_per_worker=resources or None)
    return train.DataParallelTrainer(loop, scaling_config=scaling, run_config=train.RunConfig(storage_path=storage))


def test_start_and_end():
    assert not headway.is_initialized()
    headway.init(num_cpus=4, resources={"disk": 2})
    assert headway.is_initialized()
    resources = headway.cluster_resources()
    assert resources["CPU"] == 4.0
    assert resources["disk"] == 2.0
    assert resources["memory"] > 1e8
    assert headway.available_resources() == resources
    with pytest.raises(RuntimeError, match=r"started already; call headway.shutdown\(\) first"):
        headway.init()
    headway.init(num_cpus=8, ignore_reinit_error=True)
    assert headway.cluster_resources()["CPU"] == 4.0
    headway.shutdown()
    assert not headway.is_initialized()
    headway.shutdown()
    headway.init("local", num_cpus=1)
    assert headway.cluster_resources()["CPU"] == 1.0


def test_shutdown_leaves_no_process(storage):
    trainer(lambda: None, storage).fit()
    assert processes.descendants() != {}
    headway.shutdown()
    assert processes.descendants() == {}


def test_fit_starts_headway_by_itself(storage):
    trainer(lambda: None, storage).fit()
    assert headway.is_initialized()


@pytest.mark.parametrize(
    ("workers", "resources", "told"),
    [
        (1, {"CPU": 5}, "1 worker with {CPU: 5} each can never be placed: there is {CPU: 4"),
        (3, {"CPU": 2}, "3 workers with {CPU: 2} each can never be placed"),
        (1, {"unicorn": 1}, "1 worker with {unicorn: 1} each can never be placed"),
    ],
)
def test_what_can_never_be_had_is_refused_at_once_with_what_there_is(storage, workers, resources, told):
    headway.init(num_cpus=4, resources={"disk": 1})
    with pytest.raises(ValueError, match="can never be placed") as caught:
        trainer(lambda: None, storage, workers, **resources).fit()
    assert told in str(caught.value)
    assert "disk: 1" in str(caught.value)


def test_gpus_that_are_not_there_are_refused(storage):
    headway.init(num_gpus=0)
    scaling = train.ScalingConfig(num_workers=1, use_gpu=True)
    config = train.RunConfig(storage_path=storage)
    with pytest.raises(ValueError, match=r"1 worker with \{GPU: 1\} each can never be placed"):
        train.DataParallelTrainer(lambda: None, scaling_config=scaling, run_config=config).fit()


def test_more_workers_than_cpus_start_with_one_warning(storage, capfd):
    headway.init(num_cpus=2)

    def loop():
        train.report({"ranks": train.get_context().get_world_size()})

    assert trainer(loop, storage, workers=5).fit().metrics["ranks"] == 5
    assert capfd.readouterr().err.count("5 workers share 2 CPUs") == 1


def test_a_worker_has_as_many_threads_as_cpus(storage, monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    headway.init(num_cpus=8)

    def loop():
        import os

        return os.environ["OMP_NUM_THREADS"]

    assert trainer(loop, storage, workers=2).fit().return_value == "4"
    assert trainer(loop, storage, workers=2, CPU=3).fit().return_value == "3"
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    assert trainer(loop, storage).fit().return_value == "7"


def test_runs_of_two_threads_go_on_side_by_side(storage):
    headway.init(num_cpus=4)

    def loop(config):
        # Each waits until the other is there: one after the other would never end.
        import os

        mine, other = config["mine"], config["other"]
        os.mkfifo(mine) if not os.path.exists(mine) else None
        if config["first"]:
            with open(mine, "w") as pipe:
                pipe.write("hello")
            with open(other) as pipe:
                return pipe.read()
        with open(other) as pipe:
            heard = pipe.read()
        with open(mine, "w") as pipe:
            pipe.write("hello too")
        return heard

    import os

    os.makedirs(storage)
    left, right = os.path.join(storage, "left"), os.path.join(storage, "right")
    os.mkfifo(left)
    os.mkfifo(right)
    results = {}

    def run(name, config):
        config_of_run = train.RunConfig(name=name, storage_path=storage)
        job = train.DataParallelTrainer(loop, train_loop_config=config, run_config=config_of_run)
        results[name] = job.fit().return_value

    threads = [
        threading.Thread(target=run, args=("a", {"mine": left, "other": right, "first": True})),
        threading.Thread(target=run, args=("b", {"mine": right, "other": left, "first": False})),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert results == {"a": "hello too", "b": "hello"}


def test_runs_that_do_not_fit_beside_each_other_queue(storage):
    headway.init(num_cpus=2)
    order = []

    def loop():
        import time

        begun = time.monotonic()
        for step in range(20):
            train.report({"step": step})
        return begun, time.monotonic()

    def run():
        order.append(trainer(loop, storage, workers=2, CPU=1).fit().return_value)

    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    spans = sorted(order)
    assert len(spans) == 3
    for earlier, later in itertools.pairwise(spans):
        assert earlier[1] <= later[0], "one begins when the other has ended"
    assert headway.available_resources() == headway.cluster_resources()


def test_resources_are_claimed_while_a_run_goes_on(storage):
    headway.init(num_cpus=4)
    seen = []

    class Hooks(train.Backend):
        def on_start(self, worker_group, backend_config):
            seen.append(headway.available_resources()["CPU"])

    class Config(train.BackendConfig):
        @property
        def backend_cls(self):
            return Hooks

    scaling = train.ScalingConfig(num_workers=2, resources_per_worker={"CPU": 1.5})
    config = train.RunConfig(storage_path=storage)
    train.DataParallelTrainer(lambda: None, backend_config=Config(), scaling_config=scaling, run_config=config).fit()
    assert seen == [1.0]
    assert headway.available_resources()["CPU"] == 4.0


def test_shutdown_ends_a_run_of_another_thread(storage):
    headway.init(num_cpus=4)
    reported = threading.Event()
    errors = []

    class Hooks(train.Backend):
        def on_training_start(self, worker_group, backend_config):
            reported.set()

    class Config(train.BackendConfig):
        @property
        def backend_cls(self):
            return Hooks

    def loop():
        threading.Event().wait()

    def run():
        try:
            train.DataParallelTrainer(
                loop, backend_config=Config(), run_config=train.RunConfig(storage_path=storage)
            ).fit()
        except RuntimeError as error:
            errors.append(str(error))

    thread = threading.Thread(target=run)
    thread.start()
    assert reported.wait(30)
    headway.shutdown()
    thread.join(30)
    assert errors == ["the shutdown of Headway ended the run"]
    assert processes.descendants() == {}
