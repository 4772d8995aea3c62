"""A mixture fitted by two workers of Dask, and by two threads of this process."""

import numpy as np

from benchmarks.cluster import held_by_workers, held_here, mixture_of, two_threads
from benchmarks.row import Row, within


def setup(size, folder):  # noqa: ARG001
    return held_by_workers(*size), held_here(*size)


def ours(data):
    return mixture_of(data[0], 10, 5).lower_bound_


def threads(data):
    with two_threads():
        return mixture_of(data[1], 10, 5).lower_bound_


def check(mine, theirs):
    """The log likelihood, to 1e-12."""
    np.testing.assert_allclose(mine, theirs, rtol=1e-12)


ROW = Row(
    name="dask_gmm",
    shows="GaussianMixture, K = 10, 5 iterations, 10,000,000 × 16: two workers of Dask and two threads.",
    setup=setup,
    size=(10_000_000, 16),
    dry_size=(2_000, 4),
    ours=ours,
    peers={"two threads of this process": threads},
    check=check,
    targets={"two threads of this process": within(1.17)},  # 85 % of their speed
    memory=False,
    limit="the E-steps; the scheduler takes a tenth of a second a pass, whatever the number of rows.",
)
