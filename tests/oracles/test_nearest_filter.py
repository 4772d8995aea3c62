"""The filter in single precision changes no bit: not where points crowd, nor where they lie far apart."""

import numpy as np
import pytest

from quick import some
from tractable.primitives import neighbors as nearest_filter
from tractable.primitives.neighbors import filtered_nearest, filtered_within, nearest, single_rows, within


def crowded(rng, dim):
    """Spacings of 1e-9 about points of size one: all the same in single precision."""
    return 1.0 + 1e-9 * rng.standard_normal((3000, dim)), 1.0 + 1e-9 * rng.standard_normal((20, dim))


def two_crowds(rng, dim):
    side = rng.integers(2, size=(3000, 1)) * 2.0 - 1.0
    return side + 1e-9 * rng.standard_normal((3000, dim)), 1.0 + 1e-9 * rng.standard_normal((20, dim))


def with_an_outlier(rng, dim):
    points = rng.standard_normal((3000, dim))
    points[17] = 1e12
    return points, rng.standard_normal((20, dim))


def mostly_a_crowd(rng, dim):
    """Six of ten points within 1e-9 of one another, the others of size one; rows of either kind."""
    size = np.where(rng.uniform(size=(3020, 1)) < 0.6, 1e-9, 1.0)
    rows = size * rng.standard_normal((3020, dim))
    return rows[20:], rows[:20]


def far_from_the_origin(rng, dim):
    return 1e8 + rng.standard_normal((3000, dim)), 1e8 + rng.standard_normal((20, dim))


def rows_far_outside(rng, dim):
    return rng.standard_normal((3000, dim)), 1e15 * rng.standard_normal((20, dim))


def unlike_columns(rng, dim):
    units = 10.0 ** rng.uniform(-40, 0, dim)
    return units * rng.standard_normal((3000, dim)), units * rng.standard_normal((20, dim))


def on_a_lattice(rng, dim):
    return rng.integers(0, 4, (3000, dim)) * 1.0, rng.integers(0, 4, (20, dim)) * 1.0


def all_the_same(rng, dim):
    return np.ones((3000, dim)), np.ones((20, dim))


def plain(rng, dim):
    return rng.standard_normal((3001, dim)), rng.standard_normal((20, dim))


CASES = [
    plain,
    crowded,
    two_crowds,
    with_an_outlier,
    mostly_a_crowd,
    far_from_the_origin,
    rows_far_outside,
    unlike_columns,
    on_a_lattice,
    all_the_same,
]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("dim", some([1, 2, 16, 70], 2))
def test_neighbours_are_those_of_double_precision(case, dim, rng):
    points, x = case(rng, dim)
    single = single_rows(points)
    for k in (1, 10, 100, 3000):
        expected = nearest(x, points, k)
        for found, true in zip(filtered_nearest(x, points, single, k), expected, strict=True):
            np.testing.assert_array_equal(found, true)
        radii = expected[0][:, -1].copy()
        for found, true in zip(
            filtered_within(x, points, single, radii), within(x, points, radii), strict=True
        ):
            np.testing.assert_array_equal(found, true)


@pytest.mark.parametrize("dim", [1, 16, 200])
def test_the_bound_on_single_precision_holds(dim, rng):
    """Keys lie below the true ones by no more than is allowed for, for products in any order."""
    points, x = 3.0 * rng.standard_normal((500, dim)) + 1.0, rng.standard_normal((30, dim))
    single = single_rows(points)
    y, z = (points - single.centre) * single.scale, (x - single.centre) * single.scale
    true = (y**2).sum(axis=1) - 2.0 * z @ y.T
    q, sizes = nearest_filter._queries(x, single)
    keys = (q @ single.rows[:500].T + single.squares[:500]).astype(float)
    assert np.all(keys - single.share * sizes[:, None] <= true)
    assert np.all(true <= keys + single.slack + single.share * sizes[:, None])


@pytest.mark.parametrize("case", [plain, far_from_the_origin])
def test_the_filter_decides_what_it_should(case, rng, monkeypatch):
    """Ordinary data need no second search, wherever they lie."""
    points, x = case(rng, 16)
    single = single_rows(points)
    monkeypatch.setattr(nearest_filter, "nearest", None)
    filtered_nearest(x, points, single, 10)


@pytest.mark.parametrize("size", [300.0, 1e6, 1e9])
def test_outliers_cost_nothing(size, rng, monkeypatch):
    points, x = plain(rng, 16)
    points[[17, 801]] = [[size], [-3.0 * size]]
    single = single_rows(points)
    expected = nearest(x, points, 10)
    monkeypatch.setattr(nearest_filter, "nearest", None)
    for found, true in zip(filtered_nearest(x, points, single, 10), expected, strict=True):
        np.testing.assert_array_equal(found, true)
