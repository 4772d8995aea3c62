"""Principal components of rows or of their statistic, by whichever decomposition is smallest."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tractable.arrays.linalg import product
from tractable.arrays.namespace import (
    Array,
    device,
    is_numpy_array,
    is_sparse,
    namespace_of,
    to_numpy,
)
from tractable.arrays.random import as_generator, either_seed_name
from tractable.arrays.svd import orientation
from tractable.data import Batch, SparseSource, as_source
from tractable.engines.eigenpairs import lanczos, symmetric_product
from tractable.engines.fold import fold
from tractable.primitives.sparse_rows import StandardizedSparse, sparse_moments
from tractable.primitives.threads import blas_for_rows
from tractable.statistics import DiagonalMoments, ScatterFactor
from tractable.value import value

#: The solvers, by scikit-learn's names, and "dual", which has none there.
SOLVERS = ("auto", "full", "covariance_eigh", "dual", "arpack", "randomized")

#: Matrices so wide have few eigenvectors found one by one (Lanczos), if fewer than one in `RARE` is wanted.
WIDE, RARE = 300, 12

#: Eigenvalues of AAᵀ and AᵀA below this fraction of the largest have lost half of their digits.
SAFE_RATIO = 1e-10

#: Largest variance of a column, as a fraction of the largest mean square, from which products about the
#: origin have the digits of products about the mean.
LEAST_SPREAD = 1e-3

#: Residual, relative to their eigenvalue, of eigenvectors of sparse rows.
LANCZOS = 1e-13

#: Directions beyond those wanted, and passes over the rows, of the randomised solver.
OVERSAMPLED, PASSES = 10, 6


@value
class PrincipalComponents:
    """Orthonormal directions of greatest variance, in order, and how much of the variance they have.

    Parameters
    ----------
    mean : array (d,)
        Mean of the rows.
    components : array (k, d)
        The directions u_i, one a row, the largest entry of each positive.
    singular_values : array (k,)
        s_i of the centred rows √w (x - mean): s_i² is the scatter along u_i.
    scatter : float
        Σ s_i² over all directions, found or not: the trace of the scatter.
    weight : float
        Total weight of the rows.
    """

    mean: Array
    components: Array
    singular_values: Array
    scatter: float
    weight: float

    @property
    def n_components(self) -> int:
        """Number k of the directions."""
        return int(self.components.shape[0])

    def variances(self, ddof: float = 0.0) -> Array:
        """Return the variance along each direction, s² / (weight - ddof): the eigenvalues λ, (k,)."""
        return self.singular_values**2 / max(self.weight - ddof, 1.0 if self.weight <= ddof else 0.0)

    @property
    def explained_variance_ratio(self) -> Array:
        """Fraction of the variance along each direction, (k,); zeros where nothing varies."""
        return self.singular_values**2 / (self.scatter if self.scatter > 0 else 1.0)

    @property
    def discarded_scatter(self) -> float:
        """Σ_{i>k} s_i², what the directions leave: the squared error of the projection."""
        return max(self.scatter - float(namespace_of(self.mean).sum(self.singular_values**2)), 0.0)

    def transform(self, x: Array) -> Array:
        """Return the scores z_i = (x - mean)ᵀu_i of rows, (n, k)."""
        return product(x - self.mean, self.components.T)

    def inverse_transform(self, z: Array) -> Array:
        """Return the rows mean + Σ z_i u_i of scores."""
        return product(z, self.components) + self.mean

    def leading(self, n_components: float | None) -> "PrincipalComponents":
        """Return the first of them: so many, or as many as have a fraction of the variance."""
        k = _count(self, n_components)
        return PrincipalComponents(
            mean=self.mean,
            components=self.components[:k, :],
            singular_values=self.singular_values[:k],
            scatter=self.scatter,
            weight=self.weight,
        )


@either_seed_name
def principal_components(
    x: Any,
    n_components: float | None = None,
    *,
    weights: Any = None,
    solver: str = "auto",
    rng: Any = None,
) -> PrincipalComponents:
    """Return the principal components of rows: Su = λu, of the largest λ, with S the scatter over the weight.

    They are the directions of greatest variance uᵀSu, and the subspace of least squared distance from the
    rows, Σ_{i>k} λ_i on average. Signs are fixed: the largest entry of each direction is positive (the first,
    of several), so that every solver and every machine has the same components.

    Parameters
    ----------
    x : array (n, d), or a source of rows
        Rows.
    n_components : int or float, optional
        How many; or in (0, 1) the fraction of the variance to reach with as few as possible; when not
        given, all d, or of fewer rows than columns all directions in which they vary.
    weights : array (n,), optional
        How often each row counts.
    solver : {"auto", "full", "covariance_eigh", "dual", "arpack", "randomized"}
        "covariance_eigh" decomposes the scatter (d, d), and "dual" the Gram matrix AAᵀ of few rows, of which
        unit eigenvectors v give u = Aᵀv / s; both square the condition. "full" decomposes the rows, or their
        triangular factor, into singular values, and keeps all digits. "arpack" finds a few eigenvectors of
        the smaller of the two matrices one by one. "randomized" (Halko, Martinsson and Tropp 2011) is
        approximate, and holds no matrix but d × k. "auto" takes the smaller of the two matrices, finds few
        of its eigenvectors or all, and falls back on "full" where digits would be lost and the rows are held.
    rng : None, int or Generator
        For "randomized"; the others are deterministic.

    Examples
    --------
    >>> rows = np.array([[0.0, 0.0], [1.0, 2.0], [2.0, 4.0]])
    >>> found = principal_components(rows, 1)
    >>> found.components.round(3).tolist(), found.variances().round(12).tolist()
    ([[0.447, 0.894]], [3.333333333333])
    >>> found.transform(rows).round(3).ravel().tolist()
    [-2.236, 0.0, 2.236]
    """
    if solver not in SOLVERS:
        raise ValueError(f"solver must be one of {[*SOLVERS]}, got {solver!r}")
    if solver == "randomized":
        return randomized_components(x, n_components, weights=weights, rng=rng)
    of = ScatterFactor.triangle_of if solver == "full" else ScatterFactor.of
    return components_of(fold(of, x, weights=weights), n_components, solver=solver)


def components_of(
    statistic: ScatterFactor, n_components: float | None = None, *, solver: str = "auto"
) -> PrincipalComponents:
    """Return the principal components of rows from their mean and scatter.

    Parameters
    ----------
    statistic : ScatterFactor
        Of the rows.
    n_components, solver
        As in `principal_components`; the randomised solver is for rows.

    Examples
    --------
    >>> halves = [ScatterFactor.of([[0.0, 0.0], [1.0, 2.0]]), ScatterFactor.of([[2.0, 4.0], [3.0, 6.0]])]
    >>> components_of(halves[0] + halves[1], 1).components.round(3).tolist()
    [[0.447, 0.894]]
    """
    most = _most(statistic)
    _check_components(n_components, most)
    if solver == "full":
        return _by_svd(statistic).leading(n_components)
    dual = statistic.is_wide if solver in ("auto", "arpack") else solver == "dual"
    if dual and statistic.factor is None:
        raise ValueError(
            f"solver='dual' is for fewer rows than columns, and there are {statistic.dim} columns and more "
            "rows; use 'covariance_eigh'"
        )
    return (_by_gram if dual else _by_scatter)(statistic, n_components, few=_few_wanted(solver))


def _most(statistic: ScatterFactor) -> int:
    return statistic.dim if statistic.factor is None else min(statistic.factor.shape)


def _check_components(n_components: Any, most: int) -> None:
    """Refuse a number of components that the rows do not have."""
    if n_components is None:
        return
    if isinstance(n_components, (int, np.integer)) and not isinstance(n_components, bool):
        if 1 <= n_components <= most:
            return
    elif isinstance(n_components, float) and 0.0 < n_components < 1.0:
        return
    raise ValueError(
        f"n_components must be a whole number from 1 to min(n_samples, n_features) = {most}, or a fraction "
        f"of the variance in (0, 1), got {n_components!r}"
    )


def _count(found: PrincipalComponents, n_components: float | None) -> int:
    """Return how many of the components are wanted."""
    if n_components is None:
        # Few rows vary in fewer directions than there are rows: the last singular values are rounding.
        singular = to_numpy(found.singular_values)
        columns = found.mean.shape[0]
        rounding = columns * float(np.finfo(singular.dtype).eps) * singular[0]
        few = found.n_components < columns
        return max(int(np.sum(singular > rounding)), 1) if few else found.n_components
    if isinstance(n_components, float) and n_components < 1.0:
        ratio = np.cumsum(to_numpy(found.explained_variance_ratio))
        # Rounding of the last digits does not ask for one more component.
        return min(int(np.searchsorted(ratio, n_components * (1.0 - 1e-12))) + 1, len(ratio))
    return int(n_components)


def _few_wanted(solver: str) -> Callable[[int, int], bool]:
    """Return the rule by which few eigenvectors of a matrix of so many rows are found one by one."""
    if solver == "arpack":
        return lambda n, k: k < n - 1
    if solver == "auto":
        return lambda n, k: n >= WIDE and k * RARE <= n
    return lambda _n, _k: False


def _by_svd(statistic: ScatterFactor) -> PrincipalComponents:
    xp = namespace_of(statistic.mean)
    if statistic.factor is None:
        raise ValueError(
            "solver='full' needs the statistic ScatterFactor.triangle_of, this one is of another"
        )
    _, singular, components = xp.linalg.svd(statistic.factor, full_matrices=False)
    return _result(statistic, singular, components.T)


def _by_scatter(
    statistic: ScatterFactor, n_components: Any, *, few: Callable[[int, int], bool]
) -> PrincipalComponents:
    """Decompose the scatter matrix (d, d)."""
    scatter = statistic.moments().scatter
    values, vectors = _leading_eigenpairs(scatter, n_components, statistic.trace(), few)
    xp = namespace_of(scatter)
    singular = xp.sqrt(xp.where(values > 0, values, xp.zeros_like(values)))
    most = min(_most(statistic), values.shape[0])
    return _result(statistic, singular[:most], vectors[:, :most]).leading(n_components)


def _by_gram(
    statistic: ScatterFactor, n_components: Any, *, few: Callable[[int, int], bool]
) -> PrincipalComponents:
    """Decompose the Gram matrix AAᵀ of m rows: AAᵀv = s²v of unit v, and u = Aᵀv / s."""
    a = statistic.factor
    assert a is not None
    xp, m = namespace_of(a), a.shape[0]
    # Centred rows have one direction fewer than there are rows.
    rank = max(m - 1, 1)
    wanted = n_components if isinstance(n_components, float) else min(n_components or rank, rank)
    values, vectors = _leading_eigenpairs(product(a, a.T), wanted, statistic.trace(), few)
    values, vectors = values[:rank], vectors[:, :rank]
    if not bool(values[-1] > SAFE_RATIO * values[0]) or (n_components or 0) > rank:
        return _by_svd(statistic).leading(n_components)
    singular = xp.sqrt(values)
    return _result(statistic, singular, product(a.T, vectors / singular)).leading(n_components)


def _leading_eigenpairs(
    matrix: Array, wanted: float | None, total: float, few: Callable[[int, int], bool]
) -> tuple[Array, Array]:
    """Return eigenvalues of a symmetric matrix, the largest first, and their vectors: those wanted, or more.

    A fraction needs no more than the trace, Σλ, beside the largest few (two, four, … of them, until they
    suffice).
    """
    n = matrix.shape[0]
    if is_numpy_array(matrix) and np.all(np.isfinite(matrix)):
        fraction = wanted if isinstance(wanted, float) else 0.0
        k = 8 if fraction else n if wanted is None else int(wanted)
        while few(n, k):
            values, vectors = _lanczos(matrix, k)
            if values.sum() >= fraction * (1.0 - 1e-12) * total:
                return values, vectors
            k *= 2
        if not fraction and k < n:
            from scipy.linalg import eigh

            # Threads of BLAS wait for each other over hundreds of rows: longer than the work takes.
            with blas_for_rows(n):
                values, vectors = eigh(matrix, subset_by_index=(n - k, n - 1), check_finite=False)
            return values[::-1], vectors[:, ::-1]
    xp = namespace_of(matrix)
    with blas_for_rows(n):
        values, vectors = xp.linalg.eigh(matrix)
    return xp.flip(values, axis=-1), xp.flip(vectors, axis=-1)


def _lanczos(matrix: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    size = float(np.max(np.abs(np.diagonal(matrix)))) or 1.0
    values, vectors = lanczos(symmetric_product(matrix / size), len(matrix), k)
    return size * values, vectors


def _result(statistic: ScatterFactor, singular: Array, directions: Array) -> PrincipalComponents:
    directions = directions * orientation(directions)
    return PrincipalComponents(
        mean=statistic.mean,
        components=directions.T,
        singular_values=singular,
        scatter=statistic.trace(),
        weight=float(statistic.weight),
    )


def sparse_scatter(rows: SparseSource) -> ScatterFactor | None:
    """Return the statistic of sparse rows by products of their columns; None where these lose digits."""
    held = rows.in_sparse_blocks()
    total, mean, scatter = sparse_moments(held.X, held.weights)
    squares = scatter + total * mean * mean  # of which the product with itself of the mean is subtracted
    if not float(np.max(squares)) * LEAST_SPREAD < float(np.max(scatter)):
        return None
    Z = _centred(held, mean)
    return ScatterFactor(weight=total, mean=mean, scatter=Z.gram(Z))


def sparse_components(rows: SparseSource, n_components: Any) -> PrincipalComponents:
    """Return the leading principal components of sparse rows, centred within products (Lanczos).

    Parameters
    ----------
    rows : SparseSource
        Rows, and how often each counts.
    n_components : int, or float in (0, 1)
        How many, or the fraction of the variance to reach with as few as possible.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> rows = csr_array([[0.0, 0.0, 1.0], [1.0, 2.0, 0.0], [2.0, 4.0, 1.0], [3.0, 6.0, 0.0]])
    >>> sparse_components(SparseSource(X=rows), 1).components.round(3).tolist()
    [[0.445, 0.891, -0.092]]
    """
    held = rows.in_sparse_blocks()
    n, d = held.X.shape
    _check_components(n_components, min(n, d))
    if n_components is None:
        raise ValueError(
            f"n_components must be given, as a number or a fraction of the variance: X is sparse and has {d} "
            "columns, of which not all components are computed"
        )
    total, mean, scatter = sparse_moments(held.X, held.weights)
    trace, Z = float(scatter.sum()), _centred(held, mean)
    size = trace if trace > 0.0 else 1.0
    fraction = n_components if isinstance(n_components, float) else 0.0
    k = 8 if fraction else int(n_components)
    while True:
        values, directions = _sparse_eigenpairs(Z, size, min(k, n, d))
        if values.sum() >= fraction * (1.0 - 1e-12) or k >= min(n, d):
            break
        k *= 2
    found = PrincipalComponents(
        mean=mean,
        components=(directions * orientation(directions)).T,
        singular_values=np.sqrt(np.maximum(size * values, 0.0)),
        scatter=trace,
        weight=float(total),
    )
    return found.leading(n_components)


def _centred(rows: SparseSource, mean: np.ndarray) -> StandardizedSparse:
    return StandardizedSparse(
        X=rows.X, shift=mean, root=None if rows.weights is None else np.sqrt(rows.weights)
    )


def _sparse_eigenpairs(Z: StandardizedSparse, size: float, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the largest eigenvalues of ZᵀZ over `size`, and their vectors u, (d, k).

    Of fewer rows than columns they are found from ZZᵀv = s²v: u = Zᵀv / s.
    """
    n, d = Z.shape
    if n < d and k < n - 1:
        values, vectors = lanczos(lambda v: (Z @ (v @ Z)) / size, n, k, tol=LANCZOS)
        if values[-1] > SAFE_RATIO * values[0]:
            return values, (vectors.T @ Z).T / np.sqrt(size * values)
    return lanczos(lambda v: ((Z @ v) @ Z) / size, d, k, tol=LANCZOS)


def randomized_components(
    x: Any, n_components: Any, *, weights: Any = None, rng: Any = None, n_passes: int = PASSES
) -> PrincipalComponents:
    """Return nearly the leading principal components, in a few passes over rows of many columns.

    Subspace iteration (Halko, Martinsson and Tropp 2011): Q ← orthonormal basis of S Q, from random Q of a
    few more columns than components, and at last the eigenvectors of QᵀSQ. S, of d × d, is never formed: a
    pass sums the products (x - mean)(x - mean)ᵀQ over blocks of rows, on all cores, or in a file.

    Parameters
    ----------
    x, weights
        As in `principal_components`.
    n_components : int
        How many.
    rng : None, int or Generator
        Where the start comes from.
    n_passes : int
        Passes; each brings the subspace nearer by the ratio of the first eigenvalue left out to the last one
        wanted.

    Examples
    --------
    >>> rows = np.random.default_rng(0).normal(size=(200, 30)) * 0.6 ** np.arange(30)
    >>> near = randomized_components(rows, 2, rng=0)
    >>> bool(np.allclose(near.components, principal_components(rows, 2).components, atol=1e-6))
    True
    """
    source = as_source(x, None, weights)
    moments = fold(DiagonalMoments.of, source)
    if not bool(namespace_of(moments.mean).all(moments.weight == moments.total)):
        raise ValueError("X contains NaN; principal components are of complete rows")
    d = moments.dim
    most = d if source.n_rows is None else min(d, source.n_rows)
    if not isinstance(n_components, (int, np.integer)):
        raise ValueError(
            "n_components must be a whole number for the randomised solver, which finds the leading "
            f"components alone, got {n_components!r}"
        )
    _check_components(n_components, most)
    width = min(n_components + OVERSAMPLED, most)
    xp, like = namespace_of(moments.mean), moments.mean
    start = as_generator(rng).standard_normal((d, width))
    basis = xp.linalg.qr(xp.asarray(start, dtype=xp.float64, device=device(like)), mode="reduced")[0]
    for step in range(n_passes):
        image = source.reduce(ScatterTimes(mean=like, basis=basis), label="passes over the rows")
        if step + 1 < n_passes:
            basis = xp.linalg.qr(image, mode="reduced")[0]
    inner = product(basis.T, image)
    values, turn = xp.linalg.eigh(0.5 * (inner + inner.T))
    values, turn = xp.flip(values, axis=-1)[:n_components], xp.flip(turn, axis=-1)[:, :n_components]
    directions = product(basis, turn)
    return PrincipalComponents(
        mean=like,
        components=(directions * orientation(directions)).T,
        singular_values=xp.sqrt(xp.where(values > 0, values, xp.zeros_like(values))),
        scatter=float(xp.sum(moments.scatter)),
        weight=float(moments.total),
    )


@value
class ScatterTimes:
    """Σ w (x - mean)(x - mean)ᵀ Q over a block of rows, (d, k)."""

    mean: Array
    basis: Array

    def __call__(self, block: Batch) -> Array:
        if is_sparse(block.X):
            Z = StandardizedSparse(X=block.X, shift=self.mean)
            sparse_scores = Z @ self.basis
            if block.weights is not None:
                sparse_scores *= block.weights[:, None]
            return (sparse_scores.T @ Z).T
        xp = namespace_of(self.mean)
        centred = xp.astype(block.X, xp.float64) - self.mean
        scores = product(centred, self.basis)
        if block.weights is not None:
            scores = scores * xp.asarray(block.weights, dtype=xp.float64)[:, None]
        return product(centred.T, scores)
