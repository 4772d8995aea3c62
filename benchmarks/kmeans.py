"""What the rows of k-means share: twenty iterations from one start, to the same labels."""

import warnings
from importlib.util import find_spec
from types import SimpleNamespace

import numpy as np
from sklearn import cluster
from sklearn.exceptions import ConvergenceWarning

import tractable
from benchmarks.row import Row, at_least
from tractable.primitives.threads import default_threads

ITERATIONS = 20


def problem(size, folder):  # noqa: ARG001  (no files)
    """Round clusters that overlap; `size` is rows, columns and clusters."""
    n_rows, dim, n_clusters = size
    rng = np.random.default_rng(1)
    middles = 2.0 * rng.standard_normal((n_clusters, dim))
    X = rng.standard_normal((n_rows, dim)) + middles[rng.integers(n_clusters, size=n_rows)]
    start = X[rng.choice(n_rows, n_clusters, replace=False)]
    return SimpleNamespace(X=X, single=X.astype(np.float32), start=start)


def fitted(model, **options):
    """Labels and centres of a model that has scikit-learn's parameters."""

    def fit(data):
        found = model(len(data.start), init=data.start, n_init=1, max_iter=ITERATIONS, tol=0.0, **options)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            found.fit(data.X)
        return {"labels": found.labels_, "centers": found.cluster_centers_}

    return fit


def faisses(data):
    import faiss

    n_clusters, dim = data.start.shape
    found = faiss.Kmeans(dim, n_clusters, niter=ITERATIONS, max_points_per_centroid=len(data.X))
    found.train(data.single, init_centroids=data.start.astype(np.float32))
    return {"single": found.index.search(data.single, 1)[1][:, 0]}


def check(mine, theirs):
    """The labels of scikit-learn, all; of faiss, which rounds to single precision, 99.9 in 100."""
    if "single" in theirs:
        assert np.mean(mine["labels"] == theirs["single"]) >= 0.999, "faiss has other labels"
        return
    np.testing.assert_array_equal(mine["labels"], theirs["labels"])
    np.testing.assert_allclose(mine["centers"], theirs["centers"], rtol=0, atol=1e-9)


def row(name, shows, size):
    n_rows, dim, _ = size
    # A tenth of the data, 16 bytes a row and 32 MB a thread.
    limit = 0.1 * 8e-6 * n_rows * dim + 16e-6 * n_rows + 32.0 * default_threads()
    peers = {f"scikit-learn {kind}": fitted(cluster.KMeans, algorithm=kind) for kind in ("lloyd", "elkan")}
    targets = {**{peer: at_least(2.0) for peer in peers}, "faiss": at_least(1.0)}
    if find_spec("faiss"):
        peers = {**peers, "faiss": faisses}
    return Row(
        name=name,
        shows=shows,
        setup=problem,
        size=size,
        dry_size=(2_000, 4, 5),
        ours=fitted(tractable.KMeans),
        peers=peers,
        check=check,
        targets=targets,
        memory_limit_mb=limit,
        limit="the matrix product of rows that bounds do not decide with all centres, in single precision.",
        absent=() if "faiss" in peers else ("faiss",),
    )
