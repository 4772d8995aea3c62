"""Randomised forests: the union of leaves, and graphs from whole leaves."""

from functools import partial

import matplotlib.pyplot as plt
import numpy as np
import pytest

import tractable
from tractable.spatial import Brute, KDTree, RandomizedForest, SpillTree, TSVQTree, neighbor_graph, recall
from tractable.spatial.hyperplane_index import leaf_polygons


def curved(rng, n, inner, outer):
    """Points of few inner dimensions in many, and a little noise."""
    flat = rng.standard_normal((n, inner)) @ rng.standard_normal((inner, outer))
    return np.tanh(flat) + 0.02 * rng.standard_normal((n, outer))


@pytest.mark.spec("TREE-04")
def test_candidates_are_the_union_of_leaves(rng):
    points, x = rng.standard_normal((800, 6)), rng.standard_normal((30, 6))
    forest = RandomizedForest(points, n_trees=5, leaf_size=20, random_state=0)
    reached = np.stack([forest.leaves(x, tree) for tree in range(5)], axis=1)
    found = forest.query_radius(x, np.inf)
    *_, report = forest.query(x, 3, report=True)
    for row in range(30):
        union = np.unique(np.concatenate([forest.leaf_points(leaf) for leaf in reached[row]]))
        np.testing.assert_array_equal(np.sort(found[row][1]), union)
        assert report.measured[row] == len(union)
    assert np.all(report.visited <= 5 * (forest.depth + 1))


@pytest.mark.spec("TREE-04", "TREE-07")
def test_more_trees_find_more(rng):
    """A larger forest begins with the trees of a smaller one: no neighbour is lost, and recall grows."""
    points, x = rng.standard_normal((2000, 8)), rng.standard_normal((200, 8))
    shares, before = [], np.inf
    for n_trees in (1, 2, 5, 12, 30):
        forest = RandomizedForest(points, n_trees=n_trees, leaf_size=40, random_state=0)
        distances, _ = forest.query(x, 5)
        assert np.all(distances <= before)
        assert forest.n_stored == n_trees * 2000
        before = distances
        shares.append(recall(forest, x, 5))
    assert np.all(np.diff(shares) > 0.01)
    assert shares[-1] > 0.9


@pytest.mark.spec("TREE-05", "E000-32")
def test_trees_are_balanced(rng):
    for n in (100, 1000, 10_000):
        forest = RandomizedForest(rng.standard_normal((n, 3)), n_trees=2, leaf_size=32, random_state=0)
        assert forest.depth == np.ceil(np.log2(n / 32))
        assert forest.n_nodes == 2 * forest.n_leaves - 2
        sizes = np.diff(forest.trees.ptr)
        assert sizes.max() <= 32
        assert sizes.min() >= 15


@pytest.mark.spec("TREE-01", "TREE-06", "E000-31")
def test_exact_trees_look_at_everything_in_many_dimensions(rng):
    """In two dimensions a k-d tree looks at a few cells, in fifty at most; others at a small share."""
    shares = {}
    for outer in (2, 50):
        points = curved(rng, 4000, 2 if outer == 2 else 5, outer)
        x = points[:200] + 0.02 * rng.standard_normal((200, outer))
        for index in (
            KDTree(points, leaf_size=16),
            TSVQTree(points, leaf_size=200, random_state=0),
            RandomizedForest(points, n_trees=8, leaf_size=64, random_state=0),
        ):
            *_, report = index.query(x, 5, report=True)
            shares[index.name, outer] = report.measured.mean() / 4000
            assert recall(index, x, 5) > 0.75
    assert shares["kd_tree", 2] < 0.02
    assert shares["kd_tree", 50] > 5 * max(shares["tsvq_tree", 50], shares["randomized_forest", 50])


def area(cell):
    x, y = cell.T
    return 0.5 * abs(x @ np.roll(y, 1) - y @ np.roll(x, 1))


@pytest.mark.spec("TREE-01", "E000-31")
def test_cells_part_the_box(rng):
    """Cells fill the box and do not overlap; each holds the points of its leaf, at most as many as it may."""
    points = rng.standard_normal((500, 2))
    low, high = points.min(axis=0), points.max(axis=0)
    forest = RandomizedForest(points, n_trees=2, leaf_size=20, random_state=0)
    for tree in (0, 1):
        cells = leaf_polygons(forest, tree, margin=0.0)
        assert sum(map(area, cells.values())) == pytest.approx(np.prod(high - low))
        middles = np.array([cell.mean(axis=0) for cell in cells.values()])
        assert forest.leaves(middles, tree).tolist() == list(cells)
    kd = KDTree(points, leaf_size=20)
    boxes = kd.cells()
    assert np.prod(boxes[:, 1] - boxes[:, 0], axis=1).sum() == pytest.approx(np.prod(high - low))
    inside = (points >= boxes[:, None, 0]) & (points <= boxes[:, None, 1])
    held = inside.all(axis=2).sum(axis=1)
    assert held.sum() == 500
    assert held.max() <= 20
    assert held.max() - held.min() <= 1, "halves are equal at a median"
    assert kd.n_nodes == 2 * len(boxes) - 1
    assert kd.depth == np.ceil(np.log2(500 / 20))
    for bad in ({"tree": 2}, {"tree": -1}):
        with pytest.raises(ValueError, match="tree"):
            leaf_polygons(forest, **bad)
    with pytest.raises(ValueError, match="two columns"):
        leaf_polygons(RandomizedForest(np.eye(3)))


@pytest.mark.parametrize("unit", [2.0**-400, 2.0**400])
def test_cells_are_in_the_units_of_the_points(unit, rng):
    points = rng.standard_normal((100, 2))
    plain, scaled = (KDTree(points * size, leaf_size=8).cells() for size in (1.0, unit))
    np.testing.assert_array_equal(scaled, plain * unit)
    plain, scaled = (
        leaf_polygons(RandomizedForest(points * size, leaf_size=8, random_state=0)) for size in (1.0, unit)
    )
    assert list(plain) == list(scaled)
    for leaf, cell in plain.items():
        np.testing.assert_allclose(scaled[leaf] / unit, cell, rtol=1e-9)


def looked_at(ax):
    marks = {c.get_label(): np.asarray(c.get_offsets()) for c in ax.collections}
    return {tuple(at) for at in marks["visited"]}


@pytest.mark.parametrize("k", [1, 9])
@pytest.mark.parametrize(
    "make",
    [
        partial(KDTree, leaf_size=8),
        partial(SpillTree, tau=0.05, leaf_size=8, search="hybrid", random_state=0),
        partial(RandomizedForest, leaf_size=8, random_state=0),
    ],
)
def test_a_picture_shows_the_points_that_a_search_measures(make, k, rng):
    points = rng.standard_normal((200, 2))
    index, row = make(points), np.array([0.3, -0.2])
    _, indices, report = index.query([row], k, report=True)
    seen = looked_at(tractable.plot(index, row=row, k=k))
    assert len(seen) == report.measured[0] < 100
    assert {tuple(points[i]) for i in indices[0] if i >= 0} <= seen
    plt.close("all")


@pytest.mark.spec("TREE-04")
def test_graph_of_structured_data(rng):
    """Eight inner dimensions in thirty-two: nine of ten neighbours, from a few hundred pairs a point."""
    points = curved(rng, 6000, 8, 32)
    forest = RandomizedForest(points, random_state=0)
    distances, _, report = neighbor_graph(forest, 10, report=True)
    true, _ = neighbor_graph(Brute(points), 10)
    assert np.mean(distances <= true[:, -1:]) > 0.93
    assert report.measured.mean() < 700
    assert report.visited.tolist() == [4] * 6000
    assert report.memory == forest.memory


def test_graph_of_few_points_and_of_equal_ones():
    three = RandomizedForest([[0.0], [1.0], [5.0]], random_state=0)
    assert neighbor_graph(three, 2)[1].tolist() == [[1, 2], [0, 2], [1, 0]]
    for k in (0, 3, 1.5):
        with pytest.raises(ValueError, match="k must"):
            neighbor_graph(three, k)
    equal = RandomizedForest(np.ones((5000, 3)), leaf_size=64, random_state=0)
    distances, indices, report = neighbor_graph(equal, 5, report=True)
    assert np.all(distances == 0.0)
    assert not np.any(indices == np.arange(5000)[:, None])
    assert report.measured.max() < 1000


def test_random_states(rng):
    points = rng.standard_normal((500, 4))
    first, second = (RandomizedForest(points, random_state=np.random.default_rng(5)) for _ in range(2))
    assert first.random_state == second.random_state
    np.testing.assert_array_equal(first.trees.members, second.trees.members)
    fresh, other = (RandomizedForest(points) for _ in range(2))
    assert fresh.random_state != other.random_state


@pytest.mark.parametrize(
    ("argument", "bad"),
    [
        ("n_trees", 0),
        ("n_trees", 4097),
        ("repair", 4097),
        ("leaf_size", 1),
        ("repair", -1),
        ("repair", "yes"),
        ("random_state", [1]),
        ("metric", "l"),
    ],
)
def test_bad_arguments_are_named(argument, bad):
    with pytest.raises(ValueError, match=argument):
        RandomizedForest(np.eye(3), **{argument: bad})
