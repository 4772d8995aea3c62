"""Isomap of a surface."""

from sklearn.datasets import make_swiss_roll

from benchmarks.maps import check_maps, isomaps, scikit_learns_isomaps
from benchmarks.row import Row, at_least


def setup(size, folder):  # noqa: ARG001  (no files)
    return make_swiss_roll(size, noise=0.05, random_state=0)[0]


ROW = Row(
    name="isomap_roll",
    shows="Isomap of 4,000 rows of a swiss roll, 10 neighbours.",
    setup=setup,
    size=4_000,
    dry_size=300,
    ours=isomaps,
    peers={"scikit-learn": scikit_learns_isomaps},
    check=check_maps,
    targets={"scikit-learn": at_least(5.0)},
    limit="sweeps over the edges of the eliminated graph, for 64 sources at a time, and products with D².",
)
