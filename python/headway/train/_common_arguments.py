"""The arguments that all trainers take: typed here once, and shown by each trainer."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar

from headway._checkpoint.checkpoint import Checkpoint
from headway.train._config.config import RunConfig, ScalingConfig
from headway.train._validation.config import ValidationConfig

if TYPE_CHECKING:
    import pyarrow.fs

_Method = TypeVar("_Method", bound=Callable[..., Any])
_REPLACED = "backend_config"


class _Arguments(TypedDict, total=False):
    scaling_config: ScalingConfig | None
    run_config: RunConfig | None
    datasets: Mapping[str, Any] | None
    dataset_config: Any
    metadata: Mapping[str, Any] | None
    resume_from_checkpoint: Checkpoint | None
    validation_config: ValidationConfig | None


class TrainerArguments(_Arguments, total=False):
    """What a framework's trainer hands on to ``DataParallelTrainer`` as it is."""

    train_loop_config: Mapping[str, Any] | None


class RestoreArguments(_Arguments, total=False):
    """What ``restore`` of a framework's trainer hands on to ``DataParallelTrainer.restore`` as it
    is.
    """

    storage_filesystem: pyarrow.fs.FileSystem | None


def shown_as(base: Callable[..., Any]) -> Callable[[_Method], _Method]:
    """Shows a trainer's method with all arguments of its base's, which it takes as ``**arguments``
    and hands on.

    The method's own keywords, such as ``torch_config``, stand where the base has
    ``backend_config``. The signature is what ``help()`` and notebooks show, and what says which
    names are known; type checkers go by ``Unpack[TrainerArguments]``.

    Args:
        base: The base's method, or its bound class method.
    """
    inherited = [each for each in inspect.signature(base).parameters.values() if each.name != "self"]

    def shown(method: _Method) -> _Method:
        signature = inspect.signature(method)
        receiver, *own = (each for each in signature.parameters.values() if each.kind is not each.VAR_KEYWORD)
        named = {each.name: each for each in own}
        settings = [each for each in own if each.name not in {there.name for there in inherited}]
        made = [receiver]
        for each in inherited:
            made += settings if each.name == _REPLACED else [named.get(each.name, each)]
        method.__signature__ = signature.replace(parameters=made)  # type: ignore[attr-defined]
        return method

    return shown
