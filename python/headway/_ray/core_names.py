"""What is Ray Core's own: names that a script may use, and that Headway does not have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

FUNCTIONS = (
    "cancel",
    "get",
    "get_actor",
    "get_gpu_ids",
    "get_runtime_context",
    "kill",
    "method",
    "put",
    "remote",
    "timeline",
    "wait",
)
"""They raise when they are called, not when they are imported: ``from ray import get`` then tells
as much.
"""

_LIBRARIES = ("llm", "rllib", "serve", "workflow")
"""Libraries beside Ray Train that stand on Ray Core."""


def explanation(name: str) -> str:
    """Why a name of ``ray`` is not there, and what to do.

    Args:
        name: The name below ``ray``.
    """
    subject = name.split(".")[0]
    missing = (
        f"ray.{name} is not part of Headway"
        if subject in _LIBRARIES
        else f"ray.{name} belongs to Ray Core (tasks, actors, objects), which is not part of Headway"
    )
    return (
        f"{missing}. Headway has what ray.train has: do this work in the training function or with "
        "concurrent.futures, or run the script with Ray"
    )


def refusal(name: str) -> Callable[..., NoReturn]:
    """A function that stands for one of :data:`FUNCTIONS` and raises NotImplementedError when it is
    called.

    Args:
        name: The name below ``ray``.
    """

    def refuse(*args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(explanation(name))

    refuse.__name__ = refuse.__qualname__ = name
    refuse.__doc__ = explanation(name)
    return refuse
