"""Silhouettes: whether a row is nearer to its own cluster than to the next."""

from itertools import pairwise
from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, device, is_numpy_array, namespace_of
from tractable.metrics.checks import averaged
from tractable.metrics.clusters import as_clusters
from tractable.primitives.kmeans import distance_sums
from tractable.primitives.threads import ordered_map

__all__ = ["silhouette_samples", "silhouette_score"]

#: Pairs of rows in a block: at most this many distances are held at once, by a thread.
BLOCK_PAIRS = 2**21


def silhouette_score(X: Any, labels: Any, *, sample_weight: Any = None) -> float:
    """Return the mean silhouette, (1/N) Σ (b_i - a_i) / max(a_i, b_i): from -1 to 1, the larger, the better.

    See `silhouette_samples` for the meaning, the cost and the memory. All rows are used: scikit-learn's
    `sample_size` is a choice of rows.

    Parameters
    ----------
    X : array (n, d)
    labels : array (n,)
        Of 2 clusters at least, and fewer than there are rows.
    sample_weight : array (n,), optional
        How often each row counts.

    Examples
    --------
    >>> X = [[2, 10], [2, 5], [8, 4], [5, 8], [7, 5], [6, 4], [1, 2], [4, 9]]
    >>> round(silhouette_score(X, [3, 2, 1, 3, 1, 1, 2, 3]), 4)
    0.5708
    """
    return float(averaged(silhouette_samples(X, labels, sample_weight=sample_weight), sample_weight))


def silhouette_samples(X: Any, labels: Any, *, sample_weight: Any = None) -> Array:
    """Return the silhouette of every row, s = (b - a) / max(a, b), Rousseeuw (1987).

    a is the row's mean distance from the other rows of its cluster, b from those of the nearest other one.
    A row alone in its cluster scores 0, as in scikit-learn's `silhouette_samples`. Integer weights equal
    repeated rows: a row that counts w times has w - 1 others at no distance. Of a weight below 1 all is left
    out, so that a = Σ_j w_j d_ij / (n_k - min(w_i, 1)). Rows of weight zero are judged, and judge no others;
    those with no counting row in their cluster score 0.

    The cost is that of all pairs of rows; the memory is three copies of the data, n numbers, and on every
    thread a block of 2²¹ pairs (16 MB; 16 rows at least), never n × n. Distances are those of differences,
    with all their digits for data at 1e8 and for near twins; see `tractable.primitives.kmeans`.

    Parameters
    ----------
    X : array (n, d)
    labels : array (n,)
        Of 2 clusters at least, and fewer than there are rows.
    sample_weight : array (n,), optional
        How often each row counts.

    Returns
    -------
    array (n,)

    Examples
    --------
    >>> silhouette_samples([[0.0], [1.0], [4.0]], ["a", "a", "b"]).round(4).tolist()
    [0.75, 0.6667, 0.0]
    """
    clusters = as_clusters(X, labels, sample_weight)
    x, xp = clusters.all_rows, namespace_of(clusters.rows)
    origin, n = xp.mean(clusters.rows, axis=0), int(x.shape[0])
    columns = _columns(clusters.rows - origin)
    totals = xp.stack([xp.sum(clusters.weights[a:b]) for a, b in pairwise(clusters.starts)])

    def judge(start: int) -> Array:
        rows = slice(start, min(start + step, n))
        sums = distance_sums(x[rows, :] - origin, columns, clusters.weights, clusters.starts)
        return _silhouettes(sums, clusters.codes[rows], clusters.all_weights[rows], totals)

    step = max(16, BLOCK_PAIRS // int(columns.shape[1]))
    return xp.concat(list(ordered_map(judge, range(0, n, step))))


def _silhouettes(sums: Array, codes: Array, weights: Array, totals: Array) -> Array:
    xp = namespace_of(sums)
    clusters = xp.arange(totals.shape[0], dtype=codes.dtype, device=device(codes))
    own = codes[:, None] == clusters
    zero, one = xp.zeros_like(sums), xp.ones_like(weights)
    others = xp.sum(xp.where(own, totals, zero), axis=1) - xp.minimum(weights, one)
    alone = (others <= 0) | (codes < 0)
    a = xp.sum(xp.where(own, sums, zero), axis=1) / xp.where(alone, one, others)
    b = xp.min(xp.where(own, xp.full_like(sums, xp.inf), sums / totals), axis=1)
    larger = xp.maximum(a, b)
    known = ~alone & (larger > 0)
    return xp.where(known, (b - a) / xp.where(known, larger, one), xp.zeros_like(a))


def _columns(rows: Array) -> Array:
    """Return the rows transposed, each coordinate in one stretch of memory."""
    return np.ascontiguousarray(rows.T) if is_numpy_array(rows) else rows.T
