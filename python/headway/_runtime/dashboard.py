"""The page that shows the runs of this process in a browser."""

from __future__ import annotations

import os

from headway import _core
from headway._values.arguments import refuse
from headway._values.log import notice
from headway._values.moving_line import in_notebook

_dashboard: _core.Dashboard | None = None
_pid = 0


def wanted_port(dashboard: bool | int | None) -> int | None:
    """The port that ``init(dashboard=...)`` asks for, else ``HEADWAY_DASHBOARD``, else any in a
    notebook: None for no dashboard, 0 for any port that is free.
    """
    if dashboard is None:
        wanted = os.environ.get("HEADWAY_DASHBOARD", "")
        if not wanted and in_notebook():
            return 0
        return _core.dashboard_port("HEADWAY_DASHBOARD in the environment", wanted)
    if not isinstance(dashboard, int):
        refuse("dashboard", dashboard, "None, True (any free port), False or a port from 1024 to 65535")
    if isinstance(dashboard, bool):
        return 0 if dashboard else None
    return _core.dashboard_port("dashboard", str(dashboard))


def open_for(runtime: _core.Runtime, port: int) -> None:
    """Starts it, and says where it is."""
    global _dashboard, _pid
    _dashboard = _core.Dashboard(runtime, port=port)
    _pid = os.getpid()
    notice(f"dashboard: {_dashboard.url}")


def close() -> None:
    """Ends it, if there is one."""
    global _dashboard
    ended, _dashboard = _dashboard, None
    if ended is not None and _pid == os.getpid():
        ended.close()


def dashboard_url() -> str | None:
    """The address of this process's dashboard, with the token that a browser needs; None without a
    dashboard.

    Example:
        >>> import headway
        >>> headway.shutdown()
        >>> headway.dashboard_url() is None
        True
    """
    return _dashboard.url if _dashboard is not None and _pid == os.getpid() else None
