"""Mixtures against mpmath: densities, distribution functions, quantiles, entropy, divergence, modes."""

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from quick import some
from tractable.distributions import Mixture, MultivariateNormal, Normal, Product

shares = st.lists(st.floats(0.0, 1.0), min_size=3, max_size=3).filter(lambda w: sum(w) > 1e-3)
places = st.lists(st.floats(-50.0, 50.0), min_size=3, max_size=3)
sizes = st.lists(st.floats(-3.0, 3.0).map(lambda e: 10.0**e), min_size=3, max_size=3)


def normal_prob(x, mean, variance):
    x, mean, variance = map(mpmath.mpf, (x, mean, variance))
    return mpmath.exp(-((x - mean) ** 2) / (2 * variance)) / mpmath.sqrt(2 * mpmath.pi * variance)


def density(x, weights, means, variances):
    terms = zip(weights, means, variances, strict=True)
    return mpmath.fsum(mpmath.mpf(w) * normal_prob(x, m, v) for w, m, v in terms)


def mixture(weights, means, variances):
    total = sum(weights)
    weights = [w / total for w in weights]
    return Mixture(weights=weights, components=Normal(mean=means, variance=variances)), weights


@pytest.mark.spec("GMM-01")
@given(weights=shares, means=places, variances=sizes, x=st.floats(-2e3, 2e3))
def test_log_prob_against_mpmath(weights, means, variances, x):
    d, weights = mixture(weights, means, variances)
    with mpmath.workdps(50):
        expected = float(mpmath.log(density(x, weights, means, variances)))
    assert abs(float(d.log_prob(x)) - expected) <= 1e-12 * max(1.0, abs(expected))


@pytest.mark.spec("GMM-01")
@given(weights=shares, means=places, x=st.floats(-100.0, 100.0))
def test_cdf_against_mpmath(weights, means, x):
    d, weights = mixture(weights, means, [1.0, 0.5, 3.0])
    with mpmath.workdps(50):
        parts = zip(weights, means, [1.0, 0.5, 3.0], strict=True)
        expected = float(
            mpmath.fsum(w * mpmath.ncdf((mpmath.mpf(x) - m) / mpmath.sqrt(v)) for w, m, v in parts)
        )
    np.testing.assert_allclose(d.cdf(x), expected, rtol=1e-12, atol=1e-300)


@given(weights=shares, means=places, q=st.floats(-200.0, -1e-6).map(lambda e: 10.0**e))
def test_icdf_inverts_cdf(weights, means, q):
    d, _ = mixture(weights, means, [1.0, 0.5, 3.0])
    x = d.icdf(q)
    # x is rounded to its own spacing, and the probability moves with it.
    slack = 1e-10 + 4.0 * float(d.prob(x)) * np.spacing(abs(float(x))) / q
    assert abs(float(d.cdf(x)) - q) <= slack * q


def test_pairs_against_mpmath():
    means, covariance = [[0.0, 0.0], [3.0, 1.0]], [[[1.0, 0.5], [0.5, 1.0]], [[0.3, -0.1], [-0.1, 0.8]]]
    d = Mixture(weights=[0.25, 0.75], components=MultivariateNormal(mean=means, covariance=covariance))
    points = np.array([[0.1, 0.2], [2.0, 1.0], [40.0, -30.0], [-300.0, 500.0]])

    def log_prob(x):
        total = mpmath.mpf(0)
        for w, m, c in zip([0.25, 0.75], means, covariance, strict=True):
            matrix = mpmath.matrix(c)
            step = mpmath.matrix([mpmath.mpf(float(a)) - b for a, b in zip(x, m, strict=True)])
            exponent = (step.T * mpmath.inverse(matrix) * step)[0]
            total += w * mpmath.exp(-exponent / 2) / (2 * mpmath.pi * mpmath.sqrt(mpmath.det(matrix)))
        return float(mpmath.log(total))

    with mpmath.workdps(50):
        expected = np.array([log_prob(x) for x in points])
    np.testing.assert_allclose(d.log_prob(points), expected, rtol=1e-12)


def test_products_against_mpmath():
    d = Product(parts=[Normal(mean=0.0, variance=1.0), Normal(mean=2.0, variance=0.5)])
    with mpmath.workdps(50):
        expected = float(mpmath.log(normal_prob(30.0, 0.0, 1.0) * normal_prob(-20.0, 2.0, 0.5)))
    np.testing.assert_allclose(d.log_prob([30.0, -20.0]), expected, rtol=1e-14)


ENTROPIES = {
    "apart": ([0.3, 0.7], [-2.0, 3.0], [1.0, 0.25]),
    "over one another": ([0.5, 0.5], [0.0, 0.1], [1.0, 1e-4]),
    "far": ([0.9, 0.1], [0.0, 1e5], [1.0, 9.0]),
    "a spike": ([0.999, 0.001], [0.0, 5.0], [1.0, 1e-6]),
}


@pytest.mark.parametrize("name", some(ENTROPIES))
def test_entropy_and_divergence_against_mpmath(name):
    weights, means, variances = ENTROPIES[name]
    d, weights = mixture(weights, means, variances)
    other, _ = mixture([0.5, 0.5], [0.5, 2.0], [2.0, 3.0])
    cuts = sorted({m + z * v**0.5 for m, v in zip(means, variances, strict=True) for z in range(-38, 39, 2)})
    with mpmath.workdps(30):

        def surprise(x):
            p = density(x, weights, means, variances)
            return -p * mpmath.log(p)

        def log_ratio(x):
            p = density(x, weights, means, variances)
            return p * mpmath.log(p / density(x, [0.5, 0.5], [0.5, 2.0], [2.0, 3.0]))

        entropy, divergence = (float(mpmath.quad(f, cuts)) for f in (surprise, log_ratio))
    np.testing.assert_allclose(d.entropy(), entropy, rtol=1e-10)
    np.testing.assert_allclose(d.kl_divergence(other), divergence, rtol=1e-10)


def test_modes_against_mpmath():
    d = Mixture(weights=[0.5, 0.5], components=Normal(mean=[-1.2, 1.2], variance=[1.0, 0.5]))
    with mpmath.workdps(30):

        def slope(x):
            terms = zip([0.5, 0.5], [-1.2, 1.2], [1.0, 0.5], strict=True)
            return mpmath.fsum(w * normal_prob(x, m, v) * (m - x) / v for w, m, v in terms)

        expected = [float(mpmath.findroot(slope, start)) for start in (1.1, -1.1)]
    np.testing.assert_allclose(d.modes(), expected, rtol=1e-9)


@pytest.mark.parametrize(("distance", "n_modes"), [(1.9, 1), (2.0, 1), (2.1, 2), (40.0, 2)])
def test_two_equal_normals_have_two_modes_beyond_two_deviations(distance, n_modes):
    for direction in ([1.0, 0.0], [0.6, 0.8]):
        mean = 0.5 * distance * np.array([direction, np.negative(direction)])
        d = Mixture(components=MultivariateNormal(mean=mean + 7.0, covariance=np.eye(2)))
        assert d.modes().shape == (n_modes, 2)
        numbers = Mixture(components=Normal(mean=[0.0, distance], variance=1.0))
        assert numbers.modes().shape == (n_modes,)
        if n_modes == 1:
            np.testing.assert_allclose(d.mode, [7.0, 7.0], atol=1e-3)
