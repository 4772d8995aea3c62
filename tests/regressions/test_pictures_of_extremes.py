"""Pictures of extreme distributions: a 15 GiB grid, limits that were not numbers, warnings of overflow."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest

import tractable
from tractable import Beta, Gamma, NegativeBinomial, PoissonModel
from tractable.plotting.curves import MAX_POINTS, curve_points

mpl.use("Agg")

EXTREMES = [
    NegativeBinomial(shape=1e-3, mean=1e6),
    Beta(alpha=0.02, beta=0.02),
    PoissonModel(prior=Gamma(shape=0.001, rate=0.001)),
]


@pytest.mark.parametrize("x", EXTREMES, ids=lambda x: type(x).__name__)
def test_they_are_drawn_within_finite_limits(x):
    ax = tractable.plot(x)
    assert np.all(np.isfinite([ax.get_xlim(), ax.get_ylim()]))
    plt.close(ax.figure)


def test_a_picture_has_few_points():
    points = curve_points(NegativeBinomial(shape=1e-3, mean=1e6))
    assert len(points) <= MAX_POINTS
    np.testing.assert_array_equal(points, np.floor(points))
