"""Every law of covariance structures on every structure."""

import pytest

from catalogue import COVARIANCES, cross
from tractable.testing.covariance_laws import COVARIANCE_LAWS


@pytest.mark.parametrize(("law", "make"), cross(COVARIANCE_LAWS, COVARIANCES))
def test_covariance_law(law, make, rng):
    law(make(), rng)
