"""The probability that one of two independent numbers is the larger."""

import numpy as np
import pytest
from scipy.special import betaln

from tractable import (
    Beta,
    Empirical,
    Exponential,
    Gamma,
    MultivariateNormal,
    Normal,
    Poisson,
    StudentT,
    probability_greater,
)


def test_of_two_betas_it_is_the_sum_of_whole_shapes():
    a, b = Beta(alpha=71.0, beta=931.0), Beta(alpha=51.0, beta=951.0)
    i = np.arange(71)
    terms = betaln(51.0 + i, 951.0 + 931.0) - np.log(931.0 + i) - betaln(1.0 + i, 931.0) - betaln(51.0, 951.0)
    assert float(probability_greater(a, b)) == pytest.approx(np.exp(terms).sum(), rel=1e-10)


def test_of_two_normals_and_of_two_exponentials_it_has_a_closed_form():
    a, b = Normal(mean=1.0, variance=3.0), Normal(mean=0.0, variance=1.0)
    assert float(probability_greater(a, b)) == pytest.approx(
        float(Normal(mean=0.0, variance=1.0).cdf(0.5)), rel=1e-12
    )
    fast, slow = Exponential(rate=3.0), Exponential(rate=[1.0, 2.0])
    np.testing.assert_allclose(probability_greater(slow, fast), [3.0 / 4.0, 3.0 / 5.0], rtol=1e-10)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (Gamma(shape=2.0, rate=1.0), StudentT(dof=3.0, location=1.0, scale=2.0)),
        (Poisson(rate=3.0), Poisson(rate=2.0)),
        (Poisson(rate=3.0), Gamma(shape=2.0, rate=1.0)),
        (Empirical(values=[1.0, 2.0, 2.0, 5.0]), Empirical(values=[2.0, 2.0, 0.0])),
    ],
    ids=lambda d: type(d).__name__,
)
def test_greater_less_and_equal_add_up_and_draws_agree(a, b):
    greater, less = float(probability_greater(a, b)), float(probability_greater(b, a))
    x, y = a.sample(100_000, rng=0), b.sample(100_000, rng=1)
    for found, drawn in [(greater, x > y), (less, x < y), (1.0 - greater - less, x == y)]:
        assert abs(found - drawn.mean()) <= 5.0 * np.sqrt(drawn.mean() / len(drawn)) + 1e-9


def test_only_numbers_are_compared():
    plane = MultivariateNormal(mean=[0.0, 0.0], covariance=np.eye(2))
    for a, b, name in [(plane, Poisson(rate=1.0), "a"), (Poisson(rate=1.0), 3.0, "b")]:
        with pytest.raises(ValueError, match=f"{name} must be a distribution of numbers"):
            probability_greater(a, b)
