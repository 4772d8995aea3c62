"""Factor analysis of averaged products: Σ_k = F_k F_kᵀ + D_k, by steps that climb."""

from typing import Any

import numpy as np

from tractable.covariance.low_rank import LowRankPlusDiagonal

__all__ = ["fit_factors"]

#: Steps in one M-step of a mixture.
STEPS = 5

#: How much better, in nats a row, the faster proposal must be.
MARGIN = 1e-9

#: The least variance left on the diagonal, as a share of the column's: where factors explain a column whole
#: (a Heywood case), every rounding would count.
LEAST = 1e-6


def fit_factors(average: np.ndarray, rank: int, before: Any = None) -> LowRankPlusDiagonal:
    """Return factors and variances that fit averages S (K, d, d) better than those before.

    Two proposals a step, and of each component the better: a step of EM (Rubin and Thayer 1982), which never
    falls, and the diagonal that the factors leave over, with the factors that are best for it, which is fast
    (Barber, section 21.2).
    """
    found = _principal(average, rank) if before is None else before
    for _ in range(STEPS):
        steady, bold = _em_step(average, found), _best_factors(average, _left_over(average, found), rank)
        # By more than rounding, which must not decide.
        better = (_loss(average, bold) < _loss(average, steady) - MARGIN)[:, None]
        found = LowRankPlusDiagonal(
            factor=np.where(better[:, :, None], bold.factor, steady.factor),
            variances=np.where(better, bold.variances, steady.variances),
        )
    return found


def _loss(average: np.ndarray, structure: LowRankPlusDiagonal) -> np.ndarray:
    """Return log |Σ_k| + tr(Σ_k⁻¹ S_k)."""
    return structure.log_det + np.einsum("kij,kij->k", structure.precision(), average)


def _em_step(average: np.ndarray, before: LowRankPlusDiagonal) -> LowRankPlusDiagonal:
    factor, rank = before.factor, before.factor.shape[-1]
    # Σ⁻¹ F, and the regression of the factors on the columns.
    solved = np.moveaxis(before.solve(np.moveaxis(factor, 2, 0)), 0, 2)
    gain = np.swapaxes(solved, 1, 2)
    seen = average @ solved
    spread = np.eye(rank) - gain @ factor + gain @ seen
    factor = np.swapaxes(np.linalg.solve(spread, np.swapaxes(seen, 1, 2)), 1, 2)
    own = _own(average)
    rest = own - np.sum(factor * seen, axis=2)
    return LowRankPlusDiagonal(factor=factor, variances=np.maximum(rest, LEAST * own))


def _left_over(average: np.ndarray, before: LowRankPlusDiagonal) -> np.ndarray:
    own = _own(average)
    return np.maximum(own - np.sum(before.factor**2, axis=2), LEAST * own)


def _best_factors(average: np.ndarray, variances: np.ndarray, rank: int) -> LowRankPlusDiagonal:
    """Return the factors that are best for given variances: the leading directions in their units."""
    root = np.sqrt(variances)
    lengths, axes = np.linalg.eigh(average / root[:, :, None] / root[:, None, :])
    strength = np.sqrt(np.maximum(lengths[:, -rank:] - 1.0, 0.0))
    return LowRankPlusDiagonal(
        factor=root[:, :, None] * axes[:, :, -rank:] * strength[:, None, :], variances=variances
    )


def _principal(average: np.ndarray, rank: int) -> LowRankPlusDiagonal:
    """Begin where half of each column's variance is its own."""
    return _best_factors(average, 0.5 * _own(average), rank)


def _own(average: np.ndarray) -> np.ndarray:
    return np.diagonal(average, axis1=1, axis2=2)
