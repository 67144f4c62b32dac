"""Nodes from a Ray cluster: agents as children of actors in placement groups."""

from __future__ import annotations

import secrets
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from headway._engines.protocol import Engine, Site
from headway._engines.ray_cluster import RayCluster, labels_of
from headway._engines.ray_group import Group, Seat
from headway._engines.ray_plan import Bundle, Need, Room, bundles, bundles_that_fit, elsewhere, missing, needs_of, serve
from headway._engines.ray_words import why_it_waits

# Between two looks at what Ray has done: while something is expected, and else.
_QUICK_S, _SLOW_S = 0.1, 1.0
_CREATION_S = 1.0  # For a group that fits: it takes milliseconds.
_WAITING_MAX = 16  # Groups of a demand that Ray has no room for.
_ASKED_MAX = 1000  # Bundles for the autoscaler.
_PAUSE_FIRST_S, _PAUSE_MAX_S = 1.0, 60.0  # After what has failed.


class RayEngine(Engine):
    """See :class:`~headway._engines.protocol.Engine`."""

    tick_s: float | None = _SLOW_S

    def open(self, site: Site) -> None:
        """Connects to the cluster. One that is out of reach is tried again."""
        self._site = site
        self._cluster: RayCluster | None = None
        self._nodes: Mapping[str, Any] = {}
        self._groups: list[Group] = []
        self._parts: list[tuple[Need, int]] = []
        self._could_use: list[tuple[Need, int]] = []
        # Another one when the bridge is started again.
        self._name = f"{site.provider}-{secrets.token_hex(2)}"
        self._made = 0
        self._asked: list[Bundle] = []
        self._pause_s = 0.0
        self._not_before = 0.0
        self._grow_after = 0.0
        self._settle()

    def want(self, parts: list[dict[str, Any]], could_use: list[dict[str, Any]]) -> None:
        """Makes groups for what is wanted, and withdraws those that are not and have no nodes."""
        self._parts = needs_of(parts)
        self._could_use = needs_of(could_use)
        self._settle()

    def joined(self, allocation: str, node: str) -> None:
        """An agent has reached the driver."""
        for _, seat in self._seats():
            if seat.allocation == allocation:
                seat.is_up = True
                self._pause_s = 0.0

    def give_back(self, allocation: str) -> None:
        """Ends an agent; its group when it was the last."""
        for group, seat in self._seats():
            if seat.allocation == allocation:
                group.returned.update(seat.indices)
                seat.is_over = True
        self._settle()

    def left(self, allocation: str) -> None:
        """The driver has lost an agent: what is left of it is ended."""
        for _, seat in self._seats():
            if seat.allocation == allocation:
                seat.is_over = True
        self._settle()

    def tick(self) -> None:
        """Looks at what Ray has done."""
        self._settle()

    def close(self) -> None:
        """Ends all. What this process has in Ray ends with its connection, too."""
        cluster = self._cluster
        if cluster is None:
            return
        for group in self._groups:
            cluster.remove(group.handle)
        if self._asked:
            cluster.request([])
        cluster.shutdown()

    # -- What there is, and what is to be done about it.

    def _seats(self) -> list[tuple[Group, Seat]]:
        return [(group, seat) for group in self._groups for seat in group.seats]

    def _settle(self) -> None:
        """Does all that can be done now. Ray may be out of reach at any moment."""
        if self._cluster is None and time.monotonic() < self._not_before:
            return
        try:
            if self._cluster is None:
                self._cluster = RayCluster(self._site)
                self._pause_s = self._not_before = 0.0
                self._site.ready()
            self._settle_with(self._cluster)
        except Exception as error:  # Ray raises exceptions of many kinds.
            self._pause()
            self.tick_s = self._pause_s
            said = str(error).strip().splitlines() or [type(error).__name__]
            self._site.warn(f"Ray at {self._site.options['address']} does not do what is asked: {said[0]}")

    def _pause(self) -> None:
        self._pause_s = min(max(_PAUSE_FIRST_S, 2 * self._pause_s), _PAUSE_MAX_S)
        self._not_before = time.monotonic() + self._pause_s

    def _settle_with(self, cluster: RayCluster) -> None:
        self._nodes = cluster.nodes()
        self._hear_ends(cluster)
        self._heed_notices()
        for group in self._groups:
            self._fill(cluster, group)
        self._serve_parts(cluster)
        self._grow(cluster)
        self._ask_autoscaler(cluster)
        expects = any(not group.is_created or not all(seat.is_up for seat in group.seats) for group in self._groups)
        self.tick_s = _QUICK_S if expects else _SLOW_S

    def _hear_ends(self, cluster: RayCluster) -> None:
        ended = cluster.ended(seat.end for _, seat in self._seats())
        for group, seat in self._seats():
            words = ended.get(seat.end)
            if words is None and not seat.is_over:
                continue
            group.seats.remove(seat)
            cluster.kill(seat.actor)
            if not group.seats:
                self._remove(cluster, group)
            if words is not None and not seat.is_up:
                self._pause()
                where = seat.room.node_id[:8]
                self._site.warn(f"headway-agent on a Ray node ({where}) has ended before it joined: {words}")

    def _heed_notices(self) -> None:
        """Nodes that Ray will take away: their agents hear of it when their notice period
        begins.
        """
        for _, seat in self._seats():
            deadline = self._nodes.get(seat.room.node_id, {}).get("deadline")
            if deadline is None or seat.is_told:
                continue
            if deadline == 0 or deadline - time.time() <= self._site.options["grace_s"]:
                seat.is_told = True
                seat.actor.notice.remote()

    def _remove(self, cluster: RayCluster, group: Group) -> None:
        self._groups.remove(group)
        cluster.remove(group.handle)

    # -- Placement groups and their agents.

    def _fill(self, cluster: RayCluster, group: Group) -> None:
        """Starts agents in the bundles that Ray has placed, one for the bundles of a node."""
        vacant = group.vacant()
        if not vacant or time.monotonic() < self._not_before:
            return
        placed = cluster.places(group.handle)
        if placed is None:
            return
        group.is_created = True
        together: dict[tuple[str, int], list[int]] = {}
        for index in vacant:
            node = self._nodes.get(placed[index])
            if node is None or node["deadline"] is not None:
                continue  # Ray places the bundle anew when the node has gone.
            # Ray tells an actor the GPUs of its bundle alone.
            alone = group.need.placement == "STRICT_SPREAD" or "GPU" in group.bundles[index].amounts
            together.setdefault((placed[index], index if alone else -1), []).append(index)
        for (node_id, _), indices in together.items():
            self._made += 1
            allocation = f"{self._name}-{self._made}"
            room = Room(group.amounts_of(indices), labels_of(node_id, self._nodes[node_id]), node_id)
            own = group.bundles[indices[0]].amounts
            actor, end = cluster.start(allocation, group.handle, indices[0], own, room)
            group.seats.append(Seat(allocation, indices, actor, end, room))

    def _serve_parts(self, cluster: RayCluster) -> None:
        """A group for each part of the demand that agents here, and groups that wait, do not
        serve.
        """
        rooms = [seat.room for _, seat in self._seats()]
        idle = [(group, index) for group in self._groups if group.is_created for index in group.without_agent()]
        agents = len(rooms)
        rooms += [group.room_of(index) for group, index in idle]
        kept: list[Group] = []
        for need, count in self._parts:
            waiting = [group for group in self._groups if not group.is_created and _same(group.need, need)]
            for _ in range(count):
                present, rooms, counts = serve(need, rooms)
                for (group, index), workers in zip(idle, counts[agents:], strict=True):
                    if workers:
                        group.returned.discard(index)
                lacking = missing(need, present)
                if lacking is None:
                    continue
                if waiting:
                    kept.append(waiting.pop(0))
                elif sum(not group.is_created for group in kept) < _WAITING_MAX and self._may_begin():
                    kept.append(self._make(cluster, need, lacking))
        for group in [group for group in self._groups if not group.is_created and group not in kept]:
            self._remove(cluster, group)
        for group in kept:
            if not group.is_created:
                self._explain(group)

    def _may_begin(self) -> bool:
        return time.monotonic() >= self._not_before

    def _explain(self, group: Group) -> None:
        words = why_it_waits(group.need, group.bundles, self._rooms("total"))
        if words != group.said:
            group.said = words
            self._site.warn(words)

    def _rooms(self, what: str) -> list[Room]:
        """What Ray's nodes have, free or in all, but for those that will be taken away."""
        return [
            Room(dict(node[what]), labels_of(node_id, node), node_id)
            for node_id, node in self._nodes.items()
            if node["deadline"] is None
        ]

    def _make(self, cluster: RayCluster, need: Need, lacking: Need) -> Group:
        free, total = self._rooms("free"), self._rooms("total")
        used: set[str] = set()
        if need.placement == "STRICT_SPREAD" and lacking is not need:
            used = {seat.room.node_id for _, seat in self._seats()}
            free = [room for room in free if room.node_id not in used]
        fits = bundles_that_fit(lacking, free)
        least = replace(lacking, workers_max=lacking.workers_min)
        made = fits or bundles_that_fit(least, total) or bundles(lacking, lacking.workers_min)
        return self._create(cluster, need, [elsewhere(bundle, used) for bundle in made], bool(fits))

    def _create(self, cluster: RayCluster, need: Need, made: list[Bundle], fits: bool) -> Group:
        self._made += 1
        group = Group(need, made, cluster.create(f"headway-{self._name}-{self._made}", made, need.placement))
        self._groups.append(group)
        if fits and group.handle.wait(_CREATION_S):
            self._fill(cluster, group)
        return group

    # -- Growth: what would be used at once, and is not needed.

    def _grow(self, cluster: RayCluster) -> None:
        """Takes what is free on Ray's nodes now. Nothing waits for it in Ray's queue."""
        now = time.monotonic()
        if not self._could_use or now < max(self._not_before, self._grow_after):
            return
        starting = [seat.room for _, seat in self._seats() if not seat.is_up]
        free = self._rooms("free")
        for need, count in self._could_use:
            for _ in range(count):
                present, starting, _ = serve(need, starting)
                more = replace(need, workers_max=need.workers_max - present)
                if present:
                    more = replace(more, workers_min=max(1, need.workers_min - present))
                made = bundles_that_fit(more, free) if more.workers_max > 0 else []
                if not made:
                    break
                _, free, _ = serve(more, free)
                # Ray knows what is free with a delay.
                self._grow_after = now + _SLOW_S
                # Workers that may come one by one can go one by one, too.
                for each in [made] if more.workers_min > 1 else [[bundle] for bundle in made]:
                    group = self._create(cluster, need, each, True)
                    if not group.is_created:
                        self._remove(cluster, group)  # Somebody else was quicker.

    def _ask_autoscaler(self, cluster: RayCluster) -> None:
        """While something could use more nodes the cluster is to have room for it beside what is
        held; what was asked for is withdrawn when nothing could.
        """
        wished: list[Bundle] = []
        for need, count in self._could_use:
            workers = need.workers_min if need.placement == "STRICT_PACK" else min(need.workers_max, _ASKED_MAX)
            for _ in range(min(count, _ASKED_MAX)):
                wished += bundles(need, workers)
        held = [bundle for group in self._groups if group.is_created for bundle in group.bundles] if wished else []
        asked = (held + wished)[:_ASKED_MAX]
        if asked != self._asked:
            cluster.request(asked)
            self._asked = asked


def _same(one: Need, other: Need) -> bool:
    """Whether a group for one need serves the other: queues of trials get shorter."""
    return replace(one, workers_max=0) == replace(other, workers_max=0)
