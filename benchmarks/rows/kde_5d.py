"""Kernel density estimation in five dimensions."""

from types import SimpleNamespace

import numpy as np
from scipy.stats import gaussian_kde
from sklearn.neighbors import KernelDensity

import tractable
from benchmarks.row import Row, at_least

BANDWIDTH, NARROW = 0.3, 0.05


def setup(size, folder, bandwidth=BANDWIDTH):  # noqa: ARG001  (no files)
    n, m, dim = size
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, dim))
    # SciPy's bandwidth is a multiple of the covariance: rows of covariance one make it ours.
    X = np.linalg.solve(np.linalg.cholesky(np.cov(X.T)), (X - X.mean(axis=0)).T).T
    queries = rng.standard_normal((m, dim))
    truth = in_long_doubles(X, queries[:50], bandwidth)
    return SimpleNamespace(X=X, queries=queries, bandwidth=bandwidth, truth=truth)


def setup_narrow(size, folder):
    return setup(size, folder, NARROW)


def in_long_doubles(X, queries, bandwidth):
    h = np.longdouble(bandwidth)
    squares = sum((X[:, j] - queries[:, j, None]).astype(np.longdouble) ** 2 for j in range(X.shape[1]))
    scale = (h * np.sqrt(2 * np.longdouble(np.pi))) ** X.shape[1]
    return (np.exp(-squares / (2 * h * h)).mean(axis=1) / scale).astype(float)


def answer(data, prob):
    return SimpleNamespace(prob=prob, truth=data.truth)


def ours(data):
    model = tractable.KernelDensity(bandwidth=data.bandwidth).fit(data.X)
    return answer(data, np.exp(model.score_samples(data.queries)))


def scipys(data):
    return answer(data, gaussian_kde(data.X.T, bw_method=data.bandwidth)(data.queries.T))


def sklearns(data):
    model = KernelDensity(bandwidth=data.bandwidth).fit(data.X)
    return answer(data, np.exp(model.score_samples(data.queries)))


def check(mine, theirs):
    """Ours within 1e-10 of long doubles, tails included; peers within 1e-10 of the peak.

    In the tails scikit-learn has fewer digits.
    """
    np.testing.assert_allclose(mine.prob[: len(mine.truth)], mine.truth, rtol=1e-10)
    np.testing.assert_allclose(mine.prob, theirs.prob, rtol=1e-10, atol=1e-10 * mine.prob.max())


ROW = Row(
    name="kde_5d",
    shows="Density of 5,000 rows of 5 columns under a Gaussian window on 20,000, h = 0.3, the fit included.",
    setup=setup,
    size=(20_000, 5_000, 5),
    dry_size=(200, 50, 5),
    ours=ours,
    peers={"scipy": scipys, "scikit-learn": sklearns},
    check=check,
    targets={"scipy": at_least(5.0), "scikit-learn": at_least(15.0)},
    limit="100,000,000 squared distances and exponentials.",
)
