"""One E-step of two workers of Dask, and of two threads of this process."""

import numpy as np

from benchmarks.cluster import held_by_workers, held_here, mixture_of, two_threads
from benchmarks.row import Row, within


def setup(size, folder):  # noqa: ARG001
    X = held_here(*size)
    return mixture_of(X[:20_000], 10, 3), held_by_workers(*size), X


def ours(data):
    start, rows, _ = data
    return start.summarize(rows).objective


def threads(data):
    start, _, X = data
    with two_threads():
        return start.summarize(X).objective


def check(mine, theirs):
    """The log likelihood of all rows, to 1e-12."""
    np.testing.assert_allclose(mine, theirs, rtol=1e-12)


ROW = Row(
    name="dask_overhead",
    shows="One E-step of GaussianMixture, K = 10, 10,000,000 × 16: two workers of Dask and two threads.",
    setup=setup,
    size=(10_000_000, 16),
    dry_size=(2_000, 4),
    ours=ours,
    peers={"two threads of this process": threads},
    check=check,
    targets={"two threads of this process": within(1.25)},
    memory=False,
    limit="the E-step; three processes of Dask use a tenth of a core between them while they wait.",
)
