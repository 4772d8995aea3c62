"""Beyond eight standard deviations a Normal's survival was 0: it was taken as 1 - cdf."""

import numpy as np

from tractable import Mixture, Normal


def test_the_upper_tail_has_the_digits_of_the_lower():
    x = np.array([1.0, 9.0, 30.0])
    np.testing.assert_allclose(Normal(mean=0.0, variance=1.0).survival(9.0), 1.1285884059538408e-19)
    np.testing.assert_array_equal(
        Normal(mean=0.0, variance=1.0).survival(x), Normal(mean=0.0, variance=1.0).cdf(-x)
    )


def test_a_mixture_of_normals_inherits_them():
    d = Mixture(weights=[0.5, 0.5], components=Normal(mean=[0.0, -1.0], variance=1.0))
    np.testing.assert_allclose(d.survival(9.0), 0.5 * 1.1285884059538408e-19, rtol=1e-3)
