"""Nodes from a real Kubernetes: etcd, API server, scheduler and controllers."""

import os
import signal

import pytest
from engine_driver import (
    WAITING,
    check_that_the_demo_learns_digits_on_three_nodes,
    check_that_trials_run_on_all_nodes_at_once,
    check_that_two_drivers_share_three_nodes,
)
from kubernetes_cluster import NAMESPACE
from kubernetes_driver import KubernetesDriver

import cluster

pytestmark = [pytest.mark.heavy, cluster.needs_tls]


def test_a_run_trains_on_three_nodes_and_all_pods_end_with_the_driver(pods):
    pods.start("""
    start()

    def loop():
        context = train.get_context()
        print("NODE", context.get_node_rank(), os.uname().nodename, flush=True)
        train.report({"size": context.get_world_size()})

    result = fit(loop, 3, placement_strategy="STRICT_SPREAD", label_selector={"kubernetes.io/hostname": "!k9"})
    print("RESULT", result.metrics["size"], headway.cluster_resources()["CPU"], flush=True)
    """)
    output = pods.finish()
    assert "RESULT 3 3.0" in output
    for rank in range(3):
        assert f"(rank {rank}) NODE {rank} headway-" in output, output
    pods.end()


def test_a_pod_that_fits_nowhere_is_explained_in_kubernetes_words_and_ctrl_c_deletes_it(pods):
    pods.start(WAITING.replace("PARTITION", "cpus_per_node=64"))
    assert "3 Insufficient cpu" in pods.script.wait_for("a pod waits in Kubernetes: ")
    os.kill(pods.script.process.pid, signal.SIGINT)
    _, output = pods.script.finish()
    assert "stopped by Ctrl-C" in output
    pods.end()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("image='missing'", "a pod waits in Kubernetes: ErrImagePull: there is no such image"),
        ("python='python9'", "a pod has ended before its node joined: agent: 1: exec: python9: not found"),
        ("namespace='nowhere'", 'Kubernetes refuses a pod: namespaces "nowhere" not found'),
        ("pod={'spec': {'restartPolicy': 'Sometimes'}}", "Kubernetes refuses a pod: Pod "),
    ],
)
def test_what_goes_wrong_with_a_pod_is_said(pods, options, words):
    pods.start(WAITING.replace("PARTITION", options))
    pods.script.wait_for(words)
    os.kill(pods.script.process.pid, signal.SIGINT)
    pods.script.finish()
    pods.end()


def test_an_eviction_is_a_notice_and_the_run_goes_on_in_a_new_pod(pods):
    pods.start_steps("grace_s=4")
    (name,) = pods.cluster.pods("Running")
    eviction = {"apiVersion": "policy/v1beta1", "kind": "Eviction", "metadata": {"name": name, "namespace": NAMESPACE}}
    assert pods.cluster.ask("POST", f"/api/v1/namespaces/{NAMESPACE}/pods/{name}/eviction", eviction) is not None
    pods.script.wait_for("NOTICED")
    pods.script.wait_for("RESUMED")
    pods.finish()
    pods.end()


def test_an_idle_pod_is_given_back_while_the_driver_goes_on(pods):
    pods.start("""
    start(idle_s=0)
    fit(lambda: None, 2)
    mark("trained")
    wait_for("over")
    """)
    pods.cluster.wait(lambda: (pods.folder / "trained").exists() and not pods.cluster.pods(), "emptiness")
    (pods.folder / "over").touch()
    pods.finish()
    pods.end()


def test_workers_of_a_group_go_to_pods_of_several_kinds(pods):
    pods.start("""
    start(pools={
        "gpu": {"node_labels": {"kind": "gpu"}, "accelerator_type": "A100", "node_selector": {"zone": "a"}},
        "cpu": {"node_labels": {"kind": "cpu"}},
    })

    def loop():
        print("RANK", train.get_context().get_world_rank(), os.uname().nodename, flush=True)

    fit(loop, 3, label_selector=[{"kind": "gpu"}, {"kind": "cpu"}, {"kind": "cpu"}])
    fit(lambda: None, 1, accelerator_type="A100")
    mark("trained")
    wait_for("over")
    """)
    pods.cluster.wait((pods.folder / "trained").exists, "end")
    found = {
        each["metadata"]["labels"]["headway.io/pool"]: each["spec"]["nodeName"] for each in pods.cluster.items("pods")
    }
    assert sorted(found) == ["cpu", "gpu"]
    assert found["gpu"] == "k1"
    assert len(pods.cluster.pods("Running")) == 3
    (pods.folder / "over").touch()
    pods.finish()
    pods.end()


def test_an_elastic_group_grows_onto_a_node_that_is_added(pods):
    pods.start("""
    start(cpus_per_node=2)

    def loop():
        size = train.get_context().get_world_size()
        print("SIZE", size, flush=True)
        while size < 4:
            threading.Event().wait(0.05)
            if train.get_context().get_world_rank() == 0:
                save(0)
            else:
                train.report({})

    fit(loop, (1, 4), resources_per_worker={"CPU": 2}, elastic_resize_monitor_interval_s=0.2)
    """)
    pods.script.wait_for("(rank 2) SIZE 3")
    pods.cluster.add_node("k4")
    assert "(rank 3) SIZE 4" in pods.finish()
    pods.end()
    pods.cluster.remove_node("k4")


def test_two_drivers_share_the_cluster(pods, another_script):
    other = KubernetesDriver(another_script, another_script.folder, pods.cluster, NAMESPACE)
    check_that_two_drivers_share_three_nodes(pods, other, "cpus_per_node=2")


def test_trials_of_a_tuner_run_in_all_pods_at_once(pods):
    check_that_trials_run_on_all_nodes_at_once(pods)


def test_the_demo_learns_digits_with_a_rank_in_each_pod_and_recovers(pods):
    assert "3 workers on CPUs of 3 nodes" in check_that_the_demo_learns_digits_on_three_nodes(pods)
