"""Mean shift in the plane, from every row."""

from types import SimpleNamespace

import numpy as np
from sklearn.cluster import MeanShift as Peer

from benchmarks.row import Row, at_least
from tractable import MeanShift

BANDWIDTH = 1.0


def setup(size, folder):  # noqa: ARG001  (no files)
    n_rows, n_clusters = size
    rng = np.random.default_rng(0)
    centers = 4.0 * rng.standard_normal((n_clusters, 2))
    return SimpleNamespace(
        X=centers[rng.integers(n_clusters, size=n_rows)] + 0.8 * rng.standard_normal((n_rows, 2))
    )


def ours(data):
    return MeanShift(bandwidth=BANDWIDTH).fit(data.X).cluster_centers_


def scikit_learns(data):
    return Peer(bandwidth=BANDWIDTH, n_jobs=1).fit(data.X).cluster_centers_


def check(mine, theirs):
    """The same modes in the same order, to 1e-3 bandwidths: theirs end where a step is that short."""
    np.testing.assert_allclose(mine, theirs, rtol=0.0, atol=1e-3 * BANDWIDTH)


ROW = Row(
    name="mean_shift",
    shows="Modes and basins of 5,000 × 2 rows, flat window, from every row.",
    setup=setup,
    size=(5_000, 8),
    dry_size=(150, 3),
    ours=ours,
    peers={"scikit-learn": scikit_learns},
    check=check,
    targets={"scikit-learn": at_least(200.0)},
    limit="a distance for each point near the rim of a window, 16 windows an ascent on average.",
)
