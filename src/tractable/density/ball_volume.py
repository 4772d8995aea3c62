"""Volumes of balls."""

from math import inf, lgamma, log

import numpy as np

from tractable.spatial.metric import Metric
from tractable.spatial.metrics import Chebyshev, Euclidean, Mahalanobis, Minkowski

__all__ = ["log_ball_volume"]


def log_ball_volume(metric: Metric, dim: int) -> float:
    """Return log V of the ball of radius one, V = (2 Γ(1 + 1/m))^D / Γ(1 + D/m); times √|Σ| by Mahalanobis.

    Examples
    --------
    >>> round(log_ball_volume(Euclidean(), 3), 6) == round(log(4.0 * np.pi / 3.0), 6)
    True
    """
    if isinstance(metric, Mahalanobis):
        return _of_order(2.0, dim) + 0.5 * float(np.linalg.slogdet(metric.covariance)[1])
    if isinstance(metric, (Euclidean, Minkowski, Chebyshev)):
        return _of_order({"euclidean": 2.0, "chebyshev": inf}.get(metric.form, metric.order), dim)
    raise ValueError(f"metric must have balls with a volume (Minkowski's or Mahalanobis'), got {metric!r}")


def _of_order(m: float, dim: int) -> float:
    inverse = 0.0 if m == inf else 1.0 / m
    return dim * (log(2.0) + lgamma(1.0 + inverse)) - lgamma(1.0 + dim * inverse)
