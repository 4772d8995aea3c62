"""Moments of the rows of each class: as they were counted, or completed by EM where entries are missing."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from tractable.base import NotYetDetermined, check_number
from tractable.engines import EMResult, em
from tractable.engines.incomplete_gaussian import Gaussian, expect, fit_incomplete, standardised
from tractable.statistics import ByClass, IncompleteMoments, Moments
from tractable.statistics.moments import FourthMoments, over
from tractable.value import value

__all__ = [
    "LEAST_SHARE",
    "ClassMoments",
    "check_shrinkage",
    "class_moments",
    "ledoit_wolf",
    "overall_mean",
    "own_covariances",
    "pooled_covariance",
    "scatter_over",
    "shrunk",
]


@value
class ClassMoments:
    """Moments of K classes, one batch, and how they were found; a class without rows weighs nothing."""

    moments: Moments
    n_iter: int = 0
    converged: bool = True
    interrupted: bool = False


def class_moments(
    statistic: ByClass, classes: np.ndarray, *, shared: bool, tol: float, max_iter: int
) -> ClassMoments:
    """Return the moments of each class at the maximum of the observed-data likelihood.

    Parameters
    ----------
    statistic : ByClass of IncompleteMoments or FourthMoments
    classes : array (K,)
        Those of the statistic, and others that may have no rows yet.
    shared : bool
        Whether the classes have one covariance, which EM over missing entries then estimates from all.
    tol, max_iter : float, int
        When EM ends.
    """
    labels, parts = statistic.labels.tolist(), statistic.parts
    whole: Sequence[Moments | None] = [_complete(part) for part in parts]
    searches: list[EMResult] = []
    if any(each is None for each in whole):
        for label, part in zip(labels, parts, strict=True):
            _check_observed(part, label)
        if shared:
            whole, search = _fit_shared(parts, tol=tol, max_iter=max_iter)
            searches = [search]
        else:
            found = [
                (m, None) if m is not None else fit_incomplete(part, tol=tol, max_iter=max_iter)
                for m, part in zip(whole, parts, strict=True)
            ]
            whole, searches = [m for m, _ in found], [s for _, s in found if s is not None]
    return ClassMoments(
        moments=_stacked(dict(zip(labels, whole, strict=True)), classes, statistic.dim),
        n_iter=max((s.n_iter for s in searches), default=0),
        converged=all(s.converged for s in searches),
        interrupted=any(s.interrupted for s in searches),
    )


def overall_mean(moments: Moments) -> np.ndarray:
    """Return the mean of all rows, from a batch of moments; about the first class, for the digits."""
    share = moments.weight / moments.weight.sum()
    first = moments.mean[int(np.argmax(moments.weight > 0))]
    return first + share @ (moments.mean - first)


def _complete(part: Any) -> Moments | None:
    return part.moments if isinstance(part, FourthMoments) else part.complete


def _stacked(found: dict[Any, Any], classes: np.ndarray, dim: int) -> Moments:
    """Return one batch of moments; the overall mean stands for that of a class without rows."""
    none = Moments.empty(dim)
    each = [found.get(label, none) for label in classes.tolist()]
    batch = Moments(
        weight=np.array([float(m.weight) for m in each]),
        mean=np.stack([m.mean for m in each]),
        scatter=np.stack([m.scatter for m in each]),
    )
    mean = np.where((batch.weight > 0)[:, None], batch.mean, overall_mean(batch))
    return Moments(weight=batch.weight, mean=mean, scatter=batch.scatter)


def _check_observed(part: IncompleteMoments, label: Any) -> None:
    weight = part.columns()[0]
    if not np.all(weight > 0):
        empty = np.flatnonzero(weight == 0).tolist()
        raise NotYetDetermined(f"X has no observed value of class {label!r} in the columns {empty}")


@value
class _Shared:
    """Means of the classes and their one covariance."""

    means: tuple[np.ndarray, ...]
    covariance: np.ndarray


@value
class _Expected:
    """Expected moments of each class's completed rows, and the log-likelihood of what was observed."""

    moments: tuple[Moments, ...]
    objective: float


def _expect_shared(parts: tuple[IncompleteMoments, ...], params: _Shared) -> _Expected:
    found = [
        expect(part, Gaussian(mean=mean, covariance=params.covariance))
        for part, mean in zip(parts, params.means, strict=True)
    ]
    return _Expected(
        moments=tuple(each.moments for each in found), objective=sum(each.objective for each in found)
    )


def _maximize_shared(expected: _Expected) -> _Shared:
    """Each mean of its own class, the covariance of all rows about the means of their classes."""
    scatter = sum(m.scatter for m in expected.moments)
    weight = sum(float(m.weight) for m in expected.moments)
    return _Shared(means=tuple(m.mean for m in expected.moments), covariance=scatter / weight)


def _fit_shared(
    parts: tuple[IncompleteMoments, ...], *, tol: float, max_iter: int
) -> tuple[list[Moments], EMResult]:
    """Return the expected moments of each class at the maximum, found on standardised columns."""
    columns = [part.columns() for part in parts]
    weight = sum(w for w, _, _ in columns)
    centre = columns[0][1]
    within = sum(s for _, _, s in columns) / weight
    scale = np.sqrt(np.where(within > 0, within, 1.0))
    standard = tuple(standardised(part, centre, scale) for part in parts)
    start = _Shared(
        means=tuple((mean - centre) / scale for _, mean, _ in columns),
        covariance=np.diag(np.where(within > 0, 1.0, 0.0)),
    )
    step = partial(_expect_shared, standard)
    label = "EM over missing values"
    result = em(step, _maximize_shared, start, tol=tol, max_iter=max_iter, label=label)
    moments = [
        Moments(
            weight=m.weight,
            mean=centre + scale * m.mean,
            scatter=m.scatter * scale[:, None] * scale[None, :],
        )
        for m in step(result.params).moments
    ]
    return moments, result


#: The share of each variance that is added to a singular covariance: ten digits of answers are left.
LEAST_SHARE = 2.0**-20


def pooled_covariance(
    moments: Moments, statistic: ByClass, shrinkage: Any, ddof: float
) -> tuple[np.ndarray, Any]:
    """Return Σ_k S_k / (n - ddof), and how far it was shrunk; with "auto" every class by itself."""
    weight = moments.weight.sum()
    scatter = moments.scatter.sum(axis=0)
    if shrinkage == "auto":
        found = [ledoit_wolf(part) for part in statistic.parts]
        scatter = sum(part.weight * matrix for part, (matrix, _) in zip(statistic.parts, found, strict=True))
        shares = np.zeros(len(moments.weight))
        shares[moments.weight > 0] = [share for _, share in found]
        return scatter_over(scatter, weight, ddof), shares
    matrix = scatter_over(scatter, weight, ddof)
    return (matrix, 0.0) if shrinkage is None else (shrunk(matrix, shrinkage), float(shrinkage))


def own_covariances(
    moments: Moments, statistic: ByClass, shrinkage: Any, ddof: float
) -> tuple[np.ndarray, Any]:
    """Return S_k / (n_k - ddof) of every class, and how far they were shrunk.

    The covariance of all rows stands for that of a class without rows.
    """
    seen = moments.weight > 0
    scatters = zip(moments.scatter[seen], moments.weight[seen], strict=True)
    matrices = np.broadcast_to(_of_all(moments, ddof), moments.scatter.shape).copy()
    if shrinkage == "auto":
        found = [ledoit_wolf(part) for part in statistic.parts]
        shares = np.zeros(len(seen))
        shares[seen] = [share for _, share in found]
        matrices[seen] = [
            scatter_over(part.weight * matrix, float(part.weight), ddof)
            for part, (matrix, _) in zip(statistic.parts, found, strict=True)
        ]
        return matrices, shares
    matrices[seen] = [scatter_over(s, w, ddof) for s, w in scatters]
    if shrinkage is None:
        return matrices, 0.0
    return np.stack([shrunk(matrix, shrinkage) for matrix in matrices]), float(shrinkage)


def _of_all(moments: Moments, ddof: float) -> np.ndarray:
    """Return the covariance of all rows, whatever their class; zeros where no class wants for it."""
    if np.all(moments.weight > 0):
        return np.zeros(moments.scatter.shape[1:])
    step = moments.mean - moments.mean[int(np.argmin(moments.weight))]  # that of a class without rows: of all
    scatter = moments.scatter.sum(axis=0) + (moments.weight * step.T) @ step
    return scatter_over(scatter, float(moments.weight.sum()), ddof)


def scatter_over(scatter: np.ndarray, weight: float, ddof: float) -> np.ndarray:
    """Return scatter / (weight - ddof); rows that are too few have no scatter, or no covariance yet."""
    rest = weight - ddof
    if rest <= 0 and np.any(scatter != 0):
        raise NotYetDetermined(f"ddof={ddof} needs a total weight of X above it, got {weight:g}")
    return scatter / (rest if rest > 0 else 1.0)


def check_shrinkage(shrinkage: Any) -> None:
    """Refuse what is neither None, "auto" nor a share."""
    if shrinkage is None or (isinstance(shrinkage, str) and shrinkage == "auto"):
        return
    if isinstance(shrinkage, str):
        raise ValueError(f"shrinkage must be None, 'auto' or a number from 0 to 1, got {shrinkage!r}")
    check_number("shrinkage", shrinkage, least=0.0, most=1.0)


def shrunk(matrix: np.ndarray, share: float) -> np.ndarray:
    """Return (1 - s) Σ + s (tr Σ / d) I: the mean of the variances is kept.

    Examples
    --------
    >>> shrunk(np.array([[3.0, 1.0], [1.0, 1.0]]), 0.5).tolist()
    [[2.5, 0.5], [0.5, 1.5]]
    """
    return (1.0 - share) * matrix + share * np.mean(np.diagonal(matrix)) * np.eye(len(matrix))


def ledoit_wolf(statistic: FourthMoments) -> tuple[np.ndarray, float]:
    """Return the covariance of maximum likelihood with its correlations shrunk, and by what share.

    The share is the one of least expected squared error (Ledoit and Wolf 2004) for standardised columns, so
    that it does not depend on their units: the estimated error of the correlations over their distance from
    none. Both follow from sums of products of squares, which one pass over the rows gives.
    """
    moments, n = statistic.moments, float(statistic.weight)
    covariance = moments.scatter / n
    deviation = np.sqrt(np.maximum(np.diagonal(covariance), 0.0))
    varies = deviation > 0
    per = over(1.0, deviation)
    correlation = covariance * per[:, None] * per
    in_units = over(statistic.unit, deviation) ** 2
    squares = float(np.sum(statistic.fourth * in_units[:, None] * in_units)) / n
    target = np.sum(varies) / len(varies)
    length = float(np.sum(correlation**2))
    distance = length - len(varies) * target**2
    error = (squares - length) / n
    # Columns without correlations, but for rounding, have nothing that could be drawn in.
    some = distance > 16.0 * np.finfo(np.float64).eps * length
    share = float(np.clip(error / distance, 0.0, 1.0)) if some else 0.0
    drawn = (1.0 - share) * correlation + share * target * np.eye(len(varies))
    return drawn * deviation[:, None] * deviation, share
