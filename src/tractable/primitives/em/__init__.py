"""One pass of EM over a block of rows: responsibilities, and the sums they weight.

`mixture_pass` and the whitened passes take complete rows; `pattern_pass` and `pattern_scores` take rows that
are grouped by which entries are observed.
"""

from functools import lru_cache
from typing import Any

import numpy as np

from tractable.arrays.devices import beside
from tractable.arrays.grouping import sorted_by_pattern
from tractable.arrays.namespace import Array, device, is_numpy_array, namespace_of, to_numpy
from tractable.primitives import as_double, parameters_beside_rows, runs_compiled
from tractable.primitives.em import agnostic, matrices
from tractable.primitives.threads import ordered_map
from tractable.value import value

__all__ = [
    "LINEAR",
    "PRODUCTS",
    "SQUARES",
    "SUM_OF_SQUARES",
    "PatternRows",
    "group_by_pattern",
    "mixture_pass",
    "n_features",
    "packed",
    "pattern_pass",
    "pattern_scores",
    "quadratic_factors",
    "scores_by_pattern",
    "unpacked",
    "whitened_pass",
]


#: Which second-order features T(x) has: none, |x|², x_i², or x_i x_j for i ≤ j.
LINEAR, SUM_OF_SQUARES, SQUARES, PRODUCTS = range(4)


#: Columns from which on whitening is quicker by products of matrices than by loops.
MANY_COLUMNS = 128


def n_features(d: int, kind: int) -> int:
    """Return the number of features of rows of d columns, the leading 1 included."""
    return 1 + d + (0, 1, d, d * (d + 1) // 2)[kind]


@lru_cache(maxsize=8)
def _upper_triangle(d: int) -> tuple[np.ndarray, np.ndarray]:
    """Return where the upper triangle is among the entries of a matrix, and where each entry is in that."""
    rows, columns = np.triu_indices(d)
    within = np.empty((d, d), np.int64)
    within[rows, columns] = within[columns, rows] = np.arange(len(rows))
    return rows * d + columns, within


def packed(matrices: np.ndarray) -> np.ndarray:
    """Return the upper triangles of matrices, (K, d, d) to (K, d(d+1)/2), row after row.

    Examples
    --------
    >>> packed(np.array([[[1.0, 2.0], [2.0, 3.0]]])).tolist()
    [[1.0, 2.0, 3.0]]
    """
    K, d, _ = matrices.shape
    return matrices.reshape(K, d * d).take(_upper_triangle(d)[0], axis=1)


@lru_cache(maxsize=8)
def quadratic_factors(d: int) -> np.ndarray:
    """Return what multiplies the packed entries of Λ in -½ xᵀ Λ x, a sum of products x_i x_j with i ≤ j.

    Examples
    --------
    >>> quadratic_factors(2).tolist()
    [-0.5, -1.0, -0.5]
    """
    factors = packed(0.5 * np.eye(d)[None] - 1.0)[0]
    factors.setflags(write=False)
    return factors


def unpacked(triangles: np.ndarray, d: int) -> np.ndarray:
    """Return symmetric matrices (K, d, d) from their upper triangles: the inverse of `packed`.

    Examples
    --------
    >>> unpacked(np.array([[1.0, 2.0, 3.0]]), 2).tolist()
    [[[1.0, 2.0], [2.0, 3.0]]]
    """
    return triangles.take(_upper_triangle(d)[1], axis=1)


@parameters_beside_rows
def mixture_pass(
    x: Array, weights: Array | None, shift: Array, scale: Array, natural: Array, kind: int
) -> tuple[Array, Any]:
    """Sum r_k(x) T(x) and log p(x) over rows, for a mixture of exponential families.

    With T(x) = [1, x, second-order terms] of the shifted and scaled rows and natural parameters η_k, the log
    of p(x, k) is η_k · T(x); responsibilities are its softmax. Both halves are matrix products on a block of
    rows that stays in cache; no array of the size of the data is made.

    Parameters
    ----------
    x : array (n, d)
    weights : array (n,) or None
        How often each row counts.
    shift, scale : arrays (d,)
        T is taken of ``(x - shift) * scale``.
    natural : array (K, P)
    kind : int
        Which second-order features there are.

    Returns
    -------
    sums : array (K, P)
        Σ_n w_n r_nk T(x_n).
    evidence : float
        Σ_n w_n log Σ_k exp(η_k · T(x_n)).

    Examples
    --------
    >>> natural = np.array([[0.0, -1.0], [0.0, 1.0]])
    >>> sums, _ = mixture_pass(np.array([[20.0], [-20.0]]), None, np.zeros(1), np.ones(1), natural, LINEAR)
    >>> sums.round(6).tolist()
    [[1.0, -20.0], [1.0, 20.0]]
    """
    if not is_numpy_array(x):
        return agnostic.mixture_pass(as_double(x), weights, shift, scale, natural, kind)
    K, P = natural.shape
    # Products of matrices take as long in NumPy: compiled code saves time between them, which many hide.
    if not runs_compiled(x, x.shape[0] * (64 + K + min(P, 256))):
        return matrices.mixture_pass(x, weights, shift, scale, natural, kind)
    from tractable.primitives.em.compiled import mixture_pass as compiled

    # The small-matrix kernels of BLAS copy nothing while m·n·k stays below a million.
    block = int(np.clip(1_000_000 // (K * P) // 32 * 32, 64, 512))
    sums, evidence = compiled(x, weights, shift, scale, natural, kind, block)
    return sums.T, evidence


@parameters_beside_rows
def whitened_pass(
    x: Array,
    weights: Array | None,
    shift: Array,
    scale: Array,
    means: Array,
    whiteners: Array,
    log_constants: Array,
    *,
    white: bool = False,
) -> tuple[Array, Any]:
    """Sum r_k(z) [1, z - m_k, products] and log p(z) over rows z = (x - shift) * scale, for Gaussians.

    With y_k = W_k (z - m_k), the log of p(z, k) is c_k - |y_k|² / 2. Errors are of the order of eps |W_k| |z|
    where natural parameters have eps |W_k|² |z|². Rows without responsibility cost a component nothing more.

    Parameters
    ----------
    x, weights, shift, scale
        See `mixture_pass`.
    means : array (K, d)
        Of z; those of components with log constant -inf are not read.
    whiteners : array (K, d, d) or (K, d)
        W_k: inverses of lower Cholesky factors, zero above the diagonal; or, for Gaussians of independent
        columns, the reciprocal standard deviations of z.
    log_constants : array (K,)
        c_k = log π_k + log |W_k| - d/2 log 2π; -inf for a component without weight.
    white : bool
        Take the sums of y_k instead of z - m_k, for covariances near singular: with s and S the mean and
        covariance of y_k, m_k + L_k s and the factor L_k chol(S) keep digits that L_k S L_kᵀ would not.

    Returns
    -------
    sums : array (K, 1 + d + d (d + 1) / 2) or (K, 1 + 2 d)
        Σ_n w_n r_nk [1, z_n - m_k, (z_n - m_k)_i (z_n - m_k)_j for i ≤ j]; squares alone where columns are
        independent.
    evidence : float
        Σ_n w_n log p(z_n). Rows that no component explains make it -inf, and count for nothing in the sums.

    Examples
    --------
    >>> sums, _ = whitened_pass(
    ...     np.array([[1e8 + 1.0], [-1e8]]), None, np.zeros(1), np.ones(1),
    ...     means=np.array([[1e8], [-1e8]]), whiteners=np.ones((2, 1, 1)), log_constants=np.zeros(2),
    ... )
    >>> sums.tolist()
    [[1.0, 1.0, 1.0], [1.0, 0.0, 0.0]]
    """
    (n, d), K, diagonal = x.shape, means.shape[0], whiteners.ndim == 2
    given = (shift, scale, means, whiteners, log_constants)
    if not is_numpy_array(x):
        rows = as_double(x)
        if diagonal:
            return agnostic.whitened_diagonal_pass(rows, weights, *given)
        return agnostic.whitened_pass(rows, weights, *given, white)
    # Products of matrices take as long in NumPy: what compiled code saves is the time of other operations.
    small = not runs_compiled(x, 32 * n * (K + 2) + n * K * d // 4)
    if small or (d >= MANY_COLUMNS and not diagonal):
        sums, evidence = matrices.whitened_pass(x, weights, *given, white)
    else:
        from tractable.primitives.em import compiled

        if diagonal:
            return compiled.whitened_diagonal_pass(x, weights, *given, _block(n, d))
        sums, evidence = compiled.whitened_pass(x, weights, *given, white, _block(n, d))
    return (sums if diagonal else packed(sums)), evidence


def _block(n: int, d: int) -> int:
    """Return how many rows stay in the first-level cache, with a copy; a multiple of the vectors' width."""
    return int(min(np.clip(4096 // max(1, d) // 32 * 32, 64, 512), -(-max(1, n) // 32) * 32))


#: Rows that are copied at a time.
_ROWS = 2**14


@value
class PatternRows:
    """Rows sorted by which of their entries are observed; only those are stored.

    Parameters
    ----------
    flat : array
        Pattern after pattern, row after row, the observed entries.
    starts : array (P,)
        Where each pattern's entries begin.
    begins : array (P + 1,)
        Where each pattern's rows begin, and where the last ones end.
    masks : bool array (P, d)
        Which entries each pattern observes.
    order : array (n,)
        The position of each row before sorting.
    weights : array (n,) or None
        How often each row counts, in this order.
    """

    flat: Array
    starts: np.ndarray
    begins: np.ndarray
    masks: np.ndarray
    order: np.ndarray
    weights: Array | None

    @property
    def n_rows(self) -> int:
        """How many rows there are, empty ones included."""
        return len(self.order)

    @property
    def n_empty(self) -> int:
        """How many rows have no entry at all; they come first."""
        return int(self.begins[1]) if len(self.masks) and not self.masks[0].any() else 0

    def parts(self, rows: int = 8192) -> list[tuple[int, int]]:
        """Cut the rows into ranges of about equal work, for several threads; cuts depend on the rows alone.

        A pattern of its own is as much work as twice as many rows as there are columns.
        """
        n, d = self.n_rows, self.masks.shape[1]
        pattern = np.repeat(np.arange(len(self.masks)), np.diff(self.begins))
        work = np.arange(n) + 2 * d * pattern
        cuts = np.searchsorted(work, np.arange(0, work[-1] + 1 if n else 0, rows))
        cuts = np.unique(np.append(cuts, n))
        return list(zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True))


def group_by_pattern(
    x: Array, weights: Array | None = None, shift: Array | None = None, scale: Array | None = None
) -> PatternRows:
    """Sort rows (n, d) by which entries are missing (NaN), and store the others as (x - shift) * scale.

    Examples
    --------
    >>> rows = group_by_pattern(np.array([[1.0, 2.0], [np.nan, 3.0], [4.0, 5.0]]))
    >>> rows.flat.tolist(), rows.masks.tolist(), rows.order.tolist()
    ([3.0, 1.0, 2.0, 4.0, 5.0], [[False, True], [True, True]], [1, 0, 2])
    """
    xp = namespace_of(x)
    mask = ~to_numpy(xp.isnan(x))
    order, counts, masks = sorted_by_pattern(mask)
    entries = counts * masks.sum(axis=1)
    collect = _collected if is_numpy_array(x) else _collected_elsewhere
    return PatternRows(
        flat=collect(x, mask, order, 0.0 if shift is None else shift, 1.0 if scale is None else scale),
        starts=np.cumsum(entries) - entries,
        begins=np.concatenate([[0], np.cumsum(counts)]),
        masks=np.ascontiguousarray(masks),
        order=order,
        weights=None if weights is None else xp.take(weights, xp.asarray(order, device=device(x)), axis=0),
    )


def _collected(x: np.ndarray, mask: np.ndarray, order: np.ndarray, shift: Any, scale: Any) -> np.ndarray:
    flat, end = np.empty(np.count_nonzero(mask)), 0
    for a in range(0, len(order), _ROWS):
        rows = order[a : a + _ROWS]
        entries = ((x[rows] - shift) * scale)[mask[rows]]
        flat[end : end + len(entries)] = entries
        end += len(entries)
    return flat


def _collected_elsewhere(x: Any, mask: np.ndarray, order: np.ndarray, shift: Any, scale: Any) -> Array:
    xp = namespace_of(x)
    rows = as_double(xp.take(x, xp.asarray(order, device=device(x)), axis=0))
    shift, scale = beside((shift, scale), x)
    return ((rows - shift) * scale)[xp.asarray(mask[order], device=device(x))]


@parameters_beside_rows
def pattern_pass(
    rows: PatternRows,
    weights: Array | None,
    log_weights: Array,
    means: Array,
    covariances: Array,
    part: tuple[int, int] | None = None,
) -> tuple[Array, Any]:
    """Sum r_k E[1, z - m_k, products | z_o, k] and log p(z_o) over rows with observed entries z_o.

    One Cholesky factor of each covariance, the entries of the pattern first, gives all that its rows need:
    with L_oo and L_mo the rows of the observed and of the missing entries, y = L_oo⁻¹ (z_o - m_o) is
    white, m_m + L_mo y the mean of the others, and L_mm L_mmᵀ their covariance. The completed sums are a
    linear map of those of the observed entries, so a row costs only these. A row without any entry has
    log-probability 0 and counts for nothing in the sums.

    Parameters
    ----------
    rows : PatternRows
        What :func:`group_by_pattern` returns.
    weights : array (n,) or None
        How often each row counts, in the order of `rows`: ``rows.weights``.
    log_weights : array (K,)
        log π_k; -inf for a component without weight, which is skipped.
    means : array (K, d)
    covariances : array (K, d, d) or (K, d)
        Positive definite, or the variances of independent columns.
    part : pair of int, optional
        The range of sorted rows, one of ``rows.parts()``; all of them when not given.

    Returns
    -------
    sums : array (K, 1 + d + d (d + 1) / 2) or (K, 1 + 2 d)
        About each component's own mean; the conditional covariances of missing entries are in them.
    evidence : float
        Σ_n w_n log p(observed entries of z_n).

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
        return agnostic.pattern_pass(rows, weights, log_weights, means, covariances, first, last)
    if not runs_compiled(rows.flat, _pattern_work(rows, means, covariances)):
        from tractable.primitives.em.stacked import pattern_pass as stacked

        sums, evidence, bad = stacked(rows, weights, log_weights, means, covariances, first, last)
        _check_definite(bad)
        return sums, evidence
    from tractable.primitives.em import compiled

    given = (
        rows.flat, rows.starts, rows.begins, rows.masks, weights,
        log_weights, means, covariances, first, last,
    )  # fmt: skip
    if covariances.ndim == 2:
        _check_definite(~(covariances > 0.0).all(axis=1) & (log_weights > -np.inf))
        return compiled.pattern_diagonal_pass(*given)
    sums, evidence, bad = compiled.pattern_pass(*given)
    _check_definite(np.arange(len(means)) == bad)
    return packed(sums), evidence


def _pattern_work(rows: PatternRows, means: Array, covariances: Array) -> float:
    """Return the work of a pass over all parts: entries, and a factor for each pattern and component.

    All counts for less than it takes: where compiled code begins, a pass takes ten milliseconds in NumPy and
    three in compiled code, whose kernels take eight seconds to compile, as long as a thousand such passes; EM
    takes a hundred. A small part of a large table runs the code that the others run.
    """
    K, d = means.shape
    if covariances.ndim == 2:
        return 2 * rows.n_rows * K * d
    return K * (rows.n_rows * d * (1 + d / 2) + (100 + 2 * d**2) * len(rows.masks))


def _check_definite(bad: np.ndarray) -> None:
    if bad.any():
        raise ValueError(f"covariances must be positive definite; that of component {np.argmax(bad)} is not")


def pattern_scores(
    rows: PatternRows, means: Array, covariances: Array, part: tuple[int, int] | None = None
) -> Any:
    """Return log N(z_o | m_k, Σ_k) of the observed entries of sorted rows, by one factor for each pattern.

    A row without any entry has log density 0.

    Parameters
    ----------
    rows, means, part
        See `pattern_pass`; row i of the answer is row ``rows.order[i]`` of what was grouped.
    covariances : array (K, d, d) or (1, d, d)
        Positive definite; one is that of all.

    Returns
    -------
    array (n, K)
        NaN where a covariance has no factor.

    Examples
    --------
    >>> rows = group_by_pattern(np.array([[1.0, np.nan], [np.nan, np.nan]]))
    >>> pattern_scores(rows, np.zeros((1, 2)), np.eye(2)[None]).round(4).tolist()
    [[0.0], [-1.4189]]
    """
    first, last = (0, rows.n_rows) if part is None else part
    if not is_numpy_array(rows.flat):
        return agnostic.pattern_scores(rows, means, covariances, first, last)
    if not runs_compiled(rows.flat, _pattern_work(rows, means, covariances)):
        from tractable.primitives.em.stacked import pattern_scores as stacked

        return stacked(rows, means, covariances, first, last)
    from tractable.primitives.em.compiled import pattern_scores as compiled

    return compiled(rows.flat, rows.starts, rows.begins, rows.masks, means, covariances, first, last)


def scores_by_pattern(x: np.ndarray, means: np.ndarray, covariances: np.ndarray) -> np.ndarray:
    """Return `pattern_scores` of rows (n, d) in their own order, (n, K), on all cores."""
    rows, found = group_by_pattern(x), np.empty((len(x), len(means)))

    def score(part: tuple[int, int]) -> None:
        found[rows.order[slice(*part)]] = pattern_scores(rows, means, covariances, part)

    for _ in ordered_map(score, rows.parts()):
        pass
    return found
