"""Weight, mean and scatter of every column by itself."""

from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, freeze, namespace_of
from tractable.statistics.rows import (
    as_rows,
    as_weights,
    check_rate,
    check_same_width,
    check_squares,
    counts,
    or_one,
)
from tractable.value import value

__all__ = ["DiagonalMoments"]


@value
class DiagonalMoments:
    """Weight, mean and scatter of each column: what a diagonal or isotropic Gaussian needs, in linear cost.

    A missing entry (NaN) counts for its column alone, so columns carry their own weights and the statistic
    of incomplete rows is exact.

    Parameters
    ----------
    weight : array of shape (d,)
        Weight of the observed entries of each column.
    mean, scatter : arrays of shape (d,)
    total : float
        Weight of all rows, observed or not.
    unseen : float
        Weight of the rows in which nothing was observed.

    Examples
    --------
    >>> s = DiagonalMoments.of([[1.0, float("nan")], [3.0, 5.0]])
    >>> s.weight.tolist(), s.mean.tolist(), s.scatter.tolist()
    ([2.0, 1.0], [2.0, 5.0], [2.0, 0.0])
    """

    weight: Array
    mean: Array
    scatter: Array
    total: Any
    unseen: Any

    def __post_init__(self) -> None:
        for name in ("weight", "mean", "scatter"):
            object.__setattr__(self, name, freeze(getattr(self, name)))

    @classmethod
    def of(cls, x: Any, weights: Any = None) -> "DiagonalMoments":
        """Summarise a block of rows; NaN entries count for nothing."""
        x = as_rows(x)
        w = as_weights(weights, x)
        xp = namespace_of(x)
        one = counts(w, x)
        total = xp.sum(one)
        with np.errstate(invalid="ignore", over="ignore"):
            mean = one @ x / or_one(total, xp)
            # A missing entry spoils its mean, so complete blocks pay nothing for the question.
            complete = bool(xp.all(xp.isfinite(mean)))
            found = cls._complete(x, one, total, mean) if complete else cls._incomplete(x, one, total)
        check_squares(found.scatter, x, found.mean, w)
        return found

    @classmethod
    def _complete(cls, x: Array, one: Array, total: Array, mean: Array) -> "DiagonalMoments":
        xp = namespace_of(x)
        centred = x - mean
        left_over = one @ centred / or_one(total, xp)
        return cls(
            weight=total + xp.zeros_like(mean),
            mean=mean + left_over,
            scatter=one @ (centred * centred) - total * left_over * left_over,
            total=total,
            unseen=total * 0.0,
        )

    @classmethod
    def _incomplete(cls, x: Array, one: Array, total: Array) -> "DiagonalMoments":
        xp = namespace_of(x)
        seen = ~xp.isnan(x)
        if bool(xp.any(xp.isinf(x))):
            raise ValueError("X contains infinity; remove the rows or mark the entries as missing (NaN)")
        counted = xp.astype(seen, x.dtype)
        weight = one @ counted
        safe = or_one(weight, xp)
        filled = xp.where(seen, x, xp.zeros_like(x))
        mean = one @ filled / safe
        centred = xp.where(seen, x - mean, xp.zeros_like(x))
        left_over = one @ centred / safe
        return cls(
            weight=weight,
            mean=mean + left_over,
            scatter=one @ (centred * centred) - weight * left_over * left_over,
            total=total,
            unseen=one @ xp.astype(~xp.any(seen, axis=1), one.dtype),
        )

    @classmethod
    def empty(cls, dim: int) -> "DiagonalMoments":
        """Return the statistic of no rows."""
        return cls.of(np.zeros((0, dim)))

    @property
    def dim(self) -> int:
        """Number of columns."""
        return int(self.mean.shape[-1])

    def __add__(self, other: "DiagonalMoments") -> "DiagonalMoments":
        """Merge by the pairwise update, column by column."""
        if not isinstance(other, DiagonalMoments):
            return NotImplemented
        check_same_width(self, other)
        xp = namespace_of(self.mean)
        weight = self.weight + other.weight
        share = other.weight / or_one(weight, xp)
        step = other.mean - self.mean
        return DiagonalMoments(
            weight=weight,
            mean=self.mean + share * step,
            scatter=self.scatter + other.scatter + self.weight * share * step * step,
            total=self.total + other.total,
            unseen=self.unseen + other.unseen,
        )

    def discount(self, rate: float) -> "DiagonalMoments":
        """Forget: the same means and variances, believed `rate` times as strongly."""
        rate = check_rate(rate)
        return DiagonalMoments(
            weight=self.weight * rate,
            mean=self.mean,
            scatter=self.scatter * rate,
            total=self.total * rate,
            unseen=self.unseen * rate,
        )
