"""Shapes of covariance matrices: the expected moments each needs, its M-step, its free parameters; shrinkage.

`SHAPES` is the one table of them. A shape takes S_k, the average over the rows of component k of the products
(x - μ_k)(x - μ_k)ᵀ in the form that :meth:`CovarianceShape.compress` gives them, and returns the structure
that maximises -½ (log |Σ_k| + tr(Σ_k⁻¹ S_k)). `reg_covar` and an inverse Wishart prior are part of the
average: see :meth:`CovarianceShape.maximize`.
"""

from abc import ABC, abstractmethod
from functools import partial
from typing import Any, ClassVar

import numpy as np

from tractable.arrays import jittered_cholesky
from tractable.arrays.linalg import diagonals, factor_if_definite, is_pd, symmetrize
from tractable.arrays.namespace import Array, all_true, any_true, device, namespace_of
from tractable.covariance.decomposed import DIAGONAL_STEPS, FULL_STEPS, n_free_decomposed
from tractable.covariance.diagonal import Diagonal, Isotropic, Uncorrelated
from tractable.covariance.full import Full
from tractable.covariance.low_rank import LowRankPlusDiagonal, fit_factors
from tractable.covariance.structure import Covariance
from tractable.primitives.em import LINEAR, PRODUCTS, SQUARES, SUM_OF_SQUARES
from tractable.statistics.moments import FourthMoments, over
from tractable.statistics.standardizer import ROUNDINGS, Standardizer, column_varies
from tractable.value import value

#: A digit in which diagonals of inverses may differ.
ROUNDING = 1e-6

#: The least variance of a standardized column: the square of a few roundings.
LEAST_VARIANCE = (ROUNDINGS * np.finfo(np.float64).eps) ** 2

#: The default of `reg_covar`, as a fraction of the variance of each column.
DEFAULT_FLOOR = 1e-6


@value
class CovariancePrior:
    """An inverse Wishart prior IW(Σ | Ψ, ν) on every covariance matrix, as pseudo-observations.

    Its mode is that of ν + d + 1 rows with scatter Ψ.
    """

    scatter: np.ndarray  # (d, d), Ψ
    weight: float  # ν + d + 1; zero without a prior

    @classmethod
    def none(cls, dim: int) -> "CovariancePrior":
        """Return the prior that changes nothing."""
        return cls(scatter=np.zeros((dim, dim)), weight=0.0)

    def log_prob(self, structure: Covariance) -> float:
        """Return Σ_k log p(Σ_k), up to a constant."""
        if self.weight == 0.0:
            return 0.0
        trace = np.sum(structure.precision() * self.scatter, axis=(-2, -1))
        return -0.5 * float(np.sum(self.weight * structure.log_det + trace))


class CovarianceShape(ABC):
    """A constraint on the covariance matrices of K components."""

    #: Which features of a row the E-step must sum, see :mod:`tractable.primitives.em`.
    features: ClassVar[int]
    #: The type of a fitted structure.
    structure: ClassVar[type[Covariance]]
    #: Whether all components have one matrix.
    shared: ClassVar[bool] = False
    #: Whether all columns must have one scale.
    common_scale: ClassVar[bool] = False

    def compress(self, products: np.ndarray) -> np.ndarray:
        """Return products (K, d, d) in the form of which the shape needs the average."""
        return products

    def add_variances(self, scatter: np.ndarray, variances: np.ndarray) -> None:
        """Add variances (K, d) of columns to compressed products, in place."""
        if scatter.ndim == 3:
            np.einsum("kii->ki", scatter)[...] += variances
        else:
            scatter += variances if scatter.ndim == 2 else variances.sum(axis=-1)

    @abstractmethod
    def fit(self, average: np.ndarray, dim: int, before: Any = None, n: Any = None) -> Covariance:
        """Return the structure that is best for averages of n rows each, one for each component.

        `before` is where an iterative fit begins.
        """

    @abstractmethod
    def n_free(self, n_components: int, dim: int) -> int:
        """Return the number of free parameters."""

    def matches(self, structure: Covariance) -> bool:
        """Whether a structure is of this shape."""
        return type(structure) is self.structure and (len(structure.batch_shape) == 0) == self.shared

    def maximize(
        self,
        weight: np.ndarray,
        scatter: np.ndarray,
        *,
        floor: np.ndarray,
        prior: CovariancePrior,
        before: Covariance | None,
    ) -> Covariance:
        """Return the M-step of the covariances, Σ_k = (S_k + N_k diag(floor) + Ψ) / (N_k + ν + d + 1).

        `scatter` is S_k = Σ_n r_nk (x_n - μ_k)(x_n - μ_k)ᵀ, compressed, and `weight` N_k = Σ_n r_nk. A
        component without rows keeps the structure it had `before`; an iterative fit begins there.
        """
        dim = len(floor)
        n = weight.sum(keepdims=True) if self.shared else weight
        n = n.reshape(-1, *(1,) * (scatter.ndim - 1))
        total = n + prior.weight
        average = scatter.copy()
        self.add_variances(average, n.reshape(-1, 1) * floor)
        if prior.scatter.any():
            average += self.compress(prior.scatter[None])
        average /= np.where(total > 0, total, 1.0)
        if not np.all(total > 0):
            average = np.where(total > 0, average, self.compress(dense_matrices(before, dim)))
        return self.fit(average, dim, before, total.ravel())

    def implied_scatter(
        self, weight: np.ndarray, structure: Covariance, *, floor: np.ndarray, prior: CovariancePrior
    ) -> np.ndarray:
        """Return the compressed scatter whose M-step is the structure: the inverse of :meth:`maximize`."""
        n = weight.sum(keepdims=True) if self.shared else weight
        dense = dense_matrices(structure, len(floor))
        return self.compress(
            (dense - np.diag(floor)) * n[:, None, None] + dense * prior.weight - prior.scatter
        )


@value
class FullShape(CovarianceShape):
    """Every component has a matrix of its own."""

    features = PRODUCTS
    structure = Full

    def fit(self, average: np.ndarray, dim: int, before: Any = None, n: Any = None) -> Covariance:
        found = jittered_cholesky(average)
        return Full.from_factor(found.lower, jitter=found.jitter)

    def n_free(self, n_components: int, dim: int) -> int:
        return (1 if self.shared else n_components) * dim * (dim + 1) // 2


@value
class TiedShape(FullShape):
    """All components have one matrix. The sum of all products is known, so E-steps sum no products."""

    features = LINEAR
    shared = True

    def compress(self, products: np.ndarray) -> np.ndarray:
        return products.sum(axis=0, keepdims=True)

    def fit(self, average: np.ndarray, dim: int, before: Any = None, n: Any = None) -> Covariance:
        return super().fit(average[0], dim)


@value
class DiagonalShape(CovarianceShape):
    """Columns are independent within a component."""

    features = SQUARES
    structure = Diagonal

    def compress(self, products: np.ndarray) -> np.ndarray:
        return np.diagonal(products, axis1=1, axis2=2)

    def fit(self, average: np.ndarray, dim: int, before: Any = None, n: Any = None) -> Covariance:
        return Diagonal(variances=np.maximum(average, LEAST_VARIANCE))

    def n_free(self, n_components: int, dim: int) -> int:
        return n_components * dim


@value
class SphericalShape(CovarianceShape):
    """A component has one variance in all directions."""

    features = SUM_OF_SQUARES
    structure = Isotropic
    common_scale = True

    def compress(self, products: np.ndarray) -> np.ndarray:
        return np.trace(products, axis1=1, axis2=2)

    def fit(self, average: np.ndarray, dim: int, before: Any = None, n: Any = None) -> Covariance:
        return Isotropic(variance=np.maximum(average / dim, LEAST_VARIANCE), dim=dim)

    def n_free(self, n_components: int, dim: int) -> int:
        return n_components


@value
class LowRankShape(CovarianceShape):
    """Factors and independent noise, Σ_k = F_k F_kᵀ + D_k, with F_k of so many columns."""

    rank: int
    features = PRODUCTS
    structure = LowRankPlusDiagonal

    def fit(self, average: np.ndarray, dim: int, before: Any = None, n: Any = None) -> Covariance:
        return fit_factors(average, self.rank, before)

    def n_free(self, n_components: int, dim: int) -> int:
        # F R has the same F Fᵀ for a rotation R; and no more numbers count than a full matrix has.
        free = dim * self.rank - self.rank * (self.rank - 1) // 2 + dim
        return n_components * min(free, dim * (dim + 1) // 2)

    def matches(self, structure: Covariance) -> bool:
        return super().matches(structure) and structure.factor.shape[-1] == self.rank  # type: ignore[attr-defined]


@value
class DecomposedShape(CovarianceShape):
    """Matrices that share volume, shape or orientation: see :mod:`tractable.covariance.decomposed`."""

    name: str
    features = PRODUCTS
    structure: ClassVar[type[Covariance]] = Full

    def fit(self, average: np.ndarray, dim: int, before: Any = None, n: Any = None) -> Covariance:
        found = jittered_cholesky(FULL_STEPS[self.name](average, *self._given(average, dim, before, n)))
        return Full.from_factor(found.lower, jitter=found.jitter)

    def n_free(self, n_components: int, dim: int) -> int:
        return n_free_decomposed(self.name, n_components, dim)

    def _given(self, average: np.ndarray, dim: int, before: Any, n: Any) -> tuple[np.ndarray, np.ndarray]:
        weights = np.ones(len(average)) if n is None else n
        return np.broadcast_to(weights, (len(average),)), self.compress(dense_matrices(before, dim))


@value
class ScaleDependentShape(DecomposedShape):
    """Matrices whose axes, or spectra, are compared: in other units of the columns it is another model."""

    common_scale = True


@value
class DecomposedDiagonalShape(DecomposedShape):
    """Columns are independent within a component, and their variances share volume or shape."""

    features = SQUARES
    structure = Diagonal

    def compress(self, products: np.ndarray) -> np.ndarray:
        return np.diagonal(products, axis1=1, axis2=2)

    def fit(self, average: np.ndarray, dim: int, before: Any = None, n: Any = None) -> Covariance:
        average = np.maximum(average, LEAST_VARIANCE)
        return Diagonal(variances=DIAGONAL_STEPS[self.name](average, *self._given(average, dim, before, n)))


@value
class OneVarianceShape(SphericalShape):
    """All components have one variance in all directions: EII."""

    def fit(self, average: np.ndarray, dim: int, before: Any = None, n: Any = None) -> Covariance:
        weights = np.ones(len(average)) if n is None else np.broadcast_to(n, average.shape)
        one = np.full(average.shape, weights @ average / weights.sum())
        return super().fit(one, dim)

    def n_free(self, n_components: int, dim: int) -> int:
        return 1


#: The shape that each `covariance_type` names; "low_rank" is made with its rank, see `shape_of`.
SHAPES: dict[str, Any] = {
    "full": FullShape,
    "tied": TiedShape,
    "diag": DiagonalShape,
    "spherical": SphericalShape,
    "low_rank": LowRankShape,
    # By volume, shape and orientation, each equal (E), varying (V) or the identity (I), as in mclust.
    "EII": OneVarianceShape,
    "VII": SphericalShape,
    **{name: partial(DecomposedDiagonalShape, name=name) for name in DIAGONAL_STEPS},
    "VVI": DiagonalShape,
    "EEE": TiedShape,
    **{name: partial(DecomposedShape, name=name) for name in ("VEE", "EVV")},
    **{name: partial(ScaleDependentShape, name=name) for name in ("EVE", "VVE", "EEV", "VEV")},
    "VVV": FullShape,
}


#: The fourteen shapes of mclust, from the fewest parameters to the most.
MCLUST_SHAPES = (
    *("EII", "VII", "EEI", "VEI", "EVI", "VVI", "EEE"),
    *("VEE", "EVE", "VVE", "EEV", "VEV", "EVV", "VVV"),
)


def shape_of(covariance_type: str, rank: int = 1) -> CovarianceShape:
    """Return the shape of a `covariance_type`."""
    return LowRankShape(rank=rank) if covariance_type == "low_rank" else SHAPES[covariance_type]()


def variance_floor(reg_covar: float | None, standardizer: Standardizer) -> np.ndarray:
    """Return what `reg_covar` adds to the variances of standardized columns.

    When not given, a millionth of the variance of each column; the scale of a constant column is its floor.
    """
    if reg_covar is None:
        return np.where(standardizer.varies, DEFAULT_FLOOR, 1.0)
    return float(reg_covar) * standardizer.scale**2


def collapsed_components(
    weights: np.ndarray, structure: Covariance, floor: np.ndarray, varies: np.ndarray
) -> np.ndarray:
    """Return which components have a variance within twice the floor in some direction, or no weight.

    Constant columns are left out: every component is flat in them.
    """
    jitter = np.atleast_1d(structure.jitter) if isinstance(structure, Full) else np.zeros(1)
    collapsed = (weights == 0.0) | np.any(jitter > 0, axis=-1)
    least = np.maximum(floor, LEAST_VARIANCE)
    if not np.any(varies):
        return collapsed
    # Some variance is within twice the floor F where the greatest eigenvalue of F Σ⁻¹ is a half at least: it
    # lies between the greatest entry of the diagonal and the sum of that.
    ratios = precision_diagonals(structure) * np.where(varies, least, 0.0)
    if np.all(ratios.sum(axis=-1) < 0.5):
        return collapsed
    if np.all(varies) and np.all(ratios.max(axis=-1) > 0.5 + ROUNDING):
        return collapsed | True
    root = np.sqrt(least[varies])
    dense = structure.dense()[..., varies, :][..., varies] / root[:, None] / root
    return collapsed | ~is_pd(dense - 2.0 * np.eye(len(root)))  # a tenth of an eigenvalue's time


def rounding_columns(variances: np.ndarray, varies: np.ndarray) -> np.ndarray:
    """Return which columns are constant, and as narrow as rounding in every component.

    Parameters
    ----------
    variances : array (..., d)
        Of the components, in standardized columns, where those of a constant column are over rounding's.
    varies : array (d,) of bool
        Which columns are not constant.
    """
    return ~varies & np.all(np.atleast_2d(variances) <= 2.0, axis=0)


def dense_matrices(structure: Covariance | None, dim: int) -> np.ndarray:
    """Return the matrices (K or 1, d, d); the identity where there is no structure yet."""
    return np.eye(dim)[None] if structure is None else structure.dense().reshape(-1, dim, dim)


def precision_diagonals(structure: Covariance) -> np.ndarray:
    """Return the diagonals of the inverses, (K, d) or (d,)."""
    if isinstance(structure, Uncorrelated):
        return 1.0 / structure.diagonal
    if isinstance(structure, Full):
        return structure.precision_diagonal
    return np.diagonal(structure.precision(), axis1=-2, axis2=-1)


def whiteners(structure: Covariance) -> np.ndarray:
    """Return W_k with |W_k z|² = zᵀ Σ_k⁻¹ z: (K, d, d), or (K, d) where they are diagonal; one if shared."""
    if isinstance(structure, Uncorrelated):
        return 1.0 / np.sqrt(structure.diagonal)
    full = structure if isinstance(structure, Full) else Full(matrix=structure.dense())
    return full.inverse_factor.reshape(-1, full.dim, full.dim)


def scale_columns(structure: Covariance, scale: np.ndarray) -> Covariance:
    """Return the covariance of x · scale from that of x; an isotropic one has one scale for all columns."""
    if isinstance(structure, Isotropic):
        return Isotropic(variance=structure.variance * scale[0] ** 2, dim=structure.dim)
    if isinstance(structure, Diagonal):
        return Diagonal(variances=structure.variances * scale**2)
    if isinstance(structure, LowRankPlusDiagonal):
        return LowRankPlusDiagonal(
            factor=structure.factor * scale[:, None], variances=structure.variances * scale**2
        )
    assert isinstance(structure, Full)
    return Full.from_factor(structure.cholesky * scale[:, None])


def compact_form(structure: Covariance, matrices: Array) -> Array:
    """Return matrices (K, d, d) in scikit-learn's shapes: (K, d) or (K,) where these suffice."""
    if isinstance(structure, Isotropic):
        return matrices[..., 0, 0]
    if isinstance(structure, Diagonal):
        return namespace_of(matrices).linalg.diagonal(matrices)
    return matrices


def regular(matrix: Array, mean: Array, *, added: Array | None = None) -> tuple[Full, Any]:
    """Return covariance matrices (..., d, d) as a structure, and what was added to their diagonals.

    A constant column is given a variance by the rounding of its values; columns that follow from others get
    the least jitter that gives the matrix a factor, which leaves no digit of what is solved for. Where
    variances to be `added` are given, they are taken for both. Nothing is added where nothing is needed.
    """
    xp = namespace_of(matrix)
    identity = xp.eye(matrix.shape[-1], dtype=matrix.dtype, device=device(matrix))
    floor, constant = constant_columns(diagonals(matrix), mean)
    if any_true(constant):
        if added is not None:
            floor = xp.where(constant & (added > floor), added, floor)
        # A constant column is uncorrelated with the others; what rounding left there is not evidence.
        both = constant[..., :, None] | constant[..., None, :]
        matrix = xp.where(both, xp.zeros_like(matrix), matrix) + floor[..., None] * identity
    if added is not None:
        lower, definite = factor_if_definite(matrix)
        if all_true(definite):
            return Full.from_factor(lower, symmetrize(matrix)), floor
        more = xp.where(~definite[..., None] & ~constant, added, xp.zeros_like(floor))
        floor, matrix = floor + more, matrix + more[..., None] * identity
    structure = Full.jittered(matrix)
    return structure, floor + structure.jitter


def constant_columns(variances: Array, mean: Array) -> tuple[Array, Array]:
    """Return what constant columns need as a variance (0 for the others), and which they are."""
    xp = namespace_of(variances)
    constant = ~column_varies(mean, xp.sqrt(xp.where(variances > 0.0, variances, 0.0)))
    if not any_true(constant):
        return xp.astype(constant, mean.dtype), constant
    rounding = float(np.finfo(np.float64).eps) * xp.abs(mean)
    size = xp.where(mean != 0, rounding, float(np.finfo(np.float64).eps) * xp.ones_like(mean))
    # The square of the smallest numbers would be zero again.
    square = (ROUNDINGS * size) ** 2
    floor = xp.where(square > 0, square, xp.full_like(square, float(np.finfo(np.float64).tiny)))
    return xp.where(constant, floor, xp.zeros_like(floor)), constant


def shrunk(matrix: np.ndarray, shrinkage: float) -> np.ndarray:
    """Return (1 - s) Σ + s (tr Σ / d) I, which has the same mean variance."""
    return (1.0 - shrinkage) * matrix + shrinkage * np.mean(np.diagonal(matrix)) * np.eye(len(matrix))


def ledoit_wolf(statistic: FourthMoments) -> tuple[np.ndarray, float]:
    """Return the maximum-likelihood covariance with its correlations shrunk, and the shrinkage.

    The shrinkage is that of least expected squared error (Ledoit and Wolf 2004) for standardized columns, so
    that it does not depend on their units: the estimated squared error of the correlations over their squared
    distance from the identity. Both follow from sums of products of squares, which one pass over the rows
    gives.
    """
    moments, n = statistic.moments, float(statistic.weight)
    covariance = moments.scatter / n
    deviation = np.sqrt(np.maximum(np.diagonal(covariance), 0.0))
    varies = deviation > 0
    per = over(1.0, deviation)
    correlation = covariance * per[:, None] * per
    scales = over(statistic.scale, deviation) ** 2
    squares = float(np.sum(statistic.fourth * scales[:, None] * scales)) / n
    target = np.sum(varies) / len(varies)
    length = float(np.sum(correlation**2))
    distance = length - len(varies) * target**2
    error = (squares - length) / n
    # Columns that are uncorrelated up to rounding are left alone.
    some = distance > 16.0 * np.finfo(np.float64).eps * length
    shrinkage = float(np.clip(error / distance, 0.0, 1.0)) if some else 0.0
    found = (1.0 - shrinkage) * correlation + shrinkage * target * np.eye(len(varies))
    return found * deviation[:, None] * deviation, shrinkage
