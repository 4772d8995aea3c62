"""Every law of statistics on every statistic, and what Hypothesis finds between."""

from functools import reduce
from operator import add

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from catalogue import STATISTICS, cross
from tractable.arrays import to_numpy
from tractable.statistics import DiagonalMoments, IncompleteMoments, LinearFactor, Moments, ScatterFactor
from tractable.testing.statistic_laws import STATISTIC_LAWS, assert_same_statistic


@pytest.mark.parametrize(("law", "make"), cross(STATISTIC_LAWS, STATISTICS))
def test_statistic_law(law, make, rng):
    law(make(), rng)


numbers = st.floats(-1e3, 1e3, width=32)
blocks = arrays(np.float64, st.tuples(st.integers(0, 20), st.just(2)), elements=numbers)
holes = arrays(
    np.float64, st.tuples(st.integers(0, 12), st.just(3)), elements=st.one_of(numbers, st.just(np.nan))
)


@given(x=blocks, y=blocks, z=blocks)
@pytest.mark.spec("DIST-31", "SEQ-02")
def test_moments_form_a_commutative_monoid(x, y, z):
    a, b, c = map(Moments.of, (x, y, z))
    assert_same_statistic((a + b) + c, a + (b + c), rtol=1e-9, atol=1e-6)
    assert_same_statistic(a + b, b + a, rtol=1e-9, atol=1e-6)
    assert_same_statistic(a + b, Moments.of(np.vstack([x, y])), rtol=1e-9, atol=1e-6)


@given(x=holes, y=holes)
@pytest.mark.parametrize("statistic", [IncompleteMoments, DiagonalMoments])
def test_incomplete_rows_merge_too(statistic, x, y):
    both = statistic.of(np.vstack([x, y]))
    # An empty block knows no pattern, so compare through the sums.
    assert_same_statistic(statistic.of(x) + statistic.of(y), both, rtol=1e-9, atol=1e-6)


@given(x=holes)
def test_columns_of_the_patterns_are_the_diagonal_statistic(x):
    weight, mean, scatter = IncompleteMoments.of(x).columns()
    alone = DiagonalMoments.of(x)
    np.testing.assert_allclose(weight, alone.weight)
    np.testing.assert_allclose(mean, alone.mean, atol=1e-9)
    np.testing.assert_allclose(scatter, alone.scatter, rtol=1e-9, atol=1e-6)


@pytest.mark.parametrize("statistic", [Moments, DiagonalMoments])
@pytest.mark.parametrize("shift", [1e4, 1e7, 1e8])
def test_scatter_does_not_care_where_the_data_are(statistic, shift, rng):
    x = np.round(rng.standard_normal((2000, 2)) * 2**20) / 2**20  # exact after the shift
    here, there = statistic.of(x), statistic.of(x + shift)
    np.testing.assert_allclose(there.scatter, here.scatter, rtol=1e-9)
    np.testing.assert_allclose(there.mean - shift, here.mean, atol=4 * np.spacing(shift))


@pytest.mark.parametrize("statistic", [Moments, DiagonalMoments, ScatterFactor, LinearFactor])
@pytest.mark.parametrize("first", [0, 700])
def test_merges_far_from_the_origin_lose_no_digits(statistic, first, rng):
    """Means are equal but for their last digits, which their rests hold; blocks may have no weight."""
    x = np.round(rng.standard_normal((2100, 3)) * 2.0**20) / 2.0**20
    weights = np.where(np.arange(2100) < first, 0.0, 1.0)

    def scatter_at(shift):
        blocks = [slice(start, start + 100) for start in range(0, 2100, 100)]
        rows = [(x[b] + shift, *([x[b, 0]] if statistic is LinearFactor else []), weights[b]) for b in blocks]
        total = reduce(add, (statistic.of(*each) for each in rows))
        return (total.moments() if hasattr(total, "moments") else total).scatter

    np.testing.assert_allclose(scatter_at(2.0**31), scatter_at(0.0), rtol=1e-12, atol=2e-9)


@pytest.mark.parametrize("scale", [1e-100, 1e100])
def test_scatter_follows_the_scale(scale, rng):
    x = rng.standard_normal((50, 3))
    np.testing.assert_allclose(Moments.of(x * scale).scatter, Moments.of(x).scatter * scale**2, rtol=1e-12)


@pytest.mark.spec("SEQ-01", "SEQ-02", "W-15")
def test_one_row_at_a_time_is_the_recursive_mean(rng):
    x = rng.standard_normal((200, 2)) + 4.2
    total, recursive = Moments.empty(2), np.zeros(2)
    for n, row in enumerate(x, start=1):
        total = total + Moments.of(row[None])
        recursive = recursive + (row - recursive) / n
    np.testing.assert_allclose(total.mean, recursive, rtol=1e-14)
    np.testing.assert_allclose(total.mean, x.mean(axis=0), rtol=1e-14)
    np.testing.assert_allclose(total.covariance(), np.cov(x.T, ddof=0), rtol=1e-12)


@pytest.mark.spec("DIST-32")
def test_ddof_is_bessels_correction(rng):
    x = rng.standard_normal((9, 2))
    s = Moments.of(x)
    np.testing.assert_allclose(s.covariance(ddof=1), np.cov(x.T), rtol=1e-13)
    np.testing.assert_allclose(s.covariance(ddof=1), s.covariance() * 9 / 8, rtol=1e-13)
    with pytest.raises(ValueError, match="ddof=1"):
        Moments.of(x[:1]).covariance(ddof=1)


def test_infinity_is_refused_where_nan_is_not(rng):
    x = rng.standard_normal((5, 2))
    x[2, 1] = np.inf
    for statistic in (IncompleteMoments, DiagonalMoments):
        with pytest.raises(ValueError, match="infinity"):
            statistic.of(x)


def test_same_answer_in_every_array_library(backend, rng):
    x, w = rng.standard_normal((20, 3)), rng.random(20)
    for statistic in (Moments, DiagonalMoments):
        ours, theirs = statistic.of(x, w), statistic.of(backend.asarray(x), backend.asarray(w))
        total = theirs + theirs
        assert backend.owns(total.mean)
        assert backend.owns(total.scatter)
        np.testing.assert_allclose(to_numpy(theirs.scatter), ours.scatter, rtol=1e-12, atol=1e-13)
        np.testing.assert_allclose(to_numpy(total.scatter), 2 * ours.scatter, rtol=1e-12, atol=1e-13)
