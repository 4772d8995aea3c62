"""Counts of many numbers in bins."""

import numpy as np

import tractable
from benchmarks.row import Row, at_least

N_BINS = 100


def setup(size, folder):  # noqa: ARG001  (no files)
    return np.random.default_rng(0).standard_normal((size, 1))


def ours(X):
    model = tractable.Histogram(bins=N_BINS).fit(X)
    return model.counts_, model.edges_[0]


def numpys(X):
    return np.histogram(X[:, 0], bins=N_BINS)


def check(mine, theirs):
    """Equal counts and equal edges, to the last bit."""
    for a, b in zip(mine, theirs, strict=True):
        np.testing.assert_array_equal(a, b)


ROW = Row(
    name="histogram",
    shows="Histogram of 10,000,000 numbers in 100 bins between the least and the greatest.",
    setup=setup,
    size=10_000_000,
    dry_size=1_000,
    ours=ours,
    peers={"np.histogram": numpys},
    check=check,
    targets={"np.histogram": at_least(3.0)},
    limit="reading the array three times: to check it, for its ends, and to count.",
)
