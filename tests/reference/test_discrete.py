"""Distributions of counts and labels against mpmath: log probabilities to 1e-12, tails, entropies.

The probabilities are written here from the formulas of Johnson, Kemp and Kotz, Univariate Discrete
Distributions, with fifty digits; parameters are the floating numbers that the families are given.
"""

import mpmath as mp
import numpy as np
import pytest

from quick import some
from tractable.distributions import (
    Bernoulli,
    BetaBinomial,
    Binomial,
    Categorical,
    DirichletMultinomial,
    Multinomial,
    Poisson,
)


@pytest.fixture(autouse=True)
def fifty_digits():
    with mp.workdps(50):
        yield


def log_factorial(x):
    return mp.loggamma(mp.mpf(float(x)) + 1)


def power(x, p):
    """log p^x, with 0⁰ = 1."""
    x, p = mp.mpf(float(x)), mp.mpf(p)
    return mp.mpf(0) if x == 0 else x * mp.log(p) if p > 0 else mp.ninf


def binomial(k, n, p):
    p = mp.mpf(p)
    ways = log_factorial(n) - log_factorial(k) - log_factorial(n - k)
    return ways + power(k, p) + power(n - k, 1 - p)


def multinomial(x, p):
    total = mp.fsum(mp.mpf(q) for q in p)
    ways = log_factorial(sum(x)) - mp.fsum(log_factorial(k) for k in x)
    return ways + mp.fsum(power(k, mp.mpf(q) / total) for k, q in zip(x, p, strict=True))


def poisson(k, rate):
    return power(k, rate) - mp.mpf(rate) - log_factorial(k)


def dirichlet_multinomial(x, a):
    a = [mp.mpf(v) for v in a]
    n, total = mp.mpf(float(sum(x))), mp.fsum(a)
    each = (
        mp.loggamma(k + v) - mp.loggamma(v) - log_factorial(k) for k, v in zip(map(float, x), a, strict=True)
    )
    return log_factorial(n) + mp.loggamma(total) - mp.loggamma(n + total) + mp.fsum(each)


def assert_digits(found, expected):
    for ours, exact in zip(np.ravel(found).tolist(), expected, strict=True):
        if mp.isinf(exact):
            assert ours == -np.inf
        else:
            assert abs(ours - exact) <= 1e-12 * max(1, abs(exact)), f"{ours} is not {mp.nstr(exact, 20)}"


TRIALS = [1, 7, 1000, 10**6, 10**9]
PROBABILITIES = [0.0, 1e-300, 1e-12, 0.03, 0.3, 0.5, 0.999, 1.0 - 1e-12, 1.0]


@pytest.mark.spec("DIST-03")
@pytest.mark.parametrize("n", TRIALS)
@pytest.mark.parametrize("p", PROBABILITIES)
def test_binomial(n, p, rng):
    d = Binomial(n_trials=n, probability=p)
    sd = float(d.stddev)
    near = np.clip(np.round(d.mean + sd * np.array([-30.0, -5.0, -1.0, 0.0, 0.7, 8.0, 40.0])), 0, n)
    k = np.unique([0, 1, n // 3, n - 1, n, *rng.integers(0, n + 1, 5), *near])
    assert_digits(d.log_prob(k), [binomial(j, n, p) for j in k])


@pytest.mark.parametrize("rate", [1e-300, 1e-20, 0.3, 1.0, 5.5, 40.0, 1e4, 12345678.9, 1e8])
def test_poisson(rate, rng):
    near = np.round(rate + np.sqrt(rate) * np.array([-30.0, -3.0, 0.0, 2.5, 30.0]))
    k = np.unique([0, 1, 2, 9, 10, 11, 500, 10**6, *near[near >= 0]])
    assert_digits(Poisson(rate=rate).log_prob(k), [poisson(j, rate) for j in k])


SHARES = [[0.2, 0.5, 0.3], [1e-10, 0.25, 0.75 - 1e-10], [0.1] * 10, [1.0, 0.0], [0.0, 1e-300, 1.0]]


@pytest.mark.spec("DIST-09")
@pytest.mark.parametrize("n", TRIALS)
@pytest.mark.parametrize("p", SHARES)
def test_multinomial(n, p, rng):
    d = Multinomial(n_trials=n, probabilities=p)
    x = np.concatenate([d.sample(5, rng=rng), rng.multinomial(n, np.full(len(p), 1 / len(p)), 3)])
    assert_digits(d.log_prob(x), [multinomial(row, p) for row in x])


ALPHAS = [
    [2.0, 3.0],
    [1e-6, 0.3],
    [1.0, 1.0],
    [1e-300, 2.0],
    [1e5, 3e4],
    [1e8, 3e8],
    [1e12, 1e-3],
    [0.5, 200.0],
]


@pytest.mark.spec("DIST-08")
@pytest.mark.parametrize("n", TRIALS)
@pytest.mark.parametrize("a", ALPHAS)
def test_beta_binomial(n, a, rng):
    d = BetaBinomial(n_trials=n, alpha=a[0], beta=a[1])
    near = np.clip(np.round(d.mean + d.stddev * np.array([-3.0, -0.5, 0.0, 1.0, 6.0])), 0, n)
    k = np.unique([0, 1, n // 3, n - 1, n, *rng.integers(0, n + 1, 5), *near])
    assert_digits(d.log_prob(k), [dirichlet_multinomial([j, n - j], a) for j in k])


@pytest.mark.spec("DIST-16")
@pytest.mark.parametrize("n", TRIALS)
@pytest.mark.parametrize("a", [[1.0, 2.0, 0.5], [1e-9, 1e3, 4.0], [1e7, 1e7, 1e7, 2e7], [0.1] * 6])
def test_dirichlet_multinomial(n, a, rng):
    d = DirichletMultinomial(n_trials=n, concentration=a)
    x = np.concatenate([d.sample(6, rng=rng), rng.multinomial(n, np.full(len(a), 1 / len(a)), 2)])
    assert_digits(d.log_prob(x), [dirichlet_multinomial(row, a) for row in x])


@pytest.mark.spec("DIST-01")
@pytest.mark.parametrize("p", PROBABILITIES)
def test_bernoulli_by_probability(p):
    exact = mp.mpf(p)
    expected = [mp.log(q) if q > 0 else mp.ninf for q in (1 - exact, exact)]
    d = Bernoulli(probability=p)
    assert_digits(d.log_prob([0, 1]), expected)
    assert float(d.mean) == p
    assert float(d.variance) == p * (1 - p)
    entropy = -mp.fsum(q * mp.log(q) for q in (1 - exact, exact) if q > 0)
    assert_digits(d.entropy(), [entropy])


@pytest.mark.spec("DIST-01")
@pytest.mark.parametrize("logit", [-1e3, -40.0, -0.1, 0.0, 3.0, 700.0, 1e3])
def test_bernoulli_by_logit(logit):
    d, odds = Bernoulli(logit=logit), mp.exp(mp.mpf(logit))
    assert_digits(d.log_prob([0, 1]), [-mp.log(1 + odds), mp.log(odds / (1 + odds))])
    p, q = odds / (1 + odds), 1 / (1 + odds)
    assert_digits(d.mean, [p])
    assert_digits(d.entropy(), [-p * mp.log(p) - q * mp.log(q)])
    other = Bernoulli(logit=-logit / 2.0)
    r, s = 1 / (1 + mp.sqrt(odds)), mp.sqrt(odds) / (1 + mp.sqrt(odds))
    assert_digits(d.kl_divergence(other), [p * mp.log(p / r) + q * mp.log(q / s)])


@pytest.mark.parametrize("logits", [[0.0, 1e3, -1e3], [1e-3, 0.0, 2.0, -5.0], [700.0, 700.0], [3.0]])
def test_categorical_by_logits(logits):
    terms = [mp.exp(mp.mpf(x)) for x in logits]
    expected = [mp.log(term / mp.fsum(terms)) for term in terms]
    assert_digits(Categorical(logits=logits).log_prob(np.arange(len(logits))), expected)


@pytest.mark.parametrize("n", some([20, 3000]))
@pytest.mark.parametrize("p", [1e-3, 0.3, 0.97])
def test_tails_of_the_binomial(n, p):
    d = Binomial(n_trials=n, probability=p)
    mass = [mp.exp(binomial(k, n, p)) for k in range(n + 1)]
    for k in {0, 1, n // 10, n // 3, n // 2, n - 2}:
        below, above = mp.fsum(mass[: k + 1]), mp.fsum(mass[k + 1 :])
        for found, exact in ((d.cdf(k), below), (d.survival(k), above), (d.probability_between(k, n), above)):
            assert abs(float(found) - exact) <= 1e-11 * exact + mp.mpf(10) ** -300


@pytest.mark.parametrize("rate", [1e-5, 3.0, 250.0])
def test_tails_of_the_poisson(rate):
    d = Poisson(rate=rate)
    for k in (0, 1, 5, 30, 100, 400):
        above = mp.gammainc(k + 1, 0, rate, regularized=True)
        below = mp.gammainc(k + 1, rate, mp.inf, regularized=True)
        for found, exact in ((d.cdf(k), below), (d.survival(k), above)):
            assert abs(float(found) - exact) <= 1e-11 * exact + mp.mpf(10) ** -300


@pytest.mark.parametrize("a", [[0.5, 0.2], [3.0, 40.0], [50.0, 2.0]])
def test_tails_of_the_beta_binomial(a):
    d = BetaBinomial(n_trials=60, alpha=a[0], beta=a[1])
    mass = [mp.exp(dirichlet_multinomial([k, 60 - k], a)) for k in range(61)]
    for k in range(60):
        assert abs(float(d.cdf(k)) - mp.fsum(mass[: k + 1])) <= 1e-12 * mp.fsum(mass[: k + 1])
        assert abs(float(d.survival(k)) - mp.fsum(mass[k + 1 :])) <= 1e-12 * mp.fsum(mass[k + 1 :])


ENTROPIES = [
    (Binomial(n_trials=40, probability=0.2), [binomial(k, 40, 0.2) for k in range(41)]),
    (Poisson(rate=3.5), [poisson(k, 3.5) for k in range(100)]),
    (
        BetaBinomial(n_trials=30, alpha=0.4, beta=2.0),
        [dirichlet_multinomial([k, 30 - k], [0.4, 2.0]) for k in range(31)],
    ),
    (
        Multinomial(n_trials=6, probabilities=[0.2, 0.5, 0.3]),
        [multinomial([i, j, 6 - i - j], [0.2, 0.5, 0.3]) for i in range(7) for j in range(7 - i)],
    ),
    (
        DirichletMultinomial(n_trials=6, concentration=[0.2, 5.0, 0.3]),
        [dirichlet_multinomial([i, j, 6 - i - j], [0.2, 5.0, 0.3]) for i in range(7) for j in range(7 - i)],
    ),
]


@pytest.mark.parametrize(("d", "log_masses"), ENTROPIES, ids=lambda x: type(x).__name__)
def test_entropies(d, log_masses):
    assert_digits(d.entropy(), [-mp.fsum(mp.exp(x) * x for x in log_masses)])


@pytest.mark.parametrize(
    "a", some([(2.0, 5.0), (0.01, 3.0), (1e-3, 1e-3), (3e5, 2e5), (4e3, 0.7), (1.0, 1.0)], 2)
)
def test_long_sums_are_the_same_as_adding_one_by_one(a):
    """The quadrature of sums against all two hundred thousand terms."""
    n = 200_000
    d, other = (BetaBinomial(n_trials=n, alpha=x, beta=a[1]) for x in (a[0], 1.2 * a[0]))
    log_mass, log_other = d.log_prob(np.arange(n + 1.0)), other.log_prob(np.arange(n + 1.0))
    mass = np.exp(log_mass)
    np.testing.assert_allclose(d.entropy(), -np.sum(mass * log_mass), rtol=1e-11)
    divergence = np.sum(mass * (log_mass - log_other))
    np.testing.assert_allclose(d.kl_divergence(other), divergence, rtol=1e-9, atol=1e-13)
    k = np.array([0.0, 5.0, 1500.0, 40_000.0, 150_000.0, n - 1.0])
    below = np.cumsum(mass)[k.astype(int)]
    np.testing.assert_allclose(d._sum(d._mass, 0.0 * k, k), below, rtol=1e-11)


@pytest.mark.parametrize("p", [0.3, 1e-5])
def test_sums_of_many_trials_against_the_incomplete_beta_function(p):
    from scipy.special import betainc, betaincc

    n = 10**8
    d = Binomial(n_trials=n, probability=p)
    k = np.round(d.mean + d.stddev * np.array([-20.0, -3.0, 0.0, 1.0, 6.0, 25.0]))
    np.testing.assert_allclose(super(Binomial, d)._cdf(k), betaincc(k + 1, n - k, p), rtol=1e-9)
    np.testing.assert_allclose(super(Binomial, d)._survival(k), betainc(k + 1, n - k, p), rtol=1e-9)
    # Many trials are as good as normal: ½ log 2πe n p q, up to terms in 1/n.
    expected = 0.5 * np.log(2 * np.pi * np.e * float(d.variance))
    np.testing.assert_allclose(d.entropy(), expected, atol=2.0 / float(d.variance))


@pytest.mark.spec("DIST-01", "DIST-03")
def test_moments_of_scipy():
    from scipy import stats

    pairs = [
        (Bernoulli(probability=0.3), stats.bernoulli(0.3)),
        (Binomial(n_trials=12, probability=0.3), stats.binom(12, 0.3)),
        (Poisson(rate=3.5), stats.poisson(3.5)),
        (BetaBinomial(n_trials=12, alpha=0.4, beta=2.0), stats.betabinom(12, 0.4, 2.0)),
    ]
    q = np.array([0.001, 0.2, 0.5, 0.77, 0.999])
    for ours, theirs in pairs:
        np.testing.assert_allclose(ours.mean, theirs.mean(), rtol=1e-12)
        np.testing.assert_allclose(ours.variance, theirs.var(), rtol=1e-12)
        np.testing.assert_allclose(ours.entropy(), theirs.entropy(), rtol=1e-9)
        np.testing.assert_array_equal(ours.icdf(q), theirs.ppf(q))
    ours = DirichletMultinomial(n_trials=9, concentration=[1.0, 2.5, 0.3])
    theirs = stats.dirichlet_multinomial([1.0, 2.5, 0.3], 9)
    np.testing.assert_allclose(ours.covariance, theirs.cov(), rtol=1e-12)
    ours, theirs = (
        Multinomial(n_trials=9, probabilities=[0.1, 0.6, 0.3]),
        stats.multinomial(9, [0.1, 0.6, 0.3]),
    )
    np.testing.assert_allclose(ours.covariance, theirs.cov(), rtol=1e-12)
    np.testing.assert_allclose(ours.entropy(), theirs.entropy(), rtol=1e-12)
