"""Davies and Bouldin: the width of each cluster and its most similar neighbour, beside their distance."""

from typing import Any

from tractable.arrays.namespace import device, namespace_of
from tractable.metrics.clusters import as_clusters, summarise

__all__ = ["davies_bouldin_score"]


def davies_bouldin_score(X: Any, labels: Any, *, sample_weight: Any = None) -> float:
    """Return how similar each cluster is to the most similar other one, on average; the smaller, the better.

    DB = (1/K) Σ_k max_{l ≠ k} (s_k + s_l) / |μ_k - μ_l|, with s_k the mean distance of the rows of cluster k
    from its centre, Davies and Bouldin (1979). Clusters count alike, whatever their size.

    Different clusters with one centre score infinity, where scikit-learn leaves such pairs out; clusters
    without any scatter score 0. Everything else is as in scikit-learn's `davies_bouldin_score`, which takes
    no weights.

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
