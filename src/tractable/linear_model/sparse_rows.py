"""Least squares and ridge regression of sparse rows: by products with the stored entries."""

import warnings
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cholesky
from scipy.linalg.lapack import dpocon
from sklearn.exceptions import ConvergenceWarning

from tractable.data import SparseSource
from tractable.engines.fold import fold
from tractable.engines.least_squares import PointSolution
from tractable.engines.lsqr import lsqr
from tractable.primitives.sparse_rows import GRAM_COLUMNS, StandardizedSparse
from tractable.statistics import LinearFactor
from tractable.statistics.rows import counts

#: Reciprocal condition of these products below which they have lost digits that a QR keeps.
LEAST_CONDITION = 1e-6

#: Size of AᵀA's residual, relative to those of A and of the residuals, at which the iteration stops.
TOLERANCE = 1e-12


def sparse_factor(rows: SparseSource) -> LinearFactor:
    """Return the factor of sparse rows and their targets: the Cholesky factor of the centred products.

    Where columns are so nearly dependent, or targets so nearly fitted, that their products lose digits, it is
    the QR of the rows, dense block after block.
    """
    d = rows.n_features
    if d > GRAM_COLUMNS:
        raise ValueError(
            f"X is sparse and has {d} columns: sparse rows of more than {GRAM_COLUMNS} columns are solved by "
            "iteration, in `fit` alone, and have no statistic that merges"
        )
    X, targets, w = _held(rows)
    total = float(w.sum())
    if total > 0.0:
        weighted = X.multiply(w[:, None]).tocsr()
        cross = weighted.T @ targets
        products = np.block(
            [[(weighted.T @ X).toarray(), cross], [cross.T, targets.T @ (w[:, None] * targets)]]
        )
        mean = np.concatenate([X.T @ w, w @ targets]) / total
        factor = _well_conditioned_factor(products, mean, total)
        if factor is not None:
            return LinearFactor(
                weight=total, mean=mean, factor=factor, n_targets=targets.shape[1], flat=rows.y.ndim == 1
            )
    found: LinearFactor = fold(LinearFactor.of, rows)
    return found


def _held(rows: SparseSource) -> tuple[Any, np.ndarray, np.ndarray]:
    """Return the rows, their targets (n, t) and their weights (n,), in double precision."""
    X = rows.X.astype(np.float64, copy=False)
    targets = np.asarray(rows.y, dtype=np.float64).reshape(rows.n_rows, -1)
    return X, targets, np.asarray(counts(rows.weights, targets), dtype=np.float64)


def _well_conditioned_factor(products: np.ndarray, mean: np.ndarray, total: float) -> np.ndarray | None:
    """Return R with RᵀR the products less those of the means; None where it would lose digits."""
    length = np.sqrt(np.diag(products))
    if not np.all(length > 0.0) or not np.all(np.isfinite(length)):
        return None
    # Lengths about the origin: a column that varies little about its mean is ill-conditioned in them.
    scaled = (products - total * np.outer(mean, mean)) / np.outer(length, length)
    try:
        factor = cholesky(scaled)
    except LinAlgError:
        return None
    inverse_condition = dpocon(factor, np.abs(scaled).sum(axis=0).max())[0]
    return factor * length if inverse_condition > LEAST_CONDITION else None


#: Why rows of more columns have no standard errors.
ITERATED = (
    f"X was sparse with more than {GRAM_COLUMNS} columns, and the fit by iteration has coefficients and "
    "predictions alone; standard errors, leverages and the noise variance need fewer columns, or dense rows"
)


def solve_sparse(rows: SparseSource, alpha: float, *, fit_intercept: bool) -> PointSolution:
    """Minimise |y - Xw|² + α|w|², the intercept free, by LSQR on the centred rows, never made dense.

    Of several solutions without a penalty, it finds the one with the shortest coefficients (Paige & Saunders,
    1982).

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> rows = SparseSource(X=csr_array([[-1.0], [0.0], [1.0]]), y=np.array([-1.0, 1.0, 3.0]))
    >>> found = solve_sparse(rows, 2.0, fit_intercept=True)
    >>> found.coef.round(12).tolist(), found.intercept.round(12).tolist()
    ([[1.0]], [1.0])
    """
    X, targets, w = _held(rows)
    total = float(w.sum())
    if not total > 0.0:
        raise ValueError("sample_weight must have a positive sum")
    mean, offset = np.zeros(X.shape[1]), np.zeros(targets.shape[1])
    if fit_intercept:
        mean, offset = X.T @ w / total, w @ targets / total
    root = np.sqrt(w)
    Z = StandardizedSparse(X=X, shift=mean, root=None if rows.weights is None else root)
    found = [shortest_coefficients(Z, root * y, alpha) for y in (targets - offset).T]
    coef = np.stack([each for each, _ in found])
    residuals = targets - offset - (X @ coef.T - mean @ coef.T)
    intercept = offset - mean @ coef.T
    return PointSolution(coef=coef, intercept=intercept, rss=w @ residuals**2, reason=ITERATED)


def shortest_coefficients(Z: StandardizedSparse, y: np.ndarray, alpha: float) -> tuple[np.ndarray, int]:
    """Return the w of least |y - Zw|² + α|w|², of several the shortest, by LSQR, and its iterations."""
    most = 10 * max(Z.shape)
    found = lsqr(Z, y, alpha, tol=TOLERANCE, max_iter=most)
    if not found.converged:
        warnings.warn(
            f"LSQR did not converge in {most} iterations: columns are nearly dependent; a penalty helps "
            "(Ridge, or a larger alpha)",
            ConvergenceWarning,
            stacklevel=6,
        )
    return found.x, found.n_iter
