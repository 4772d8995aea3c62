"""Tree-structured vector quantisation: 2-means at every node, codewords at the leaves."""

import numpy as np
import pytest

from tractable.spatial import TSVQTree, recall


def members_below(tree, slot):
    if slot < 0:
        return tree.leaf_points(-1 - slot)
    return np.concatenate([members_below(tree, child) for child in tree.trees.children[slot]])


@pytest.mark.spec("TREE-03")
def test_every_plane_is_half_way_between_the_means_of_its_sides(rng):
    points = rng.standard_normal((600, 5)) + 3.0
    tree = TSVQTree(points, leaf_size=20, random_state=0)
    centre = points.mean(axis=0)
    for node, children in enumerate(tree.trees.children):
        means = [points[members_below(tree, child)].mean(axis=0) - centre for child in children]
        step = means[1] - means[0]
        np.testing.assert_allclose(tree.trees.normals[node], step / np.linalg.norm(step), atol=1e-12)
        middle = tree.trees.normals[node] @ (means[0] + means[1]) / 2.0
        assert tree.trees.offsets[node] == pytest.approx(middle, abs=1e-12)
    assert sorted(members_below(tree, 0)) == list(range(600))
    assert max(np.diff(tree.trees.ptr)) <= 20


@pytest.mark.spec("TREE-03")
def test_quantize_gives_the_mean_of_the_cell(rng):
    points, x = rng.standard_normal((500, 3)), rng.standard_normal((40, 3))
    tree = TSVQTree(points, leaf_size=25, random_state=0)
    codewords, labels = tree.quantize(x)
    assert labels.shape == (40,)
    np.testing.assert_array_equal(codewords, tree.codebook[labels])
    assert tree.codebook.shape == (tree.n_leaves, 3)
    for leaf, word in enumerate(tree.codebook):
        np.testing.assert_allclose(word, points[tree.leaf_points(leaf)].mean(axis=0), atol=1e-13)
    _, own = tree.quantize(points)
    assert all(i in tree.leaf_points(label) for i, label in enumerate(own))


@pytest.mark.spec("TREE-03")
def test_finer_codebooks_distort_less(rng):
    points = rng.standard_normal((1000, 4))
    distortion = []
    for leaf_size in (1000, 250, 60, 15, 1):
        codewords, _ = TSVQTree(points, leaf_size=leaf_size, random_state=0).quantize(points)
        distortion.append(np.mean(np.sum((points - codewords) ** 2, axis=1)))
    assert np.all(np.diff(distortion) < 0.0)
    assert distortion[0] == pytest.approx(points.var(axis=0).sum())
    assert distortion[-1] == pytest.approx(0.0, abs=1e-25)


@pytest.mark.spec("TREE-03", "TREE-06")
def test_clusters_in_many_dimensions_are_cells(rng):
    """Eight clusters in fifty dimensions are eight leaves, whatever their directions."""
    middles, own = 20.0 * rng.standard_normal((8, 50)), np.repeat(np.arange(8), 60)
    points = middles[own] + rng.standard_normal((480, 50))
    tree = TSVQTree(points, leaf_size=60, random_state=0)
    _, labels = tree.quantize(points)
    assert tree.n_leaves == 8
    assert all(len(set(labels[own == c])) == 1 for c in range(8))
    assert recall(tree, points, 10) == 1.0


@pytest.mark.spec("TREE-05", "E000-32")
def test_searches_open_a_node_of_each_level(rng):
    visits = []
    for n in (1000, 4000, 16000):
        tree = TSVQTree(rng.standard_normal((n, 3)), leaf_size=20, random_state=0)
        *_, report = tree.query(rng.standard_normal((200, 3)), 3, report=True)
        assert np.all(report.visited <= tree.depth + 1)
        visits.append(report.visited.mean())
    assert np.all(np.abs(np.diff(visits) - 2.0) < 0.7)


def test_points_that_coincide_and_outliers(rng):
    """A leaf of equal points may be larger; points each far from the last make a deep tree, to a limit."""
    equal = TSVQTree(np.repeat([[0.0, 1.0], [5.0, 5.0]], 100, axis=0), leaf_size=10, random_state=0)
    assert equal.n_leaves == 2
    assert np.all(np.sort(equal.codebook, axis=0) == [[0.0, 1.0], [5.0, 5.0]])
    far = 3.0 ** np.arange(100)[:, None]
    assert TSVQTree(far, leaf_size=1, random_state=0).depth > 20
    assert TSVQTree(far, leaf_size=1, max_depth=5, random_state=0).depth == 5
    assert TSVQTree(far, leaf_size=1, max_depth=0, random_state=0).n_nodes == 1


@pytest.mark.parametrize(
    ("argument", "bad"),
    [("leaf_size", 0), ("max_depth", -1), ("max_depth", 1.5), ("random_state", 0.5), ("metric", "chebyshev")],
)
def test_bad_arguments_are_named(argument, bad):
    with pytest.raises(ValueError, match=argument):
        TSVQTree(np.eye(3), **{argument: bad})


def test_rows_to_quantize_are_checked():
    tree = TSVQTree(np.eye(3), random_state=0)
    with pytest.raises(ValueError, match="x must have 3 columns"):
        tree.quantize(np.eye(2))
    codewords, labels = tree.quantize(np.empty((0, 3)))
    assert codewords.shape == (0, 3)
    assert labels.shape == (0,)
