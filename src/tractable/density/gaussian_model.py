"""From a statistic to a Gaussian: pure functions, one for each shape of covariance."""

from collections.abc import Callable
from typing import Any

from tractable.arrays.namespace import Array, namespace_of
from tractable.base import NotYetDetermined
from tractable.covariance import Covariance, Diagonal, Isotropic
from tractable.covariance.shapes import constant_columns, regular
from tractable.engines.incomplete_gaussian import fit_incomplete
from tractable.statistics import DiagonalMoments, IncompleteMoments
from tractable.value import value

__all__ = ["SHAPES", "GaussianFit", "Shape"]


@value
class GaussianFit:
    """A fitted Gaussian and how it was found."""

    mean: Array  # (d,)
    structure: Covariance
    jitter: Array  # (d,), what was added to the variances
    n_iter: int = 0
    converged: bool = True
    interrupted: bool = False


@value
class Shape:
    """A shape of covariance: the statistic it needs, and how it is fitted."""

    statistic: Any  # a class of statistics
    fit: Callable[..., GaussianFit]


def fit_full(statistic: IncompleteMoments, *, ddof: float, tol: float, max_iter: int) -> GaussianFit:
    """Mean and covariance, by EM where entries are missing."""
    moments, search = statistic.complete, None
    if moments is None:
        _all_observed(statistic.columns()[0])
        moments, search = fit_incomplete(statistic, tol=tol, max_iter=max_iter)
    matrix = _over(moments.scatter, moments.weight, ddof)
    structure, jitter = regular(matrix, moments.mean)
    return GaussianFit(
        mean=moments.mean,
        structure=structure,
        jitter=jitter,
        n_iter=0 if search is None else search.n_iter,
        converged=search is None or search.converged,
        interrupted=search is not None and search.interrupted,
    )


def fit_diagonal(statistic: DiagonalMoments, *, ddof: float, **_: Any) -> GaussianFit:
    """Mean and variance of each column; missing entries count for nothing."""
    _all_observed(statistic.weight)
    variances = _over(statistic.scatter, statistic.weight, ddof)
    floor, constant = constant_columns(variances, statistic.mean)
    xp = namespace_of(variances)
    variances = xp.where(constant, floor, variances)
    return GaussianFit(mean=statistic.mean, structure=Diagonal(variances=variances), jitter=floor)


def fit_spherical(statistic: DiagonalMoments, *, ddof: float, **_: Any) -> GaussianFit:
    """Mean of each column and one variance for all."""
    _all_observed(statistic.weight)
    xp = namespace_of(statistic.mean)
    dim = statistic.dim
    variance = _over(xp.sum(statistic.scatter), xp.sum(statistic.weight), ddof * dim)
    size = xp.sqrt(xp.sum(statistic.mean**2) / dim)
    floor, constant = constant_columns(variance[None], size[None])
    variance = xp.where(constant, floor, variance[None])[0]
    jitter = floor[0] + xp.zeros_like(statistic.mean)
    return GaussianFit(mean=statistic.mean, structure=Isotropic(variance=variance, dim=dim), jitter=jitter)


SHAPES = {
    "full": Shape(statistic=IncompleteMoments, fit=fit_full),
    "diag": Shape(statistic=DiagonalMoments, fit=fit_diagonal),
    "spherical": Shape(statistic=DiagonalMoments, fit=fit_spherical),
}


def _over(scatter: Array, weight: Array, ddof: float) -> Array:
    """Divide scatter by weight - ddof; a single row has no scatter, and no covariance yet."""
    xp = namespace_of(scatter)
    rest = weight - ddof
    if bool(xp.any(rest <= 0)) and bool(xp.any(scatter != 0)):
        raise NotYetDetermined(f"ddof={ddof} needs a total weight above it, got {float(xp.min(weight)):g}")
    return scatter / xp.where(rest > 0, rest, xp.ones_like(rest))


def _all_observed(weight: Array) -> None:
    xp = namespace_of(weight)
    if not bool(xp.all(weight > 0)):
        empty = [j for j in range(weight.shape[0]) if not bool(weight[j] > 0)]
        raise NotYetDetermined(f"X has no observed value in the columns {empty}")
