"""How the driver names modules to worker factories."""

from __future__ import annotations

#: In front of a module that a factory may leave to its workers.
OPTIONAL = "?"
#: In a worker: what the driver named to its factory.
of_this_factory: list[str] = []
