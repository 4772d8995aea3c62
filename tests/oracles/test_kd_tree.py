"""The tree equals the plain search to the bit, and SciPy's tree to rounding."""

import numpy as np
import pytest
from scipy.spatial import cKDTree

from tractable.primitives.neighbors import FORMS, nearest, within
from tractable.primitives.neighbors.kd_tree import kd_build, kd_nearest, kd_scatters, kd_within

SERVED = [form for form in FORMS if form != "hamming"]
ORDERS = {"euclidean": 2, "manhattan": 1, "chebyshev": np.inf, "minkowski": 3.5}


def draws(rng, kind, n, dim):
    if kind == "lattice":
        return rng.integers(0, 5, (n, dim)) * 1.0
    return rng.standard_normal((n, dim)) * 10.0 ** rng.uniform(-2, 2, dim)


@pytest.mark.parametrize("form", SERVED)
@pytest.mark.parametrize("kind", ["normal", "lattice"])
@pytest.mark.parametrize(("dim", "leaf_size"), [(1, 1), (2, 3), (3, 32), (7, 10)])
def test_the_tree_finds_what_a_scan_finds(form, kind, dim, leaf_size, rng):
    points, x = draws(rng, kind, 600, dim), 1.5 * draws(rng, kind, 40, dim)
    tree = kd_build(points, leaf_size)
    for k in (1, 7, 600):
        found, expected = kd_nearest(x, tree, k, form, 3.5), nearest(x, points, k, form, 3.5)
        np.testing.assert_array_equal(found[0], expected[0])
        np.testing.assert_array_equal(found[1], expected[1])
    radii = expected[0][:, 30].copy()
    for a, b in zip(
        kd_within(x, tree, radii, form, 3.5)[:3], within(x, points, radii, form, 3.5), strict=True
    ):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("kind", ["normal", "lattice"])
@pytest.mark.parametrize(("dim", "leaf_size"), [(1, 1), (2, 3), (3, 32), (7, 10)])
@pytest.mark.spec("DENS-22")
def test_scatters_are_those_of_the_neighbours(kind, dim, leaf_size, rng):
    points = np.unique(draws(rng, kind, 600, dim), axis=0)
    for some in ([1, 2, 4], [len(points) // 3], [3, len(points) - 1]):
        ks = np.unique(np.clip(some, 1, len(points) - 1))
        found = kd_scatters(points, kd_build(points, leaf_size), ks)
        ids = nearest(points, points, int(ks[-1]) + 1)[1]
        for i, k in enumerate(ks):
            away = points[ids[:, : k + 1]] - points[:, None]
            expected = np.swapaxes(away, 1, 2) @ away
            np.testing.assert_allclose(found[:, i], expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize("form", SERVED)
def test_scipys_tree_agrees(form, rng):
    points, x = rng.standard_normal((2000, 3)), rng.standard_normal((50, 3))
    distances, indices = cKDTree(points).query(x, 10, p=ORDERS[form])
    near, ids, _, _ = kd_nearest(x, kd_build(points), 10, form, ORDERS["minkowski"])
    np.testing.assert_allclose(near, distances, rtol=1e-12)
    np.testing.assert_array_equal(ids, indices)


@pytest.mark.parametrize("leaf_size", [1, 4, 32])
def test_the_tree_is_made_of_halves(leaf_size, rng):
    points = rng.standard_normal((1000, 2))
    tree = kd_build(points, leaf_size)
    np.testing.assert_array_equal(np.sort(tree.order), np.arange(1000))
    for node, (first, last, right, depth) in enumerate(tree.nodes):
        if not right:
            assert last - first <= leaf_size
            continue
        assert tree.nodes[node + 1, :2].tolist() == [first, (first + last) // 2]
        assert tree.nodes[right, :2].tolist() == [(first + last) // 2, last]
        assert tree.nodes[right, 3] == tree.nodes[node + 1, 3] == depth + 1
        left, other = np.split(points[tree.order[first:last], tree.dims[node]], [(last - first) // 2])
        assert (left.max(), other.min()) == (tree.lows[node], tree.highs[node])
