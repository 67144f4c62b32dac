"""What a trial may use."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from headway._values.arguments import check_resources, check_str, refuse
from headway._values.named_arguments import offer
from headway.train import ScalingConfig

_MARK = "_headway_resources"
#: What a registered trainable is called.
NAME = "_headway_name"
_ALLOWED = "a dict such as {'cpu': 2, 'gpu': 0.5}, a PlacementGroupFactory, or a function of the configuration"
_NAMES = {"cpu": "CPU", "gpu": "GPU"}


@dataclass(frozen=True)
class PlacementGroupFactory:
    """What a trial may use, in bundles: the first is the trial's own process's, the others are held
    for what it starts.

    Attributes:
        bundles: Amounts by name, such as ``{"CPU": 1, "GPU": 0.5}``.
        strategy: ``"PACK"`` or another strategy of placement.

    Example:
        >>> from headway import tune
        >>> tune.PlacementGroupFactory([{"CPU": 1}, {"CPU": 2}]).required_resources
        {'CPU': 3.0}
    """

    bundles: Sequence[Mapping[str, float]]
    strategy: str = "PACK"

    def __post_init__(self) -> None:
        if (
            isinstance(self.bundles, (str, bytes, Mapping))
            or not isinstance(self.bundles, Sequence)
            or not self.bundles
        ):
            refuse("bundles", self.bundles, "a list of dicts from names to amounts, at least one")
        checked = [check_resources(f"bundles[{index}]", each) for index, each in enumerate(self.bundles)]
        object.__setattr__(self, "bundles", checked)
        check_str("strategy", self.strategy, '"PACK", "SPREAD" or the like')

    @property
    def required_resources(self) -> dict[str, float]:
        """The sums over all bundles."""
        names = dict.fromkeys(name for bundle in self.bundles for name in bundle)
        return {name: float(sum(bundle.get(name, 0.0) for bundle in self.bundles)) for name in names}

    @property
    def head_cpus(self) -> float:
        """CPUs of the first bundle: the trial's own process."""
        return float(self.bundles[0].get("CPU", 0.0))

    @property
    def head_bundle_is_empty(self) -> bool:
        """Whether the trial's own process takes nothing."""
        return not any(self.bundles[0].values())

    def scaling(self) -> ScalingConfig:
        """As a run of one rank has it."""
        first, *others = self.bundles
        rest = PlacementGroupFactory(others).required_resources if others else None
        return ScalingConfig(
            num_workers=1, resources_per_worker=dict(first), trainer_resources=rest, placement_strategy=self.strategy
        )


Resources = Mapping[str, Any] | PlacementGroupFactory | Callable[[dict[str, Any]], Any]


def with_resources(trainable: Any, resources: Resources) -> Any:
    """A trainable whose trials may use more, or less, than one CPU.

    Args:
        trainable: A function or a class; a trainer's ``ScalingConfig`` says it by itself.
        resources: ``{"cpu": 2, "gpu": 0.5}``, a :class:`PlacementGroupFactory`, or a function of
            the trial's configuration that returns one of these.

    Example:
        >>> from headway import tune
        >>> def trial(config):
        ...     tune.report({"loss": config["x"]})
        >>> tuner = tune.Tuner(tune.with_resources(trial, {"cpu": 2}))
    """
    if not callable(trainable):
        refuse("trainable", trainable, "a function or a class; ScalingConfig says what a trainer uses")
    if not callable(resources):
        of(resources, "resources")
    if isinstance(trainable, type):
        return type(trainable.__name__, (trainable,), {_MARK: staticmethod(lambda: resources), "__doc__": None})
    marked = _Marked(copy.copy(trainable) if isinstance(trainable, _Marked) else trainable)
    setattr(marked, _MARK, lambda: resources)
    if name := getattr(trainable, NAME, None):
        setattr(marked, NAME, name)
    return marked


class _Marked:
    """A function that knows what its trials use."""

    def __init__(self, function: Callable[..., Any]):
        self.function = function
        self.__name__ = getattr(function, "__name__", type(function).__name__)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)


def named(trainable: Any, name: str) -> Any:
    """A function or a class under another name; a trainer keeps its class's."""
    if isinstance(trainable, type):
        return type(name, (trainable,), {"__doc__": None})
    if not callable(trainable):
        return trainable
    marked = _Marked(copy.copy(trainable) if isinstance(trainable, _Marked) else trainable)
    setattr(marked, NAME, name)
    if given := getattr(trainable, _MARK, None):
        setattr(marked, _MARK, given)
    return marked


def plain(trainable: Any) -> Any:
    """The function itself, without what ``with_resources`` has put around it."""
    while isinstance(trainable, _Marked):
        trainable = trainable.function
    return trainable


def request_of(trainable: Any, config: dict[str, Any]) -> PlacementGroupFactory:
    """What a trial of a function or of a class uses."""
    given = getattr(trainable, _MARK, None)
    resources: Any = given() if given is not None else None
    if resources is None and hasattr(trainable, "default_resource_request"):
        resources = trainable.default_resource_request(config)
    if callable(resources):
        resources = resources(config)
    return _one_cpu() if resources is None else of(resources, "resources")


def resource_dict_to_pg_factory(spec: Mapping[str, float] | None = None) -> PlacementGroupFactory:
    """The bundle of a dict of amounts.

    Args:
        spec: ``{"cpu": 2, "gpu": 0.5}``, with amounts of further resources in
            ``"custom_resources"``. Default: one CPU.

    Example:
        >>> from headway.tune.execution.placement_groups import resource_dict_to_pg_factory
        >>> resource_dict_to_pg_factory({"cpu": 2}).required_resources
        {'CPU': 2.0}
    """
    return of({"cpu": 1} if spec is None else spec, "spec")


@functools.cache
def _one_cpu() -> PlacementGroupFactory:
    return of({"CPU": 1}, "resources")


def of(resources: Any, argument: str) -> PlacementGroupFactory:
    """Resources in whatever form they are given."""
    if isinstance(resources, PlacementGroupFactory):
        return resources
    if not isinstance(resources, Mapping):
        refuse(argument, resources, _ALLOWED)
    named = {_NAMES.get(name, name): amount for name, amount in resources.items() if name != "custom_resources"}
    return PlacementGroupFactory([check_resources(argument, {**named, **resources.get("custom_resources", {})})])


offer(globals(), ("resource_dict_to_pg_factory",))
