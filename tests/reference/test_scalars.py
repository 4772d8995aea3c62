"""Continuous distributions of numbers against mpmath at 60 digits, densities written from the formula."""

import mpmath
import numpy as np
import pytest

from quick import some
from tractable.arrays.namespace import to_numpy
from tractable.distributions import Beta, Gamma, InverseGamma, Laplace, StudentT, Uniform

mpmath.mp.dps = 60
log, loggamma = mpmath.log, mpmath.loggamma


def gamma(x, shape, rate):
    return shape * log(rate) + (shape - 1) * log(x) - rate * x - loggamma(shape)


def inverse_gamma(x, shape, scale):
    return shape * log(scale) - (shape + 1) * log(x) - scale / x - loggamma(shape)


def beta(x, alpha, beta):
    constant = loggamma(alpha + beta) - loggamma(alpha) - loggamma(beta)
    return constant + (alpha - 1) * log(x) + (beta - 1) * mpmath.log1p(-x)


def student_t(x, dof, location, scale):
    constant = loggamma((dof + 1) / 2) - loggamma(dof / 2) - log(dof * mpmath.pi) / 2 - log(scale)
    return constant - (dof + 1) / 2 * mpmath.log1p(((x - location) / scale) ** 2 / dof)


def laplace(x, location, scale):
    return -abs(x - location) / scale - log(2 * scale)


def uniform(x, low, high):
    return -log(high - low)


def around(centre, spread, reach=(-30, -8, -3, -1, -0.2, 0.0, 0.1, 0.7, 2, 5, 12, 40)):
    return [centre + z * spread for z in reach if centre + z * spread > 0]


def shares_near(mean, strength):
    points = [mean + z * (mean * (1 - mean) / strength) ** 0.5 for z in (-9, -1, 0, 0.3, 6)]
    return [x for x in points if 0 < x < 1]


TINY, WIDE = [1e-300, 1e-50, 1e-5], [1e-300, 1e-20, 1e-3, 1.0, 50.0, 1e5, 1e20]
SHARES = [1e-300, 1e-12, 0.01, 0.3, 0.5, 0.9, 1.0 - 1e-12]
LINE = [-1e200, -1e30, -50.0, -1.0, -1e-10, 0.0, 0.3, 7.0, 1e8, 1e300]
CASES = [
    *((Gamma, gamma, {"shape": a, "rate": 1.0}, [*TINY, *WIDE]) for a in (1e-8, 0.01, 0.5, 1.0, 2.0)),
    *(
        (Gamma, gamma, {"shape": a, "rate": b}, [0.1 * a / b, *around(a / b, a**0.5 / b), 3.0 * a / b])
        for a in (3.7, 25.0, 1e3, 1e6, 1e8, 1e12, 1e15)
        for b in (1.0, 0.3, 7e-200, 3e10)
    ),
    *(
        (InverseGamma, inverse_gamma, {"shape": a, "scale": 2.5}, [1e-3, *WIDE[1:]])
        for a in (1e-8, 0.01, 0.5, 1.0, 4.0)
    ),
    *(
        (InverseGamma, inverse_gamma, {"shape": a, "scale": b}, around(b / a, b / a**1.5))
        for a in (25.0, 1e3, 1e8, 1e12)
        for b in (1.0, 0.3, 7e-200, 3e10)
    ),
    *(
        (Beta, beta, {"alpha": a, "beta": b}, SHARES)
        for a in (1e-8, 0.5, 1.0, 3.0, 1e4)
        for b in (1e-5, 0.7, 1.0, 40.0, 1e8)
    ),
    *(
        (
            Beta,
            beta,
            {"alpha": m * n, "beta": (1.0 - m) * n},
            shares_near(m, n),
        )
        for m in (0.3, 0.5, 0.999)
        for n in (1e4, 1e8, 1e12)
    ),
    *(
        (StudentT, student_t, {"dof": nu, "location": 0.5, "scale": s}, LINE)
        for nu in (0.01, 1.0, 2.5, 30.0, 1e4, 1e8, 1e12)
        for s in (1.0, 1e-5, 1e100)
    ),
    *((Laplace, laplace, {"location": 0.5, "scale": s}, LINE[1:-1]) for s in (1.0, 1e-5, 1e100)),
    (Uniform, uniform, {"low": -3.0, "high": 1e10}, [-3.0, 0.1, 1e10]),
    (Uniform, uniform, {"low": 1e6, "high": 1e6 + 1e-6}, [1e6]),
]


def name_of(case):
    return f"{case[0].__name__}-" + "-".join(f"{x:g}" for x in case[2].values())


@pytest.mark.spec("DIST-04", "DIST-38", "DIST-43", "DIST-46", "E000-14")
@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_log_densities_keep_twelve_digits(case):
    family, formula, given, at = case
    exact = np.array([float(formula(*(mpmath.mpf(float(v)) for v in (x, *given.values())))) for x in at])
    found = family(**given).log_prob(np.array(at))
    assert np.all(np.abs(found - exact) <= 1e-12 * np.maximum(1.0, np.abs(exact)))


# --- entropies and divergences, where the textbook's terms cancel -------------------------------------------


def expected(p, q, ends):
    """E_p of -log q by quadrature at 30 digits, between ends."""
    with mpmath.workdps(30):
        return mpmath.quad(lambda x: -mpmath.exp(p(x)) * q(x), ends)


def pieces(centre, spread, low=None, reach=45):
    ends = [centre + z * spread for z in range(-reach, reach + 1, 3)]
    ends = [e for e in ends if low is None or e > low]
    return ends if low is None or ends[0] <= centre - (reach - 3) * spread else [low, *ends]


FAMILIES = [
    (
        Gamma,
        gamma,
        {"shape": 3.0, "rate": 2.0},
        {"shape": 2.5, "rate": 2.0},
        lambda: pieces(1.5, 0.9, mpmath.mpf(0)),
    ),
    (Gamma, gamma, {"shape": 1e8, "rate": 10.0}, {"shape": 1.001e8, "rate": 10.01}, lambda: pieces(1e7, 1e3)),
    (
        InverseGamma,
        inverse_gamma,
        {"shape": 1e6, "scale": 1e6},
        {"shape": 1.01e6, "scale": 1.01e6},
        lambda: pieces(1.0, 1e-3),
    ),
    (
        Beta,
        beta,
        {"alpha": 2.0, "beta": 3.0},
        {"alpha": 2.0, "beta": 4.0},
        lambda: [0, 0.1, 0.3, 0.5, 0.8, 1],
    ),
    (
        Beta,
        beta,
        {"alpha": 3e7, "beta": 7e7},
        {"alpha": 3.001e7, "beta": 7e7},
        lambda: pieces(0.3, 4.58e-5),
    ),
    (
        Laplace,
        laplace,
        {"location": 1.0, "scale": 2.0},
        {"location": 1.001, "scale": 2.0},
        lambda: [-400, -40, 0, 1, 1.001, 2, 40, 400],
    ),
]


@pytest.mark.parametrize("case", FAMILIES, ids=name_of)
def test_entropy_and_divergence_are_their_integrals(case):
    family, formula, given, other, ends = case

    def density(parameters):
        symbols = [mpmath.mpf(float(v)) for v in parameters.values()]
        return lambda x: formula(x, *symbols)

    p, q = density(given), density(other)
    entropy, cross = expected(p, p, ends()), expected(p, q, ends())
    d = family(**given)
    np.testing.assert_allclose(float(d.entropy()), float(entropy), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(
        float(d.kl_divergence(family(**other))), float(cross - entropy), rtol=1e-8, atol=1e-14
    )


STUDENTS = [
    ({"dof": 1.0, "location": 0.0, "scale": 1.0}, {"dof": 3.0, "location": 2.0, "scale": 0.5}),
    ({"dof": 0.5, "location": 0.0, "scale": 1.0}, {"dof": 4.0, "location": 0.0, "scale": 1e-3}),
    ({"dof": 5.0, "location": -1.0, "scale": 1e-3}, {"dof": 5.0, "location": 1.0, "scale": 1.0}),
    ({"dof": 1e8, "location": 0.0, "scale": 1.0}, {"dof": 2.0, "location": 1.0, "scale": 2.0}),
]


@pytest.mark.slow
@pytest.mark.parametrize(("given", "other"), some(STUDENTS, several=True))
def test_divergence_of_students_is_its_integral(given, other):
    p, q = ([mpmath.mpf(v) for v in which.values()] for which in (given, other))
    scales = sorted({0, *(s * mpmath.mpf(10) ** k for s in (p[2], q[2]) for k in range(-3, 13))})
    ends = sorted({c + sign * s for c in (p[1], q[1]) for s in scales for sign in (-1, 1)})

    def term(x):
        return mpmath.exp(student_t(x, *p)) * (student_t(x, *p) - student_t(x, *q))

    with mpmath.workdps(25):
        exact = mpmath.quad(term, [-mpmath.inf, *ends, mpmath.inf])
    found = StudentT(**given).kl_divergence(StudentT(**other))
    np.testing.assert_allclose(float(found), float(exact), rtol=1e-9)


def test_students_of_one_degree_have_the_divergence_of_cauchys():
    """log ((s₁ + s₂)² + (μ₁ - μ₂)²) / 4 s₁ s₂, Chyzak & Nielsen (2019)."""
    one = StudentT(dof=1.0, location=[0.0, 0.0, 5.0], scale=[1.0, 1e-6, 3.0])
    two = StudentT(dof=1.0, location=[0.0, 3.0, 5.0], scale=[2.0, 1.0, 3e8])
    gap, s, t = one.location - two.location, one.scale, two.scale
    exact = np.log(((s + t) ** 2 + gap**2) / (4.0 * s * t))
    np.testing.assert_allclose(one.kl_divergence(two), exact, rtol=1e-11)


@pytest.mark.parametrize("dof", [0.5, 1.0, 7.0, 1e4, 1e12])
def test_entropy_of_students_is_its_formula(dof):
    nu = mpmath.mpf(dof)
    step = mpmath.digamma((nu + 1) / 2) - mpmath.digamma(nu / 2)
    exact = (nu + 1) / 2 * step + log(mpmath.sqrt(nu) * mpmath.beta(nu / 2, mpmath.mpf(1) / 2)) + log(3)
    d = StudentT(dof=dof, location=1.0, scale=3.0)
    np.testing.assert_allclose(float(d.entropy()), float(exact), rtol=1e-13)


# --- distribution functions --------------------------------------------------------------------------------


def gamma_tail(x, shape, rate):
    return mpmath.gammainc(shape, 0, rate * x, regularized=True)


def beta_tail(x, a, b):
    return mpmath.betainc(a, b, 0, x, regularized=True)


def student_tail(x, dof, location, scale):
    t = (x - location) / scale
    return mpmath.betainc(dof / 2, mpmath.mpf(1) / 2, 0, dof / (dof + t * t), regularized=True) / 2


LOWER_TAILS = [
    (Gamma, gamma_tail, {"shape": 0.3, "rate": 2.0}, [1e-200, 1e-10, 0.1, 1.0, 8.0]),
    (Gamma, gamma_tail, {"shape": 40.0, "rate": 0.5}, [2.0, 20.0, 60.0, 90.0]),
    (Gamma, gamma_tail, {"shape": 2e3, "rate": 1.0}, [1500.0, 1700.0, 1950.0, 2100.0]),
    (Beta, beta_tail, {"alpha": 0.2, "beta": 3.0}, [1e-200, 1e-9, 0.1, 0.7]),
    (Beta, beta_tail, {"alpha": 30.0, "beta": 50.0}, [1e-9, 0.1, 0.3, 0.5]),
    (StudentT, student_tail, {"dof": 0.7, "location": 1.0, "scale": 2.0}, [-1e30, -1e5, -4.0, 0.5]),
    (StudentT, student_tail, {"dof": 40.0, "location": 1.0, "scale": 2.0}, [-1e3, -30.0, -4.0, 0.5]),
]


@pytest.mark.parametrize("case", LOWER_TAILS, ids=name_of)
def test_tails_keep_their_digits(case, backend):
    family, tail, given, at = case
    d = family(**{name: backend.asarray(np.array(x)) for name, x in given.items()})
    symbols = [mpmath.mpf(float(v)) for v in given.values()]
    exact = np.array([float(tail(mpmath.mpf(x), *symbols)) for x in at])
    found = to_numpy(d.cdf(backend.asarray(np.array(at))))
    np.testing.assert_allclose(found, exact, rtol=2e-12)
    middle = exact < 0.5
    back = to_numpy(d.icdf(backend.asarray(exact[middle])))
    np.testing.assert_allclose(back, np.array(at)[middle], rtol=1e-11)


@pytest.mark.parametrize("shape", [1e4, 1e5, 1e8, 1e12])
def test_tails_of_large_gammas_follow_their_density(shape):
    """What a tail loses over three standard deviations is the integral of the density there."""
    d = Gamma(shape=shape, rate=1.0)
    node, weight = np.polynomial.legendre.leggauss(60)
    for z in (-20.0, -8.0, -5.0, 5.0, 8.0, 20.0):
        x, reach = shape + z * shape**0.5, 3.0 * shape**0.5 * np.sign(z)
        steps = x + 0.5 * reach * (node + 1.0)
        inside = 0.5 * abs(reach) * weight @ d.prob(steps)
        found, beyond = (d.survival(x), d.survival(x + reach)) if z > 0 else (d.cdf(x), d.cdf(x + reach))
        np.testing.assert_allclose(found - beyond, inside, rtol=1e-9)
        if z < 0:
            np.testing.assert_allclose(d.icdf(float(found)), x, rtol=1e-9 / shape**0.5)


def test_survival_has_the_digits_that_one_minus_cdf_has_not():
    cases = [
        (Gamma(shape=3.0, rate=1.0), 200.0, lambda x: mpmath.gammainc(3, x, mpmath.inf, regularized=True)),
        (InverseGamma(shape=2.0, scale=1.0), 1e30, lambda x: mpmath.gammainc(2, 0, 1 / x, regularized=True)),
        (Beta(alpha=2.0, beta=5.0), 1.0 - 1e-12, lambda x: mpmath.betainc(5, 2, 0, 1 - x, regularized=True)),
        (StudentT(dof=3.0, location=0.0, scale=1.0), 1e20, lambda x: student_tail(x, mpmath.mpf(3), 0, 1)),
        (Laplace(location=0.0, scale=1.0), 300.0, lambda x: mpmath.exp(-x) / 2),
        (Uniform(low=0.0, high=1.0), 1.0 - 2.0**-53, lambda x: 1 - x),
    ]
    for d, x, tail in cases:
        np.testing.assert_allclose(float(d.survival(x)), float(tail(mpmath.mpf(x))), rtol=1e-11)
        between = d.probability_between(x, np.inf)
        np.testing.assert_allclose(float(between), float(tail(mpmath.mpf(x))), rtol=1e-11)


def test_the_arcsine_law_is_a_beta():
    d = Beta(alpha=0.5, beta=0.5)
    x = np.array([1e-300, 1e-9, 0.2, 0.5, 0.99])
    np.testing.assert_allclose(d.cdf(x), 2.0 / np.pi * np.arcsin(np.sqrt(x)), rtol=1e-13)
    np.testing.assert_allclose(
        d.log_prob(x), -np.log(np.pi) - 0.5 * np.log(x) - 0.5 * np.log1p(-x), rtol=1e-13
    )
