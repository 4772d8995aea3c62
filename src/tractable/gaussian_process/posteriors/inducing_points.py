"""Gaussian processes through M inducing points: Nyström's approximation, and the variational free energy.

K ≈ K_NM K_MM⁻¹ K_MN is exact where the rank of K is M and that of the block of the points too. Titsias (2009)
bounds the log evidence from below by that of the approximate process less tr(K - K_NM K_MM⁻¹ K_MN) / (2σ²).
All that the rows enter by are sums over them: folds.
"""

from collections.abc import Callable
from functools import partial
from math import log, pi
from typing import Any

import numpy as np

from tractable.arrays.batched import as_reals
from tractable.arrays.linalg import column_squares, jitters, product, solve_triangular, try_cholesky
from tractable.arrays.namespace import Array, namespace_of
from tractable.data.blocks import map_matrix_rows, tree_sum
from tractable.engines.fold import fold
from tractable.primitives import as_double
from tractable.statistics.rows import counts
from tractable.value import value

#: What is added to the diagonal of K_MM, relative to its largest entry, before any further jitter.
LEAST_JITTER = 1e-10
#: Entries of the matrix between a block of rows and the points, so that it stays in the cache.
BLOCK_ENTRIES = 2**18
#: Relative to the largest diagonal entry, what is left of a row that depends on those before it.
DEPENDENT = 1e-12


@value
class InducingPoints:
    """The points, and the Cholesky factor of their kernel matrix."""

    x: np.ndarray  # (M, d)
    lower: np.ndarray  # (M, M), L of K_MM + jitter
    jitter: float

    @classmethod
    def of(cls, kernel: Any, x: np.ndarray) -> "InducingPoints":
        """Return the factor with the least jitter that gives one."""
        matrix = kernel(x)
        size = float(np.max(np.diagonal(matrix)))
        for jitter in jitters(len(x), size):
            added = jitter + LEAST_JITTER * size
            lower, good = try_cholesky(np, matrix + added * np.eye(len(x)))
            if bool(good):
                return cls(x=x, lower=lower, jitter=added)
        raise ValueError(
            f"kernel must be positive semi-definite and finite at the rows of X, and {kernel!r} is not: the "
            "matrix of the inducing points has no Cholesky factor even with a jitter of its diagonal"
        )


@value
class InducingSums:
    """What the rows enter the bound by, at given hyper-parameters; they add.

    With V = L⁻¹ K_MN: n, Σ V Vᵀ, Σ V y, Σ y² and Σ k(x, x), each row counted as often as it weighs.
    """

    weight: float
    gram: np.ndarray  # (M, M)
    targets: np.ndarray  # (M,)
    square: float
    trace: float

    @classmethod
    def of(
        cls, x: Any, y: Any, weights: Any = None, *, kernel: Any, points: InducingPoints, shift: float
    ) -> "InducingSums":
        """Sum over a block of rows.

        Parameters
        ----------
        x, y, weights
            Rows, targets, and how often each row counts.
        kernel : kernel
            k at its hyper-parameters.
        points : InducingPoints
            The points.
        shift : float
            What is subtracted from the targets.
        """
        x, y = as_double(x), as_double(y)
        w = counts(weights, x)
        xp, root = namespace_of(x), namespace_of(x).sqrt(w)

        def of(rows: slice) -> "InducingSums":
            gaps, some = y[rows] - shift, x[rows, :]
            white = solve_triangular(points.lower, kernel(some, points.x).T)
            if weights is not None:
                white = white * root[rows]
            return cls(
                weight=float(xp.sum(w[rows])),
                gram=product(white, white.T),  # of one array with itself, which takes half the time
                targets=product(white, root[rows] * gaps),
                square=float(w[rows] @ gaps**2),
                trace=float(w[rows] @ kernel.diagonal(some)),
            )

        return _in_parts(of, x, points)

    def __add__(self, other: "InducingSums") -> "InducingSums":
        return InducingSums(
            weight=self.weight + other.weight,
            gram=self.gram + other.gram,
            targets=self.targets + other.targets,
            square=self.square + other.square,
            trace=self.trace + other.trace,
        )


@value
class InducingPosterior:
    """The variational posterior of the function through its values at the points."""

    points: InducingPoints
    lower: np.ndarray  # (M, M), factor of B = I + Σ V Vᵀ / σ²
    coef: np.ndarray  # (M,), the mean at x is L⁻¹k(Z, x) times it
    noise: float
    lower_bound: float
    trace_gap: float  # tr(K - K_NM K_MM⁻¹ K_MN), the error of Nyström's approximation

    @classmethod
    def from_sums(cls, points: InducingPoints, sums: InducingSums, noise: float) -> "InducingPosterior":
        """Return the posterior of rows, and the bound of their evidence.

        Parameters
        ----------
        points : InducingPoints
            The points.
        sums : InducingSums
            Sums over the rows.
        noise : float
            σ², positive.
        """
        m = len(points.x)
        lower, good = try_cholesky(np, np.eye(m) + 0.5 * (sums.gram + sums.gram.T) / noise)
        if not bool(good):
            raise ValueError("kernel must be finite at the rows of X")
        white = solve_triangular(lower, sums.targets[:, None])[:, 0] / noise
        gap = max(sums.trace - float(np.trace(sums.gram)), 0.0)
        level = sums.weight * log(2.0 * pi * noise) + 2.0 * float(np.sum(np.log(np.diagonal(lower))))
        bound = -0.5 * (level + (sums.square + gap) / noise - float(white @ white))
        return cls(
            points=points,
            lower=lower,
            coef=solve_triangular(lower, white[:, None], transposed=True)[:, 0],
            noise=noise,
            lower_bound=bound,
            trace_gap=gap,
        )

    def moments(self, cross: Array, diagonal: Array) -> tuple[Array, Array]:
        """Return means and variances of the function at rows, (q,) each, from k(Z, x) (M, q) and k(x, x)."""
        xp, white = namespace_of(cross), solve_triangular(self.points.lower, cross)
        inside = solve_triangular(self.lower, white)
        variance = diagonal - column_squares(white) + column_squares(inside)
        return self.coef @ white, xp.maximum(variance, float(np.finfo(np.float64).eps) * diagonal)


@value
class KernelSlope:
    """∂ bound/∂θ through k of the rows, the kernel's own hyper-parameters; they add."""

    gradient: np.ndarray

    @classmethod
    def of(
        cls,
        x: Any,
        y: Any,
        weights: Any = None,
        *,
        kernel: Any,
        points: InducingPoints,
        mean: np.ndarray,
        learned: np.ndarray,
        noise: float,
        shift: float,
    ) -> "KernelSlope":
        """Sum over a block of rows.

        Parameters
        ----------
        x, y, weights
            Rows, targets, and how often each row counts.
        kernel : kernel
            k at its hyper-parameters.
        points : InducingPoints
            The points.
        mean : array (M,)
            u: the posterior mean at x is k(x, Z) u.
        learned : array (M, M)
            L⁻ᵀ (I - B⁻¹): times L⁻¹/σ² it is K_MM⁻¹/σ² - (σ² K_MM + Σ k kᵀ)⁻¹, of which few digits would be
            left where points are near each other.
        noise, shift : float
            σ², and what is subtracted from the targets.
        """
        x, y = as_double(x), as_double(y)
        w = counts(weights, x)

        def of(rows: slice) -> "KernelSlope":
            some, precision = x[rows, :], w[rows] / noise
            matrix, contract = kernel.pullback(some, points.x, None)
            residuals = y[rows] - shift - matrix @ mean
            slope = (learned @ solve_triangular(points.lower, matrix.T)).T
            slope += residuals[:, None] * mean
            slope *= precision[:, None]
            return cls(gradient=contract(slope) + kernel.contract_diagonal(-0.5 * precision, some))

        return _in_parts(of, x, points)

    def __add__(self, other: "KernelSlope") -> "KernelSlope":
        return KernelSlope(gradient=self.gradient + other.gradient)


def _in_parts(of: Callable[[slice], Any], x: Array, points: InducingPoints) -> Any:
    """Return the sum of a function over rows: at once on the host, on a device as its memory allows."""
    n, m = x.shape[0], points.x.shape[0]
    return tree_sum(map_matrix_rows(of, n, m, x, n * m))


def _from_left(lower: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return L⁻ᵀ b."""
    return solve_triangular(lower, b, transposed=True)


def inducing_posterior(
    kernel: Any, noise: float, x: np.ndarray, data: Any, shift: float
) -> InducingPosterior:
    """Return the variational posterior of rows, by one fold over them.

    Parameters
    ----------
    kernel : kernel
        k at its hyper-parameters.
    noise : float
        σ², positive.
    x : array (M, d)
        The inducing points.
    data : source
        Rows with targets.
    shift : float
        What is subtracted from the targets.
    """
    points = InducingPoints.of(kernel, x)
    return InducingPosterior.from_sums(points, _sums(kernel, points, data, shift), noise)


def _sums(kernel: Any, points: InducingPoints, data: Any, shift: float) -> InducingSums:
    of = partial(InducingSums.of, kernel=kernel, points=points, shift=shift)
    return fold(of, data, rows=_block_rows(points))


def _block_rows(points: InducingPoints) -> int:
    """Return how many rows make a block: no fewer than points, as the sums over it are of points × points."""
    return max(len(points.x), BLOCK_ENTRIES // len(points.x))


def lower_bound(
    kernel: Any, noise: float, x: np.ndarray, data: Any, shift: float
) -> tuple[InducingPosterior, np.ndarray, float]:
    """Return the posterior with its bound, and the bound's gradient by log θ and by log σ²; two folds.

    Parameters
    ----------
    kernel, noise, x, data, shift
        As in `inducing_posterior`.
    """
    points = InducingPoints.of(kernel, x)
    sums = _sums(kernel, points, data, shift)
    found = InducingPosterior.from_sums(points, sums, noise)
    m = len(x)
    # In units of L, where nothing is large: I - B⁻¹, and the derivative by L⁻¹ K_MM L⁻ᵀ.
    white = solve_triangular(found.lower, np.eye(m))
    learned = np.eye(m) - white.T @ white
    mean = _from_left(points.lower, found.coef[:, None])[:, 0]  # u = L⁻ᵀ coef
    # ∂/∂K_MM = ½ K⁻¹ - ½ σ² Σ̂⁻¹ - ½ uuᵀ - ½ K⁻¹ S K⁻¹ / σ², with S = L (Σ V Vᵀ) Lᵀ.
    middle = 0.5 * (learned - np.outer(found.coef, found.coef) - sums.gram / noise)
    of_points = _from_left(points.lower, _from_left(points.lower, middle).T)
    slope = fold(
        partial(
            KernelSlope.of,
            kernel=kernel,
            points=points,
            mean=mean,
            learned=_from_left(points.lower, learned),
            noise=noise,
            shift=shift,
        ),
        data,
        rows=_block_rows(points),
    )
    gradient = slope.gradient + kernel.contract_gradient(of_points, x)
    # The jitter is in proportion to the largest variance of a point.
    diagonal = kernel.diagonal(x)
    largest = np.arange(m) == np.argmax(diagonal)
    relative = points.jitter / float(diagonal[largest][0])
    gradient += kernel.contract_diagonal(relative * float(np.trace(of_points)) * largest, x)
    # By log σ²; uᵀ K_MM u = |Lᵀu|² = |coef|², tr(Σ̂⁻¹ K_MM) σ² = tr B⁻¹.
    trace = float(np.sum(white**2))
    explained = noise * float(np.sum((found.lower.T @ found.coef) ** 2))  # bᵀu
    by_noise = 0.5 * (
        -(sums.weight - m)
        - trace
        + (sums.square - explained) / noise
        - float(found.coef @ found.coef)
        + found.trace_gap / noise
    )
    return found, gradient, by_noise


def pivoted_cholesky(kernel: Any, x: np.ndarray, n_points: int) -> np.ndarray:
    """Return the positions of rows in the order of a Cholesky factor with pivots, fewer where the rank ends.

    Each is the row of which the ones before leave the largest variance: O(n M²) time.

    Parameters
    ----------
    kernel : kernel
        k.
    x : array (n, d)
        Rows.
    n_points : int
        How many at most.

    Examples
    --------
    >>> from tractable.kernels import RBF
    >>> pivoted_cholesky(RBF(), np.array([[0.0], [0.1], [5.0], [2.0]]), 3).tolist()
    [0, 2, 3]
    """
    rest = np.array(kernel.diagonal(x), dtype=np.float64)
    least = DEPENDENT * float(rest.max(initial=0.0))
    columns, chosen = np.empty((n_points, len(x))), []
    for k in range(min(n_points, len(x))):
        pivot = int(np.argmax(rest))
        if rest[pivot] <= least:
            break
        column = kernel(x[pivot : pivot + 1], x)[0] - columns[:k, pivot] @ columns[:k]
        columns[k] = column / np.sqrt(rest[pivot])
        rest = np.maximum(rest - columns[k] ** 2, 0.0)
        rest[pivot] = 0.0
        chosen.append(pivot)
    return np.array(chosen, dtype=np.int64)


@value
class Nystrom:
    """K ≈ F Fᵀ through landmarks: K_NM K_MM⁻¹ K_MN, and its error.

    Parameters
    ----------
    factor : array (n, M)
        F = K_NM L⁻ᵀ.
    error : float
        tr(K - F Fᵀ), the sum of the eigenvalues that are left out.
    """

    factor: np.ndarray
    error: float

    @property
    def matrix(self) -> np.ndarray:
        """F Fᵀ, (n, n)."""
        return self.factor @ self.factor.T

    def eigenpairs(self) -> tuple[np.ndarray, np.ndarray]:
        """Return eigenvalues (M,), the largest first, and eigenvectors (n, M) of the approximation."""
        vectors, s, _ = np.linalg.svd(self.factor, full_matrices=False)
        return s**2, vectors


def nystrom(kernel: Any, x: Any, landmarks: Any) -> Nystrom:
    """Return Nyström's approximation of a kernel's matrix, exact where its rank is that of the landmarks.

    Parameters
    ----------
    kernel : Kernel
        k.
    x : array (n, d)
        Rows.
    landmarks : array (M, d)
        Rows through which the others are seen.

    Examples
    --------
    >>> from tractable.kernels import Linear
    >>> x = np.array([[1.0], [2.0], [4.0]])
    >>> found = nystrom(Linear(), x, x[:2])  # two features
    >>> found.matrix.round(6).tolist() == Linear()(x).tolist()
    True
    """
    if not callable(getattr(kernel, "diagonal", None)):
        raise ValueError(f"kernel must be a kernel, a value of tractable.kernels, got {kernel!r:.60}")
    x, z = as_reals("x", x).astype(np.float64), as_reals("landmarks", landmarks).astype(np.float64)
    if z.ndim != 2 or x.ndim != 2 or not len(z) or z.shape[1] != x.shape[1]:
        raise ValueError(
            f"landmarks must be rows of as many columns as x, got shapes {z.shape} and {x.shape}"
        )
    for name, rows in (("x", x), ("landmarks", z)):
        if not np.isfinite(rows).all():
            raise ValueError(f"{name} must be finite: it contains NaN or infinity")
    matrix = kernel(z)
    values, vectors = np.linalg.eigh(matrix)
    kept = values > len(z) * np.finfo(np.float64).eps * values[-1]
    factor = kernel(x, z) @ (vectors[:, kept] / np.sqrt(values[kept]))
    gap = float(np.sum(kernel.diagonal(x)) - np.sum(factor**2))
    return Nystrom(factor=factor, error=max(gap, 0.0))
