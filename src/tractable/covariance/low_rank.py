"""A few directions of correlation on top of a diagonal, and factor analysis, which fits them."""

from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from tractable.arrays.batched import as_reals, diagonal_matrix, matvec, positions, zero_gain
from tractable.arrays.namespace import Array, freeze, namespace_of
from tractable.covariance.diagonal import Uncorrelated
from tractable.covariance.structure import Covariance, checked_factor, checked_vectors, other_dims
from tractable.value import set_fields, value

#: Steps of factor analysis in one M-step of a mixture.
STEPS = 5

#: How much better, in nats a row, the second proposal must be, so that rounding does not decide.
MARGIN = 1e-9

#: The least noise variance, as a fraction of the column's variance: in a Heywood case, where factors explain
#: a column whole, the likelihood would depend on rounding.
LEAST_NOISE = 1e-6


class _Directions(NamedTuple):
    """The correlated subspace in units of the diagonal: D^(-1/2) F = axesᵀ · diag(lengths) · turn."""

    axes: Array  # (*batch, k, d), orthonormal rows
    lengths: Array  # (*batch, k)
    turn: Array  # (*batch, k, r), orthonormal rows


@value
class LowRankPlusDiagonal(Covariance):
    """A covariance matrix of low rank plus a diagonal, as in factor analysis.

    Σ = F Fᵀ + diag(variances): the covariance of factor analysis, in O(d r²) work and O(d r) memory.

    Solves use Woodbury's identity and the determinant the matrix determinant lemma, both through the singular
    values s of D^(-1/2) F, whose squares are never subtracted: log |Σ| = Σ log variances + Σ log(1 + s²).

    Parameters
    ----------
    factor : array (*batch, d, r)
        The loadings F.
    variances : array (*batch, d)
        The variances left on the diagonal; positive.

    Examples
    --------
    >>> LowRankPlusDiagonal(factor=[[1.0], [2.0]], variances=[1.0, 1.0]).dense()
    array([[2., 2.],
           [2., 5.]])
    """

    _ndims: ClassVar[dict[str, int]] = {"factor": 2, "variances": 1}

    factor: Array
    variances: Array

    def __post_init__(self) -> None:
        factor = as_reals("factor", self.factor)
        variances = checked_vectors("variances", self.variances)
        xp = namespace_of(factor)
        if factor.ndim < 2 or factor.shape[-2] != variances.shape[-1] or not factor.shape[-1]:
            raise ValueError(
                f"factor must be (*batch, d, r) with d = {variances.shape[-1]} as in variances, "
                f"got shape {tuple(factor.shape)}"
            )
        if not bool(xp.all(xp.isfinite(factor))):
            raise ValueError("factor must be finite")
        try:
            np.broadcast_shapes(factor.shape[:-2], variances.shape[:-1])
        except ValueError:
            raise ValueError(
                f"factor and variances must have batches that broadcast, got shapes {tuple(factor.shape)} "
                f"and {tuple(variances.shape)}"
            ) from None
        set_fields(self, factor=freeze(factor), variances=variances)

    @classmethod
    def from_moments(cls, moments: Any, ddof: float = 0.0, *, rank: int = 1) -> Self:
        """Return the maximum likelihood fit of probabilistic PCA: the rest of the spectrum averaged.

        Tipping & Bishop (1999): F = U_r (Λ_r - σ²)^½ with σ² the mean of the d - r smallest eigenvalues. An
        unequal diagonal (factor analysis) has no closed form.

        Parameters
        ----------
        moments : Moments
            Weight, mean and scatter of the rows.
        ddof : float
            The scatter is divided by the weight minus this.
        rank : int
            Number r of columns of F.
        """
        covariance = moments.covariance(ddof)
        xp = namespace_of(covariance)
        d = int(covariance.shape[-1])
        if not 1 <= rank < d:
            raise ValueError(f"rank must be from 1 to {d - 1}, got {rank!r}")
        eigenvalues, axes = xp.linalg.eigh(covariance)
        noise = xp.mean(eigenvalues[..., : d - rank], axis=-1)[..., None]
        excess = xp.sqrt(xp.maximum(eigenvalues[..., d - rank :] - noise, xp.zeros_like(noise)))
        variances = xp.broadcast_to(noise, tuple(eigenvalues.shape))
        return cls(factor=axes[..., d - rank :] * excess[..., None, :], variances=variances)

    @classmethod
    def of_few_rows(cls, rows: np.ndarray, variances: np.ndarray) -> Self:
        """Return RᵀR + diag(variances) of rows R (n, d), fewer than columns, by the products of the rows.

        The squares of the singular values of R D^(-1/2) are the eigenvalues of the products, n × n.
        Directions whose squares are rounding are left out: beside the variances they are nothing.
        """
        made = cls(factor=rows.T, variances=variances)
        scaled = rows / made._scales
        squares, turn = np.linalg.eigh(scaled @ scaled.T)
        kept = squares > len(rows) * np.finfo(np.float64).eps * squares[-1]
        lengths, turn = np.sqrt(squares[kept]), turn[:, kept].T
        vars(made)["_subspace"] = _Directions(turn @ scaled / lengths[:, None], lengths, turn)
        return made

    @cached_property
    def batch_shape(self) -> tuple[int, ...]:
        return np.broadcast_shapes(self.factor.shape[:-2], self.variances.shape[:-1])

    @property
    def dim(self) -> int:
        return int(self.variances.shape[-1])

    @property
    def rank(self) -> int:
        """Number of columns of the factor."""
        return int(self.factor.shape[-1])

    @cached_property
    def diagonal(self) -> Array:
        return freeze(namespace_of(self.factor).sum(self.factor**2, axis=-1) + self.variances)

    @cached_property
    def log_det(self) -> Array:
        """See `Covariance.log_det`: Σ log variances + log |I + Fᵀ D⁻¹ F|, the determinant lemma."""
        xp = namespace_of(self.factor)
        lengths = self._subspace.lengths
        return freeze(xp.sum(xp.log(self.variances), axis=-1) + xp.sum(xp.log1p(lengths * lengths), axis=-1))

    @property
    def n_free(self) -> int:
        """See `Covariance.n_free`: d r + d, less the r (r - 1) / 2 rotations that change nothing."""
        d, r = self.dim, min(self.rank, self.dim)
        return min(d * r + d - r * (r - 1) // 2, d * (d + 1) // 2)

    @property
    def noise_dim(self) -> int:
        """One standard normal a factor and one a coordinate."""
        return self.rank + self.dim

    @cached_property
    def _scales(self) -> Array:
        return namespace_of(self.variances).sqrt(self.variances)

    @cached_property
    def _subspace(self) -> _Directions:
        return _directions(self.factor, self.variances)

    def dense(self) -> Array:
        xp = namespace_of(self.factor)
        return self.factor @ xp.matrix_transpose(self.factor) + diagonal_matrix(self.variances)

    def whiten(self, z: Array) -> Array:
        return self._shrunk(z / self._scales, _shrinkage(self._subspace.lengths))

    def whiten_transposed(self, z: Array) -> Array:
        """Return Wᵀ z, with W the matrix of `whiten`: Wᵀ W is the precision."""
        return self._shrunk(z, _shrinkage(self._subspace.lengths)) / self._scales

    def solve(self, z: Array) -> Array:
        """Σ⁻¹ z = D⁻¹ z - D⁻¹ F (I + Fᵀ D⁻¹ F)⁻¹ Fᵀ D⁻¹ z, Woodbury."""
        return self._shrunk(z / self._scales, _shrinkage(self._subspace.lengths) ** 2) / self._scales

    def multiply(self, z: Array) -> Array:
        back = namespace_of(self.factor).matrix_transpose(self.factor)
        return matvec(self.factor, matvec(back, z)) + self.variances * z

    def color(self, noise: Array) -> Array:
        return matvec(self.factor, noise[..., : self.rank]) + self._scales * noise[..., self.rank :]

    def marginal(self, dims: Any) -> Self:
        return self._of(self._dims(dims))

    def condition(self, given: Any) -> tuple[Array, Self]:
        """See `Covariance.condition`: the posterior of the factors keeps the rest low-rank plus diagonal."""
        known = self._given(given)
        if not known:
            return zero_gain(self.diagonal[..., 0], self.dim, 0), self
        rest, seen = self._of(other_dims(known, self.dim)), self._of(known)
        axes, lengths, turn = _directions(seen.factor, seen.variances)
        # With D^(-1/2) F = U S V over the known, the factors given x have covariance (I + Vᵀ S² V)⁻¹.
        xp = namespace_of(turn)
        turned = rest.factor @ xp.matrix_transpose(turn)
        pulled = turned * (lengths * _shrinkage(lengths) ** 2)[..., None, :]
        factor = (rest.factor - turned @ turn) + (turned * _shrinkage(lengths)[..., None, :]) @ turn
        gain = pulled @ (axes / xp.sqrt(seen.variances)[..., None, :])
        return gain, type(self)(factor=factor, variances=rest.variances)

    def scaled(self, factor: Any) -> Self:
        c = checked_factor(factor, self.variances, 1)
        root = namespace_of(c).sqrt(c)[..., None]
        return type(self)(factor=self.factor * root, variances=self.variances * c)

    def __add__(self, other: Any) -> Covariance:
        if isinstance(other, Uncorrelated):
            self._check_dim(other)
            return LowRankPlusDiagonal(factor=self.factor, variances=self.variances + other.diagonal)
        if not isinstance(other, LowRankPlusDiagonal):
            return NotImplemented
        self._check_dim(other)
        xp = namespace_of(self.factor)
        batch = np.broadcast_shapes(self.factor.shape[:-2], other.factor.shape[:-2])
        parts = [xp.broadcast_to(f, (*batch, *f.shape[-2:])) for f in (self.factor, other.factor)]
        return LowRankPlusDiagonal(
            factor=xp.concat(parts, axis=-1), variances=self.variances + other.variances
        )

    def _shrunk(self, z: Array, by: Array) -> Array:
        """Multiply the parts of z along the correlated directions by `by`, and leave the rest as it is."""
        xp = namespace_of(self.factor)
        along = matvec(self._subspace.axes, z)
        back = xp.matrix_transpose(self._subspace.axes)
        # Taken out and put back apart: 1 - by would lose the digits of a strongly correlated direction.
        return (z - matvec(back, along)) + matvec(back, by * along)

    def _of(self, dims: tuple[int, ...]) -> Self:
        xp = namespace_of(self.factor)
        index = positions(dims, self.factor)
        return type(self)(
            factor=xp.take(self.factor, index, axis=-2), variances=xp.take(self.variances, index, axis=-1)
        )


def _directions(factor: Array, variances: Array) -> _Directions:
    xp = namespace_of(factor)
    u, lengths, turn = xp.linalg.svd(factor / xp.sqrt(variances)[..., None], full_matrices=False)
    return _Directions(xp.matrix_transpose(u), lengths, turn)


def _shrinkage(lengths: Array) -> Array:
    """(1 + s²)^(-1/2): what whitening does to the correlated directions."""
    xp = namespace_of(lengths)
    return 1.0 / xp.hypot(xp.ones_like(lengths), lengths)


def fit_factors(average: np.ndarray, rank: int, before: Any = None) -> LowRankPlusDiagonal:
    """Return Σ_k = F_k F_kᵀ + D_k that fit averages S_k (K, d, d) no worse than those before, by likelihood.

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
