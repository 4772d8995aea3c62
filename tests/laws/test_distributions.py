"""Every law of distributions on every distribution; every law of Gaussians on every Gaussian."""

import pytest

from catalogue import DISTRIBUTIONS, cross
from tractable.distributions import MultivariateNormal
from tractable.testing.distribution_laws import DISTRIBUTION_LAWS
from tractable.testing.joint_laws import GAUSSIAN_LAWS

GAUSSIANS = [row for row in DISTRIBUTIONS if isinstance(row.make(), MultivariateNormal)]


@pytest.mark.spec("PROB-16")
@pytest.mark.parametrize(("law", "make"), cross(DISTRIBUTION_LAWS, DISTRIBUTIONS, most=1))
def test_distribution_law(law, make, rng):
    law(make(), rng)


@pytest.mark.spec("DIST-25", "DIST-26", "DIST-27", "DIST-29", "E003-02", "E003-05")
@pytest.mark.parametrize(("law", "make"), cross(GAUSSIAN_LAWS, GAUSSIANS))
def test_gaussian_law(law, make, rng):
    law(make(), rng)
