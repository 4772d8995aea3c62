"""Gaussian process regression of counts: exposure, gradients, quadrature, coverage, what is refused."""

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad
from scipy.special import polygamma
from scipy.stats import norm, poisson

from tractable.arrays.gradient import check_gradient
from tractable.gaussian_process import GaussianProcessPoissonRegressor
from tractable.gaussian_process.poisson import _gamma_shape
from tractable.kernels import RBF, White

RNG = np.random.default_rng(2)
X = RNG.uniform(0.0, 10.0, (60, 2))
E = RNG.uniform(0.5, 3.0, 60)
Y = RNG.poisson(E * np.exp(1.0 + np.sin(X[:, 0])))
KERNEL = 0.8 * RBF([1.5, 5.0])


def fixed(kernel=KERNEL, **options):
    return GaussianProcessPoissonRegressor(kernel, optimizer=None, **options)


def test_rates_follow_the_counts_and_exposures():
    model = GaussianProcessPoissonRegressor().fit(X, Y, exposure=E)
    rate = model.predict(X)
    assert np.corrcoef(np.log(rate), np.sin(X[:, 0]))[0, 1] > 0.9
    assert model.offset_ == pytest.approx(np.log(Y.sum() / E.sum()))
    assert model.relevance().order[0] == 0
    # Counts at an exposure are those at one, times it.
    np.testing.assert_allclose(model.predict_dist(X, exposure=E).mean, E * rate)
    # Another unit of exposure is another unit of the rate.
    other = fixed().fit(X, Y, exposure=12.0 * E)
    np.testing.assert_allclose(12.0 * other.predict(X), fixed().fit(X, Y, exposure=E).predict(X), rtol=1e-9)


@pytest.mark.parametrize("kernel", [KERNEL, KERNEL + White(0.2)], ids=["smooth", "noise"])
def test_gradients_and_weights(kernel):
    model = fixed(kernel).fit(X, Y, exposure=E)
    theta = model.theta_
    check_gradient(model.log_marginal_likelihood, model.log_marginal_likelihood(theta, True)[1], theta)
    weights = np.arange(60) % 3
    repeated = np.repeat(np.arange(60), weights)
    one = fixed(kernel).fit(X, Y, weights, exposure=E)
    other = fixed(kernel).fit(X[repeated], Y[repeated], exposure=E[repeated])
    np.testing.assert_allclose(one.predict(X), other.predict(X), rtol=1e-7)
    assert one.log_evidence_ == pytest.approx(other.log_evidence_, rel=1e-8)


def test_the_evidence_of_one_row_is_near_the_integral():
    """Laplace's approximation of ∫ Poisson(y | exp(μ + f)) N(f | 0, v) df."""
    for y, v in ((40.0, 0.3), (3.0, 0.5)):
        model = fixed(v * RBF(1.0)).fit([[0.0]], [y])
        exact = quad(
            lambda f, y=y, v=v: poisson.pmf(y, y * np.exp(f)) * norm.pdf(f, 0.0, v**0.5),
            -8.0,
            8.0,
            points=[0.0],
        )[0]
        assert model.log_evidence_ == pytest.approx(np.log(exact), abs=0.02)


def test_gamma_distributions_have_the_moments_of_the_logarithm():
    v = 10.0 ** np.linspace(-10.0, 4.0, 30)
    np.testing.assert_allclose(polygamma(1, _gamma_shape(v)), v, rtol=1e-7)
    model = fixed().fit(X, Y, exposure=E)
    mean, variance = model.latent_mean_and_variance(X[:3])
    draws = np.log(model.predict_dist(X[:3], include_noise=False).sample(40_000, rng=0))
    np.testing.assert_allclose(draws.mean(axis=0), model.offset_ + mean, atol=0.01)
    np.testing.assert_allclose(draws.var(axis=0), variance, rtol=0.05)


def test_intervals_cover(rng):
    """Of rates what they say, and of counts, whole numbers, no less."""
    levels, counts, rates = np.array([0.5, 0.9, 0.99]), [], []
    for _ in range(30):
        x = rng.uniform(0.0, 10.0, (48, 1))
        root = np.linalg.cholesky(0.8 * RBF(1.5)(x) + 1e-9 * np.eye(48))
        rate = np.exp(1.0 + root @ rng.standard_normal(48))
        y = rng.poisson(rate)
        model = GaussianProcessPoissonRegressor().fit(x[:40], y[:40])
        for found, of, noise in ((counts, y, True), (rates, rate, False)):
            ends = [model.predict_interval(x[40:], c, include_noise=noise) for c in levels]
            found.append([np.mean((e[:, 0] <= of[40:]) & (of[40:] <= e[:, 1])) for e in ends])
    error = np.std(rates, axis=0, ddof=1) / 30**0.5 + 1e-3
    assert np.all(np.abs(np.mean(rates, axis=0) - levels) < 4.0 * error)
    assert np.all(np.mean(counts, axis=0) > levels - 3.0 * error)


def test_no_events_and_one_row():
    model = GaussianProcessPoissonRegressor().fit(X, np.zeros(60))
    assert np.all(model.predict(X) < 0.1)
    assert model.predict_interval(X, 0.9).max() <= 1.0
    assert np.isfinite(GaussianProcessPoissonRegressor().fit([[1.0]], [3]).predict([[1.0], [9.0]])).all()


@pytest.mark.parametrize(
    ("y", "options", "named"),
    [
        (-Y, {}, "y must be counts"),
        (Y, {"exposure": np.zeros(60)}, "exposure must be positive"),
        (Y, {"exposure": [1.0, 2.0]}, "exposure must be one number or one for each of 60 rows"),
        (Y, {"exposure": "long"}, "exposure"),
        (np.full(60, np.nan), {}, "y"),
        (Y, {"sample_weight": np.zeros(60)}, "sample_weight must have a positive entry"),
    ],
)
def test_refusals(y, options, named):
    with pytest.raises(ValueError, match=named):
        GaussianProcessPoissonRegressor().fit(X, y, **options)


def test_noise_of_rows_needs_whole_weights():
    with pytest.raises(ValueError, match="sample_weight must be whole numbers"):
        fixed(KERNEL + White(0.1)).fit(X, Y, np.full(60, 0.5))


def test_comparison_with_the_exact_posterior_is_that_of_quadrature():
    """Of one row, y ~ Poisson(exp(μ + f)), f ~ N(0, v), which is compared at itself."""
    y, v = 2.0, 1.5
    found = fixed(v * RBF(1.0)).fit([[0.0]], [y]).compare_to_exact()
    f = np.linspace(-12.0, 8.0, 20_001)
    density = poisson.pmf(y, y * np.exp(f)) * norm.pdf(f, 0.0, v**0.5)
    total = np.trapezoid(density, f)
    assert found.n_rows == 1
    assert found.log_evidence == pytest.approx(np.log(total), abs=4.0 * found.log_evidence_error)
    assert found.log_evidence_error < 0.01
    mean = np.trapezoid(f * density, f) / total
    spread = np.sqrt(np.trapezoid((f - mean) ** 2 * density, f) / total)
    rate = np.trapezoid(np.exp(f) * density, f) / total
    model = fixed(v * RBF(1.0)).fit([[0.0]], [y])
    own, variance = model.latent_mean_and_variance([[0.0]])
    assert found.mean_difference == pytest.approx(abs(own.item() - mean) / spread, abs=0.05)
    assert found.stddev_ratio == pytest.approx(variance.item() ** 0.5 / spread, rel=0.05)
    expected = abs(np.log(model.predict([[0.0]]).item() / (y * rate)))
    assert found.prediction_difference == pytest.approx(expected, abs=0.03)
    assert found.pareto_k < 0.7


def test_large_counts_are_nearly_normal():
    few = fixed().fit(X, Y, exposure=E).compare_to_exact(30)
    many = fixed().fit(X, 200 * Y, exposure=E).compare_to_exact(30)
    assert few.n_rows == many.n_rows == 30
    for name in ("mean_difference", "prediction_difference"):
        assert getattr(many, name) < 0.5 * getattr(few, name)
    assert many.ess > few.ess
    weighed = fixed().fit(X, Y, np.arange(60) % 3 + 0.5, exposure=E).compare_to_exact(30)
    assert weighed.pareto_k < 0.7
    with pytest.raises(ValueError, match="n must be"):
        fixed().fit(X, Y).compare_to_exact(0)


def test_rates_of_words():
    frame = pd.DataFrame({"time": X[:, 0], "place": np.where(X[:, 1] > 5.0, "town", "field")})
    counts = np.random.default_rng(0).poisson(np.where(frame["place"] == "town", 20.0, 2.0))
    model = GaussianProcessPoissonRegressor(max_iter=50).fit(frame, counts)
    assert model.categories_ == {"place": ("field", "town")}
    field, town = model.predict(pd.DataFrame({"time": [5.0, 5.0], "place": ["field", "town"]}))
    assert field == pytest.approx(2.0, abs=1.5)
    assert town == pytest.approx(20.0, rel=0.25)
