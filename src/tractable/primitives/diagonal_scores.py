"""Log densities of rows under several Gaussians of independent columns, and shares of scores."""

import numpy as np

from tractable.arrays.namespace import Array, is_numpy_array
from tractable.primitives._agnostic.diagonal_scores import diagonal_scores as agnostic
from tractable.primitives._agnostic.diagonal_scores import softmax_rows as agnostic_softmax

__all__ = ["diagonal_scores", "softmax_rows"]


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
    if not is_numpy_array(x):
        return agnostic(x, means, scales, log_norms)
    from tractable.primitives._compiled.diagonal_scores import diagonal_scores as compiled

    x = np.ascontiguousarray(x if x.dtype in (np.float64, np.float32) else x.astype(np.float64))
    out = np.empty((len(x), len(means)))
    compiled(x, *(np.ascontiguousarray(a, dtype=np.float64) for a in (means, scales, log_norms)), out)
    return out


def softmax_rows(scores: Array) -> Array:
    """Return exp(score) / Σ exp(score) for each row of scores, (n, K); equal scores have equal shares.

    Examples
    --------
    >>> softmax_rows(np.log([[1.0, 3.0]])).round(6).tolist(), softmax_rows(np.full((1, 2), -np.inf)).tolist()
    ([[0.25, 0.75]], [[0.5, 0.5]])
    """
    if not is_numpy_array(scores):
        return agnostic_softmax(scores)
    from tractable.primitives._compiled.diagonal_scores import softmax_rows as compiled

    out = np.array(scores, dtype=np.float64, order="C")
    compiled(out)
    return out
