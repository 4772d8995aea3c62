"""The small matrices of `tractable.primitives.factors` in the array API, all patterns at once."""

import numpy as np

from tractable.arrays.devices import beside
from tractable.arrays.grouping import sums_by_label
from tractable.arrays.namespace import is_numpy_array, namespace_of


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
    xp, r, lower = namespace_of(b), b.shape[1], np.tril_indices(b.shape[1])
    place = np.empty((r, r), dtype=np.int64)
    place[lower] = place.T[lower] = np.arange(len(lower[0]))
    pattern, place, i, j, packed = beside(
        (patterns_of(begins), place.ravel(), *lower, lower[0] * r + lower[1]), b
    )
    full = xp.reshape(xp.take(matrices, place, axis=1), (-1, r, r))
    inverse, logs = xp.linalg.inv(full), xp.linalg.slogdet(full)[1]
    centred = b - xp.take(shift, pattern, axis=0)
    z = (xp.take(inverse, pattern, axis=0) @ centred[:, :, None])[:, :, 0]
    wz = z * w[:, None]
    spread = xp.take(xp.take(xp.reshape(inverse, (-1, r * r)), packed, axis=1), pattern, axis=0)
    second = xp.take(wz, i, axis=1) * xp.take(z, j, axis=1) + w[:, None] * spread
    if is_numpy_array(b) and len(b):
        totals = [np.add.reduceat(part, begins[:-1], axis=0) for part in (wz, second)]
    else:
        totals = [sums_by_label(pattern, part, len(begins) - 1) for part in (wz, second)]
    return wz, *totals, float(xp.sum(wz * centred)), float(w @ xp.take(logs, pattern))


def patterns_of(begins: np.ndarray) -> np.ndarray:
    """Return the number of the pattern of each row, (n,)."""
    return np.repeat(np.arange(len(begins) - 1), np.diff(begins))
