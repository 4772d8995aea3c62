"""The negative binomial distribution against its formula in fifty digits, and against SciPy."""

import mpmath as mp
import numpy as np
import pytest
import scipy.stats

from tractable.arrays import to_numpy
from tractable.arrays.gradient import numerical_gradient
from tractable.distributions import NegativeBinomial, Poisson
from tractable.statistics import Counts

SHAPES = [1e-6, 0.01, 0.5, 1.0, 2.5, 30.0, 1e4, 1e8]
MEANS = [1e-6, 0.1, 1.0, 7.0, 1e3, 1e6, 1e9]


def exact_log_prob(x, shape, mean):
    with mp.workdps(50):
        a, m = mp.mpf(shape), mp.mpf(mean)
        ways = mp.loggamma(x + a) - mp.loggamma(a) - mp.loggamma(x + 1)
        return ways - a * mp.log1p(m / a) + x * mp.log(m / (a + m))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("mean", MEANS)
def test_log_prob_has_its_digits(shape, mean):
    d = NegativeBinomial(shape=shape, mean=mean)
    reach = float(d.stddev)
    for x in {0, 1, 2, 5, 20, *(max(int(mean + z * reach), 0) for z in (-3, -1, 0, 1, 3, 10))}:
        exact = exact_log_prob(x, shape, mean)
        error = abs(float(mp.mpf(float(d.log_prob(float(x)))) - exact))
        assert error <= 1e-12 * max(1.0, abs(float(exact))), f"at {x}"


@pytest.mark.parametrize(("shape", "mean"), [(0.3, 2.0), (2.5, 4.0), (50.0, 300.0)])
def test_scipy_agrees(shape, mean):
    d = NegativeBinomial(shape=shape, mean=mean)
    theirs = scipy.stats.nbinom(shape, shape / (shape + mean))
    x = np.arange(0.0, 40.0)
    np.testing.assert_allclose(d.log_prob(x), theirs.logpmf(x), rtol=1e-11)
    np.testing.assert_allclose(d.cdf(x), theirs.cdf(x), rtol=1e-11)
    np.testing.assert_allclose(d.entropy(), theirs.entropy(), rtol=1e-8)
    q = np.array([1e-6, 0.1, 0.5, 0.9, 0.9999])
    np.testing.assert_array_equal(d.icdf(q), theirs.ppf(q))


def test_mean_and_probability_say_the_same():
    a, b = NegativeBinomial(shape=3.0, probability=0.25), NegativeBinomial(shape=3.0, mean=9.0)
    assert float(a.mean) == 9.0
    assert float(b.probability_of_success) == 0.25
    for bad in (0.0, 1.0, -0.1, np.nan):
        with pytest.raises(ValueError, match="probability"):
            NegativeBinomial(shape=1.0, probability=bad)
    with pytest.raises(ValueError, match="mean"):
        NegativeBinomial(shape=1.0, mean=0.0)
    with pytest.raises(ValueError, match="exactly one"):
        NegativeBinomial(shape=1.0)


def test_large_shapes_are_poisson():
    x = np.arange(30.0)
    np.testing.assert_allclose(
        NegativeBinomial(shape=1e14, mean=6.0).log_prob(x), Poisson(rate=6.0).log_prob(x), atol=1e-10
    )


def test_fit_has_no_slope_left(rng):
    x = NegativeBinomial(shape=0.8, mean=5.0).sample(400, rng=rng)
    best = NegativeBinomial.fit(x)

    def log_likelihood(free):
        return NegativeBinomial(shape=np.exp(free[0]), mean=np.exp(free[1])).log_prob(x).sum()

    found = np.log([float(best.shape), float(best.mean)])
    np.testing.assert_allclose(numerical_gradient(log_likelihood, found), 0.0, atol=1e-6)
    again = NegativeBinomial.from_statistic(Counts.of(x[:100]) + Counts.of(x[100:]))
    assert float(again.shape) == float(best.shape)


def test_fit_of_regular_counts_is_nearly_poisson():
    best = NegativeBinomial.fit([4.0, 5.0, 5.0, 6.0])
    assert float(best.mean) == 5.0
    assert float(best.shape) >= 1e8
    with pytest.raises(ValueError, match="X"):
        NegativeBinomial.fit([0.0, 0.0])


def test_same_answer_in_every_array_library(backend):
    x = np.arange(12.0)
    ours = NegativeBinomial(shape=[[0.5], [8.0]], mean=[[3.0], [2.0]])
    theirs = NegativeBinomial(shape=backend.asarray([[0.5], [8.0]]), mean=backend.asarray([[3.0], [2.0]]))
    assert backend.owns(theirs.log_prob(backend.asarray(x)))
    for name in ("log_prob", "cdf"):
        found = getattr(theirs, name)(backend.asarray(x))
        np.testing.assert_allclose(to_numpy(found), getattr(ours, name)(x), rtol=1e-11)
    np.testing.assert_allclose(to_numpy(theirs.entropy()), ours.entropy(), rtol=1e-11)
