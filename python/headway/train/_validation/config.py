"""How checkpoints are validated beside the training: the configuration of a trainer."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from headway import _core
from headway._checkpoint.checkpoint import Checkpoint
from headway._values import pickling
from headway._values.arguments import (
    check_instance,
    check_int,
    check_number,
    check_resources,
    check_str,
    refuse,
)

# Where what can't be pickled is made instead.
WHERE = "validation function"
_REMOTE_ALLOWED = '"num_cpus", "num_gpus", "memory" (bytes), "resources", "accelerator_type" and "max_retries"'
# Of an accelerator's type, as with ScalingConfig: it says where, not how much.
_A_LITTLE = 0.001


class ValidationFn(Protocol):
    """What a validation function looks like: metrics of a checkpoint.

    Example:
        >>> from headway import train
        >>> def validate(checkpoint: train.Checkpoint, split: str) -> dict[str, float]:
        ...     with checkpoint.as_directory() as directory:
        ...         return {f"{split}_accuracy": 0.9}
        >>> function: train.ValidationFn = validate
    """

    def __call__(self, checkpoint: Checkpoint, **kwargs: Any) -> Mapping[str, Any]:
        """Called in a separate process; returns metrics by name."""


@dataclass
class ValidationTaskConfig:
    """One validation: what its function gets, and how long it may take.

    Attributes:
        fn_kwargs: Keyword arguments by name, beside the checkpoint: whatever can be pickled. Those
            that ``report`` is given go over those of the trainer, and are kept with its checkpoint:
            keep them small.
        timeout_s: Seconds that the function may take, above 0; None: as long as it likes. A
            validation whose ``report`` names a ``ValidationTaskConfig`` has the limit of that one
            alone.

    Raises:
        TypeError, ValueError: naming the argument, what was given, what is allowed.

    Example:
        >>> ValidationTaskConfig(fn_kwargs={"split": "test"}, timeout_s=600).fn_kwargs
        {'split': 'test'}
    """

    fn_kwargs: Mapping[str, Any] | None = None
    timeout_s: float | None = None

    def __post_init__(self) -> None:
        if self.fn_kwargs is None:
            self.fn_kwargs = {}
        _check_names(self.fn_kwargs)
        if self.timeout_s is not None:
            self.timeout_s = check_number("ValidationTaskConfig.timeout_s", self.timeout_s, "None or seconds above 0")
        _core.check_validation_task(self._task({}))

    def _task(self, arguments: Mapping[str, str]) -> str:
        """For the core, with the arguments as they travel."""
        return json.dumps({"as_configured": False, "arguments": dict(arguments), "timeout_s": self.timeout_s})


@dataclass
class ValidationConfig:
    """How a trainer's checkpoints are validated beside its training, where ``report(...,
    validation=...)`` asks for it.

    Attributes:
        fn: ``fn(checkpoint, **fn_kwargs)``, called in a separate process; it returns a dict of
            metrics.
        task_config: What every validation has, unless its ``report`` says otherwise.
        ray_remote_kwargs: What each validation claims and how stubborn it is, in the words of
            ``ray.remote``: ``num_cpus``, ``num_gpus``, ``memory`` (bytes), ``resources`` (amounts
            by name), ``accelerator_type`` (for example ``"A10G"``) and ``max_retries`` (0 to 100;
            how often one whose process has died is begun again; default 3). Named resources are
            hard limits: a validation waits until they are free. Without ``num_cpus`` it computes
            with one thread.
        max_concurrent: Validations that run at once, 1 to 1000. Further ones wait.
        order: Which of those that wait is next: ``"oldest"`` or ``"newest"``.

    Raises:
        TypeError, ValueError: naming the argument, what was given, what is allowed.

    Example:
        >>> def validate(checkpoint, limit):
        ...     return {"passed": limit > 1}
        >>> ValidationConfig(validate, ValidationTaskConfig(fn_kwargs={"limit": 3})).max_concurrent
        1
    """

    fn: Callable[..., Mapping[str, Any]]
    task_config: ValidationTaskConfig | None = None
    ray_remote_kwargs: Mapping[str, Any] | None = None
    max_concurrent: int = field(default=1, kw_only=True)
    order: str = field(default="oldest", kw_only=True)

    def __post_init__(self) -> None:
        if not callable(self.fn):
            refuse("ValidationConfig.fn", self.fn, "a function of a checkpoint and keyword arguments")
        check_instance(
            "ValidationConfig.task_config", self.task_config, ValidationTaskConfig, "a ValidationTaskConfig or None"
        )
        self.task_config = self.task_config or ValidationTaskConfig()
        _check_taken(self.fn, self.task_config.fn_kwargs or {})
        if self.ray_remote_kwargs is None:
            self.ray_remote_kwargs = {}
        self.max_concurrent = check_int(
            "ValidationConfig.max_concurrent", self.max_concurrent, "an integer of at least 1"
        )
        check_str("ValidationConfig.order", self.order, '"oldest" or "newest"')
        _core.check_validation_config(json.dumps(self._spec()))

    def _spec(self) -> dict[str, Any]:
        """For the core."""
        resources, max_retries = _remote_options(self.ray_remote_kwargs)
        task = self.task_config or ValidationTaskConfig()
        return {
            "has_function": True,
            "timeout_s": task.timeout_s,
            "max_concurrent": self.max_concurrent,
            "order": self.order,
            "max_retries": max_retries,
            "resources": resources,
        }

    def _dumps(self) -> bytes:
        """The function with its arguments, for the processes that validate."""
        arguments = dict((self.task_config or ValidationTaskConfig()).fn_kwargs or {})
        names = ("validation_config.fn", "validation_config.task_config.fn_kwargs")
        return pickling.dumps((self.fn, arguments), names, WHERE)


#: What the core takes of a trainer without a configuration: validate_fn of the older form has none.
WITHOUT_CONFIG: dict[str, Any] = {
    "has_function": False,
    "timeout_s": None,
    "max_concurrent": 1,
    "order": "oldest",
    "max_retries": 3,
    "resources": {},
}


def _remote_options(given: object) -> tuple[dict[str, float], int]:
    """Amounts by name, and how often a validation is begun again."""
    argument = "ValidationConfig.ray_remote_kwargs"
    if not isinstance(given, Mapping):
        refuse(argument, given, f"a dict with {_REMOTE_ALLOWED}, or None")
    amounts = check_resources(f"{argument}['resources']", given["resources"]) if given.get("resources") else {}
    max_retries = 3
    for name, value in given.items():
        where = f"{argument}[{name!r}]"
        if name in ("num_cpus", "num_gpus", "memory"):
            if value is not None:
                resource = {"num_cpus": "CPU", "num_gpus": "GPU", "memory": "memory"}[name]
                amounts[resource] = check_number(where, value, "a number")
        elif name == "accelerator_type":
            if value is not None:
                amounts[f"accelerator_type:{check_str(where, value, 'None or a type of GPUs')}"] = _A_LITTLE
        elif name == "max_retries":
            max_retries = check_int(where, value, "an integer from 0 to 100")
        elif name != "resources":
            raise ValueError(f"{argument} has {name!r}; allowed: {_REMOTE_ALLOWED}")
    return amounts, max_retries


def _check_names(arguments: object) -> None:
    allowed = "a dict from the names of arguments to values, or None"
    if not isinstance(arguments, Mapping):
        refuse("ValidationTaskConfig.fn_kwargs", arguments, allowed)
    for name in arguments:
        check_str("a name in ValidationTaskConfig.fn_kwargs", name, allowed)


def check_call(argument: str, function: Callable[..., Any], allowed: str, given: int) -> Iterable[inspect.Parameter]:
    """Refuses a function that can't be called with so many arguments by place. Its parameters,
    where it tells them.
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # Built-in functions may have no signature.
        return [inspect.Parameter("any", inspect.Parameter.VAR_KEYWORD)]
    try:
        signature.bind_partial(*[None] * given)
    except TypeError as error:
        name = getattr(function, "__qualname__", type(function).__name__)
        raise ValueError(f"{argument} is {name}{signature} ({error}); allowed: {allowed}") from None
    return signature.parameters.values()


def _check_taken(function: Callable[..., Any], arguments: Mapping[str, Any]) -> None:
    """Names that the function does not take. One that is missing may come with a report."""
    parameters = list(
        check_call("ValidationConfig.fn", function, "a function of a checkpoint and keyword arguments", 1)
    )
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters):
        return
    by_name = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    taken = [parameter.name for parameter in parameters[1:] if parameter.kind in by_name]
    for name in arguments:
        if name not in taken:
            raise ValueError(
                f"ValidationTaskConfig.fn_kwargs has {name!r}, which ValidationConfig.fn does not take; "
                f"allowed: {', '.join(taken) or 'none, as it takes the checkpoint alone'}"
            )
