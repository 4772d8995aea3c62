"""The whitened pass of `tractable.primitives.em` for rows of many columns: products of matrices, by BLAS."""

from typing import Any

import numpy as np

from tractable.arrays.linalg import times_triangle
from tractable.arrays.log_space import softmax_and_log_sum
from tractable.primitives import SILENT, as_double
from tractable.primitives.threads import even_blocks, single_threaded_blas

#: Rows of a block: many for BLAS, and few for the cache.
ROWS = 512

#: Responsibilities below count for nothing; denormals would make products a hundred times slower.
LEAST = np.exp(-230.0)


@single_threaded_blas()  # the same sums whatever the number of threads
@SILENT
def whitened_pass(
    x: np.ndarray,
    w: np.ndarray | None,
    shift: np.ndarray,
    scale: np.ndarray,
    means: np.ndarray,
    whiteners: np.ndarray,
    log_constants: np.ndarray,
    white: bool,
) -> Any:
    """See `tractable.primitives.em.whitened_pass`; sums are symmetric matrices (K, 1 + d, 1 + d)."""
    K, d = means.shape
    alive = np.flatnonzero(log_constants > -np.inf)
    sums, evidence = np.zeros((K, 1 + d, 1 + d)), 0.0
    blocks = even_blocks(len(x), ROWS)
    most = blocks[0].stop if blocks else 0
    rows, u, products = np.empty((most, d)), np.empty((most, 1 + d)), np.empty((1 + d, 1 + d))
    for part in blocks:
        z = as_double(x[part]) - shift
        z *= scale
        y = rows[: len(z)]
        log_joint = np.empty((len(alive), len(z)))
        for j, k in enumerate(alive):
            times_triangle(np.subtract(z, means[k], out=y), whiteners[k], transposed=True)
            log_joint[j] = log_constants[k] - 0.5 * np.einsum("ij,ij->i", y, y)
        r, log_p = softmax_and_log_sum(log_joint, axis=0)
        evidence += float(np.sum(log_p if w is None else log_p * w[part]))
        r[:, log_p == -np.inf] = 0.0
        r[r < LEAST] = 0.0
        if w is not None:
            r *= w[part]
        for r_k, k in zip(r, alive, strict=True):
            some = np.flatnonzero(r_k > 0.0)
            if len(some):
                y = np.subtract(z[some], means[k], out=rows[: len(some)])
                if white:
                    times_triangle(y, whiteners[k], transposed=True)
                root, v = np.sqrt(r_k[some]), u[: len(some)]
                v[:, 0] = root
                np.multiply(y, root[:, None], out=v[:, 1:])
                sums[k] += np.dot(v.T, v, out=products)
    return sums, evidence
