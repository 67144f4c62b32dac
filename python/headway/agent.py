"""``headway-agent``: offers this machine to a driver elsewhere, as a node of its runs."""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
from collections.abc import Sequence

from headway import _core
from headway._runtime.factory_settings import factory_settings
from headway._runtime.node_environment import recipe_command
from headway._runtime.package_cache import packages_folder
from headway._runtime.token import default_token_file, read_token
from headway._values.arguments import check_labels, check_resources


def _seconds(text: str) -> float:
    value = float(text)
    if not (math.isfinite(value) and value >= 0):
        raise ValueError
    return value


def _resources(text: str) -> dict[str, float]:
    return check_resources("--resources", json.loads(text))


def _labels(text: str) -> dict[str, str]:
    return check_labels("--labels", json.loads(text))


def main(arguments: Sequence[str] | None = None) -> int:
    """Joins a driver that was started with ``headway.init(listen=...)``, and serves it until it is
    gone.

    Returns:
        0: the driver needs this machine no more, or SIGINT or SIGTERM ended it; 2: it never joined;
        3: the driver was lost. No worker is left then.

    Example:
        ``headway-agent --join 10.0.0.5:40001 --token-file ~/.headway/token``
    """
    parser = argparse.ArgumentParser(
        prog="headway-agent",
        description="Offers this machine to a Headway driver, as a node of its runs.",
        epilog="SIGTERM tells the driver that the machine will be taken away, and leaves the ranks the grace; "
        "a second one, or Ctrl-C, ends all at once.",
    )
    parser.add_argument("--join", metavar="HOST:PORT", required=True, help="what headway.join_address() says there")
    parser.add_argument(
        "--token-file", default=default_token_file(), help="a copy of the driver's (default: %(default)s)"
    )
    parser.add_argument("--num-cpus", type=_seconds, help="CPUs to offer (default: those that this process may use)")
    parser.add_argument("--num-gpus", type=_seconds, help="GPUs to offer (default: those that this process sees)")
    parser.add_argument(
        "--resources", type=_resources, default={}, metavar="JSON", help="amounts of further resources, by name"
    )
    parser.add_argument("--labels", type=_labels, default={}, metavar="JSON", help="what label_selector looks at")
    parser.add_argument(
        "--grace-s",
        type=_seconds,
        default=os.environ.get("HEADWAY_NOTICE_PERIOD_S") or 30.0,
        help="seconds that SIGTERM leaves the ranks (default: HEADWAY_NOTICE_PERIOD_S, else 30)",
    )
    options = parser.parse_args(arguments)
    try:
        token = read_token(options.token_file, "--token-file")
        return _core.run_agent(
            options.join,
            token,
            *factory_settings(),
            options.num_cpus,
            options.num_gpus,
            options.resources,
            options.labels,
            options.grace_s,
            recipe_command(),
            str(packages_folder()),
        )
    except (OSError, ValueError) as error:
        print(f"headway-agent: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
