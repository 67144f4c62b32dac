"""Engines for programs without Python: their arguments' checks, and what starts the bridge."""

from __future__ import annotations

import json
import sys
from typing import Any

from headway._engines.options import EngineStart, check_engine

# What the C++ API has itself (include/headway/init.hpp).
_NAMES = ("num_cpus", "num_gpus", "resources", "labels", "listen", "token_file", "node_lease_s", "engine")


def main(question: str) -> None:
    """Prints ``{"engine": ...}`` or ``{"error": ...}``, as ``src/library/engine_bridge.cpp`` reads
    it.

    Args:
        question: ``address``, ``options``, and ``agent``: the beginning of an agent's command.
    """
    asked: dict[str, Any] = json.loads(question)
    try:
        engine = check_engine(asked["address"], asked["options"], _NAMES)
        if engine is None:
            raise ValueError(f"engine is {asked['address']!r}; allowed: unset, or the name of an engine")
    except (TypeError, ValueError, OSError, ImportError) as error:
        print(json.dumps({"error": str(error)}))
        return
    engine.options["agent"] = asked["agent"]
    if engine.carries_environment:
        engine.options.setdefault("runtime_env", None)
    found = {"name": engine.name, "command": bridge_command(engine), "options": engine.options, "idle_s": engine.idle_s}
    print(json.dumps({"engine": found}))


def bridge_command(engine: EngineStart) -> list[str]:
    """What starts an engine's bridge, in this process's Python or the one that the engine names."""
    path = f"sys.path[:] = json.loads({json.dumps(sys.path)!r})"
    if engine.python is not None:
        # Another Python has its own packages, and maybe not Headway.
        package = __file__.rpartition("/headway/")[0]
        path = f"sys.path.append({package!r})"
    code = f"import json, sys; {path}; from headway._engines.__main__ import main; main({engine.bridge!r})"
    return [engine.python or sys.executable, "-c", code]
