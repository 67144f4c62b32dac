"""The checks of what ``headway.init`` takes for Kubernetes."""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Mapping
from typing import Any

from headway._engines.pool_options import check_pools
from headway._engines.slurm_options import check_nodes
from headway._values.arguments import check_int, check_labels, check_number, check_resources, check_str, refuse

#: What each pool of pods may have differently, with their meaning in docs/kubernetes.md.
POOL_NAMES = (
    "accelerator_type",
    "cpus_per_node",
    "gpus_per_node",
    "image",
    "memory_per_node",
    "node_labels",
    "node_selector",
    "nodes",
    "pod",
    "resources_per_node",
)
KUBERNETES_NAMES = (
    *POOL_NAMES,
    "context",
    "driver_host",
    "gpu_resource",
    "grace_s",
    "kubeconfig",
    "namespace",
    "pools",
    "python",
)
# Names of Kubernetes' objects and of hosts; amounts as Kubernetes writes them.
_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_HOST = re.compile(r"[A-Za-z0-9]([-.A-Za-z0-9]*[A-Za-z0-9])?|[0-9a-fA-F:]+")
_AMOUNT = re.compile(r"\d+(\.\d+)?([KMGTPE]i?|[km])?")


def check_kubernetes(address: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Checked and completed options, with ``pools``: what the pods of each are like, by name.

    Args:
        address: ``"kubernetes"``.
        options: By the names above; what is missing has its default.

    Raises:
        TypeError, ValueError: what is wrong, by its name. ModuleNotFoundError: the client of
        Kubernetes is not installed.
    """
    del address
    grace_s = check_number("grace_s", options.get("grace_s", 30.0), "seconds from 1 to 86400")
    if not 1 <= grace_s <= 86400:
        raise ValueError(f"grace_s is {grace_s:g}; allowed: seconds from 1 to 86400")
    checked = {
        "context": _text("context", options, "None or a context of the kubeconfig"),
        "driver_host": _matching("driver_host", options, _HOST, "None or a name or address that pods can reach"),
        "gpu_resource": _text("gpu_resource", options, "the resource that is a GPU") or "nvidia.com/gpu",
        "grace_s": grace_s,
        "kubeconfig": _text("kubeconfig", options, "None or the path of a kubeconfig"),
        "namespace": _matching("namespace", options, _NAME, "None or the name of a namespace"),
        "python": _text("python", options, "the image's Python that has Headway") or "python",
        "pools": check_pools(options, POOL_NAMES, _pool, "agents"),
    }
    if importlib.util.find_spec("kubernetes") is None:
        raise ModuleNotFoundError("Kubernetes' client is not installed, by which pods are made: pip install kubernetes")
    return checked


def _pool(where: str, given: Mapping[str, Any]) -> dict[str, Any]:
    gpus = _count(f"{where}gpus_per_node", given.get("gpus_per_node", 0), 0)
    resources = check_resources(f"{where}resources_per_node", given.get("resources_per_node") or {})
    kind = _text("accelerator_type", given, 'None or a type of GPUs, such as "A100"', where)
    if kind is not None:
        resources[f"accelerator_type:{kind}"] = 1.0
    image = _text("image", given, "the name of an image that has Headway", where)
    if image is None:
        raise TypeError(f"{where}image is not given; allowed: the name of an image that has Headway")
    return {
        "image": image,
        "nodes": check_nodes(given.get("nodes", (0, 16)), f"{where}nodes"),
        "cpus": _count(f"{where}cpus_per_node", given.get("cpus_per_node", max(1, gpus)), 1),
        "gpus": gpus,
        "memory": _matching("memory_per_node", given, _AMOUNT, 'None or an amount such as "64Gi"', where),
        "resources": resources,
        "labels": check_labels(f"{where}node_labels", given.get("node_labels") or {}),
        "node_selector": check_labels(f"{where}node_selector", given.get("node_selector") or {}),
        "pod": _pod(f"{where}pod", given.get("pod")),
    }


def _pod(argument: str, value: object) -> dict[str, Any]:
    allowed = 'None or a dict as in a manifest of a pod, such as {"spec": {"tolerations": [...]}}'
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        refuse(argument, value, allowed)
    for name in value:
        if name not in ("metadata", "spec"):
            raise ValueError(f"{argument} has {name!r}; allowed: metadata and spec, as in a manifest of a pod")
    try:
        return dict(json.loads(json.dumps(value)))
    except (TypeError, ValueError) as error:
        raise ValueError(f"{argument} can't be written as JSON: {error}; allowed: {allowed}") from None


def _text(name: str, given: Mapping[str, Any], allowed: str, where: str = "") -> str | None:
    value = given.get(name)
    if value is None:
        return None
    text = check_str(f"{where}{name}", value, allowed)
    if not text or text != text.strip() or not text.isprintable():
        raise ValueError(f"{where}{name} is {text!r}; allowed: {allowed}")
    return text


def _matching(
    name: str, given: Mapping[str, Any], pattern: re.Pattern[str], allowed: str, where: str = ""
) -> str | None:
    text = _text(name, given, allowed, where)
    if text is not None and not pattern.fullmatch(text):
        raise ValueError(f"{where}{name} is {text!r}; allowed: {allowed}")
    return text


def _count(argument: str, value: object, least: int) -> int:
    count = check_int(argument, value, f"a whole number from {least} on")
    if count < least:
        raise ValueError(f"{argument} is {count}; allowed: a whole number from {least} on")
    return count
