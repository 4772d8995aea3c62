"""Moments: weight, mean and scatter of rows, in full, by column, and up to fourth powers."""

from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from tractable.arrays.devices import beside, on_host
from tractable.arrays.double_double import two_sum
from tractable.arrays.limits import power_of_two, too_large
from tractable.arrays.linalg import product
from tractable.arrays.namespace import Array, is_sparse, namespace_of
from tractable.primitives.linear import diagonal_moments, moments, rows_worth_merging
from tractable.primitives.sparse_rows import sparse_moments
from tractable.statistics.rows import (
    MeanStatistic,
    Statistic,
    as_rows,
    as_weights,
    check_squares,
    counts,
    merged_mean,
    or_one,
    pairwise_update,
)
from tractable.value import made, replace, value


@value
class Moments(MeanStatistic):
    """Weight, mean and scatter: everything a Gaussian needs to know about the data.

    Statistics form a commutative monoid: ``Moments.of(a) + Moments.of(b)`` is the statistic of both blocks,
    and the statistic of no rows is neutral. Leading axes, where present, are a batch of statistics.

    Parameters
    ----------
    weight : float or array of shape (...)
        Total weight of the rows; the number of rows where none were given.
    mean : array of shape (..., d)
        Mean of the rows.
    scatter : array of shape (..., d, d)
        Sum of ``w (x - mean)(x - mean)ᵀ``.
    rest : float or array of shape (..., d)
        What the mean lacks of that of the rows, below its last digit: merges need it far from the origin.

    Examples
    --------
    >>> import numpy as np
    >>> a, b = Moments.of([[0.0], [2.0]]), Moments.of([[4.0]])
    >>> total = a + b
    >>> float(total.weight), total.mean.tolist(), total.scatter.tolist()
    (3.0, [2.0], [[8.0]])
    """

    _extensive: ClassVar = ("weight", "scatter")
    _frozen: ClassVar = ("mean", "scatter")

    weight: Any
    mean: Array
    scatter: Array
    rest: Any = 0.0

    @classmethod
    def of_centred_rows(cls, weight: Any, mean: Array, rows: np.ndarray, edges: Any = None) -> "Moments":
        """Return moments by a factor of the scatter, RᵀR, for fewer rows than columns.

        The scatter is multiplied out when it is read. The arrays are taken as they are, and never changed.

        Parameters
        ----------
        weight, mean : float and array (d,), or arrays (K,) and (K, d)
            As of `Moments`, of NumPy.
        rows : array (n, d)
            R: √w (x - mean).
        edges : sequence of K + 1 int, optional
            Of a batch, R_k has the rows from one edge to the next.
        """
        for each in (mean, rows, *([] if edges is None else [weight])):
            each.setflags(write=False)
        return made(cls, weight=weight, mean=mean, _rows=(rows, edges))

    @property
    def centred_rows(self) -> np.ndarray | None:
        """R with RᵀR the scatter, or the sum of those of a batch, if that is how it is held; else None."""
        return vars(self)["_rows"][0] if "_rows" in vars(self) else None

    def __getattr__(self, name: str) -> Any:
        if name != "scatter" or "_rows" not in vars(self):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        rows, edges = vars(self)["_rows"]
        cuts = [rows] if edges is None else [rows[a:b] for a, b in pairwise(edges)]
        scatter = np.empty((len(cuts), rows.shape[1], rows.shape[1]))
        for k, each in enumerate(cuts):
            np.dot(each.T, each, out=scatter[k])
        scatter.setflags(write=False)
        vars(self)["scatter"] = scatter[0] if edges is None else scatter
        return vars(self)["scatter"]

    @classmethod
    def of(cls, x: Any, weights: Any = None) -> "Moments":
        """Summarise a block of rows, with all digits far from the origin too."""
        x = as_rows(x)
        weight, mean, scatter, rest = moments(x, as_weights(weights, x))
        return cls(weight=weight, mean=mean, scatter=scatter, rest=rest)

    @staticmethod
    def least_rows(n_columns: int) -> int:
        """Return how many rows make a block worth a merge."""
        return rows_worth_merging(n_columns)

    def _merged(self, other: "Moments") -> "Moments":
        """Merge by the pairwise update of Chan, Golub and LeVeque (1983); 0 + 0 = 0."""
        xp = namespace_of(self.mean)
        weight, fraction, step = pairwise_update(self, other)
        batch = self.mean.ndim > 1
        mean, rest = merged_mean(self, other, _column(fraction, xp) if batch else fraction, step)
        rows = _few_rows(self, other)
        if rows is not None:
            between = np.sqrt(self.weight * fraction) * step
            return Moments.of_centred_rows(weight, mean, np.concatenate([*rows, between[None]]))
        between = _column(self.weight * fraction, xp) * step
        return Moments(
            weight=weight,
            mean=mean,
            scatter=self.scatter + other.scatter + between[..., :, None] * step[..., None, :],
            rest=rest,
        )

    def canonical(self) -> dict[str, Any]:
        """Return what two statistics of the same rows share: the rest of a mean depends on their order."""
        return {"weight": self.weight, "mean": self.mean, "scatter": self.scatter}

    def unstacked(self) -> "list[Moments]":
        """Return the statistics of a batch of K one by one, as views."""
        if self.centred_rows is None:
            each = zip(self.weight, self.mean, self.scatter, strict=True)
            return [made(Moments, weight=w, mean=m, scatter=s) for w, m, s in each]
        rows, edges = vars(self)["_rows"]
        cuts = zip(self.weight, self.mean, pairwise(edges), strict=True)
        return [Moments.of_centred_rows(w, m, rows[a:b]) for w, m, (a, b) in cuts]

    def moved(self, step: Array) -> "Moments":
        """Return the statistic of the rows plus a step, (..., d)."""
        return replace(self, mean=self.mean + step, rest=0.0)

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


def _few_rows(*each: Moments) -> list[np.ndarray] | None:
    """Return the centred rows of statistics, where all are held by these and they are few beside columns."""
    rows = [m.centred_rows for m in each if m.mean.ndim == 1]
    held = [r for r in rows if r is not None]
    return held if len(held) == len(each) and 2 * sum(map(len, held)) < each[0].dim else None


def _column(weight: Any, xp: Any) -> Array:
    """Return a weight, or a batch of them, with a last axis of one, to multiply vectors by."""
    return xp.asarray(weight, dtype=xp.float64)[..., None]


@value
class DiagonalMoments(MeanStatistic):
    """Weight, mean and scatter of each column: what a diagonal or isotropic Gaussian needs, in linear cost.

    A missing entry (NaN) counts for its column alone, so columns carry their own weights and the statistic
    of incomplete rows is exact. Leading axes, where present, are a batch of statistics.

    Parameters
    ----------
    weight : array of shape (..., d), or (..., 1) where all columns have one
        Weight of the observed entries of each column.
    mean, scatter : arrays of shape (..., d)
        Mean of each column, and the sum of its squared deviations from the mean.
    total : float or array of shape (...)
        Weight of all rows, observed or not.
    unseen : float or array of shape (...)
        Weight of the rows in which nothing was observed.
    rest : float or array of shape (..., d)
        As of `Moments`.

    Examples
    --------
    >>> s = DiagonalMoments.of([[1.0, float("nan")], [3.0, 5.0]])
    >>> s.weight.tolist(), s.mean.tolist(), s.scatter.tolist()
    ([2.0, 1.0], [2.0, 5.0], [2.0, 0.0])
    """

    _extensive: ClassVar = ("weight", "scatter", "total", "unseen")
    _frozen: ClassVar = ("weight", "mean", "scatter")

    weight: Array
    mean: Array
    scatter: Array
    total: Any
    unseen: Any
    rest: Any = 0.0

    @classmethod
    def of(cls, x: Any, weights: Any = None) -> "DiagonalMoments":
        """Summarise a block of rows, dense or sparse; NaN entries count for nothing."""
        if is_sparse(x):
            return cls._of_sparse(x, weights)
        x = as_rows(x)
        w = as_weights(weights, x)
        xp = namespace_of(x)
        total, mean, scatter, rest = diagonal_moments(x, w)
        # A missing entry makes its mean NaN, so complete blocks need no look at the entries.
        if bool(xp.all(xp.isfinite(mean))):
            weight, unseen = total + xp.zeros_like(mean), total * 0.0
            found = cls(weight=weight, mean=mean, scatter=scatter, total=total, unseen=unseen, rest=rest)
        else:
            with np.errstate(invalid="ignore", over="ignore"):
                found = cls._incomplete(x, counts(w, x), total)
        check_squares(found.scatter, x, found.mean, w)
        return found

    @classmethod
    def _of_sparse(cls, x: Any, weights: Any) -> "DiagonalMoments":
        """Summarise complete sparse rows."""
        w = None if weights is None else np.asarray(weights, dtype=np.float64)
        total, mean, scatter = sparse_moments(x, w)
        if not np.all(np.isfinite(scatter)):
            raise too_large("X")
        small = scatter < np.finfo(np.float64).tiny / np.finfo(np.float64).eps
        if small.any():  # of columns without an entry, or of numbers whose squares underflow
            some = np.flatnonzero(small & (np.bincount(x.indices, x.data != 0.0, x.shape[1]) > 0.0))
            check_squares(scatter[some], x[:, some].toarray(), mean[some], w)
        weight = np.full(len(mean), total)
        return cls(weight=weight, mean=mean, scatter=scatter, total=total, unseen=total * 0.0)

    @classmethod
    def _incomplete(cls, x: Array, one: Array, total: Array) -> "DiagonalMoments":
        xp = namespace_of(x)
        seen = ~xp.isnan(x)
        if bool(xp.any(xp.isinf(x))):
            raise ValueError("X contains infinity; remove the rows or mark the entries as missing (NaN)")
        counted = xp.astype(seen, x.dtype)
        weight = product(one, counted)
        safe = or_one(weight, xp)
        filled = xp.where(seen, x, xp.zeros_like(x))
        mean = product(one, filled) / safe
        centred = xp.where(seen, x - mean, xp.zeros_like(x))
        remainder = product(one, centred) / safe
        mean, rest = two_sum(mean, remainder)
        return cls(
            weight=weight,
            mean=mean,
            scatter=product(one, centred * centred) - weight * remainder * remainder,
            total=total,
            unseen=product(one, xp.astype(~xp.any(seen, axis=1), one.dtype)),
            rest=rest,
        )

    def moved(self, step: Array) -> "DiagonalMoments":
        """Return the statistic of the rows plus a step, (d,)."""
        return replace(self, mean=self.mean + step, rest=0.0)

    @staticmethod
    def least_rows(n_columns: int) -> int:
        """Return how many rows make a block worth a merge."""
        return rows_worth_merging(n_columns, diagonal=True)

    def _merged(self, other: "DiagonalMoments") -> "DiagonalMoments":
        """Merge by the pairwise update, column by column."""
        weight, fraction, step = pairwise_update(self, other)
        mean, rest = merged_mean(self, other, fraction, step)
        return DiagonalMoments(
            weight=weight,
            mean=mean,
            scatter=self.scatter + other.scatter + self.weight * fraction * step * step,
            total=self.total + other.total,
            unseen=self.unseen + other.unseen,
            rest=rest,
        )

    def canonical(self) -> dict[str, Any]:
        """See `Moments.canonical`."""
        names = ("weight", "mean", "scatter", "total", "unseen")
        return {name: getattr(self, name) for name in names}


@value
class FourthMoments(Statistic):
    """Moments with the sums Σ w u_i² u_j and Σ w u_i² u_j², for the sampling error of a covariance.

    They give the shrinkage of Ledoit and Wolf (2004) in one pass. Here u = (x - mean) / scale, with a power
    of two for each column, so that fourth powers do not overflow.

    Parameters
    ----------
    moments : Moments
        Weight, mean and scatter.
    scale : array (d,)
        About the standard deviation of each column; 0 for a constant one.
    third : array (d, d)
        Σ w u_i² u_j.
    fourth : array (d, d)
        Σ w u_i² u_j².

    Examples
    --------
    >>> both = FourthMoments.of([[0.0], [2.0]]) + FourthMoments.of([[4.0]])
    >>> float(both.weight), (both.fourth * both.scale**4).tolist()
    (3.0, [[32.0]])
    """

    _extensive: ClassVar = ("moments", "third", "fourth")
    _frozen: ClassVar = ("scale", "third", "fourth")

    moments: Moments
    scale: Array
    third: Array
    fourth: Array

    @classmethod
    def of(cls, x: Any, weights: Any = None) -> "FourthMoments":
        """Summarise a block of rows; of rows on a device, on the host."""
        x = as_rows(x)
        w, xp = as_weights(weights, x), namespace_of(x)
        with np.errstate(invalid="ignore", over="ignore"):
            moments = Moments.of(x, w)
        if not bool(xp.all(xp.isfinite(moments.mean))):
            raise ValueError("X contains NaN or infinity")
        check_squares(xp.linalg.diagonal(moments.scatter), x, moments.mean, w)
        scale = _scale(_deviations(on_host(moments)))
        u = (x - moments.mean) * beside(over(1.0, scale), x)
        squares = u * u
        weighted = squares if w is None else squares * w[:, None]
        third, fourth = on_host((product(weighted.T, u), product(weighted.T, squares)))
        return cls(moments=on_host(moments), scale=scale, third=third, fourth=fourth)

    @property
    def weight(self) -> Any:
        """Weight of all rows."""
        return self.moments.weight

    @property
    def dim(self) -> int:
        """Number of columns."""
        return self.moments.dim

    def _merged(self, other: "FourthMoments") -> "FourthMoments":
        """Merge: the powers of both about the common mean, by the binomial theorem."""
        moments = self.moments + other.moments
        step = _scale(np.abs(other.moments.mean - self.moments.mean))
        counted = self.weight > 0 and other.weight > 0
        scale = np.maximum(np.maximum(self.scale, other.scale), step if counted else 0.0)
        parts = [_about(part, moments.mean, scale) for part in (self, other)]
        third, fourth = (a + b for a, b in zip(*parts, strict=True))
        return FourthMoments(moments=moments, scale=scale, third=third, fourth=fourth)

    def canonical(self) -> dict[str, Any]:
        """Return what two statistics of the same rows share: the same sums, of standardised columns."""
        third, fourth = _about(self, self.moments.mean, _deviations(self.moments))
        return {"moments": self.moments, "third": third, "fourth": fourth}


def _about(part: FourthMoments, mean: Array, scale: Array) -> tuple[Array, Array]:
    """Return Σ w v_i² v_j and Σ w v_i² v_j² of v = (x - mean) / scale."""
    if not part.weight > 0:
        return np.zeros_like(part.third), np.zeros_like(part.fourth)
    a = (part.moments.mean - mean) * over(1.0, scale)
    scatter = part.moments.scatter * over(1.0, scale)[:, None] * over(1.0, scale)
    ratio = over(part.scale, scale)
    t = part.third * (ratio**2)[:, None] * ratio
    f = part.fourth * (ratio**2)[:, None] * ratio**2
    s, i, j = np.diagonal(scatter), a[:, None], a[None, :]
    w = part.weight
    third = t + s[:, None] * j + 2.0 * i * scatter + w * i * i * j
    fourth = f + 2.0 * (t * j + t.T * i) + s[:, None] * j * j + i * i * s + 4.0 * i * j * scatter
    return third, fourth + w * (i * j) ** 2


def _deviations(moments: Moments) -> np.ndarray:
    # The scatter of few rows may be a rounding below zero.
    return np.sqrt(np.maximum(np.diagonal(moments.scatter), 0.0) / (moments.weight or 1.0))


def _scale(size: np.ndarray) -> np.ndarray:
    # Fourth powers of numbers beyond 1e77, or of their inverses, are none: sums are of columns near one.
    return np.where(size > 0, power_of_two(size), 0.0)


def over(a: Any, b: np.ndarray) -> np.ndarray:
    """Return a / b, and 0 where b is 0."""
    return np.where(b > 0, a / np.where(b > 0, b, 1.0), 0.0)


def cross_covariance(X: Any, Y: Any = None, sample_weight: Any = None, *, ddof: float = 0.0) -> Array:
    """Return (p, q) cov[x, y] = E[(x - E x)(y - E y)ᵀ] = E[x yᵀ] - E[x] E[y]ᵀ over the rows of X and Y.

    It is divided by the number of rows, 1/N: maximum likelihood; ``ddof=1`` divides by N - 1: unbiased. The
    first form is computed, in two passes; the second would lose its digits far from the origin.

    Parameters
    ----------
    X : array (n, p)
        Rows of the first variables.
    Y : array (n, q), optional
        X itself when not given: the covariance matrix.
    sample_weight : array (n,), optional
        How often each row counts.
    ddof : float
        Subtracted from the number of rows in the divisor.

    Examples
    --------
    >>> cross_covariance([[0.0], [2.0]], [[1.0, 5.0], [3.0, 1.0]])
    array([[ 1., -2.]])
    """
    X = as_rows(X)
    if Y is None:
        return Moments.of(X, sample_weight).covariance(ddof)
    Y = as_rows(Y)
    if X.shape[0] != Y.shape[0]:
        raise ValueError(f"Y must have as many rows as X, {X.shape[0]}, got {Y.shape[0]}")
    both = namespace_of(X, Y).concat([X, Y], axis=1)
    return Moments.of(both, sample_weight).covariance(ddof)[: X.shape[1], X.shape[1] :]
