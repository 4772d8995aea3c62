"""Rows in groups: what scores of a clustering ask of its labels, and what each cluster is summed up by."""

from itertools import pairwise
from typing import Any

import numpy as np

from tractable.arrays.batched import as_reals
from tractable.arrays.extreme import unit_of_rows
from tractable.arrays.grouping import tally
from tractable.arrays.namespace import Array, device, is_foreign_array, namespace_of
from tractable.arrays.weights import check_weights
from tractable.value import value

__all__ = ["Clusters", "Summary", "as_clusters", "summarise"]


@value
class Clusters:
    """The rows that count, those of a cluster side by side.

    Parameters
    ----------
    names : array (K,)
        The labels, in order.
    all_rows : array (n, d)
        The rows as they came, in units of `unit`.
    all_weights : array (n,)
    codes : array (n,)
        The number of every row's cluster; of rows that alone bear their label and count for nothing, -1.
    rows : array (m, d)
        Those of positive weight, by cluster.
    weights : array (m,)
    starts : tuple of K + 1 int
        Cluster k is the rows from ``starts[k]`` up to ``starts[k + 1]``.
    unit : float
        1, but where squares of the rows would leave the range of numbers.
    """

    names: Any
    all_rows: Array
    all_weights: Array
    codes: Array
    rows: Array
    weights: Array
    starts: tuple[int, ...]
    unit: float = 1.0

    @property
    def n_clusters(self) -> int:
        """K."""
        return len(self.starts) - 1


@value
class Summary:
    """What each cluster is summed up by.

    Centres are told as steps from one of the rows, so that they keep their digits far from the origin.
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


def as_clusters(X: Any, labels: Any, sample_weight: Any = None, *, least: int = 2) -> Clusters:
    """Return the rows by cluster, or say what is wrong with the argument that is wrong.

    A score of a clustering compares two clusters at least, and knows nothing where every row is its own.
    """
    x = _finite_rows(X)
    xp, unit = namespace_of(x), unit_of_rows(x)
    x = x if unit == 1.0 else x / unit
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
    sizes = tally(xp.take(codes, order), xp.take(ones, order), n)
    return Clusters(
        names=names,
        all_rows=x,
        all_weights=w,
        codes=codes,
        rows=xp.take(x, order, axis=0),
        weights=xp.take(w, order),
        starts=(0, *(int(end) for end in xp.cumulative_sum(sizes))),
        unit=unit,
    )


def summarise(clusters: Clusters) -> Summary:
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
    step = x - first  # rows that are all alike have no scatter, not that of a rounded mean
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
    return xp.astype(x, xp.float64, copy=False)


def _numbered(labels: Any, x: Array) -> tuple[Any, Array]:
    """Return the different labels, in order, and the number of each row's."""
    given = labels if is_foreign_array(labels) else np.asarray(labels)
    if tuple(given.shape) != (x.shape[0],):
        raise ValueError(
            f"labels must have one entry a row: expected shape ({x.shape[0]},), got {tuple(given.shape)}"
        )
    xp, home = namespace_of(given), namespace_of(x)
    try:
        names, codes = xp.unique_values(given), xp.unique_inverse(given).inverse_indices
        missing = bool(xp.any(given != given))  # noqa: PLR0124  (NaN)
    except TypeError:
        missing = True
    if missing:
        raise ValueError("labels must be of one kind, and none of them missing")
    return names, home.astype(home.asarray(codes, device=device(x)), home.int64)


def _with_weight(names: Any, codes: Array, w: Array) -> tuple[Any, Array, int]:
    """Forget the labels that only rows of weight zero bear: their rows are numbered -1."""
    xp = namespace_of(codes)
    there = tally(codes, w, names.shape[0]) > 0
    n = int(xp.count_nonzero(there))
    if n == names.shape[0]:
        return names, codes, n
    numbers = xp.cumulative_sum(xp.astype(there, xp.int64)) - 1
    numbers = xp.where(there, numbers, xp.full_like(numbers, -1))
    kept = namespace_of(names).asarray([k for k in range(names.shape[0]) if bool(there[k])])
    return namespace_of(names).take(names, kept), xp.take(numbers, codes), n
