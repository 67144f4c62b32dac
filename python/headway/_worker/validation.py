"""The validation of one checkpoint, in a process that is no rank."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

from headway import _core
from headway._checkpoint.checkpoint import Checkpoint
from headway._values.metrics import to_json, without_automatic
from headway._worker.exceptions import describe
from headway._worker.loading import load
from headway._worker.outcome import Raised, outcome_of


def validate(session: _core.Session, order: dict[str, Any], pickled: bytes) -> None:
    """Calls the function and tells the driver what it returned, or that it failed."""
    outcome = outcome_of(lambda: _metrics_of(order, pickled))
    if isinstance(outcome, Raised):
        session.training_raised(json.dumps(describe(outcome.error)), None)
    else:
        session.validated(outcome)


def _metrics_of(order: dict[str, Any], pickled: bytes) -> str:
    """What the function returns, as JSON."""
    checkpoint = Checkpoint._at(order["checkpoint"])
    if order["older_form"]:
        function, config = load(base64.b64decode(pickled))
        metrics = function(checkpoint, config)
    else:
        function, arguments = load(pickled)
        metrics = function(checkpoint, **{**arguments, **_unpacked(order["arguments"])})
    if not isinstance(metrics, Mapping):
        raise TypeError(
            f"the validation function returned {metrics!r:.80} ({type(metrics).__name__}); allowed: a dict of metrics"
        )
    return to_json(without_automatic(metrics), "the validation function's metrics")


def _unpacked(arguments: dict[str, str]) -> dict[str, Any]:
    """The arguments of this validation alone."""
    if "pickled" not in arguments:
        return {}
    (unpacked,) = load(base64.b64decode(arguments["pickled"]))
    return unpacked
