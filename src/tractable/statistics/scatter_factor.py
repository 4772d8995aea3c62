"""Mean and scatter of rows, with the scatter as a factor where that is smaller, or keeps more digits."""

from typing import Any, ClassVar

import numpy as np

from tractable.arrays.double_double import two_sum
from tractable.arrays.limits import LARGEST, too_large
from tractable.arrays.linalg import product
from tractable.arrays.namespace import Array, is_numpy_array, namespace_of
from tractable.primitives.linear import centred_triangle, triangle
from tractable.statistics.moments import Moments
from tractable.statistics.rows import (
    MeanStatistic,
    as_rows,
    as_weights,
    check_rate,
    check_squares,
    merged_mean,
    pairwise_update,
    weighted_rows,
)
from tractable.value import replace, value


@value
class ScatterFactor(MeanStatistic):
    """Weight, mean, and the scatter S = Σ w (x - mean)(x - mean)ᵀ of rows of any shape, wide or tall.

    While the rows are fewer than their columns they are kept, centred, as a factor A with AᵀA = S: 500 rows
    of 20,000 columns are 80 MB, and S would be 3.2 GB. Once they are more, S itself is kept. So the statistic
    never holds more than d² numbers, and rows may be streamed and merged without knowing how many there are.

    Parameters
    ----------
    weight : float
        Total weight of the rows.
    mean : array (d,)
        Mean of the rows.
    factor : array (m, d), optional
        A with AᵀA = S: the centred rows √w (x - mean), or a triangle.
    scatter : array (d, d), optional
        S; given where `factor` is not.
    rest : float or array (d,)
        As of `Moments`.
    triangular : bool
        Whether many rows are reduced to a triangular factor (by QR) and not to S: it keeps the digits of
        directions of little variance, which S, whose condition is the square of that of the rows, loses.

    Examples
    --------
    >>> few = ScatterFactor.of([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])
    >>> few.factor.tolist(), few.scatter is None
    ([[-1.0, 0.0, 1.0], [1.0, 0.0, -1.0]], True)
    >>> both = few + ScatterFactor.of([[0.0, 0.0, 0.0], [0.0, 4.0, 4.0]])
    >>> both.moments().scatter.diagonal().tolist()
    [6.0, 8.0, 10.0]
    """

    _frozen: ClassVar = ("mean",)

    weight: Any
    mean: Array
    factor: Array | None = None
    scatter: Array | None = None
    triangular: bool = False
    rest: Any = 0.0

    @classmethod
    def of(cls, x: Any, weights: Any = None) -> "ScatterFactor":
        """Summarise a block of rows; many rows as their scatter."""
        x = as_rows(x)
        w = as_weights(weights, x)
        if _are_few(x.shape[0], x.shape[1]):
            return _of_few(cls, x, w, triangular=False)
        with np.errstate(invalid="ignore", over="ignore"):
            found = Moments.of(x, w)
        _check_finite(found.mean)
        check_squares(namespace_of(x).linalg.diagonal(found.scatter), x, found.mean, w)
        return cls(weight=found.weight, mean=found.mean, scatter=found.scatter, rest=found.rest)

    @classmethod
    def triangle_of(cls, x: Any, weights: Any = None) -> "ScatterFactor":
        """Summarise a block of rows; many rows as a triangular factor."""
        x = as_rows(x)
        w = as_weights(weights, x)
        if _are_few(x.shape[0], x.shape[1]):
            return _of_few(cls, x, w, triangular=True)
        with np.errstate(invalid="ignore", over="ignore"):
            weight, mean, factor, rest = centred_triangle(x, x[:, :0], w)
        _check_finite(mean, factor)
        return cls(weight=weight, mean=mean, factor=_frozen(factor), triangular=True, rest=rest)

    @staticmethod
    def least_rows(n_columns: int) -> int:
        """Return how many rows make a block worth a merge, which costs as much as n_columns of them."""
        return 2 * n_columns

    @property
    def is_wide(self) -> bool:
        """Whether the factor has fewer rows than columns."""
        return self.factor is not None and self.factor.shape[0] < self.dim

    def _merged(self, other: "ScatterFactor") -> "ScatterFactor":
        xp = namespace_of(self.mean)
        weight, fraction, step = pairwise_update(self, other)
        mean, rest = merged_mean(self, other, fraction, step)
        named: dict[str, Any] = {"weight": weight, "mean": mean, "rest": rest}
        if self.factor is None or other.factor is None:
            total = self.moments() + other.moments()
            return ScatterFactor(**named, scatter=total.scatter)
        between = (xp.sqrt(xp.asarray(self.weight * fraction, dtype=xp.float64)) * step)[None, :]
        parts = [part for part in (self.factor, other.factor, between) if part.shape[0]]
        rows = xp.concat(parts) if parts else self.factor
        triangular = self.triangular or other.triangular
        if _are_few(rows.shape[0], self.dim):
            return ScatterFactor(**named, factor=_frozen(rows), triangular=triangular)
        if triangular:
            return ScatterFactor(**named, factor=_frozen(triangle(rows)), triangular=True)
        return ScatterFactor(**named, scatter=product(rows.T, rows))

    def discount(self, rate: float) -> "ScatterFactor":
        """Return the statistic of the same rows with `rate` times their weights."""
        rate = check_rate(rate)
        return replace(
            self,
            weight=self.weight * rate,
            factor=None if self.factor is None else self.factor * rate**0.5,
            scatter=None if self.scatter is None else self.scatter * rate,
        )

    def moments(self) -> Moments:
        """Return the moments, with the scatter as a matrix (d, d)."""
        scatter = product(self.factor.T, self.factor) if self.factor is not None else self.scatter
        return Moments(weight=self.weight, mean=self.mean, scatter=scatter, rest=self.rest)

    def trace(self) -> float:
        """Return the trace of the scatter: the sum of the squared distances of the rows from the mean."""
        if self.factor is None:
            return float(namespace_of(self.mean).linalg.trace(self.scatter))
        flat = namespace_of(self.mean).reshape(self.factor, (-1,))
        return float(product(flat, flat))

    def canonical(self) -> Moments:
        """Return what two statistics of the same rows share: a factor is not unique."""
        return self.moments()


def _are_few(n: int, d: int) -> bool:
    return n < d


def _of_few(cls: type[ScatterFactor], x: Array, w: Array | None, *, triangular: bool) -> ScatterFactor:
    """Keep the rows, centred; the mean is corrected once, so that rows far from the origin lose nothing."""
    xp = namespace_of(x)
    _, _, one, total = weighted_rows(x, w)
    safe = xp.where(total > 0, total, xp.ones_like(total))
    with np.errstate(invalid="ignore", over="ignore"):
        mean = product(one, x) / safe
        rows = x - mean
        rest = product(one, rows) / safe
        rows -= rest
    if w is not None:
        rows *= xp.sqrt(w)[:, None]
    _check_finite(mean, rows)
    mean, rest = two_sum(mean, rest)
    return cls(weight=total, mean=mean, factor=_frozen(rows), triangular=triangular, rest=rest)


def _frozen(x: Array) -> Array:
    """Make an array of the statistic's own read-only, without a copy."""
    if is_numpy_array(x):
        x.setflags(write=False)
    return x


def _check_finite(mean: Array, factor: Array | None = None) -> None:
    xp = namespace_of(mean)
    if not bool(xp.all(xp.isfinite(mean))):
        raise ValueError("X contains NaN or infinity, or values so large that their sums overflow")
    if factor is not None and factor.shape[0]:
        size = float(xp.max(xp.abs(factor)))
        if not size < LARGEST:
            raise too_large("X")
