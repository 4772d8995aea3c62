"""Much of the mass of a density with a pole is nearer to its end than floats can be: it was left out."""

import numpy as np
import pytest

from quick import some
from tractable import Beta, Gamma, Mixture, expectation

POLES = {
    "both": Beta(alpha=0.05, beta=0.05),
    "milder": Beta(alpha=0.2, beta=0.2),
    "left": Beta(alpha=0.1, beta=3.0),
    "right": Beta(alpha=3.0, beta=0.1),
    "all but at the end": Beta(alpha=3.0, beta=0.002),
    "all but at zero": Gamma(shape=0.0005, rate=1.0),
    "half-open": Gamma(shape=0.02, rate=3.0),
}


@pytest.mark.parametrize("name", some(POLES, 3))
def test_moments_and_entropy(name):
    d = POLES[name]
    for f, true in ((np.ones_like, 1.0), (lambda x: x, d.mean), (lambda x: -d.log_prob(x), d.entropy())):
        found = expectation(f, d)
        assert abs(found.value - true) <= found.standard_error + 1e-9 * max(1.0, abs(float(true)))
        assert found.standard_error < 1e-5 * max(1.0, abs(float(true)))


@pytest.mark.slow
def test_entropy_of_a_mixture_of_one_and_the_same():
    d = Mixture(components=Beta(alpha=[0.1, 0.1], beta=0.1))
    np.testing.assert_allclose(d.entropy(), Beta(alpha=0.1, beta=0.1).entropy(), rtol=1e-6)
