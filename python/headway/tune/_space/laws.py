"""How values of a parameter are drawn: each law takes its numbers from numpy's generators in the
order in which Ray Tune does, so the same seed gives the same configurations.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any


class Generator:
    """Either kind of numpy's generators under one set of names.

    Args:
        source: A seed, a ``numpy.random.Generator``, a ``RandomState``, or another of these.
            Default: numpy's global generator, which ``numpy.random.seed`` seeds.
    """

    def __init__(self, source: Any = None):
        import numpy as np

        if isinstance(source, Generator):
            self._source: Any = source._source
            return
        if source is not None and not isinstance(source, (np.random.Generator, np.random.RandomState)):
            source = np.random.default_rng(source)
        # The global one is looked up at each draw: it is a module, which cannot be pickled.
        self._source = source

    def kept(self) -> Any:
        """Where it is, for :meth:`take_up`."""
        return copy.deepcopy(self._source) if self._source is not None else self._numpy.get_state()

    def take_up(self, kept: Any) -> None:
        """Continues from there; so does numpy's global generator, where this is it."""
        if isinstance(kept, (tuple, dict)):
            self._source = None
            self._numpy.set_state(kept)
        else:
            self._source = copy.deepcopy(kept)

    @property
    def _numpy(self) -> Any:
        import numpy as np

        return np.random if self._source is None else self._source

    def uniform(self, lower: float, upper: float, size: int) -> Any:
        """Floats in [lower, upper)."""
        return self._numpy.uniform(lower, upper, size=size)

    def normal(self, mean: float, sd: float, size: int) -> Any:
        """Normally distributed floats."""
        return self._numpy.normal(mean, sd, size=size)

    def integers(self, lower: float, upper: float, size: int) -> Any:
        """Integers in [lower, upper)."""
        numpy = self._numpy
        draw = numpy.integers if hasattr(numpy, "integers") else numpy.randint
        return draw(lower, upper, size=size)

    def indices(self, count: int, size: int) -> Any:
        """Positions in a list of ``count``."""
        import numpy as np

        return self._numpy.choice(np.arange(0, count), size=size)


class Law:
    """How values are drawn."""

    def draw(self, domain: Any, generator: Generator, size: int) -> list[Any]:
        """``size`` values of a domain."""
        raise NotImplementedError


@dataclass(frozen=True)
class Uniform(Law):
    """Each value is as likely as any other."""

    def draw(self, domain: Any, generator: Generator, size: int) -> list[Any]:
        """``size`` values of a domain."""
        values: list[Any] = domain.draw_uniformly(generator, size)
        return values


@dataclass(frozen=True)
class LogUniform(Law):
    """The logarithm is distributed uniformly."""

    def draw(self, domain: Any, generator: Generator, size: int) -> list[Any]:
        """``size`` values of a domain."""
        import numpy as np

        return list(np.exp(generator.uniform(np.log(domain.lower), np.log(domain.upper), size)))


@dataclass(frozen=True)
class Normal(Law):
    """The normal distribution.

    Attributes:
        mean: Its mean.
        sd: Its standard deviation.
    """

    mean: float = 0.0
    sd: float = 1.0

    def draw(self, domain: Any, generator: Generator, size: int) -> list[Any]:
        """``size`` values, whatever the domain's bounds are."""
        return list(generator.normal(self.mean, self.sd, size))


@dataclass(frozen=True)
class Quantized(Law):
    """Values of another law as multiples of a step; the domain's upper bound is among them.

    Attributes:
        law: The other law.
        q: The step.
    """

    law: Law
    q: float

    def draw(self, domain: Any, generator: Generator, size: int) -> list[Any]:
        """``size`` values of a domain."""
        if self.q == 1:
            return self.law.draw(domain, generator, size)
        return domain.draw_quantized(self.law, self.q, generator, size)
