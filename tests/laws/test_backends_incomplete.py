"""Incomplete functions, their inverses and the pieces of densities, in every array library."""

import mpmath
import numpy as np
import pytest

from special_functions import special
from tractable.arrays import double_double, gamma, incomplete, saddle_point
from tractable.arrays.namespace import to_numpy
from tractable.testing.array_laws import ARRAY_LAWS, ArrayFunction


def positive(rng):
    return rng.gamma(1.0, 3.0, 5) + 0.1


def shares(rng):
    return rng.uniform(0.05, 0.95, 5)


def line(rng):
    return 3.0 * rng.standard_normal(5)


def large(rng):
    return rng.uniform(2e4, 9e4, 5)


FUNCTIONS = {
    "betainc": (special.betainc, (positive, positive, shares)),
    "betaincc": (special.betaincc, (positive, positive, shares)),
    "betaincinv": (special.betaincinv, (positive, positive, shares)),
    "deviance": (saddle_point.deviance, (positive, positive)),
    "gammainc": (special.gammainc, (positive, positive)),
    "gammaincc": (special.gammaincc, (positive, positive)),
    "gammaincinv": (special.gammaincinv, (positive, shares)),
    "gammainccinv": (special.gammainccinv, (positive, shares)),
    "gammaincinv, large": (special.gammaincinv, (large, shares)),
    "large_gamma_tails": (incomplete.large_gamma_tails, (large, large)),
    "log_beta_kernel": (saddle_point.log_beta_kernel, (positive, positive, shares)),
    "log_gamma_kernel": (saddle_point.log_gamma_kernel, (positive, positive)),
    "log_minus_digamma": (gamma.log_minus_digamma, (positive,)),
    "stdtr": (special.stdtr, (positive, line)),
    "stdtrit": (special.stdtrit, (positive, shares)),
    "trigamma_excess": (gamma.trigamma_excess, (positive,)),
    "two_product": (double_double.two_product, (line, line)),
    "two_sum": (double_double.two_sum, (line, line)),
}


#: Searches as `gammaincinv` is one, which take long in a library of Python alone.
ALIKE = {"betaincinv", "gammaincinv, large", "gammainccinv", "stdtrit"}


@pytest.mark.parametrize("law", ARRAY_LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow if n in ALIKE else ()) for n in FUNCTIONS]
)
def test_array_law(law, name, backend, rng):
    function, draws = FUNCTIONS[name]
    law(
        ArrayFunction(
            function=function, draw=lambda rng: tuple(draw(rng) for draw in draws), asarray=backend.asarray
        ),
        rng,
    )


INF, NAN = np.inf, np.nan
EDGES = [
    (
        "gammainc",
        ([2.0, 2.0, 2.0, 1e5, 1e5, 1e5], [0.0, INF, NAN, 0.0, INF, NAN]),
        [0.0, 1.0, NAN, 0.0, 1.0, NAN],
    ),
    ("gammaincc", ([2.0, 2.0, 2.0, 1e5, 1e5], [0.0, INF, NAN, 0.0, INF]), [1.0, 0.0, NAN, 1.0, 0.0]),
    ("gammaincinv", ([2.0, 2.0, 1e5, 1e5], [0.0, 1.0, 0.0, 1.0]), [0.0, INF, 0.0, INF]),
    ("gammainccinv", ([2.0, 2.0, 1e5, 1e5], [0.0, 1.0, 0.0, 1.0]), [INF, 0.0, INF, 0.0]),
    ("betainc", ([2.0, 2.0, 2.0], [3.0, 3.0, 3.0], [0.0, 1.0, NAN]), [0.0, 1.0, NAN]),
    ("betaincc", ([2.0, 2.0, 2.0], [3.0, 3.0, 3.0], [0.0, 1.0, NAN]), [1.0, 0.0, NAN]),
    ("betaincinv", ([2.0, 2.0], [3.0, 3.0], [0.0, 1.0]), [0.0, 1.0]),
    (
        "stdtr",
        ([3.0, 3.0, 3.0, 3.0, 1e6, 1e6], [-INF, 0.0, INF, NAN, -INF, 1e200]),
        [0.0, 0.5, 1.0, NAN, 0.0, 1.0],
    ),
    ("stdtrit", ([3.0, 3.0, 3.0], [0.0, 0.5, 1.0]), [-INF, 0.0, INF]),
]


@pytest.mark.parametrize(("name", "at", "exact"), EDGES, ids=[row[0] for row in EDGES])
def test_the_ends_are_exact_and_silent(name, at, exact, backend):
    found = getattr(special, name)(*(backend.asarray(np.array(x)) for x in at))
    np.testing.assert_array_equal(to_numpy(found), exact)


def test_products_and_sums_are_exact(backend, rng):
    a, b = rng.standard_normal((2, 200)) * 10.0 ** rng.integers(-100, 100, (2, 200))
    for function, whole in (
        (double_double.two_product, lambda x, y: x * y),
        (double_double.two_sum, lambda x, y: x + y),
    ):
        rounded, rest = (to_numpy(part) for part in function(backend.asarray(a), backend.asarray(b)))
        with mpmath.workdps(300):
            for x, y, s, e in zip(a, b, rounded, rest, strict=True):
                assert mpmath.mpf(float(s)) + mpmath.mpf(float(e)) == whole(
                    mpmath.mpf(float(x)), mpmath.mpf(float(y))
                )


def test_products_too_large_or_small_to_split_have_no_rest(backend):
    a, b = np.array([1e300, 1e308, 1e-200, 0.0, INF]), np.array([1.5, 10.0, 1e-200, 5.0, 2.0])
    with np.errstate(over="ignore"):
        product, rest = double_double.two_product(backend.asarray(a), backend.asarray(b))
        np.testing.assert_array_equal(to_numpy(product), a * b)
    np.testing.assert_array_equal(to_numpy(rest)[1:], 0.0)


@pytest.mark.parametrize("x", [1e-8, 0.3, 5.0, 9.999, 10.0, 1e3, 1e12])
def test_slopes_of_log_gamma_keep_their_digits(x, backend):
    with mpmath.workdps(60):
        y = mpmath.mpf(x)
        gap = float(mpmath.log(y) - mpmath.digamma(y))
        excess = float(y * (y * mpmath.polygamma(1, y) - 1))
    at = backend.asarray(np.array(x))
    np.testing.assert_allclose(float(gamma.log_minus_digamma(at)), gap, rtol=1e-14)
    np.testing.assert_allclose(float(gamma.trigamma_excess(at)), excess, rtol=1e-14)
