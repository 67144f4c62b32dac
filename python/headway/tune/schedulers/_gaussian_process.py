"""Which point to try next where values change with time: what PB2 draws its parameters from.

J. Parker-Holder, V. Nguyen, S. Roberts: "Provably Efficient Online Hyperparameter Optimization with
Population-Based Bandits", NeurIPS 2020, arXiv:2002.02518. The kernel is that of I. Bogunovic,
J. Scarlett, V. Cevher: "Time-Varying Gaussian Process Bandit Optimization", AISTATS 2016,
arXiv:1601.06650. Scaling and acquisition are those of Ray Tune (``pb2_utils.py`` of Ray 2.52).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

#: Older points say little of what is good now, and the work grows with their number's cube.
POINTS_MAX = 200
_STARTS = 10
_JITTER = 1e-8


@dataclass
class Fit:
    """A Gaussian process that was fitted to points.

    Attributes:
        points: One a row; time is the first column. All columns are between 0 and 1.
        variance: Of the values.
        length: Over which values are alike, squared.
        forgetting: How much values of different times differ.
        noise: The variance of one observation.
    """

    points: Any
    variance: float = 1.0
    length: float = 1.0
    forgetting: float = 0.1
    noise: float = 1.0
    factor: Any = None
    weights: Any = None

    def kernel(self, left: Any, right: Any) -> Any:
        """How alike the values at rows of ``left`` and ``right`` are."""
        apart = ((left[:, None, 1:] - right[None, :, 1:]) ** 2).sum(axis=2)
        time = np.abs(left[:, None, 0] - right[None, :, 0])
        return self.variance * np.exp(-apart / self.length) * (1 - self.forgetting) ** (0.5 * time)

    def solve(self, values: Any) -> float:
        """Takes up values at the points; returns how unlikely they are."""
        from scipy.linalg import cho_factor, cho_solve

        count = len(self.points)
        covariance = self.kernel(self.points, self.points) + (self.noise + _JITTER) * np.eye(count)
        self.factor = cho_factor(covariance, lower=True)
        self.weights = cho_solve(self.factor, values)
        logarithms = np.log(np.diag(self.factor[0])).sum()
        return float(0.5 * values @ self.weights + logarithms + 0.5 * count * np.log(2 * np.pi))

    def mean(self, point: Any) -> float:
        """The value that is expected at a point."""
        return float((self.kernel(point[None, :], self.points) @ self.weights)[0])

    def spread(self, point: Any) -> float:
        """The variance of an observation at a point."""
        from scipy.linalg import cho_solve

        alike = self.kernel(point[None, :], self.points)[0]
        return float(max(self.variance + self.noise - alike @ cho_solve(self.factor, alike), 0.0))


def fitted(points: Any, values: Any) -> Fit:
    """A process with the parameters that make the values most likely.

    Args:
        points: One a row; time is the first column.
        values: One for each.
    """
    from scipy.optimize import minimize

    def made(logs: Any) -> Fit:
        variance, length, noise = np.exp(logs[:3])
        return Fit(points, variance, length, float(logs[3]), noise)

    def unlikely(logs: Any) -> float:
        try:
            return made(logs).solve(values)
        except np.linalg.LinAlgError:
            return 1e12

    bounds = [(-7, 7), (-11.5, 0), (-9, 3), (0.0, 0.5)]
    found = minimize(unlikely, np.array([0.0, 0.0, -1.0, 0.1]), bounds=bounds, method="L-BFGS-B")
    fit = made(found.x)
    fit.solve(values)
    return fit


def next_parameters(fixed: Any, points: Any, values: Any, limits: Any, tried: Any) -> Any:
    """Parameters between their limits that promise most: by expected value and uncertainty.

    Args:
        fixed: What the next point has in front of its parameters: time and score.
        points: One a row: time, score, parameters.
        values: What was gained at each.
        limits: Of the parameters, two rows.
        tried: Parameters that others try now, one a row.
    """
    from scipy.optimize import minimize

    points, values = points[-POINTS_MAX:], values[-POINTS_MAX:]
    count = len(fixed)
    seen = np.stack([points[:, :count].min(axis=0), points[:, :count].max(axis=0)])
    scaled = _scaled(points, np.hstack([seen, limits]))
    gains = np.clip((values - values.mean()) / (values.std() + 1e-8), -2, 2)
    here = _scaled(fixed, seen)
    process = spread = fitted(scaled, gains)
    if len(tried):
        added = np.hstack([np.tile(here, (len(tried), 1)), _scaled(tried, limits)])
        spread = Fit(np.vstack([scaled, added]), process.variance, process.length, process.forgetting, process.noise)
        spread.solve(np.append(gains, np.zeros(len(tried))))
    weight = np.sqrt(0.2 + max(0.0, np.log(0.4 * len(points))))

    def worth(parameters: Any) -> float:
        point: Any = np.append(here, parameters)
        return process.mean(point) + float(weight) * spread.spread(point)

    box = [(0.0, 1.0)] * limits.shape[1]
    starts = np.random.uniform(0, 1, (_STARTS, limits.shape[1]))
    ends = [minimize(lambda at: -worth(at), start, bounds=box, method="L-BFGS-B").x for start in starts]
    best = np.clip(max(ends, key=worth), 0, 1)
    return limits.min(axis=0) + best * (limits.max(axis=0) - limits.min(axis=0))


def _scaled(values: Any, limits: Any) -> Any:
    return (values - limits.min(axis=0)) / (limits.max(axis=0) - limits.min(axis=0) + 1e-8)
