"""What dies, or stands still, around a run on pods of a real Kubernetes."""

import os
import signal

import pytest
from engine_driver import (
    STEPS,
    WAITING,
    check_that_a_killed_driver_leaves_nothing,
    check_that_a_new_bridge_finds_what_there_is,
    check_that_a_stopped_driver_resumes_on_new_nodes,
)
from kubernetes_cluster import NAMESPACE
from kubernetes_driver import agents

import cluster

pytestmark = [pytest.mark.heavy, cluster.needs_tls]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_an_agent_that_is_killed_or_stands_still_is_replaced_by_a_new_pod(pods, number):
    pods.start_steps()
    (first,) = pods.cluster.pods()
    (agent,) = agents(pods)
    os.kill(agent, number)
    pods.script.wait_for("RESUMED")
    pods.cluster.wait(lambda: first not in pods.cluster.pods(), "replacement")
    pods.finish()
    pods.end()


def test_a_node_that_is_lost_is_replaced(pods):
    pods.start_steps("node_selector={'zone': 'b'}")
    (name,) = pods.cluster.pods()
    node = pods.cluster.pod(name)["spec"]["nodeName"]
    pods.cluster.remove_node(node)
    pods.script.wait_for("RESUMED")
    pods.finish()
    pods.cluster.add_node(node, labels={"zone": "b"})
    pods.end()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_driver_that_is_killed_leaves_nothing(pods, number):
    check_that_a_killed_driver_leaves_nothing(pods, number)


def test_a_driver_that_stands_still_loses_its_nodes_and_resumes_on_new_ones(pods):
    check_that_a_stopped_driver_resumes_on_new_nodes(pods, lambda: agents(pods))


def test_a_bridge_that_is_killed_finds_its_pods_again(pods):
    check_that_a_new_bridge_finds_what_there_is(pods, pods.cluster.pods)


def test_a_run_goes_on_and_ends_while_its_bridge_stands_still(pods):
    pods.start_steps()
    os.kill(pods.bridges()[0], signal.SIGSTOP)
    (pods.folder / "go").touch()
    pods.finish()
    pods.end()


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_a_run_goes_on_without_the_api_server_and_its_pods_end_all_the_same(pods, number):
    pods.start_steps()
    pods.cluster.signal("kube-apiserver", number)
    (pods.folder / "go").touch()
    pods.finish()
    if number == signal.SIGSTOP:
        pods.cluster.signal("kube-apiserver", signal.SIGCONT)
    else:
        pods.cluster.servers["kube-apiserver"].wait()
        pods.cluster.start("kube-apiserver")
        pods.cluster.wait(lambda: pods.cluster.ask("GET", "/readyz") is not None, "API")
    # What is left has no processes, and goes with its secret.
    pods.cluster.wait(lambda: not pods.cluster.pods("Running"), "ended pods")
    for each in pods.cluster.left():
        if each.startswith("secrets/"):
            pods.cluster.ask("DELETE", f"/api/v1/namespaces/{NAMESPACE}/{each}")
    pods.end()


def test_all_that_a_driver_in_a_pod_has_made_goes_with_its_pod(pods):
    """The rights that docs/kubernetes.md gives it are enough."""
    script = pods.folder / "script.py"
    script.write_text(pods.code(WAITING.replace("PARTITION", "nodes=(0, 16), cpus_per_node=1"), None))
    pods.run_driver_in_a_pod(script)
    pods.cluster.wait(lambda: pods.cluster.pods("Succeeded") == ["headway-driver"], "end", 60)
    pods.end()
    pods.cluster.ask("DELETE", f"/api/v1/namespaces/{NAMESPACE}/pods/headway-driver", {"gracePeriodSeconds": 0})


def test_pods_are_garbage_when_their_drivers_pod_is_deleted(pods):
    script = pods.folder / "script.py"
    script.write_text(pods.code(STEPS.replace("MORE", ""), None))
    pods.run_driver_in_a_pod(script)
    pods.cluster.wait(lambda: len(pods.cluster.pods("Running")) == 2, "agents")
    secret = next(each for each in pods.cluster.items("secrets") if each["metadata"]["name"].startswith("headway-"))
    assert secret["metadata"]["ownerReferences"][0]["name"] == "headway-driver"
    # Its bridge has no time to delete anything.
    pods.cluster.ask("DELETE", f"/api/v1/namespaces/{NAMESPACE}/pods/headway-driver", {"gracePeriodSeconds": 0})
    pods.end()
