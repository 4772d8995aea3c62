"""One pass of EM over rows: responsibilities, and the sums they weight."""

from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, is_numpy_array
from tractable.primitives.em import agnostic

__all__ = [
    "LINEAR",
    "PRODUCTS",
    "SQUARES",
    "SUM_OF_SQUARES",
    "mixture_pass",
    "n_features",
    "whitened_diagonal_pass",
    "whitened_pass",
]

#: Which second-order features T(x) has: none, |x|², x_i², or x_i x_j for i ≤ j.
LINEAR, SUM_OF_SQUARES, SQUARES, PRODUCTS = range(4)


def n_features(d: int, kind: int) -> int:
    """Return the number of features of rows of d columns, the leading 1 included."""
    return 1 + d + (0, 1, d, d * (d + 1) // 2)[kind]


def mixture_pass(
    x: Array, weights: Array | None, shift: Array, scale: Array, natural: Array, kind: int
) -> tuple[Array, Any]:
    """Sum r_k(x) T(x) and log p(x) over rows, for a mixture of exponential families.

    With T(x) = [1, x, second-order terms] of the shifted and scaled rows and natural parameters η_k, the log
    of p(x, k) is η_k · T(x); responsibilities are its softmax. Both halves are matrix products on a block of
    rows that stays in cache; no array of the size of the data is made.

    Parameters
    ----------
    x : array (n, d)
    weights : array (n,) or None
        How often each row counts.
    shift, scale : arrays (d,)
        T is taken of ``(x - shift) * scale``.
    natural : array (K, P)
    kind : int
        Which second-order features there are.

    Returns
    -------
    sums : array (K, P)
        Σ_n w_n r_nk T(x_n).
    evidence : float
        Σ_n w_n log Σ_k exp(η_k · T(x_n)).

    Examples
    --------
    >>> natural = np.array([[0.0, -1.0], [0.0, 1.0]])
    >>> sums, _ = mixture_pass(np.array([[20.0], [-20.0]]), None, np.zeros(1), np.ones(1), natural, LINEAR)
    >>> sums.round(6).tolist()
    [[1.0, -20.0], [1.0, 20.0]]
    """
    if not is_numpy_array(x):
        return agnostic.mixture_pass(x, weights, shift, scale, natural, kind)
    from tractable.primitives.em.compiled_mixture import mixture_pass as compiled

    K, P = natural.shape
    # The small-matrix kernels of BLAS copy nothing while m·n·k stays below a million.
    block = int(np.clip(1_000_000 // (K * P) // 32 * 32, 64, 512))
    sums, evidence = compiled(*_rows(x, weights), shift, scale, np.ascontiguousarray(natural), kind, block)
    return sums.T, evidence


def whitened_pass(
    x: Array,
    weights: Array | None,
    shift: Array,
    scale: Array,
    means: Array,
    whiteners: Array,
    log_constants: Array,
    *,
    white: bool = False,
) -> tuple[Array, Any]:
    """Sum r_k(z) [1, z - m_k, products] and log p(z) over rows z = (x - shift) * scale, for Gaussians.

    With y_k = W_k (z - m_k), the log of p(z, k) is c_k - |y_k|² / 2. Errors are of the order of eps |W_k| |z|
    where natural parameters have eps |W_k|² |z|². Rows without responsibility cost a component nothing more.

    Parameters
    ----------
    x : array (n, d)
    weights : array (n,) or None
        How often each row counts.
    shift, scale : arrays (d,)
    means : array (K, d)
        Of z; those of components with log constant -inf are not read.
    whiteners : array (K, d, d)
        W_k: inverses of lower Cholesky factors. Entries above the diagonal must be zero.
    log_constants : array (K,)
        c_k = log π_k + log |W_k| - d/2 log 2π; -inf for a component without weight.
    white : bool
        Take the sums of y_k instead of z - m_k, for covariances near singular: with s and S the mean and
        covariance of y_k, m_k + L_k s and the factor L_k chol(S) keep digits that L_k S L_kᵀ would not.

    Returns
    -------
    sums : array (K, 1 + d + d (d + 1) / 2)
        Σ_n w_n r_nk [1, z_n - m_k, (z_n - m_k)_i (z_n - m_k)_j for i ≤ j].
    evidence : float
        Σ_n w_n log p(z_n). Rows that no component explains make it -inf, and count for nothing in the sums.

    Examples
    --------
    >>> sums, _ = whitened_pass(
    ...     np.array([[1e8 + 1.0], [-1e8]]), None, np.zeros(1), np.ones(1),
    ...     means=np.array([[1e8], [-1e8]]), whiteners=np.ones((2, 1, 1)), log_constants=np.zeros(2),
    ... )
    >>> sums.tolist()
    [[1.0, 1.0, 1.0], [1.0, 0.0, 0.0]]
    """
    if not is_numpy_array(x):
        return agnostic.whitened_pass(x, weights, shift, scale, means, whiteners, log_constants, white)
    from tractable.primitives.em.compiled_whitened import whitened_pass as compiled

    n, d = x.shape
    sums, evidence = compiled(
        *_rows(x, weights), shift, scale, _dense(means), _dense(whiteners), log_constants, white, _block(n, d)
    )
    first, second = np.triu_indices(1 + d)
    return sums[:, first, second], evidence


def whitened_diagonal_pass(
    x: Array,
    weights: Array | None,
    shift: Array,
    scale: Array,
    means: Array,
    whiteners: Array,
    log_constants: Array,
) -> tuple[Array, Any]:
    """Sum r_k(z) [1, z - m_k, (z - m_k)²] and log p(z) over rows, for Gaussians of independent columns.

    Parameters
    ----------
    x : array (n, d)
    weights : array (n,) or None
    shift, scale : arrays (d,)
    means : array (K, d)
    whiteners : array (K, d)
        Reciprocal standard deviations of z.
    log_constants : array (K,)

    Returns
    -------
    sums : array (K, 1 + 2 d)
    evidence : float

    Examples
    --------
    >>> sums, evidence = whitened_diagonal_pass(
    ...     np.array([[1.0, 3.0]]), None, np.zeros(2), np.ones(2),
    ...     means=np.zeros((1, 2)), whiteners=np.ones((1, 2)), log_constants=np.zeros(1),
    ... )
    >>> sums.tolist(), evidence
    ([[1.0, 1.0, 3.0, 1.0, 9.0]], -5.0)
    """
    if not is_numpy_array(x):
        return agnostic.whitened_diagonal_pass(x, weights, shift, scale, means, whiteners, log_constants)
    from tractable.primitives.em.compiled_whitened import whitened_diagonal_pass as compiled

    n, d = x.shape
    return compiled(
        *_rows(x, weights), shift, scale, _dense(means), _dense(whiteners), log_constants, _block(n, d)
    )


def _rows(x: np.ndarray, weights: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
    return np.asarray(x, dtype=np.float64), np.empty(0) if weights is None else weights


def _dense(x: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(x, dtype=np.float64)


def _block(n: int, d: int) -> int:
    """Return how many rows stay in the first-level cache, with a copy; a multiple of the vectors' width."""
    return int(min(np.clip(4096 // max(1, d) // 32 * 32, 64, 512), -(-max(1, n) // 32) * 32))
