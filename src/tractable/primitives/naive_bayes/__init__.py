"""Moments of every column class by class, and log-densities of rows given each class."""

from typing import Any

import numpy as np

from tractable.arrays.namespace import Array
from tractable.primitives import as_double, runs_compiled
from tractable.primitives.naive_bayes import agnostic

__all__ = [
    "category_counts",
    "category_scores",
    "class_moments",
    "class_sums",
    "diagonal_scores",
    "softmax_rows",
    "sparse_class_sums",
]


def class_moments(
    x: Array, codes: Array, n_classes: int, weights: Array | None = None
) -> tuple[Array, Array, Array, Array]:
    """Return the moments of every column class by class, without sorting the rows.

    Scatters are about the means, found first, and corrected for the rounding of these: rows far from the
    origin keep their digits.

    Parameters
    ----------
    x : array (n, d)
        A missing entry (NaN) counts for nothing.
    codes : array (n,) of int
        The class of each row, from 0 to K - 1.
    n_classes : int
        K.
    weights : array (n,), optional
        How often each row counts.

    Returns
    -------
    weight, mean, scatter : arrays (K, d)
        Of the observed entries; the weight is (K, 1) where none is missing.
    total : array (K,)
        Weight of the rows of each class.

    Examples
    --------
    >>> x = np.array([[1.0, 5.0], [3.0, np.nan], [7.0, 2.0]])
    >>> weight, mean, scatter, total = class_moments(x, np.array([0, 0, 1]), 2)
    >>> weight.tolist(), mean.tolist(), scatter.tolist(), total.tolist()
    ([[2.0, 1.0], [1.0, 1.0]], [[2.0, 5.0], [7.0, 2.0]], [[2.0, 0.0], [0.0, 0.0]], [2.0, 1.0])
    """
    if not runs_compiled(x, 9 * x.shape[0] * x.shape[1]):
        return agnostic.class_moments(x, codes, n_classes, weights)
    from tractable.primitives.naive_bayes.compiled import class_moments as compiled

    return compiled(x, codes, weights, n_classes)


def class_sums(
    x: np.ndarray,
    codes: np.ndarray,
    n_classes: int,
    weights: Any = None,
    *,
    within: tuple[float, float] = (-np.inf, np.inf),
    above: float | None = None,
) -> np.ndarray:
    """Return the sum of every column class by class, (K, d), without sorting the rows.

    All are NaN where an entry is missing (NaN), or not within an interval: one pass sums, and checks.

    Parameters
    ----------
    x, codes, n_classes, weights
        As in `class_moments`.
    within : pair of float
        The smallest and the largest entry there may be.
    above : float, optional
        A threshold: entries above count one, and others zero.

    Examples
    --------
    >>> x, codes = np.array([[1.0, 5.0], [3.0, 0.0], [7.0, 2.0]]), np.array([0, 0, 1])
    >>> class_sums(x, codes, 2).tolist(), class_sums(x, codes, 2, above=2.5).tolist()
    ([[4.0, 5.0], [7.0, 2.0]], [[1.0, 1.0], [1.0, 0.0]])
    >>> class_sums(x, codes, 2, within=(0.0, 6.0)).tolist()
    [[nan, nan], [nan, nan]]
    """
    if not runs_compiled(x, 16 * x.shape[0] * x.shape[1]):
        return agnostic.class_sums(x, codes, n_classes, weights, within=within, above=above)
    from tractable.primitives.naive_bayes import compiled

    out = np.zeros((n_classes, x.shape[1]))
    if above is None:
        compiled.class_sums(x, codes, weights, *within, out)
    else:
        compiled.class_sums_above(x, codes, weights, *within, above, out)
    return out


def category_counts(
    x: np.ndarray, codes: np.ndarray, n_classes: int, weights: Any, n_categories: int
) -> np.ndarray | None:
    """Return how often each column has each category class by class, (K, d, C); None if x has fractions.

    Parameters
    ----------
    x : array (n, d)
        Codes 0, …, C - 1 of categories; a missing entry (NaN) counts for nothing.
    codes, n_classes, weights
        As in `class_moments`.
    n_categories : int
        C.

    Examples
    --------
    >>> x = np.array([[0.0, 1.0], [1.0, np.nan], [1.0, 0.0]])
    >>> category_counts(x, np.array([0, 0, 1]), 2, None, 2).tolist()
    [[[1.0, 1.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]]
    """
    if not runs_compiled(x, 16 * x.shape[0] * x.shape[1]):
        return agnostic.category_counts(x, codes, n_classes, weights, n_categories)
    from tractable.primitives.naive_bayes.compiled import category_counts as compiled

    out = np.zeros((n_classes, x.shape[1], n_categories))
    return out if compiled(x, codes, weights, out) else None


def sparse_class_sums(
    X: Any, codes: np.ndarray, n_classes: int, weights: np.ndarray | None = None
) -> np.ndarray:
    """Return the sum of every column class by class, (K, d), in one walk over stored entries.

    Parameters
    ----------
    X : (n, d) sparse matrix or array of SciPy, CSR, no entry stored twice
    codes, n_classes, weights
        As in `class_moments`.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> X = csr_array([[1.0, 0.0], [3.0, 0.0], [0.0, 2.0]])
    >>> sparse_class_sums(X, np.array([0, 0, 1]), 2).tolist()
    [[4.0, 0.0], [0.0, 2.0]]
    """
    if not runs_compiled(X.data, 32 * X.nnz):
        return agnostic.sparse_class_sums(X, codes, n_classes, weights)
    from tractable.primitives.naive_bayes.compiled import sparse_class_sums as compiled

    out = np.zeros((n_classes, X.shape[1]))
    columns = X.indices.astype(np.int32, copy=False).view(np.uint32)
    compiled(X.data, columns, X.indptr, codes, weights, out)
    return out


def diagonal_scores(x: Array, means: Array, scales: Array, log_norms: Array) -> Array:
    """Return Σ_j c_kj - ½ ((x_j - μ_kj) s_kj)², (n, K), over the entries of a row that are not missing (NaN).

    The differences are taken first and squared then, so that nothing cancels, wherever rows lie.

    Parameters
    ----------
    x : array (n, d)
    means, scales : arrays (K, d)
        μ and the reciprocals of the standard deviations.
    log_norms : array (K, d)
        c, the log density at the mean.

    Examples
    --------
    >>> x, two = np.array([[0.0], [3.0], [np.nan]]), np.array([[0.0], [4.0]])
    >>> diagonal_scores(x, two, np.ones((2, 1)), np.zeros((2, 1))).tolist()
    [[0.0, -8.0], [-4.5, -0.5], [0.0, 0.0]]
    """
    if not runs_compiled(x, 8 * x.shape[0] * means.shape[0] * means.shape[1]):
        return agnostic.diagonal_scores(x, means, scales, log_norms)
    from tractable.primitives.naive_bayes.compiled import diagonal_scores as compiled

    out = np.empty((len(x), len(means)))
    compiled(x, means, scales, log_norms, out)
    return out


def softmax_rows(scores: Array) -> Array:
    """Return exp(score) / Σ exp(score) for each row of scores, (n, K); equal scores have equal results.

    Examples
    --------
    >>> softmax_rows(np.log([[1.0, 3.0]])).round(6).tolist(), softmax_rows(np.full((1, 2), -np.inf)).tolist()
    ([[0.25, 0.75]], [[0.5, 0.5]])
    """
    if not runs_compiled(scores, 16 * scores.shape[0] * scores.shape[1]):
        return agnostic.softmax_rows(as_double(scores))
    from tractable.primitives.naive_bayes.compiled import softmax_rows as compiled

    out = np.array(scores, dtype=np.float64, order="C")
    compiled(out)
    return out


def category_scores(x: Array, tables: Array, starts: Array) -> Array:
    """Return Σ_j tables[starts_j + x_j], (n, K), over the entries of a row that are not missing (NaN).

    Parameters
    ----------
    x : array (n, d)
        Codes 0, 1, … of categories.
    tables : array (m, K)
        Log-probability of a category given each of K classes, the tables of the columns one after the other.
    starts : array (d,) of int
        Where the table of each column begins.

    Examples
    --------
    >>> x, tables = np.array([[0.0, 1.0], [1.0, np.nan]]), np.array([[1.0], [2.0], [10.0], [20.0]])
    >>> category_scores(x, tables, np.array([0, 2])).tolist()
    [[21.0], [2.0]]
    """
    if not runs_compiled(x, 8 * x.shape[0] * x.shape[1] * tables.shape[1]):
        return agnostic.category_scores(x, tables, starts)
    from tractable.primitives.naive_bayes.compiled import category_scores as compiled

    out = np.zeros((len(x), tables.shape[1]))
    compiled(x, tables, starts, out)
    return out
