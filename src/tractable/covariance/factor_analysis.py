"""Factor analysis: Σ_k = F_k F_kᵀ + D_k fitted to average products S_k by maximum likelihood."""

from typing import Any

import numpy as np

from tractable.covariance.low_rank import LowRankPlusDiagonal

#: Steps in one M-step of a mixture.
STEPS = 5

#: How much better, in nats a row, the second proposal must be, so that rounding does not decide.
MARGIN = 1e-9

#: The least noise variance, as a fraction of the column's variance: in a Heywood case, where factors explain
#: a column whole, the likelihood would depend on rounding.
LEAST_NOISE = 1e-6


def fit_factors(average: np.ndarray, rank: int, before: Any = None) -> LowRankPlusDiagonal:
    """Return factors and noise variances that fit averages S (K, d, d) no worse than those before.

    Every step makes two proposals and takes the better for each component: a step of EM (Rubin and Thayer
    1982), which never lowers the likelihood, and the noise D = diag(S - F Fᵀ) with the best factors for it
    (principal factor analysis; Barber, section 21.2), which converges faster.

    Without those `before`, it begins with noise of half the variance of each column.
    """
    variances = _diagonals(average)
    found = _best_factors(average, 0.5 * variances, rank) if before is None else before
    for _ in range(STEPS):
        noise = np.maximum(variances - np.sum(found.factor**2, axis=2), LEAST_NOISE * variances)
        steady, fast = _em_step(average, found), _best_factors(average, noise, rank)
        better = (_loss(average, fast) < _loss(average, steady) - MARGIN)[:, None]
        found = LowRankPlusDiagonal(
            factor=np.where(better[:, :, None], fast.factor, steady.factor),
            variances=np.where(better, fast.variances, steady.variances),
        )
    return found


def _loss(average: np.ndarray, structure: LowRankPlusDiagonal) -> np.ndarray:
    """Return log |Σ_k| + tr(Σ_k⁻¹ S_k)."""
    return structure.log_det + np.einsum("kij,kij->k", structure.precision(), average)


def _em_step(average: np.ndarray, before: LowRankPlusDiagonal) -> LowRankPlusDiagonal:
    """Return one step of EM: E[f | x] = Fᵀ Σ⁻¹ x, then the regression of the columns on the factors."""
    factor, rank = before.factor, before.factor.shape[-1]
    solved = np.moveaxis(before.solve(np.moveaxis(factor, 2, 0)), 0, 2)  # Σ⁻¹ F
    gain = np.swapaxes(solved, 1, 2)
    cross = average @ solved  # E[x fᵀ]
    second = np.eye(rank) - gain @ factor + gain @ cross  # E[f fᵀ]
    factor = np.swapaxes(np.linalg.solve(second, np.swapaxes(cross, 1, 2)), 1, 2)
    variances = _diagonals(average)
    noise = variances - np.sum(factor * cross, axis=2)
    return LowRankPlusDiagonal(factor=factor, variances=np.maximum(noise, LEAST_NOISE * variances))


def _best_factors(average: np.ndarray, noise: np.ndarray, rank: int) -> LowRankPlusDiagonal:
    """Return the factors that are best for given noise: the leading eigenvectors of D^-½ S D^-½."""
    root = np.sqrt(noise)
    values, vectors = np.linalg.eigh(average / root[:, :, None] / root[:, None, :])
    length = np.sqrt(np.maximum(values[:, -rank:] - 1.0, 0.0))
    return LowRankPlusDiagonal(
        factor=root[:, :, None] * vectors[:, :, -rank:] * length[:, None, :], variances=noise
    )


def _diagonals(average: np.ndarray) -> np.ndarray:
    return np.diagonal(average, axis1=1, axis2=2)
