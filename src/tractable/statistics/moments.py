"""Weight, mean and scatter."""

from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, freeze, namespace_of
from tractable.statistics.rows import as_rows, as_weights, check_rate, check_same_width, counts, or_one
from tractable.value import value

__all__ = ["Moments"]


@value
class Moments:
    """Weight, mean and scatter: everything a Gaussian needs to know about the data.

    Statistics form a commutative monoid: ``Moments.of(a) + Moments.of(b)`` is the statistic of both blocks,
    and the statistic of no rows is neutral. Leading axes, where present, are a batch of statistics.

    Parameters
    ----------
    weight : float or array of shape (...)
        Total weight of the rows; the number of rows where none were given.
    mean : array of shape (..., d)
    scatter : array of shape (..., d, d)
        Sum of ``w (x - mean)(x - mean)ᵀ``.

    Examples
    --------
    >>> import numpy as np
    >>> a, b = Moments.of([[0.0], [2.0]]), Moments.of([[4.0]])
    >>> total = a + b
    >>> float(total.weight), total.mean.tolist(), total.scatter.tolist()
    (3.0, [2.0], [[8.0]])
    """

    weight: Any
    mean: Array
    scatter: Array

    def __post_init__(self) -> None:
        for name in ("mean", "scatter"):
            object.__setattr__(self, name, freeze(getattr(self, name)))

    @classmethod
    def of(cls, x: Any, weights: Any = None) -> "Moments":
        """Summarise a block of rows: the corrected two-pass algorithm, stable far from the origin."""
        x = as_rows(x)
        w = as_weights(weights, x)
        xp = namespace_of(x)
        one = counts(w, x)
        total = xp.sum(one)
        safe = or_one(total, xp)
        mean = one @ x / safe
        centred = x - mean
        left_over = one @ centred / safe
        # The square root of the weights on both sides keeps the product symmetric, and BLAS halves its work.
        root = centred if w is None else centred * xp.sqrt(w)[:, None]
        return cls(
            weight=total,
            mean=mean + left_over,
            scatter=root.T @ root - total * left_over[:, None] * left_over[None, :],
        )

    @classmethod
    def empty(cls, dim: int) -> "Moments":
        """Return the statistic of no rows."""
        return cls.of(np.zeros((0, dim)))

    @property
    def dim(self) -> int:
        """Number of columns."""
        return int(self.mean.shape[-1])

    def __add__(self, other: "Moments") -> "Moments":
        """Merge by the pairwise update of Chan, Golub and LeVeque (1983); 0 + 0 = 0."""
        if not isinstance(other, Moments):
            return NotImplemented
        check_same_width(self, other)
        xp = namespace_of(self.mean)
        weight = self.weight + other.weight
        share = other.weight / or_one(weight, xp)
        step = other.mean - self.mean
        between = _column(self.weight * share, xp) * step
        return Moments(
            weight=weight,
            mean=self.mean + _column(share, xp) * step,
            scatter=self.scatter + other.scatter + between[..., :, None] * step[..., None, :],
        )

    def discount(self, rate: float) -> "Moments":
        """Forget: the same mean and covariance, believed `rate` times as strongly."""
        rate = check_rate(rate)
        return Moments(weight=self.weight * rate, mean=self.mean, scatter=self.scatter * rate)

    def scatter_about(self, point: Array) -> Array:
        """Return the sum of ``w (x - point)(x - point)ᵀ``."""
        xp = namespace_of(self.mean)
        step = self.mean - point
        return self.scatter + _column(self.weight, xp)[..., None] * step[..., :, None] * step[..., None, :]

    def covariance(self, ddof: float = 0.0) -> Array:
        """Return scatter / (weight - ddof): maximum likelihood with 0, unbiased with 1 (Bessel)."""
        xp = namespace_of(self.mean)
        rest = _column(self.weight, xp)[..., None] - ddof
        if not bool(xp.all(rest > 0)):
            raise ValueError(f"a covariance with ddof={ddof} needs a weight above {ddof}, got {self.weight}")
        return self.scatter / rest


def _column(weight: Any, xp: Any) -> Array:
    """Give a weight (or a batch of them) a last axis of one, to stand beside vectors."""
    return xp.asarray(weight, dtype=xp.float64)[..., None]
