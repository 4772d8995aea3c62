"""Normal against mpmath (fifty digits) and SciPy."""

import mpmath
import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from tractable.distributions import Normal
from tractable.value import parameters, replace

scales = st.floats(-100.0, 100.0).map(lambda e: 10.0**e)
offsets = st.floats(-40.0, 40.0)


def log_prob(x, mean, variance):
    with mpmath.workdps(50):
        x, mean, variance = map(mpmath.mpf, (x, mean, variance))
        return float(-((x - mean) ** 2) / (2 * variance) - mpmath.log(2 * mpmath.pi * variance) / 2)


@pytest.mark.spec("DIST-21")
@given(mean=st.floats(-1e6, 1e6), variance=scales, z=offsets)
def test_log_prob_against_mpmath(mean, variance, z):
    d = Normal(mean=mean, variance=variance)
    x = mean + z * float(d.stddev)
    expected = log_prob(x, mean, variance)
    assert abs(float(d.log_prob(x)) - expected) <= 1e-12 * max(1.0, abs(expected))


@pytest.mark.spec("DIST-21")
@given(z=st.floats(-37.0, 8.0))
def test_cdf_against_mpmath(z):
    with mpmath.workdps(50):
        expected = float(mpmath.ncdf(mpmath.mpf(z)))
    np.testing.assert_allclose(Normal(mean=0.0, variance=1.0).cdf(z), expected, rtol=1e-12)


@given(q=st.floats(-300.0, 0.0).map(lambda e: 0.999999 * 10.0**e))
def test_icdf_against_scipy(q):
    np.testing.assert_allclose(
        Normal(mean=1.0, stddev=2.0).icdf(q), scipy.stats.norm(1.0, 2.0).ppf(q), rtol=1e-12, atol=1e-12
    )


@pytest.mark.parametrize(
    ("low", "high"), [(8.0, 9.0), (-9.0, -8.0), (-1.0, 2.0), (30.0, 31.0), (-np.inf, 0.3)]
)
@pytest.mark.spec("PROB-16")
def test_interval_probability_against_mpmath(low, high):
    with mpmath.workdps(600):
        expected = float(mpmath.ncdf(mpmath.mpf(high)) - mpmath.ncdf(mpmath.mpf(low)))
    np.testing.assert_allclose(
        Normal(mean=0.0, variance=1.0).probability_between(low, high), expected, rtol=1e-12
    )


@pytest.mark.spec("PROB-16")
def test_a_density_may_exceed_one_and_still_integrate_to_one():
    d = Normal(mean=0.0, variance=0.01)
    np.testing.assert_allclose(d.prob(0.0), 3.989422804014327, rtol=1e-15)
    grid = np.linspace(-1.0, 1.0, 2001)
    np.testing.assert_allclose(np.trapezoid(d.prob(grid), grid), 1.0, rtol=1e-12)
    np.testing.assert_allclose(d.probability_between(-0.1, 0.1), 0.6826894921370859, rtol=1e-13)
    assert d.probability_between(0.3, 0.3) == 0.0


@pytest.mark.spec("DIST-21")
def test_variance_and_stddev_are_not_taken_for_each_other():
    by_variance, by_stddev = Normal(mean=0.0, variance=4.0), Normal(mean=0.0, stddev=2.0)
    x = np.linspace(-5.0, 5.0, 7)
    np.testing.assert_array_equal(by_variance.log_prob(x), by_stddev.log_prob(x))
    np.testing.assert_allclose(by_stddev.log_prob(x), scipy.stats.norm(scale=2.0).logpdf(x), rtol=1e-13)
    with pytest.raises(ValueError, match="exactly one of variance and stddev"):
        Normal(mean=0.0, variance=4.0, stddev=2.0)
    with pytest.raises(ValueError, match="exactly one of variance and stddev"):
        Normal(mean=0.0)
    with pytest.raises(TypeError):
        Normal(0.0, 4.0)


@given(stddev=st.floats(-150.0, 150.0).map(lambda e: 10.0**e))
def test_stddev_comes_back_to_the_last_bit(stddev):
    assert float(Normal(mean=0.0, stddev=stddev).stddev) == stddev


@pytest.mark.parametrize(
    ("bad", "named"),
    [
        ({"variance": 0.0}, "variance"),
        ({"variance": -1.0}, "variance"),
        ({"stddev": -1.0}, "stddev"),
        ({"stddev": [1.0, np.nan]}, "stddev"),
        ({"stddev": 1e-200}, "stddev"),
        ({"stddev": 1e200}, "stddev"),
        ({"variance": np.inf}, "variance"),
        ({"variance": "one"}, "variance must be an array of real numbers"),
        ({"variance": 1j}, "variance must be an array of real numbers"),
        ({"variance": 1.0, "mean": np.inf}, "mean"),
        ({"variance": [1.0, 1.0], "mean": [1.0, 2.0, 3.0]}, "mean .3,., variance .2,."),
    ],
)
def test_bad_parameters_are_named(bad, named):
    with pytest.raises(ValueError, match=named):
        Normal(**{"mean": 0.0, **bad})


def test_bad_arguments_are_named():
    d = Normal(mean=0.0, variance=1.0)
    for coverage in (0.0, 1.0, -0.1, np.nan):
        with pytest.raises(ValueError, match="coverage"):
            d.interval(coverage)
    for q in (-0.1, 1.1, np.nan):
        with pytest.raises(ValueError, match="q must"):
            d.icdf(q)
    with pytest.raises(TypeError, match="Normal"):
        d.kl_divergence(scipy.stats.norm())
    with pytest.raises(IndexError):
        d[0]
    with pytest.raises(TypeError, match="batch"):
        iter(d)


@pytest.mark.spec("DIST-30", "DIST-32")
def test_fit_is_the_mean_and_the_mean_square():
    x = np.array([1.0, 2.0, 4.0, 9.0])
    d = Normal.fit(x)
    assert float(d.mean) == 4.0
    assert float(d.variance) == 9.5
    np.testing.assert_allclose(Normal.fit(x, ddof=1).variance, x.var(ddof=1), rtol=1e-15)
    both = Normal.fit(np.stack([x, 10.0 * x], axis=1), [1, 2, 0, 1])
    np.testing.assert_allclose(both.mean, [3.5, 35.0])
    np.testing.assert_allclose(both.variance, [10.25, 1025.0], rtol=1e-14)


@pytest.mark.spec("DIST-30")
def test_fit_keeps_its_digits_far_from_the_origin(rng):
    x = np.round(rng.standard_normal(1000) * 2**20) / 2**20  # exact after the shift
    near, far = Normal.fit(x), Normal.fit(x + 1e8)
    np.testing.assert_allclose(far.variance, near.variance, rtol=1e-12)


@pytest.mark.parametrize("X", [[], [1.0, np.nan], 3.0, [1.0]])
def test_fit_refuses_what_it_cannot_fit(X):
    with pytest.raises(ValueError, match=r"X|variance"):
        Normal.fit(X)


@pytest.mark.parametrize("weight", [[1.0], [1.0, -1.0], [0.0, 0.0], [np.nan, 1.0]])
def test_fit_refuses_bad_weights(weight):
    with pytest.raises(ValueError, match="sample_weight"):
        Normal.fit([1.0, 2.0], weight)


def test_sum_of_independent_variables():
    total = Normal(mean=1.0, variance=4.0) + Normal(mean=[2.0, 3.0], variance=5.0)
    np.testing.assert_array_equal(total.mean, [3.0, 4.0])
    np.testing.assert_array_equal(total.stddev, [3.0, 3.0])


def test_kl_divergence_of_close_neighbours_keeps_its_digits():
    a, b = Normal(mean=0.0, variance=1.0), Normal(mean=0.0, variance=1.0 + 1e-6)
    with mpmath.workdps(50):
        ratio = 1 / mpmath.mpf(1.0 + 1e-6)
        expected = float((ratio - 1 - mpmath.log(ratio)) / 2)
    np.testing.assert_allclose(a.kl_divergence(b), expected, rtol=1e-9)


def test_kl_divergence_beyond_floating_point_is_infinite():
    assert float(Normal(mean=0.0, stddev=1e100).kl_divergence(Normal(mean=0.0, stddev=1e-100))) == np.inf


def test_a_value_is_rebuilt_from_its_parameters():
    d = Normal(mean=[0.0, 1.0], stddev=0.1)
    assert set(parameters(d)) == {"mean", "variance"}
    np.testing.assert_array_equal(replace(d, mean=5.0).mean, [5.0, 5.0])
    assert [float(one.mean) for one in d] == [0.0, 1.0]
