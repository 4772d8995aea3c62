"""Intervals of the multivariate normal are those of its coordinates."""

import numpy as np
import pytest

from tractable import MultivariateNormal, Normal


def test_intervals_are_those_of_each_coordinate(rng):
    d = MultivariateNormal(mean=rng.standard_normal((2, 3)), covariance=np.diag([1.0, 4.0, 9.0]) + 0.5)
    low, high = d.interval(0.8)
    for j in range(3):
        alone = Normal(mean=d.mean[:, j], variance=d.variance[:, j])
        np.testing.assert_allclose(
            np.stack([low[:, j], high[:, j]]), np.stack(alone.interval(0.8)), rtol=1e-12
        )
    with pytest.raises(ValueError, match="coverage"):
        d.interval(1.5)
