"""The validation that a report asks for."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Mapping
from typing import Any

from headway import _session as worker_session
from headway._checkpoint.checkpoint import Checkpoint
from headway._values import pickling
from headway._values.arguments import check_bool, refuse
from headway.train._validation.config import WHERE, ValidationTaskConfig, check_call


def asked_for(
    checkpoint: Checkpoint | None,
    validation: bool | ValidationTaskConfig,
    validate_fn: Callable[..., Mapping[str, Any]] | None,
    validate_config: Mapping[str, Any] | None,
) -> str | None:
    """The validation that a report asks for, as JSON for the core; None for none. Rank 0's counts.

    Other ranks may ask as well, so that all can make the same call, and need have no checkpoint for
    it.

    Raises:
        TypeError, ValueError: a bad argument, or one without what it needs.
    """
    if not isinstance(validation, ValidationTaskConfig):
        if not isinstance(validation, bool):
            refuse("validation", validation, "True, False or a ValidationTaskConfig")
        check_bool("validation", validation)
    if validate_config is not None and (not isinstance(validate_config, Mapping) or validate_fn is None):
        allowed = "None, or a dict together with validate_fn"
        if isinstance(validate_config, Mapping):
            raise ValueError(f"validate_config is {validate_config!r:.80} without validate_fn; allowed: {allowed}")
        refuse("validate_config", validate_config, allowed)
    if validate_fn is not None:
        if not callable(validate_fn):
            refuse("validate_fn", validate_fn, "None or a function of a checkpoint and a dict")
        check_call("validate_fn", validate_fn, "a function of a checkpoint and a dict", 2)
    if validate_fn is None and validation is False:
        return None
    if validate_fn is not None and validation is not False:
        raise ValueError(f"validation is {validation!r:.80} together with validate_fn; allowed: one of them")
    session = worker_session.current("report()")
    counts = session.context["plan"]["rank"] == 0
    if checkpoint is None and counts:
        name = "validate_fn" if validate_fn is not None else "validation"
        raise ValueError(f"{name} is given without a checkpoint; allowed: together with the checkpoint to be validated")
    if validate_fn is None and not session.validates:
        raise ValueError(
            f"validation is {validation!r:.80}, and the trainer has no validation_config; "
            "allowed: with Trainer(..., validation_config=ValidationConfig(fn))"
        )
    if isinstance(validation, ValidationTaskConfig):
        validation.__post_init__()  # It may have been changed.
    if not counts:
        return None
    if validate_fn is not None:
        return _older_form(validate_fn, validate_config)
    if isinstance(validation, ValidationTaskConfig):
        return validation._task(_packed(dict(validation.fn_kwargs or {})))
    return json.dumps({"as_configured": True, "arguments": {}})


def _packed(arguments: dict[str, Any]) -> dict[str, str]:
    """Arguments of one validation, as the core keeps them with its checkpoint."""
    if not arguments:
        return {}
    pickled = pickling.dumps((arguments,), ("ValidationTaskConfig.fn_kwargs",), WHERE)
    return {"pickled": base64.b64encode(pickled).decode()}


def _older_form(function: Callable[..., Any], config: Mapping[str, Any] | None) -> str:
    pickled = pickling.dumps((function, dict(config or {})), ("validate_fn", "validate_config"), WHERE)
    return json.dumps({"as_configured": False, "arguments": {}, "call": base64.b64encode(pickled).decode()})
