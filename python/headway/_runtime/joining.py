"""How nodes come to this process: by themselves, or brought by an engine."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import Any

from headway._engines.for_programs import bridge_command
from headway._engines.options import EngineStart
from headway._runtime.token import default_token_file, make_token
from headway._values.arguments import check_number, check_str


@dataclass(frozen=True)
class Joining:
    """How nodes come.

    Attributes:
        listen: Where they join, ``"host:port"``.
        token: What they prove to have.
        node_lease_s: As :func:`headway.init` has it.
        token_file: Where the token is.
        engine: Who gives nodes; None: they come by themselves.
    """

    listen: str
    token: str
    node_lease_s: float
    token_file: str
    engine: EngineStart | None

    def engine_arguments(self) -> dict[str, Any]:
        """Those of ``Runtime``."""
        if self.engine is None:
            return {}
        return {
            "engine": self.engine.name,
            "engine_command": bridge_command(self.engine),
            "token_file": self.token_file,
            "engine_options_json": json.dumps(self.engine.options),
            "engine_idle_s": self.engine.idle_s,
        }


def check_joining(
    listen: object, token_file: object, node_lease_s: object, engine: EngineStart | None
) -> Joining | None:
    """Checked arguments of :func:`headway.init`; None: no nodes come.

    Raises:
        TypeError, ValueError, OSError: a bad argument, or a token that can't be read or made.
    """
    lease_s = check_number("node_lease_s", node_lease_s, "seconds from 1 to 3600")
    if not 1 <= lease_s <= 3600:
        raise ValueError(f"node_lease_s is {lease_s:g}; allowed: seconds from 1 to 3600")
    if token_file is not None:
        if not check_str("token_file", token_file, "None or a path"):
            raise ValueError("token_file is ''; allowed: None or a path")
        if listen is None and engine is None:
            raise ValueError("token_file is given without listen; allowed: both, or listen alone")
    if listen is None and engine is None:
        return None
    address = check_str("listen", "0.0.0.0:0" if listen is None else listen, 'None or "host:port", such as "0.0.0.0:0"')
    path = os.path.abspath(str(token_file or default_token_file()))
    return Joining(address, make_token(path), lease_s, path, engine)
