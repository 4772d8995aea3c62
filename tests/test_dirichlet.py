"""Shares: edges of the simplex, modes, marginals, fits."""

import numpy as np
import pytest

import tractable
from tractable import Beta, Dirichlet
from tractable.statistics import LogMoments
from tractable.testing.assertions import assert_mean


@pytest.mark.spec("DIST-13")
@pytest.mark.parametrize(
    ("alpha", "x", "expected"),
    [
        ([1.0, 2.0, 2.0], [0.0, 0.5, 0.5], np.log(24.0 * 0.25)),
        ([1.0, 1.0, 1.0], [0.0, 0.0, 1.0], np.log(2.0)),
        ([2.0, 2.0, 2.0], [0.0, 0.5, 0.5], -np.inf),
        ([0.5, 2.0, 2.0], [0.0, 0.5, 0.5], np.inf),
        ([0.5, 2.0, 2.0], [0.0, 0.0, 1.0], -np.inf),
        ([1.0, 1.0, 1.0], [0.5, 0.5, 0.5], -np.inf),
        ([1.0, 1.0, 1.0], [-0.5, 1.0, 0.5], -np.inf),
        ([1.0, 1.0, 1.0], [np.nan, 0.5, 0.5], np.nan),
    ],
)
def test_edges_of_the_simplex(alpha, x, expected):
    np.testing.assert_allclose(Dirichlet(concentration=alpha).log_prob(x), expected, rtol=1e-14)


@pytest.mark.spec("DIST-13", "E000-06")
@pytest.mark.parametrize(
    ("alpha", "mode"),
    [
        ([3.0, 2.0, 2.0], [0.5, 0.25, 0.25]),
        ([3.0, 1.0, 2.0], [2.0 / 3.0, 0.0, 1.0 / 3.0]),
        ([3.0, 0.2, 2.0], [2.0 / 3.0, 0.0, 1.0 / 3.0]),
        ([1.0, 1.0, 1.0], [1.0 / 3.0] * 3),
        ([1.0, 0.5, 1.0], [0.5, 0.0, 0.5]),
        ([0.3, 0.5, 0.5], [0.0, 1.0, 0.0]),
    ],
)
def test_modes_inside_on_edges_and_in_corners(alpha, mode):
    d = Dirichlet(concentration=[alpha, [2.0, 2.0, 2.0]])
    np.testing.assert_allclose(d.mode, [mode, [1.0 / 3.0] * 3], rtol=1e-14)
    interior = np.all(np.asarray(alpha) > 1)
    assert np.isfinite(d.log_prob(d.mode)[0]) or not interior


def test_one_share_is_beta_and_groups_add_up(rng):
    d = Dirichlet(concentration=[[1.5, 2.0, 0.5, 3.0], [4.0, 1.0, 1.0, 0.7]])
    one = d.marginal(2)
    assert isinstance(one, Beta)
    np.testing.assert_allclose([one.alpha, one.beta], [[0.5, 1.0], [6.5, 5.7]])
    np.testing.assert_allclose(d.marginal([3, 0]).concentration, [[3.0, 1.5, 2.5], [0.7, 4.0, 2.0]])
    np.testing.assert_allclose(d.marginal(slice(None)).concentration, d.concentration)
    x = d.sample(20_000, rng=rng)
    grouped = np.stack([x[..., 0] + x[..., 2], x[..., 1], x[..., 3]], axis=-1)
    parts = d.aggregate([[0, 2], [1], [3]])
    assert_mean(-parts.log_prob(grouped), parts.entropy(), "surprise of the sums")
    low, high = d.interval(0.8)
    np.testing.assert_allclose([low[..., 2], high[..., 2]], one.interval(0.8), rtol=1e-12)


@pytest.mark.parametrize("groups", [[[0], [1]], [[0, 1], [1, 2]], [[0, 1, 2], []]])
def test_groups_hold_every_share_once(groups):
    with pytest.raises(ValueError, match="groups"):
        Dirichlet(concentration=[1.0, 2.0, 3.0]).aggregate(groups)


def test_mean_and_strength():
    d = Dirichlet.from_mean_strength([[0.5, 0.5], [0.2, 0.8]], [4.0, 10.0])
    np.testing.assert_allclose(d.concentration, [[2.0, 2.0], [2.0, 8.0]])
    np.testing.assert_allclose(d.strength, [4.0, 10.0])
    with pytest.raises(ValueError, match="mean"):
        Dirichlet.from_mean_strength([0.5, 0.6], 1.0)
    with pytest.raises(ValueError, match="strength"):
        Dirichlet.from_mean_strength([0.5, 0.5], 0.0)


def test_very_small_concentrations_are_drawn_without_underflow(rng):
    """Each draw is all but a corner; gamma variables of shape 1e-3 would underflow together, to 0/0."""
    d = Dirichlet(concentration=np.array([1e-3, 1e-3, 2e-3]))
    x = d.sample(20_000, rng=rng)
    np.testing.assert_allclose(x.sum(axis=-1), 1.0, rtol=1e-12)
    assert_mean(x, d.mean, "draws")
    assert_mean((x - d.mean) ** 2, d.variance, "squares of draws")


def test_fit_solves_the_likelihood_equations(rng):
    from scipy.special import digamma

    d = Dirichlet(concentration=[0.3, 2.0, 6.0])
    x, w = d.sample(300, rng=rng), rng.random(300)
    fitted = Dirichlet.fit(x, w).concentration
    expected = np.average(np.log(x), axis=0, weights=w)
    np.testing.assert_allclose(digamma(fitted) - digamma(fitted.sum()), expected, rtol=1e-12)


def test_fit_is_a_fold(rng):
    x = Dirichlet(concentration=[2.0, 1.0, 3.0]).sample(1000, rng=rng)
    streamed = Dirichlet.from_statistic(tractable.fold(Dirichlet.statistic.of, x))
    parts = LogMoments.of(x[:300]) + LogMoments.of(x[300:])
    whole = Dirichlet.fit(x).concentration
    np.testing.assert_allclose(streamed.concentration, whole, rtol=1e-10)
    np.testing.assert_allclose(Dirichlet.from_statistic(parts).concentration, whole, rtol=1e-10)


def test_fit_of_nearly_equal_rows_keeps_its_digits(rng):
    d = Dirichlet(concentration=[2e8, 3e8, 5e8])
    x = d.sample(4000, rng=rng)
    fitted = Dirichlet.fit(x)
    np.testing.assert_allclose(fitted.strength, 1e9, rtol=5.0 / np.sqrt(4000))


@pytest.mark.parametrize(
    ("X", "words"),
    [
        ([[0.5, 0.5], [0.5, 0.5]], "rows that differ"),
        ([[0.0, 1.0], [0.5, 0.5]], "X must be positive"),
        ([[0.5, 0.6], [0.5, 0.5]], "X"),
        ([0.5, 0.5], "X must be rows"),
    ],
)
def test_bad_rows_are_refused(X, words):
    with pytest.raises(ValueError, match=words):
        Dirichlet.fit(X)
