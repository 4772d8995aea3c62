"""Ways to split points into groups: how many there are, and the best of them where they can all be tried."""

from collections.abc import Iterator
from math import comb, factorial
from typing import Any

import numpy as np

from tractable.arrays.limits import check_squarable
from tractable.base import check_count, check_table
from tractable.base.validation import check_weights
from tractable.statistics.rows import counts
from tractable.value import value

#: Ten points have 115,975 partitions; each point more, about seven times as many.
MOST_POINTS = 10


@value
class BestPartition:
    """The partition of least within-cluster scatter: the exact answer of k-means.

    Parameters
    ----------
    labels : array (n,)
        The cluster of every row, numbered in the order of their first rows.
    centers : array (K, d)
        μ_k, the mean of the rows of each cluster.
    inertia : float
        J = Σ_k Σ_{i in k} w_i |x_i - μ_k|².
    n_partitions : int
        How many were tried.
    """

    labels: np.ndarray
    centers: np.ndarray
    inertia: float
    n_partitions: int


def stirling2(n: int, k: int) -> int:
    """Return the number of ways to split n points into k groups, none empty: Stirling's second kind.

    S(n, k) = (1/k!) Σ_{i=0}^{k} (-1)^i C(k, i) (k - i)^n, a whole number, exactly. The sum starts at i = 0:
    without that term S(3, 2) would be -1.

    Parameters
    ----------
    n : int
        Number of points.
    k : int
        Number of groups.

    Examples
    --------
    >>> stirling2(3, 2), stirling2(8, 3), stirling2(10, 4)
    (3, 966, 34105)
    """
    n, k = check_count("n", n), check_count("k", k)
    return sum((-1) ** i * comb(k, i) * (k - i) ** n for i in range(k + 1)) // factorial(k)


def bell(n: int) -> int:
    """Return the number of ways to split n points into groups: B(n) = Σ_{k=0}^{n} S(n, k), exactly.

    By Bell's triangle: each line begins with the last number of the line before, and each number is the one
    on its left plus the one above that.

    Parameters
    ----------
    n : int
        Number of points.

    Examples
    --------
    >>> [bell(n) for n in range(1, 11)]
    [1, 2, 5, 15, 52, 203, 877, 4140, 21147, 115975]
    >>> f"{bell(71):.4e}"
    '4.0813e+74'
    """
    line = [1]
    for _ in range(check_count("n", n)):
        longer = [line[-1]]
        for above in line:
            longer.append(longer[-1] + above)
        line = longer
    return line[0]


def partitions(n: int, k: int) -> Iterator[tuple[int, ...]]:
    """Yield every way to split n points into k groups once, as labels in the order of first appearance.

    Examples
    --------
    >>> list(partitions(3, 2))
    [(0, 0, 1), (0, 1, 0), (0, 1, 1)]
    """
    n, k = check_count("n", n), check_count("k", k)

    def extend(labels: tuple[int, ...], used: int) -> Iterator[tuple[int, ...]]:
        if len(labels) == n:
            yield labels
            return
        for label in range(min(used + 1, k)):
            now = max(used, label + 1)
            if k - now < n - len(labels):  # enough points are left to fill every group
                yield from extend((*labels, label), now)

    if k <= n and (k > 0) == (n > 0):
        yield from extend((), 0)


def best_partition(X: Any, n_clusters: int, sample_weight: Any = None) -> BestPartition:
    """Return the partition of least k-means objective, by trying all S(n, K) of them; for ten rows at most.

    J = Σ_k Σ_{i in k} w_i |x_i - μ_k|². Finding the least is NP-hard; Lloyd's iterations end in a local
    minimum. This is what they are to be compared with. A group costs Σ_{i<j} w_i w_j |x_i - x_j|² / Σ w,
    which needs no mean and loses no digits far from the origin.

    Parameters
    ----------
    X : array (n, d)
        Ten rows at most, counting those of positive weight.
    n_clusters : int
        K, at most the number of rows that count.
    sample_weight : array (n,), optional
        How often each row counts. Rows of weight zero join the cluster of the nearest centre.

    Returns
    -------
    BestPartition
        Of several equally good ones, the first in the order of their labels.

    Examples
    --------
    >>> X = [[2, 10], [2, 5], [8, 4], [5, 8], [7, 5], [6, 4], [1, 2], [4, 9]]
    >>> found = best_partition(X, 3)
    >>> found.labels.tolist(), round(found.inertia, 4), found.n_partitions
    ([0, 1, 2, 0, 2, 2, 1, 0], 14.3333, 966)
    """
    x = check_squarable("X", check_table(X), nonzero=True)
    w = counts(check_weights(sample_weight, x), x)
    counted = np.flatnonzero(w > 0)
    k = check_count("n_clusters", n_clusters)
    if len(counted) > MOST_POINTS:
        raise ValueError(
            f"X must have at most {MOST_POINTS} rows for all partitions to be tried, got {len(counted)}"
        )
    if not 1 <= k <= len(counted):
        raise ValueError(f"n_clusters must lie between 1 and the {len(counted)} rows that count, got {k}")
    points, weights = x[counted], w[counted]
    cost = _group_costs(points, weights)
    bits = [1 << i for i in range(len(points))]

    def inertia(labels: tuple[int, ...]) -> float:
        groups = [0] * k
        for bit, label in zip(bits, labels, strict=True):
            groups[label] |= bit
        return sum(cost[group] for group in groups)

    best = np.asarray(min(partitions(len(points), k), key=inertia))
    centers = np.stack([_mean(points[best == j], weights[best == j]) for j in range(k)])
    labels = ((x[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1)
    labels[counted] = best
    return BestPartition(
        labels=labels,
        centers=centers,
        inertia=float(inertia(tuple(best))),
        n_partitions=stirling2(len(points), k),
    )


def _group_costs(x: np.ndarray, w: np.ndarray) -> list[float]:
    """Return the scatter of every subset of the rows, which are numbered by their bits."""
    pairs = np.triu(w[:, None] * w * ((x[:, None] - x) ** 2).sum(axis=2))
    inside = (np.arange(2 ** len(x))[:, None] >> np.arange(len(x)) & 1).astype(float)
    weight = inside @ w
    return (np.einsum("si,ij,sj->s", inside, pairs, inside) / np.where(weight > 0, weight, 1.0)).tolist()


def _mean(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    return x[0] + w @ (x - x[0]) / w.sum()
