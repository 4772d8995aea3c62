"""Shapes of the components' covariances: the sums each needs, and its M-step.

An M-step takes S_k, the average of the squares of the rows about the means, of what `reg_covar` adds and of
the prior's pseudo-rows: the covariance that is best for S_k is best for all three.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tractable.arrays import jittered_cholesky
from tractable.covariance import Covariance, Diagonal, Full, Isotropic, LowRankPlusDiagonal
from tractable.primitives.mixture_pass import LINEAR, PRODUCTS, SQUARES, SUM_OF_SQUARES
from tractable.value import value

__all__ = ["COVARIANCE_TYPES", "Shape", "shape_of"]

#: Steps of factor analysis in an M-step; each climbs.
INNER_STEPS = 5


@value
class Shape:
    """A shape of covariance matrices."""

    kind: int  # the features of rows that it needs
    kept: Callable[[np.ndarray], np.ndarray]  # from products (K, d, d) to the form that is averaged
    fit: Callable[[np.ndarray, int, Any], Covariance]  # (S, d, the structure before or None) -> structure
    n_free: Callable[[int, int], int]  # (K, d) -> how many numbers there are
    shared: bool = False  # by all components
    round: bool = False  # the same in all columns, which therefore share a unit


def shape_of(covariance_type: str, rank: int) -> Shape:
    """Return the shape that a name stands for."""
    if covariance_type == "low_rank":
        return Shape(
            kind=PRODUCTS,
            kept=_products,
            fit=partial(_fit_low_rank, rank),
            n_free=lambda K, d: K * (d * rank - rank * (rank - 1) // 2 + d),
        )
    return _SHAPES[covariance_type]


def _products(products: np.ndarray) -> np.ndarray:
    return products


def _fit_full(average: np.ndarray, *_: Any) -> Covariance:
    return Full(cholesky=jittered_cholesky(average).lower)


def _fit_tied(average: np.ndarray, *_: Any) -> Covariance:
    return Full(cholesky=jittered_cholesky(average[0]).lower)


def _fit_diagonal(average: np.ndarray, *_: Any) -> Covariance:
    return Diagonal(variances=average)


def _fit_spherical(average: np.ndarray, dim: int, *_: Any) -> Covariance:
    return Isotropic(variance=average / dim, dim=dim)


def _fit_low_rank(rank: int, average: np.ndarray, _: int, before: Any) -> Covariance:
    """Take steps of EM for factor analysis (Rubin and Thayer 1982) from the structure before."""
    found = _principal(average, rank) if before is None else before
    for _ in range(INNER_STEPS):
        factor = found.factor
        gain = np.swapaxes(_solved(found, factor), 1, 2)  # Fᵀ Σ⁻¹, (K, r, d)
        seen = average @ np.swapaxes(gain, 1, 2)
        spread = np.eye(rank) - gain @ factor + gain @ seen
        factor = np.swapaxes(np.linalg.solve(spread, np.swapaxes(seen, 1, 2)), 1, 2)
        own = np.diagonal(average, axis1=1, axis2=2)
        rest = own - np.sum(factor * seen, axis=2)
        found = LowRankPlusDiagonal(factor=factor, variances=np.maximum(rest, 1e-10 * own))
    return found


def _solved(structure: LowRankPlusDiagonal, columns: np.ndarray) -> np.ndarray:
    """Return Σ_k⁻¹ times the columns of (K, d, r)."""
    return np.moveaxis(structure.solve(np.moveaxis(columns, 2, 0)), 0, 2)


def _principal(average: np.ndarray, rank: int) -> LowRankPlusDiagonal:
    """Begin factor analysis at the principal directions."""
    lengths, axes = np.linalg.eigh(average)
    rest = np.mean(lengths[:, : max(1, lengths.shape[1] - rank)], axis=1)
    factor = axes[:, :, -rank:] * np.sqrt(np.maximum(lengths[:, None, -rank:] - rest[:, None, None], 0.0))
    own = np.diagonal(average, axis1=1, axis2=2)
    variances = np.maximum(own - np.sum(factor * factor, axis=2), 0.01 * own)
    return LowRankPlusDiagonal(factor=factor, variances=variances)


def _diagonals(products: np.ndarray) -> np.ndarray:
    return np.diagonal(products, axis1=1, axis2=2)


_SHAPES = {
    "full": Shape(kind=PRODUCTS, kept=_products, fit=_fit_full, n_free=lambda K, d: K * d * (d + 1) // 2),
    "tied": Shape(
        kind=LINEAR,
        kept=lambda products: products.sum(axis=0, keepdims=True),
        fit=_fit_tied,
        n_free=lambda _, d: d * (d + 1) // 2,
        shared=True,
    ),
    "diag": Shape(kind=SQUARES, kept=_diagonals, fit=_fit_diagonal, n_free=lambda K, d: K * d),
    "spherical": Shape(
        kind=SUM_OF_SQUARES,
        kept=lambda products: _diagonals(products).sum(axis=1),
        fit=_fit_spherical,
        n_free=lambda K, _: K,
        round=True,
    ),
}

COVARIANCE_TYPES = (*_SHAPES, "low_rank")
