"""What ``headway.init("kubernetes", ...)`` refuses, the manifests of pods, and which pods a demand
needs. Nothing here needs Kubernetes, or its client.
"""

import json

import pytest
from headway._engines.demand import shares
from headway._engines.kubernetes_options import check_kubernetes
from headway._engines.kubernetes_pods import merged, pod, secret, service, shape_of
from kubernetes_kubelet import expanded
from test_engine_demand import part

OWNER = {"kind": "Secret", "name": "headway-7", "uid": "u"}


@pytest.fixture
def check(tmp_path, monkeypatch):
    """``check_kubernetes``, where the client is there."""
    (tmp_path / "kubernetes").mkdir()
    (tmp_path / "kubernetes" / "__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    return lambda **options: check_kubernetes("kubernetes", {"image": "headway:1", **options})


def manifest(checked, pool="agents"):
    return pod("headway-7-1", "headway-7", pool, checked, {"provider": "7", "join": "10.0.0.1:9"}, OWNER)


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"image": None}, TypeError, "image is not given; allowed: the name of an image"),
        ({"image": ""}, ValueError, "image is ''"),
        ({"image": 3}, TypeError, "image is 3 (int)"),
        ({"cpus_per_node": 0}, ValueError, "cpus_per_node is 0"),
        ({"gpus_per_node": -1}, ValueError, "gpus_per_node is -1"),
        ({"nodes": (3, 2)}, ValueError, "nodes is (3, 2)"),
        ({"memory_per_node": "much"}, ValueError, "memory_per_node is 'much'"),
        ({"namespace": "Mine"}, ValueError, "namespace is 'Mine'"),
        ({"driver_host": "a b"}, ValueError, "driver_host is 'a b'"),
        ({"grace_s": 0}, ValueError, "grace_s is 0"),
        ({"pod": {"kind": "Job"}}, ValueError, "pod has 'kind'; allowed: metadata and spec"),
        ({"pod": {"spec": {1, 2}}}, ValueError, "pod can't be written as JSON"),
        ({"pools": []}, TypeError, "pools is [] (list)"),
        ({"pools": {}}, ValueError, "pools has 0 pools"),
        ({"pools": {"GPU": {}}}, ValueError, "pools has 'GPU'"),
        ({"pools": {"gpu": {"gpus": 1}}}, TypeError, "pools['gpu']() got an unexpected keyword argument 'gpus'"),
        ({"pools": {"gpu": {"gpus_per_node": "1"}}}, TypeError, "pools['gpu'].gpus_per_node is '1' (str)"),
    ],
)
def test_a_bad_argument_is_refused_by_its_name(check, options, error, words):
    with pytest.raises(error) as refused:
        check(**options)
    assert words in str(refused.value)


def test_a_pod_runs_an_agent_that_offers_what_the_pod_asks_for(check):
    checked = check(gpus_per_node=2, memory_per_node="8Gi", resources_per_node={"example.com/nic": 1}, grace_s=20)
    made = manifest(checked)
    (container,) = made["spec"]["containers"]
    more = {"nvidia.com/gpu": "2", "memory": "8Gi", "example.com/nic": "1"}
    assert container["resources"] == {"requests": {"cpu": "2", **more}, "limits": more}
    assert made["spec"]["terminationGracePeriodSeconds"] == 30
    assert made["metadata"]["ownerReferences"] == [{"apiVersion": "v1", **OWNER}]
    command = [expanded(each, {"NODE_NAME": "k1"}) for each in container["args"]]
    assert command[:5] == ["python", "-m", "headway.agent", "--join", "10.0.0.1:9"]
    assert json.loads(command[command.index("--labels") + 1]) == {
        "headway.io/provider": "7",
        "headway.io/allocation": "headway-7-1",
        "kubernetes.io/hostname": "k1",
    }
    assert command[command.index("--num-gpus") + 1] == "2"


def test_a_dollar_sign_of_a_label_stays_one(check):
    checked = check(node_labels={"kubernetes.io/hostname": "mine", "cost": "$(HOME) $$5"})
    args = manifest(checked)["spec"]["containers"][0]["args"]
    labels = json.loads(expanded(args[args.index("--labels") + 1], {"HOME": "/root", "NODE_NAME": "k1"}))
    assert labels["cost"] == "$(HOME) $$5"
    assert labels["kubernetes.io/hostname"] == "mine"


def test_the_users_part_of_a_manifest_joins_the_agents_container_and_volumes(check):
    own = {"name": "agent", "env": [{"name": "A", "value": "b"}], "resources": {"limits": {"cpu": "9"}}}
    spec = {"containers": [own, {"name": "side", "image": "x"}], "volumes": [{"name": "data"}], "hostNetwork": True}
    made = manifest(check(pod={"spec": spec, "metadata": {"labels": {"team": "t"}}}, node_selector={"zone": "a"}))
    agent, side = made["spec"]["containers"]
    assert [each["name"] for each in agent["env"]] == ["NODE_NAME", "A"]
    assert agent["resources"] == {"requests": {"cpu": "1"}, "limits": {"cpu": "9"}}
    assert side == {"name": "side", "image": "x"}
    assert [each["name"] for each in made["spec"]["volumes"]] == ["headway-token", "headway-shm", "data"]
    assert made["spec"]["hostNetwork"] is True
    assert made["spec"]["nodeSelector"] == {"zone": "a"}
    assert made["metadata"]["labels"]["team"] == "t"
    assert made["metadata"]["labels"]["headway.io/pool"] == "agents"
    assert merged({"a": [1]}, {"a": [2]}) == {"a": [1, 2]}


def test_a_secret_goes_with_the_drivers_pod_and_a_service_with_the_secret():
    driver = {"kind": "Pod", "name": "train", "uid": "v"}
    assert secret("headway-7", "7", "token", driver)["metadata"]["ownerReferences"] == [{"apiVersion": "v1", **driver}]
    assert "ownerReferences" not in secret("headway-7", "7", "token", None)["metadata"]
    made = service("headway-7", "7", OWNER)
    assert made["spec"]["clusterIP"] == "None"
    assert made["spec"]["selector"].items() <= manifest_labels().items()


def manifest_labels():
    options = check_options()
    return manifest(options)["metadata"]["labels"]


def check_options():
    pool = {"image": "i", "cpus": 1, "gpus": 0, "memory": None, "resources": {}, "labels": {}, "node_selector": {}}
    return {"grace_s": 30.0, "python": "python", "gpu_resource": "g", "pools": {"agents": {**pool, "pod": {}}}}


def test_each_worker_of_a_group_is_asked_of_the_first_kind_of_pods_that_serves_it(check):
    pools = check(
        pools={
            "gpu": {"gpus_per_node": 2, "accelerator_type": "A100", "node_labels": {"kind": "gpu"}},
            "cpu": {"cpus_per_node": 4, "node_labels": {"kind": "cpu"}},
        }
    )["pools"]
    shapes = [shape_of(pool) for pool in pools.values()]
    mixed = part(3, selectors=[{"kind": "gpu"}, {"kind": "cpu"}, {"kind": "cpu"}], beside={"CPU": 1.0})
    gpu, cpu = shares([mixed], shapes).of
    assert [(each["workers_max"], each["selectors"], each["beside"]) for each in (*gpu, *cpu)] == [
        (1, [{"kind": "gpu"}], {"CPU": 1.0}),
        (2, [{"kind": "cpu"}], {}),
    ]
    assert [len(own) for own in shares([part(1, each={"accelerator_type:A100": 0.001})], shapes).of] == [1, 0]
    assert [len(own) for own in shares([part(1, each={"CPU": 3.0})], shapes).of] == [0, 1]
    none = shares([part(1, selectors=[{"kind": "tpu"}])], shapes)
    assert none.of == [[], []]
    assert none.cannot == "1 worker with {CPU: 1} each on nodes with {'kind': 'tpu'}"
