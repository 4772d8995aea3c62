"""The Kullback-Leibler divergence: never negative, zero only for equals, not symmetric."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tractable.distributions import Categorical, Mixture, MultivariateNormal, Normal, Product

shares = st.lists(st.floats(1e-6, 1.0), min_size=4, max_size=4).map(lambda w: np.array(w) / np.sum(w))


@pytest.mark.spec("MATH-12")
@given(p=shares, q=shares)
def test_categorical(p, q):
    """Σ p log(p/q) ≥ 0."""
    found = float(Categorical(probabilities=p).kl_divergence(Categorical(probabilities=q)))
    np.testing.assert_allclose(found, np.sum(p * np.log(p / q)), rtol=1e-9, atol=1e-12)
    assert found >= 0.0
    assert Categorical(probabilities=p).kl_divergence(Categorical(probabilities=p)) == 0.0


@pytest.mark.spec("MATH-12")
@given(mean=st.floats(-5, 5), log_ratio=st.floats(-6, 6))
def test_normal(mean, log_ratio):
    p, q = Normal(mean=0.0, variance=1.0), Normal(mean=mean, variance=np.exp(log_ratio))
    found = float(p.kl_divergence(q))
    assert found >= 0.0
    exact = 0.5 * (np.exp(-log_ratio) * (1.0 + mean**2) - 1.0 + log_ratio)
    np.testing.assert_allclose(found, exact, rtol=1e-9, atol=1e-12)
    many = MultivariateNormal(mean=np.zeros(3), covariance=np.eye(3))
    other = MultivariateNormal(mean=np.full(3, mean), covariance=np.exp(log_ratio) * np.eye(3))
    np.testing.assert_allclose(many.kl_divergence(other), 3.0 * found, rtol=1e-9, atol=1e-11)


@pytest.mark.spec("MATH-12")
def test_it_is_not_a_distance():
    p, q = Normal(mean=0.0, variance=1.0), Normal(mean=1.0, variance=4.0)
    assert abs(float(p.kl_divergence(q)) - float(q.kl_divergence(p))) > 0.1


def test_mixtures_against_other_families():
    """The normal nearest a mixture, in the sense of KL(mixture, normal), has its mean and variance."""
    mixture = Mixture(weights=[0.3, 0.7], components=Normal(mean=[-2.0, 3.0], variance=[1.0, 0.25]))
    best = Normal(mean=mixture.mean, variance=mixture.variance)
    least = float(mixture.kl_divergence(best))
    np.testing.assert_allclose(least, float(best.entropy()) - float(mixture.entropy()), rtol=1e-9)
    for other in (Normal(mean=mixture.mean + 0.1, variance=mixture.variance), Normal(mean=1.0, variance=9.0)):
        assert float(mixture.kl_divergence(other)) > least
    drawn = mixture.kl_divergence(best, n_samples=100_000, rng=3)
    np.testing.assert_allclose(drawn, least, atol=0.02)


def test_impossible_events_are_infinitely_far():
    p = Mixture(components=Categorical(probabilities=[[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]]))
    q = Categorical(probabilities=[0.5, 0.5, 0.0])
    assert p.kl_divergence(q) == np.inf
    np.testing.assert_allclose(Mixture(components=q[None]).kl_divergence(p), np.log(2.0) * 0.5, rtol=1e-12)


def test_refusals():
    mixture = Mixture(components=Normal(mean=[-2.0, 3.0], variance=1.0))
    product = Product(parts=[Normal(mean=0.0, variance=1.0), Normal(mean=0.0, variance=1.0)])
    with pytest.raises(TypeError, match="other must be a distribution"):
        mixture.kl_divergence(3.0)
    with pytest.raises(ValueError, match="events of shape"):
        mixture.kl_divergence(product)
    with pytest.raises(TypeError, match="other must be a Product"):
        product.kl_divergence(mixture)
    with pytest.raises(ValueError, match="events of shape"):
        product.kl_divergence(Product(parts=[Normal(mean=0.0, variance=1.0)]))
