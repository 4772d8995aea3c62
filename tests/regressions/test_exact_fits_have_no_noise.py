"""Targets on a plane, to rounding: rounding decided whether there was a noise, and how sure it was."""

import numpy as np
import pytest

from tractable import LinearRegression, Ridge, RidgeCV

HOURS, SCORES = np.arange(1.0, 6.0)[:, None], np.array([2.1, 4.2, 6.3, 8.4, 10.5])
REFUSED = "y is fitted without error"


def plane(rng, n=40, d=3):
    X = rng.normal(size=(n, d))
    return X, 0.1 + X @ rng.normal(size=d)


@pytest.mark.spec("W-08")
@pytest.mark.parametrize("options", [{}, {"solver": "svd"}, {"solver": "normal"}, {"refine": True}])
def test_points_on_a_line_leave_no_noise(options):
    model = LinearRegression(**options).fit(HOURS, SCORES)
    assert model.coef_ == pytest.approx(2.1)
    assert model.noise_variance_ == model.noise_variance_ml_ == 0.0
    assert model.log_likelihood_ == np.inf
    for ask in (model.predict_dist, model.predict_interval):
        with pytest.raises(ValueError, match=REFUSED):
            ask(HOURS)
    for ask in (model.coef_interval, model.intercept_interval):
        with pytest.raises(ValueError, match=REFUSED):
            ask()


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("unit", [1e-100, 1e-3, 1.0, 1e100])
@pytest.mark.parametrize("seed", range(5))
def test_planes_of_any_size_leave_no_noise(seed, unit, intercept):
    X, y = plane(np.random.default_rng(seed))
    y = unit * (y if intercept else y - 0.1)
    for model in (LinearRegression(fit_intercept=intercept), Ridge(0.0, fit_intercept=intercept)):
        assert model.fit(X, y).noise_variance_ == 0.0
        with pytest.raises(ValueError, match=REFUSED):
            model.predict_dist(X)


@pytest.mark.parametrize("copies", [1, 50])
@pytest.mark.parametrize("method", ["loo", "gcv"])
def test_a_search_that_ends_without_penalty_leaves_no_noise(rng, method, copies):
    """With many rows, and with fewer than columns."""
    x = rng.normal(size=(20, 1))
    X = np.tile(x, copies)
    model = RidgeCV([0.0], method=method).fit(X, 0.1 + 3.0 * x[:, 0])
    assert model.noise_variance_ == 0.0
    with pytest.raises(ValueError, match=REFUSED):
        model.predict_dist(X)


def test_constant_targets_leave_no_noise_whatever_they_are(rng):
    X = rng.normal(size=(30, 2))
    for level in (0.0, 0.1, 1.0 / 3.0, 1e8 / 7.0):
        assert LinearRegression().fit(X, np.full(30, level)).log_likelihood_ == np.inf
        assert Ridge(1.0).fit(X, np.full(30, level)).noise_variance_ == 0.0
        assert RidgeCV().fit(X, np.full(30, level)).noise_variance_ == 0.0


def test_of_several_targets_each_is_judged_alone(rng):
    X, y = plane(rng)
    both = np.column_stack([y, y + 1e-9 * rng.normal(size=40)])
    for model in (LinearRegression(), Ridge(0.0)):
        sigma2 = model.fit(X, both).noise_variance_
        assert sigma2[0] == 0.0
        assert sigma2[1] == pytest.approx(1e-18, rel=1.0)


@pytest.mark.parametrize("noise", [1e-12, 1e-6])
def test_noise_above_rounding_is_noise(rng, noise):
    X, y = plane(rng, 400)
    y = y + noise * rng.normal(size=400)
    model = LinearRegression().fit(X, y)
    assert model.noise_variance_ == pytest.approx(noise**2, rel=0.3)
    assert np.isfinite(model.log_likelihood_)
    assert model.predict_dist(X).stddev.shape == (400,)


def test_squares_of_large_targets_are_not_rounding(rng):
    X, y = plane(rng)
    model = LinearRegression().fit(X, 1e149 * (y + rng.normal(size=40)))
    assert 1e296 < model.noise_variance_ < np.inf
