"""Every law of joint distributions on every histogram of vectors."""

import pytest

from catalogue import cross
from rows.histogram import VECTORS
from tractable.testing.joint_laws import JOINT_LAWS


@pytest.mark.spec("DENS-01")
@pytest.mark.parametrize(("law", "make"), cross(JOINT_LAWS, VECTORS))
def test_joint_law(law, make, rng):
    law(make(), rng)
