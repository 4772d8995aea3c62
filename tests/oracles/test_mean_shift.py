"""The compiled climbs equal the agnostic ones, and both the definition."""

import numpy as np
import pytest

from tractable.arrays.namespace import to_numpy
from tractable.primitives.mean_shift import agnostic as obvious
from tractable.primitives.mean_shift import ascend, expand, kernel_field


def definition(points, weights, x, flat):
    """The mean of the points in the window about x."""
    squared = np.sum((points - x) ** 2, axis=1)
    k = weights * (squared <= 1.0 if flat else np.exp(-0.5 * squared))
    return k @ points / k.sum()


def scene(rng, dim, n=700):
    points = 2.0 * rng.standard_normal((n, dim)) + 4.0 * rng.integers(0, 2, (n, 1))
    return points, rng.uniform(0.5, 2.0, n), points[:40] + 0.1 * rng.standard_normal((40, dim))


@pytest.mark.parametrize("flat", [True, False])
@pytest.mark.parametrize("dim", [1, 2, 3, 7])
def test_one_step_is_the_definition(dim, flat, rng):
    points, weights, x = scene(rng, dim)
    x = points[:40]
    found = ascend(kernel_field(points, weights), x, flat=flat, tol=0.0, max_iter=1)
    expected = [definition(points, weights, row, flat) for row in x]
    np.testing.assert_allclose(found.ends, expected, rtol=0.0, atol=1e-9)
    assert np.all(found.steps == 1)


@pytest.mark.parametrize("flat", [True, False])
@pytest.mark.parametrize("dim", [1, 2, 3, 7])
def test_twins(dim, flat, rng):
    points, weights, x = scene(rng, dim)
    options = {"flat": flat, "tol": 1e-7, "max_iter": 400}
    found = ascend(kernel_field(points, weights), x, **options)
    expected = obvious.ascend(points, weights, x, **options)
    np.testing.assert_allclose(found.ends, expected["ends"], atol=1e-5)
    np.testing.assert_array_equal(found.converged, expected["converged"])
    if flat:
        np.testing.assert_allclose(found.masses, expected["masses"])
        np.testing.assert_array_equal(found.steps, expected["steps"])


@pytest.mark.parametrize("tilt", [0.0, 0.3])
@pytest.mark.parametrize("dim", [1, 2, 5])
def test_expansions(dim, tilt, rng):
    """Near the points, and where all windows are below the least number."""
    points, weights, x = scene(rng, dim)
    x = np.concatenate([x, x + 60.0])
    for found, expected in zip(
        expand(kernel_field(points, weights), x, tilt), obvious.expand(points, weights, x, tilt), strict=True
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)


def test_every_library_and_read_only_arrays(backend, rng):
    points, weights, x = scene(rng, 2, n=80)
    terrain = kernel_field(*(backend.asarray(a) for a in (points, weights)))
    for flat in (True, False):
        found = ascend(terrain, backend.asarray(x), flat=flat, tol=1e-7, max_iter=300).ends
        assert backend.owns(found)
        expected = ascend(kernel_field(points, weights), x, flat=flat, tol=1e-7, max_iter=300).ends
        np.testing.assert_allclose(to_numpy(found), expected, atol=1e-5)
    assert all(backend.owns(part) for part in expand(terrain, backend.asarray(x)))


def test_a_climb_from_afar_begins_at_the_nearest_points():
    """Fifty bandwidths away every window is below the least number; their ratios are not."""
    points = np.array([[0.0, 0.0], [1.0, 0.0], [40.0, 0.0]])
    found = ascend(
        kernel_field(points), np.array([[-60.0, 0.0], [140.0, 0.0]]), flat=False, tol=1e-9, max_iter=99
    )
    np.testing.assert_allclose(found.ends, [[0.5, 0.0], [40.0, 0.0]], atol=1e-7)


def test_coinciding_points_are_one_heavy_point():
    points = np.repeat(np.array([[0.0, 0.0], [0.9, 0.0]]), [500, 1], axis=0)
    found = ascend(kernel_field(points), np.array([[0.9, 0.0]]), flat=True, tol=1e-12, max_iter=9)
    np.testing.assert_allclose(found.ends, [[0.9 / 501, 0.0]])
    assert found.masses == 501
