"""Sums of distribution functions over points on a line, against mpmath: both tails, crowds, far from zero."""

import mpmath
import numpy as np
import pytest

from quick import some
from tractable.primitives.kernel_sums import KINDS
from tractable.primitives.kernel_sums.line import line_sums, tail_sums
from tractable.smoothing import WINDOWS

NAMES = sorted(KINDS)


def below(name, t):
    """F(t) of a window, in the digits of mpmath."""
    t = mpmath.mpf(t)
    if name == "gaussian":
        return mpmath.erfc(-t / mpmath.sqrt(2)) / 2
    if name == "laplace":
        return mpmath.exp(t) / 2 if t < 0 else 1 - mpmath.exp(-t) / 2
    t = max(min(t, mpmath.mpf(1)), mpmath.mpf(-1))
    return {
        "tophat": lambda: (1 + t) / 2,
        "triangular": lambda: (1 + t) ** 2 / 2 if t < 0 else 1 - (1 - t) ** 2 / 2,
        "epanechnikov": lambda: (2 + 3 * t - t**3) / 4,
        "biweight": lambda: (8 + 15 * t - 10 * t**3 + 3 * t**5) / 16,
        "cosine": lambda: (1 + mpmath.sin(mpmath.pi * t / 2)) / 2,
    }[name]()


def oracle(name, q, x, w, h, side):
    with mpmath.workdps(60):
        total = [
            sum(
                mpmath.mpf(b) * below(name, side * (mpmath.mpf(a) - mpmath.mpf(c)) / mpmath.mpf(h))
                for b, c in zip(w, x, strict=True)
            )
            for a in q
        ]
        return np.array([float(t / mpmath.fsum(w)) for t in total])


@pytest.mark.spec("DENS-06")
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("middle", "h"), some([(0.0, 1.0), (0.0, 3e-180), (1e12, 0.4), (1e16, 1.0)], several=True)
)
def test_both_tails_to_ten_digits(name, middle, h, rng):
    x = np.concatenate(
        [4.0 * rng.standard_normal(60), 0.1 * rng.standard_normal(80), np.full(9, 3.0), [45.0]]
    )
    w = rng.gamma(1.0, size=len(x)) * 10.0 ** rng.integers(-6, 3, size=len(x))
    q = np.concatenate(
        [5.0 * rng.standard_normal(12), x[:4], x[80:83] + 1.0, [-40.0, -25.0, -18.0, 52.0, 75.0]]
    )
    x, q = middle + x * h, middle + q * h
    tails = tail_sums(line_sums(x, w, name, h))
    for upper, side in ((False, 1), (True, -1)):
        found, expected = tails.cdf(q, upper=upper), oracle(name, q, x, w, h, side)
        some = expected > 1e-290
        np.testing.assert_allclose(found[some], expected[some], rtol=1e-10)
        assert np.all(found[~some] <= 1e-289)


@pytest.mark.parametrize("name", NAMES)
def test_crowds_are_summed_by_their_moments(name, rng):
    x, q = rng.standard_normal(30_000), np.array([-3.9, -1.0, 0.2, 2.5])
    tails = tail_sums(line_sums(x, np.ones(len(x)), name, 0.3))
    t = (q[:, None] - x) / 0.3
    expected = WINDOWS[name].cdf(t).mean(axis=1)
    np.testing.assert_allclose(tails.cdf(q), expected, rtol=1e-11)
    np.testing.assert_allclose(tails.cdf(q, upper=True), WINDOWS[name].cdf(-t).mean(axis=1), rtol=1e-11)
