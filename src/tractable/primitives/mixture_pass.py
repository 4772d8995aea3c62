"""One pass of EM over rows: responsibilities, and the sums they weight."""

from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, is_numpy_array
from tractable.primitives._agnostic.mixture_pass import mixture_pass as agnostic

__all__ = ["LINEAR", "PRODUCTS", "SQUARES", "SUM_OF_SQUARES", "mixture_pass", "n_features"]

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
        return agnostic(x, weights, shift, scale, natural, kind)
    from tractable.primitives._compiled.mixture_pass import mixture_pass as compiled

    K, P = natural.shape
    # The small-matrix kernels of BLAS copy nothing while m·n·k stays below a million.
    block = int(np.clip(1_000_000 // (K * P) // 32 * 32, 64, 512))
    x = x if x.dtype == np.float64 else x.astype(np.float64)
    w = np.empty(0) if weights is None else weights
    sums, evidence = compiled(x, w, shift, scale, np.ascontiguousarray(natural), kind, block)
    return sums.T, evidence
