"""Metric scaling by majorisation."""

import warnings

import numpy as np
from sklearn import manifold

from benchmarks.row import Row, at_least
from tractable import MetricMDS

STEPS = 100


def setup(size, folder):  # noqa: ARG001  (no files)
    return np.random.default_rng(0).standard_normal(size)


def ours(data):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it is stopped
        return MetricMDS(max_iter=STEPS, eps=0.0).fit(data).stress_


def scikit_learns(data):
    peer = manifold.MDS(n_init=1, init="classical_mds", max_iter=STEPS, eps=0.0, n_jobs=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return peer.fit(data).stress_


def check(mine, theirs):
    """The same stress after the same steps from the same start."""
    np.testing.assert_allclose(mine, theirs, rtol=1e-6)


ROW = Row(
    name="smacof",
    shows="SMACOF: 100 steps of 1,000 × 10 rows, from the classical solution.",
    setup=setup,
    size=(1_000, 10),
    dry_size=(60, 4),
    ours=ours,
    peers={"scikit-learn": scikit_learns},
    check=check,
    targets={"scikit-learn": at_least(2.0)},
    limit="a root and a division for every pair of rows, in every step.",
)
