"""Bayes' rule on a grid, against conjugate closed forms."""

import numpy as np
import pytest
from scipy.special import betaln, gammaln

from tractable.distributions import MultivariateNormal, Normal, grid_posterior

DATA = np.array([1.2, -0.4, 2.2, 0.7, 0.9])


def log_likelihood_of_mean(mean):
    return Normal(mean=mean[..., None], variance=0.5).log_prob(DATA).sum(axis=-1)


@pytest.mark.spec("PROB-14")
def test_known_variance_gives_the_conjugate_posterior_and_evidence():
    prior = Normal(mean=0.3, variance=2.0)
    found = grid_posterior(log_likelihood_of_mean, prior, np.linspace(-12.0, 12.0, 4001))
    precision = 1 / 2.0 + len(DATA) / 0.5
    exact = Normal(mean=(0.3 / 2.0 + DATA.sum() / 0.5) / precision, variance=1.0 / precision)
    np.testing.assert_allclose(found.mean, exact.mean, rtol=1e-12)
    np.testing.assert_allclose(found.variance, exact.variance, rtol=1e-12)
    np.testing.assert_allclose(found.log_density, exact.log_prob(found.grid[0]), rtol=1e-11)
    joint = MultivariateNormal(mean=np.full(5, 0.3), covariance=0.5 * np.eye(5) + 2.0)
    np.testing.assert_allclose(found.log_evidence, joint.log_prob(DATA), rtol=1e-12)
    np.testing.assert_allclose(found.interval(0.9), exact.interval(0.9), rtol=1e-4)
    assert abs(found.mode - exact.mode) <= 0.5 * (24.0 / 4000)


@pytest.mark.spec("PROB-14")
def test_a_coin_with_a_beta_prior():
    a, b, heads, tails = 2.0, 3.0, 7.0, 2.0
    p = np.linspace(1e-12, 1 - 1e-12, 4001)
    found = grid_posterior(
        lambda p: heads * np.log(p) + tails * np.log1p(-p),
        lambda p: (a - 1) * np.log(p) + (b - 1) * np.log1p(-p) - betaln(a, b),
        p,
    )
    np.testing.assert_allclose(found.log_evidence, betaln(a + heads, b + tails) - betaln(a, b), rtol=1e-12)
    np.testing.assert_allclose(found.mean, (a + heads) / (a + b + heads + tails), rtol=1e-10)
    # The predictive probability of another head is the posterior mean.
    np.testing.assert_allclose(found.expectation(lambda p: p), found.mean, rtol=1e-14)


@pytest.mark.spec("PROB-14")
def test_two_parameters_mean_and_precision():
    """The normal-gamma posterior of a mean and a precision, Bishop (2.154)."""
    m, k, a, b = 0.0, 1.0, 3.0, 2.0

    def log_prior(mean, precision):
        of_mean = Normal(mean=m, variance=1.0 / (k * precision)).log_prob(mean)
        return of_mean + a * np.log(b) - gammaln(a) + (a - 1) * np.log(precision) - b * precision

    def log_likelihood(mean, precision):
        return Normal(mean=mean[..., None], variance=1.0 / precision[..., None]).log_prob(DATA).sum(-1)

    found = grid_posterior(log_likelihood, log_prior, (np.linspace(-6, 8, 701), np.linspace(1e-6, 14, 901)))
    n, mean = len(DATA), DATA.mean()
    kn, an = k + n, a + n / 2
    bn = b + 0.5 * ((DATA - mean) ** 2).sum() + 0.5 * k * n * (mean - m) ** 2 / kn
    exact = gammaln(an) - gammaln(a) + a * np.log(b) - an * np.log(bn) + 0.5 * np.log(k / kn)
    np.testing.assert_allclose(found.log_evidence, exact - 0.5 * n * np.log(2 * np.pi), rtol=1e-9)
    np.testing.assert_allclose(found.mean, [(k * m + n * mean) / kn, an / bn], rtol=1e-8)
    np.testing.assert_allclose(found.variance[1], an / bn**2, rtol=1e-7)
    alone = found.marginal(-1)
    np.testing.assert_allclose([alone.mean, alone.variance], [found.mean[1], found.variance[1]], rtol=1e-10)
    assert alone.marginal(0) is alone
    assert found.mode.shape == (2,)


def test_a_prior_of_vectors_for_two_parameters(backend):
    prior = MultivariateNormal(mean=backend.asarray([0.0, 1.0]), covariance=backend.asarray(np.eye(2)))
    axes = (np.linspace(-7.0, 7.0, 101), np.linspace(-6.0, 8.0, 111))
    found = grid_posterior(lambda a, b: -0.5 * (a - b) ** 2, prior, tuple(map(backend.asarray, axes)))
    assert backend.owns(found.log_density)
    # The exponent adds [[1, -1], [-1, 1]] to the precision I.
    for axis, mean in enumerate([1 / 3, 2 / 3]):
        one = found.marginal(axis)
        np.testing.assert_allclose(float(one.mean), mean, rtol=1e-10)
        low, high = one.interval(0.5)
        assert float(low) < mean < float(high)


def test_uneven_points_are_integrated_by_trapezoids():
    axis = np.sort(np.concatenate([np.linspace(-9, 9, 2001), np.linspace(-1, 1, 999)]))
    axis = np.unique(axis)
    found = grid_posterior(np.zeros_like, Normal(mean=0.5, variance=1.0), axis)
    np.testing.assert_allclose(found.mass.sum(), 1.0, rtol=1e-13)
    np.testing.assert_allclose([found.mean, found.variance], [0.5, 1.0], rtol=1e-4)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"grid": [1.0, 0.0]}, "grid"),
        ({"grid": [1.0]}, "grid"),
        ({"grid": [0.0, np.inf]}, "grid"),
        ({"log_prior": lambda x: x[:1]}, "log_prior"),
        ({"log_likelihood": lambda x: np.full_like(x, np.nan)}, "log_likelihood"),
        ({"log_likelihood": lambda x: np.full_like(x, -np.inf)}, "log_likelihood"),
    ],
)
def test_refusals(change, named):
    given = {"log_likelihood": np.zeros_like, "log_prior": np.zeros_like, "grid": np.linspace(0, 1, 9)}
    with pytest.raises(ValueError, match=named):
        grid_posterior(**{**given, **change})
    found = grid_posterior(**given)
    with pytest.raises(ValueError, match="coverage"):
        found.interval(1.0)
    with pytest.raises(ValueError, match="axis"):
        found.marginal(1)
    both = grid_posterior(lambda a, b: a + b, lambda a, b: a, (given["grid"], given["grid"]))
    with pytest.raises(ValueError, match="one parameter"):
        both.interval()
