"""Maximum likelihood of Gaussians from rows with missing entries: EM on the statistic, without the rows.

One Gaussian, or several with one covariance (the classes of a linear discriminant).
"""

import math
from collections.abc import Sequence

import numpy as np

from tractable.arrays import jittered_cholesky, log_det_cholesky, solve_cholesky
from tractable.data import Whole
from tractable.engines.em import EMResult, em
from tractable.statistics import DiagonalMoments, IncompleteMoments, Moments, Standardizer
from tractable.value import value

__all__ = ["CompletedMoments", "CompletionStep", "SharedGaussians", "fit_incomplete", "maximize"]


@value
class SharedGaussians:
    """Gaussians with one covariance."""

    means: np.ndarray  # (K, d)
    covariance: np.ndarray  # (d, d)


@value
class CompletedMoments:
    """Expected moments of the completed rows of each Gaussian, and the observed-data log-likelihood."""

    moments: tuple[Moments, ...]
    objective: float


@value
class CompletionStep:
    """The E-step: every pattern's moments completed by the conditional Gaussian of the missing entries."""

    params: SharedGaussians

    def __call__(self, parts: Sequence[IncompleteMoments]) -> CompletedMoments:
        found, objective = [], 0.0
        for mean, statistic in zip(self.params.means, parts, strict=True):
            total = Moments.empty(statistic.dim)
            for observed, part in statistic.parts.items():
                if observed:  # a row in which nothing was observed counts for nothing
                    o = np.asarray(observed, dtype=int)
                    completed, log_likelihood = _complete(o, part, mean, self.params.covariance)
                    total, objective = total + completed, objective + log_likelihood
            found.append(total)
        return CompletedMoments(moments=tuple(found), objective=objective)


def maximize(completed: CompletedMoments) -> SharedGaussians:
    """Return the M-step: each mean, and the covariance of all rows about their means."""
    scatter = sum(m.scatter for m in completed.moments)
    weight = sum(float(m.weight) for m in completed.moments)
    return SharedGaussians(means=np.stack([m.mean for m in completed.moments]), covariance=scatter / weight)


def fit_incomplete(
    parts: Sequence[IncompleteMoments], *, tol: float, max_iter: int
) -> tuple[list[Moments], EMResult]:
    """Return the expected moments of each Gaussian at the maximum of the observed-data likelihood.

    Every column must have been observed in the rows of each Gaussian. The search runs on standardized
    columns, so that their units and origin do not matter.
    """
    columns = [part.columns() for part in parts]
    weight, scatter = sum(w for w, _, _ in columns), sum(s for _, _, s in columns)
    within = DiagonalMoments(
        weight=weight, mean=columns[0][1], scatter=scatter, total=np.max(weight), unseen=0.0
    )
    standardizer = Standardizer.from_moments(within)
    data = Whole(value=tuple(_standardized(part, standardizer) for part in parts))
    start = SharedGaussians(
        means=standardizer.transform(np.stack([mean for _, mean, _ in columns])),
        covariance=np.diag(np.where(standardizer.varies, 1.0, 0.0)),
    )
    result = em(_step, maximize, start, data, tol=tol, max_iter=max_iter, label="EM over missing values")
    width = 1.0 / standardizer.scale
    return [
        Moments(
            weight=m.weight,
            mean=standardizer.inverse_transform(m.mean),
            scatter=m.scatter * width[:, None] * width,
        )
        for m in data.reduce(_step(result.params)).moments
    ], result


def _step(params: SharedGaussians) -> CompletionStep:
    return CompletionStep(params=params)


def _standardized(statistic: IncompleteMoments, standardizer: Standardizer) -> IncompleteMoments:
    parts = {}
    for observed, part in statistic.parts.items():
        own = standardizer[list(observed)]
        parts[observed] = Moments(
            weight=part.weight,
            mean=own.transform(part.mean),
            scatter=part.scatter * own.scale[:, None] * own.scale,
        )
    return IncompleteMoments(dim=statistic.dim, parts=parts)


def _complete(
    o: np.ndarray, part: Moments, mean: np.ndarray, covariance: np.ndarray
) -> tuple[Moments, float]:
    """Return E[x], E[scatter] of one pattern's rows given their observed columns o, and log p(observed)."""
    dim, k = len(mean), len(o)
    unseen = np.ones(dim, dtype=bool)
    unseen[o] = False
    m = np.flatnonzero(unseen)
    cross = covariance[o[:, None], m]
    about = part.scatter_about(mean[o])
    lower = _factor(covariance[o[:, None], o])
    solved = solve_cholesky(lower, np.concatenate([cross, about], axis=1))
    gain = solved[:, : dim - k].T

    completed = mean.copy()
    completed[o] = part.mean
    completed[m] += gain @ (part.mean - mean[o])
    spread = np.zeros((dim, k))
    spread[o, np.arange(k)] = 1.0
    spread[m] = gain
    scatter = spread @ part.scatter @ spread.T
    scatter[m[:, None], m] += part.weight * (covariance[m[:, None], m] - gain @ cross)

    log_norm = log_det_cholesky(lower) + k * math.log(2.0 * math.pi)
    distance = np.trace(solved[:, dim - k :])
    log_likelihood = -0.5 * float(part.weight * log_norm + distance)
    return Moments(weight=part.weight, mean=completed, scatter=scatter), log_likelihood


def _factor(covariance: np.ndarray) -> np.ndarray:
    """Return the factor of a covariance, with jitter where it is singular."""
    try:
        return np.linalg.cholesky(covariance)
    except np.linalg.LinAlgError:
        return jittered_cholesky(covariance, name="covariance").lower
