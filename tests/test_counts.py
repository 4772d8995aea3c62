"""Statistics of counts and labels: merging, refusing, every array library."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tractable import Poisson, fold
from tractable.arrays.grouping import group_rows, weighted_counts
from tractable.arrays.namespace import to_numpy
from tractable.statistics import Counts, Totals
from tractable.testing.statistic_laws import assert_same_statistic

blocks = arrays(np.int64, st.tuples(st.integers(0, 15), st.just(2)), elements=st.integers(0, 6))


@given(x=blocks, y=blocks)
@pytest.mark.parametrize("statistic", [Counts, Totals])
def test_blocks_merge(statistic, x, y):
    both = statistic.of(np.vstack([x, y]))
    assert_same_statistic(statistic.of(x) + statistic.of(y), both, rtol=0, atol=0)
    assert_same_statistic(statistic.empty(2) + both, both, rtol=0, atol=0)


@given(x=blocks)
def test_counts_are_histograms(x):
    found = Counts.of(x, n_classes=7)
    for column, counts in zip(x.T, found.counts, strict=True):
        np.testing.assert_array_equal(counts, np.bincount(column, minlength=7))
    np.testing.assert_array_equal(found.weight, len(x))


def test_shapes_follow_the_columns():
    assert Counts.of([0, 2]).counts.shape == (3,)
    assert Counts.of(np.zeros((4, 2, 5))).counts.shape == (2, 5, 1)
    assert Counts.of(np.zeros((4, 2, 5))).dim == 10
    assert Totals.of([1, 2]).total.shape == ()
    assert Totals.of(np.ones((4, 2, 5))).total.shape == (2, 5)
    assert Totals.of(np.ones((4, 2))).mean.tolist() == [1.0, 1.0]


def test_labels_are_counted_from_a_stream(rng):
    x, w = rng.integers(0, 9, (5000, 2)), rng.random(5000)
    whole = Counts.of(x, w)
    np.testing.assert_allclose(fold(Counts.of, x, weights=w, rows=100).counts, whole.counts, rtol=1e-12)


BAD = [[0.5, 1.0], [-1.0, 0.0], [np.nan, 1.0], [np.inf, 0.0], ["a", "b"], 3.0]


@pytest.mark.parametrize("x", BAD)
@pytest.mark.parametrize("statistic", [Counts, Totals])
def test_what_is_no_count_is_named(statistic, x):
    with pytest.raises(ValueError, match="X must be"):
        statistic.of(x)


def test_labels_out_of_range_are_named():
    with pytest.raises(ValueError, match="X has the label 3, not below n_classes=3"):
        Counts.of([0, 3], n_classes=3)
    with pytest.raises(ValueError, match="X has the label"):
        Counts.of([1e12])
    assert Counts.of([0, 3], [1.0, 0.0], n_classes=3).counts.tolist() == [1.0, 0.0, 0.0]


def test_other_things_are_not_added():
    with pytest.raises(TypeError):
        Counts.of([0]) + 1
    with pytest.raises(TypeError):
        Totals.of([0]) + Counts.of([0])
    with pytest.raises(ValueError, match="rows of positive weight"):
        _ = Totals.empty(2).mean


def test_same_answer_in_every_array_library(backend, rng):
    x, w = rng.integers(0, 4, (30, 2)).astype(float), rng.random(30)
    for statistic, name in ((Counts, "counts"), (Totals, "total")):
        ours = getattr(statistic.of(x, w), name)
        there = statistic.of(backend.asarray(x), backend.asarray(w))
        doubled = getattr(there + there, name)
        assert backend.owns(doubled)
        np.testing.assert_allclose(to_numpy(doubled), 2 * ours, rtol=1e-13)


def test_groups_of_equal_rows(backend, rng):
    x = rng.integers(0, 3, (40, 3)).astype(float)
    groups = to_numpy(group_rows(backend.asarray(x)))
    same = (x[:, None] == x[None, :]).all(axis=-1)
    np.testing.assert_array_equal(groups[:, None] == groups[None, :], same)
    sums = weighted_counts(group_rows(backend.asarray(x)), backend.asarray(np.ones(40)), 40)
    assert backend.owns(sums)
    np.testing.assert_array_equal(to_numpy(sums)[groups], same.sum(axis=0))


@pytest.mark.parametrize(("p", "q"), [(3.0, 5.0), (5.0, 3.0), (0.2, 40.0)])
def test_the_divergence_of_poisson_counts_is_from_the_first_to_the_second(p, q):
    found = Poisson(rate=p).kl_divergence(Poisson(rate=q))
    np.testing.assert_allclose(found, p * np.log(p / q) + q - p, rtol=1e-12)
    k = np.arange(200.0)
    summed = np.sum(Poisson(rate=p).prob(k) * (Poisson(rate=p).log_prob(k) - Poisson(rate=q).log_prob(k)))
    np.testing.assert_allclose(found, summed, rtol=1e-9)
