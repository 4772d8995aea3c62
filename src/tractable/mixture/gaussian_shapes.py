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
from tractable.mixture.factor_analysis import fit_factors
from tractable.primitives.em import LINEAR, PRODUCTS, SQUARES, SUM_OF_SQUARES
from tractable.value import value

__all__ = ["COVARIANCE_TYPES", "Shape", "collapsed", "shape_of"]

#: The least variance, in units of the rows': a few roundings of a standard deviation.
LEAST = (8.0 * np.finfo(np.float64).eps) ** 2


@value
class Shape:
    """A shape of covariance matrices."""

    kind: int  # the features of rows that it needs
    kept: Callable[[np.ndarray], np.ndarray]  # from products (K, d, d) to the form that is averaged
    fit: Callable[[np.ndarray, int, Any], Covariance]  # (S, d, the structure before or None) -> structure
    n_free: Callable[[int, int], int]  # (K, d) -> how many numbers there are
    structure: type[Covariance]
    shared: bool = False  # by all components
    round: bool = False  # the same in all columns, which therefore share a unit
    rank: int | None = None  # of the factors

    def has(self, structure: Covariance) -> bool:
        """Whether a structure is of this shape."""
        same = type(structure) is self.structure and (len(structure.batch_shape) == 0) == self.shared
        return same and (self.rank is None or structure.factor.shape[-1] == self.rank)  # type: ignore[attr-defined]


def shape_of(covariance_type: str, rank: int) -> Shape:
    """Return the shape that a name stands for."""
    if covariance_type != "low_rank":
        return _SHAPES[covariance_type]
    return Shape(
        kind=PRODUCTS,
        kept=_products,
        fit=partial(_fit_low_rank, rank),
        # Factors turn freely, and no more numbers count than a full matrix has.
        n_free=lambda K, d: K * min(d * rank - rank * (rank - 1) // 2 + d, d * (d + 1) // 2),
        structure=LowRankPlusDiagonal,
        rank=rank,
    )


def collapsed(params: Any, reg: np.ndarray, varies: np.ndarray) -> np.ndarray:
    """Return which components are flat to within what `reg_covar` adds, or have no weight.

    Constant columns say nothing of it: every component is flat in them.
    """
    flat = np.zeros(len(params.weights), dtype=bool) | _mended(params.structure)
    if np.any(varies):
        root = np.sqrt(np.maximum(reg[varies], LEAST))
        dense = params.structure.dense()[..., varies, :][..., varies] / root[:, None] / root
        flat |= np.linalg.eigvalsh(dense)[..., 0] <= 2.0
    return flat | (params.weights == 0.0)


def _mended(structure: Covariance) -> Any:
    """Whether something had to be added to a matrix to make it positive definite."""
    return np.any(np.atleast_1d(structure.jitter) > 0, axis=-1) if isinstance(structure, Full) else False


def _products(products: np.ndarray) -> np.ndarray:
    return products


def _diagonals(products: np.ndarray) -> np.ndarray:
    return np.diagonal(products, axis1=1, axis2=2)


def _fit_full(average: np.ndarray, *_: Any) -> Covariance:
    found = jittered_cholesky(average)
    return Full(cholesky=found.lower, jitter=found.jitter)


def _fit_tied(average: np.ndarray, *_: Any) -> Covariance:
    return _fit_full(average[0])


def _fit_diagonal(average: np.ndarray, *_: Any) -> Covariance:
    return Diagonal(variances=np.maximum(average, LEAST))


def _fit_spherical(average: np.ndarray, dim: int, *_: Any) -> Covariance:
    return Isotropic(variance=np.maximum(average / dim, LEAST), dim=dim)


def _fit_low_rank(rank: int, average: np.ndarray, _: int, before: Any) -> Covariance:
    return fit_factors(average, rank, before)


_SHAPES = {
    "full": Shape(
        kind=PRODUCTS,
        kept=_products,
        fit=_fit_full,
        n_free=lambda K, d: K * d * (d + 1) // 2,
        structure=Full,
    ),
    "tied": Shape(
        kind=LINEAR,
        kept=lambda products: products.sum(axis=0, keepdims=True),
        fit=_fit_tied,
        n_free=lambda _, d: d * (d + 1) // 2,
        structure=Full,
        shared=True,
    ),
    "diag": Shape(
        kind=SQUARES,
        kept=_diagonals,
        fit=_fit_diagonal,
        n_free=lambda K, d: K * d,
        structure=Diagonal,
    ),
    "spherical": Shape(
        kind=SUM_OF_SQUARES,
        kept=lambda products: _diagonals(products).sum(axis=1),
        fit=_fit_spherical,
        n_free=lambda K, _: K,
        structure=Isotropic,
        round=True,
    ),
}

COVARIANCE_TYPES = (*_SHAPES, "low_rank")
