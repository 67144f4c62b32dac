"""``python -m headway._engines MODULE:CLASS``: the bridge between a driver, at standard input and
output, and an engine.
"""

from __future__ import annotations

import importlib
import sys

from headway._engines.protocol import serve


def main(bridge: str) -> None:
    """Serves the driver until it is gone.

    Args:
        bridge: As ``EngineKind.bridge`` has it.
    """
    module, _, name = bridge.partition(":")
    serve(getattr(importlib.import_module(module), name)())


if __name__ == "__main__":
    main(sys.argv[1])
