"""What a parameter may be: floats, integers, categories, or what a function says."""

from __future__ import annotations

import dataclasses
import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from headway._values.named_arguments import offer
from headway.tune._space.laws import Generator, Law, LogUniform, Normal, Quantized, Uniform


@dataclass(frozen=True)
class Domain:
    """The values that one parameter may have, and how they are drawn.

    Example:
        >>> from headway import tune
        >>> isinstance(tune.uniform(0, 1), tune.search.sample.Domain)
        True
    """

    def sample(self, config: Any = None, size: int = 1, random_state: Any = None) -> Any:
        """One value, or a list of ``size`` if that is above 1.

        Args:
            config: What :class:`Function` hands to its function.
            size: How many values.
            random_state: A seed or a generator of numpy. Default: numpy's global generator.
        """
        values = [self.cast(value) for value in self._draw(config, Generator(random_state), size)]
        return values if len(values) > 1 else values[0]

    def cast(self, value: Any) -> Any:
        """A value as the training function gets it."""
        return value

    def is_valid(self, value: Any) -> bool:
        """Whether the parameter may have a value."""
        return True

    def draw_uniformly(self, generator: Generator, size: int) -> list[Any]:
        """``size`` values, each as likely as any other."""
        raise NotImplementedError(f"{type(self).__name__} has no uniform distribution")

    def _draw(self, config: Any, generator: Generator, size: int) -> list[Any]:
        raise NotImplementedError


@dataclass(frozen=True)
class Numbers(Domain):
    """Numbers between two bounds.

    Attributes:
        lower: The lower bound, which is included.
        upper: The upper bound.
        law: How they are drawn.
    """

    lower: float = -math.inf
    upper: float = math.inf
    law: Law = dataclasses.field(default_factory=Uniform)

    def quantized(self, q: float) -> Any:
        """The same, rounded to multiples of ``q``."""
        return dataclasses.replace(self, law=Quantized(self.law, q))

    def loguniform(self) -> Any:
        """The same, with a uniformly distributed logarithm."""
        return dataclasses.replace(self, law=LogUniform())

    def uniform(self) -> Any:
        """The same, with each value as likely as any other."""
        return dataclasses.replace(self, law=Uniform())

    def draw_quantized(self, law: Law, q: float, generator: Generator, size: int) -> list[Any]:
        """``size`` multiples of ``q``."""
        raise NotImplementedError

    @property
    def q(self) -> float | None:
        """The step of quantized values."""
        return self.law.q if isinstance(self.law, Quantized) else None

    @property
    def base_law(self) -> Law:
        """How values are drawn before they are quantized."""
        return self.law.law if isinstance(self.law, Quantized) else self.law

    def is_valid(self, value: Any) -> bool:
        """Whether a value lies between the bounds, both included."""
        return isinstance(value, (int, float)) and self.lower <= value <= self.upper

    def _draw(self, config: Any, generator: Generator, size: int) -> list[Any]:
        return self.law.draw(self, generator, size)


@dataclass(frozen=True)
class Float(Numbers):
    """Floats between two bounds.

    Example:
        >>> from headway import tune
        >>> isinstance(tune.randn(), tune.search.sample.Float)
        True
    """

    def cast(self, value: Any) -> float:
        """A float."""
        return float(value)

    def normal(self, mean: float = 0.0, sd: float = 1.0) -> Float:
        """The same, normally distributed."""
        return dataclasses.replace(self, law=Normal(mean, sd))

    def draw_uniformly(self, generator: Generator, size: int) -> list[Any]:
        """``size`` values, each as likely as any other."""
        return list(generator.uniform(self.lower, self.upper, size))

    def draw_quantized(self, law: Law, q: float, generator: Generator, size: int) -> list[Any]:
        """``size`` values of the law, each rounded to a multiple of ``q``."""
        import numpy as np

        within = dataclasses.replace(self, lower=np.ceil(self.lower / q) * q, upper=np.floor(self.upper / q) * q)
        return list(np.round(np.divide(law.draw(within, generator, size), q)) * q)


@dataclass(frozen=True)
class Integer(Numbers):
    """Integers from ``lower`` to below ``upper``; quantized ones reach ``upper``.

    Example:
        >>> from headway import tune
        >>> tune.randint(1, 10).upper
        10
    """

    def cast(self, value: Any) -> int:
        """An int."""
        return int(value)

    def draw_uniformly(self, generator: Generator, size: int) -> list[Any]:
        """``size`` values, each as likely as any other."""
        return list(generator.integers(self.lower, self.upper, size))

    def draw_quantized(self, law: Law, q: float, generator: Generator, size: int) -> list[Any]:
        """``size`` values of the law, which draws how often ``q`` goes into each."""
        times = dataclasses.replace(self, lower=math.ceil(self.lower / q), upper=math.floor(self.upper / q) + 1)
        return [int(each) * q for each in law.draw(times, generator, size)]


@dataclass(frozen=True)
class Categorical(Domain):
    """One of several values.

    Attributes:
        categories: The values.

    Example:
        >>> from headway import tune
        >>> tune.choice(["a", "b"]).categories
        ['a', 'b']
    """

    categories: Sequence[Any] = ()

    def is_valid(self, value: Any) -> bool:
        """Whether it is one of the categories."""
        return value in self.categories

    def draw_uniformly(self, generator: Generator, size: int) -> list[Any]:
        """``size`` categories, each as likely as any other."""
        return [self.categories[index] for index in generator.indices(len(self.categories), size)]

    def _draw(self, config: Any, generator: Generator, size: int) -> list[Any]:
        return self.draw_uniformly(generator, size)


@dataclass(frozen=True)
class Function(Domain):
    """What a function says.

    Attributes:
        function: Called without arguments, or with the configuration as far as it is known.

    Example:
        >>> from headway import tune
        >>> tune.sample_from(lambda: 5).sample()
        5
    """

    function: Callable[..., Any] = lambda: None

    def _draw(self, config: Any, generator: Generator, size: int) -> list[Any]:
        arguments = (config,) if self._takes_config() else ()
        return [self.function(*arguments) for _ in range(size)]

    def _takes_config(self) -> bool:
        try:
            parameters = inspect.signature(self.function).parameters.values()
        except (TypeError, ValueError):  # Functions of C have no signature at times.
            return True
        positional = (
            inspect.Parameter.POSITIONAL_ONLY,
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
            inspect.Parameter.VAR_POSITIONAL,
        )
        return any(each.kind in positional for each in parameters)


offer(globals(), ("Categorical", "Domain", "Float", "Function", "Integer"), place="headway.tune.search.sample")
