"""Intervals of vectors, one coordinate at a time, by way of the numbers they are made of."""

from typing import Any

from tractable.arrays.namespace import Array, namespace_of

__all__ = ["coordinate_intervals"]


def coordinate_intervals(d: Any, coverage: float = 0.9) -> tuple[Array, Array]:
    """Return the equal-tailed interval (low, high) of each coordinate by itself, (*batch, d) both.

    Examples
    --------
    >>> from tractable import Mixture, MultivariateNormal
    >>> halves = MultivariateNormal(mean=[[-1.0, 0.0], [1.0, 0.0]], covariance=[[1e-6, 0.0], [0.0, 1.0]])
    >>> low, high = coordinate_intervals(Mixture(components=halves), coverage=0.9)
    >>> low.round(2), high.round(2)
    (array([-1.  , -1.64]), array([1.  , 1.64]))
    """
    ends = [d.marginal([j]).as_univariate().interval(coverage) for j in range(d.event_shape[0])]
    lows, highs = zip(*ends, strict=True)
    xp = namespace_of(*lows)
    return xp.stack(lows, axis=-1), xp.stack(highs, axis=-1)
