"""Normal columns, x_j | k ~ N(μ_kj, σ²_kj): from the weight, mean and scatter of each class."""

from typing import Any, NamedTuple

import numpy as np

from tractable.arrays.log_space import LOG_2PI
from tractable.columns.family import ColumnFamily, Estimation, Membership
from tractable.columns.likelihoods import ColumnLikelihoods
from tractable.conjugate import NormalModel
from tractable.distributions import NormalGamma, StudentT
from tractable.primitives.naive_bayes import diagonal_scores
from tractable.statistics import DiagonalMoments, Moments, Standardizer, column_varies
from tractable.value import value

#: The least variance of a column that varies.
TINY = float(np.finfo(np.float64).tiny)


@value
class NormalPrior:
    """What normal columns are estimated with, beside their sums.

    Parameters
    ----------
    mean, variance : arrays (d,) or (K, d)
        Of a class without rows; with `strength`, of the normal-gamma prior.
    least : array (d,)
        The least variance.
    strength : float
        Observations that the normal-gamma prior is worth, where parameters are integrated out.
    added : float or array (d,)
        Added to the variances.
    scatter, weight : array (d,) and float
        Of an inverse Wishart prior on the variances: pseudo-rows of that weight and scatter.
    known : float or array (d,), optional
        Known variances.
    shared : bool
        Whether the classes share their variances.
    """

    mean: np.ndarray
    variance: np.ndarray
    least: Any = 0.0
    strength: float = 0.0
    added: Any = 0.0
    scatter: Any = 0.0
    weight: float = 0.0
    known: Any = None
    shared: bool = False


@value
class NormalScores:
    """log N(x | μ_k, σ²_k) of rows, (n, K), summed over columns."""

    mean: np.ndarray  # (K, d)
    scale: np.ndarray  # (K, d), reciprocal standard deviations
    log_norm: np.ndarray  # (K, d), log density at the mean

    @classmethod
    def of(cls, columns: Any, *, noise: Any = 0.0, **_: Any) -> "NormalScores":
        """Compute the constants; the expected scores if entries have errors of the variances `noise`."""
        stddev = np.sqrt(columns.variance)
        log_norm = -np.log(stddev) - 0.5 * LOG_2PI - 0.5 * noise / columns.variance
        return cls(mean=columns.mean, scale=1.0 / stddev, log_norm=log_norm)

    def __call__(self, x: Any) -> Any:
        """Return the scores of rows (n, d)."""
        return diagonal_scores(x, self.mean, self.scale, self.log_norm)


class NormalColumns(ColumnFamily):
    """x_j | k ~ N(μ_kj, σ²_kj).

    Parameters
    ----------
    layout, where
        See `ColumnFamily`.
    about : array (K, d), optional
        Points near the means, about which responsibilities weight squares.
    """

    scores = NormalScores.of

    def __init__(self, layout: ColumnLikelihoods, where: np.ndarray, about: Any = None) -> None:
        super().__init__(layout, where)
        self.about = about

    def summarize(self, x: Any, membership: Membership) -> DiagonalMoments:
        return membership.moments(x, self.about)

    def prior(self, sums: DiagonalMoments, how: Estimation, classes: Any = None) -> NormalPrior:
        overall = pooled(sums)
        variance, least = column_variance(*overall)
        known = None if how.variance is None else np.asarray(how.variance, dtype=np.float64)
        if known is not None and known.ndim and known.shape != variance.shape:
            raise ValueError(f"variance must have one entry a column, {len(variance)}, got {known.shape}")
        return NormalPrior(
            mean=overall.mean,
            variance=variance,
            least=least,
            strength=how.pseudocounts,
            added=how.var_smoothing * (variance.max() if how.of_largest else variance),
            known=known,
            shared=how.shared_variance,
        )

    def estimate(self, sums: DiagonalMoments, prior: NormalPrior) -> dict[str, Any]:
        """Return means and variances (S + n added + Ψ) / (n + ν)."""
        weight, mean, scatter = sums.weight, sums.mean, sums.scatter
        if prior.known is not None:
            variance = prior.known + np.zeros_like(scatter)
        else:
            if prior.shared:
                weight, scatter = weight.sum(axis=0), np.broadcast_to(scatter.sum(axis=0), scatter.shape)
            variance = np.maximum(scatter, 0.0)
            variance /= np.where(weight > 0, weight, 1.0)
            variance += prior.added
        if prior.weight:
            variance = (weight * variance + prior.scatter) / (weight + prior.weight)
        if not np.all(sums.weight > 0):
            mean = np.where(sums.weight > 0, mean, prior.mean)
            variance = np.where(sums.weight + prior.weight > 0, variance, prior.variance)
        return {
            "normal": self.where,
            "mean": mean,
            "variance": np.maximum(variance, prior.least, out=variance),
        }

    def predictive(self, sums: DiagonalMoments, prior: NormalPrior) -> dict[str, Any]:
        """Return the predictive Student-t of `NormalModel`."""
        strength, v = prior.strength, np.maximum(prior.variance, prior.least)
        weight = np.broadcast_to(sums.weight, sums.mean.shape)
        after, step = strength + weight, np.where(weight > 0, sums.mean - prior.mean, 0.0)
        shape = 0.5 * after
        rate = 0.5 * (strength * v + np.maximum(sums.scatter, 0.0) + strength * weight / after * step**2)
        location = prior.mean + weight / after * step
        scale = np.sqrt(rate * (after + 1.0) / (shape * after))
        return {
            "parts": {
                j: StudentT(dof=2.0 * shape[:, i], location=location[:, i], scale=scale[:, i])
                for i, j in enumerate(self.where)
            }
        }

    def log_evidence(self, sums: DiagonalMoments, prior: NormalPrior) -> float:
        v, a = np.maximum(prior.variance, prior.least), 0.5 * prior.strength
        total = 0.0
        for j in range(len(v)):
            gamma = NormalGamma(mean=prior.mean[j], strength=prior.strength, shape=a, rate=a * v[j])
            model = NormalModel(prior=gamma)
            for k, weight in enumerate(np.broadcast_to(sums.weight, sums.mean.shape)[:, j]):
                mean, scatter = sums.mean[k, j : j + 1], sums.scatter[k, j : j + 1, None]
                total += model.log_evidence(Moments(weight=weight, mean=mean, scatter=scatter))
        return total


class Overall(NamedTuple):
    """Weight, mean and scatter of columns, (d,) or (1,) and (d,)."""

    weight: np.ndarray
    mean: np.ndarray
    scatter: np.ndarray


def pooled(found: DiagonalMoments) -> Overall:
    """Return the moments of all of K classes together: their scatter within and between the classes.

    Every column has been observed.
    """
    each, mean = found.weight, found.mean
    weight, some = each.sum(axis=0), each[:, 0]

    def total(x: np.ndarray) -> np.ndarray:
        return some @ x if each.shape[1] == 1 else np.einsum("kd,kd->d", each, x)

    first = mean[some.argmax()]  # differences of means keep their digits far from the origin
    step = mean - first
    shift = total(step) / weight
    step -= shift
    step *= step
    return Overall(weight, first + shift, found.scatter.sum(axis=0) + total(step))


def column_variance(weight: Any, mean: np.ndarray, scatter: np.ndarray) -> tuple[np.ndarray, Any]:
    """Return the variance of each column over all classes, 0 if it is constant, and the least of a class."""
    variance = np.maximum(scatter, 0.0) / weight
    stddev = np.sqrt(variance)
    if np.all(column_varies(mean, stddev)):
        return variance, TINY
    found = Standardizer.from_stddev(mean, stddev)
    variance = 1.0 / found.scale**2
    return np.where(found.varies, variance, 0.0), np.where(found.varies, TINY, variance)
