"""Spans of OpenTelemetry, for programs that use it: where its API has been imported by somebody
else, spans go to the tracer provider that the program has set. Headway never imports it.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import Any


def tracer() -> Any:
    """The tracer that makes Headway's spans; None where the program does not use OpenTelemetry."""
    api = sys.modules.get("opentelemetry.trace")
    return None if api is None else api.get_tracer("headway")


@contextlib.contextmanager
def span(name: str, **attributes: Any) -> Iterator[None]:
    """A span around a block.

    Args:
        name: Such as ``report``.
        attributes: Of the span.
    """
    found = tracer()
    if found is None:
        yield
        return
    with found.start_as_current_span(f"headway.{name}", attributes=named(attributes)):
        yield


def named(attributes: dict[str, Any]) -> dict[str, Any]:
    """Attributes under Headway's names, without what is None."""
    return {f"headway.{name}": value for name, value in attributes.items() if value is not None}
