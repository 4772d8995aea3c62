"""What a clustering is: tight within, far apart between."""

from typing import Any

import numpy as np

from tractable.arrays.extreme import squared_units
from tractable.arrays.namespace import to_numpy
from tractable.metrics.clusters import as_clusters, summarise
from tractable.value import value

__all__ = ["ClusterReport", "cluster_report"]


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
        """The share of the total scatter that lies between the clusters; 0 where rows do not vary."""
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
    """Return how compact and how separate clusters are: their sizes, widths, and nearest neighbours.

    A clustering is good where rows are near to their own centre and far from the others: where the `radius`
    of a cluster is below half its `separation`, all its rows are nearer to its centre than to any other.

    Parameters
    ----------
    X : array (n, d)
    labels : array (n,)
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
    unit = clusters.unit
    gaps = unit * to_numpy(found.gaps) + np.diag(np.full(clusters.n_clusters, np.inf))
    one = clusters.n_clusters == 1
    sizes, scatter = to_numpy(found.weights), squared_units(to_numpy(found.scatter), unit)
    return ClusterReport(
        labels=to_numpy(clusters.names),
        sizes=sizes,
        centers=unit * to_numpy(found.origin + found.centers),
        scatter=scatter,
        spread=np.sqrt(scatter / sizes),
        radius=unit * to_numpy(found.radius),
        separation=gaps.min(axis=1),
        nearest=np.array([-1]) if one else gaps.argmin(axis=1),
        within=float(squared_units(found.within, unit)),
        between=float(squared_units(found.between, unit)),
    )
