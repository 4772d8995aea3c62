"""The statistic of linear models: means and the triangular factor of the centred columns."""

from functools import cached_property
from typing import Any

import numpy as np

from tractable.arrays.linalg import column_lengths, product
from tractable.arrays.namespace import Array, device, namespace_of
from tractable.primitives.linear import (
    INFLATION,
    centred_rows,
    centred_triangle,
    joint_moments,
    merged_triangle,
    safe_factor,
    triangle,
)
from tractable.statistics.moments import Moments
from tractable.statistics.rows import (
    as_rows,
    as_weights,
    check_rate,
    merged_mean,
    pairwise_update,
)
from tractable.statistics.standardizer import column_varies
from tractable.value import replace, value


@value
class LinearFactor:
    """Weight, means, and the triangular factor R of the centred, weighted columns [X, Y].

    RᵀR is their scatter, but R itself has only the condition of the columns, not its square: a fit from R
    keeps the digits of a QR of all rows in memory. Means are stored apart, so rows far from the origin lose
    nothing. The factors of two blocks merge by one small QR (TSQR).

    Parameters
    ----------
    weight : float
        Total weight of the rows.
    mean : array (d + t,)
        Means of the d columns of X and the t targets.
    factor : array (d + t, d + t), or (n, d + t) of rows not reduced
        Upper triangular, its diagonal not negative.
    n_targets : int
        Number t of targets.
    flat : bool
        Whether the one target was given as a vector, (n,) and not (n, 1): answers then are vectors too.
    count : float, optional
        How many rows there are, where `weight` is not their number but the sum of their precisions.
    log_noise : float
        Sum over rows of the logarithm of the noise variance whose inverse is that precision.
    rest : float or array (d + t,)
        What the mean lacks of that of the rows, below its last digit: merges need it far from the origin.

    Examples
    --------
    >>> X, y = np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 3.0, 5.0])
    >>> s = LinearFactor.of(X, y)
    >>> slope = s.factor[0, 1] / s.factor[0, 0]
    >>> float(slope.round(12)), s.mean.tolist()
    (2.0, [1.0, 3.0])
    """

    weight: Any
    mean: Array
    factor: Array
    n_targets: int = 1
    flat: bool = True
    count: Any = None
    log_noise: float = 0.0
    rest: Any = 0.0

    @classmethod
    def of(cls, x: Any, y: Any = None, weights: Any = None, *, reduce: bool = True) -> "LinearFactor":
        """Summarise a block of rows and their targets.

        Parameters
        ----------
        x, y, weights : arrays (n, d), (n,) or (n, t), and (n,)
            Rows, their targets, and how often each counts.
        reduce : bool
            Whether the factor is triangular. If not, the centred rows themselves are the factor: the smaller
            one, where they are fewer than their columns.
        """
        x = as_rows(x)
        w = as_weights(weights, x)
        y, flat = _as_targets(y, x)
        total, mean, factor, rest = (centred_triangle if reduce else centred_rows)(x, y, w)
        _check_finite(mean, x.shape[1])
        named: dict[str, Any] = {"n_targets": int(y.shape[1]), "flat": flat, "rest": rest}
        return cls(weight=total, mean=mean, factor=factor, **named)

    @staticmethod
    def moments_of(x: Any, y: Any = None, weights: Any = None) -> Moments:
        """Return the moments of the columns [X, Y] of a block: half of the work of a factor, or less.

        Parameters
        ----------
        x, y, weights : arrays (n, d), (n,) or (n, t), and (n,)
            Rows, their targets, and how often each counts.
        """
        x = as_rows(x)
        targets, _ = _as_targets(y, x)
        weight, mean, scatter, rest = joint_moments(x, targets, as_weights(weights, x))
        _check_finite(mean, x.shape[1])
        return Moments(weight=weight, mean=mean, scatter=scatter, rest=rest)

    @classmethod
    def of_moments(
        cls,
        moments: Moments,
        n_targets: int = 1,
        flat: bool = True,
        varies: Any = None,
        inflation: float = INFLATION,
    ) -> "LinearFactor | None":
        """Return the statistic of rows with such moments of [X, Y]; None where these have lost digits.

        Parameters
        ----------
        moments : Moments
            Those of the columns and of the targets.
        n_targets : int
            Number t of targets.
        flat : bool
            Whether the one target was given as a vector.
        varies : array (d,) of bool, optional
            Which columns are not constant, where some are: the factor has zeros for those.
        inflation : float
            How many times rounding may be lost: see `safe_factor`.
        """
        if varies is None:
            factor = safe_factor(moments.scatter, n_targets, inflation=inflation)
        else:
            factor = _factor_of_varying(moments.scatter, n_targets, varies, inflation)
        if factor is None:
            return None
        named: dict[str, Any] = {"n_targets": n_targets, "flat": flat, "rest": moments.rest}
        return cls(weight=moments.weight, mean=moments.mean, factor=factor, **named)

    @classmethod
    def empty(cls, dim: int, n_targets: int = 1) -> "LinearFactor":
        """Return the statistic of no rows of `dim` columns."""
        return cls.of(np.zeros((0, dim)), np.zeros(0) if n_targets == 1 else np.zeros((0, n_targets)))

    @staticmethod
    def least_rows(n_columns: int) -> int:
        """Return how many rows make a block worth a merge, which costs as much as n_columns of them."""
        return 4 * n_columns

    @property
    def n_rows(self) -> float:
        """Number of rows, as their frequencies count them."""
        return float(self.weight if self.count is None else self.count)

    @property
    def dim(self) -> int:
        """Number of columns of X."""
        return int(self.mean.shape[0]) - self.n_targets

    @cached_property
    def stddev(self) -> Array:
        """Standard deviation of each column and target, (d + t,); 0 of no rows."""
        return column_lengths(self.factor) / (float(self.weight) ** 0.5 or 1.0)

    @property
    def root_mean_square(self) -> Array:
        """Root mean square of each column and target about the origin, (d + t,)."""
        xp = namespace_of(self.mean)
        return xp.hypot(self.stddev, xp.abs(self.mean))

    def without_constant_columns(self) -> "LinearFactor":
        """Return the statistic with zeros in place of columns that vary by rounding alone."""
        return self.without(~column_varies(self.mean[: self.dim], self.stddev[: self.dim]))

    def without(self, constant: Array) -> "LinearFactor":
        """Return the statistic with zeros in place of some columns, (d,) of bool."""
        xp = namespace_of(self.mean)
        if not bool(xp.any(constant)):
            return self
        zero = xp.concat([constant, xp.zeros(self.n_targets, dtype=xp.bool, device=device(self.mean))])
        return replace(self, factor=xp.where(zero, xp.zeros_like(self.factor), self.factor))

    def __add__(self, other: "LinearFactor") -> "LinearFactor":
        """Merge: the factor of both factors and the step between the means (Chan's update, by QR)."""
        if not isinstance(other, LinearFactor):
            return NotImplemented
        if (self.dim, self.n_targets) != (other.dim, other.n_targets):
            raise ValueError(
                f"cannot merge statistics of {self.dim} and of {other.dim} columns"
                f" ({self.n_targets} and {other.n_targets} targets)"
            )
        xp = namespace_of(self.mean)
        weight, fraction, step = pairwise_update(self, other)
        between = (xp.sqrt(xp.asarray(self.weight * fraction, dtype=xp.float64)) * step)[None, :]
        mean, rest = merged_mean(self, other, fraction, step)
        return LinearFactor(
            weight=weight,
            mean=mean,
            factor=merged_triangle(self.triangular(), other.triangular(), between),
            n_targets=self.n_targets,
            flat=self.flat and other.flat,
            count=None if self.count is None and other.count is None else self.n_rows + other.n_rows,
            log_noise=self.log_noise + other.log_noise,
            rest=rest,
        )

    def triangular(self) -> Array:
        """Return the factor as a triangle, (d + t, d + t), whether it is rows or a triangle already."""
        xp = namespace_of(self.factor)
        n, width = self.factor.shape
        if n == width and not bool(xp.any(xp.tril(self.factor, k=-1))):
            return self.factor
        return triangle(self.factor)

    def discount(self, rate: float) -> "LinearFactor":
        """Return the statistic of the same rows with `rate` times their weights."""
        rate = check_rate(rate)
        return replace(
            self,
            weight=self.weight * rate,
            factor=self.factor * rate**0.5,
            count=None if self.count is None else self.count * rate,
            log_noise=self.log_noise * rate,
        )

    def canonical(self) -> Moments:
        """Return what two statistics of the same rows share: a factor of few rows is not unique."""
        return self.moments()

    def moments(self) -> Moments:
        """Return the moments of the columns [X, Y]; squares the condition."""
        return Moments(weight=self.weight, mean=self.mean, scatter=product(self.factor.T, self.factor))

    def uncentred(self) -> Array:
        """Return the factor of [X, Y] about the origin, for models without an intercept."""
        xp = namespace_of(self.mean)
        row = xp.sqrt(xp.asarray(self.weight, dtype=xp.float64)) * self.mean
        return merged_triangle(self.triangular(), self.factor[:0, :], row[None, :])

    def with_ones(self) -> Array:
        """Return the factor of [1, X, Y] about the origin, ones first, the intercept a column like others."""
        xp = namespace_of(self.mean)
        root = xp.sqrt(xp.asarray(self.weight, dtype=xp.float64))
        top = xp.concat([xp.reshape(root, (1,)), root * self.mean])
        below = xp.concat([xp.zeros_like(self.factor[:, :1]), self.factor], axis=1)
        return xp.concat([top[None, :], below])


def _as_targets(y: Any, x: Array) -> tuple[Array, bool]:
    """Return the targets of the rows of x as float64 columns, and whether they came as a vector."""
    if y is None:
        raise ValueError("y must be given: the rows have no target")
    xp = namespace_of(x)
    try:
        y = xp.astype(xp.asarray(y), xp.float64, copy=False)
    except (TypeError, ValueError) as error:
        raise ValueError(f"y must be numbers: {error}") from None
    if y.ndim not in (1, 2) or y.shape[0] != x.shape[0]:
        raise ValueError(f"y must have one entry a row: {x.shape[0]} rows, y of shape {tuple(y.shape)}")
    return (y[:, None], True) if y.ndim == 1 else (y, False)


def _factor_of_varying(
    scatter: np.ndarray, n_targets: int, varies: np.ndarray, inflation: float
) -> np.ndarray | None:
    """Return the `safe_factor` of the targets and of the columns that vary, with zeros for the others."""
    kept = np.flatnonzero(np.append(varies, np.ones(n_targets, dtype=bool)))
    found = safe_factor(scatter[np.ix_(kept, kept)], n_targets, inflation=inflation)
    if found is None:
        return None
    factor = np.zeros_like(scatter)
    factor[np.ix_(kept, kept)] = found
    return factor


def _check_finite(mean: Array, dim: int) -> None:
    """Refuse what a mean cannot hide: one entry that is not finite, or sums that overflow."""
    xp = namespace_of(mean)
    if bool(xp.all(xp.isfinite(mean))):
        return
    for name, part in (("X", mean[:dim]), ("y", mean[dim:])):
        if not bool(xp.all(xp.isfinite(part))):
            raise ValueError(f"{name} contains NaN or infinity, or values so large that their sums overflow")
