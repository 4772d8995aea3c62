"""Special functions against mpmath at 40 digits, from one end of the doubles to the other."""

import math

import mpmath
import numpy as np
import pytest

from special_functions import special
from tractable.arrays.namespace import to_numpy

mpmath.mp.dps = 40

POSITIVE = np.concatenate(
    [np.geomspace(1e-300, 1e-3, 40), np.linspace(0.01, 12.0, 241), np.geomspace(12.0, 1e300, 60)]
)
NEAR_TWO = np.concatenate([1.0 + np.geomspace(1e-12, 0.1, 12), 2.0 - np.geomspace(1e-12, 0.1, 12)])
NEAR_ROOT = 1.4616321449683622 + np.concatenate([-np.geomspace(1e-14, 0.5, 15), np.geomspace(1e-14, 0.5, 15)])
LINE = np.concatenate(
    [np.linspace(-12.0, 12.0, 241), -np.geomspace(1e-300, 1.0, 20), np.geomspace(1e-300, 1.0, 20)]
)
NEGATIVE = -np.concatenate([np.geomspace(1e-300, 1.0, 60), np.linspace(0.01, 40.0, 200), [700.0, 745.0]])
SHARES = np.concatenate(
    [
        np.geomspace(1e-300, 0.1, 60),
        np.linspace(0.01, 0.99, 99),
        0.5 + np.geomspace(1e-15, 0.4, 20),
        1 - np.geomspace(1e-15, 0.1, 20),
    ]
)


def log_ndtr(x):
    tail = mpmath.erfc(abs(x) / mpmath.sqrt(2)) / 2
    return mpmath.log1p(-tail) if x > 0 else mpmath.log(tail)


def ndtri(p):
    """Newton on log Φ from SciPy's double, at 40 digits."""
    from scipy.special import ndtri as start

    if p > 0.5:
        return -ndtri(1 - p)
    x = mpmath.mpf(float(start(float(p))))
    for _ in range(4):
        cdf = mpmath.erfc(-x / mpmath.sqrt(2)) / 2
        slope = mpmath.exp(-(x**2) / 2) / mpmath.sqrt(2 * mpmath.pi) / cdf
        x -= mpmath.log(cdf / p) / slope
    return x


ORACLES = [
    ("gammaln", mpmath.loggamma, POSITIVE),
    ("digamma", mpmath.digamma, POSITIVE),
    ("erf", mpmath.erf, LINE),
    ("erfc", mpmath.erfc, np.concatenate([LINE, np.linspace(12.0, 26.0, 57)])),
    ("log_ndtr", log_ndtr, np.concatenate([LINE, -np.geomspace(12.0, 1e3, 30), np.linspace(12.0, 25.0, 14)])),
    ("ndtri", ndtri, SHARES),
    ("sigmoid", lambda x: 1 / (1 + mpmath.exp(-x)), np.concatenate([LINE, NEGATIVE[:-1]])),
    ("logit", lambda p: mpmath.log(p / (1 - p)), SHARES),
    (
        "log_sigmoid",
        lambda x: -mpmath.log1p(mpmath.exp(-x)),
        np.concatenate([LINE, NEGATIVE, -NEGATIVE[:-2]]),
    ),
    ("log1p_exp", lambda x: mpmath.log1p(mpmath.exp(x)), np.concatenate([LINE, NEGATIVE[:-1], -NEGATIVE])),
    ("log1m_exp", lambda x: mpmath.log(-mpmath.expm1(x)), NEGATIVE[:-1]),
]


def relative_error(ours, exact):
    return np.array(
        [float(abs(mpmath.mpf(float(o)) - e) / abs(e)) for o, e in zip(ours, exact, strict=True) if e]
    )


@pytest.mark.spec("MATH-09")
@pytest.mark.parametrize(("name", "oracle", "at"), ORACLES, ids=[row[0] for row in ORACLES])
def test_functions_keep_thirteen_digits(name, oracle, at, backend):
    ours = to_numpy(getattr(special, name)(backend.asarray(at)))
    exact = [oracle(mpmath.mpf(float(x))) for x in at]
    e = relative_error(ours, exact)
    assert e.max() < 1e-13, f"{e.max():.1e} at {at[np.argmax(e)]!r}"


@pytest.mark.parametrize(
    ("name", "oracle", "at"),
    [("gammaln", mpmath.loggamma, NEAR_TWO), ("digamma", mpmath.digamma, NEAR_ROOT)],
    ids=["gammaln", "digamma"],
)
def test_at_a_root_the_error_is_what_one_rounding_of_x_makes(name, oracle, at, backend):
    ours = to_numpy(getattr(special, name)(backend.asarray(at)))
    exact = np.array([float(oracle(mpmath.mpf(float(x)))) for x in at])
    moved = np.array([float(abs(x * mpmath.diff(oracle, mpmath.mpf(float(x))))) for x in at])
    assert np.all(np.abs(ours - exact) <= np.finfo(float).eps * (4.0 * moved + np.abs(exact)))


@pytest.mark.parametrize("name", ["gammaln", "digamma"])
def test_reflection_reaches_negative_numbers(name, backend):
    oracle = {"gammaln": lambda x: mpmath.log(abs(mpmath.gamma(x))), "digamma": mpmath.digamma}[name]
    at = np.array([-0.25, -0.5, -1.5, -2.25, -7.125, -30.5])
    ours = to_numpy(getattr(special, name)(backend.asarray(at)))
    np.testing.assert_allclose(ours, [float(oracle(x)) for x in at], rtol=1e-13)


@pytest.mark.spec("MATH-09")
@pytest.mark.parametrize("x", [0.3, 1.0, 2.5, 6.0])
def test_gamma_is_the_integral_that_defines_it(x):
    integral = mpmath.quad(lambda t: t ** (x - 1) * mpmath.exp(-t), [0, 1, 10, mpmath.inf])
    np.testing.assert_allclose(math.exp(special.gammaln(x)), float(integral), rtol=1e-12)


def test_log_beta_does_not_cancel(backend):
    sizes = np.geomspace(1e-8, 1e15, 24)
    a, b = (grid.ravel() for grid in np.meshgrid(sizes, sizes))
    ours = to_numpy(special.betaln(backend.asarray(a), backend.asarray(b)))
    with mpmath.workdps(60):
        exact = [
            float(mpmath.loggamma(s) + mpmath.loggamma(t) - mpmath.loggamma(mpmath.mpf(s) + mpmath.mpf(t)))
            for s, t in zip(a, b, strict=True)
        ]
    np.testing.assert_allclose(ours, exact, rtol=1e-13, atol=2e-15)


@pytest.mark.parametrize("d", [1, 2, 5])
def test_multivariate_gamma_is_a_product(d, backend):
    a = np.array([0.5 * (d - 1) + 0.1, 3.0, 50.0])
    exact = [
        float(
            mpmath.log(mpmath.pi) * d * (d - 1) / 4
            + sum(mpmath.loggamma(mpmath.mpf(float(x)) + mpmath.mpf(1 - i) / 2) for i in range(1, d + 1))
        )
        for x in a
    ]
    np.testing.assert_allclose(to_numpy(special.multigammaln(backend.asarray(a), d)), exact, rtol=1e-12)
    with pytest.raises(ValueError, match="a must exceed"):
        special.multigammaln(backend.asarray(np.array([0.5 * (d - 1)])), d)


# --- values that are known exactly -------------------------------------------------------------------------

INF, NAN = np.inf, np.nan
EDGES = [
    ("gammaln", [0.0, 1.0, 2.0, INF, -1.0, NAN], [INF, 0.0, 0.0, INF, INF, NAN]),
    ("digamma", [INF, NAN, -1.0], [INF, NAN, NAN]),
    ("erf", [-INF, 0.0, INF, 1e200, NAN], [-1.0, 0.0, 1.0, 1.0, NAN]),
    ("erfc", [-INF, 0.0, INF, 1e200, NAN], [2.0, 1.0, 0.0, 0.0, NAN]),
    ("log_ndtr", [-INF, INF, 1e200, NAN], [-INF, 0.0, 0.0, NAN]),
    ("ndtri", [0.0, 0.5, 1.0, -0.1, 1.1, NAN], [-INF, 0.0, INF, NAN, NAN, NAN]),
    ("sigmoid", [-INF, -1e4, 0.0, 1e4, INF, NAN], [0.0, 0.0, 0.5, 1.0, 1.0, NAN]),
    ("logit", [0.0, 0.5, 1.0, -0.1, 1.1, NAN], [-INF, 0.0, INF, NAN, NAN, NAN]),
    ("log_sigmoid", [-INF, -1e4, 1e4, INF, NAN], [-INF, -1e4, 0.0, 0.0, NAN]),
    ("log1p_exp", [-INF, -1e4, 1e4, INF, NAN], [0.0, 0.0, 1e4, INF, NAN]),
    ("log1m_exp", [-INF, -1e4, 0.0, 1.0, 1e4, NAN], [0.0, 0.0, -INF, NAN, NAN, NAN]),
]


@pytest.mark.parametrize(("name", "at", "exact"), EDGES, ids=[row[0] for row in EDGES])
def test_the_ends_of_the_line_are_exact_and_silent(name, at, exact, backend):
    ours = to_numpy(getattr(special, name)(backend.asarray(np.array(at))))
    np.testing.assert_array_equal(ours, exact)


def test_nothing_times_a_logarithm_is_nothing(backend):
    x, y = np.array([0.0, 0.0, 2.0, 0.0, 1.0]), np.array([0.0, INF, 0.0, NAN, 1.0])
    ours = to_numpy(special.xlogy(backend.asarray(x), backend.asarray(y)))
    np.testing.assert_array_equal(ours, [0.0, 0.0, -INF, NAN, 0.0])
    ours = to_numpy(special.xlog1py(backend.asarray(x), backend.asarray(y - 1.0)))
    np.testing.assert_array_equal(ours, [0.0, 0.0, -INF, NAN, 0.0])


@pytest.mark.spec("CLS-13")
def test_the_logistic_sigmoid_is_symmetric_and_inverts(backend):
    a = np.concatenate([-np.geomspace(1e-300, 700.0, 60), np.geomspace(1e-300, 700.0, 60)])
    here, there = backend.asarray(a), backend.asarray(-a)
    np.testing.assert_allclose(
        to_numpy(special.sigmoid(there)), 1.0 - to_numpy(special.sigmoid(here)), rtol=0.0, atol=2e-16
    )
    below = a[a < 0.0]
    np.testing.assert_allclose(
        to_numpy(special.logit(special.sigmoid(backend.asarray(below)))), below, rtol=1e-13, atol=2e-16
    )
    # log σ(a) - log σ(-a) = a: the log-odds
    odds = to_numpy(special.log_sigmoid(here)) - to_numpy(special.log_sigmoid(there))
    np.testing.assert_allclose(odds, a, rtol=1e-14, atol=2e-16)


# --- sums in log space -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("x", "exact"),
    [
        ([0.0, 0.0], math.log(2.0)),
        ([-1e4, -1e4], -1e4 + math.log(2.0)),
        ([1e4, 1e4 - 800.0], 1e4),
        ([-INF, 3.0], 3.0),
        ([-INF, -INF], -INF),
        ([INF, 800.0], INF),
        ([INF, -INF], INF),
        ([NAN, 1.0], NAN),
        ([], -INF),
    ],
)
def test_log_sum_exp_is_the_log_of_the_sum(x, exact, backend):
    np.testing.assert_allclose(to_numpy(special.log_sum_exp(backend.asarray(np.array(x)))), exact, rtol=1e-15)


def test_log_sum_exp_takes_weights_and_axes(backend, rng):
    x, w = rng.standard_normal((3, 4, 2)), rng.random((4, 1))
    for axis in (0, 1, -1):
        ours = special.log_sum_exp(backend.asarray(x), axis, weights=backend.asarray(w))
        np.testing.assert_allclose(to_numpy(ours), np.log(np.sum(w * np.exp(x), axis=axis)), rtol=1e-13)
    absent = special.log_sum_exp(
        backend.asarray(np.array([[INF, 1.0], [5.0, 2.0]])),
        weights=backend.asarray(np.array([[0.0, 2.0], [0.0, 0.0]])),
    )
    np.testing.assert_allclose(to_numpy(absent), [1.0 + math.log(2.0), -INF], rtol=1e-15)
    for bad in (-1.0, NAN):
        with pytest.raises(ValueError, match="weights must not be negative"):
            special.log_sum_exp(backend.asarray(x), weights=backend.asarray(np.array([1.0, bad])))


def test_shares_add_up_even_at_the_ends_of_the_line(backend):
    x = backend.asarray(np.array([[1e4, 0.0, -1e4], [INF, 0.0, -INF], [-INF, -INF, -INF], [0.0, 0.0, -INF]]))
    exact = [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [1 / 3, 1 / 3, 1 / 3], [0.5, 0.5, 0.0]]
    np.testing.assert_allclose(to_numpy(special.softmax(x)), exact, rtol=1e-15)
    np.testing.assert_allclose(np.exp(to_numpy(special.log_softmax(x))), exact, rtol=1e-15)
    np.testing.assert_array_equal(to_numpy(special.log_softmax(x))[0], [0.0, -1e4, -2e4])
