"""Log densities of a million numbers under a million normals."""

from types import SimpleNamespace

import numpy as np
from scipy.stats import norm

import tractable
from benchmarks.row import Row, at_least


def setup(size, folder):  # noqa: ARG001  (no files)
    rng = np.random.default_rng(0)
    x, mean, stddev = rng.standard_normal(size), rng.standard_normal(size), rng.random(size) + 0.5
    normals = tractable.Normal(mean=mean, stddev=stddev)
    return SimpleNamespace(x=x, mean=mean, stddev=stddev, normals=normals)


def ours(data):
    return data.normals.log_prob(data.x)


def scipys(data):
    return norm.logpdf(data.x, data.mean, data.stddev)


def check(mine, theirs):
    """Relative 1e-12, or 1e-13 near zero."""
    np.testing.assert_allclose(mine, theirs, rtol=1e-12, atol=1e-13)


ROW = Row(
    name="normal_log_prob",
    shows="Log density of 1,000,000 numbers, each under a normal of its own.",
    setup=setup,
    size=1_000_000,
    dry_size=1_000,
    ours=ours,
    peers={"scipy": scipys},
    check=check,
    targets={"scipy": at_least(5.0)},
    limit="a division a number, and reading four numbers for each written; the constants are kept.",
)
