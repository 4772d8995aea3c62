"""Expectations: sums, integrals, draws; variance and covariance; likelihoods in log space."""

import numpy as np
import pytest
from scipy import stats

from tractable.distributions import (
    Bernoulli,
    Beta,
    Categorical,
    Dirichlet,
    Empirical,
    Gamma,
    Mixture,
    MultivariateNormal,
    Normal,
    Poisson,
    StudentT,
    Uniform,
    expectation,
)
from tractable.statistics import cross_covariance

NUMBERS = {
    "Normal": Normal(mean=1.0, stddev=2.0),
    "Normal-tiny": Normal(mean=0.0, stddev=1e-100),
    "Normal-far": Normal(mean=1e6, stddev=1.0),
    "Gamma": Gamma(shape=0.3, rate=2.0),
    "Beta": Beta(alpha=0.4, beta=1.2),
    "Uniform": Uniform(low=-1.0, high=3.0),
    "StudentT": StudentT(dof=3.0, location=1.0, scale=2.0),
    "Mixture": Mixture(weights=[0.999, 0.001], components=Normal(mean=[0.0, 5.0], stddev=[1.0, 1e-3])),
    "Bernoulli": Bernoulli(probability=0.3),
    "Categorical": Categorical(probabilities=[0.2, 0.5, 0.3]),
    "Poisson": Poisson(rate=3.5),
    "Poisson-large": Poisson(rate=2e5),
    "Empirical": Empirical(values=[3.0, 1.0, 2.5, 2.5]),
}


@pytest.mark.spec("PROB-17", "PROB-21")
@pytest.mark.parametrize("name", NUMBERS)
def test_mean_and_both_forms_of_the_variance(name):
    d = NUMBERS[name]
    scale = float(d.stddev)
    one, mean = expectation(np.ones_like, d), expectation(lambda x: x, d)
    np.testing.assert_allclose(one.value, 1.0, rtol=1e-11)
    np.testing.assert_allclose(mean.value, d.mean, rtol=1e-10, atol=1e-10 * scale)
    assert abs(mean.value - d.mean) <= mean.standard_error + 1e-10 * max(scale, abs(float(d.mean)))
    assert mean.standard_error <= 1e-9 * max(scale, abs(float(d.mean)))
    central = expectation(lambda x: ((x - float(d.mean)) / scale) ** 2, d)
    np.testing.assert_allclose(central.value * scale**2, d.variance, rtol=1e-8)
    if abs(float(d.mean)) < 1e3 * scale:  # the difference of squares loses its digits far from zero
        raw = expectation(lambda x: (x / scale) ** 2, d)
        np.testing.assert_allclose(float(raw) - (float(d.mean) / scale) ** 2, central.value, rtol=1e-8)


@pytest.mark.spec("PROB-17")
@pytest.mark.parametrize("name", [n for n in NUMBERS if n not in ("Empirical", "Normal-tiny")])
def test_entropy_is_the_expected_surprise(name):
    d = NUMBERS[name]
    found = expectation(lambda x: -d.log_prob(x), d)
    np.testing.assert_allclose(found.value, d.entropy(), rtol=1e-9)


def test_functions_with_corners_and_jumps():
    d = Normal(mean=[0.0, 1.0], stddev=2.0)
    np.testing.assert_allclose(expectation(lambda x: x > 0.3, d).value, 1 - d.cdf(0.3), rtol=1e-10)
    away = expectation(np.abs, Normal(mean=0.0, stddev=1.0))
    np.testing.assert_allclose(away.value, np.sqrt(2 / np.pi), rtol=1e-11)


@pytest.mark.spec("PROB-19")
def test_marginal_expectation_keeps_the_other_argument():
    """E_x[f](y) = Σ_x p(x) f(x, y), and the tower rule with p(y)."""
    weights, table = np.array([0.2, 0.5, 0.3]), np.array([[1.0, 2.0], [3.0, -1.0], [0.5, 4.0]])
    d = Categorical(probabilities=weights)
    found = expectation(lambda x: table[x.astype(int)], d)
    np.testing.assert_allclose(found.value, weights @ table, rtol=1e-14)
    y = np.linspace(-2.0, 2.0, 5)
    smooth = expectation(lambda x: np.cos(x[:, None] * y), Normal(mean=0.0, variance=1.0))
    np.testing.assert_allclose(smooth.value, np.exp(-0.5 * y**2), rtol=1e-11)


@pytest.mark.spec("PROB-18")
def test_draws_come_with_a_standard_error():
    d = Normal(mean=[1.0, -3.0], stddev=[2.0, 0.5])
    exact = expectation(np.square, d)
    drawn = expectation(np.square, d, n_samples=40_000, rng=0)
    assert np.all(np.abs(drawn.value - exact.value) < 5 * drawn.standard_error)
    np.testing.assert_allclose(
        drawn.standard_error * 200.0,
        [
            np.sqrt(stats.norm(m, s).expect(lambda x, m=m, s=s: (x**2 - m**2 - s**2) ** 2))
            for m, s in ((1.0, 2.0), (-3.0, 0.5))
        ],
        rtol=0.1,
    )
    again = expectation(np.square, d, n_samples=40_000, rng=0)
    np.testing.assert_array_equal(again.value, drawn.value)
    vectors = expectation(lambda x: x, Dirichlet(concentration=[1.0, 2.0, 3.0]), rng=1)
    assert np.all(np.abs(vectors.value - np.array([1, 2, 3]) / 6) < 5 * vectors.standard_error)


@pytest.mark.spec("PROB-22")
def test_covariance_of_two_tables(rng):
    X, Y, w = rng.normal(1e6, 1.0, (50, 2)), rng.normal(size=(50, 3)), rng.integers(0, 4, 50)
    Y[:, 0] += X[:, 1]
    step = (X - X.mean(0)).T @ (Y - Y.mean(0))
    np.testing.assert_allclose(cross_covariance(X, Y), step / 50, rtol=1e-9)
    np.testing.assert_allclose(cross_covariance(X, Y, ddof=1), step / 49, rtol=1e-9)
    np.testing.assert_allclose(
        cross_covariance(X, Y, w), cross_covariance(np.repeat(X, w, 0), np.repeat(Y, w, 0)), rtol=1e-9
    )
    np.testing.assert_allclose(cross_covariance(X), np.cov(X.T, bias=True), rtol=1e-9)
    both = np.cov(np.hstack([X, Y]).T, bias=True)
    np.testing.assert_allclose(cross_covariance(Y, X), both[2:, :2], rtol=1e-9)
    with pytest.raises(ValueError, match="Y must have as many rows"):
        cross_covariance(X, Y[:-1])


@pytest.mark.spec("PROB-22")
def test_covariance_is_the_expectation_of_products():
    """E[(x - E x)(x - E x)ᵀ] by draws, against the covariance of the distribution."""
    d = Mixture(
        weights=[0.3, 0.7],
        components=MultivariateNormal(mean=[[0.0, 0.0], [3.0, 1.0]], covariance=[[1.0, 0.5], [0.5, 1.0]]),
    )
    found = expectation(
        lambda x: (x - d.mean)[:, :, None] * (x - d.mean)[:, None, :], d, n_samples=50_000, rng=2
    )
    assert np.all(np.abs(found.value - d.covariance) < 5 * found.standard_error)


def test_expectations_that_do_not_exist_are_reported():
    with pytest.warns(RuntimeWarning, match="did not settle"):
        expectation(np.square, StudentT(dof=1.0, location=0.0, scale=1.0))


def test_expectations_in_every_library(backend):
    d = Normal(mean=backend.asarray([0.0, 1.0]), stddev=backend.asarray([1.0, 2.0]))
    found = expectation(lambda x: x * x, d)
    assert backend.owns(found.value)
    np.testing.assert_allclose([float(found.value[0]), float(found.value[1])], [1.0, 5.0], rtol=1e-12)
    drawn = expectation(lambda x: x * x, d, n_samples=1000, rng=0)
    assert backend.owns(drawn.standard_error)
    counts = Poisson(rate=backend.asarray(3.0))
    np.testing.assert_allclose(float(expectation(lambda x: x * x, counts)), 12.0, rtol=1e-12)


def test_refusals():
    with pytest.raises(ValueError, match="distribution"):
        expectation(np.square, 3.0)
    with pytest.raises(ValueError, match="n_samples"):
        expectation(np.square, NUMBERS["Normal"], n_samples=1)
    with pytest.raises(ValueError, match="n_samples"):
        expectation(np.square, Poisson(rate=1e14))


@pytest.mark.spec("PROB-27")
def test_monte_carlo_predictive_is_an_equal_mixture():
    """p(x' | D) = E p(x' | θ): draws of a posterior mean, against the closed form of the normal."""
    posterior = Normal(mean=0.7, variance=0.2)
    draws = posterior.sample(20_000, rng=0)
    predictive = Mixture(components=Normal(mean=draws, variance=1.0))
    exact = Normal(mean=0.7, variance=1.2)
    x = np.linspace(-2.0, 3.0, 7)
    each = Normal(mean=draws[:, None], variance=1.0).prob(x)
    error = each.std(axis=0) / np.sqrt(len(draws))
    assert np.all(np.abs(predictive.prob(x) - exact.prob(x)) < 5 * error)


@pytest.mark.spec("PROB-24")
def test_likelihoods_do_not_underflow(rng):
    """The likelihood of a hundred thousand rows is zero in floating point; its logarithm ranks the models."""
    rows = rng.normal(1.0, 2.0, 100_000)
    means = np.linspace(-1.0, 3.0, 81)
    models = Normal(mean=means, stddev=2.0)
    assert np.prod(models.prob(rows[:, None]), axis=0).max() == 0.0
    log_likelihood = models.log_prob(rows[:, None]).sum(axis=0)
    assert np.isfinite(log_likelihood).all()
    assert abs(means[log_likelihood.argmax()] - rows.mean()) <= 0.5 * (means[1] - means[0])
    mixture = Mixture(weights=[0.5, 0.5], components=Normal(mean=[1.0, 1.5], stddev=2.0))
    far = mixture.log_prob(np.array([1e3, -1e6, 1e150]))
    assert np.isfinite(far).all()
    fitted = Normal.fit(rows)
    assert fitted.log_prob(rows).sum() >= log_likelihood.max()
