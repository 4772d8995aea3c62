"""Neighbours counted by weight are neighbours among repeated points."""

import numpy as np
import pytest

from tractable.spatial import Brute, SpillTree, TSVQTree
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
    assert without.indices.tolist() == [[1, 2]]  # what does not count is not there
    assert without.first(1).farthest.tolist() == [1.0]


@pytest.mark.parametrize("weighted", [False, True])
def test_points_of_the_own_group_may_be_left_out(rng, weighted):
    points = rng.integers(0, 3, (30, 2)).astype(float)
    weights = rng.uniform(0.5, 2.0, 30) if weighted else None
    groups = np.unique(points, axis=0, return_inverse=True)[1].ravel()
    near = nearest_counted(Brute(points), points, 6, weights, groups, groups=groups)
    assert np.all(near.counts[:, 0] > 0.0)
    np.testing.assert_allclose(near.total, 6.0)
    for row in range(30):
        others = np.flatnonzero(groups != groups[row])
        alone = nearest_counted(
            Brute(points[others]), points[row : row + 1], 6, weights if weights is None else weights[others]
        )
        count = int(np.sum(near.counts[row] > 0.0))
        np.testing.assert_array_equal(near.indices[row, :count], others[alone.indices[0]])
        np.testing.assert_allclose(near.counts[row, :count], alone.counts[0])
        assert np.all(near.indices[row, count:] == -1)
        assert np.all(np.isinf(near.distances[row, count:]))


@pytest.mark.parametrize("weighted", [False, True])
def test_rows_that_an_approximate_search_fails_are_searched_for_exactly(rng, weighted):
    points = rng.normal(size=(300, 2))
    points[0] = 1e4
    weights = rng.uniform(0.5, 2.0, 300) if weighted else None
    tree, own = TSVQTree(points, leaf_size=16, random_state=0), np.arange(300)
    short = nearest_counted(tree, points, 5, weights, own, copies=False, complete=False)
    whole = nearest_counted(tree, points, 5, weights, own, copies=False)
    exact = nearest_counted(Brute(points), points, 5, weights, own, copies=False)
    lacking = short.total < 5.0 - 1e-9
    assert lacking[0]
    assert 0 < lacking.sum() < 150
    np.testing.assert_allclose(whole.total, 5.0)
    np.testing.assert_allclose(whole.farthest[lacking], exact.farthest[lacking])
    np.testing.assert_array_equal(whole.farthest[~lacking], short.farthest[~lacking])


def test_a_search_for_weight_ends_where_an_approximate_index_does(rng):
    """It does not ask for ever more neighbours of rows that have no more."""
    points, asked = rng.normal(size=(2000, 2)), []

    class Listening(SpillTree):
        def query(self, x, k=1, **options):
            asked.append(k)
            return super().query(x, k, **options)

    tree = Listening(points, random_state=0)
    near = nearest_counted(tree, points[:10], 500, np.full(2000, 0.5), complete=False)
    assert np.all(near.total < 500)
    assert asked == [500]
