"""The small matrices of `tractable.primitives.factors` in NumPy, all patterns at once."""

import numpy as np


def latent_moments(
    matrices: np.ndarray, shift: np.ndarray, b: np.ndarray, begins: np.ndarray, w: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, float, float]:
    """Return Σ over the rows of each pattern of w E[z] and w E[z zᵀ], of z with mean M⁻¹ (b - shift).

    Parameters
    ----------
    matrices : array (P, q)
        M of each pattern, packed.
    shift : array (P, r)
    b : array (n, r)
        Of the rows, pattern after pattern.
    begins : array (P + 1,)
        Where the rows of each pattern begin.
    w : array (n,)
        How often each row counts.

    Returns
    -------
    wz : array (n, r)
        w E[z] of each row.
    first, second : arrays (P, r) and (P, q)
        The sums, packed.
    explained : float
        Σ w (b - shift)ᵀ E[z].
    log_det : float
        Σ w log |M|.
    """
    r = b.shape[1]
    i, j = np.tril_indices(r)
    full = np.empty((len(matrices), r, r))
    full[:, i, j] = full[:, j, i] = matrices
    inverse, logs = np.linalg.inv(full), np.linalg.slogdet(full)[1]
    pattern = patterns_of(begins)
    centred = b - shift[pattern]
    z = np.einsum("nij,nj->ni", inverse[pattern], centred)
    wz = z * w[:, None]
    second = wz[:, i] * z[:, j] + w[:, None] * inverse[pattern][:, i, j]
    totals = [np.add.reduceat(part, begins[:-1], axis=0) if len(part) else part for part in (wz, second)]
    return wz, totals[0], totals[1], float(np.sum(wz * centred)), float(w @ logs[pattern])


def patterns_of(begins: np.ndarray) -> np.ndarray:
    """Return the number of the pattern of each row, (n,)."""
    return np.repeat(np.arange(len(begins) - 1), np.diff(begins))
