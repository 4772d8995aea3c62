"""The passes of `tractable.primitives.em` over complete rows in NumPy: products of matrices, by BLAS."""

from typing import Any

import numpy as np

from tractable.arrays.linalg import times_triangle
from tractable.arrays.log_space import softmax_and_log_sum
from tractable.primitives import SILENT, as_double
from tractable.primitives.em import agnostic
from tractable.primitives.threads import even_blocks, single_threaded_blas

#: Rows of a block: many for BLAS, and few for the cache; more where they have few features.
ROWS, FEATURES = 512, 2**16

#: Responsibilities below count for nothing; denormals would make products a hundred times slower.
LEAST = np.exp(-230.0)


@single_threaded_blas()  # the same sums whatever the number of threads
def mixture_pass(
    x: np.ndarray, w: np.ndarray | None, shift: np.ndarray, scale: np.ndarray, natural: np.ndarray, kind: int
) -> Any:
    """See `tractable.primitives.em.mixture_pass`."""
    sums, evidence = np.zeros_like(natural), 0.0
    for part in even_blocks(len(x), max(ROWS, FEATURES // natural.shape[1])):
        weights = None if w is None else w[part]
        found = agnostic.mixture_pass(as_double(x[part]), weights, shift, scale, natural, kind)
        sums, evidence = sums + found[0], evidence + float(found[1])
    return sums, evidence


@single_threaded_blas()
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
    """See `tractable.primitives.em.whitened_pass`; sums of products are (K, 1 + d, 1 + d), symmetric."""
    (K, d), diagonal = means.shape, whiteners.ndim == 2
    alive = np.flatnonzero(log_constants > -np.inf).tolist()
    sums, evidence = np.zeros((K, 1 + 2 * d) if diagonal else (K, 1 + d, 1 + d)), 0.0
    blocks = even_blocks(len(x), max(ROWS, FEATURES // (2 * d)) if diagonal else ROWS)
    most = blocks[0].stop if blocks else 0
    rows, products = np.empty((most, d)), None if diagonal else np.empty((1 + d, 1 + d))
    features = np.empty((most, sums.shape[1]))

    def centred(z: np.ndarray, k: int, whiten: bool) -> np.ndarray:
        y = np.subtract(z, means[k], out=rows[: len(z)])
        if not whiten:
            return y
        return (
            np.multiply(y, whiteners[k], out=y)
            if diagonal
            else times_triangle(y, whiteners[k], transposed=True)
        )

    for part in blocks:
        z = as_double(x[part]) - shift
        z *= scale
        log_joint = np.empty((len(alive), len(z)))
        for j, k in enumerate(alive):
            y = centred(z, k, whiten=True)
            log_joint[j] = log_constants[k] - 0.5 * np.einsum("ij,ij->i", y, y)
        r, log_p = softmax_and_log_sum(log_joint, axis=0)
        evidence += float(np.sum(log_p if w is None else log_p * w[part]))
        r[:, log_p == -np.inf] = 0.0
        r[r < LEAST] = 0.0
        if w is not None:
            r *= w[part]
        for j, k in enumerate(alive):
            some = np.flatnonzero(r[j])
            chosen, r_k = (z, r[j]) if len(some) == len(z) else (z[some], r[j, some])
            y, t = centred(chosen, k, white), features[: len(some)]
            if diagonal:
                t[:, 0], t[:, 1 : 1 + d] = 1.0, y
                np.multiply(y, y, out=t[:, 1 + d :])
                sums[k] += np.dot(r_k, t)
            else:
                root = np.sqrt(r_k)
                t[:, 0] = root
                np.multiply(y, root[:, None], out=t[:, 1:])
                sums[k] += np.dot(t.T, t, out=products)
    return sums, evidence
