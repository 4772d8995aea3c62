"""Neighbours counted by weight are neighbours among repeated points."""

import numpy as np
import pytest

from tractable.spatial import Brute
from tractable.spatial.counted import nearest_counted


def one_by_one(near, row):
    """Neighbours of a row with each as often as it counts."""
    return np.repeat(near.indices[row], near.counts[row].astype(int))


@pytest.mark.parametrize("k", [1, 3, 8])
@pytest.mark.parametrize("own", [False, True])
def test_whole_weights_repeat_points(rng, k, own):
    points, times = rng.integers(0, 4, (12, 2)).astype(float), rng.integers(1, 4, 12)
    numbers = np.repeat(np.arange(12), times)
    first = np.searchsorted(numbers, np.arange(12))
    near = nearest_counted(Brute(points), points, k, times.astype(float), np.arange(12) if own else None)
    repeated = nearest_counted(Brute(points[numbers]), points, k, None, first if own else None)
    for row in range(12):
        assert one_by_one(near, row).tolist() == numbers[repeated.indices[row]].tolist()
    np.testing.assert_array_equal(near.farthest, repeated.farthest)


def test_fractions_fill_up_to_k(rng):
    points, weights = rng.normal(size=(40, 2)), rng.uniform(0.05, 0.3, 40)
    near = nearest_counted(Brute(points), points[:5], 2, weights)
    np.testing.assert_allclose(near.counts.sum(axis=1), 2.0)
    assert np.all(near.counts <= weights[near.indices])
    whole = nearest_counted(Brute(points), points[:5], 4, weights)
    for k in (1, 2, 3):
        direct, first = nearest_counted(Brute(points), points[:5], k, weights), whole.first(k)
        np.testing.assert_allclose(first.counts.sum(axis=1), k)
        np.testing.assert_allclose(first.farthest, direct.farthest)


def test_copies_of_the_own_point_may_be_left_out():
    index, weights = Brute([[0.0], [1.0], [2.0]]), np.array([4.0, 1.0, 1.0])
    row, own = np.array([[0.0]]), np.array([0])
    assert nearest_counted(index, row, 2, weights, own).farthest.tolist() == [0.0]
    without = nearest_counted(index, row, 2, weights, own, copies=False)
    assert one_by_one(without, 0).tolist() == [1, 2]
    assert without.first(1).farthest.tolist() == [1.0]
