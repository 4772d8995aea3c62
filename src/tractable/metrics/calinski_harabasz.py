"""Calinski and Harabasz: how far apart clusters are, beside how wide they are."""

from math import inf
from typing import Any

from tractable.metrics.clusters import as_clusters, summarise

__all__ = ["calinski_harabasz_score"]


def calinski_harabasz_score(X: Any, labels: Any, *, sample_weight: Any = None) -> float:
    """Return the scatter between clusters over that within, per degree of freedom; the larger, the better.

    CH = ((N - K) / (K - 1)) · Σ_k n_k |μ_k - x̄|² / Σ_k Σ_{i in k} |x_i - μ_k|², the variance ratio of
    Calinski and Harabasz (1974).

    Clusters without any scatter score infinity, where scikit-learn says 1; and 0 if their centres coincide
    too. Everything else is as in scikit-learn's `calinski_harabasz_score`, which takes no weights.

    Parameters
    ----------
    X : array (n, d)
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
