"""Quadrature and roots: exact where they must be, whole arrays at once, in every library."""

import numpy as np
import pytest

from tractable.arrays.namespace import to_numpy
from tractable.engines.quadrature import integrate
from tractable.engines.roots import bisect, increasing_root

INTEGRALS = {
    "polynomial": (lambda x: 5 * x**4, [0.0, 2.0], 32.0),
    "corner": (lambda x: np.abs(x - 1.0 / 3.0), [0.0, 1.0], 5.0 / 18.0),
    "jump": (lambda x: np.where(x > 0.7, 1.0, 0.0), [0.0, 1.0], 0.3),
    "root at the end": (lambda x: 1.0 / np.sqrt(x), [0.0, 1.0], 2.0),
    "logarithm": (np.log, [0.0, 1.0], -1.0),
    "narrow": (lambda x: 1e-3 / np.pi / ((x - 0.4) ** 2 + 1e-6), [-1.0, 0.4, 2.0], None),
    "oscillating": (lambda x: np.cos(200 * x), [0.0, 1.0], np.sin(200.0) / 200.0),
    "nothing": (np.zeros_like, [0.0, 1.0], 0.0),
}


@pytest.mark.parametrize("name", INTEGRALS)
def test_integrals(name):
    f, breaks, exact = INTEGRALS[name]
    if exact is None:
        exact = (np.arctan(1.6 / 1e-3) + np.arctan(1.4 / 1e-3)) / np.pi
    found = integrate(f, np.array(breaks))
    # A singular end is cut off where its panels become too narrow.
    slack = 1e-6 if name == "root at the end" else 1e-11
    np.testing.assert_allclose(found.value, exact, atol=slack)
    assert found.converged or name == "root at the end"
    assert abs(float(found.value) - exact) <= found.error + slack


def test_arrays_of_integrals_and_sums_of_ranges():
    def powers(x):
        return x[:, None] ** np.arange(4)

    whole = integrate(powers, np.array([0.0, 1.0, 3.0]))
    np.testing.assert_allclose(whole.value, 3.0 ** np.arange(1, 5) / np.arange(1, 5), rtol=1e-14)
    parts = integrate(powers, np.array([0.0, 2.0])) + integrate(powers, np.array([2.0, 3.0]))
    np.testing.assert_allclose(parts.value, whole.value, rtol=1e-14)
    assert parts.converged


def test_what_cannot_settle_says_so():
    infinite = integrate(lambda x: np.where(x > 0.5, np.inf, 1.0), np.array([0.0, 1.0]))
    assert not infinite.converged
    assert infinite.value == np.inf
    noise = np.random.default_rng(0)
    rough = integrate(lambda x: noise.standard_normal(x.shape), np.array([0.0, 1.0]))
    assert not rough.converged
    assert rough.error > 1e-6 * rough.size


def test_integrals_in_every_library(backend):
    found = integrate(lambda x: x * x, backend.asarray([0.0, 3.0]))
    assert backend.owns(found.value)
    np.testing.assert_allclose(float(found.value), 9.0, rtol=1e-14)


def test_roots_of_many_functions_at_once(backend):
    target = np.array([1e-300, 1e-8, 0.1, 2.0, 40.0, 1e12])
    exact = np.log(target)
    there = backend.asarray(target)

    def excess(x):
        from tractable.arrays.namespace import namespace_of

        value = namespace_of(x).exp(x)
        return value - there, value

    found = increasing_root(excess, backend.asarray(exact - 5.0), backend.asarray(exact + 900.0 / 30))
    assert backend.owns(found)
    np.testing.assert_allclose([float(found[i]) for i in range(len(target))], exact, rtol=1e-14)


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_roots_between_ends_of_unlike_sizes(sign):
    exact = sign * np.array([1e-250, 1e-100, 3.0])
    ends = sign * np.full(3, 1e-300), sign * np.full(3, 1e20)

    def step(x):
        return np.sign(x - exact), np.zeros_like(x)

    np.testing.assert_allclose(increasing_root(step, np.minimum(*ends), np.maximum(*ends)), exact, rtol=1e-14)


def test_flat_stretches_and_kinks_are_halved():
    def steep(x):
        return np.cbrt(x - 0.3), np.full_like(x, 1e-9)  # a slope that is no use

    np.testing.assert_allclose(increasing_root(steep, np.array([-5.0]), np.array([9.0])), 0.3, rtol=1e-14)

    def step(x):
        return np.where(x < 2.0, -1.0, 1.0), np.zeros_like(x)

    np.testing.assert_allclose(increasing_root(step, np.array([-5.0]), np.array([9.0])), 2.0, rtol=1e-14)


def test_rows_of_integrals_are_integrals_of_their_own(rng):
    """Narrow and wide ones at once, each with its own breaks and tolerance, as one at a time."""
    center, width = rng.uniform(-1.0, 1.0, 12), 10.0 ** rng.uniform(-4, 1, 12)
    breaks = np.sort(np.stack([np.full(12, -3.0), center, center, np.full(12, 4.0)]).T, axis=1)
    exact = np.arctan((4.0 - center) / width) + np.arctan((3.0 + center) / width)
    found = integrate(lambda x, i: width[i] / ((x - center[i]) ** 2 + width[i] ** 2), breaks)
    np.testing.assert_allclose(found.value, exact, rtol=1e-12)
    assert found.converged.all()
    for i in range(12):
        one = integrate(lambda x, i=i: width[i] / ((x - center[i]) ** 2 + width[i] ** 2), breaks[i])
        np.testing.assert_allclose([one.value, one.size], [found.value[i], found.size[i]], rtol=1e-13)


def test_a_row_without_an_integral_spoils_no_other():
    def f(x, rows):
        return np.where((rows == 1) & (x > 0.3), np.inf, np.sqrt(x))

    found = integrate(f, np.array([[0.0, 1.0], [0.0, 1.0], [0.0, 4.0]]), rtol=np.array([1e-12, 1e-12, 1e-6]))
    assert found.converged.tolist() == [True, False, True]
    assert found.value[1] == found.error[1] == np.inf
    np.testing.assert_allclose(found.value[[0, 2]], [2.0 / 3.0, 16.0 / 3.0], rtol=1e-6)


def test_bisection_ends_between_neighbours(backend):
    levels = backend.asarray(np.array([2.0, 1e-30, 1e30]))
    low, high = levels * 0.0, levels + 1.0
    found = bisect(lambda x: x * x >= levels, low, high)
    assert backend.owns(found)
    root, wanted = to_numpy(found), to_numpy(levels)
    assert np.all(root * root >= wanted)
    assert np.all(np.nextafter(root, 0.0) ** 2 < wanted)


def test_bisection_of_whole_numbers_ends_where_they_do():
    """Above 2⁵³ there may be no whole number between two others that are far apart."""
    low, high = np.array([0.0, -1.0, 2.0**60]), np.array([100.0, 0.0, 2.0**60 + 256.0])
    found = bisect(lambda k: k >= np.array([41.5, 0.0, 2.0**60 + 256.0]), low, high, whole=True)
    assert found.tolist() == [42.0, 0.0, 2.0**60 + 256.0]
