"""``ray.init`` with the arguments that scripts give it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from headway._runtime import runtime
from headway._values import log
from headway._values.arguments import check_bool

_WITHOUT_EFFECT = (
    "cgroup_path",
    "configure_logging",
    "dashboard_host",
    "dashboard_port",
    "enable_resource_isolation",
    "include_dashboard",
    "job_config",
    "log_to_driver",
    "logging_config",
    "logging_format",
    "logging_level",
    "namespace",
    "object_store_memory",
    "proxy_server_url",
    "system_reserved_cpu",
    "system_reserved_memory",
)


class RayContext(Mapping[str, Any]):
    """What ``ray.init()`` returns: a context that shuts down at its end.

    Attributes:
        dashboard_url: None: there is no dashboard.
        address_info: The machine's own address, under the keys that scripts read;
            ``context["address"]`` is the same.
    """

    dashboard_url = None

    def __init__(self) -> None:
        self.address_info = {"address": "local", "node_ip_address": "127.0.0.1", "webui_url": None}

    def __getitem__(self, key: str) -> Any:
        return self.address_info[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.address_info)

    def __len__(self) -> int:
        return len(self.address_info)

    def disconnect(self) -> None:
        """The same as ``ray.shutdown()``."""
        runtime.shutdown()

    def __enter__(self) -> RayContext:
        return self

    def __exit__(self, *exception: object) -> None:
        runtime.shutdown()


def init(
    address: str | None = None,
    *,
    num_cpus: float | None = None,
    num_gpus: float | None = None,
    resources: Mapping[str, float] | None = None,
    labels: Mapping[str, str] | None = None,
    ignore_reinit_error: bool = False,
    runtime_env: Mapping[str, Any] | None = None,
    local_mode: bool = False,
    **settings: Any,
) -> RayContext:
    """:func:`headway.init` for a script that was written for ``ray.init``.

    Args:
        address: As for :func:`headway.init`, like the next ones; or ``"auto"``, the cluster that is
            there: this machine, as a notice says.
        num_cpus: CPUs that runs may claim.
        num_gpus: GPUs that runs may claim.
        resources: Amounts of further resources.
        ignore_reinit_error: Do nothing when Headway is started already.
        labels: What ``ScalingConfig.label_selector`` may ask of this machine.
        runtime_env: As for :func:`headway.init`.
        local_mode: False: there are no tasks that could run in this process.
        settings: Those of Ray's dashboard, logging and object store are accepted and named in a
            notice: they have no effect here. So are those whose names begin with ``_``.

    Returns:
        A context that can be used with ``with``.

    Raises:
        TypeError: an argument that ``ray.init`` does not have either.
        ValueError: something that a script would rely on, such as an unknown key of
            ``runtime_env``.
    """
    if check_bool("local_mode", local_mode):
        raise ValueError(
            "local_mode is True; allowed: False (ScalingConfig(num_workers=0) runs the training function in this "
            "process)"
        )
    idle = [name for name in settings if name in _WITHOUT_EFFECT or name.startswith("_")]
    if unknown := sorted(set(settings) - set(idle)):
        raise TypeError(f"ray.init() got {unknown[0]!r}, which it does not have under Headway")
    runtime.init(
        None if address == "auto" else address,
        num_cpus=num_cpus,
        num_gpus=num_gpus,
        resources=resources,
        labels=labels,
        ignore_reinit_error=ignore_reinit_error,
        runtime_env=runtime_env,
    )
    if address == "auto":
        log.notice('ray.init\'s address is "auto": Headway is started on this machine, and others may join it')
    if idle:
        log.notice(f"without effect here: ray.init's {', '.join(sorted(idle))}")
    return RayContext()
