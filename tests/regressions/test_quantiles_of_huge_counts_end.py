"""Bisection for the quantile of a count above 2⁵³ never closed its bracket: it hung."""

import numpy as np

from tractable import Poisson


def test_the_median_of_a_huge_rate_is_near_the_rate():
    np.testing.assert_allclose(Poisson(rate=1e18).icdf(0.5), 1e18, rtol=1e-8)
