"""Metrics and metadata on their way from a user to JSON: what may be in them, and what is refused
by its key.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from headway._values.arguments import refuse

_ALLOWED = "numbers, strings, booleans, None, and lists and dicts of them"

#: What Headway adds to each report.
AUTOMATIC = frozenset(
    {
        "attempt",
        "checkpoint_dir_name",
        "config",
        "date",
        "done",
        "hostname",
        "iterations_since_restore",
        "node_ip",
        "pid",
        "report_index",
        "time_since_restore",
        "time_this_iter_s",
        "time_total_s",
        "timestamp",
        "training_iteration",
        "trial_id",
    }
)
# No user has these by chance: metrics with all of them are a run's.
_SIGNS = ("attempt", "report_index", "time_since_restore", "trial_id")


#: These tell reports apart; a user's metric of the same name is not kept.
RESERVED = frozenset({"attempt", "report_index", "checkpoint_dir_name"})


class ReportedMetrics(dict[str, Any]):
    """A report's metrics: a dict of what the user reported. Automatic metrics are found by key, and
    are no items of it.

    Attributes:
        automatic: The automatic metrics.

    Example:
        >>> metrics = ReportedMetrics({"loss": 0.5}, {"training_iteration": 3})
        >>> metrics, metrics == {"loss": 0.5}
        ({'loss': 0.5}, True)
        >>> metrics["training_iteration"], "training_iteration" in metrics, metrics.get("accuracy")
        (3, True, None)
    """

    def __init__(self, reported: Mapping[str, Any], automatic: Mapping[str, Any]):
        super().__init__(reported)
        self.automatic = dict(automatic)

    @classmethod
    def of_line(cls, line: Mapping[str, Any]) -> ReportedMetrics:
        """The metrics of a line of ``result.json``, which has the user's metrics after
        ``report_index``.

        Lines of older runs have them in front.
        """
        reported: dict[str, Any] = {}
        automatic: dict[str, Any] = {}
        behind = False
        for name, value in line.items():
            is_automatic = name in RESERVED or (name in AUTOMATIC and not behind)
            (automatic if is_automatic else reported)[name] = value
            behind = behind or name == "report_index"
        return cls(reported, automatic)

    def __missing__(self, key: str) -> Any:
        return self.automatic[key]

    def __contains__(self, key: object) -> bool:
        return super().__contains__(key) or key in self.automatic

    def get(self, key: str, default: Any = None) -> Any:
        """The metric, the user's or an automatic one, or ``default``."""
        return super().get(key, self.automatic.get(key, default))


def without_automatic(metrics: Mapping[str, Any]) -> Mapping[str, Any]:
    """Of all metrics of a report the user's own; any others as they are.

    A validation that returns those of a nested trainer means what that one reported: not when
    it ran, nor where.
    """
    if isinstance(metrics, ReportedMetrics) or not all(name in metrics for name in _SIGNS):
        return metrics
    return {name: value for name, value in metrics.items() if name not in AUTOMATIC}


def to_json(metrics: object, argument: str = "metrics") -> str:
    """Metrics as JSON text (NaN and infinities as Python writes them).

    Args:
        metrics: Numbers, strings, booleans, None, and lists and dicts of them, by name. Scalars of
            numpy, and tensors and arrays without dimensions (such as a loss), are numbers too.
        argument: The argument that they were given as, for messages.

    Raises:
        TypeError: ``metrics`` is no dict.
        ValueError: a value that JSON does not have, such as a tensor of several numbers; the
            message names its key.
    """
    if not isinstance(metrics, Mapping):
        refuse(argument, metrics, "a dict from names to " + _ALLOWED)
    try:
        plain = _plain(metrics, argument, 0)
    except ValueError as error:
        # The way through nested values tells the user nothing.
        raise error.with_traceback(None) from None
    return json.dumps(plain)


def _plain(value: Any, where: str, depth: int) -> Any:
    if depth > 50:
        raise ValueError(f"{where} is nested more than 50 deep (does it hold itself?)")
    if value is None or isinstance(value, (bool, float)):
        return value
    if isinstance(value, str):
        return _text(value, where)
    if isinstance(value, int):
        if not -(2**63) <= value < 2**64:
            raise ValueError(f"{where} is {value}; allowed: integers of 64 bits")
        return value
    if isinstance(value, Mapping):
        return {_key(key, where): _plain(item, f"{where}[{key!r}]", depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item, f"{where}[{index}]", depth + 1) for index, item in enumerate(value)]
    if _is_numpy_scalar(value):
        item = value.item()
        if type(item) is not type(value):  # It is for floats that are wider than Python's.
            return _plain(item, where, depth + 1)
        if value.dtype.kind == "f":
            return float(value)
    elif _is_single(value):
        return _plain(value.item(), where, depth + 1)
    raise ValueError(_refusal(value, where))


def _key(key: object, where: str) -> str:
    if not isinstance(key, str):
        raise ValueError(f"{where} has the key {key!r} ({type(key).__name__}); allowed: str")
    return _text(key, f"a key of {where}")


def _text(text: str, where: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"{where} is {text!r}, which is no text that can be stored: {error.reason}") from None
    return text


def _is_numpy_scalar(value: object) -> bool:
    """Told by name: numpy is not imported for it."""
    return any(kind.__module__ == "numpy" and kind.__name__ == "generic" for kind in type(value).__mro__)


def _is_single(value: object) -> bool:
    """Whether this is an array or a tensor without dimensions, of whatever library."""
    return getattr(value, "ndim", None) == 0 and callable(getattr(value, "item", None))


def _refusal(value: Any, where: str) -> str:
    kind = f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
    hint = ""
    if hasattr(value, "item") and hasattr(value, "tolist"):
        hint = "; use .item() for a single number, .tolist() for more"
    article = "an" if kind[0].lower() in "aeiou" else "a"
    return f"{where} is {article} {kind}; allowed: {_ALLOWED}{hint}"
