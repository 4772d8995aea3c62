"""K-means of sparse rows."""

from types import SimpleNamespace

from sklearn import cluster

import tractable
from benchmarks.row import Row, at_least
from benchmarks.sparse_rows import DRY_SIZE, SIZE, no_worse, rows

K = 10


def setup(size, folder):  # noqa: ARG001  (no files)
    X, _ = rows(size)
    return SimpleNamespace(X=X, init=X[:K].toarray())


def ours(data):
    return tractable.KMeans(K, init=data.init).fit(data.X).inertia_


def scikit_learns(data):
    return cluster.KMeans(K, init=data.init, n_init=1).fit(data.X).inertia_


ROW = Row(
    name="sparse_kmeans",
    shows="KMeans, 10 clusters from given centres, sparse rows, 20,000 × 50,000, 100 entries each.",
    setup=setup,
    size=SIZE,
    dry_size=DRY_SIZE,
    ours=ours,
    peers={"scikit-learn": scikit_learns},
    check=no_worse(1e-9),
    targets={"scikit-learn": at_least(1.0)},
    limit="products of the stored entries with all centres, where bounds on distances do not decide.",
    reason="In CPU seconds 1.3 times: of two threads, each waits for the other at the end of every pass.",
)
