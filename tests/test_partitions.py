"""Numbers of partitions, exactly, and the best partition of a few points."""

from itertools import product
from math import comb, factorial

import numpy as np
import pytest

from tractable.mixture.partitions import bell, best_partition, partitions, stirling2

W02 = np.array([[2, 10], [2, 5], [8, 4], [5, 8], [7, 5], [6, 4], [1, 2], [4, 9]], dtype=float)


def obeys_the_recurrence(count):
    """S(n, k) = k S(n - 1, k) + S(n - 1, k - 1): the last point joins a group, or is one."""
    for n in range(1, 12):
        for k in range(1, n + 1):
            assert count(n, k) == k * count(n - 1, k) + count(n - 1, k - 1), (n, k)


def from_one(n, k):
    """The course's sum, which leaves out i = 0."""
    return sum((-1) ** i * comb(k, i) * (k - i) ** n for i in range(1, k + 1)) / factorial(k)


@pytest.mark.spec("CLU-01", "W-13", "E001-20")
def test_stirling_numbers_count_partitions():
    table = {(3, 2): 3, (4, 2): 7, (5, 3): 25, (8, 3): 966, (10, 4): 34105}
    assert {at: stirling2(*at) for at in table} == table
    for n, k in product(range(7), range(8)):
        found = list(partitions(n, k))
        assert len(found) == len(set(found)) == stirling2(n, k), (n, k)
        assert all(len(p) == n and set(p) == set(range(k)) for p in found)
    assert stirling2(400, 399) == comb(400, 2)
    assert stirling2(3000, 2) == 2**2999 - 1


@pytest.mark.spec("E001-20")
def test_the_sum_starts_at_zero():
    obeys_the_recurrence(stirling2)
    assert (from_one(3, 2), from_one(5, 3)) == (-1.0, -15.5)
    with pytest.raises(AssertionError):
        obeys_the_recurrence(from_one)


@pytest.mark.spec("CLU-02", "CLU-03", "W-13", "E001-21")
def test_bell_numbers_are_sums_of_stirling_numbers():
    assert [bell(n) for n in range(1, 11)] == [1, 2, 5, 15, 52, 203, 877, 4140, 21147, 115975]
    for n in (0, 1, 13, 100):
        assert bell(n) == sum(stirling2(n, k) for k in range(n + 1))
    assert bell(71) == 408130093410464274259945600962134706689859323636922532443365594726056131962
    assert len(str(bell(71))) == 75


def inertia(x, labels, w):
    return sum(
        (
            w[labels == k][:, None]
            * (x[labels == k] - np.average(x[labels == k], axis=0, weights=w[labels == k])) ** 2
        ).sum()
        for k in np.unique(labels)
    )


@pytest.mark.spec("CLU-08", "W-02")
@pytest.mark.parametrize(
    ("k", "within"), [(2, 51.46667), (3, 14.33333), (4, 8.66667), (5, 3.66667), (6, 2.0), (7, 1.0)]
)
def test_best_partitions_of_the_eight_points(k, within):
    found = best_partition(W02, k)
    np.testing.assert_allclose(found.inertia, within, atol=5.1e-6)
    np.testing.assert_allclose(inertia(W02, found.labels, np.ones(8)), found.inertia, rtol=1e-12)
    assert found.n_partitions == stirling2(8, k)


@pytest.mark.spec("CLU-08", "CLU-15")
def test_the_centres_of_the_best_three_groups():
    found = best_partition(W02, 3)
    expected = [[11 / 3, 9.0], [1.5, 3.5], [7.0, 13 / 3]]
    np.testing.assert_allclose(found.centers, expected, rtol=1e-12)


@pytest.mark.spec("CLU-08")
@pytest.mark.parametrize("shift", [0.0, 2.0**27])
def test_no_labelling_is_better(shift, rng):
    """Every labelling of seven points, empty groups and all, tried one by one; also at 1e8."""
    x = np.round(rng.standard_normal((7, 2)) * 1024) / 1024
    w = rng.integers(1, 4, 7).astype(float)
    every = min(inertia(x, np.array(labels), w) for labels in product(range(3), repeat=7))
    found = best_partition(x + shift, 3, w)
    np.testing.assert_allclose(found.inertia, every, rtol=1e-12)
    np.testing.assert_allclose(inertia(x, found.labels, w), every, rtol=1e-12)


def test_weights_are_repetitions(rng):
    x = rng.standard_normal((5, 2))
    counts = np.array([2, 1, 3, 0, 2])
    a, b = best_partition(x, 3, counts), best_partition(np.repeat(x, counts, axis=0), 3)
    np.testing.assert_allclose(a.inertia, b.inertia, rtol=1e-12)
    np.testing.assert_allclose(a.centers, b.centers, rtol=1e-12)
    assert np.repeat(a.labels, counts).tolist() == b.labels.tolist()


def test_the_extremes(rng):
    x = rng.standard_normal((10, 2))
    assert best_partition(x, 1).inertia == pytest.approx(((x - x.mean(axis=0)) ** 2).sum())
    assert best_partition(x, 10).inertia == 0.0
    assert best_partition(np.ones((4, 1)), 3).inertia == 0.0
    for size in (1e100, 1e-100, 2.0**490, 2.0**-490):
        scaled = best_partition(size * x, 2)
        assert scaled.labels.tolist() == best_partition(x, 2).labels.tolist()
        assert scaled.inertia == pytest.approx(size * best_partition(x, 2).inertia * size)


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: stirling2(-1, 2), "n must be a whole number from 0"),
        (lambda: stirling2(3, 1.5), "k must be a whole number"),
        (lambda: bell(-1), "n must be a whole number from 0"),
        (lambda: bell("3"), "n must be a whole number"),
        (lambda: best_partition(W02, 9), "n_clusters must lie between 1 and the 8"),
        (lambda: best_partition(W02, 0), "n_clusters must lie between"),
        (lambda: best_partition(W02, 3.0), "n_clusters must be a whole number"),
        (lambda: best_partition(np.ones((11, 2)), 2), "X must have at most 10 rows"),
        (lambda: best_partition([[np.nan], [1.0]], 1), "X contains NaN"),
        (lambda: best_partition(1e200 * W02, 2), "X has values so large that their squares overflow"),
        (lambda: best_partition(1e-200 * W02, 2), "X has values so small that their squares underflow"),
        (lambda: best_partition(W02[:, 0], 2), "X must be rows of finite numbers"),
        (lambda: best_partition(W02, 2, np.ones(7)), "sample_weight must have one entry a row"),
        (lambda: best_partition(W02, 2, np.zeros(8)), "sample_weight must have a positive entry"),
    ],
)
def test_refusals(call, named):
    with pytest.raises(ValueError, match=named):
        call()
