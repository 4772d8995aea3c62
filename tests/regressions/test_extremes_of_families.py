"""Numbers at the ends of what can be written: no warnings, and errors that name the parameter."""

import numpy as np
import pytest

from tractable import (
    Binomial,
    Gamma,
    MultivariateNormal,
    MultivariateStudentT,
    NegativeBinomial,
    Poisson,
    StudentT,
)


def test_a_density_beyond_the_largest_number_is_infinite():
    d = MultivariateNormal(mean=np.zeros(10), covariance=1e-80 * np.eye(10))
    assert d.prob(np.zeros(10)) == np.inf


def test_counts_that_cannot_be_drawn_name_the_parameter():
    with pytest.raises(ValueError, match="n_trials must be below"):
        Binomial(n_trials=1e19, probability=0.5).sample()
    with pytest.raises(ValueError, match="rate must be at most"):
        Poisson(rate=1e19).sample()
    assert Poisson(rate=9e18).sample(rng=0) > 8e18


def test_a_likelihood_without_end_names_the_data():
    for fit in (StudentT.fit, lambda x: MultivariateStudentT.fit(np.reshape(x, (-1, 1)))):
        with pytest.raises(ValueError, match="X has a fraction"):
            fit([0.0] * 50 + [1.0])
    X = [0.0, 0.0, 1.0, 2.0, 5.0]
    with pytest.raises(ValueError, match="X has a fraction"):
        MultivariateStudentT.fit(np.reshape(X, (-1, 1)), dof=0.5)
    assert MultivariateStudentT.fit(np.reshape(X, (-1, 1)), dof=4.0).dof == 4.0


def test_a_spread_beyond_floating_point_names_the_data():
    with pytest.raises(ValueError, match="X must spread less"):
        Gamma.fit([1e-300, 1e300])


@pytest.mark.parametrize("mean", [4.6e147, 1e154, 1e200, 1e290])
@pytest.mark.parametrize("shape", [1e-300, 1e-10, 1.0, 100.0, 1e200])
def test_quantiles_of_counts_whose_variance_overflows_are_numbers(mean, shape):
    """Count regressions gave intervals of NaN."""
    d = NegativeBinomial(mean=mean, shape=shape)
    q = np.array([0.05, 0.5, 0.95])
    quantiles = d.icdf(q)
    assert np.all(np.isfinite(quantiles))
    assert np.all(np.diff(quantiles) >= 0.0)
    if 1.0 <= shape <= 100.0:  # of larger ones the deviation is less than a unit in the last place
        np.testing.assert_allclose(d.cdf(quantiles), q, atol=1e-6)
        np.testing.assert_allclose(d.stddev, mean * np.sqrt(1.0 / shape + 1.0 / mean))
