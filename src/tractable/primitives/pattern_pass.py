"""One pass of EM over rows with missing entries, marginalised exactly."""

from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, is_numpy_array
from tractable.primitives._agnostic.pattern_pass import pattern_pass as agnostic
from tractable.primitives.pattern_rows import PatternRows, group_by_pattern

__all__ = ["PatternRows", "group_by_pattern", "pattern_pass"]


def pattern_pass(
    rows: PatternRows,
    weights: Array | None,
    log_weights: Array,
    means: Array,
    covariances: Array,
    part: tuple[int, int] | None = None,
) -> tuple[Array, Any]:
    """Sum r_k E[1, z - m_k, products | what is there, k] and log p(what is there) over rows, for Gaussians.

    One Cholesky factor of each covariance, the entries of the pattern first, gives all that its rows need:
    with L_oo and L_mo the rows of the entries that are there and that are missing, y = L_oo⁻¹ (z_o - m_o) is
    white, m_m + L_mo y the mean of the others, and L_mm L_mmᵀ their covariance. The completed sums are a
    linear map of those of the entries that are there, so a row costs only these. A row without any entry has
    log-probability 0 and counts for nothing in the sums.

    Parameters
    ----------
    rows : PatternRows
        What :func:`group_by_pattern` returns.
    weights : array (n,) or None
        How often each row counts, in the order of `rows`: ``rows.weights``.
    log_weights : array (K,)
        log π_k; -inf for a component without weight, which is not looked at.
    means : array (K, d)
    covariances : array (K, d, d) or (K, d)
        Positive definite, or the variances of independent columns.
    part : pair of int, optional
        The range of sorted rows to look at, one of ``rows.parts()``; all of them when not given.

    Returns
    -------
    sums : array (K, 1 + d + d (d + 1) / 2) or (K, 1 + 2 d)
        About each component's own mean; the conditional covariances of missing entries are in them.
    evidence : float
        Σ_n w_n log p(z_n, where it is there).

    Examples
    --------
    >>> rows = group_by_pattern(np.array([[1.0, np.nan]]))
    >>> correlated = np.array([[[1.0, 0.5], [0.5, 1.0]]])
    >>> sums, evidence = pattern_pass(rows, None, np.zeros(1), np.zeros((1, 2)), correlated)
    >>> sums.round(12).tolist()
    [[1.0, 1.0, 0.5, 1.0, 0.5, 1.0]]
    """
    first, last = (0, rows.n_rows) if part is None else part
    if not is_numpy_array(rows.flat):
        return agnostic(rows, weights, log_weights, means, covariances, first, last)
    from tractable.primitives._compiled import pattern_pass as compiled

    given = (
        rows.flat, rows.starts, rows.begins, rows.masks, np.empty(0) if weights is None else weights,
        log_weights, means, np.ascontiguousarray(covariances), first, last,
    )  # fmt: skip
    if covariances.ndim == 2:
        _check_definite(~(covariances > 0.0).all(axis=1) & (log_weights > -np.inf))
        return compiled.pattern_diagonal_pass(*given)
    sums, evidence, bad = compiled.pattern_pass(*given)
    _check_definite(np.arange(len(means)) == bad)
    upper = np.triu_indices(1 + means.shape[1])
    return sums[:, upper[0], upper[1]], evidence


def _check_definite(bad: np.ndarray) -> None:
    if bad.any():
        raise ValueError(f"covariances must be positive definite; that of component {np.argmax(bad)} is not")
