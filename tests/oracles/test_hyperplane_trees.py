"""Compiled trees of planes, their searches, 2-means splits and neighbour lists equal the obvious ones."""

import numpy as np
import pytest

import plain_trees as obvious
from tractable.primitives.neighbors.compiled_hyperplane_trees import select
from tractable.primitives.neighbors.hyperplane_trees import (
    NeighbourLists,
    grow,
    halve,
    join_leaves,
    joined,
    leaves_of,
    mend_lists,
    tree_nearest,
    tree_within,
    two_means,
)


def tree_of(x, rng, leaf_size=8, **options):
    def split(ids, ptr, _):
        return halve(x, ids, ptr, rng.random((len(ptr) - 1, 2)), **options)

    return grow(x, leaf_size, split)


def parts(split):
    return [set(part.tolist()) for part in np.split(split.ids, split.ptr[1:-1])]


@pytest.mark.parametrize("margin", [0.0, 0.1, 0.3, 0.49])
@pytest.mark.parametrize(("n", "d"), [(2, 1), (3, 1), (9, 2), (50, 3), (101, 7)])
def test_halves(n, d, margin, rng):
    x = rng.standard_normal((2 * n, d))
    ids, ptr = rng.permutation(2 * n).astype(np.int32), np.array([0, n, 2 * n])
    found = halve(x, ids, ptr, np.array([[0.0, 0.999]] * 2), margin=margin)
    for g, (lo, hi) in enumerate([(0, n), (n, 2 * n)]):
        rows = ids[lo:hi].tolist()
        normal, offset, left, right = obvious.halve(x, rows, rows[0], rows[-1], margin)
        np.testing.assert_allclose(found.normals[g], normal, rtol=1e-13)
        assert found.offsets[g] == pytest.approx(offset, rel=1e-12, abs=1e-14)
        assert parts(found)[2 * g : 2 * g + 2] == [left, right]


def test_far_rows_give_the_direction():
    x = np.array([[0.0, 0.0], [0.1, 5.0], [1.0, 0.0], [9.0, 0.0]])
    found = halve(x, np.arange(4, dtype=np.int32), np.array([0, 4]), np.array([[0.0, 0.3]]), far=True)
    apart = (x[1] - x[3]) / np.linalg.norm(x[1] - x[3])
    np.testing.assert_allclose(np.abs(found.normals[0] @ apart), 1.0)


@pytest.mark.parametrize("margin", [0.0, 0.2])
def test_equal_rows_stay_together(margin):
    """Half of the rows coincide, and both draws fall on them: the plane still parts what differs."""
    x = np.array([[1.0], [1.0], [1.0], [1.0], [1.0], [2.0], [0.0], [3.0]])
    ids, ptr = np.arange(8, dtype=np.int32), np.array([0, 8])
    found = halve(x, ids, ptr, np.array([[0.0, 0.2]]), margin=margin)
    assert 0 < found.ptr[1] < found.ptr[2]
    right = (x @ found.normals[0]) > found.offsets[0]
    left_part, right_part = parts(found)
    assert {*np.flatnonzero(right)} <= right_part
    assert {*np.flatnonzero(~right)} <= left_part
    assert max(len(left_part), len(right_part)) < 8
    whole = halve(np.ones((5, 2)), np.arange(5, dtype=np.int32), np.array([0, 5]), np.zeros((1, 2)))
    assert whole.whole.tolist() == [True]


@pytest.mark.parametrize("look_back", [False, True])
@pytest.mark.parametrize(("n_trees", "margin"), [(1, 0.0), (1, 0.15), (3, 0.0)])
def test_searches(n_trees, margin, look_back, rng):
    points, x = rng.standard_normal((300, 4)), rng.standard_normal((40, 4))
    trees = joined([tree_of(points, rng, margin=margin, look_back=look_back) for _ in range(n_trees)])
    order = rng.permutation(300)
    near, ids, visited, measured = tree_nearest(x, 6, points, order, trees, 5.0)
    for r, (ranked, held, opened) in enumerate(obvious.tree_nearest(x, 6, points, order, trees)):
        missing = 6 - len(ranked)
        assert ids[r].tolist() == [i for _, i in ranked] + [-1] * missing
        np.testing.assert_allclose(near[r], [apart for apart, _ in ranked] + [np.inf] * missing, rtol=1e-13)
        assert measured[r] == len(held)
        assert visited[r] == opened
    radii = near[:, 3] * (1 + 1e-12)
    rows, indices, distances, *_ = tree_within(x, radii, points, order, trees, 5.0)
    for r in range(40):
        assert {*indices[rows == r]} >= {*ids[r, :4]} - {-1}
        assert np.all(distances[rows == r] <= radii[r])


def test_looking_back_everywhere_finds_all(rng):
    points, x = rng.standard_normal((500, 3)) + 1e6, rng.standard_normal((60, 3)) + 1e6
    tree = tree_of(points, rng, look_back=True)
    _, ids, *_ = tree_nearest(x, 5, points, np.arange(500), tree, 2e6)
    every = np.linalg.norm(x[:, None] - points, axis=2)
    np.testing.assert_array_equal(np.sort(ids, axis=1), np.sort(np.argsort(every, axis=1)[:, :5], axis=1))
    rows, indices, _, *_ = tree_within(x, np.full(60, 0.5), points, np.arange(500), tree, 2e6)
    assert {*zip(rows, indices, strict=True)} == {*zip(*np.nonzero(every <= 0.5), strict=True)}


@pytest.mark.parametrize("grown", ["halves", "spilled", "two means"])
def test_points_descend_to_leaves_that_hold_them(grown, rng):
    x = np.repeat(rng.integers(0, 9, (150, 3)) * 1.1, 2, axis=0) + 1e7

    def split(ids, ptr, _):
        if grown == "two means":
            return two_means(x, ids, ptr, rng.random((len(ptr) - 1, 2, 2)))
        margin = 0.1 if grown == "spilled" else 0.0
        return halve(x, ids, ptr, rng.random((len(ptr) - 1, 2)), margin=margin)

    tree = grow(x, 8, split)
    for i, leaf in enumerate(leaves_of(x, tree)):
        assert i in tree.members[tree.ptr[leaf] : tree.ptr[leaf + 1]]


@pytest.mark.parametrize(("n", "d"), [(2, 1), (40, 2), (150, 16)])
def test_two_means(n, d, rng):
    x = rng.standard_normal((2 * n, d)) + 3.0
    ids, ptr, uniforms = (
        rng.permutation(2 * n).astype(np.int32),
        np.array([0, n, 2 * n]),
        rng.random((2, 2, 2)),
    )
    found = two_means(x, ids, ptr, uniforms)
    for g, (lo, hi) in enumerate([(0, n), (n, 2 * n)]):
        rows = ids[lo:hi]
        centers, right = obvious.two_means(x[rows] - x[rows[0]], uniforms[g])
        assert parts(found)[2 * g : 2 * g + 2] == [{*rows[right == side].tolist()} for side in (0, 1)]
        middle = centers.mean(axis=0) + x[rows[0]]
        assert found.normals[g] @ middle == pytest.approx(found.offsets[g], abs=1e-12)


def lists_of(x, k):
    return NeighbourLists.empty(len(x), k, 1.0 / np.abs(x - x[0]).max())


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("shift", [0.0, 1e5])
def test_leaves_are_joined_and_lists_mended(shift, n_threads, rng):
    x = rng.standard_normal((400, 8)) + shift
    trees = joined([tree_of(x, rng, leaf_size=20) for _ in range(2)])
    lists = lists_of(x, 6)
    pieces = join_leaves(x, trees, lists, 20, n_threads)
    expected = obvious.join_leaves(x, np.split(trees.members, trees.ptr[1:-1]), 6)
    assert lists.ids.tolist() == expected
    near = np.sum((x[:, None] - x[lists.ids]) ** 2, axis=2) * lists.scale**2
    np.testing.assert_allclose(lists.near, near, rtol=1e-5)
    assert np.all(lists.measured >= 2 * 8)
    before = lists.measured.copy()
    mend_lists(x, x.mean(axis=0), lists, pieces, n_threads)
    assert lists.ids.tolist() == obvious.mend_lists(x, expected, 6)
    met = np.any(pieces[:, None] == pieces, axis=2)  # such pairs are not measured again
    farther = [np.unique([expected[a] for a in own]) for own in expected]
    assert (lists.measured - before).tolist() == [int(np.sum(~met[i, js])) for i, js in enumerate(farther)]


@pytest.mark.parametrize("n", [3, 40, 150])
@pytest.mark.parametrize("k", [1, 13, 32, 33])
def test_one_leaf_holds_all_neighbours(n, k, rng):
    """Lists shorter and longer than the groups of columns by which they are bounded, and than the leaf."""
    x = rng.standard_normal((n, 4))
    lists, found = lists_of(x, k), min(k, n - 1)
    join_leaves(x, grow(x, n, None), lists, n)
    apart = np.linalg.norm(x[:, None] - x, axis=2)
    np.fill_diagonal(apart, np.inf)
    assert np.array_equal(lists.ids[:, :found], np.argsort(apart, axis=1)[:, :found])
    assert np.all(lists.ids[:, found:] == -1)


def test_leaves_of_equal_points_are_joined_in_pieces():
    x = np.zeros((1000, 2))
    tree = tree_of(x, np.random.default_rng(0))
    assert tree.depth == 0
    lists = NeighbourLists.empty(1000, 4, 1.0)
    pieces = join_leaves(x, tree, lists, 8)
    assert np.array_equal(pieces[:, 0], np.repeat(np.arange(125), 8))
    assert np.all(lists.ids >= 0)
    assert np.all(lists.near == 0.0)
    assert lists.measured.max() < 8


def test_clusters_finer_than_single_precision_keep_their_neighbours(rng):
    """What single precision cannot tell apart is measured in double precision."""
    x = np.concatenate([1e-9 * rng.standard_normal((60, 3)), 1.0 + rng.standard_normal((60, 3))])
    lists = lists_of(x, 5)
    trees = joined([tree_of(x, rng, leaf_size=30) for _ in range(12)])
    join_leaves(x, trees, lists, 30)
    true = np.argsort(np.linalg.norm(x[:60, None] - x[None, :60], axis=2), axis=1)[:, 1:6]
    shared = [len({*a} & {*b}) for a, b in zip(lists.ids[:60].tolist(), true.tolist(), strict=True)]
    assert np.mean(shared) > 4.8


@pytest.mark.parametrize("d", [1, 2, 5, 8])
def test_keys_of_many_equal_values_are_halved(d, rng):
    """Projections of all rows fall on few values; each part has as many as its side of the plane."""
    x = rng.integers(0, 3, (257, d)).astype(float)
    ids, ptr = rng.permutation(257).astype(np.int32), np.array([0, 6, 257])
    found = halve(x, ids, ptr, rng.random((2, 2)))
    sides = np.split(found.ids, found.ptr[1:-1])
    for g, (lo, hi) in enumerate([(0, 6), (6, 257)]):
        left, right = sides[2 * g : 2 * g + 2]
        assert sorted([*left, *right]) == sorted(ids[lo:hi])
        assert np.all(x[left] @ found.normals[g] <= found.offsets[g] + 1e-12)
        assert np.all(x[right] @ found.normals[g] > found.offsets[g] - 1e-12)
        assert not {*np.round(x[left] @ found.normals[g], 9)} & {*np.round(x[right] @ found.normals[g], 9)}


@pytest.mark.parametrize(
    "keys",
    [
        np.linspace(0.0, 1.0, 5000),
        np.abs(np.linspace(-1.0, 1.0, 5000)),
        np.cos(np.linspace(0.0, 7.0, 5000)),
        np.zeros(5000),
        np.random.default_rng(0).random(5000),
    ],
    ids=["sorted", "fall and rise", "cosine", "equal", "random"],
)
def test_selection_takes_linear_time_in_any_order(keys):
    found = keys.copy()
    moved = select.interpreted(found, len(keys), 2500)
    assert np.max(found[:2500]) <= np.min(found[2500:])
    assert moved < 10 * len(keys)
