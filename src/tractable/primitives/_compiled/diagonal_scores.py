"""See `tractable.primitives.diagonal_scores`."""

import numpy as np
from numba import njit

__all__ = ["diagonal_scores", "softmax_rows"]

_FAST = {"contract", "nsz", "arcp", "reassoc"}


@njit(nogil=True, cache=True, error_model="numpy", fastmath=_FAST)
def diagonal_scores(x, means, scales, log_norms, out):  # type: ignore[no-untyped-def]
    """See `tractable.primitives.diagonal_scores.diagonal_scores`."""
    n, d = x.shape
    K = len(means)
    whole = np.zeros(K)
    for k in range(K):
        for j in range(d):
            whole[k] += log_norms[k, j]
    row = np.empty(d)
    for i in range(n):
        missing = False
        for j in range(d):
            row[j] = x[i, j]
            missing |= np.isnan(row[j])
        if missing:
            _observed(row, means, scales, log_norms, out[i])
            continue
        for k in range(K):
            centre, scale = means[k], scales[k]
            away = 0.0
            for j in range(d):
                z = (row[j] - centre[j]) * scale[j]
                away += z * z
            out[i, k] = whole[k] - 0.5 * away


@njit(nogil=True, cache=True, error_model="numpy", fastmath=_FAST)
def _observed(row, means, scales, log_norms, out):  # type: ignore[no-untyped-def]
    for k in range(len(means)):
        found = 0.0
        for j in range(len(row)):
            if not np.isnan(row[j]):
                z = (row[j] - means[k, j]) * scales[k, j]
                found += log_norms[k, j] - 0.5 * z * z
        out[k] = found


@njit(nogil=True, cache=True, error_model="numpy")
def softmax_rows(scores):  # type: ignore[no-untyped-def]
    """Replace scores by their shares, row by row; see `tractable.primitives.diagonal_scores.softmax_rows`."""
    n, K = scores.shape
    for i in range(n):
        row = scores[i]
        top = row[0]
        for k in range(1, K):
            top = max(top, row[k])
        total = 0.0
        for k in range(K):
            # Where all are -inf, or some +inf, equal scores still have equal shares.
            row[k] = 1.0 if row[k] == top else np.exp(row[k] - top)
            total += row[k]
        for k in range(K):
            row[k] /= total
