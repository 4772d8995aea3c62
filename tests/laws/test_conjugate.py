"""Every law of conjugate models on every pair."""

import pytest

from catalogue import CONJUGATE_MODELS, cross
from tractable.testing.conjugate_laws import CONJUGATE_LAWS, check_conjugate_model


@pytest.mark.spec(
    "DIST-05",
    "DIST-06",
    "DIST-08",
    "DIST-14",
    "DIST-15",
    "DIST-16",
    "DIST-33",
    "DIST-35",
    "DIST-37",
    "DIST-40",
    "DIST-41",
    "DIST-42",
    "DIST-50",
    "DIST-51",
    "DIST-53",
    "DIST-55",
    "PROB-23",
    "PROB-27",
)
@pytest.mark.parametrize(("law", "make"), cross(CONJUGATE_LAWS, CONJUGATE_MODELS, most=1))
def test_conjugate_law(law, make, rng):
    law(make(), rng)


def test_the_examination_is_shipped():
    check_conjugate_model(CONJUGATE_MODELS[0].make())
