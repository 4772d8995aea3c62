"""Kernel density estimation of numbers."""

from types import SimpleNamespace

import numpy as np
from scipy.stats import gaussian_kde
from sklearn.neighbors import KernelDensity

import tractable
from benchmarks.row import Row, at_least

BANDWIDTH = 0.05


def setup(size, folder):  # noqa: ARG001  (no files)
    n, m = size
    rng = np.random.default_rng(0)
    return SimpleNamespace(X=rng.standard_normal((n, 1)), queries=rng.standard_normal((m, 1)))


def ours(data):
    model = tractable.KernelDensity(bandwidth=BANDWIDTH).fit(data.X)
    return np.exp(model.score_samples(data.queries))


def scipys(data):
    estimate = gaussian_kde(data.X[:, 0], bw_method=BANDWIDTH / data.X[:, 0].std(ddof=1))
    return estimate(data.queries[:, 0])


def sklearns(data):
    """As exact as ours: its default tolerances are zero."""
    return np.exp(KernelDensity(bandwidth=BANDWIDTH).fit(data.X).score_samples(data.queries))


def check(mine, theirs):
    """Relative 1e-10, tails included."""
    np.testing.assert_allclose(mine, theirs, rtol=1e-10)


ROW = Row(
    name="kde_1d",
    shows="Density of 10,000 numbers under a Gaussian window on 50,000, h = 0.05, the fit included.",
    setup=setup,
    size=(50_000, 10_000),
    dry_size=(200, 50),
    ours=ours,
    peers={"scipy": scipys, "scikit-learn": sklearns},
    check=check,
    targets={"scipy": at_least(200.0), "scikit-learn": at_least(200.0)},
    limit="sorting the points, 26 moments a bin, and a short polynomial for each of some 35 bins a query.",
)
