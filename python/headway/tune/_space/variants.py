"""From a search space to configurations: which of its values are still open, grids, draws, and
functions that look at other parameters.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from headway.tune._space.domains import Domain
from headway.tune._space.laws import Generator

#: From a configuration's top to one of its values: keys of dicts, positions in lists.
Path = tuple[Any, ...]

_PASSES_MAX = 20


class RecursiveDependencyError(Exception):
    """Functions of a search space wait for each other's values.

    Example:
        >>> from headway.tune.search.variant_generator import RecursiveDependencyError
        >>> issubclass(RecursiveDependencyError, Exception)
        True
    """


@dataclass(frozen=True)
class Variant:
    """A configuration.

    Attributes:
        config: The configuration itself.
        drawn: What was open in the space, and what has become of it.
    """

    config: dict[str, Any]
    drawn: dict[Path, Any]


def is_grid(value: object) -> bool:
    """Whether a value is what ``grid_search`` makes."""
    return isinstance(value, dict) and len(value) == 1 and "grid_search" in value


def is_open(value: object) -> bool:
    """Whether a value is to be drawn, or is a grid."""
    return isinstance(value, Domain) or is_grid(value)


def open_values(space: Any) -> Iterator[tuple[Path, Any]]:
    """The domains and grids of a space, in their order in it."""
    entries: Any = ()
    if isinstance(space, dict):
        entries = space.items()
    elif isinstance(space, (list, tuple)):
        entries = enumerate(space)
    for key, value in entries:
        if is_open(value):
            yield (key,), value
        else:
            for path, inner in open_values(value):
                yield (key, *path), inner


def variants(space: dict[str, Any], generator: Generator, *, constant_grid: bool = False) -> Iterator[Variant]:
    """The configurations of one sample: one for each point of the grids.

    Args:
        space: The search space.
        generator: What is drawn from.
        constant_grid: Draws once for all points of the grids, not once for each.

    Raises:
        RecursiveDependencyError: functions wait for each other.
        ValueError: a function of the space raises.
    """
    grids = sorted(((path, value) for path, value in open_values(space) if is_grid(value)), key=_order)
    domains = [(path, value) for path, value in open_values(space) if isinstance(value, Domain)]
    if not grids and not domains:
        yield Variant(_copy(space), {})
        return
    start = _copy(space)
    constants: dict[Path, Any] = {}
    if constant_grid:
        constants = _draw(start, domains, generator, may_wait=True)
        domains = [(path, domain) for path, domain in domains if path not in constants]
    for point in _points(grids):
        config = _copy(start)
        for path, value in point.items():
            _assign(config, path, value)
        drawn = {**constants, **_draw(config, domains, generator)}
        # What was drawn may be a space itself.
        for inner in variants(config, generator, constant_grid=constant_grid):
            yield Variant(inner.config, {**drawn, **point, **inner.drawn})


def value_at(config: Any, path: Path) -> Any:
    """A value of a configuration.

    Raises:
        LookupError: there is none.
    """
    for key in path:
        config = config[key]
    return config


def with_values(space: dict[str, Any], values: Mapping[Path, Any]) -> dict[str, Any]:
    """A copy of a space in which some values are set."""
    copy: dict[str, Any] = _copy(space)
    for path, value in values.items():
        _assign(copy, path, value)
    return copy


def _order(entry: tuple[Path, Any]) -> list[tuple[bool, Any]]:
    return [(isinstance(key, int), key if isinstance(key, int) else str(key)) for key in entry[0]]


def _points(grids: list[tuple[Path, Any]]) -> Iterator[dict[Path, Any]]:
    """Each combination of the grids' values; the first grid turns fastest."""
    if not grids:
        yield {}
        return
    (path, grid), *others = grids
    for point in _points(others):
        for value in grid["grid_search"]:
            yield {path: value, **point}


def _draw(
    config: dict[str, Any], domains: list[tuple[Path, Domain]], generator: Generator, *, may_wait: bool = False
) -> dict[Path, Any]:
    """Draws values into a configuration, and returns them. A function that asks for a value which
    is still open is called again in the next pass.
    """
    drawn: dict[Path, Any] = {}
    waits: RecursiveDependencyError | None = None
    for _ in range(_PASSES_MAX):
        waits = None
        for path, domain in domains:
            if path in drawn:
                continue
            try:
                value = domain.sample(_Known(config, config), random_state=generator)
            except RecursiveDependencyError as error:
                waits = error
                continue
            except Exception as error:
                shown = "/".join(map(str, path))
                raise ValueError(f"the function of sample_from for {shown!r} raised: {error!r}") from error
            drawn[path] = value
            _assign(config, path, value)
        if waits is None:
            break
    if waits is not None and not may_wait:
        raise waits
    return drawn


class _Known(dict):
    """A configuration, as a function of a search space sees it: an open value cannot be read."""

    def __init__(self, values: dict[str, Any], config: dict[str, Any]):
        super().__init__(values)
        self._config = config

    def __getitem__(self, key: Any) -> Any:
        if key == "config" and key not in self:
            return _Known(self._config, self._config)
        value = super().__getitem__(key)
        if is_open(value):
            raise RecursiveDependencyError(f"`{key}` recursively depends on {value}")
        if isinstance(value, dict):
            return _Known(value, self._config)
        if isinstance(value, (list, tuple)) and any(True for _ in open_values(value)):
            raise RecursiveDependencyError(f"`{key}` recursively depends on {value}")
        return value

    def __getattr__(self, key: str) -> Any:
        try:
            return self[key]
        except KeyError:
            raise AttributeError(key) from None

    def get(self, key: Any, default: Any = None) -> Any:
        """As of any dict."""
        try:
            return self[key]
        except KeyError:
            return default


def _copy(value: Any) -> Any:
    """A copy of the dicts and lists; the values in them are the same objects."""
    if isinstance(value, dict) and not is_grid(value):
        return {key: _copy(each) for key, each in value.items()}
    if isinstance(value, list) or (type(value) is tuple and any(True for _ in open_values(value))):
        return [_copy(each) for each in value]
    return value


def _assign(config: Any, path: Path, value: Any) -> None:
    value_at(config, path[:-1])[path[-1]] = value
