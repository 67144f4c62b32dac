"""The check of an engine's ``pools``: nodes of several kinds."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from headway._values.arguments import refuse
from headway._values.named_arguments import unknown_argument

# As parts of the names of Kubernetes' objects and of Slurm's jobs.
_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_POOLS_MAX = 20


def check_pools(
    options: Mapping[str, Any],
    names: Sequence[str],
    check: Callable[[str, Mapping[str, Any]], dict[str, Any]],
    only: str,
) -> dict[str, dict[str, Any]]:
    """What the nodes of each pool are like, by its name.

    Args:
        options: What the engine was given; ``pools`` is a dict from names to dicts, and what is
            outside of it is for all pools.
        names: The arguments that a pool has.
        check: Checks and completes a pool's, given what comes before their names in messages.
        only: The name of the pool where ``pools`` is not given.

    Raises:
        TypeError, ValueError: what is wrong, by its name.
    """
    allowed = 'None or a dict from names to dicts, such as {"gpu": {"gpus_per_node": 8}}'
    common = {name: options[name] for name in names if name in options}
    given = options.get("pools")
    if given is None:
        return {only: check("", common)}
    if not isinstance(given, Mapping) or not all(isinstance(each, Mapping) for each in given.values()):
        refuse("pools", given, allowed)
    if not 1 <= len(given) <= _POOLS_MAX:
        raise ValueError(f"pools has {len(given)} pools; allowed: 1 to {_POOLS_MAX}")
    pools = {}
    for name, own in given.items():
        if not isinstance(name, str) or not _NAME.fullmatch(name) or len(name) > 20:
            raise ValueError(f"pools has {name!r}; allowed: names of at most 20 lowercase letters, digits and hyphens")
        for option in own:
            if option not in names:
                raise TypeError(unknown_argument(f"pools[{name!r}]", str(option), list(names)))
        pools[name] = check(f"pools[{name!r}].", {**common, **own})
    return pools
