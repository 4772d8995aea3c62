"""Iterations of variational Bayes for a Gaussian mixture: 100,000 × 16, K = 10."""

import copy
import warnings
from types import SimpleNamespace

import numpy as np
from sklearn.mixture import BayesianGaussianMixture as Peer

from benchmarks.mixtures import ITERATIONS, clusters
from benchmarks.row import Row, at_least
from tractable.mixture import BayesianGaussianMixture

BELIEFS = (
    "weight_concentration_", "mean_precision_", "means_", "degrees_of_freedom_", "covariances_",
    "precisions_cholesky_",
)  # fmt: skip


def setup(size, folder):  # noqa: ARG001  (no files)
    """Both begin at the same beliefs, as a warm start; the loops end after ITERATIONS."""
    X = clusters(size)
    options = {
        "n_components": size[2],
        "weight_concentration_prior_type": "dirichlet_distribution",
        "reg_covar": 0.0,
        "tol": 0.0,
        "random_state": 0,
        "warm_start": True,
        "max_iter": 1,
        "init_params": "random_from_data",
    }
    ours, theirs = (fitted(kind(**options), X) for kind in (BayesianGaussianMixture, Peer))
    theirs._set_parameters(tuple(getattr(ours, name) for name in BELIEFS))  # noqa: SLF001
    return SimpleNamespace(X=X, ours=ours, theirs=theirs)


def fitted(model, X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X)


def iterated(name):
    def fit(data):
        model = fitted(copy.copy(getattr(data, name)).set_params(max_iter=ITERATIONS), data.X)
        return [getattr(model, belief) for belief in (*BELIEFS, "weights_")]

    return fit


def check(mine, theirs):
    """Beliefs after the same iterations: relative 1e-6."""
    for a, b in zip(mine, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-8)


ROW = Row(
    name="bayesian_gmm",
    shows="Ten iterations of a Bayesian Gaussian mixture: 100,000 × 16, K = 10, each its own covariance.",
    setup=setup,
    size=(100_000, 16, 10),
    dry_size=(400, 3, 2),
    ours=iterated("ours"),
    peers={"scikit-learn": iterated("theirs")},
    check=check,
    targets={"scikit-learn": at_least(12.0)},
    limit="Two products of n rows with K × P features, 4 n K P operations, at the GEMM rate.",
)
