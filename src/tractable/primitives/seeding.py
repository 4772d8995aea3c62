"""k-means++: rows to begin from, each likely where the ones before are far."""

import math

import numpy as np

from tractable.arrays.namespace import Array, is_numpy_array, namespace_of
from tractable.primitives._agnostic.seeding import kmeans_plus_plus as agnostic
from tractable.primitives._agnostic.seeding import squared_distances

__all__ = ["kmeans_plus_plus", "n_trials", "seeding_probabilities"]


def n_trials(n_clusters: int) -> int:
    """Return how many candidates greedy k-means++ weighs for each centre: 2 + ln K, as is usual.

    Examples
    --------
    >>> n_trials(8)
    4
    """
    return 2 + int(math.log(n_clusters))


def kmeans_plus_plus(x: Array, weights: Array | None, n_clusters: int, uniforms: Array) -> Array:
    """Choose rows as first centres by greedy k-means++ (Arthur and Vassilvitskii 2007).

    The first centre is a row drawn by weight. Each further one is the best of several candidates, drawn with
    the probabilities of :func:`seeding_probabilities`: the one that leaves the smallest
    Σ_i w_i min_l |x_i - μ_l|². Rows are drawn by the inverse of the cumulative weight, one uniform a
    candidate, so a row of weight two is drawn as two equal rows are, and a row of weight zero never.

    Parameters
    ----------
    x : array (n, d)
    weights : array (n,) or None
        How often each row counts.
    n_clusters : int
    uniforms : array (n_clusters, trials)
        Numbers in [0, 1). One column is k-means++ without greed; :func:`n_trials` columns are usual.

    Returns
    -------
    array (n_clusters,) of int
        Rows of x. Once every row is a centre, the rest are drawn by weight alone, and repeat.

    Examples
    --------
    >>> x = np.array([[0.0], [0.1], [9.0], [9.1]])
    >>> kmeans_plus_plus(x, None, 2, np.array([[0.1], [0.7]])).tolist()
    [0, 3]
    """
    if tuple(uniforms.shape)[:1] != (n_clusters,) or uniforms.ndim != 2 or uniforms.shape[1] < 1:
        raise ValueError(
            f"uniforms must have shape ({n_clusters}, trials), one row a centre; got {tuple(uniforms.shape)}"
        )
    if not is_numpy_array(x):
        return agnostic(x, weights, uniforms)
    from tractable.primitives._compiled.seeding import kmeans_plus_plus as compiled

    x = x if x.dtype in (np.float64, np.float32) else x.astype(np.float64)
    w = np.empty(0) if weights is None else np.asarray(weights, dtype=np.float64)
    return compiled(x, w, np.asarray(uniforms, dtype=np.float64))


def seeding_probabilities(x: Array, weights: Array | None, centers: Array) -> Array:
    """Return the probabilities with which k-means++ draws its next centre: ∝ w_i min_l |x_i - μ_l|².

    Distances are squared (some texts forget it, and their seeds miss clusters).

    Parameters
    ----------
    x : array (n, d)
    weights : array (n,) or None
    centers : array (k, d)
        The centres so far.

    Returns
    -------
    array (n,)

    Examples
    --------
    >>> seeding_probabilities(np.array([[0.0], [1.0], [2.0]]), None, np.array([[0.0]])).tolist()
    [0.0, 0.2, 0.8]
    """
    xp = namespace_of(x)
    mass = xp.min(squared_distances(x, centers), axis=1)
    mass = mass if weights is None else mass * weights
    return mass / xp.sum(mass)
