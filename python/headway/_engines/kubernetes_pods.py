"""Pods in which agents run: what their manifests say, and what Kubernetes says of them. Nothing
here asks anybody anything.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from headway._engines.demand import Shape
from headway._engines.protocol import ALLOCATION_LABEL, PROVIDER_LABEL, agent_command

MANAGED_BY = {"app.kubernetes.io/managed-by": "headway"}
POOL_LABEL = "headway.io/pool"
# The label of Headway's node that says which node of Kubernetes it is on.
HOST_LABEL = "kubernetes.io/hostname"
CONTAINER = "agent"
# What an agent may take to end after its notice period.
_END_S = 10
_TOKEN_FOLDER = "/var/run/headway"
# A pipe: files of secrets may be readable by their group, and the agent refuses such a file.
_SCRIPT = f"""exec "$@" --token-file /dev/stdin <<END
$(cat {_TOKEN_FOLDER}/token)
END
"""
#: Reasons for which a container waits although nothing is wrong.
_NO_REASON = ("ContainerCreating", "PodInitializing", "")


def labels_of(provider: str) -> dict[str, str]:
    """By which all that a provider has made is found."""
    return {**MANAGED_BY, PROVIDER_LABEL: provider}


def selector_of(provider: str) -> str:
    """The same as Kubernetes' lists take it."""
    return ",".join(f"{name}={value}" for name, value in labels_of(provider).items())


def shape_of(pool: Mapping[str, Any]) -> Shape:
    """What a node of a pool has."""
    return Shape(
        {"CPU": float(pool["cpus"]), "GPU": float(pool["gpus"]), **pool["resources"]},
        frozenset(),
        pool["labels"],
    )


def secret(name: str, provider: str, token: str, owner: Mapping[str, str] | None) -> dict[str, Any]:
    """What owns the others: they go when it goes.

    Args:
        name: Of all that is no pod.
        provider: The driver's.
        token: What agents prove to have.
        owner: Kind, name and uid of what it goes with; None: it goes when it is deleted.
    """
    metadata: dict[str, Any] = {"name": name, "labels": labels_of(provider)}
    if owner is not None:
        metadata["ownerReferences"] = [reference(owner)]
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": {"token": token}}


def service(name: str, provider: str, owner: Mapping[str, str]) -> dict[str, Any]:
    """Gives pods names by which they find each other."""
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "labels": labels_of(provider), "ownerReferences": [reference(owner)]},
        "spec": {"clusterIP": "None", "publishNotReadyAddresses": True, "selector": labels_of(provider)},
    }


def reference(owner: Mapping[str, str]) -> dict[str, str]:
    """An entry of ``ownerReferences``."""
    return {"apiVersion": "v1", "kind": owner["kind"], "name": owner["name"], "uid": owner["uid"]}


def pod(
    name: str, base: str, pool_name: str, options: Mapping[str, Any], site: Mapping[str, str], owner: Mapping[str, str]
) -> dict[str, Any]:
    """A pod's manifest.

    Args:
        name: The pod's, and its allocation's.
        base: The name of the secret and of the service.
        pool_name: One of ``options["pools"]``.
        options: As ``kubernetes_options`` has checked them.
        site: ``join`` and ``provider``.
        owner: The secret.
    """
    pool = options["pools"][pool_name]
    manifest: dict[str, Any] = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "labels": {**labels_of(site["provider"]), POOL_LABEL: pool_name},
            "ownerReferences": [reference(owner)],
        },
        "spec": {
            "restartPolicy": "Never",
            "hostname": name,
            "subdomain": base,
            "automountServiceAccountToken": False,
            "enableServiceLinks": False,
            "terminationGracePeriodSeconds": round(options["grace_s"]) + _END_S,
            "containers": [
                {
                    "name": CONTAINER,
                    "image": pool["image"],
                    "command": ["sh", "-c", literal(_SCRIPT), CONTAINER],
                    "args": _command(name, options, pool, site),
                    "env": [{"name": "NODE_NAME", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}],
                    "resources": _resources(options, pool),
                    "terminationMessagePolicy": "FallbackToLogsOnError",
                    "volumeMounts": [
                        {"name": "headway-token", "mountPath": _TOKEN_FOLDER, "readOnly": True},
                        {"name": "headway-shm", "mountPath": "/dev/shm"},
                    ],
                }
            ],
            "volumes": [
                {"name": "headway-token", "secret": {"secretName": base}},
                {"name": "headway-shm", "emptyDir": {"medium": "Memory"}},
            ],
        },
    }
    if pool["node_selector"]:
        manifest["spec"]["nodeSelector"] = pool["node_selector"]
    return dict(merged(manifest, pool["pod"]))


def _command(name: str, options: Mapping[str, Any], pool: Mapping[str, Any], site: Mapping[str, str]) -> list[str]:
    labels = {**pool["labels"], PROVIDER_LABEL: site["provider"], ALLOCATION_LABEL: name}
    labels.setdefault(HOST_LABEL, "\0")
    command = agent_command(options, options["python"])
    command += ["--join", site["join"], "--grace-s", f"{options['grace_s']:g}"]
    command += ["--num-cpus", str(pool["cpus"]), "--num-gpus", str(pool["gpus"])]
    if pool["resources"]:
        command += ["--resources", json.dumps(pool["resources"])]
    command += ["--labels", json.dumps(labels)]
    # Kubernetes puts the variable's value there.
    return [literal(part).replace(json.dumps("\0")[1:-1], "$(NODE_NAME)") for part in command]


def literal(text: str) -> str:
    """As Kubernetes' commands have it, where a dollar sign may begin the name of a variable."""
    return text.replace("$", "$$")


def _resources(options: Mapping[str, Any], pool: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    limits: dict[str, str] = {}
    if pool["gpus"]:
        limits[options["gpu_resource"]] = str(pool["gpus"])
    if pool["memory"]:
        limits["memory"] = pool["memory"]
    # Those that Kubernetes knows as well have a domain in their names.
    limits.update({name: f"{amount:g}" for name, amount in pool["resources"].items() if "/" in name})
    return {"requests": {"cpu": str(pool["cpus"]), **limits}, "limits": limits}


def merged(manifest: Any, more: Any) -> Any:
    """A manifest with the user's own part over it: mappings are joined, lists whose entries have
    names (containers, volumes, variables) by these names, other lists follow each other.
    """
    if isinstance(manifest, Mapping) and isinstance(more, Mapping):
        both = {**manifest, **more}
        return {
            name: merged(manifest[name], more[name]) if name in manifest and name in more else value
            for name, value in both.items()
        }
    if isinstance(manifest, list) and isinstance(more, list):
        result = list(manifest)
        for each in more:
            same = [number for number, own in enumerate(result) if _name_of(own) == _name_of(each) is not None]
            if same:
                result[same[0]] = merged(result[same[0]], each)
            else:
                result.append(each)
        return result
    return more


def _name_of(entry: Any) -> Any:
    return entry.get("name") if isinstance(entry, Mapping) else None


def why_it_waits(found: Any) -> str | None:
    """Why a pod does not run, in Kubernetes' words; None: nothing is known to be wrong.

    Args:
        found: As the client has it.
    """
    for each in found.status.container_statuses or []:
        waiting = each.state.waiting if each.state else None
        if waiting is not None and (waiting.reason or "") not in _NO_REASON:
            return f"{waiting.reason}{f': {waiting.message}' if waiting.message else ''}"
    for condition in found.status.conditions or []:
        if condition.type == "PodScheduled" and condition.status == "False":
            return condition.message or condition.reason
    return None


def how_it_ended(found: Any) -> str:
    """The last words of a pod that has ended."""
    for each in found.status.container_statuses or []:
        ended = each.state.terminated if each.state else None
        if ended is None:
            continue
        lines = [line.strip() for line in (ended.message or "").splitlines() if line.strip()]
        return lines[-1] if lines else f"{ended.reason or 'it has ended'} (exit code {ended.exit_code})"
    return found.status.message or found.status.reason or "it has said nothing"
