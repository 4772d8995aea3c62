"""A bandwidth by the likelihood of left-out rows."""

from types import SimpleNamespace

import numpy as np

import tractable
from benchmarks.row import Row, within
from tractable.smoothing import loo_nll, select_bandwidth

DIM = 2


def setup(size, folder):  # noqa: ARG001  (no files)
    return SimpleNamespace(X=np.random.default_rng(0).standard_normal((size, DIM)))


def ours(data):
    found = select_bandwidth(data.X, "loo", search="grid")
    assert len(found.candidates) == 40
    return found.criterion, loo_nll(data.X[:500], found.bandwidth)


def one_evaluation(data):
    """Every row scored exactly under all rows: what one candidate would cost by itself."""
    model = tractable.KernelDensity(bandwidth="silverman").fit(data.X)
    return model.score(data.X), 0.0


def check(mine, theirs):
    """A likelihood like that of the rule's bandwidth, which is near the best for Gaussian rows."""
    assert abs(mine[0] + theirs[0]) < 0.2


def row(name, shape, one_evaluation, **options):
    """Return a row: forty candidates beside one exact evaluation at all rows."""
    return Row(
        name=name,
        shows=f"40 bandwidths by leave-one-out likelihood, {shape}, beside one exact evaluation at all rows.",
        size=20_000,
        dry_size=1_000,
        peers={"one evaluation": one_evaluation},
        targets={"one evaluation": within(10.0)},
        **options,
    )


ROW = row(
    "kde_loo",
    "20,000 × 2",
    one_evaluation,
    setup=setup,
    ours=ours,
    check=check,
    limit="400,000,000 squared distances, 4 exponentials and 36 squares of each.",
)
