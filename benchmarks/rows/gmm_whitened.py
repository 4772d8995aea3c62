"""One iteration of EM in the whitened form, for components that natural parameters cannot tell apart."""

from types import SimpleNamespace

import numpy as np
from scipy.linalg import solve_triangular
from sklearn.mixture import GaussianMixture

import tractable
from benchmarks.row import Row, at_least
from tractable.primitives.em import whitened_pass
from tractable.primitives.threads import single_threaded_blas

FLOOR = 1e-6


def setup(size, folder):  # noqa: ARG001  (no files)
    n_rows, dim, k = size
    rng = np.random.default_rng(0)
    centres = 2.0 * rng.standard_normal((k, dim))
    turn = np.eye(dim) + 0.3 * rng.standard_normal((dim, dim))
    X = centres[rng.integers(k, size=n_rows)] + rng.standard_normal((n_rows, dim)) @ turn
    covariances = np.tile(np.cov(X, rowvar=False), (k, 1, 1))
    return SimpleNamespace(X=X, weights=np.full(k, 1.0 / k), means=X[:k].copy(), covariances=covariances)


def inverses(covariances):
    """Inverse Cholesky factors."""
    eye = np.eye(covariances.shape[1])
    return np.array([solve_triangular(lower, eye, lower=True) for lower in np.linalg.cholesky(covariances)])


def ours(data):
    with single_threaded_blas():  # or BLAS would wake its own threads for the small factors after each fold
        return iterated(data)


def iterated(data):
    k, dim = data.means.shape
    shift, scale = data.X.mean(axis=0), np.ones(dim)
    means, whiteners = data.means - shift, inverses(data.covariances)
    log_det = np.log(np.diagonal(whiteners, axis1=1, axis2=2)).sum(axis=1)
    constants = np.log(data.weights) + log_det - 0.5 * dim * np.log(2.0 * np.pi)

    def expected(X, weights):
        sums, evidence = whitened_pass(X, weights, shift, scale, means, whiteners, constants)
        return np.append(sums.ravel(), evidence)

    *sums, evidence = tractable.fold(expected, data.X, rows=16384)
    sums = np.reshape(sums, (k, -1))
    n, first, second = sums[:, :1], sums[:, 1 : 1 + dim] / sums[:, :1], sums[:, 1 + dim :] / sums[:, :1]
    i, j = np.triu_indices(dim)
    covariances = np.empty((k, dim, dim))
    covariances[:, i, j] = covariances[:, j, i] = second - first[:, i] * first[:, j]
    covariances += FLOOR * np.eye(dim)
    inverses(covariances)  # which the next iteration begins with
    return n[:, 0] / n.sum(), means + first + shift, covariances, evidence / len(data.X)


def scikit_learns(data):
    model = GaussianMixture(len(data.weights), reg_covar=FLOOR)
    precisions = np.swapaxes(inverses(data.covariances), 1, 2)
    model._set_parameters((data.weights, data.means, data.covariances, precisions))  # noqa: SLF001
    evidence, log_resp = model._e_step(data.X)  # noqa: SLF001
    model._m_step(data.X, log_resp)  # noqa: SLF001
    return model.weights_, model.means_, model.covariances_, evidence


def check(mine, theirs):
    """Relative 1e-9."""
    for a, b in zip(mine, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-9)


ROW = Row(
    name="gmm_whitened",
    shows="One EM iteration of a Gaussian mixture, 100,000 × 16, K = 10, about each component's own mean.",
    setup=setup,
    size=(100_000, 16, 10),
    dry_size=(300, 3, 2),
    ours=ours,
    peers={"scikit-learn": scikit_learns},
    check=check,
    targets={"scikit-learn": at_least(2.5)},
    limit="d² multiplications a row and component, half for the distances, half for the products, in cache.",
)
