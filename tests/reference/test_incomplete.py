"""Incomplete beta functions and Student's tails against mpmath at 120 digits, where libraries lose theirs."""

from functools import cache

import mpmath
import numpy as np
import pytest

from quick import some
from tractable.arrays.incomplete import betainc, betaincc, betaincinv
from tractable.arrays.namespace import to_numpy
from tractable.distributions import Beta, Binomial, StudentT

DIGITS, MANY = 30, 120  # a tail of 1e-100 is one less the other


@cache
def lower_tail(a, b, x, digits=DIGITS):
    """I_x(a, b) by the series x^a (1-x)^b / a B(a, b) Σ (a+b)_n / (a+1)_n x^n, whose terms are positive."""
    with mpmath.workdps(digits + 10):
        a, b, x = (mpmath.mpf(float(v)) for v in (a, b, x))
        constant = mpmath.loggamma(a + b) - mpmath.loggamma(a + 1) - mpmath.loggamma(b)
        term = total = mpmath.exp(a * mpmath.log(x) + b * mpmath.log1p(-x) + constant)
        n = 0
        while term > total * mpmath.mpf(10) ** -digits:
            term *= (a + b + n) * x / (a + 1 + n)
            total += term
            n += 1
    return total


@cache
def upper_tail(a, b, x):
    with mpmath.workdps(MANY):
        return 1 - lower_tail(a, b, x, MANY)


# (a, b), and where in units of the mean
SHAPES = [
    *((a, b) for a in (0.01, 1.0, 2.0, 20.0, 1e3) for b in (1e4, 8e5, 1e9, 1e12)),
    *((a, b) for a in (0.5, 2.5, 300.25) for b in (1e5, 3e8 + 0.5)),
    (2.0, 1542375957.0),
    (30.0, 5000.0),
]
PLACES = (1e-3, 0.5, 0.9, 1.0, 1.05, 1.5, 3.0)


@pytest.mark.parametrize(("a", "b"), SHAPES, ids=lambda v: f"{v:g}")
def test_tails_of_unlike_shapes_keep_eleven_digits(a, b, backend):
    x = np.array(PLACES) * a / (a + b)
    shapes = backend.asarray(np.array(a)), backend.asarray(np.array(b)), backend.asarray(x)
    for function, tail in ((betainc, lower_tail), (betaincc, upper_tail)):
        exact = np.array([float(tail(a, b, v)) for v in x])
        np.testing.assert_allclose(to_numpy(function(*shapes)), exact, rtol=3e-12, atol=1e-100)


@cache
def tail_by_quadrature(a, b, x, spread):
    """The integral of the density over thirty standard deviations below x."""
    with mpmath.workdps(DIGITS):
        a, b, x, spread = (mpmath.mpf(float(v)) for v in (a, b, x, spread))
        constant = mpmath.loggamma(a + b) - mpmath.loggamma(a) - mpmath.loggamma(b)

        def density(t):
            return mpmath.exp(constant + (a - 1) * mpmath.log(t) + (b - 1) * mpmath.log1p(-t))

        return mpmath.quad(density, [x - k * spread for k in (30, 12, 5, 2, 0.5, 0)])


@pytest.mark.parametrize(("a", "b"), [(1e6, 3e6), (1e8, 3e8 + 0.5), (1e12, 1e12)], ids=lambda v: f"{v:g}")
def test_tails_of_large_shapes_keep_twelve_digits(a, b, backend):
    spread = (a / (a + b) * (b / (a + b)) / (a + b)) ** 0.5
    x = a / (a + b) + spread * np.array([-8.0, -0.5])
    exact = [float(tail_by_quadrature(a, b, v, spread)) for v in x]
    shapes = backend.asarray(np.array(a)), backend.asarray(np.array(b)), backend.asarray(x)
    np.testing.assert_allclose(to_numpy(betainc(*shapes)), exact, rtol=1e-12)
    back = to_numpy(betaincinv(*shapes[:2], backend.asarray(np.array(exact))))
    np.testing.assert_array_less(np.abs(back - x), 2.0 * np.spacing(x))


def test_tails_mirror_each_other(backend):
    a, b, x = (
        np.array([2.0, 20.0, 1e3]),
        np.array([2.0**30, 2.0**33, 2.0**40]),
        2.0 ** np.array([-30, -29, -30]),
    )
    exact = np.array([float(upper_tail(*v)) for v in zip(a, b, x, strict=True)])
    found = to_numpy(betainc(*(backend.asarray(v) for v in (b, a, 1.0 - x))))
    np.testing.assert_allclose(found, exact, rtol=1e-12, atol=1e-100)


def test_rare_events_among_many_trials_keep_their_digits():
    d = Binomial(n_trials=1e9, probability=5e-9)
    at = np.array([0.0, 1.0, 4.0, 9.0, 30.0])
    for found, tail in ((d.cdf(at), upper_tail), (d.survival(at), lower_tail)):
        exact = [float(tail(k + 1.0, 1e9 - k, 5e-9)) for k in at]
        np.testing.assert_allclose(found, exact, rtol=1e-12)


QUANTILES = [
    *((a, b) for a in (2.0, 1e3) for b in (1e6, 1e8, 1.5e9, 1e12)),
    (2.5, 100.0),
    (0.3, 7.0),
    (10.0, 0.1),
]


@pytest.mark.parametrize(("a", "b"), some(QUANTILES, 4, several=True), ids=lambda v: f"{v:g}")
def test_quantiles_of_betas_have_their_tails(a, b, backend):
    q = np.array([1e-300, 1e-100, 1e-20, 1e-8, 0.01, 0.4])
    d = Beta(alpha=backend.asarray(np.array(a)), beta=backend.asarray(np.array(b)))
    x = to_numpy(d.icdf(backend.asarray(q)))
    held = x >= np.finfo(float).tiny
    exact = np.array([float(lower_tail(a, b, v)) for v in x[held]])
    np.testing.assert_allclose(exact, q[held], rtol=1e-11)
    # What no number holds is zero, and not the least of the numbers.
    assert np.all(x[~held] == 0.0)
    assert np.all([lower_tail(a, b, np.finfo(float).tiny) >= p for p in q[~held]])


@pytest.mark.parametrize(("a", "b"), some([(1e3, 1e8), (1e3, 1e12), (2.0, 1.5e9)], several=True))
def test_upper_quantiles_of_betas_have_their_tails(a, b, backend):
    q = np.array([0.6, 0.9, 0.99, 1.0 - 1e-9])
    d = Beta(alpha=backend.asarray(np.array(a)), beta=backend.asarray(np.array(b)))
    x = to_numpy(d.icdf(backend.asarray(q)))
    np.testing.assert_allclose([float(upper_tail(a, b, v)) for v in x], 1.0 - q, rtol=1e-11)


def test_quantiles_below_all_numbers_are_zero(backend):
    alpha = 0.001
    d = Beta(alpha=backend.asarray(np.array(alpha)), beta=backend.asarray(np.array(1.0)))
    # The condition number of q^(1/α) is 1/α: twenty roundings of q.
    np.testing.assert_allclose(
        to_numpy(d.icdf(backend.asarray(np.array([0.0, 0.01, 0.9])))),
        [0.0, 0.0, 0.9**1000],
        rtol=20.0 * np.finfo(float).eps / alpha,
    )


def student_tail(dof, t):
    """½ I_x(ν/2, ½) at x = ν / (ν + t²)."""
    with mpmath.workdps(DIGITS):
        nu, t = mpmath.mpf(float(dof)), mpmath.mpf(float(t))
        return mpmath.betainc(nu / 2, mpmath.mpf(1) / 2, 0, nu / (nu + t * t), regularized=True) / 2


def standard_student(dof, backend):
    dof, location, scale = (backend.asarray(np.array(v)) for v in (dof, 0.0, 1.0))
    return StudentT(dof=dof, location=location, scale=scale)


@pytest.mark.parametrize("dof", [0.01, 0.5, 1.0, 3.0, 5.0, 10.0, 40.0, 100.0, 5e3])
def test_quantiles_of_students_have_their_tails(dof, backend):
    q = np.array([1e-300, 1e-100, 1e-20, 1e-8, 0.01, 0.3])
    d = standard_student(dof, backend)
    x = to_numpy(d.icdf(backend.asarray(q)))
    held = np.isfinite(x)
    np.testing.assert_allclose([float(student_tail(dof, t)) for t in x[held]], q[held], rtol=1e-12)
    np.testing.assert_allclose(to_numpy(d.cdf(backend.asarray(x[held]))), q[held], rtol=1e-11)
    assert np.all(x < 0.0)
    assert np.all([student_tail(dof, np.finfo(float).max) > p for p in q[~held]])
    upper = to_numpy(d.icdf(backend.asarray(np.array([0.5, 0.7, 1.0]))))
    np.testing.assert_allclose(upper, [0.0, -x[-1], np.inf], rtol=1e-12)


@pytest.mark.parametrize("dof", [0.01, 0.5, 1.0, 1.9])
def test_tails_of_students_outlast_the_square_of_t(dof, backend):
    t = np.array([-1e300, -1e200, -1e155, -1e150, -1e30, -1e9, 1e300])
    d = standard_student(dof, backend)
    exact = [float(student_tail(dof, v)) if v < 0 else float(1 - student_tail(dof, v)) for v in t]
    np.testing.assert_allclose(to_numpy(d.cdf(backend.asarray(t))), exact, rtol=1e-12, atol=1e-307)


def test_quantiles_of_wide_students_overflow_in_silence():
    assert StudentT(dof=1.0, location=0.0, scale=1e100).icdf(1e-300) == -np.inf
