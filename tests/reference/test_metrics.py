"""Scores against the courses' numbers, scikit-learn, SciPy, quadrature, and their definitions."""

import numpy as np
import pytest
from scipy import integrate, stats
from sklearn import metrics as sk

import tractable
from quick import some
from tractable import metrics
from tractable.distributions import (
    Beta,
    Empirical,
    Gamma,
    Laplace,
    Mixture,
    MultivariateNormal,
    Normal,
    Poisson,
    StudentT,
)

X01 = np.linspace(1, 5, 15)[:, None]
Y01 = np.exp(X01[:, 0])

#: Ours, scikit-learn's, and the W-01 line's value.
ERRORS = {
    "mse": (metrics.mean_squared_error, sk.mean_squared_error, 384.32598),
    "rmse": (metrics.root_mean_squared_error, sk.root_mean_squared_error, 19.60423),
    "r2": (metrics.r2_score, sk.r2_score, 0.790124),
    "mae": (metrics.mean_absolute_error, sk.mean_absolute_error, 16.22342),
}


@pytest.mark.parametrize(("ours", "theirs", "known"), ERRORS.values(), ids=ERRORS)
@pytest.mark.spec("ASSESS-04", "ASSESS-05", "ASSESS-07", "ASSESS-08", "W-01")
def test_errors_agree_with_scikit_learn_and_the_course(ours, theirs, known, rng):
    line = tractable.LinearRegression().fit(X01, Y01).predict(X01)
    np.testing.assert_allclose(ours(Y01, line), known, atol=5.1e-6)
    y, p, w = *rng.standard_normal((2, 40, 3)), rng.uniform(0.0, 3.0, 40)
    for options in (
        {},
        {"sample_weight": w},
        {"multioutput": "raw_values"},
        {"sample_weight": w, "multioutput": [0.2, 0.5, 0.3]},
    ):
        np.testing.assert_allclose(ours(y, p, **options), theirs(y, p, **options), rtol=1e-12)
    np.testing.assert_allclose(ours(y[:, 0], p[:, 0]), theirs(y[:, 0], p[:, 0]), rtol=1e-12)
    assert isinstance(ours(y, p), float)


@pytest.mark.spec("ASSESS-06", "ASSESS-07", "W-01", "E001-12")
def test_r2_is_one_minus_the_square_of_the_normalised_error(rng):
    line = tractable.LinearRegression().fit(X01, Y01).predict(X01)
    np.testing.assert_allclose(metrics.normalized_rmse(Y01, line), 0.458122, atol=5.1e-7)
    y, p, w = *rng.standard_normal((2, 30, 2)), rng.uniform(size=30)
    share = metrics.normalized_rmse(y, p, sample_weight=w, multioutput="raw_values")
    found = metrics.r2_score(y, p, sample_weight=w, multioutput="raw_values")
    np.testing.assert_allclose(found, 1.0 - share**2, rtol=1e-12)
    unbiased = np.mean((Y01 - line) ** 2) / np.var(Y01, ddof=1)
    np.testing.assert_allclose(1.0 - unbiased, 0.80412, atol=5.1e-6)


def test_a_constant_target_is_predicted_exactly_or_not_at_all():
    assert metrics.normalized_rmse([2.0, 2.0], [2.0, 2.0]) == 0.0
    assert metrics.normalized_rmse([2.0, 2.0], [2.0, 3.0]) == np.inf
    assert metrics.r2_score([2.0, 2.0], [2.0, 2.0]) == 1.0
    assert metrics.r2_score([2.0, 2.0], [2.0, 3.0]) == -np.inf


@pytest.mark.parametrize("score", [*(row[0] for row in ERRORS.values()), metrics.normalized_rmse])
def test_bad_targets_are_one_clear_error(score):
    good = [1.0, 2.0]
    for args, named in (
        (([1.0, np.nan], good), "y_true"),
        ((good, [1.0, np.inf]), "y_pred"),
        ((good, [1.0]), "y_pred"),
        (([], []), "y_true"),
        (("ab", good), "y_true"),
    ):
        with pytest.raises(ValueError, match=named):
            score(*args)
    with pytest.raises(ValueError, match="sample_weight"):
        score(good, good, sample_weight=[-1.0, 1.0])
    with pytest.raises(ValueError, match="multioutput"):
        score([good, good], [good, good], multioutput="variance")


def test_errors_of_every_array_library(backend, rng):
    y, p = rng.standard_normal((2, 8, 2))
    w = rng.uniform(size=8)
    for score in (*(row[0] for row in ERRORS.values()), metrics.normalized_rmse):
        found = score(backend.asarray(y), backend.asarray(p), sample_weight=backend.asarray(w))
        np.testing.assert_allclose(found, score(y, p, sample_weight=w), rtol=1e-12)
    dist = Normal(mean=backend.asarray(p), stddev=2.0)
    found = metrics.crps(dist, backend.asarray(y))
    np.testing.assert_allclose(found, metrics.crps(Normal(mean=p, stddev=2.0), y), rtol=1e-12)


def test_log_predictive_density_is_the_mean_log_density(rng):
    mean, y, w = rng.standard_normal((3, 20))
    w = np.abs(w)
    expected = np.average(stats.norm.logpdf(y, mean, 0.5), weights=w)
    dist = Normal(mean=mean, stddev=0.5)
    found = metrics.log_predictive_density(dist, y, sample_weight=w)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    # Several targets are judged together, as one multivariate target is.
    pairs = rng.standard_normal((20, 2))
    apart = metrics.log_predictive_density(Normal(mean=np.zeros((20, 2)), stddev=1.0), pairs)
    together = metrics.log_predictive_density(
        MultivariateNormal(mean=[0.0, 0.0], covariance=np.eye(2)), pairs
    )
    np.testing.assert_allclose(apart, together, rtol=1e-12)
    with pytest.raises(ValueError, match="NaN"):
        metrics.log_predictive_density(dist, y * np.nan)
    with pytest.raises(ValueError, match="distribution must be"):
        metrics.log_predictive_density(mean, y)


def by_definition(cdf, y, low, high):
    """∫ (F(x) - [x ≥ y])² dx, by SciPy's quadrature."""
    below = integrate.quad(lambda x: cdf(x) ** 2, low, y, epsabs=1e-13, epsrel=1e-12, limit=500)[0]
    above = integrate.quad(lambda x: (1 - cdf(x)) ** 2, y, high, epsabs=1e-13, epsrel=1e-12, limit=500)[0]
    return below + above


CONTINUOUS = {
    "normal": (Normal(mean=1.0, stddev=2.0), stats.norm(1, 2), (-40, 40)),
    "normal-far": (Normal(mean=1e6, stddev=1.0), stats.norm(1e6, 1), (1e6 - 30, 1e6 + 30)),
    "student": (StudentT(dof=3.0, location=-1.0, scale=0.5), stats.t(3, -1, 0.5), (-np.inf, np.inf)),
    "student-heavy": (StudentT(dof=0.9, location=0.0, scale=1.0), stats.t(0.9), (-np.inf, np.inf)),
    "student-light": (StudentT(dof=1e6, location=0.0, scale=1.0), stats.t(1e6), (-40, 40)),
    "laplace": (Laplace(location=0.5, scale=1.5), stats.laplace(0.5, 1.5), (-80, 80)),
    "gamma": (Gamma(shape=0.7, rate=2.0), stats.gamma(0.7, scale=0.5), (0, 40)),
    "beta": (Beta(alpha=0.5, beta=3.0), stats.beta(0.5, 3), (0, 1)),
}


@pytest.mark.parametrize(("ours", "theirs", "ends"), CONTINUOUS.values(), ids=CONTINUOUS)
@pytest.mark.parametrize("level", some([1e-3, 0.2, 0.5, 0.97]))
def test_crps_is_its_integral(ours, theirs, ends, level):
    y = theirs.ppf(level)
    expected = by_definition(theirs.cdf, y, *ends)
    np.testing.assert_allclose(metrics.crps_values(ours, y), expected, rtol=1e-7, atol=1e-10)


def test_crps_of_mixtures_is_their_integral():
    parts = Normal(mean=[-1.0, 2.0, 2.5], stddev=[0.3, 1.0, 0.1])
    d = Mixture(weights=[0.5, 0.3, 0.2], components=parts)
    for y in (-3.0, 0.4, 2.5):
        expected = by_definition(lambda x: float(d.cdf(x)), y, -20, 20)
        np.testing.assert_allclose(metrics.crps_values(d, y), expected, rtol=1e-8)
    others = Mixture(weights=[0.4, 0.6], components=Laplace(location=[0.0, 3.0], scale=1.0))
    expected = by_definition(lambda x: float(others.cdf(x)), 1.0, -60, 60)
    np.testing.assert_allclose(metrics.crps_values(others, 1.0), expected, rtol=1e-8)


def test_crps_of_counts_is_a_sum():
    d, k = Poisson(rate=3.5), np.arange(200)
    for y in (0, 3, 12):
        expected = np.sum((stats.poisson(3.5).cdf(k) - (k >= y)) ** 2)
        np.testing.assert_allclose(metrics.crps_values(d, y), expected, rtol=1e-10)


def test_crps_of_draws_is_that_of_their_distribution(rng):
    draws, y = rng.standard_normal((50, 3)), rng.standard_normal(3)
    pairs = np.abs(draws[:, None] - draws[None]).mean(axis=(0, 1))
    expected = np.abs(draws - y).mean(axis=0) - 0.5 * pairs
    np.testing.assert_allclose(metrics.crps_values(draws, y), expected, rtol=1e-12)
    one = Empirical(values=draws[:, 0])
    np.testing.assert_allclose(metrics.crps_values(one, y[:1]), expected[:1], rtol=1e-12)
    weighted = Empirical(values=[0.0, 1.0, 4.0], weights=[2.0, 1.0, 1.0])
    np.testing.assert_allclose(
        metrics.crps_values(weighted, 0.5), metrics.crps_values([0.0, 0.0, 1.0, 4.0], 0.5), rtol=1e-12
    )
    # A point is judged by its absolute error.
    np.testing.assert_allclose(metrics.crps([[2.0, 5.0]], [3.0, 3.0]), 1.5)


def test_crps_of_draws_approaches_that_of_the_distribution(rng):
    d = Normal(mean=[0.0, 1.0], stddev=[1.0, 3.0])
    y = np.array([0.3, -2.0])
    found = metrics.crps_values(d.sample(200_000, rng=rng), y)
    np.testing.assert_allclose(found, metrics.crps_values(d, y), atol=5 * 3.0 / np.sqrt(200_000))


def test_crps_refuses_what_it_cannot_score(rng):
    with pytest.raises(ValueError, match="distribution must be of numbers"):
        metrics.crps(MultivariateNormal(mean=[0.0, 0.0], covariance=np.eye(2)), [[0.0, 0.0]])
    with pytest.raises(ValueError, match="finite draws"):
        metrics.crps([[np.nan, 1.0]], [0.0, 1.0])
    with pytest.raises(ValueError, match="y must have shape"):
        metrics.crps(Normal(mean=0.0, stddev=1.0), 0.0)


def test_the_integral_transform_is_uniform_where_the_model_is_right(rng):
    d = Normal(mean=rng.standard_normal(4000), stddev=2.0)
    y = d.sample(1, rng=rng)[0]
    assert stats.kstest(metrics.pit_values(d, y), "uniform").pvalue > 1e-6
    counts = Poisson(rate=rng.uniform(0.5, 4.0, 4000))
    drawn = counts.sample(1, rng=rng)[0]
    assert stats.kstest(metrics.pit_values(counts, drawn, rng=rng), "uniform").pvalue > 1e-6
    # Without drawing from the jumps it is not: the control that must fail.
    assert stats.kstest(counts.cdf(drawn), "uniform").pvalue < 1e-6


def test_a_calibration_curve_counts_what_lies_below(rng):
    y, w = rng.standard_normal(3000), rng.integers(0, 3, 3000)
    right, wide = Normal(mean=0.0, stddev=1.0), Normal(mean=0.0, stddev=2.0)
    curve = metrics.calibration_curve(right, y)
    assert curve.levels.shape == (9,)
    np.testing.assert_allclose(curve.standard_errors, np.sqrt(curve.levels * (1 - curve.levels) / 3000))
    assert np.all(np.abs(curve.observed - curve.levels) < 5 * curve.standard_errors)
    off = metrics.calibration_curve(wide, y)
    assert np.max(np.abs(off.observed - off.levels) / off.standard_errors) > 5
    weighted = metrics.calibration_curve(right, y, levels=[0.25, 0.5], sample_weight=w)
    repeated = metrics.calibration_curve(right, np.repeat(y, w), levels=[0.25, 0.5])
    np.testing.assert_allclose(weighted.observed, repeated.observed, rtol=1e-12)
    np.testing.assert_allclose(weighted.standard_errors, repeated.standard_errors, rtol=1e-12)
    two = metrics.calibration_curve(Normal(mean=np.zeros((3000, 2)), stddev=1.0), np.column_stack([y, y]))
    np.testing.assert_allclose(two.observed, curve.observed, rtol=1e-12)
    for bad in (0, [0.0, 0.5], [[0.5]], "x"):
        with pytest.raises(ValueError, match="levels"):
            metrics.calibration_curve(right, y, levels=bad)


def test_coverage_of_a_model_that_is_right(rng):
    X = rng.standard_normal((400, 3))
    beta, noise = np.array([1.0, -2.0, 0.5]), 0.7
    model = tractable.Ridge(0.1).fit(X, X @ beta + noise * rng.standard_normal(400))
    new = rng.standard_normal((4000, 3))
    y = new @ beta + noise * rng.standard_normal(4000)
    found = metrics.interval_coverage(model.predict_dist(new), y, 0.8)
    # Beside the counting error: the estimated noise is off by 1/√(2 dof), and the interval's width with it.
    z = stats.norm.ppf(0.9)
    width = 2 * stats.norm.pdf(z) * z / np.sqrt(2 * model.residual_dof_)
    assert abs(found.observed - 0.8) < 5 * np.hypot(found.standard_error, width)
    np.testing.assert_allclose(found.standard_error, np.sqrt(0.8 * 0.2 / 4000))
    same = metrics.interval_coverage(model.predict_interval(new, 0.8), y, 0.8)
    assert same.observed == found.observed
    np.testing.assert_allclose(same.mean_width, found.mean_width)
    for intervals in (model.predict_dist(new), model.predict_interval(new, 0.8)):
        with pytest.raises(ValueError, match="coverage"):
            metrics.interval_coverage(intervals, y, 1.0)
    with pytest.raises(ValueError, match=r"intervals \(\.\.\., 2\)"):
        metrics.interval_coverage(y, y)


def test_intervals_do_not_say_what_they_were_made_for():
    """A nominal coverage of 0.9 was made up."""
    found = metrics.interval_coverage([[-1.0, 1.0], [0.0, 3.0]], [0.5, 4.0])
    assert (found.observed, found.mean_width) == (0.5, 2.5)
    assert np.isnan(found.nominal)
    assert np.isnan(found.standard_error)
    assert metrics.interval_coverage(Normal(mean=0.0, stddev=1.0), [0.0, 1.0]).nominal == 0.9
