"""Logarithms of tails, quantiles from above, and the von Mises distribution, against mpmath and SciPy."""

import mpmath
import numpy as np
import pytest
from scipy import stats

from quick import some
from tractable import distributions as d
from tractable.statistics import Directions

mp = mpmath


def gamma_below(a, x):
    return mp.gammainc(a, 0, x, regularized=True)


def gamma_above(a, x):
    return mp.gammainc(a, x, mp.inf, regularized=True)


def beta_below(a, b, x):
    return mp.betainc(a, b, 0, x, regularized=True)


#: A distribution, a point, and the probability below it, or above it, in mpmath.
FAR = [
    (d.Normal(mean=1.0, stddev=2.0), -99.0, "log_cdf", lambda: mp.ncdf(-50)),
    (d.Normal(mean=1.0, stddev=2.0), 1e6, "log_survival", lambda: mp.ncdf(-mp.mpf(999999) / 2)),
    (
        d.LogNormal(log_mean=0.0, log_stddev=0.5),
        1e-20,
        "log_cdf",
        lambda: mp.ncdf(2 * mp.log(mp.mpf(1e-20))),
    ),
    (d.Gamma(shape=200.0, rate=2.0), 5e-4, "log_cdf", lambda: gamma_below(200, mp.mpf(2 * 5e-4))),
    (d.Gamma(shape=3.0, rate=1.0), 1e3, "log_survival", lambda: gamma_above(3, 1000)),
    (d.InverseGamma(shape=3.0, scale=2.0), 1e-3, "log_cdf", lambda: gamma_above(3, 2 / mp.mpf(1e-3))),
    (d.Beta(alpha=300.0, beta=2.0), 1e-3, "log_cdf", lambda: beta_below(300, 2, mp.mpf(1e-3))),
    (d.Beta(alpha=2.0, beta=300.0), 0.999, "log_survival", lambda: beta_below(300, 2, 1 - mp.mpf(0.999))),
    (
        d.StudentT(dof=3.0, location=0.0, scale=1.0),
        1e150,
        "log_survival",
        lambda: beta_below(1.5, 0.5, 3 / (3 + mp.mpf(1e150) ** 2)) / 2,
    ),
    (
        d.StudentT(dof=1e4, location=0.0, scale=1.0),
        50.0,
        "log_survival",
        lambda: beta_below(5000, 0.5, mp.mpf(10000) / 12500) / 2,
    ),
    (d.StudentT(dof=np.inf, location=0.0, scale=1.0), 50.0, "log_survival", lambda: mp.ncdf(-50)),
    (d.Laplace(location=0.0, scale=1.0), 2e3, "log_survival", lambda: mp.exp(-2000) / 2),
    (d.Exponential(rate=2.0), 1e3, "log_survival", lambda: mp.exp(-2000)),
    (d.Weibull(shape=3.0, scale=1.0), 1e-150, "log_cdf", lambda: -mp.expm1(-(mp.mpf(1e-150) ** 3))),
    (d.Pareto(shape=40.0, scale=1.0), 1e30, "log_survival", lambda: mp.mpf(1e30) ** -40),
    (d.Poisson(rate=5.0), 400.0, "log_survival", lambda: gamma_below(401, 5)),
    (d.Poisson(rate=5e3), 3.0, "log_cdf", lambda: gamma_above(4, 5000)),
    (
        d.Binomial(n_trials=2000, probability=0.5),
        50.0,
        "log_cdf",
        lambda: mp.fsum(mp.binomial(2000, k) for k in range(51)) / mp.mpf(2) ** 2000,
    ),
    (
        d.NegativeBinomial(shape=3.0, mean=2.0),
        3e3,
        "log_survival",
        lambda: beta_below(3001, 3, mp.mpf(2) / 5),
    ),
    (d.Geometric(probability=0.5), 4e3, "log_survival", lambda: mp.mpf(2) ** -4001),
    (
        d.Mixture(weights=[0.25, 0.75], components=d.Normal(mean=[0.0, 5.0], variance=1.0)),
        -60.0,
        "log_cdf",
        lambda: mp.ncdf(-60) / 4 + 3 * mp.ncdf(-65) / 4,
    ),
]


@pytest.mark.parametrize(
    ("family", "x", "name", "exact"), FAR, ids=[f"{type(f).__name__}-{n}-{x:g}" for f, x, n, _ in FAR]
)
def test_logarithms_of_tails_that_underflow_keep_twelve_digits(family, x, name, exact):
    with mp.workdps(60):
        expected = float(mp.log(exact()))
    assert expected < -800.0 or isinstance(family, d.LogNormal)
    np.testing.assert_allclose(getattr(family, name)(x), expected, rtol=2e-13)


@pytest.mark.parametrize("q", [1e-300, 1e-50, 1e-17, 1e-9, 0.2, 0.8])
def test_quantiles_from_above_are_scipys(q):
    pairs = [
        (d.Normal(mean=1.0, stddev=2.0), stats.norm(1.0, 2.0)),
        (d.Gamma(shape=3.0, rate=0.5), stats.gamma(3.0, scale=2.0)),
        (d.Beta(alpha=2.0, beta=3.0), stats.beta(2.0, 3.0)),
        (d.Exponential(rate=3.0), stats.expon(scale=1.0 / 3.0)),
        (d.Weibull(shape=2.0, scale=3.0), stats.weibull_min(2.0, scale=3.0)),
        (d.Laplace(location=1.0, scale=2.0), stats.laplace(1.0, 2.0)),
        (d.Uniform(low=1.0, high=3.0), stats.uniform(1.0, 2.0)),
    ]
    if q > 1e-12:  # where SciPy's does not begin from 1 - q
        pairs.append((d.Poisson(rate=4.0), stats.poisson(4.0)))
    for ours, peer in pairs:
        np.testing.assert_allclose(ours.isf(q), peer.isf(q), rtol=1e-12, err_msg=type(ours).__name__)


def circle(kappa, low, high):
    cuts = [low + (high - low) * mp.mpf(k) / 400 for k in range(401)]
    return mp.quad(lambda t: mp.exp(kappa * (mp.cos(t) - 1)), cuts)


@pytest.mark.parametrize("kappa", some([0.3, 300.0, 0.0, 7.0], most=2))
def test_von_mises_is_mpmaths(kappa):
    found = d.VonMises(location=0.5, concentration=kappa)
    with mp.workdps(40):
        k = mp.mpf(kappa)
        volume = 2 * mp.pi * mp.besseli(0, k)
        log_volume, length = mp.log(volume), mp.besseli(1, k) / mp.besseli(0, k)
        z = mp.mpf(-1.4) - mp.mpf(0.5)
        below = mp.log(circle(k, -mp.pi, z) / (volume * mp.exp(-k)))
        np.testing.assert_allclose(found.log_prob(2.0), float(k * mp.cos(1.5) - log_volume), rtol=1e-13)
        np.testing.assert_allclose(found.resultant_length, float(length), rtol=1e-13, atol=1e-15)
        np.testing.assert_allclose(found.entropy(), float(log_volume - k * length), rtol=1e-13)
        np.testing.assert_allclose(found.log_cdf(-1.4), float(below), rtol=1e-12)
    np.testing.assert_allclose(found.log_prob(2.0 + 6 * np.pi), found.log_prob(2.0), rtol=1e-12)


def test_von_mises_is_fitted_as_scipy_does():
    x = stats.vonmises(3.0, loc=2.5).rvs(500, random_state=0)
    kappa, location, _ = stats.vonmises.fit(x, fscale=1)
    found = d.VonMises.fit(x)
    np.testing.assert_allclose(np.cos(found.location - location), 1.0, rtol=1e-10)
    np.testing.assert_allclose(found.concentration, kappa, rtol=1e-6)
    halves = Directions.of(x[:200, None]) + Directions.of(x[200:, None])
    np.testing.assert_allclose(d.VonMises.from_statistic(halves).concentration, [found.concentration])


def test_angles_that_hardly_differ_keep_their_digits(rng):
    x = 3.1 + 1e-7 * rng.standard_normal(1000)  # on both sides of no seam, and far from 0
    halves = Directions.of(x[:500, None]) + Directions.of(x[500:, None])
    np.testing.assert_allclose(halves.variance, np.var(x) / 2.0, rtol=1e-6)
    np.testing.assert_allclose(d.VonMises.fit(x).concentration, 1.0 / np.var(x), rtol=1e-6)


def test_angles_on_both_sides_of_the_seam_are_near():
    found = d.VonMises.fit([3.1, -3.1, 3.0, -3.0])
    assert abs(abs(float(found.location)) - np.pi) < 1e-12
    assert float(found.concentration) > 50.0


def test_student_t_of_infinitely_many_degrees_is_normal():
    t, normal = d.StudentT(dof=np.inf, location=1.0, scale=2.0), d.Normal(mean=1.0, stddev=2.0)
    x = np.array([-100.0, -3.0, 0.0, 1.0, 40.0])
    for name in ("log_prob", "cdf", "survival", "log_cdf", "log_survival"):
        np.testing.assert_allclose(getattr(t, name)(x), getattr(normal, name)(x), rtol=1e-13)
    for name in ("mean", "variance", "mode"):
        np.testing.assert_array_equal(getattr(t, name), getattr(normal, name))
    np.testing.assert_allclose(t.icdf([1e-200, 0.3]), normal.icdf([1e-200, 0.3]), rtol=1e-14)
    other = d.StudentT(dof=np.inf, location=0.0, scale=1.0)
    np.testing.assert_allclose(
        t.kl_divergence(other), normal.kl_divergence(d.Normal(mean=0.0, variance=1.0)), rtol=1e-12
    )
    heavy = d.StudentT(dof=2.0, location=0.0, scale=1.0)
    assert heavy.kl_divergence(other) == np.inf
    with pytest.raises(ValueError, match="dof must be positive"):
        d.StudentT(dof=-np.inf, location=0.0, scale=1.0)
