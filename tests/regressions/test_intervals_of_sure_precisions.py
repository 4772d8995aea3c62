"""Far into the tails of a sure belief SciPy's inverse of the incomplete gamma function keeps six digits."""

import numpy as np
import pytest

from tractable.conjugate import NormalPrecisionModel
from tractable.distributions import Gamma, Wishart


@pytest.mark.parametrize("dof", [30.0, 2e6, 2e8, 2e10])
@pytest.mark.parametrize("coverage", [0.9, 1.0 - 2e-10])
def test_a_matrix_has_the_intervals_of_its_numbers(dof, coverage):
    matrix = NormalPrecisionModel(
        prior=Wishart(dof=dof, scale=np.diag([2.0, 0.5]) / dof), known_mean=[0.0, 0.0]
    )
    low, high = matrix.interval(coverage)
    for i, size in enumerate([2.0, 0.5]):
        number = NormalPrecisionModel(prior=Gamma(shape=0.5 * dof, rate=0.5 * dof / size), known_mean=0.0)
        expected = number.interval(coverage)
        np.testing.assert_allclose([low[i, i], high[i, i]], expected, rtol=1e-12)
