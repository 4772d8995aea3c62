"""Log density of rows under one Gaussian."""

from types import SimpleNamespace

import numpy as np
from scipy.stats import multivariate_normal

import tractable
from benchmarks.row import Row, at_least


def setup(size, folder):  # noqa: ARG001  (no files)
    n_rows, dim = size
    rng = np.random.default_rng(0)
    factor = rng.standard_normal((dim, 2 * dim))
    mean, covariance = rng.standard_normal(dim), factor @ factor.T / dim
    return SimpleNamespace(X=rng.standard_normal((n_rows, dim)), mean=mean, covariance=covariance)


def ours(data):
    return tractable.MultivariateNormal(mean=data.mean, covariance=data.covariance).log_prob(data.X)


def scipys(data):
    return multivariate_normal(data.mean, data.covariance).logpdf(data.X)


def check(mine, theirs):
    """Relative 1e-10."""
    np.testing.assert_allclose(mine, theirs, rtol=1e-10)


ROW = Row(
    name="mvn_log_prob",
    shows="Log density of 1,000,000 × 16 rows, the distribution's construction included.",
    setup=setup,
    size=(1_000_000, 16),
    dry_size=(1_000, 4),
    ours=ours,
    peers={"scipy": scipys},
    check=check,
    targets={"scipy": at_least(3.0)},
    limit="a triangular product of 16 × 16 a row, and reading the rows once.",
)
