"""Spill trees: the margin buys recall with memory, both counted."""

import numpy as np
import pytest

from tractable.spatial import Brute, SpillTree, recall
from tractable.spatial.spill_tree import spilled_levels


@pytest.fixture
def points(rng):
    return rng.standard_normal((2000, 6))


@pytest.mark.spec("TREE-02", "TREE-07")
def test_recall_grows_with_the_margin(points):
    def mean_recall(tau):
        trees = (SpillTree(points, tau=tau, leaf_size=40, random_state=seed) for seed in range(5))
        return np.mean([recall(tree, points[:300], 5) for tree in trees])

    shares = [mean_recall(tau) for tau in (0.0, 0.05, 0.1, 0.15)]
    assert np.all(np.diff(shares) > 0.02)


@pytest.mark.spec("TREE-02")
def test_points_within_the_margin_are_on_both_sides(rng):
    points = rng.standard_normal((400, 2))
    tree = SpillTree(points, tau=0.1, leaf_size=250, random_state=0)
    normal, offset = tree.trees.normals[0], tree.trees.offsets[0]
    over = (points - points.mean(axis=0)) @ normal - offset
    left, right = (set(tree.leaf_points(leaf).tolist()) for leaf in (0, 1))
    assert {*np.flatnonzero(over <= 0.0)} <= left
    assert {*np.flatnonzero(over > 0.0)} <= right
    shared = sorted(left & right)
    assert len(shared) == 80
    margin = np.abs(over[shared])
    for side in (over <= 0.0, over > 0.0):
        apart = np.sort(np.abs(over[side]))
        assert np.max(margin[side[shared]]) == apart[39], "the nearest to the plane are those shared"


@pytest.mark.spec("TREE-05", "E000-32")
@pytest.mark.parametrize("tau", [0.0, 0.1])
def test_depth_and_visits_grow_like_the_logarithm(tau, rng):
    """Twice the points are 1 / log₂(1 / (1/2 + τ)) planes more; a search opens one node of each level."""
    sizes, depths = 2.0 ** np.arange(8, 15), []
    for n in sizes.astype(int):
        tree = SpillTree(rng.standard_normal((n, 3)), tau=tau, leaf_size=16, max_copies=1e3, random_state=0)
        *_, report = tree.query(rng.standard_normal((50, 3)), 3, report=True)
        assert np.all(report.visited <= tree.depth + 1)
        assert np.all(report.visited >= tree.depth)
        assert np.all(report.measured <= 16)
        depths.append(tree.depth)
    planes = np.log(sizes / 16) / np.log(1.0 / (0.5 + tau))
    assert np.all(np.abs(depths - planes) <= 2.0)


@pytest.mark.spec("TREE-07")
def test_memory_grows_exponentially_with_depth(rng):
    """Every level multiplies the points that are kept by 1 + 2τ, and bytes with them."""
    points = rng.standard_normal((4000, 2))
    for tau in (0.05, 0.1, 0.2):
        stored = {}
        for leaf_size in (2000, 500, 120, 30):
            tree = SpillTree(points, tau=tau, leaf_size=leaf_size, max_copies=1e3, random_state=0)
            ratio = tree.n_stored / 4000 / (1 + 2 * tau) ** tree.depth
            assert 0.7 < ratio <= 1.05, (tau, leaf_size)
            stored[tree.n_stored] = tree.memory
            assert tree.memory >= 4 * tree.n_stored
        assert np.all(np.diff(sorted(stored.values())) > 0)


@pytest.mark.spec("TREE-07")
def test_a_margin_that_would_fill_the_memory_is_refused_before_work(rng):
    points = rng.standard_normal((100_000, 2))
    with pytest.raises(ValueError, match=r"tau=0\.4 would keep more than max_copies=16 of each of 100000"):
        SpillTree(points, tau=0.4)
    tree = SpillTree(points[:5000], tau=0.4, search="hybrid", leaf_size=32, random_state=0)
    assert tree.n_stored <= 16 * 5000
    assert spilled_levels(5000, 32, 0.4, 16.0) == 4
    assert recall(tree, points[:200], 5) > 0.99


@pytest.mark.parametrize("points", [np.zeros((500, 2)), np.repeat(np.eye(3), 200, axis=0)])
def test_points_that_coincide_are_a_leaf(points):
    tree = SpillTree(points, tau=0.2, leaf_size=8, max_copies=500, random_state=0)
    distances, indices = tree.query(points[:1], 20)
    assert np.all(distances == 0.0)
    assert indices[0].tolist() == list(range(20))


@pytest.mark.spec("TREE-02", "E000-32")
def test_hybrid_search_without_a_margin_is_exact(rng):
    """It looks behind every plane that may hide a nearer point, and so opens more nodes."""
    points, x = rng.standard_normal((3000, 4)) + 1e5, rng.standard_normal((100, 4)) + 1e5
    hybrid = SpillTree(points, tau=0.0, search="hybrid", random_state=0)
    plain = SpillTree(points, tau=0.0, random_state=0)
    *found, report = hybrid.query(x, 7, report=True)
    for a, b in zip(found, Brute(points).query(x, 7), strict=True):
        np.testing.assert_array_equal(a, b)
    *_, descent = plain.query(x, 7, report=True)
    assert np.all(report.visited >= descent.visited)
    assert report.visited.mean() > 2 * descent.visited.mean()
    assert report.measured.mean() < 3000
    assert hybrid.exact
    assert not plain.exact
    assert not SpillTree(points, tau=0.01, search="hybrid", random_state=0).exact
    assert len(hybrid.query_radius(x, 0.8).indices) == len(Brute(points).query_radius(x, 0.8).indices)


@pytest.mark.spec("TREE-02", "TREE-07")
def test_the_hybrid_search_is_between_the_two_others(points, rng):
    """With everything by default it looks back: more is found for more nodes, of fewer copies."""
    x = rng.standard_normal((200, 6))
    trees = {search: SpillTree(points, search=search, random_state=0) for search in ("defeatist", "hybrid")}
    exact = SpillTree(points, tau=0.0, search="hybrid", random_state=0)
    shares = [recall(tree, x, 5) for tree in (*trees.values(), exact)]
    assert shares[0] + 0.1 < shares[1] < shares[2] == 1.0
    looks = trees["hybrid"].trees.look_back
    assert 0.5 < looks.mean() < 1.0
    opened = [tree.query(x, 5, report=True)[2].visited.mean() for tree in (*trees.values(), exact)]
    assert 2 * opened[0] < opened[1] < opened[2]
    assert 2000 < trees["hybrid"].n_stored < trees["defeatist"].n_stored


@pytest.mark.parametrize(
    ("argument", "bad"),
    [
        ("tau", -0.1),
        ("tau", 0.5),
        ("tau", np.nan),
        ("tau", "wide"),
        ("leaf_size", 1),
        ("leaf_size", 2.5),
        ("leaf_size", True),
        ("search", "exact"),
        ("search", None),
        ("max_copies", 0.5),
        ("max_copies", "few"),
        ("random_state", "seed"),
        ("random_state", -1),
        ("metric", "hamming"),
        ("metric", "manhattan"),
    ],
)
def test_bad_arguments_are_named(argument, bad):
    with pytest.raises(ValueError, match=argument):
        SpillTree(np.eye(3), **{argument: bad})
