"""The environment of a run on another machine than the driver's: made once, by what the driver has
sent.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import socket
import sys
import tarfile
from collections.abc import Mapping
from typing import Any, cast

from headway._runtime.environment import factory_command
from headway._runtime.package_cache import unpacked
from headway._runtime.pip_environment import PipRequest, pip_environment
from headway._values.moved_paths import PLACES_VARIABLE, TROUBLE_VARIABLE, moved_paths

# Named in src/cluster/agent_process.hpp.
_ARRIVED_VARIABLE = "HEADWAY_NODE_PACKAGES"


def recipe_command() -> list[str]:
    """What an agent calls, with a recipe and what a worker factory is given."""
    code = f"import json, sys; sys.path[:] = json.loads({json.dumps(sys.path)!r}); "
    return [sys.executable, "-c", code + "from headway._runtime.node_environment import main; main()"]


def main() -> None:
    """``python -c ... RECIPE CONTROL_FD WORD...``: becomes the worker factory of the environment.
    Where that cannot be made, its workers say why.
    """
    recipe = json.loads(sys.argv[1])
    arrived = json.loads(os.environ.pop(_ARRIVED_VARIABLE, "{}"))
    interpreter = sys.executable
    places: dict[str, list[str]] = {}
    try:
        for key, path, hash_of, inner in recipe["places"]:
            places.setdefault(path, []).append(os.path.join(_unpacked(key, hash_of, arrived.get(hash_of)), inner))
        if recipe["pip"] is not None:
            made = pip_environment(_request(recipe["pip"], places))
            places[recipe["environment"]] = [made.folder]
            interpreter = made.interpreter
    except (OSError, RuntimeError, ValueError) as error:
        os.environ[TROUBLE_VARIABLE] = f"on {socket.gethostname()}: {error}"
    os.environ[PLACES_VARIABLE] = json.dumps(places)
    with contextlib.suppress(OSError):
        os.set_inheritable(int(sys.argv[2]), True)
    command = factory_command(interpreter, moved_paths(recipe["sys_path"], places), recipe["argv"])
    os.execv(command[0], [*command, *sys.argv[2:]])


def _unpacked(key: str, hash_of: str, arrived: str | None) -> str:
    try:
        return unpacked(hash_of, arrived)
    except (OSError, tarfile.TarError, EOFError) as error:
        raise RuntimeError(f"runtime_env['{key}'] cannot be unpacked: {error}") from error


def _request(asked: Mapping[str, Any], places: Mapping[str, list[str]]) -> PipRequest:
    """What pip is asked for, with its local files where they are here."""

    def here(line: str) -> str:
        words = re.split(r"([ =])", line)
        return "".join(places[word][0] if word in places else word for word in words)

    return PipRequest(
        tuple(here(line) for line in asked["packages"]),
        tuple(here(line) for line in asked["options"]),
        cast("str", asked["version"]),
        cast("bool", asked["check"]),
    )
