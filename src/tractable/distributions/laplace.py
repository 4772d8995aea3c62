"""The Laplace distribution of a number."""

from collections.abc import Mapping
from math import log
from typing import Any, ClassVar, Self

import numpy as np

from tractable.arrays.linalg import symmetrize
from tractable.arrays.namespace import Array, device, namespace_of
from tractable.arrays.random import uniform
from tractable.arrays.saddle_point import deviance
from tractable.distributions.checks import check_finite, check_positive, row_weights
from tractable.distributions.distribution import Univariate, as_columns, like_columns
from tractable.engines.newton import newton
from tractable.value import value

__all__ = ["Laplace", "coordinate_medians", "geometric_median"]


@value
class Laplace(Univariate):
    """Lap(x | μ, b) = exp(-|x - μ| / b) / 2b.

    Parameters
    ----------
    location : array (*batch,)
        μ: mean, median and mode.
    scale : array (*batch,)
        b, the mean distance from μ; the variance is 2b².

    Examples
    --------
    >>> d = Laplace(location=1.0, scale=2.0)
    >>> float(d.variance), float(d.cdf(1.0)), float(d.prob(1.0))
    (8.0, 0.5, 0.25)
    >>> Laplace.fit([1.0, 2.0, 9.0]).location
    array(2.)
    """

    parameter_ndims: ClassVar[Mapping[str, int]] = {"location": 0, "scale": 0}

    location: Array
    scale: Array

    def __post_init__(self) -> None:
        self._settle(location=check_finite, scale=check_positive)

    @classmethod
    def fit(cls, X: Any, sample_weight: Any = None) -> Self:
        """Return the maximum likelihood estimate: the median, and the mean distance from it.

        Where half the weight lies on either side of a gap every point of it is likeliest, as between the
        middle two of an even number of observations; its middle is given.

        Parameters
        ----------
        X : array (n, *batch)
            Observations on the first axis, not all the same.
        sample_weight : array (n,), optional
            How often each observation counts.
        """
        X, columns, weights = as_columns(X, sample_weight)
        xp = namespace_of(X)
        weights = row_weights(weights, X)
        weights = xp.astype(weights / xp.sum(weights), X.dtype)
        location = coordinate_medians(columns, weights) if columns.shape[1] else columns[0, :]
        scale = weights @ xp.abs(columns - location)
        if not bool(xp.all(scale > 0.0)):
            raise ValueError("X must vary: the likelihood of observations that are all the same is unbounded")
        return like_columns(cls(location=location, scale=scale), X)

    @property
    def mean(self) -> Array:
        """See `Distribution.mean`."""
        return self.location

    @property
    def variance(self) -> Array:
        """See `Distribution.variance`: 2b²."""
        return 2.0 * self.scale * self.scale

    @property
    def mode(self) -> Array:
        """See `Distribution.mode`."""
        return self.location

    def log_prob(self, x: Any) -> Array:
        """See `Distribution.log_prob`."""
        xp = namespace_of(self.scale)
        return -xp.abs(self._standardized(x)) - (xp.log(self.scale) + log(2.0))

    def cdf(self, x: Any) -> Array:
        """See `Univariate.cdf`: all its digits in the lower tail."""
        return _lower(self._standardized(x))

    def survival(self, x: Any) -> Array:
        """See `Univariate.survival`: all its digits in the upper tail."""
        return _lower(-self._standardized(x))

    def icdf(self, q: Any) -> Array:
        """See `Univariate.icdf`."""
        q = self._quantile(q)
        xp = namespace_of(q)
        with np.errstate(divide="ignore"):
            tail = xp.log(2.0 * xp.minimum(q, 1.0 - q))
        return self.location + self.scale * xp.where(q < 0.5, tail, -tail)

    def entropy(self) -> Array:
        """See `Distribution.entropy`: 1 + log 2b."""
        return 1.0 + log(2.0) + namespace_of(self.scale).log(self.scale)

    def kl_divergence(self, other: "Laplace") -> Array:
        """See `Distribution.kl_divergence`.

        It is r - 1 - log r + r (δ - 1 + exp(-δ)), with r = b₁/b₂ and δ = |μ₁ - μ₂|/b₁.
        """
        self._check_family(other)
        xp = namespace_of(self.scale)
        ratio = self.scale / other.scale
        shift = xp.abs(self.location - other.location) / self.scale
        return deviance(xp.ones_like(ratio), ratio) + ratio * (shift + xp.expm1(-shift))

    def _sample(self, n: int, rng: Any) -> Array:
        # The difference of two exponentials.
        u = uniform(rng, (2, n, *self.batch_shape), like=self.location)
        e = namespace_of(u).log1p(-u)
        return self.location + self.scale * (e[0, ...] - e[1, ...])

    def _standardized(self, x: Any) -> Array:
        with np.errstate(over="ignore"):
            return (self._event(x) - self.location) / self.scale


def _lower(z: Array) -> Array:
    """Return ½ eᶻ below zero and 1 - ½ e⁻ᶻ above."""
    xp = namespace_of(z)
    tail = 0.5 * xp.exp(-xp.abs(z))
    return xp.where(z > 0.0, 1.0 - tail, tail)


def coordinate_medians(X: Array, weights: Array) -> Array:
    """Return a weighted median of each column, (d,): the middle of the interval where there is a choice.

    Examples
    --------
    >>> import numpy as np
    >>> coordinate_medians(np.array([[0.0, 5.0], [1.0, 6.0], [9.0, 7.0]]), np.array([1.0, 1.0, 2.0]))
    array([5. , 6.5])
    """
    xp = namespace_of(X)
    half = 0.5 * xp.sum(weights)
    middles = []
    for j in range(X.shape[1]):
        order = xp.argsort(X[:, j])
        column, below = X[:, j][order], xp.cumulative_sum(weights[order])
        low, high = (
            int(xp.sum(xp.astype(below < half, xp.int64))),
            int(xp.sum(xp.astype(below <= half, xp.int64))),
        )
        middles.append(0.5 * column[low] + 0.5 * column[min(high, X.shape[0] - 1)])
    return xp.stack(middles)


def geometric_median(X: Array, weights: Array, *, n_steps: int = 50) -> Array:
    """Return the point with the least weighted sum of Euclidean distances to the rows.

    Weiszfeld's steps, mended by Vardi and Zhang (2000) for points that coincide with a row, lead near it;
    then Newton's method finds its digits, unless it is a row: one is the median where the sum of the unit
    vectors to the other rows is no longer than its own weight.

    Examples
    --------
    >>> import numpy as np
    >>> corners = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [2.0, 2.0]])
    >>> geometric_median(corners, np.ones(4)).round(9)
    array([1., 1.])
    """
    xp = namespace_of(X)
    weights = weights / xp.sum(weights)
    point = weights @ X
    for _ in range(n_steps):
        point = _step(X, weights, point)
    if _is_median(X, weights, nearest := _nearest(X, point)):
        return nearest
    point = newton(lambda y: _expansion(X, weights, y), point, tol=1e-15, max_iter=200).x
    nearest = _nearest(X, point)
    return nearest if _is_median(X, weights, nearest) else point


def _directions(X: Array, weights: Array, point: Array) -> tuple[Array, Array, Array]:
    """Return weights over distances, the sum of unit vectors to rows, and the weight of rows at the point."""
    xp = namespace_of(X)
    gap = X - point
    distance = _length(gap)
    away = distance > 0
    inverse = xp.where(away, weights / xp.where(away, distance, xp.ones_like(distance)), 0.0 * weights)
    return inverse, inverse @ gap, xp.sum(xp.where(away, 0.0 * weights, weights))


def _step(X: Array, weights: Array, point: Array) -> Array:
    xp = namespace_of(X)
    inverse, unit_sum, here = _directions(X, weights, point)
    total, strength = xp.sum(inverse), _length(unit_sum)
    if float(strength) <= float(here) or not float(total) > 0:
        return point
    return point + (1.0 - here / strength) * unit_sum / total


def _is_median(X: Array, weights: Array, row: Array) -> bool:
    """Say whether a row is the median: the unit vectors to the others add up to at most its weight."""
    _, unit_sum, here = _directions(X, weights, row)
    return bool(_length(unit_sum) <= here)


def _nearest(X: Array, point: Array) -> Array:
    return X[int(namespace_of(X).argmin(_length(X - point))), :]


def _expansion(X: Array, weights: Array, point: Array) -> tuple[Any, Array, Array]:
    """Return the mean distance from a point, its gradient and its Hessian."""
    xp = namespace_of(X)
    inverse, unit_sum, _ = _directions(X, weights, point)
    gap = X - point
    distance = _length(gap)
    unit = gap / xp.where(distance > 0, distance, xp.ones_like(distance))[:, None]
    identity = xp.eye(X.shape[1], dtype=X.dtype, device=device(X))
    across = xp.matrix_transpose(unit) @ (inverse[:, None] * unit)
    return xp.sum(weights * distance), -unit_sum, symmetrize(xp.sum(inverse) * identity - across)


def _length(x: Array) -> Array:
    xp = namespace_of(x)
    return xp.sqrt(xp.sum(x * x, axis=-1))
