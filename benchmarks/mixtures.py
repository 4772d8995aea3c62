"""What the rows of Gaussian mixtures share: clusters, a start for both, and so many iterations of each."""

import warnings
from types import SimpleNamespace

import numpy as np
from sklearn.mixture import GaussianMixture as Peer

from benchmarks.row import Row, at_least
from tractable.mixture import GaussianMixture

ITERATIONS = 10


def clusters(size):
    n_rows, dim, n_components = size
    rng = np.random.default_rng(0)
    X = 2.0 * rng.standard_normal((n_components, dim))[rng.integers(n_components, size=n_rows)]
    return X + rng.standard_normal((n_rows, dim))


def start(size, covariance_type, X):
    """All parts of a start, so that no contender looks for one; the loops end after ITERATIONS."""
    _, d, K = size
    precisions = {"full": np.tile(np.eye(d), (K, 1, 1)), "tied": np.eye(d), "diag": np.ones((K, d))}
    return {
        "n_components": K,
        "covariance_type": covariance_type,
        "weights_init": np.full(K, 1.0 / K),
        "means_init": X[:K].copy(),
        "precisions_init": precisions[covariance_type],
        "tol": 0.0,
        "max_iter": ITERATIONS,
        "reg_covar": 1e-6,
        "random_state": 0,
    }


def iterated(kind, **options):
    def fit(data):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = kind(**data.start | options).fit(data.X)
        return np.concatenate([model.weights_, model.means_.ravel(), model.covariances_.ravel()])

    return fit


def check(mine, theirs):
    """Parameters after the same iterations: 1e-4, as `reg_covar` enters our E-step too."""
    np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-4)


def memory_limit(n_rows, dim):
    """A tenth of the data, 16 bytes a row, and 32 MB for each of two threads."""
    return 0.1 * n_rows * dim * 8e-6 + 16e-6 * n_rows + 64.0


def mixture_row(name, shows, size, covariance_type, times):
    def setup(size, folder):  # noqa: ARG001  (no files)
        X = clusters(size)
        return SimpleNamespace(X=X, start=start(size, covariance_type, X))

    return Row(
        name=name,
        shows=shows,
        setup=setup,
        size=size,
        dry_size=(400, 3, 2),
        ours=iterated(GaussianMixture),
        peers={"scikit-learn": iterated(Peer, init_params="random_from_data")},
        check=check,
        targets={"scikit-learn": at_least(times)},
        memory_limit_mb=memory_limit(*size[:2]),
        limit="Two products of n rows with K × P features, 4 n K P operations, at the GEMM rate.",
    )
