"""Maximum likelihood of a Gaussian from rows with missing entries: EM on the statistic, without the rows."""

import math
from functools import partial

import numpy as np

from tractable.arrays import jittered_cholesky, log_det_cholesky, solve_cholesky
from tractable.engines.em import EMResult, em
from tractable.statistics import IncompleteMoments, Moments
from tractable.value import value

__all__ = ["Expected", "Gaussian", "expect", "fit_incomplete", "maximize", "standardised"]


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

    Every column must have been observed. The search runs on standardised columns, so its answer does not
    depend on their units or origin.
    """
    weight, mean, scatter = statistic.columns()
    scale = np.sqrt(np.where(scatter > 0, scatter / weight, 1.0))
    standard = standardised(statistic, mean, scale)
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


def standardised(statistic: IncompleteMoments, mean: np.ndarray, scale: np.ndarray) -> IncompleteMoments:
    """Return the statistic of (x - mean) / scale."""
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
    dim, k = len(params.mean), len(o)
    unseen = np.ones(dim, dtype=bool)
    unseen[o] = False
    m = np.flatnonzero(unseen)
    cross = params.covariance[o[:, None], m]
    about = part.scatter_about(params.mean[o])
    lower = _factor(params.covariance[o[:, None], o])
    solved = solve_cholesky(lower, np.concatenate([cross, about], axis=1))
    gain = solved[:, : dim - k].T

    mean = params.mean.copy()
    mean[o] = part.mean
    mean[m] += gain @ (part.mean - params.mean[o])
    spread = np.zeros((dim, k))
    spread[o, np.arange(k)] = 1.0
    spread[m] = gain
    scatter = spread @ part.scatter @ spread.T
    scatter[m[:, None], m] += part.weight * (params.covariance[m[:, None], m] - gain @ cross)

    log_norm = log_det_cholesky(lower) + k * math.log(2.0 * math.pi)
    distance = np.trace(solved[:, dim - k :])
    log_likelihood = -0.5 * float(part.weight * log_norm + distance)
    return Moments(weight=part.weight, mean=mean, scatter=scatter), log_likelihood


def _factor(covariance: np.ndarray) -> np.ndarray:
    """Factor a covariance that is regular, as nearly all are, at once; mend it where it is not."""
    try:
        lower = np.linalg.cholesky(covariance)
    except np.linalg.LinAlgError:
        return jittered_cholesky(covariance, name="covariance").lower
    return lower
