"""Grids and random search."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from headway._values.arguments import check_bool, check_int, refuse
from headway._values.log import warn
from headway.tune._space.domains import Categorical, Domain
from headway.tune._space.laws import Generator
from headway.tune._space.variants import Path, Variant, is_grid, open_values, value_at, variants, with_values
from headway.tune.search.searcher import Searcher


class BasicVariantGenerator(Searcher):
    """Goes through the grids of a search space and draws the rest. It is what searches when
    ``TuneConfig.search_alg`` is None.

    The draws are Ray Tune's: the same seed gives the same configurations.

    Args:
        points_to_evaluate: Configurations to begin with, which count among the samples. What they
            leave open is drawn.
        max_concurrent: At most so many trials at once; 0 for no limit.
        constant_grid_search: Draws once for each sample, not once for each point of the grids.
        random_state: A seed or a generator of numpy. Default: numpy's global generator, which
            ``numpy.random.seed`` seeds.

    Example:
        >>> from headway import tune
        >>> from headway.tune.search.basic_variant import BasicVariantGenerator
        >>> search = BasicVariantGenerator(points_to_evaluate=[{"lr": 0.1}], random_state=7)
        >>> _ = search.set_search_properties("loss", "min", {"lr": tune.loguniform(1e-4, 1)}, num_samples=2)
        >>> search.suggest("first"), search.suggest("second"), search.suggest("third")
        ({'lr': 0.1}, {'lr': 0.031...}, 'FINISHED')
    """

    def __init__(
        self,
        points_to_evaluate: Sequence[dict[str, Any]] | None = None,
        max_concurrent: int = 0,
        constant_grid_search: bool = False,
        random_state: Any = None,
    ):
        super().__init__()
        self._points = check_points(points_to_evaluate)
        self.max_concurrent = check_int("max_concurrent", max_concurrent, "0 or a number of trials")
        if self.max_concurrent < 0:
            raise ValueError(f"max_concurrent is {max_concurrent}; allowed: 0 or a number of trials")
        self._constant_grid = check_bool("constant_grid_search", constant_grid_search)
        self._generator = _generator(random_state)
        self._variants: Iterator[Variant] | None = None
        self._space: dict[str, Any] = {}
        self._samples = 1
        # Where it is: the sample, how many of its configurations were suggested, and the generator
        # as it was before the sample.
        self._sample, self._of_sample, self._before = 0, 0, self._generator.kept()
        self._live: set[str] = set()
        #: What was drawn for the newest suggestion, by path.
        self.drawn: dict[Path, Any] = {}

    def __getstate__(self) -> dict[str, Any]:
        """A generator that runs cannot be pickled: ``set_search_properties`` makes another."""
        return {**self.__dict__, "_variants": None}

    def set_search_properties(self, metric: str | None, mode: str | None, config: dict[str, Any], **spec: Any) -> bool:
        """Takes the search space.

        Args:
            metric: Without effect.
            mode: Without effect.
            config: The search space.
            spec: ``num_samples``: how often the whole space is sampled; -1 for no end.
        """
        for point in self._points:
            flat_point(config, point)
        self._metric, self._mode = metric, mode
        self._space, self._samples = config, spec.get("num_samples", 1)
        self._variants = self._from(0, 0)
        return True

    @property
    def total_samples(self) -> int | None:
        """How many trials there will be, if grids stand in the space only and not in its choices;
        None for no end.
        """
        if self._samples == -1:
            return None
        others = max(0, self._samples - len(self._points)) * grid_size(self._space)
        presets = self._points[: self._samples]
        return others + sum(grid_size(with_values(self._space, flat_point(self._space, each))) for each in presets)

    def suggest(self, trial_id: str) -> dict[str, Any] | str | None:
        """The next configuration."""
        if self.max_concurrent and len(self._live) >= self.max_concurrent:
            return None
        variant = next(self._variants, None) if self._variants is not None else None
        if variant is None:
            return self.FINISHED
        self._of_sample += 1
        self._live.add(trial_id)
        self.drawn = variant.drawn
        return variant.config

    def on_trial_complete(self, trial_id: str, result: dict[str, Any] | None = None, error: bool = False) -> None:
        """Nothing is learned from results."""
        self._live.discard(trial_id)

    def get_state(self) -> dict[str, Any]:
        """Where it is in the space, without the space itself, which may hold any function."""
        return {"sample": self._sample, "of_sample": self._of_sample, "before": self._before}

    def set_state(self, state: dict[str, Any]) -> None:
        """Goes on behind what was suggested before; call ``set_search_properties`` first.

        Args:
            state: The state.
        """
        self._generator.take_up(state["before"])
        self._variants = self._from(state["sample"], state["of_sample"])

    def _from(self, sample: int, skipped: int) -> Iterator[Variant]:
        samples = itertools.count(sample) if self._samples == -1 else range(sample, self._samples)
        for index in samples:
            self._sample, self._of_sample, self._before = index, skipped, self._generator.kept()
            space = self._space
            if index < len(self._points):
                space = with_values(space, flat_point(space, self._points[index]))
            found = variants(space, self._generator, constant_grid=self._constant_grid)
            yield from itertools.islice(found, skipped, None)
            skipped = 0


def check_points(points: object) -> list[dict[str, Any]]:
    """The argument ``points_to_evaluate``."""
    allowed = "None or a list of configurations, which are dicts"
    if points is None:
        return []
    if isinstance(points, (str, bytes)) or not isinstance(points, Sequence):
        refuse("points_to_evaluate", points, allowed)
    for index, point in enumerate(points):
        if not isinstance(point, Mapping):
            refuse(f"points_to_evaluate[{index}]", point, "a dict from parameters to values")
    return list(points)


def flat_point(space: dict[str, Any], point: Mapping[str, Any]) -> dict[Path, Any]:
    """A configuration to begin with, by paths of the space.

    Raises:
        ValueError: it has a parameter that the space does not have.
    """
    flat: dict[Path, Any] = {}
    for path, value in _entries(space, point, ()):
        try:
            domain = value_at(space, path)
        except (LookupError, TypeError):
            shown = "/".join(map(str, path))
            raise ValueError(f"points_to_evaluate has {shown!r}; allowed: parameters of the search space") from None
        if is_grid(domain):
            domain = Categorical(domain["grid_search"])
        fits = domain.is_valid(value) if isinstance(domain, Domain) else bool(domain == value)
        if not fits:
            shown = "/".join(map(str, path))
            warn(f"points_to_evaluate: {shown!r} is {value!r}, which the search space does not have: {domain!r}")
        flat[path] = value
    return flat


def grid_size(space: Any) -> int:
    """How many points the grids of a space have."""
    size = 1
    for _, value in open_values(space):
        if is_grid(value):
            size *= len(value["grid_search"])
    return size


def _entries(space: Any, point: Mapping[str, Any], above: Path) -> Iterator[tuple[Path, Any]]:
    """The values of a point, as deep as the space goes. ``"optimizer/lr"`` is a path too."""
    for key, value in point.items():
        keys: Path = (key,)
        if key not in space and isinstance(key, str) and "/" in key:
            keys = tuple(key.split("/"))
        inner = space.get(key) if isinstance(space, Mapping) else None
        if isinstance(value, Mapping) and isinstance(inner, Mapping) and not is_grid(inner):
            yield from _entries(inner, value, (*above, *keys))
        else:
            yield (*above, *keys), value


def _generator(random_state: Any) -> Generator:
    import numpy as np

    allowed = (int, np.integer, np.random.Generator, np.random.RandomState)
    if random_state is not None and (isinstance(random_state, bool) or not isinstance(random_state, allowed)):
        refuse("random_state", random_state, "None, a seed, or a generator of numpy.random")
    if isinstance(random_state, (int, np.integer)) and random_state < 0:
        raise ValueError(f"random_state is {random_state}; allowed: a seed of at least 0")
    return Generator(random_state)
