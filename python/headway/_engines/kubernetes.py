"""Nodes from Kubernetes: a pod for each, in which an agent runs."""

from __future__ import annotations

import queue
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from headway._engines.demand import Shape, needed, shares
from headway._engines.kubernetes_api import Kubernetes, KubernetesError
from headway._engines.kubernetes_pods import (
    POOL_LABEL,
    how_it_ended,
    pod,
    secret,
    selector_of,
    service,
    shape_of,
    why_it_waits,
)
from headway._engines.protocol import Engine, Site

# Between two tries to make something, after one has failed or a pod has ended without joining.
_PAUSE_FIRST_S, _PAUSE_MAX_S = 1.0, 60.0
# What an agent that is not needed may take to end by itself.
_END_S = 3
# Before a pod is deleted once more, when Kubernetes has not done it.
_AGAIN_S = 5.0


@dataclass
class Pod:
    """A pod, by its name.

    Attributes:
        seen: As Kubernetes had it; None: not yet.
        is_up: Its agent has joined, and is connected.
        was_up: It has joined before.
        is_ending: It is being deleted, whoever wants it.
        again_at: When Kubernetes is asked once more to delete it.
    """

    name: str
    pool: str
    seen: Any = None
    is_up: bool = False
    was_up: bool = False
    is_ending: bool = False
    again_at: float | None = None

    @property
    def waits(self) -> bool:
        """Whether no node of Kubernetes has taken it."""
        return not self.was_up and (self.seen is None or not self.seen.spec.node_name)


class Pool:
    """Pods that are alike: how many there should be."""

    def __init__(self, name: str, options: Mapping[str, Any]) -> None:
        self.name = name
        self.shape: Shape = shape_of(options)
        self.least, self.most = options["nodes"]
        self.least_now = self.least  # Until something is wanted.
        self._parts: list[dict[str, Any]] = []
        self._could_use: list[dict[str, Any]] = []
        self._base = 0

    def want(self, parts: list[dict[str, Any]], could_use: list[dict[str, Any]], up: int) -> str | None:
        """The pool's part of the demand; returns what is wrong with it."""
        if could_use != self._could_use:
            self._base = up
        self._parts, self._could_use = parts, could_use
        nodes = needed(parts, self.shape)
        return f"{nodes} nodes are wanted, and nodes=({self.least}, {self.most})" if nodes > self.most else None

    def target(self) -> int:
        """How many pods there should be; fewer than there are: those that wait are withdrawn."""
        if not self._parts and not self._could_use:
            return self.least_now
        more = needed(self._could_use, self.shape)
        return min(max(needed(self._parts, self.shape), self._base + more if more else 0), self.most)


class KubernetesEngine(Engine):
    """See :class:`~headway._engines.protocol.Engine`."""

    tick_s = 0.25

    def open(self, site: Site) -> None:
        """Finds what a former bridge has left."""
        self._site = site
        self._name = f"headway-{site.provider}"
        self._selector = selector_of(site.provider)
        host, _, port = site.join.rpartition(":")
        self._place = {"provider": site.provider, "join": f"{site.options['driver_host'] or host}:{port}"}
        self._pools = [Pool(name, options) for name, options in site.options["pools"].items()]
        self._pods: dict[str, Pod] = {}
        self._changes: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
        self._owner: dict[str, str] | None = None
        self._seen_all = False
        self._wants = any(pool.least for pool in self._pools)
        # Another one when the bridge is started again: names of pods are used once.
        self._life = secrets.token_hex(2)
        self._made = 0
        self._pause_s = 0.0
        self._not_before = 0.0
        self._cluster: Kubernetes | None = None
        try:
            self._cluster = Kubernetes(site.options)
        except KubernetesError as error:
            site.failed(f"Kubernetes cannot be used: {error}")
            return
        self._cluster.watch(self._selector, lambda kind, found: self._changes.put((kind, found)), self._watch_failed)
        site.ready()

    def want(self, parts: list[dict[str, Any]], could_use: list[dict[str, Any]]) -> None:
        """Makes pods, and withdraws those that nobody waits for."""
        self._wants = bool(parts) or any(pool.least for pool in self._pools)
        shapes = [pool.shape for pool in self._pools]
        shared, more = shares(parts, shapes), shares(could_use, shapes)
        if shared.cannot:
            has = "; ".join(f"{pool.name} has {pool.shape.text()}" for pool in self._pools)
            self._site.warn(f"no pod serves {shared.cannot}: a pod of {has}")
        for pool, own, further in zip(self._pools, shared.of, more.of, strict=True):
            if parts:
                pool.least_now = 0
            up = sum(each.is_up for each in self._pods.values() if each.pool == pool.name)
            if words := pool.want(own, further, up):
                self._site.warn(words)
        self._settle()

    def joined(self, allocation: str, node: str) -> None:
        """An agent has reached the driver."""
        found = self._pods.setdefault(allocation, Pod(allocation, self._pools[0].name))
        found.is_up = found.was_up = True
        self._pause_s = 0.0

    def give_back(self, allocation: str) -> None:
        """Ends a pod."""
        if (found := self._pods.get(allocation)) is not None:
            self._delete([found], _END_S)

    def left(self, allocation: str) -> None:
        """A pod whose agent is gone, or stands still, is of no use."""
        if (found := self._pods.get(allocation)) is not None:
            found.is_up = False
            self._delete([found], _END_S)
            self._settle()

    def tick(self) -> None:
        """Looks at what Kubernetes has said."""
        self._settle()

    def close(self) -> None:
        """Ends all pods. The driver has dismissed their agents."""
        if self._cluster is None:
            return
        try:
            self._cluster.delete_all(self._name, self._selector, _END_S)
        except KubernetesError as error:
            self._site.warn(
                f"Kubernetes does not delete what is labelled {self._selector}: {error}; agents end by themselves"
            )

    # -- What there is, and what is to be done about it.

    def _watch_failed(self, words: str) -> None:
        self._site.warn(f"Kubernetes does not answer: {words}; nodes that have joined go on")

    def _settle(self) -> None:
        if self._cluster is None:
            return
        while not self._changes.empty():
            kind, found = self._changes.get()
            self._hear(kind, found)
        now = time.monotonic()
        self._delete([each for each in self._pods.values() if each.again_at is not None and now >= each.again_at], 0)
        # Before the first list a pod of a former bridge might be made again.
        if not self._seen_all:
            return
        for pool in self._pools:
            supply = [each for each in self._pods.values() if each.pool == pool.name and not each.is_ending]
            target = pool.target()
            if len(supply) > target:
                # Those that are on a node join, and are given back when nobody uses them.
                waiting = [each for each in supply if each.waits]
                self._delete(waiting[-(len(supply) - target) :], 0)
            elif len(supply) < target and now >= self._not_before:
                self._make(self._cluster, pool, target - len(supply))

    def _hear(self, kind: str, found: Any) -> None:
        if kind == "ALL":
            self._seen_all = True
            there = {each.metadata.name for each in found}
            for name in [name for name, own in self._pods.items() if own.seen is not None and name not in there]:
                del self._pods[name]
            for each in found:
                self._hear("MODIFIED", each)
            return
        name = found.metadata.name
        if kind == "DELETED":
            self._pods.pop(name, None)
            return
        pool = (found.metadata.labels or {}).get(POOL_LABEL, self._pools[0].name)
        own = self._pods.setdefault(name, Pod(name, pool))
        own.pool, own.seen = pool, found
        own.is_ending = own.is_ending or found.metadata.deletion_timestamp is not None
        if found.status.phase in ("Succeeded", "Failed"):
            self._ended(own)
        elif not own.was_up and not own.is_ending and self._wants and (words := why_it_waits(found)):
            self._site.warn(f"a pod waits in Kubernetes: {words} (kubectl get pods -l {self._selector} shows all)")

    def _ended(self, own: Pod) -> None:
        if not own.was_up and not own.is_ending:
            self._site.warn(f"a pod has ended before its node joined: {how_it_ended(own.seen)}")
            self._pause()
        self._delete([own], 0)

    def _make(self, cluster: Kubernetes, pool: Pool, count: int) -> None:
        try:
            if self._owner is None:
                manifest = secret(self._name, self._site.provider, self._site.token, cluster.own_pod())
                owner = cluster.create_secret(manifest)
                cluster.create_service(service(self._name, self._site.provider, owner))
                self._owner = owner
            for _ in range(count):
                if self._site.closing.is_set():
                    return
                self._made += 1
                name = f"{self._name}-{self._life}-{self._made}"
                manifest = pod(name, self._name, pool.name, self._site.options, self._place, self._owner)
                self._pods[name] = Pod(name, pool.name, cluster.create_pod(manifest))
        except KubernetesError as error:
            self._site.warn(f"Kubernetes refuses a pod: {error}")
            self._pause()

    def _pause(self) -> None:
        self._pause_s = min(max(2 * self._pause_s, _PAUSE_FIRST_S), _PAUSE_MAX_S)
        self._not_before = time.monotonic() + self._pause_s

    def _delete(self, pods: list[Pod], grace_s: int) -> None:
        for each in pods:
            each.is_ending, each.again_at = True, None
            try:
                if self._cluster is not None:
                    self._cluster.delete_pod(each.name, grace_s)
            except KubernetesError as error:
                each.again_at = time.monotonic() + _AGAIN_S
                self._site.warn(f"Kubernetes does not delete a pod: {error}")
