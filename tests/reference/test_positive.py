"""Exponential, log-normal, Weibull, Pareto and geometric distributions against mpmath and SciPy."""

import mpmath
import numpy as np
import pytest
from scipy import stats

from tractable.distributions import Exponential, Geometric, LogNormal, Pareto, Weibull

log = mpmath.log


def exponential(x, rate):
    return log(rate) - rate * x


def log_normal(x, log_mean, log_variance):
    return -((log(x) - log_mean) ** 2) / (2 * log_variance) - log(2 * mpmath.pi * log_variance) / 2 - log(x)


def weibull(x, shape, scale):
    return log(shape / scale) + (shape - 1) * log(x / scale) - (x / scale) ** shape


def pareto(x, shape, scale):
    return log(shape) + shape * log(scale) - (shape + 1) * log(x)


WIDE = [1e-300, 1e-20, 1e-3, 1.0, 50.0, 1e5, 1e20]
CASES = [
    *((Exponential, exponential, {"rate": b}, [x / b for x in WIDE]) for b in (1.0, 3e10, 7e-200)),
    *(
        (LogNormal, log_normal, {"log_mean": m, "log_variance": v}, WIDE)
        for m in (0.0, -3.0)
        for v in (0.25, 30.0)
    ),
    *((Weibull, weibull, {"shape": k, "scale": 2.5}, WIDE[:-2]) for k in (0.01, 0.5, 1.0, 3.0)),
    (Weibull, weibull, {"shape": 1e4, "scale": 3.0}, [2.999, 3.0, 3.0001]),
    (Weibull, weibull, {"shape": 2.0, "scale": 1e-250}, [1e-260, 1e-250, 3e-250]),
    *(
        (Pareto, pareto, {"shape": a, "scale": 0.5}, [0.5, 0.5 + 1e-10, 3.0, 1e20, 1e300])
        for a in (0.01, 1.0, 40.0)
    ),
]


def name_of(case):
    return f"{case[0].__name__}-" + "-".join(f"{x:g}" for x in case[2].values())


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_log_densities_keep_twelve_digits(case):
    family, formula, given, at = case
    with mpmath.workdps(60):
        exact = np.array([float(formula(*(mpmath.mpf(float(v)) for v in (x, *given.values())))) for x in at])
    found = family(**given).log_prob(np.array(at))
    assert np.all(np.abs(found - exact) <= 1e-12 * np.maximum(1.0, np.abs(exact)))


PEERS = [
    (Exponential(rate=2.5), stats.expon(scale=0.4)),
    (LogNormal(log_mean=0.5, log_stddev=0.7), stats.lognorm(s=0.7, scale=np.exp(0.5))),
    (Weibull(shape=0.8, scale=3.0), stats.weibull_min(0.8, scale=3.0)),
    (Weibull(shape=12.0, scale=3.0), stats.weibull_min(12.0, scale=3.0)),
    (Pareto(shape=3.5, scale=2.0), stats.pareto(3.5, scale=2.0)),
    (Geometric(probability=0.3), stats.geom(0.3, loc=-1)),
]


@pytest.mark.parametrize(("ours", "theirs"), PEERS, ids=lambda d: type(d).__name__)
def test_moments_tails_and_quantiles_equal_those_of_scipy(ours, theirs):
    x = np.array([-1.0, 0.0, 0.3, 1.0, 2.0, 2.5, 4.0, 30.0])
    q = np.array([1e-12, 0.01, 0.5, 0.9, 1.0 - 1e-9])
    for found, expected in [
        (ours.mean, theirs.mean()),
        (ours.variance, theirs.var()),
        (ours.entropy(), theirs.entropy()),
        (ours.cdf(x), theirs.cdf(x)),
        (ours.survival(x), theirs.sf(x)),
        (ours.icdf(q), theirs.ppf(q)),
    ]:
        np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_the_variance_of_narrow_weibulls_keeps_its_digits():
    for shape in (19.0, 21.0, 1e3, 1e8):
        with mpmath.workdps(60):
            t = 1 / mpmath.mpf(shape)
            exact = float(mpmath.gamma(1 + 2 * t) - mpmath.gamma(1 + t) ** 2)
        np.testing.assert_allclose(Weibull(shape=shape, scale=1.0).variance, exact, rtol=1e-12)


def test_fits_equal_those_of_scipy():
    rng = np.random.default_rng(0)
    x = 3.0 * rng.weibull(1.7, size=400)
    shape, _, scale = stats.weibull_min.fit(x, floc=0)
    fit = Weibull.fit(x)
    np.testing.assert_allclose([fit.shape, fit.scale], [shape, scale], rtol=1e-5)
    for shape, size in [(1e-2, 1.0), (1e5, 1e-150), (5.0, 1e200)]:
        again = Weibull.fit(Weibull(shape=shape, scale=size).sample(500, rng=1))
        np.testing.assert_allclose(again.shape, shape, rtol=0.15)


def test_a_sure_success_has_no_failures():
    sure = Geometric(probability=1.0)
    assert sure.prob([0, 1]).tolist() == [1.0, 0.0]
    assert (float(sure.mean), float(sure.entropy()), sure.sample(3, rng=0).tolist()) == (0.0, 0.0, [0.0] * 3)
    assert float(sure.kl_divergence(Geometric(probability=0.5))) == pytest.approx(np.log(2.0))
    assert np.isinf(float(Geometric(probability=0.5).kl_divergence(sure)))


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda: Exponential(rate=1.0, scale=1.0), "exactly one"),
        (lambda: Exponential(rate=0.0), "rate"),
        (lambda: Exponential.fit([1.0, -1.0]), "not negative"),
        (lambda: Exponential.fit([0.0, 0.0]), "above 0"),
        (lambda: LogNormal(log_mean=0.0, log_stddev=1e200), "log_stddev"),
        (lambda: LogNormal.fit([1.0, 0.0]), "positive"),
        (lambda: LogNormal.fit([2.0, 2.0]), "vary"),
        (lambda: Weibull(shape=-1.0, scale=1.0), "shape"),
        (lambda: Weibull.fit([1.0, 0.0]), "positive"),
        (lambda: Weibull.fit([2.0, 2.0]), "vary"),
        (lambda: Pareto.fit([2.0, 2.0]), "vary"),
        (lambda: Pareto(shape=1.0, scale=np.inf), "scale"),
        (lambda: Geometric(probability=0.0), "probability"),
        (lambda: Geometric.fit([0.5]), "whole"),
    ],
)
def test_what_cannot_be_is_refused(call, word):
    with pytest.raises(ValueError, match=word):
        call()
