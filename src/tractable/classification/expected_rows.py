"""What is expected of rows whose entries are partly missing, under Gaussian classes with one covariance."""

import numpy as np

from tractable.arrays.grouping import by_pattern
from tractable.covariance import Full

__all__ = ["expected_rows"]


def expected_rows(rows: np.ndarray, means: np.ndarray, within: Full, probabilities: np.ndarray) -> np.ndarray:
    """Return E[x | observed entries]: what was observed, and Σ_k p(C_k | x_o) (μ_km + G (x_o - μ_ko)).

    Parameters
    ----------
    rows : array (n, d)
        NaN where an entry is missing.
    means : array (K, d)
    within : Full
        The covariance of all classes.
    probabilities : array (n, K)
        p(C_k | x_o).

    Examples
    --------
    >>> expected_rows(np.array([[np.nan, 1.0]]), np.array([[2.0, 0.0]]),
    ...               Full(matrix=np.array([[1.0, 0.5], [0.5, 1.0]])), np.ones((1, 1)))
    array([[2.5, 1. ]])
    """
    found = rows.copy()
    first = means[0]
    for observed, members in by_pattern(~np.isnan(rows)):
        o, m = np.flatnonzero(observed), np.flatnonzero(~observed)
        if not len(m):
            continue
        # About the first mean, which keeps the digits of classes far from the origin.
        expected = probabilities[members] @ (means - first)
        gain = within.condition(o)[0] if len(o) else np.zeros((len(m), 0))
        step = rows[np.ix_(members, o)] - first[o] - expected[:, o]
        found[np.ix_(members, m)] = first[m] + expected[:, m] + step @ gain.T
    return found
