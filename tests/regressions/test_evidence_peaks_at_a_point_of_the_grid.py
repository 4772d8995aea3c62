"""The slope of the evidence may be zero at a point of the grid, where its sign is that of rounding."""

from types import SimpleNamespace

import pytest

from tractable.linear_model.bayes.evidence import _peak


@pytest.mark.parametrize(("zero", "found"), [(1.3, 1.3), (2.0, 2.0), (2.0 + 1e-15, 2.0), (1.0 - 1e-15, 1.0)])
def test_the_peak_is_there(zero, found):
    profile = SimpleNamespace(slope_at=lambda t: zero - t)
    assert _peak(profile, 1.0, 2.0) == pytest.approx(found, abs=1e-12)
