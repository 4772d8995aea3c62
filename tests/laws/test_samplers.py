"""Every law of samplers on every sampler."""

import pytest

from catalogue import SAMPLERS, cross
from tractable.testing.sampler_laws import SAMPLER_LAWS


@pytest.mark.spec("SAMP-11", "SAMP-17")
@pytest.mark.parametrize(("law", "make"), cross(SAMPLER_LAWS, SAMPLERS, most=1))
def test_sampler_law(law, make, rng):
    law(make(), rng)
