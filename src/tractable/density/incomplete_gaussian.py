"""Maximum likelihood of a Gaussian from rows with missing entries: EM on the statistic, without the rows."""

import math
from functools import partial

import numpy as np

from tractable.arrays import jittered_cholesky, log_det_cholesky, solve_cholesky
from tractable.engines import EMResult, em
from tractable.statistics import IncompleteMoments, Moments
from tractable.value import value

__all__ = ["Gaussian", "expect", "fit_incomplete", "maximize"]


@value
class Gaussian:
    """The parameters that the steps pass on."""

    mean: np.ndarray
    covariance: np.ndarray


@value
class Expected:
    """Expected moments of the completed rows, and the log-likelihood of what was observed."""

    moments: Moments
    objective: float


def expect(statistic: IncompleteMoments, params: Gaussian) -> Expected:
    """Complete every pattern's moments by the conditional Gaussian of what is missing."""
    total, objective = Moments.empty(statistic.dim), 0.0
    for observed, part in statistic.parts.items():
        if not observed:
            continue  # a row in which nothing was observed says nothing
        completed, log_likelihood = _complete(np.asarray(observed, dtype=int), part, params)
        total, objective = total + completed, objective + log_likelihood
    return Expected(moments=total, objective=objective)


def maximize(expected: Expected) -> Gaussian:
    """Take the mean and covariance of the expected moments."""
    return Gaussian(mean=expected.moments.mean, covariance=expected.moments.covariance())


def fit_incomplete(statistic: IncompleteMoments, *, tol: float, max_iter: int) -> tuple[Moments, EMResult]:
    """Return the expected moments at the maximum of the observed-data likelihood, and the search.

    The search runs on standardised columns, so its answer does not depend on their units or origin.
    """
    weight, mean, scatter = statistic.columns()
    if not np.all(weight > 0):
        raise ValueError(f"X has no observed value in the columns {np.flatnonzero(weight == 0).tolist()}")
    scale = np.sqrt(np.where(scatter > 0, scatter / weight, 1.0))
    standard = _standardised(statistic, mean, scale)
    start = Gaussian(mean=np.zeros(statistic.dim), covariance=np.diag(np.where(scatter > 0, 1.0, 0.0)))
    step = partial(expect, standard)
    result = em(step, maximize, start, tol=tol, max_iter=max_iter, label="EM over missing values")
    fitted = step(result.params).moments
    return (
        Moments(
            weight=fitted.weight,
            mean=mean + scale * fitted.mean,
            scatter=fitted.scatter * scale[:, None] * scale[None, :],
        ),
        result,
    )


def _standardised(statistic: IncompleteMoments, mean: np.ndarray, scale: np.ndarray) -> IncompleteMoments:
    parts = {}
    for observed, part in statistic.parts.items():
        o = list(observed)
        parts[observed] = Moments(
            weight=part.weight,
            mean=(part.mean - mean[o]) / scale[o],
            scatter=part.scatter / scale[o][:, None] / scale[o][None, :],
        )
    return IncompleteMoments(dim=statistic.dim, parts=parts)


def _complete(o: np.ndarray, part: Moments, params: Gaussian) -> tuple[Moments, float]:
    """E[x], E[scatter] of one pattern's rows given their observed columns o, and log p(observed)."""
    dim = len(params.mean)
    m = np.setdiff1d(np.arange(dim), o)
    factor = jittered_cholesky(params.covariance[np.ix_(o, o)], name="covariance")
    cross = params.covariance[np.ix_(o, m)]
    gain = solve_cholesky(factor.lower, cross).T
    step = part.mean - params.mean[o]

    mean = np.empty(dim)
    mean[o], mean[m] = part.mean, params.mean[m] + gain @ step
    spread = np.empty((dim, len(o)))
    spread[o], spread[m] = np.eye(len(o)), gain
    scatter = spread @ part.scatter @ spread.T
    scatter[np.ix_(m, m)] += part.weight * (params.covariance[np.ix_(m, m)] - gain @ cross)

    about = part.scatter_about(params.mean[o])
    distance = np.trace(solve_cholesky(factor.lower, about))
    log_norm = log_det_cholesky(factor.lower) + len(o) * math.log(2.0 * math.pi)
    log_likelihood = -0.5 * (float(part.weight) * float(log_norm) + float(distance))
    return Moments(weight=part.weight, mean=mean, scatter=scatter), log_likelihood
