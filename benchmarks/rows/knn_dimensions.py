"""A tree in few and in many dimensions: the curse of dimension, as a search meets it."""

from types import SimpleNamespace

import numpy as np

from benchmarks.row import Row, at_least
from tractable.spatial import Brute, KDTree, choose_index

K = 10
FEW, MANY = 2, 50


def problem(size, folder):  # noqa: ARG001  (no files)
    """Points and rows of one Gaussian in either number of dimensions; indexes are built beforehand."""
    n_points, n_rows = size
    rng = np.random.default_rng(5)
    known = {}
    for dim in (FEW, MANY):
        points, x = rng.standard_normal((n_points, dim)), rng.standard_normal((n_rows, dim))
        built = {"tree": KDTree(points), "chosen": choose_index(points)}
        known[dim] = SimpleNamespace(x=x, truth=Brute(points).query(x, K)[1], **built)
    return known


def searched(dim, which):
    def search(known):
        data = known[dim]
        index = getattr(data, which)
        _, indices, report = index.query(data.x, K, report=True)
        opened = float(report.visited.mean() / report.n_nodes)
        return {"same": np.array_equal(indices, data.truth), "index": index.name, "opened": opened}

    return search


def check(mine, theirs):
    """Both are exact; the tree opens few of its nodes in few dimensions, and in many nearly all."""
    assert mine["same"]
    assert theirs["same"]
    assert mine["opened"] < 0.25
    assert theirs["opened"] > 0.9


def note(answers):
    return ", ".join(
        f"{who} opens {found['opened']:.1%} of the nodes ({found['index']})" for who, found in answers.items()
    )


ROW = Row(
    name="knn_dimensions",
    shows=f"The {K} nearest of 50,000 points for 2,000 rows by a k-d tree, D = {FEW} (ours) and D = {MANY}.",
    setup=problem,
    size=(50_000, 2_000),
    dry_size=(2_000, 100),
    ours=searched(FEW, "tree"),
    peers={
        f"k-d tree, D = {MANY}": searched(MANY, "tree"),
        f"chosen index, D = {MANY}": searched(MANY, "chosen"),
    },
    check=check,
    targets={f"k-d tree, D = {MANY}": at_least(100.0)},
    note=note,
    limit="nodes opened: some of a tree in few dimensions, all of them in many.",
)
