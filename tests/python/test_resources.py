"""What each worker gets of a machine, with devices that are made up: shares, GPUs, places, queues,
refusals.
"""

import os
import threading

import headway
import pytest
from headway import train


@pytest.fixture(autouse=True)
def a_machine_of_its_own():
    headway.shutdown()
    yield
    headway.shutdown()


def fit_on(storage, loop, workers=2, name=None, **scaling):
    return train.DataParallelTrainer(
        loop,
        scaling_config=train.ScalingConfig(num_workers=workers, **scaling),
        run_config=train.RunConfig(storage_path=storage, name=name),
    ).fit()


def gpus_of_ranks(storage, tmp_path, workers, **scaling):
    """By rank, which devices it sees and which are its own."""

    def loop():
        from headway import _session as session

        plan = session.current("the test").context["plan"]
        own = ",".join(plan["slot"]["gpu_ids"])
        (tmp_path / f"rank_{plan['rank']}").write_text(os.environ["CUDA_VISIBLE_DEVICES"] + " " + own)

    fit_on(storage, loop, workers, use_gpu=True, **scaling)
    return [(tmp_path / f"rank_{rank}").read_text().split() for rank in range(workers)]


def test_each_worker_has_its_own_gpu_and_sees_those_of_the_group(storage, tmp_path):
    headway.init(num_gpus=4)
    assert gpus_of_ranks(storage, tmp_path, 2) == [["0,1", "0"], ["0,1", "1"]]


def test_several_gpus_a_worker(storage, tmp_path):
    headway.init(num_gpus=4)
    each_two = gpus_of_ranks(storage, tmp_path, 2, resources_per_worker={"GPU": 2})
    assert each_two == [["0,1,2,3", "0,1"], ["0,1,2,3", "2,3"]]


def test_two_workers_share_a_gpu(storage, tmp_path):
    headway.init(num_gpus=1)
    assert gpus_of_ranks(storage, tmp_path, 2, resources_per_worker={"GPU": 0.5}) == [["0", "0"], ["0", "0"]]


def test_what_trial_resources_say(storage):
    headway.init(num_cpus=8, resources={"licence": 2})

    def loop():
        resources = train.get_context().get_trial_resources()
        train.report({"all": resources.required_resources, "strategy": resources.strategy})

    share = {"CPU": 2, "licence": 1}
    result = fit_on(storage, loop, resources_per_worker=share, placement_strategy="SPREAD")
    assert result.metrics["all"] == {"CPU": 4.0, "licence": 2.0}
    assert result.metrics["strategy"] == "SPREAD"


@pytest.mark.parametrize(
    ("scaling", "words"),
    [
        ({"resources_per_worker": {"CPU": 3}}, "2 workers with {CPU: 3} each can never be placed: there is {CPU: 4"),
        ({"use_gpu": True}, "2 workers with {GPU: 1} each can never be placed"),
        ({"resources_per_worker": {"licence": 1}}, "2 workers with {licence: 1} each can never be placed"),
        ({"trainer_resources": {"CPU": 5}}, "{CPU: 5} beside them (trainer_resources) can never be placed"),
        ({"placement_strategy": "STRICT_SPREAD"}, "2 workers on a node each can never be placed"),
        ({"accelerator_type": "A100"}, "{accelerator_type:A100: 0.001} each can never be placed"),
        ({"label_selector": {"region": "eu"}}, "on nodes with {region: eu} can never be placed"),
    ],
)
def test_what_can_never_be_had_is_refused_at_once_with_what_there_is(storage, scaling, words):
    headway.init(num_cpus=4, num_gpus=0, labels={"region": "us"})
    with pytest.raises(ValueError, match="can never be placed") as caught:
        fit_on(storage, lambda: None, **scaling)
    assert words in str(caught.value)
    assert "with the labels {region: us}" in str(caught.value)
    assert headway.available_resources() == headway.cluster_resources()


def test_labels_and_accelerators_that_are_there_are_found(storage):
    headway.init(num_gpus=2, resources={"accelerator_type:A100": 1}, labels={"region": "eu"})
    selector = [{"region": "in(eu, us)"}, {"headway.io/accelerator-type": "A100"}]
    result = fit_on(storage, lambda: "placed", use_gpu=True, accelerator_type="A100", label_selector=selector)
    assert result.return_value == "placed"


def test_runs_that_do_not_fit_beside_each_other_wait_their_turn(storage, tmp_path):
    """Each notes when it is there: two at a time would find the other's file."""
    headway.init(num_cpus=2)
    there = tmp_path / "there"

    def loop():
        there.touch(exist_ok=False)
        train.report({})
        there.unlink()

    def fit(name):
        try:
            fit_on(storage, loop, 1, name, resources_per_worker={"CPU": 1}, trainer_resources={"CPU": 1})
        except BaseException as error:
            failures.append(error)

    failures = []
    threads = [threading.Thread(target=fit, args=(f"run_{i}",)) for i in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert headway.available_resources()["CPU"] == 2.0


def test_what_a_configuration_comes_to():
    scaling = train.ScalingConfig(
        num_workers=3, use_gpu=True, resources_per_worker={"CPU": 2, "licence": 1}, trainer_resources={"CPU": 1}
    )
    assert (scaling.num_cpus_per_worker, scaling.num_gpus_per_worker) == (2, 1)
    assert scaling.additional_resources_per_worker == {"licence": 1}
    assert scaling.total_resources == {"CPU": 7, "GPU": 3, "licence": 3}
    assert train.ScalingConfig(num_workers=2).total_resources == {"CPU": 2}
    assert train.ScalingConfig(num_workers=(1, 3)).total_resources == {"CPU": 3}


def test_a_label_selector_for_each_worker_that_no_node_meets_is_told(storage):
    headway.init(num_cpus=4, labels={"region": "us"})
    selectors = [{"region": "us"}, {"region": "eu"}]
    with pytest.raises(ValueError, match=r"on nodes with \{region: us\}, \{region: eu\} \(one a worker\) can never"):
        fit_on(storage, lambda: None, label_selector=selectors)
    assert (
        fit_on(storage, lambda: "placed", label_selector=[{"region": "us"}, {"region": "!eu"}]).return_value == "placed"
    )
