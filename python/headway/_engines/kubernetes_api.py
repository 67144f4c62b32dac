"""Kubernetes by its official client: what the engine asks of it, with limits of time, and its
answers in words.
"""

from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Callable
from typing import Any

import kubernetes
import urllib3

_SERVICE_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount"
# For a connection, and for an answer.
_LIMIT_S = (3.0, 10.0)
# The same at the end, when the driver waits.
_LAST_LIMIT_S = (1.0, 2.0)
# A watch is begun again after so long, so that one which has silently broken is noticed.
_WATCH_S = 60
_PAUSE_FIRST_S, _PAUSE_MAX_S = 0.5, 15.0
_GONE, _CONFLICT = 404, 409


class KubernetesError(Exception):
    """Kubernetes refuses, or does not answer; in its words."""


class Kubernetes:
    """A cluster, and the namespace in it where pods are made.

    Attributes:
        namespace: Where everything is.
    """

    def __init__(self, options: dict[str, Any]) -> None:
        inside = os.path.exists(f"{_SERVICE_ACCOUNT}/token") and not (options["kubeconfig"] or options["context"])
        configuration = kubernetes.client.Configuration()
        namespace = "default"
        try:
            if inside:
                kubernetes.config.load_incluster_config(client_configuration=configuration)
                with open(f"{_SERVICE_ACCOUNT}/namespace", encoding="utf-8") as file:
                    namespace = file.read().strip()
            else:
                where = {"config_file": options["kubeconfig"], "context": options["context"]}
                kubernetes.config.load_kube_config(**where, client_configuration=configuration)
                namespace = _namespace_of(**where) or namespace
        except (OSError, kubernetes.config.ConfigException) as error:
            raise KubernetesError(str(error)) from None
        configuration.retries = False
        self.namespace: str = options["namespace"] or namespace
        self._inside = inside
        self._limit_s = _LIMIT_S
        self._api = kubernetes.client.CoreV1Api(kubernetes.client.ApiClient(configuration))

    def _ask(self, function: Callable[..., Any], *arguments: Any, may_be_gone: bool = False, **more: Any) -> Any:
        """What it answers; None where what is to be made is there, or ``may_be_gone`` and is."""
        try:
            return function(*arguments, **more, _request_timeout=self._limit_s)
        except kubernetes.client.ApiException as error:
            if error.status == _CONFLICT and "already exists" in (error.body or ""):
                return None
            if error.status == _GONE and may_be_gone:
                return None
            raise KubernetesError(_words(error)) from None
        except urllib3.exceptions.HTTPError as error:
            raise KubernetesError(_words(error)) from None

    def create_pod(self, manifest: dict[str, Any]) -> Any:
        """The new pod."""
        return self._ask(self._api.create_namespaced_pod, self.namespace, manifest)

    def create_secret(self, manifest: dict[str, Any]) -> dict[str, str]:
        """Returns it as an owner. One that is there already stays."""
        name = manifest["metadata"]["name"]
        made = self._ask(self._api.create_namespaced_secret, self.namespace, manifest)
        made = made or self._ask(self._api.read_namespaced_secret, name, self.namespace)
        return {"kind": "Secret", "name": name, "uid": made.metadata.uid}

    def create_service(self, manifest: dict[str, Any]) -> None:
        """One that is there already stays."""
        self._ask(self._api.create_namespaced_service, self.namespace, manifest)

    def own_pod(self) -> dict[str, str] | None:
        """The pod that this process is in, as an owner; None: it is in none, or may not see it."""
        if not self._inside:
            return None
        try:
            found = self._ask(self._api.read_namespaced_pod, socket.gethostname(), self.namespace)
        except KubernetesError:
            return None
        return {"kind": "Pod", "name": found.metadata.name, "uid": found.metadata.uid}

    def pods(self, selector: str) -> Any:
        """The list of pods."""
        return self._ask(self._api.list_namespaced_pod, self.namespace, label_selector=selector)

    def delete_pod(self, name: str, grace_s: int) -> None:
        """Its agent gets SIGTERM, and SIGKILL after the grace."""
        delete = self._api.delete_namespaced_pod
        self._ask(delete, name, self.namespace, grace_period_seconds=grace_s, may_be_gone=True)

    def delete_all(self, name: str, selector: str, grace_s: int) -> None:
        """All pods, the service and the secret. The driver waits for its end."""
        failure: KubernetesError | None = None
        self._limit_s = _LAST_LIMIT_S
        more = {"label_selector": selector, "grace_period_seconds": grace_s}
        for function, arguments in (
            (self._api.delete_collection_namespaced_pod, more),
            (self._api.delete_namespaced_service, {"name": name}),
            (self._api.delete_namespaced_secret, {"name": name}),
        ):
            try:
                self._ask(function, namespace=self.namespace, **arguments, may_be_gone=True)
            except KubernetesError as error:
                failure = error
        if failure is not None:
            raise failure

    def watch(self, selector: str, heard: Callable[[str, Any], None], failed: Callable[[str], None]) -> None:
        """Calls ``heard`` with each pod that there is, or comes, changes or goes, on another
        thread, without an end: ``"ADDED"``, ``"MODIFIED"``, ``"DELETED"``; ``"ALL"`` with the list
        of those that there are, at the beginning and after each interruption.
        """
        threading.Thread(target=self._watch, args=(selector, heard, failed), name="watch", daemon=True).start()

    def _watch(self, selector: str, heard: Callable[[str, Any], None], failed: Callable[[str], None]) -> None:
        pause_s = _PAUSE_FIRST_S
        waiting = threading.Event()
        while True:
            try:
                found = self.pods(selector)
                heard("ALL", found.items)
                pause_s = _PAUSE_FIRST_S
                self._hear_changes(selector, found.metadata.resource_version, heard)
            except Exception as error:  # Libraries below raise many kinds.
                failed(_words(error))
                waiting.wait(pause_s)
                pause_s = min(2 * pause_s, _PAUSE_MAX_S)

    def _hear_changes(self, selector: str, version: str, heard: Callable[[str, Any], None]) -> None:
        changes = kubernetes.watch.Watch().stream(
            self._api.list_namespaced_pod,
            self.namespace,
            label_selector=selector,
            resource_version=version,
            timeout_seconds=_WATCH_S,
            _request_timeout=(_LIMIT_S[0], _WATCH_S + _LIMIT_S[1]),
        )
        for change in changes:
            heard(change["type"], change["object"])


def _namespace_of(config_file: str | None, context: str | None) -> str | None:
    contexts, active = kubernetes.config.list_kube_config_contexts(config_file=config_file)
    for each in [each for each in contexts if context is not None and each["name"] == context] or [active]:
        found: str | None = each["context"].get("namespace")
        return found
    return None


def _words(error: Exception) -> str:
    """What has gone wrong, in a line."""
    if isinstance(error, KubernetesError):
        return str(error)
    if isinstance(error, kubernetes.client.ApiException):
        try:
            return str(json.loads(error.body)["message"])
        except (TypeError, ValueError, KeyError):
            return f"{error.status} {error.reason}"
    cause = getattr(error, "reason", None)
    lines = str(cause or error).strip().splitlines() or [type(error).__name__]
    # urllib3 begins with the object that has failed.
    return lines[0].rpartition("object at ")[2].partition(": ")[2] or lines[0]
