"""What users write into a search space."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from headway._values.arguments import check_number, refuse
from headway.tune._space.domains import Categorical, Float, Function, Integer


def uniform(lower: float, upper: float) -> Float:
    """Floats from ``lower`` to below ``upper``, each as likely as any other.

    Args:
        lower: The lower bound.
        upper: The upper bound.

    Example:
        >>> from headway import tune
        >>> 0 <= tune.uniform(0, 1).sample() < 1
        True
    """
    return Float(*_floats(lower, upper))


def quniform(lower: float, upper: float, q: float) -> Float:
    """As :func:`uniform`, rounded to multiples of ``q``; ``upper`` is included.

    Args:
        lower: The lower bound, a multiple of ``q``.
        upper: The upper bound, a multiple of ``q``.
        q: The step.

    Example:
        >>> from headway import tune
        >>> tune.quniform(0, 1, 0.5).sample() in (0.0, 0.5, 1.0)
        True
    """
    bounds = _floats(lower, upper)
    return Float(*bounds).quantized(_step(q, bounds))


def loguniform(lower: float, upper: float, base: float = 10) -> Float:
    """Floats from ``lower`` to below ``upper`` whose logarithm is uniformly distributed.

    Args:
        lower: The lower bound, above 0.
        upper: The upper bound.
        base: Without effect.

    Example:
        >>> from headway import tune
        >>> 1e-4 <= tune.loguniform(1e-4, 1e-1).sample() < 1e-1
        True
    """
    _base(base)
    return Float(*_above_0(_floats(lower, upper))).loguniform()


def qloguniform(lower: float, upper: float, q: float, base: float = 10) -> Float:
    """As :func:`loguniform`, rounded to multiples of ``q``; ``upper`` is included.

    Args:
        lower: The lower bound, above 0 and a multiple of ``q``.
        upper: The upper bound, a multiple of ``q``.
        q: The step.
        base: Without effect.

    Example:
        >>> from headway import tune
        >>> 0.5 <= tune.qloguniform(0.5, 8, 0.5).sample() <= 8
        True
    """
    _base(base)
    bounds = _above_0(_floats(lower, upper))
    return Float(*bounds).loguniform().quantized(_step(q, bounds))


def randint(lower: int, upper: int) -> Integer:
    """Integers from ``lower`` to below ``upper``, each as likely as any other.

    Args:
        lower: The lower bound.
        upper: The upper bound, which is not included.

    Example:
        >>> from headway import tune
        >>> tune.randint(1, 3).sample() in (1, 2)
        True
    """
    return Integer(*_integers(lower, upper))


def qrandint(lower: int, upper: int, q: int = 1) -> Integer:
    """As :func:`randint`, rounded to multiples of ``q``; ``upper`` is included unless ``q`` is 1.

    Args:
        lower: The lower bound, a multiple of ``q``.
        upper: The upper bound, a multiple of ``q``.
        q: The step.

    Example:
        >>> from headway import tune
        >>> tune.qrandint(8, 32, 8).sample() in (8, 16, 24, 32)
        True
    """
    bounds = _integers(lower, upper)
    return Integer(*bounds).quantized(_whole_step(q, bounds))


def lograndint(lower: int, upper: int, base: float = 10) -> Integer:
    """Integers from ``lower`` to below ``upper`` whose logarithm is uniformly distributed.

    Args:
        lower: The lower bound, above 0.
        upper: The upper bound, which is not included.
        base: Without effect.

    Example:
        >>> from headway import tune
        >>> 1 <= tune.lograndint(1, 1000).sample() < 1000
        True
    """
    _base(base)
    return Integer(*_above_0(_integers(lower, upper))).loguniform()


def qlograndint(lower: int, upper: int, q: int, base: float = 10) -> Integer:
    """As :func:`lograndint`, in multiples of ``q``; ``upper`` is included unless ``q`` is 1.

    Args:
        lower: The lower bound, above 0 and a multiple of ``q``.
        upper: The upper bound, a multiple of ``q``.
        q: The step.
        base: Without effect.

    Example:
        >>> from headway import tune
        >>> tune.qlograndint(2, 8, 2).sample() in (2, 4, 6, 8)
        True
    """
    _base(base)
    bounds = _above_0(_integers(lower, upper))
    return Integer(*bounds).loguniform().quantized(_whole_step(q, bounds))


def randn(mean: float = 0.0, sd: float = 1.0) -> Float:
    """Normally distributed floats.

    Args:
        mean: Their mean.
        sd: Their standard deviation, above 0.

    Example:
        >>> from headway import tune
        >>> isinstance(tune.randn(10, 2).sample(), float)
        True
    """
    return Float().normal(_finite("mean", mean), _above("sd", sd))


def qrandn(mean: float, sd: float, q: float) -> Float:
    """As :func:`randn`, rounded to multiples of ``q``.

    Args:
        mean: Their mean.
        sd: Their standard deviation, above 0.
        q: The step.

    Example:
        >>> from headway import tune
        >>> tune.qrandn(10, 2, 0.5).sample() % 0.5
        0.0
    """
    return Float().normal(_finite("mean", mean), _above("sd", sd)).quantized(_above("q", q))


def choice(categories: Sequence[Any]) -> Categorical:
    """One of several values, each as likely as any other. A value may be a dict that is a search
    space itself.

    Args:
        categories: The values.

    Example:
        >>> from headway import tune
        >>> tune.choice(["sgd", "adam"]).sample() in ("sgd", "adam")
        True
    """
    return Categorical(_values("categories", categories))


def sample_from(func: Callable[..., Any]) -> Function:
    """What a function says, which may look at other parameters.

    Args:
        func: Called without arguments, or with the configuration: ``config["lr"]``,
            ``config.lr`` and ``spec.config.lr`` all work.

    Example:
        >>> from headway import tune
        >>> space = {"layers": tune.randint(1, 4), "units": tune.sample_from(lambda c: [64] * c["layers"])}
    """
    if not callable(func):
        refuse("func", func, "a function of the configuration, or of nothing")
    return Function(func)


def grid_search(values: Iterable[Any]) -> dict[str, list[Any]]:
    """Each of these values once, with each value of every other grid. ``num_samples`` repeats the
    whole grid.

    Args:
        values: The values.

    Example:
        >>> from headway import tune
        >>> tune.grid_search([16, 32])
        {'grid_search': [16, 32]}
    """
    return {"grid_search": _values("values", values)}


def _values(argument: str, values: object) -> list[Any]:
    allowed = "a list of values, at least one"
    if isinstance(values, (str, bytes, dict)) or not isinstance(values, Iterable):
        refuse(argument, values, allowed)
    found = list(values)
    if not found:
        raise ValueError(f"{argument} is {values!r}; allowed: {allowed}")
    return found


def _finite(argument: str, value: object) -> float:
    allowed = "a finite number"
    number = check_number(argument, value, allowed)
    if not math.isfinite(number):
        raise ValueError(f"{argument} is {value!r}; allowed: {allowed}")
    return number


def _above(argument: str, value: object) -> float:
    number = _finite(argument, value)
    if number <= 0:
        raise ValueError(f"{argument} is {value!r}; allowed: a finite number above 0")
    return number


def _base(base: object) -> None:
    if _above("base", base) == 1:
        raise ValueError(f"base is {base!r}; allowed: a finite number above 0 that is not 1")


def _floats(lower: object, upper: object) -> tuple[float, float]:
    bounds = _finite("lower", lower), _finite("upper", upper)
    if bounds[0] >= bounds[1]:
        raise ValueError(f"lower, upper are {lower!r}, {upper!r}; allowed: upper above lower")
    return bounds


def _integers(lower: object, upper: object) -> tuple[int, int]:
    for argument, value in (("lower", lower), ("upper", upper)):
        _whole(argument, value)
    bounds = int(lower), int(upper)  # type: ignore[call-overload]
    if bounds[0] >= bounds[1]:
        raise ValueError(f"lower, upper are {lower!r}, {upper!r}; allowed: upper above lower")
    return bounds


def _whole(argument: str, value: object) -> int:
    allowed = "an integer"
    number = check_number(argument, value, allowed)
    if not number.is_integer():
        raise ValueError(f"{argument} is {value!r}; allowed: {allowed}")
    return int(number)


def _above_0(bounds: tuple[Any, Any]) -> tuple[Any, Any]:
    if bounds[0] <= 0:
        raise ValueError(f"lower is {bounds[0]!r}; allowed: a number above 0, since its logarithm is drawn")
    return bounds


def _step(q: object, bounds: tuple[float, float]) -> float:
    number = _above("q", q)
    for argument, bound in zip(("lower", "upper"), bounds, strict=True):
        times = bound / number
        if not math.isclose(times, round(times), rel_tol=1e-9, abs_tol=1e-9):
            raise ValueError(f"{argument} is {bound!r}; allowed: a multiple of q, which is {q!r}")
    return number


def _whole_step(q: object, bounds: tuple[int, int]) -> int:
    number = _whole("q", q)
    if number < 1:
        raise ValueError(f"q is {q!r}; allowed: an integer of at least 1")
    _step(number, bounds)
    return number
