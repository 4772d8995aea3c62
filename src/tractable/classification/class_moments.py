"""Moments of the rows of each class: as they were counted, or completed by EM where entries are missing."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from tractable.base import NotYetDetermined
from tractable.engines import EMResult, em
from tractable.engines.incomplete_gaussian import Gaussian, expect, fit_incomplete, standardised
from tractable.statistics import ByClass, IncompleteMoments, Moments
from tractable.statistics.moments import FourthMoments
from tractable.value import value

__all__ = ["ClassMoments", "class_moments", "overall_mean"]


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
