"""Log densities of rows with missing entries under several Gaussians."""

from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, is_numpy_array
from tractable.primitives._agnostic.pattern_scores import pattern_scores as agnostic
from tractable.primitives.pattern_rows import PatternRows

__all__ = ["pattern_scores"]


def pattern_scores(
    rows: PatternRows, means: Array, covariances: Array, part: tuple[int, int] | None = None
) -> Any:
    """Return log N(what is there of z | m_k, Σ_k) of sorted rows, by one factor for each pattern.

    A row without any entry has log density 0.

    Parameters
    ----------
    rows : PatternRows
        What `group_by_pattern` returns; row i of the answer is row ``rows.order[i]`` of what was grouped.
    means : array (K, d)
    covariances : array (K, d, d) or (1, d, d)
        Positive definite; one is that of all.
    part : pair of int, optional
        The range of sorted rows to look at, one of ``rows.parts()``; all of them when not given.

    Returns
    -------
    array (n, K)
        NaN where a covariance has no factor.

    Examples
    --------
    >>> from tractable.primitives.pattern_rows import group_by_pattern
    >>> rows = group_by_pattern(np.array([[1.0, np.nan], [np.nan, np.nan]]))
    >>> pattern_scores(rows, np.zeros((1, 2)), np.eye(2)[None]).round(4).tolist()
    [[0.0], [-1.4189]]
    """
    first, last = (0, rows.n_rows) if part is None else part
    if not is_numpy_array(rows.flat):
        return agnostic(rows, means, covariances, first, last)
    from tractable.primitives._compiled.pattern_scores import pattern_scores as compiled

    given = np.ascontiguousarray(means), np.ascontiguousarray(covariances)
    return compiled(rows.flat, rows.starts, rows.begins, rows.masks, *given, first, last)
