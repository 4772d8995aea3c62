"""A bandwidth of one column by the likelihood of left-out rows."""

from types import SimpleNamespace

import numpy as np

import tractable
from benchmarks.rows.kde_loo import row
from tractable.smoothing import select_bandwidth


def setup(size, folder):  # noqa: ARG001  (no files)
    return SimpleNamespace(X=np.random.default_rng(0).standard_normal((size, 1)))


def ours(data):
    found = select_bandwidth(data.X, "loo", search="grid")
    assert len(found.candidates) == 40
    return found.criterion


def one_evaluation(data):
    """Every row scored exactly under all rows, by a fast Gauss transform."""
    return -tractable.KernelDensity(bandwidth="silverman").fit(data.X).score(data.X)


def check(mine, theirs):
    """A likelihood like that of the rule's bandwidth, which is near the best for Gaussian rows."""
    assert abs(mine - theirs) < 0.2


ROW = row(
    "kde_loo_line",
    "20,000 × 1",
    one_evaluation,
    setup=setup,
    ours=ours,
    check=check,
    limit="40 × 20,000 logarithms, and 30 bins a row for the narrowest bandwidths, whose bins hold few rows.",
)
