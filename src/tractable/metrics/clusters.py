"""Scores of a clustering: how compact clusters are, and how far apart."""

from itertools import pairwise
from math import inf
from typing import Any

import numpy as np

from tractable.arrays.batched import as_reals
from tractable.arrays.grouping import weighted_counts
from tractable.arrays.limits import check_squarable
from tractable.arrays.namespace import (
    Array,
    check_unmasked,
    device,
    is_foreign_array,
    is_numpy_array,
    namespace_of,
    to_numpy,
)
from tractable.arrays.weights import check_weights
from tractable.data.blocks import map_blocks
from tractable.metrics.checks import averaged
from tractable.primitives.kmeans import distance_sums
from tractable.value import value


@value
class LabelledRows:
    """Rows in their order and sorted by cluster: cluster k is ``rows[starts[k] : starts[k + 1]]``."""

    names: Any  # (K,), the labels in order
    all_rows: Array  # (n, d)
    all_weights: Array  # (n,)
    codes: Array  # (n,), positions among the names; -1 for labels that only rows of weight zero have
    rows: Array  # (m, d), those of positive weight, sorted by cluster
    weights: Array  # (m,)
    starts: tuple[int, ...]  # K + 1 of them

    @property
    def n_clusters(self) -> int:
        """K."""
        return len(self.starts) - 1


@value
class Summary:
    """Weight, centre, scatter, mean distance and radius of each cluster.

    Centres are relative to one of the rows, so that they keep their digits far from the origin.
    """

    weights: Array  # (K,)
    origin: Array  # (d,)
    centers: Array  # (K, d), less the origin
    scatter: Array  # (K,), Σ w |x - μ|²
    distance: Array  # (K,), the mean of |x - μ|
    radius: Array  # (K,), the largest |x - μ|

    @property
    def total(self) -> float:
        """N, the weight of all rows."""
        return float(namespace_of(self.weights).sum(self.weights))

    @property
    def within(self) -> float:
        """Scatter of the rows about the centres of their clusters."""
        return float(namespace_of(self.scatter).sum(self.scatter))

    @property
    def between(self) -> float:
        """Scatter of the centres about the mean of all, Σ_k n_k |μ_k - x̄|²."""
        xp = namespace_of(self.centers)
        mean = self.weights @ self.centers / xp.sum(self.weights)
        return float(xp.sum(self.weights * xp.sum((self.centers - mean) ** 2, axis=1)))

    @property
    def gaps(self) -> Array:
        """Distances between the centres, (K, K)."""
        xp = namespace_of(self.centers)
        return xp.sqrt(xp.sum((self.centers[:, None, :] - self.centers[None, :, :]) ** 2, axis=2))


def as_clusters(X: Any, labels: Any, sample_weight: Any = None, *, least: int = 2) -> LabelledRows:
    """Return the rows grouped by cluster, checked: `least` clusters at least, and fewer than rows."""
    x = _finite_rows(X)
    xp = namespace_of(x)
    names, codes = _numbered(labels, x)
    ones = xp.ones(x.shape[0], dtype=xp.float64, device=device(x))
    w = (
        ones
        if sample_weight is None
        else check_weights(sample_weight, x.shape[0], like=x, name="sample_weight", some=True)
    )
    names, codes, n = _with_weight(names, codes, w)
    total = float(xp.sum(w))
    if n < least or (least > 1 and n >= total):
        raise ValueError(
            f"labels must name at least {least} clusters, and fewer than there are rows: "
            f"got {n}, with rows of a total weight of {total:g}"
        )
    order = xp.argsort(codes, stable=True)
    order = xp.take(order, xp.nonzero(xp.take(w, order) > 0)[0])
    sizes = weighted_counts(xp.take(codes, order), xp.take(ones, order), n)
    return LabelledRows(
        names=names,
        all_rows=x,
        all_weights=w,
        codes=codes,
        rows=xp.take(x, order, axis=0),
        weights=xp.take(w, order),
        starts=(0, *(int(end) for end in xp.cumulative_sum(sizes))),
    )


def summarise(clusters: LabelledRows) -> Summary:
    """Return the weight, centre, scatter, mean distance and radius of each cluster, in two passes."""
    xp = namespace_of(clusters.rows)
    origin = clusters.rows[0, :]
    parts = [
        _one(xp, clusters.rows[a:b, :], clusters.weights[a:b], origin) for a, b in pairwise(clusters.starts)
    ]
    weights, centers, scatter, distance, radius = (xp.stack(part) for part in zip(*parts, strict=True))
    return Summary(
        weights=weights, origin=origin, centers=centers, scatter=scatter, distance=distance, radius=radius
    )


def _one(xp: Any, x: Array, w: Array, origin: Array) -> tuple[Array, ...]:
    first, weight = x[0, :], xp.sum(w)
    step = x - first  # equal rows have a scatter of exactly zero, whatever their mean rounds to
    mean = w @ step / weight
    squares = xp.sum((step - mean) ** 2, axis=1)
    distances = xp.sqrt(squares)
    return weight, (first - origin) + mean, w @ squares, w @ distances / weight, xp.max(distances)


def _finite_rows(X: Any) -> Array:
    x = as_reals("X", X)
    xp = namespace_of(x)
    if x.ndim != 2 or not x.shape[0] or not x.shape[1]:
        raise ValueError(
            f"X must be rows and columns, two-dimensional and not empty; got shape {tuple(x.shape)}"
        )
    if not bool(xp.all(xp.isfinite(x))):
        raise ValueError("X contains NaN or infinity")
    return check_squarable("X", xp.astype(x, xp.float64, copy=False), nonzero=True)


def _numbered(labels: Any, x: Array) -> tuple[Any, Array]:
    """Return the distinct labels, sorted, and the position of each row's label among them."""
    check_unmasked("labels", labels)
    given = labels if is_foreign_array(labels) else np.asarray(labels)
    if tuple(given.shape) != (x.shape[0],):
        raise ValueError(
            f"labels must have one entry a row: expected shape ({x.shape[0]},), got {tuple(given.shape)}"
        )
    xp, home = namespace_of(given), namespace_of(x)
    try:
        names = xp.sort(xp.unique_values(given))  # which may come in any order
        codes = xp.searchsorted(names, given)
        missing = bool(xp.any(given != given))  # noqa: PLR0124  (NaN)
    except TypeError:
        missing = True
    if missing:
        raise ValueError("labels must be of one kind, and none of them missing")
    return names, home.astype(home.asarray(codes, device=device(x)), home.int64)


def _with_weight(names: Any, codes: Array, w: Array) -> tuple[Any, Array, int]:
    """Drop the labels that only rows of weight zero have; the codes of those rows become -1."""
    xp = namespace_of(codes)
    there = weighted_counts(codes, w, names.shape[0]) > 0
    n = int(xp.count_nonzero(there))
    if n == names.shape[0]:
        return names, codes, n
    numbers = xp.cumulative_sum(xp.astype(there, xp.int64)) - 1
    numbers = xp.where(there, numbers, xp.full_like(numbers, -1))
    stay = namespace_of(names).asarray([k for k in range(names.shape[0]) if bool(there[k])])
    return namespace_of(names).take(names, stay), xp.take(numbers, codes), n


def calinski_harabasz_score(X: Any, labels: Any, *, sample_weight: Any = None) -> float:
    """Return the scatter between clusters over that within, per degree of freedom; the larger, the better.

    CH = ((N - K) / (K - 1)) · Σ_k n_k |μ_k - x̄|² / Σ_k Σ_{i in k} |x_i - μ_k|², the variance ratio of
    Calinski and Harabasz (1974).

    Clusters without any scatter score infinity, where scikit-learn gives 1; and 0 if their centres coincide
    too. Everything else is as in scikit-learn's `calinski_harabasz_score`, which takes no weights.

    Parameters
    ----------
    X : array (n, d)
        Rows.
    labels : array (n,)
        Of 2 clusters at least, and fewer than there are rows.
    sample_weight : array (n,), optional
        How often each row counts: N and n_k are total weights.

    Examples
    --------
    >>> X = [[2, 10], [2, 5], [8, 4], [5, 8], [7, 5], [6, 4], [1, 2], [4, 9]]
    >>> round(calinski_harabasz_score(X, [3, 2, 1, 3, 1, 1, 2, 3]), 4)
    15.0727
    """
    clusters = as_clusters(X, labels, sample_weight)
    found, k = summarise(clusters), clusters.n_clusters
    if not found.within:
        return inf if found.between else 0.0
    return (found.total - k) / (k - 1) * found.between / found.within


def davies_bouldin_score(X: Any, labels: Any, *, sample_weight: Any = None) -> float:
    """Return the mean similarity of each cluster to the most similar other one; smaller is better.

    DB = (1/K) Σ_k max_{l ≠ k} (s_k + s_l) / |μ_k - μ_l|, with s_k the mean distance of the rows of cluster k
    from its centre, Davies and Bouldin (1979). Clusters have equal weight, whatever their size.

    Different clusters with one centre score infinity, where scikit-learn leaves such pairs out; clusters
    without any scatter score 0. Everything else is as in scikit-learn's `davies_bouldin_score`, which takes
    no weights.

    Parameters
    ----------
    X : array (n, d)
        Rows.
    labels : array (n,)
        The cluster of each row; at least 2 clusters, and fewer than there are rows.
    sample_weight : array (n,), optional
        Frequencies of the rows; one each by default.

    Examples
    --------
    >>> X = [[2, 10], [2, 5], [8, 4], [5, 8], [7, 5], [6, 4], [1, 2], [4, 9]]
    >>> round(davies_bouldin_score(X, [3, 2, 1, 3, 1, 1, 2, 3]), 4)
    0.4767
    """
    found = summarise(as_clusters(X, labels, sample_weight))
    xp, gaps = namespace_of(found.centers), found.gaps
    width = found.distance[:, None] + found.distance[None, :]
    far = xp.where(gaps > 0, width / xp.where(gaps > 0, gaps, xp.ones_like(gaps)), xp.full_like(gaps, xp.inf))
    itself = xp.eye(gaps.shape[0], dtype=gaps.dtype, device=device(gaps)) > 0
    similarity = xp.where((width == 0) | itself, xp.zeros_like(far), far)
    return float(xp.mean(xp.max(similarity, axis=1)))


#: Pairs of rows in a block: at most this many distances are held at once, by a thread.
BLOCK_PAIRS = 2**21


def silhouette_score(X: Any, labels: Any, *, sample_weight: Any = None) -> float:
    """Return the mean silhouette, (1/N) Σ (b_i - a_i) / max(a_i, b_i): from -1 to 1, the larger, the better.

    See `silhouette_samples` for the meaning, the cost and the memory. All rows are used: there is no
    `sample_size` as in scikit-learn.

    Parameters
    ----------
    X : array (n, d)
        Rows.
    labels : array (n,)
        The cluster of each row; at least 2 clusters, and fewer than there are rows.
    sample_weight : array (n,), optional
        Frequencies of the rows; one each by default.

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
    out, so that a = Σ_j w_j d_ij / (n_k - min(w_i, 1)). Rows of weight zero have a silhouette, and no
    influence on those of others; those with no row of positive weight in their cluster score 0.

    The cost is that of all pairs of rows; the memory is three copies of the data, n numbers, and on every
    thread a block of 2²¹ pairs (16 MB; 16 rows at least), never n × n. Distances are those of differences,
    with all their digits for data at 1e8 and for nearly equal rows; see `tractable.primitives.kmeans`.

    Parameters
    ----------
    X : array (n, d)
        Rows.
    labels : array (n,)
        The cluster of each row; at least 2 clusters, and fewer than there are rows.
    sample_weight : array (n,), optional
        Frequencies of the rows; one each by default.

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
    return map_blocks(judge, range(0, n, step))


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


@value
class ClusterReport:
    """How compact and how separate the clusters of a clustering are.

    Parameters
    ----------
    labels : array (K,)
        What the clusters are called.
    sizes : array (K,)
        Their total weights: numbers of rows where none were given.
    centers : array (K, d)
        Means of the clusters.
    scatter : array (K,)
        Compactness: Σ_{i in k} w_i |x_i - μ_k|².
    spread : array (K,)
        Its root mean, √(scatter / size), in the units of the data.
    radius : array (K,)
        The distance of the farthest row from the centre.
    separation : array (K,)
        The distance of the nearest other centre; infinite for one cluster.
    nearest : array (K,)
        The position of that cluster; -1 for one cluster.
    within, between : float
        The total scatter in its two parts: of rows about their centres, and of centres about the mean.
    """

    labels: np.ndarray
    sizes: np.ndarray
    centers: np.ndarray
    scatter: np.ndarray
    spread: np.ndarray
    radius: np.ndarray
    separation: np.ndarray
    nearest: np.ndarray
    within: float
    between: float

    @property
    def explained(self) -> float:
        """The fraction of the total scatter that lies between the clusters; 0 where rows do not vary."""
        total = self.within + self.between
        return self.between / total if total else 0.0

    def __repr__(self) -> str:
        lines: list[tuple[str, ...]] = [("cluster", "size", "spread", "radius", "separation", "nearest")]
        for k, label in enumerate(self.labels):
            sizes = (self.sizes[k], self.spread[k], self.radius[k], self.separation[k])
            near = str(self.labels[self.nearest[k]]) if len(self.labels) > 1 else "-"
            lines.append((str(label), *(f"{x:.4g}" for x in sizes), near))
        widths = [max(len(line[j]) for line in lines) for j in range(len(lines[0]))]
        table = ["  ".join(cell.rjust(w) for cell, w in zip(line, widths, strict=True)) for line in lines]
        within, between = f"within {self.within:.6g}", f"between {self.between:.6g}"
        return "\n".join([*table, f"scatter: {within}, {between} ({self.explained:.1%} of the total)"])


def cluster_report(X: Any, labels: Any, *, sample_weight: Any = None) -> ClusterReport:
    """Return the sizes, spreads and separations of clusters.

    A clustering is good where rows are near to their own centre and far from the others: where the `radius`
    of a cluster is below half its `separation`, all its rows are nearer to its centre than to any other.

    Parameters
    ----------
    X : array (n, d)
        Rows.
    labels : array (n,)
        The cluster of each row.
    sample_weight : array (n,), optional
        How often each row counts.

    Returns
    -------
    ClusterReport
        Of one line a cluster, on the host; `tractable.plot` draws it.

    Examples
    --------
    >>> X = [[2, 10], [2, 5], [8, 4], [5, 8], [7, 5], [6, 4], [1, 2], [4, 9]]
    >>> cluster_report(X, ["c", "b", "a", "c", "a", "a", "b", "c"])
    cluster  size  spread  radius  separation  nearest
          a     3  0.9428   1.054       5.563        b
          b     2   1.581   1.581       5.563        a
          c     3   1.491   1.944       5.735        a
    scatter: within 14.3333, between 86.4167 (85.8% of the total)
    """
    clusters = as_clusters(X, labels, sample_weight, least=1)
    found = summarise(clusters)
    gaps = to_numpy(found.gaps) + np.diag(np.full(clusters.n_clusters, np.inf))
    one = clusters.n_clusters == 1
    sizes, scatter = to_numpy(found.weights), to_numpy(found.scatter)
    return ClusterReport(
        labels=to_numpy(clusters.names),
        sizes=sizes,
        centers=to_numpy(found.origin + found.centers),
        scatter=scatter,
        spread=np.sqrt(scatter / sizes),
        radius=to_numpy(found.radius),
        separation=gaps.min(axis=1),
        nearest=np.array([-1]) if one else gaps.argmin(axis=1),
        within=found.within,
        between=found.between,
    )
