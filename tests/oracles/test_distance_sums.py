"""The native form equals the agnostic one, and both the definition."""

from itertools import pairwise

import numpy as np
import pytest

from tractable.arrays.namespace import to_numpy
from tractable.primitives import squared_distances
from tractable.primitives.kmeans import distance_sums
from tractable.primitives.kmeans.agnostic import distance_sums as obvious

STARTS = [0, 1, 258, 258, 600]


@pytest.mark.parametrize("dim", [1, 3, 4, 5, 9, 97])
def test_twins_and_definition(dim, rng):
    x, y, w = rng.standard_normal((7, dim)), rng.standard_normal((600, dim)), rng.uniform(size=600)
    distances = w * np.sqrt(((x[:, None] - y) ** 2).sum(axis=2))
    expected = np.stack([distances[:, a:b].sum(axis=1) for a, b in pairwise(STARTS)], axis=1)
    columns = np.ascontiguousarray(y.T)
    np.testing.assert_allclose(obvious(x, columns, w, STARTS), expected, rtol=1e-13)
    np.testing.assert_allclose(distance_sums(x, columns, w, STARTS), expected, rtol=1e-13)


def test_every_library_and_read_only_arrays(backend, rng):
    x, columns, w = rng.standard_normal((4, 3)), rng.standard_normal((3, 600)), rng.uniform(size=600)
    found = distance_sums(*(backend.asarray(a) for a in (x, columns, w)), STARTS)
    assert backend.owns(found)
    np.testing.assert_allclose(to_numpy(found), obvious(x, columns, w, STARTS), rtol=1e-13)


@pytest.mark.parametrize("dim", [2, 128])
@pytest.mark.parametrize("place", [1.0, 2.0**20])
def test_twins_in_space_keep_their_digits(dim, place, rng):
    """|x|² + |y|² - 2 x·y of points this near would keep three digits, or none; wide rows are seen to."""
    x = np.full((1, dim), place)
    columns = np.concatenate([x.T + 2.0**-20, -x.T, x.T], axis=1)
    found = distance_sums(x, columns, np.ones(3), [0, 1, 2, 3])
    np.testing.assert_allclose(found, np.sqrt(dim) * np.array([[2.0**-20, 2 * place, 0.0]]), rtol=1e-14)


@pytest.mark.parametrize("scale", [1.0, 1e-200])
@pytest.mark.parametrize("n_points", [2, 9])
def test_squared_distances_in_every_library(n_points, scale, backend, rng):
    """Fewer points than columns and more, and differences too small to square."""
    x, points = rng.standard_normal((6, 5)), rng.standard_normal((n_points, 5))
    expected = np.sum((x[:, None] - points) ** 2, axis=2)
    found = squared_distances(backend.asarray(scale * x), backend.asarray(scale * points), scale)
    assert backend.owns(found)
    np.testing.assert_allclose(to_numpy(found), expected, rtol=1e-13)
