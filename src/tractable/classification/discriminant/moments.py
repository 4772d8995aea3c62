"""Means and covariances of classes: completed by EM where entries are missing, pooled, shrunk."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tractable.base import NotYetDetermined
from tractable.covariance.shapes import ledoit_wolf, shrunk
from tractable.engines import EMResult
from tractable.engines.incomplete_gaussian import fit_incomplete
from tractable.statistics import ByClass, FourthMoments, IncompleteMoments, Moments
from tractable.value import value

#: The fraction of each variance that is added to a singular covariance: ten digits of results are left.
ADDED_VARIANCE = 2.0**-20


@value
class ClassMoments:
    """Moments of K classes, as one batch, and how they were found; a class without rows has weight 0."""

    moments: Moments
    n_iter: int = 0
    converged: bool = True
    interrupted: bool = False


def class_moments(
    statistic: ByClass, classes: np.ndarray, *, shared: bool, tol: float, max_iter: int
) -> ClassMoments:
    """Return the moments of each class at the maximum of the observed-data likelihood.

    `classes` are those of the statistic, of `IncompleteMoments` or `FourthMoments`, and others that may have
    no rows yet. With `shared`, they have one covariance, which EM over missing entries estimates from all.
    """
    whole = statistic.moments if len(classes) == len(statistic.labels) else None
    if whole is not None and whole.weight.all():
        return ClassMoments(moments=whole)
    labels, parts = statistic.labels.tolist(), statistic.parts
    found: Sequence[Moments | None] = [
        part.moments if isinstance(part, FourthMoments) else part.complete for part in parts
    ]
    searches: list[EMResult] = []
    if any(each is None for each in found):
        for label, part in zip(labels, parts, strict=True):
            _check_observed(part, label)
        if shared:
            found, search = fit_incomplete(parts, tol=tol, max_iter=max_iter)
            searches = [search]
        else:
            pairs = [
                ([m], None) if m is not None else fit_incomplete([part], tol=tol, max_iter=max_iter)
                for m, part in zip(found, parts, strict=True)
            ]
            found, searches = [m for (m,), _ in pairs], [s for _, s in pairs if s is not None]
    return ClassMoments(
        moments=_stacked(dict(zip(labels, found, strict=True)), classes, statistic.dim),
        n_iter=max((s.n_iter for s in searches), default=0),
        converged=all(s.converged for s in searches),
        interrupted=any(s.interrupted for s in searches),
    )


def overall_mean(moments: Moments) -> np.ndarray:
    """Return the mean of all rows, from a batch of moments, as its difference from the first class's."""
    first = moments.mean[int(np.argmax(moments.weight > 0))]
    return first + moments.weight / moments.weight.sum() @ (moments.mean - first)


def pooled_covariance(
    moments: Moments, statistic: ByClass, shrinkage: Any, ddof: float
) -> tuple[np.ndarray, Any]:
    """Return Σ_k S_k / (n - ddof), and its shrinkage; with "auto" every class has its own."""
    rows, weight = moments.centred_rows, float(moments.weight.sum())
    scatter = moments.scatter.sum(axis=0) if rows is None else np.dot(rows.T, rows)
    if shrinkage == "auto":
        covariances, found = _ledoit_wolf(moments, statistic)
        scatter = sum(part.weight * each for part, each in zip(statistic.parts, covariances, strict=True))
        return _covariance(scatter, weight, ddof), found
    matrix = _covariance(scatter, weight, ddof)
    return (matrix, 0.0) if shrinkage is None else (shrunk(matrix, shrinkage), float(shrinkage))


def class_covariances(
    moments: Moments, statistic: ByClass, shrinkage: Any, ddof: float
) -> tuple[np.ndarray, Any]:
    """Return S_k / (n_k - ddof) of every class, and their shrinkage; a class without rows has that of all."""
    seen, found = moments.weight > 0, shrinkage
    if shrinkage is None and ddof == 0.0 and seen.all():
        return moments.scatter / moments.weight[:, None, None], 0.0
    matrices = np.zeros_like(moments.scatter)
    if not np.all(seen):
        step = moments.mean - overall_mean(moments)
        scatter = moments.scatter.sum(axis=0) + (moments.weight * step.T) @ step
        matrices[:] = _covariance(scatter, float(moments.weight.sum()), ddof)
    scatters = moments.scatter[seen]
    if shrinkage == "auto":
        covariances, found = _ledoit_wolf(moments, statistic)
        scatters = [part.weight * each for part, each in zip(statistic.parts, covariances, strict=True)]
    pairs = zip(scatters, moments.weight[seen], strict=True)
    matrices[seen] = [_covariance(scatter, float(weight), ddof) for scatter, weight in pairs]
    if shrinkage is None or shrinkage == "auto":
        return matrices, 0.0 if shrinkage is None else found
    return np.stack([shrunk(matrix, shrinkage) for matrix in matrices]), float(shrinkage)


def _ledoit_wolf(moments: Moments, statistic: ByClass) -> tuple[list[np.ndarray], np.ndarray]:
    """Return the shrunk covariances of the classes that have rows, and the shrinkage of every class."""
    found = [ledoit_wolf(part) for part in statistic.parts]
    shrinkage = np.zeros(len(moments.weight))
    shrinkage[moments.weight > 0] = [each for _, each in found]
    return [matrix for matrix, _ in found], shrinkage


def _covariance(scatter: np.ndarray, weight: float, ddof: float) -> np.ndarray:
    """Return scatter / (weight - ddof)."""
    return scatter / divisor(scatter, weight, ddof)


def divisor(scatter: np.ndarray, weight: float, ddof: float) -> float:
    """Return weight - ddof; too few rows have no scatter (1 then), or no covariance yet."""
    rest = weight - ddof
    if rest <= 0 and np.any(scatter != 0):
        raise NotYetDetermined(f"ddof={ddof} needs a total weight of X above it, got {weight:g}")
    return rest if rest > 0 else 1.0


def _stacked(found: dict[Any, Any], classes: np.ndarray, dim: int) -> Moments:
    """Return one batch of moments; a class without rows has the overall mean."""
    labels = classes.tolist()
    if len(found) < len(labels):
        found = dict.fromkeys(labels, Moments.empty(dim)) | found
    each = [found[label] for label in labels]
    batch = Moments(
        weight=np.array([float(m.weight) for m in each]),
        mean=np.array([m.mean for m in each]),
        scatter=np.array([m.scatter for m in each]),
    )
    if batch.weight.all():
        return batch
    mean = np.where((batch.weight > 0)[:, None], batch.mean, overall_mean(batch))
    return Moments(weight=batch.weight, mean=mean, scatter=batch.scatter)


def _check_observed(part: IncompleteMoments, label: Any) -> None:
    weight = part.columns()[0]
    if not np.all(weight > 0):
        empty = np.flatnonzero(weight == 0).tolist()
        raise NotYetDetermined(f"X has no observed value of class {label!r} in the columns {empty}")
