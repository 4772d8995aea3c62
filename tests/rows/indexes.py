"""Makers of neighbour indexes, over three columns."""

import math
from functools import partial

from rows.row import Row
from tractable.spatial import Brute, Chebyshev, KDTree, Mahalanobis, Minkowski, choose_index

SPREAD = [[4.0, 1.2, 0.0], [1.2, 1.0, -0.3], [0.0, -0.3, 0.5]]
METRICS = {
    "mahalanobis": Mahalanobis(covariance=SPREAD),
    "manhattan": "manhattan",
    "minkowski-3": Minkowski(m=3),
    "chebyshev": Chebyshev(),
    "cosine": "cosine",
}


def euclidean(x, y):
    return math.dist(x, y)


def made(index, **options):
    return lambda: partial(index, **options)


ROWS = [
    Row("brute", lambda: Brute),
    Row("kd-tree", lambda: KDTree),
    Row("kd-tree-one-point-leaves", made(KDTree, leaf_size=1)),
    Row("auto", lambda: choose_index),
    *(Row(f"brute-{name}", made(Brute, metric=metric)) for name, metric in METRICS.items()),
    *(Row(f"kd-tree-{name}", made(KDTree, metric=metric, leaf_size=5)) for name, metric in METRICS.items()),
    Row("brute-hamming", made(Brute, metric="hamming")),
    Row("brute-nan-euclidean", made(Brute, metric="nan_euclidean")),
    Row("brute-function", made(Brute, metric=euclidean)),
]
EXACT = ROWS
