"""Scores of rows so far from every class that squared distances overflow."""

import numpy as np

__all__ = ["far_scores", "nearest"]


def far_scores(x: np.ndarray, means: np.ndarray, scales: np.ndarray, constants: np.ndarray) -> np.ndarray:
    """Return c_k - ½ Σ_j ((x_j - μ_kj) s_kj)² less what the nearest class has of the squares, (n, K).

    Distances z are compared as (z_k - z_m)(z_k + z_m), in units in which nothing overflows, so that classes
    that share s differ by their means alone. Only what they differ by may be too large to be told: such
    classes have -inf beside the one that is nearest.

    Parameters
    ----------
    x : array (n, d)
        NaN of a column that is missing.
    means : array (n, K, d)
    scales : array (K, d)
        Reciprocals of standard deviations.
    constants : array (n, K)
        All else that is known of the classes; -inf of those that cannot be.

    Examples
    --------
    >>> x, means, scales = np.array([[1e200]]), np.array([[[1.0], [2.0]]]), np.array([[3.0], [3.0]])
    >>> far_scores(x, means, scales, np.zeros((1, 2))).tolist()
    [[-9e+200, 0.0]]
    """
    missing = np.isnan(x)
    x = np.where(missing, 0.0, x)
    unit, high = np.max(np.abs(x), axis=1, keepdims=True), float(scales.max())
    unit = np.where(unit > 0, unit, 1.0)
    u, s = x / unit, scales / high
    m = np.where(missing[:, None, :], 0.0, means / unit[:, :, None])

    def farther(k: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Return z_k² - z_b², summed over columns, in units; a class a row each."""
        (mk, sk), (mb, sb) = ((m[np.arange(len(x)), c], s[c]) for c in (k, b))
        return np.sum((u * (sk - sb) - (mk * sk - mb * sb)) * ((u - mk) * sk + (u - mb) * sb), axis=1)

    n, K = constants.shape
    possible = ~np.isneginf(constants)
    best = np.argmax(possible, axis=1)
    for k in range(K):
        own = np.full(n, k)
        best = np.where(possible[:, k] & (farther(own, best) < 0), own, best)
    found = np.array(constants)
    with np.errstate(over="ignore", invalid="ignore"):
        for k in range(K):
            more = 0.5 * farther(np.full(n, k), best)
            squares = more * unit[:, 0] * high * unit[:, 0] * high
            found[:, k] -= np.where((more == 0.0) | ~possible[:, k], 0.0, squares)
    return found


def nearest(x: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return the nearest of sorted points to each x."""
    place = np.clip(np.searchsorted(points, x), 1, max(len(points) - 1, 1))
    below, above = points[place - 1], points[np.minimum(place, len(points) - 1)]
    return np.where(np.abs(x - below) <= np.abs(x - above), below, above)
