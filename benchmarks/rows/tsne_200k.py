"""t-SNE of two hundred thousand rows, against openTSNE on a tenth of them."""

from types import SimpleNamespace

import numpy as np

from benchmarks.maps import ABSENT, OPENTSNE, clusters
from benchmarks.row import Row, at_least
from tractable import TSNE, trustworthiness


def setup(size, folder):
    whole = clusters(size, folder)
    return SimpleNamespace(X=whole.X, tenth=clusters((size[0] // 10, size[1]), folder))


def ours(data):
    return data.X, TSNE(random_state=0).fit(data.X).embedding_


def of_a_tenth(contender):
    def found(data):
        tenth, points = contender(data.tenth)
        return tenth.X, points

    return found


def check(mine, theirs):
    """Neighbourhoods of both maps can be trusted: a sample of the larger is taken as dense as the other."""
    for X, points in (mine, theirs):
        some = np.arange(0, len(X), max(1, len(X) // 5_000))
        assert trustworthiness(X[some], points[some], n_neighbors=15) > 0.8


ROW = Row(
    name="tsne_200k",
    shows="t-SNE of 200,000 × 50 rows (heavy); openTSNE has 20,000: 1× is a tenth of its time a point.",
    setup=setup,
    size=(200_000, 50),
    dry_size=(13_000, 6),
    ours=ours,
    peers={f"{name}, a tenth of the rows": of_a_tenth(contender) for name, contender in OPENTSNE.items()},
    check=check,
    targets={"openTSNE, a tenth of the rows": at_least(1.0)},
    limit="the approximate graph of neighbours, and 500 times the transforms of a grid and a gather each.",
    reason="A third of the time finds neighbours and their affinities. The rest are 500 steps of 40 ms, in "
    "which each point gathers forces of neighbours from memory: of a tenth of the points they stay in the "
    "cache, and a point takes half as long.",
    absent=tuple(f"{name}, a tenth of the rows" for name in ABSENT),
)
