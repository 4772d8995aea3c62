"""Densities of vectors, matrices and pairs against mpmath at 40 digits, written out from their formulas."""

import mpmath
import numpy as np
import pytest

from tractable import (
    Dirichlet,
    InverseWishart,
    MultivariateLaplace,
    MultivariateStudentT,
    NormalGamma,
    NormalWishart,
    Wishart,
)

mp = mpmath.mp.clone() if hasattr(mpmath.mp, "clone") else mpmath.mp
mp.dps = 40


def matrix(x):
    return mp.matrix(np.asarray(x).tolist())


def vector(x):
    return [mp.mpf(float(v)) for v in np.asarray(x)]


def quadratic(z, a):
    """zᵀ A z."""
    return sum(z[i] * a[i, j] * z[j] for i in range(len(z)) for j in range(len(z)))


def trace(a):
    return sum(a[i, i] for i in range(a.rows))


def log_multigamma(a, d):
    return mp.mpf(d * (d - 1)) / 4 * mp.log(mp.pi) + sum(mp.loggamma(a - mp.mpf(i) / 2) for i in range(d))


def dirichlet(d, x):
    a, x = vector(d.concentration), vector(x)
    log_norm = mp.loggamma(sum(a)) - sum(mp.loggamma(v) for v in a)
    return log_norm + sum((v - 1) * mp.log(u) for v, u in zip(a, x, strict=True))


def wishart_density(nu, scale, precision):
    d = scale.rows
    return (
        (nu - d - 1) / 2 * mp.log(mp.det(precision))
        - trace(mp.inverse(scale) * precision) / 2
        - nu * d / 2 * mp.log(2)
        - nu / 2 * mp.log(mp.det(scale))
        - log_multigamma(nu / 2, d)
    )


def wishart(d, x):
    return wishart_density(mp.mpf(float(d.dof)), matrix(d.scale), matrix(x))


def inverse_wishart(d, x):
    nu, psi, x = mp.mpf(float(d.dof)), matrix(d.scale), matrix(x)
    dim = psi.rows
    return (
        nu / 2 * mp.log(mp.det(psi))
        - (nu + dim + 1) / 2 * mp.log(mp.det(x))
        - trace(psi * mp.inverse(x)) / 2
        - nu * dim / 2 * mp.log(2)
        - log_multigamma(nu / 2, dim)
    )


def student_t(d, x):
    nu, scale = mp.mpf(float(d.dof)), matrix(d.scale)
    z = [a - b for a, b in zip(vector(x), vector(d.location), strict=True)]
    dim = scale.rows
    log_norm = mp.loggamma((nu + dim) / 2) - mp.loggamma(nu / 2) - mp.mpf(dim) / 2 * mp.log(nu * mp.pi)
    distance = quadratic(z, mp.inverse(scale))
    return log_norm - mp.log(mp.det(scale)) / 2 - (nu + dim) / 2 * mp.log(1 + distance / nu)


def laplace(d, x):
    z, b = [u - v for u, v in zip(vector(x), vector(d.location), strict=True)], mp.mpf(float(d.scale))
    dim = len(z)
    if d.norm == "l1":
        return -dim * mp.log(2 * b) - sum(abs(v) for v in z) / b
    volume = 2 * mp.pi ** (mp.mpf(dim) / 2) * mp.gamma(dim) / mp.gamma(mp.mpf(dim) / 2) * b**dim
    return -mp.log(volume) - mp.sqrt(sum(v * v for v in z)) / b


def normal_gamma(d, x):
    m, b, shape, rate = (mp.mpf(float(v)) for v in (d.location, d.strength, d.shape, d.rate))
    mu, precision = (mp.mpf(float(v)) for v in x)
    normal = mp.log(b * precision / (2 * mp.pi)) / 2 - b * precision * (mu - m) ** 2 / 2
    gamma = shape * mp.log(rate) - mp.loggamma(shape) + (shape - 1) * mp.log(precision) - rate * precision
    return normal + gamma


def normal_wishart(d, x):
    b, nu = mp.mpf(float(d.strength)), mp.mpf(float(d.dof))
    z = [u - v for u, v in zip(vector(x[0]), vector(d.location), strict=True)]
    precision, dim = matrix(x[1]), len(z)
    normal = (
        mp.mpf(dim) / 2 * mp.log(b / (2 * mp.pi))
        + mp.log(mp.det(precision)) / 2
        - b * quadratic(z, precision) / 2
    )
    return normal + wishart_density(nu, matrix(d.scale), precision)


TWO = np.array([[2.0, 0.6], [0.6, 1.0]])
THREE = np.array([[4.0, 1.2, 0.0], [1.2, 1.0, -0.3], [0.0, -0.3, 0.5]])
# Shares that add up to one exactly, or the density would depend on how they do not.
SHARES = [
    [0.25, 0.5, 0.25],
    [0.125, 0.375, 0.5],
    [2.0**-40, 2.0**-3, 1.0 - 2.0**-3 - 2.0**-40],
    [1e-300, 0.5, 0.5],
    [0.3330078125, 0.3330078125, 0.333984375],
]
STRENGTHS = ([1.0, 1.0, 1.0], [0.3, 2.0, 5.5], [1e-3, 1.0, 40.0], [1e3, 1.5e3, 1e3], [1e8, 1.001e8, 1e8])
FEW, MANY = np.array([[3.0, 1.0], [1.0, 5.0]]), np.array([[1e-9, 0.0], [0.0, 1e9]])
MEAN_PRECISIONS = [(1.0, 2.0), (0.5, 1e-3), (3.0, 9.0)]
FAR = [[0.5, -1.0], [30.0, 4.0], [-1e5, 1e5], [1e150, 0.0]]

CASES = [
    *((Dirichlet(concentration=a), dirichlet, SHARES) for a in STRENGTHS),
    *((Wishart(dof=nu, scale=TWO), wishart, [FEW, 1e-3 * FEW, 40.0 * FEW, MANY]) for nu in (1.2, 3.0, 9.5)),
    *((Wishart(dof=nu, scale=TWO / nu), wishart, [TWO, 1.01 * TWO, 0.9 * TWO]) for nu in (1e3, 1e6)),
    (Wishart(dof=4.5, scale=THREE), wishart, [THREE, np.eye(3), 100.0 * THREE + 1.0]),
    (Wishart(dof=0.5, scale=[[2.0]]), wishart, [[[1e-200]], [[1.0]], [[300.0]]]),
    *(
        (InverseWishart(dof=nu, scale=TWO), inverse_wishart, [FEW, 1e-2 * FEW, 40.0 * FEW, MANY])
        for nu in (1.2, 3.0, 9.5)
    ),
    (InverseWishart(dof=1e5, scale=1e5 * TWO), inverse_wishart, [TWO, 1.01 * TWO, 0.99 * TWO]),
    (InverseWishart(dof=4.5, scale=THREE), inverse_wishart, [THREE, np.eye(3), 100.0 * THREE + 1.0]),
    *(
        (MultivariateStudentT(dof=nu, location=[1.0, -2.0], scale=TWO), student_t, FAR)
        for nu in (0.1, 1.0, 4.0, 1e3, 1e8)
    ),
    (MultivariateStudentT(dof=3.0, location=[1e6], scale=[[1e-6]]), student_t, [[1e6], [1e6 + 1.0], [0.0]]),
    *(
        (MultivariateLaplace(location=np.arange(1.0, d + 1), scale=0.7, norm=norm), laplace, points)
        for norm in ("l1", "l2")
        for d, points in ((1, [[0.0], [1e5]]), (2, FAR), (7, [np.zeros(7), 1e200 * np.ones(7)]))
    ),
    *(
        (
            NormalGamma(mean=1.0, strength=b, shape=a, rate=a / 2),
            normal_gamma,
            [(1.0, 2.0), (0.5, 1e-3), (3.0, 9.0)],
        )
        for b, a in ((0.1, 0.3), (2.0, 3.0), (1e3, 1e3))
    ),
    (
        NormalGamma(mean=1.0, strength=1e6, shape=1e6, rate=5e5),
        normal_gamma,
        [(1.0, 2.0), (1.0009765625, 2.001953125)],
    ),
    *(
        (
            NormalWishart(mean=[1.0, -1.0], strength=2.0, dof=nu, scale=TWO / nu),
            normal_wishart,
            [([1.0, -1.0], TWO), ([0.0, 0.5], 1.25 * TWO), ([8.0, 0.0], FEW)],
        )
        for nu in (1.2, 5.0, 300.0)
    ),
]


@pytest.mark.spec("DIST-13", "DIST-39", "DIST-44", "DIST-46", "DIST-48", "DIST-49", "E000-14")
@pytest.mark.parametrize(("d", "density", "points"), CASES, ids=lambda x: getattr(type(x), "__name__", ""))
def test_log_prob_to_the_last_digits(d, density, points):
    for x in points:
        expected = density(d, x)
        error = abs(mp.mpf(float(d.log_prob(x))) - expected)
        assert error <= 1e-12 * max(1, abs(expected)), f"{d} at {x}: off by {mp.nstr(error, 3)}"


def test_entropy_and_divergence_of_matrices_to_the_last_digits():
    """-E log p in closed form, with ψ_d(ν/2) = Σ ψ((ν - i)/2)."""
    p, q = Wishart(dof=4.5, scale=THREE), Wishart(dof=6.0, scale=np.eye(3))
    nu, scale = mp.mpf(4.5), matrix(THREE)
    mean_log = sum(mp.digamma((nu - i) / 2) for i in range(3)) + 3 * mp.log(2) + mp.log(mp.det(scale))
    log_norm = nu * 3 / 2 * mp.log(2) + nu / 2 * mp.log(mp.det(scale)) + log_multigamma(nu / 2, 3)
    entropy = log_norm - (nu - 4) / 2 * mean_log + nu * 3 / 2
    assert abs(mp.mpf(float(p.entropy())) - entropy) < 1e-13 * abs(entropy)
    other = mp.mpf(6) * 3 / 2 * mp.log(2) + log_multigamma(mp.mpf(3), 3)
    cross = other - mp.mpf(2) / 2 * mean_log + nu * trace(scale) / 2
    assert abs(mp.mpf(float(p.kl_divergence(q))) - (cross - entropy)) < 1e-13 * abs(cross)


def test_divergence_of_student_t_is_the_integral():
    p = MultivariateStudentT(dof=3.0, location=[0.5], scale=[[2.0]])
    q = MultivariateStudentT(dof=7.0, location=[-1.0], scale=[[0.5]])

    def integrand(t):
        a, b = (student_t(d, [float(t)]) for d in (p, q))
        return mp.exp(a) * (a - b)

    with mp.workdps(20):
        expected = mp.quad(integrand, [-mp.inf, -20, -5, 0, 1, 5, 20, mp.inf])
    assert abs(float(p.kl_divergence(q)) - float(expected)) < 1e-10


def test_divergence_of_laplace_vectors_is_the_integral():
    """In three dimensions the mean distance between a point and a sphere is far + near²/3far."""
    p = MultivariateLaplace(location=[0.0, 0.0, 0.0], scale=0.7)
    q = MultivariateLaplace(location=[1.0, -1.0, 0.5], scale=1.1)
    delta, b = mp.mpf(1.5), mp.mpf(0.7)

    def shell(r):
        far, near = max(r, delta), min(r, delta)
        return (far + near**2 / (3 * far)) * r**2 * mp.exp(-r / b) / (2 * b**3)

    distance = mp.quad(shell, [0, delta, mp.inf])
    expected = distance / mp.mpf(1.1) + 3 * mp.log(mp.mpf(1.1) / b) - 3
    assert abs(float(p.kl_divergence(q)) - float(expected)) < 1e-12
