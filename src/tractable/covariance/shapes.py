"""Shapes of the components' covariances: the sums each needs, and its M-step.

An M-step takes S_k, the average of the squares of the rows about the means, of what `reg_covar` adds and of
the prior's pseudo-rows: the covariance that is best for S_k is best for all three.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tractable.arrays import jittered_cholesky
from tractable.arrays.namespace import Array, device, namespace_of
from tractable.covariance.diagonal import Diagonal
from tractable.covariance.factor_analysis import fit_factors
from tractable.covariance.full import Full
from tractable.covariance.isotropic import Isotropic
from tractable.covariance.low_rank import LowRankPlusDiagonal
from tractable.covariance.structure import Covariance
from tractable.primitives.em import LINEAR, PRODUCTS, SQUARES, SUM_OF_SQUARES
from tractable.value import value

__all__ = ["COVARIANCE_TYPES", "Shape", "collapsed", "constant_columns", "regular", "shape_of"]

#: A column that never varies is given so many roundings of its values as a standard deviation.
ROUNDINGS = 8.0


def regular(matrix: Array, mean: Array, *, added: Array | None = None) -> tuple[Full, Any]:
    """Return a covariance matrix (d, d) as a structure, and what was added to its diagonal to be regular.

    A constant column is given a variance by the rounding of its values; columns that follow from others get
    the least jitter that gives the matrix a factor, which leaves no digit of what is solved for. Where
    variances to be `added` are given, they are taken for both. Nothing is added where nothing is needed.

    Examples
    --------
    >>> structure, jitter = regular(np.array([[2.0, 0.0], [0.0, 0.0]]), np.array([0.0, 1.0]))
    >>> jitter > 0
    array([False,  True])
    """
    xp = namespace_of(matrix)
    identity = xp.eye(matrix.shape[-1], dtype=matrix.dtype, device=device(matrix))
    floor, constant = constant_columns(xp.linalg.diagonal(matrix), mean)
    if added is not None:
        floor = xp.where(constant & (added > floor), added, floor)
    # A constant column is uncorrelated with the others; what rounding left there is not evidence.
    both = constant[:, None] | constant[None, :]
    matrix = xp.where(both, xp.zeros_like(matrix), matrix) + floor * identity
    structure = Full.jittered(matrix)
    if added is not None and bool(xp.any(structure.jitter > 0)):
        more = xp.where(constant, xp.zeros_like(added), added)
        floor, structure = floor + more, Full.jittered(matrix + more * identity)
    return structure, floor + structure.jitter


def constant_columns(variances: Array, mean: Array) -> tuple[Array, Array]:
    """Return what constant columns need as a variance (0 for the others), and which they are."""
    xp = namespace_of(variances)
    rounding = float(np.finfo(np.float64).eps) * xp.abs(mean)
    constant = variances <= rounding**2
    size = xp.where(mean != 0, rounding, float(np.finfo(np.float64).eps) * xp.ones_like(mean))
    # The square of the smallest numbers would be zero again.
    square = (ROUNDINGS * size) ** 2
    floor = xp.where(square > 0, square, xp.full_like(square, float(np.finfo(np.float64).tiny)))
    return xp.where(constant, floor, xp.zeros_like(floor)), constant


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
