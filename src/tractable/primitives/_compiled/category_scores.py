"""See `tractable.primitives.category_scores`."""

import numpy as np
from numba import njit

__all__ = ["category_scores"]


@njit(nogil=True, cache=True, error_model="numpy")
def category_scores(x, tables, starts, out):  # type: ignore[no-untyped-def]
    """Add to `out` what the categories of each row say; see `tractable.primitives.category_scores`."""
    n, d = x.shape
    K = tables.shape[1]
    for i in range(n):
        row = out[i]
        for j in range(d):
            if not np.isnan(x[i, j]):
                said = tables[starts[j] + np.int64(x[i, j])]
                for k in range(K):
                    row[k] += said[k]
