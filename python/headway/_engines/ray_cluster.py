"""A Ray cluster, as its engine uses it: the module that speaks with Ray."""

from __future__ import annotations

import inspect
import io
import os
import socket
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from headway._engines import ray_guard, ray_launcher
from headway._engines.protocol import ALLOCATION_LABEL, PROVIDER_LABEL, Site
from headway._engines.ray_options import without_own_ray
from headway._engines.ray_plan import Amounts, Bundle, Labels, Room

_REACH_S = 10.0


class RayCluster:
    """The connection to a cluster. Functions raise whatever Ray does."""

    def __init__(self, site: Site) -> None:
        _reach(site.options["address"])
        os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "error")
        # Ray imports it, if it is there, to know its types: half a second for nothing.
        sys.modules["pyarrow"] = None  # type: ignore[assignment]
        sys.path[:] = without_own_ray(sys.path)
        import ray

        self._site = site
        self._options = site.options
        ray.cloudpickle.register_pickle_by_value(ray_launcher)
        ray.init(
            address=self._options["address"],
            namespace=self._options["namespace"],
            runtime_env=self._options["runtime_env"] or None,
            log_to_driver=False,
            logging_level="error",
            **self._options["ray_init"],
        )
        # Ray's own messages about its nodes, such as pages of a raylet's state: what concerns runs
        # is said in a line.
        sys.stderr = _Nowhere()
        self._ray: Any = ray
        self._launcher = self._ray.remote(ray_launcher.Launcher)
        self._guard = inspect.getsource(ray_guard)
        self._observer: Any = None
        if self._options["address"].startswith("ray://"):
            self._observer = self._ray.remote(ray_launcher.Observer).options(num_cpus=0).remote()

    def nodes(self) -> Mapping[str, Any]:
        """See :func:`headway._engines.ray_launcher.nodes`."""
        if self._observer is None:
            return ray_launcher.nodes()
        found: Mapping[str, Any] = self._ray.get(self._observer.nodes.remote())
        return found

    def request(self, bundles: Sequence[Bundle]) -> None:
        """Tells the autoscaler for what the cluster should be large enough."""
        amounts = [_for_ray(bundle.amounts) for bundle in bundles]
        selectors = [bundle.selector for bundle in bundles]
        if self._observer is None:
            ray_launcher.request(amounts, selectors)
        else:
            self._ray.get(self._observer.request.remote(amounts, selectors))

    def create(self, name: str, bundles: Sequence[Bundle], strategy: str) -> Any:
        """Asks for a placement group; its handle."""
        selectors = [bundle.selector for bundle in bundles]
        return self._ray.util.placement_group(
            [_for_ray(bundle.amounts) for bundle in bundles],
            strategy=strategy if len(bundles) > 1 else "PACK",
            name=name,
            bundle_label_selector=selectors if any(selectors) else None,
        )

    def places(self, handle: Any) -> Mapping[int, str] | None:
        """The node of each bundle; None: Ray looks for places."""
        table = self._ray.util.placement_group_table(handle)
        places: Mapping[int, str] | None = table["bundles_to_node_id"] if table["state"] == "CREATED" else None
        return places

    def remove(self, handle: Any) -> None:
        """Removes a group, with the actors in it."""
        self._ray.util.remove_placement_group(handle)

    def start(self, allocation: str, handle: Any, index: int, own: Amounts, room: Room) -> tuple[Any, Any]:
        """Starts an agent.

        Args:
            allocation: What it is known by.
            handle: The group's.
            index: The bundle that its actor is in.
            own: What that bundle has.
            room: What the agent offers, and its labels.

        Returns:
            The actor, and what is ready when the agent has ended.
        """
        strategy = self._ray.util.scheduling_strategies.PlacementGroupSchedulingStrategy(
            placement_group=handle, placement_group_bundle_index=index
        )
        actor = self._launcher.options(
            num_cpus=own.get("CPU", 0),
            num_gpus=own.get("GPU", 0),
            scheduling_strategy=strategy,
            max_concurrency=4,
            name=f"headway-{allocation}",
        ).remote()
        actor.start.remote(
            {
                "guard": self._guard,
                "python": self._options["python"],
                "agent": self._options.get("agent"),
                "join": self._site.join,
                "token": self._site.token,
                "amounts": room.amounts,
                "labels": {**room.labels, PROVIDER_LABEL: self._site.provider, ALLOCATION_LABEL: allocation},
                "grace_s": self._options["grace_s"],
                "keeps_omp": "OMP_NUM_THREADS" in self._options["runtime_env"].get("env_vars", {}),
            }
        )
        return actor, actor.wait.remote()

    def ended(self, references: Iterable[Any]) -> dict[Any, str]:
        """Which agents have ended, whatever the reason, and their last words."""
        watched = list(references)
        ended = self._ray.wait(watched, num_returns=len(watched), timeout=0)[0] if watched else []
        return {reference: self._last_words(reference) for reference in ended}

    def _last_words(self, reference: Any) -> str:
        try:
            how = self._ray.get(reference)
        except self._ray.exceptions.RayError as error:
            return str(error).strip().splitlines()[0]
        return how["tail"][-1] if how["tail"] else f"exit code {how['code']}"

    def kill(self, actor: Any) -> None:
        """Ends an actor. Its guard gives the agent time to say farewell."""
        self._ray.kill(actor)

    def shutdown(self) -> None:
        """What this process has in Ray ends."""
        self._ray.shutdown()


def labels_of(node_id: str, node: Mapping[str, Any]) -> Labels:
    """A Ray node's labels, and Headway's for the same."""
    labels = {"ray.io/node-id": node_id, **node["labels"]}
    if accelerator := labels.get("ray.io/accelerator-type"):
        labels["headway.io/accelerator-type"] = accelerator
    return labels


def _reach(address: str) -> None:
    """Ray itself would try for minutes.

    Raises:
        OSError: Nothing listens there.
    """
    host, separator, port = address.removeprefix("ray://").rpartition(":")
    if separator:
        socket.create_connection((host.strip("[]"), int(port)), _REACH_S).close()


class _Nowhere(io.TextIOBase):
    """A stream that forgets."""

    def write(self, text: str, /) -> int:
        return len(text)


def _for_ray(amounts: Mapping[str, float]) -> dict[str, float]:
    return {
        name: int(amount) if name == "memory" or amount == int(amount) else amount
        for name, amount in amounts.items()
        if amount > 0
    }
