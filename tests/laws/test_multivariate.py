"""Joint laws of Student-t vectors; densities of matrices, shares and pairs that add up to one."""

import numpy as np
import pytest

from catalogue import DISTRIBUTIONS, cross
from tractable import (
    Dirichlet,
    InverseWishart,
    MultivariateStudentT,
    NormalGamma,
    NormalWishart,
    Wishart,
)
from tractable.testing.assertions import assert_mean
from tractable.testing.joint_laws import JOINT_LAWS

STUDENTS = [row for row in DISTRIBUTIONS if isinstance(row.make(), MultivariateStudentT)]
PAIR = [[2.0, 0.6], [0.6, 1.0]]


@pytest.mark.spec("DIST-44")
@pytest.mark.parametrize(("law", "make"), cross(JOINT_LAWS, STUDENTS))
def test_joint_law(law, make, rng):
    law(make(), rng)


@pytest.mark.slow
@pytest.mark.spec("DIST-13", "DIST-39", "DIST-48", "DIST-49")
@pytest.mark.parametrize(
    ("p", "q"),
    [
        (Dirichlet(concentration=[4.0, 2.0, 1.5]), Dirichlet(concentration=[1.0, 1.0, 1.0])),
        (Dirichlet(concentration=[0.7, 0.9]), Dirichlet(concentration=[0.5, 0.6])),
        (Wishart(dof=7.0, scale=PAIR), Wishart(dof=4.0, scale=2.0 * np.array(PAIR))),
        (Wishart(dof=6.5, scale=np.eye(3) + 0.2), Wishart(dof=4.0, scale=2.0 * np.eye(3) + 0.3)),
        (InverseWishart(dof=8.0, scale=PAIR), InverseWishart(dof=5.0, scale=np.eye(2))),
        (
            NormalGamma(mean=0.5, strength=2.0, shape=3.0, rate=2.0),
            NormalGamma(mean=0.0, strength=0.8, shape=2.0, rate=1.0),
        ),
        (
            NormalWishart(mean=[0.0, 1.0], strength=2.0, dof=7.0, scale=PAIR),
            NormalWishart(mean=[0.2, 0.8], strength=0.8, dof=5.0, scale=1.5 * np.array(PAIR)),
        ),
    ],
    ids=lambda d: type(d).__name__,
)
def test_densities_off_the_line_integrate_to_one(p, q, rng):
    """E_q[p(x) / q(x)] = ∫ p(x) dx = 1, where no grid can be laid over the support."""
    x = q.sample(100_000, rng=rng)
    assert_mean(np.exp(p.log_prob(x) - q.log_prob(x)), 1.0, "ratio of densities")
    with pytest.raises(AssertionError, match="ratio"):
        assert_mean(1.1 * np.exp(p.log_prob(x) - q.log_prob(x)), 1.0, "ratio of densities")
