"""Isomap of rows that fill their ten dimensions."""

import numpy as np

from benchmarks.maps import check_maps, isomaps, scikit_learns_isomaps
from benchmarks.row import Row, at_least


def setup(size, folder):  # noqa: ARG001  (no files)
    return np.random.default_rng(0).standard_normal((size, 10))


ROW = Row(
    name="isomap_10d",
    shows="Isomap of 4,000 Gaussian rows, D = 10, 10 neighbours.",
    setup=setup,
    size=4_000,
    dry_size=300,
    ours=isomaps,
    peers={"scikit-learn": scikit_learns_isomaps},
    check=check_maps,
    targets={"scikit-learn": at_least(2.5)},
    limit="no small separators: a core of vertices is relaxed until nothing changes, 64 sources at a time.",
)
