"""Windows of the covariance of neighbours, their number by cross-validation."""

from types import SimpleNamespace

import numpy as np
from scipy.spatial import cKDTree

import tractable
from benchmarks.row import Row, within


def setup(size, folder):  # noqa: ARG001  (no files)
    n, dim, k = size
    return SimpleNamespace(X=np.random.default_rng(0).standard_normal((n, dim)), k=k)


def ours(data):
    model = tractable.AdaptiveKernelDensity().fit(data.X)
    return model.n_neighbors_, len(data.X)


def search(data):
    """One search of SciPy's tree, of as many neighbours as the last window that is tried."""
    cKDTree(data.X).query(data.X, data.k)
    return data.k, len(data.X)


def check(mine, theirs):
    """The number chosen is below the largest that is tried: the search ended."""
    assert mine[1] == theirs[1]
    assert 3 < mine[0] < theirs[0]


ROW = Row(
    name="adaptive_kde",
    shows="Adaptive kernel density of 40,000 × 3 rows, the number of neighbours by cross-validation.",
    setup=setup,
    size=(40_000, 3, 417),
    dry_size=(400, 2, 200),
    ours=ours,
    peers={"one search": search},
    check=check,
    targets={"one search": within(2)},
    limit="four searches for up to 417 neighbours, and seven sums of 39,000 windows at 1,000 rows.",
)
