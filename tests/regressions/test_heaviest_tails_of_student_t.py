"""Divergences of Student-t densities of few degrees of freedom overflowed, or lost part of the integral."""

import mpmath
import numpy as np
import pytest

from quick import some
from tractable import MultivariateStudentT, StudentT


def radial_divergence(p, q, dim, variance):
    """KL of two spherical densities about one centre, over log r: the second has another dof and scale."""

    def log_density(r, dof, variance):
        norm = mpmath.loggamma((dof + dim) / 2) - mpmath.loggamma(dof / 2)
        norm -= dim * mpmath.log(dof * mpmath.pi * variance) / 2
        return norm - (dof + dim) / 2 * mpmath.log1p(r * r / (variance * dof))

    def integrand(y):
        r = mpmath.exp(y)
        mine = log_density(r, p, mpmath.mpf(1))
        return area * r**dim * mpmath.exp(mine) * (mine - log_density(r, q, variance))

    p, q, variance, half = mpmath.mpf(p), mpmath.mpf(q), mpmath.mpf(variance), mpmath.mpf(dim) / 2
    area = 2 * mpmath.pi**half / mpmath.gamma(half)
    return mpmath.quad(integrand, [*range(-40, 0, 5), *np.linspace(0.0, 45.0 / float(p), 20)])


@pytest.mark.parametrize("dim", some([1, 3]))
@pytest.mark.parametrize(
    ("p", "q", "variance"), some([(0.1, 0.3, 2.0), (0.3, 0.1, 0.01), (0.02, 1.0, 1.0)], several=True)
)
def test_the_divergence_is_that_of_quadrature(p, q, variance, dim):
    one = MultivariateStudentT(dof=p, location=np.zeros(dim), scale=np.eye(dim))
    other = MultivariateStudentT(dof=q, location=np.zeros(dim), scale=variance * np.eye(dim))
    expected = float(radial_divergence(p, q, dim, variance))
    np.testing.assert_allclose(one.kl_divergence(other), expected, rtol=1e-10)
    if dim == 1:
        numbers = (StudentT(dof=nu, location=0.0, scale=s) for nu, s in ((p, 1.0), (q, variance**0.5)))
        np.testing.assert_allclose(next(numbers).kl_divergence(next(numbers)), expected, rtol=1e-10)


@pytest.mark.parametrize("dof", [1e-3, 0.1, 2.0, 1e8])
@pytest.mark.parametrize("away", [0.0, 1e-3, 1e4, 1e150])
def test_vectors_of_one_entry_are_numbers(dof, away):
    p, q = StudentT(dof=dof, location=away, scale=1.0), StudentT(dof=0.2, location=0.0, scale=3.0)
    vectors = [
        MultivariateStudentT(dof=d.dof, location=d.location[None], scale=d.scale[None, None] ** 2)
        for d in (p, q)
    ]
    np.testing.assert_allclose(vectors[0].kl_divergence(vectors[1]), p.kl_divergence(q), rtol=1e-10)
