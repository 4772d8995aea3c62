"""Sums of residuals in double-double arithmetic: compiled, in the array API, and in exact fractions."""

from fractions import Fraction

import numpy as np
import pytest

from tractable.arrays import to_numpy
from tractable.arrays.double_double import dd_add, dd_multiply, dd_sum
from tractable.primitives.linear import residual_sums
from tractable.primitives.linear.agnostic import residual_sums as agnostic


def problem(rng, n=23, d=4, t=2):
    """Rows that follow their fit to the last digits, so that every sum is what cancellation leaves."""
    x = rng.standard_normal((n, d)) * [1.0, 1e3, 1e-3, 1.0] + 1e4
    centre = x.mean(axis=0)
    high = rng.standard_normal((t, d))
    coef = high, 1e-17 * rng.standard_normal((t, d))
    offset = rng.standard_normal(t), 1e-17 * rng.standard_normal(t)
    y = offset[0] + (x - centre) @ high.T + 1e-9 * rng.standard_normal((n, t))
    return x, y, rng.integers(0, 3, n) + 0.3, {"centre": centre, "coef": coef, "offset": offset}


#: A rounding of two floats, with room for the sloppier forms of their sum and product.
ROUNDING = 2.0**-102


def exact(x, y, weights, *, centre, coef, offset):
    """Return the sums as fractions, and what rounding may do to each: two arrays of shape (t, d + 2)."""
    rows = fractions(x) - fractions(centre)
    residual = fractions(y) - (fractions(*offset) + rows @ fractions(*coef).T)
    weighted = fractions(weights)[:, None] * residual
    terms = np.concatenate([weighted[None], rows.T[:, :, None] * weighted, (residual * weighted)[None]])
    # Each residual is what is left of terms of the size of y; each sum, of the sum of its terms.
    n, d = x.shape
    away = np.abs(x - centre)
    size = np.abs(y) + np.abs(offset[0]) + away @ np.abs(coef[0]).T  # (n, t)
    carried = (d + 3) * weights[:, None] * size
    parts = [
        carried[None],
        away.T[:, :, None] * carried,
        (2.0 * np.abs(residual.astype(float)) * carried)[None],
    ]
    slack = np.concatenate(parts).sum(axis=1) + n * np.abs(terms.astype(float)).sum(axis=1)
    return terms.sum(axis=1).T, ROUNDING * slack.T


def fractions(high, low=0.0):
    """Return an array of exact numbers."""
    exactly = np.frompyfunc(Fraction, 1, 1)
    return exactly(high) + exactly(np.broadcast_to(low, np.shape(high)))


@pytest.mark.parametrize("twin", [residual_sums, agnostic])
def test_sums_have_twice_the_digits(twin, rng):
    x, y, weights, point = problem(rng)
    high, low = twin(x, y, weights, **point)
    total, slack = exact(x, y, weights, **point)
    assert np.all(np.abs(fractions(high, low) - total) <= slack)
    plain = (y - point["offset"][0] - (x - point["centre"]) @ point["coef"][0].T).T
    assert np.abs(plain @ weights - high[:, 0]).max() > 1e-16  # one float alone does not


def test_twins_agree_in_every_library(backend, rng):
    x, y, weights, point = problem(rng)
    moved = {
        name: tuple(map(backend.asarray, p)) if isinstance(p, tuple) else backend.asarray(p)
        for name, p in point.items()
    }
    found = residual_sums(*map(backend.asarray, (x, y, weights)), **moved)
    assert all(backend.owns(part) for part in found)
    total, slack = exact(x, y, weights, **point)
    assert np.all(np.abs(fractions(*map(to_numpy, found)) - total) <= slack)


def test_any_storage_is_read(rng):
    x, y, weights, point = problem(rng)
    high, _ = residual_sums(x, y, weights, **point)
    np.testing.assert_array_equal(residual_sums(np.asfortranarray(x), y, weights, **point)[0], high)
    np.testing.assert_array_equal(residual_sums(np.repeat(x, 2, axis=0)[::2], y, weights, **point)[0], high)
    nothing = residual_sums(x[:0], y[:0], weights[:0], **point)
    assert all(np.all(part == 0) and part.shape == high.shape for part in nothing)
    assert all(part.shape == high.shape for part in agnostic(x[:0], y[:0], weights[:0], **point))


def test_pairs_add_multiply_and_sum_with_twice_the_digits(rng):
    a, b = ((h := rng.standard_normal(50), 1e-17 * h * rng.uniform(-1, 1, 50)) for _ in range(2))
    tiny = Fraction(2) ** -100
    assert np.all(np.abs(fractions(*dd_add(a, b)) - (fractions(*a) + fractions(*b))) <= 8 * tiny)
    assert np.all(np.abs(fractions(*dd_multiply(a, b)) - fractions(*a) * fractions(*b)) <= 32 * tiny)
    total = fractions(*dd_sum(a))
    assert abs(total - fractions(*a).sum()) <= 100 * tiny
