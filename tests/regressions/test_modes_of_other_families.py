"""The search for modes stepped over valleys, by the whole mixture's size, and lost modes."""

import numpy as np
import pytest

from tractable import (
    Beta,
    Dirichlet,
    Gamma,
    Laplace,
    Mixture,
    MultivariateStudentT,
    Poisson,
    StudentT,
    Uniform,
)


def test_a_hill_beside_a_higher_one():
    trio = StudentT(dof=5.0, location=[0.027, 8.159, 9.351], scale=0.3)
    modes = Mixture(components=trio, weights=[0.115, 0.329, 0.556]).modes()
    np.testing.assert_allclose(modes, [9.349, 8.166, 0.027], atol=1e-3)


def test_a_cusp_beside_a_higher_one():
    pair = Laplace(location=[0.0, 1.0], scale=[1.0, 0.1])
    np.testing.assert_array_equal(Mixture(components=pair, weights=[0.9, 0.1]).modes(), [1.0, 0.0])


def test_poles_at_both_ends():
    modes = Mixture(components=Beta(alpha=[0.5, 5.0], beta=[0.5, 5.0])).modes()
    np.testing.assert_allclose(modes, [0.0, 1.0, 0.5], atol=1e-7)
    modes = Mixture(components=Gamma(shape=[0.5, 50.0], rate=[1.0, 10.0])).modes()
    np.testing.assert_allclose(modes, [0.0, 4.899], atol=2e-3)


def test_plateaus_are_one_mode_each():
    np.testing.assert_array_equal(
        Mixture(components=Uniform(low=[0.0, 5.0], high=[2.0, 6.0])).modes(), [5.5, 1.0]
    )
    assert Mixture(components=Uniform(low=[0.0, 1.0], high=[2.0, 3.0])).modes().shape == (1,)


def test_counts_far_apart():
    np.testing.assert_array_equal(
        Mixture(components=Poisson(rate=[3.5, 30.5, 1e10 + 0.5])).modes()[:2], [3, 30]
    )


def test_tails_without_a_variance():
    far = MultivariateStudentT(dof=1.0, location=[[0.0, 0.0], [3.0, 1.0]], scale=0.1 * np.eye(2))
    modes = Mixture(components=far, weights=[0.6, 0.4]).modes()
    np.testing.assert_allclose(modes, [[0.0, 0.0], [3.0, 1.0]], atol=0.01)


def test_on_the_simplex_two_hills_become_one():
    close = Dirichlet(concentration=[[3.0, 4.0, 5.0], [3.2, 4.0, 5.0], [30.0, 3.0, 3.0]])
    modes = Mixture(components=close).modes()
    assert modes.shape == (2, 3)
    np.testing.assert_allclose(modes.sum(axis=-1), 1.0, rtol=1e-12)


@pytest.mark.slow
def test_hundreds_of_normals(rng):
    """All starts climb at once: one at a time they took seconds."""
    from tractable import Normal

    d = Mixture(components=Normal(mean=20.0 * rng.normal(size=300), stddev=0.1 + 0.5 * rng.random(300)))
    x = np.linspace(-90.0, 90.0, 400_001)
    p = d.log_prob(x)
    summits = x[1:-1][(p[1:-1] > p[:-2]) & (p[1:-1] > p[2:])]
    np.testing.assert_allclose(np.sort(d.modes()), summits, atol=1e-3)
