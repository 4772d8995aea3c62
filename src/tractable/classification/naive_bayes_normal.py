"""Columns of numbers under a normal likelihood, class by class."""

from functools import reduce
from operator import add
from typing import Any

import numpy as np

from tractable.classification.naive_bayes_estimation import Estimation
from tractable.conjugate import NormalModel
from tractable.distributions import NormalGamma, StudentT
from tractable.primitives.naive_bayes import class_moments
from tractable.statistics import DiagonalMoments, Moments
from tractable.statistics.rows import check_squares

__all__ = ["moments_of_classes", "normal_estimates", "normal_evidence", "normal_predictives", "pooled"]

#: Below, a sum of squares may have been lost.
SMALL = 1e-290

#: A column that never varies is given so many roundings of its values as a standard deviation.
ROUNDINGS = 8.0


def moments_of_classes(
    x: np.ndarray, codes: np.ndarray, n_classes: int, weights: np.ndarray | None
) -> list[DiagonalMoments]:
    """Return weight, mean and scatter of the observed entries of every class."""
    with np.errstate(invalid="ignore", over="ignore"):
        weight, mean, scatter, total = class_moments(x, codes, n_classes, weights)
        unseen = _unseen(x, codes, weights, total) if np.any(weight != total[:, None]) else 0.0 * total
    found = [
        DiagonalMoments(weight=weight[k], mean=mean[k], scatter=scatter[k], total=total[k], unseen=unseen[k])
        for k in range(n_classes)
    ]
    low, high = scatter.min(initial=1.0), scatter.max(initial=1.0)
    if not (low > SMALL and high < np.inf):  # what may be lost is looked for class by class
        for k in range(n_classes):
            own, some = codes == k, ~((scatter[k] > SMALL) & (scatter[k] < np.inf))
            w = None if weights is None else weights[own]
            if some.any():
                check_squares(scatter[k, some], x[np.ix_(own, some)], mean[k, some], w)
    return found


def _unseen(x: np.ndarray, codes: np.ndarray, weights: Any, total: np.ndarray) -> np.ndarray:
    if np.any(np.isinf(x)):
        raise ValueError("X contains infinity; remove the rows or mark the entries as missing (NaN)")
    nothing = np.isnan(x).all(axis=1)
    return np.bincount(codes[nothing], None if weights is None else weights[nothing], len(total)).astype(
        float
    )


def pooled(found: list[Any]) -> Any:
    """Return the statistic of all classes together."""
    return reduce(add, found)


def normal_estimates(found: list[DiagonalMoments], how: Estimation) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean and the variance of each class and column, (K, d)."""
    whole = pooled(found)
    variance, least = column_variance(whole)
    seen = np.stack([part.weight for part in found]) > 0
    mean = np.where(seen, np.stack([part.mean for part in found]), whole.mean)
    spread = np.where(seen, _variances(found, how, variance), variance)
    return mean, np.maximum(spread, least)


def column_variance(whole: DiagonalMoments) -> tuple[np.ndarray, np.ndarray]:
    """Return the variance of each column over all classes, and the least that one may have."""
    variance = np.maximum(whole.scatter / whole.weight, 0.0)
    limits = np.finfo(np.float64)
    size = np.where(whole.mean != 0, np.abs(whole.mean), 1.0)
    least = np.maximum(ROUNDINGS * limits.eps * size, np.sqrt(limits.tiny)) ** 2
    varies = np.sqrt(variance) > limits.eps * np.abs(whole.mean)
    return np.where(varies, variance, 0.0), np.where(varies, limits.tiny, least)


def _variances(found: list[DiagonalMoments], how: Estimation, variance: np.ndarray) -> np.ndarray:
    """Return the variances of columns (K, d): known, shared, or of each class, and smoothed."""
    K = len(found)
    if how.variance is not None:
        known = np.asarray(how.variance, dtype=np.float64)
        if known.ndim and known.shape != variance.shape:
            raise ValueError(f"variance must have one entry a column, {len(variance)}, got {known.shape}")
        return np.broadcast_to(known, (K, len(variance)))
    share = how.var_smoothing * (variance.max() if how.of_largest else variance)
    weight, scatter = (np.stack([getattr(part, name) for part in found]) for name in ("weight", "scatter"))
    if how.shared_variance:
        weight, scatter = (np.broadcast_to(a.sum(axis=0), a.shape) for a in (weight, scatter))
    return np.maximum(scatter, 0.0) / np.where(weight > 0, weight, 1.0) + share


def normal_predictives(found: list[DiagonalMoments], how: Estimation) -> list[StudentT]:
    """Return the distribution of each column: `NormalModel` after the rows of each class, many at once."""
    whole, strength = pooled(found), how.pseudocounts
    m, v = whole.mean, np.maximum(*column_variance(whole))
    weight, mean, scatter = (
        np.stack([getattr(part, name) for part in found]) for name in ("weight", "mean", "scatter")
    )
    after, step = strength + weight, np.where(weight > 0, mean - m, 0.0)
    shape = 0.5 * after
    rate = 0.5 * (strength * v + np.maximum(scatter, 0.0) + strength * weight / after * step**2)
    location, scale = m + weight / after * step, np.sqrt(rate * (after + 1.0) / (shape * after))
    return [
        StudentT(dof=2.0 * shape[:, j], location=location[:, j], scale=scale[:, j]) for j in range(len(m))
    ]


def normal_evidence(found: list[DiagonalMoments], how: Estimation) -> float:
    """Return Σ_k log p(columns of class k), means and precisions integrated out."""
    whole = pooled(found)
    variance, least = column_variance(whole)
    v, a = np.maximum(variance, least), 0.5 * how.pseudocounts
    total = 0.0
    for j in range(len(v)):
        prior = NormalGamma(mean=whole.mean[j], strength=how.pseudocounts, shape=a, rate=a * v[j])
        model = NormalModel(prior=prior)
        for part in found:
            moments = Moments(
                weight=part.weight[j], mean=part.mean[j : j + 1], scatter=part.scatter[j : j + 1, None]
            )
            total += model.log_evidence(moments)
    return total
