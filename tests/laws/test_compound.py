"""Every law of joints, mixtures and products on every mixture and product."""

import pytest

from catalogue import cross
from rows.compound import CORNERED, JOINTS, MIXTURES, PRODUCTS
from tractable.testing.joint_laws import JOINT_LAWS, PRODUCT_LAWS
from tractable.testing.mixture_laws import MIXTURE_LAWS


@pytest.mark.parametrize(("law", "make"), cross(JOINT_LAWS, JOINTS))
def test_joint_law(law, make, rng):
    law(make(), rng)


@pytest.mark.spec("GMM-01")
@pytest.mark.parametrize(("law", "make"), cross(MIXTURE_LAWS, MIXTURES + CORNERED, most=1))
def test_mixture_law(law, make, rng):
    law(make(), rng)


@pytest.mark.parametrize(("law", "make"), cross(PRODUCT_LAWS, PRODUCTS))
def test_product_law(law, make, rng):
    law(make(), rng)
