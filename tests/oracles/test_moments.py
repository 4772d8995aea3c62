"""Moments of a block: compiled, on a few rows at a time, against the two-pass formula and exact sums."""

from fractions import Fraction

import numpy as np
import pytest

from tractable.primitives.linear import agnostic, diagonal_moments, moments

N_ENTRIES = 2**18


def table(rng, d, far=0.0):
    n = N_ENTRIES // d + 3
    return far + rng.standard_normal((n, d)) * rng.uniform(0.1, 10.0, d)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("d", [1, 3, 16, 128])
def test_the_compiled_form_is_the_formula(rng, d, weighted):
    x = table(rng, d)
    w = rng.integers(0, 3, len(x)).astype(float) if weighted else None
    for found, wanted in zip(moments(x, w)[:3], agnostic.moments(x, w)[:3], strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-10)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("d", [1, 16, 300])
def test_those_of_each_column_are_the_diagonal(rng, d, weighted):
    x = table(rng, d)
    w = rng.integers(0, 3, len(x)).astype(float) if weighted else None
    weight, mean, scatter, _ = agnostic.moments(x, w)
    for of in (diagonal_moments, agnostic.diagonal_moments):
        found = of(x, w)
        np.testing.assert_allclose(found[0], weight)
        np.testing.assert_allclose(found[1], mean, rtol=1e-11, atol=1e-10)
        np.testing.assert_allclose(found[2], np.diagonal(scatter), rtol=1e-11)


def test_a_missing_entry_shows_in_the_mean_of_its_column(rng):
    x = table(rng, 3)
    x[4000, 1] = np.nan
    assert np.isnan(diagonal_moments(x)[1]).tolist() == [False, True, False]


@pytest.mark.parametrize("of", [moments, diagonal_moments])
def test_far_from_the_origin_no_digits_are_lost(rng, of):
    x = np.round(table(rng, 2) * 2.0**20) / 2.0**20
    near, far = of(x), of(x + 2.0**23)  # x + 2²³ is exact
    np.testing.assert_allclose(far[2], near[2], rtol=1e-13)


def test_the_scatter_of_numbers_that_are_not_rounded(rng):
    x = rng.integers(-1000, 1000, (N_ENTRIES, 1)).astype(float)
    whole = [int(v) for v in x[:, 0]]
    scatter = sum(v * v for v in whole) - Fraction(sum(whole)) ** 2 / len(whole)
    np.testing.assert_allclose(moments(x)[2], [[float(scatter)]], rtol=1e-14)


@pytest.mark.parametrize("order", ["F", "strided", "read-only"])
def test_any_memory_order(rng, order):
    x = table(rng, 4)
    given = (
        np.asfortranarray(x) if order == "F" else np.repeat(x, 2, axis=1)[:, ::2] if order == "strided" else x
    )
    given.flags.writeable = False
    for found, wanted in zip(moments(given)[:3], moments(x)[:3], strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-13)


def test_rows_of_no_weight_count_for_nothing(rng):
    x = table(rng, 4)
    w = np.ones(len(x))
    w[:20_000] = 0.0
    for found, wanted in zip(moments(x, w)[:3], agnostic.moments(x[20_000:])[:3], strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-11)
    assert moments(x, 0.0 * w)[0] == 0.0
    x[:20_000] = 1e150  # whatever they hold
    for found, wanted in zip(moments(x, w)[:3], agnostic.moments(x[20_000:])[:3], strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-11)


ORDERS = {
    "as drawn": lambda x: x,
    "sorted": lambda x: np.sort(x, axis=0),
    "sorted, with a long tail": lambda x: np.sort(np.exp(2.0 * x), axis=0),
    "first rows unlike the others": lambda x: np.where(np.arange(len(x))[:, None] < 2000, x - 1e4, x),
    "time stamps": lambda x: np.arange(len(x))[:, None] + 1.7e9 + np.round(x, 2),
}


@pytest.mark.parametrize("ordered", ORDERS.values(), ids=ORDERS.keys())
def test_the_order_of_the_rows_costs_no_digits(rng, ordered):
    # Sums are about the mean of the first rows, and again about that of all where these differ.
    x = ordered(rng.standard_normal((2**16, 5)))
    weights = rng.integers(0, 3, len(x)).astype(float)
    weight, mean, scatter, _ = moments(x, weights)
    exact, w = x.astype(np.longdouble), weights.astype(np.longdouble)
    center = w @ exact / w.sum()
    expected = (w * (exact - center).T) @ (exact - center)
    spread = np.sqrt(expected.diagonal() / w.sum()).astype(float)
    assert weight == weights.sum()
    np.testing.assert_allclose(mean, center.astype(float), rtol=4e-16, atol=1e-14 * spread.max())
    np.testing.assert_allclose(
        scatter, expected.astype(float), rtol=0.0, atol=1e-14 * float(expected.diagonal().max())
    )


def test_a_constant_column_has_no_scatter(rng):
    n = 2**16
    x = np.column_stack([np.full(n, 0.1), rng.standard_normal(n), np.full(n, 1e100), np.full(n, 1.7e18)])
    _, mean, scatter, _ = moments(x)
    np.testing.assert_array_equal(mean[[0, 2, 3]], x[0, [0, 2, 3]])
    assert not scatter[[0, 2, 3]].any()


def test_first_rows_of_hardly_any_weight_cost_no_digits(rng):
    x, weights = rng.standard_normal((2**16, 4)), np.ones(2**16)
    x[:3000] += 1e8
    weights[:3000] = 1e-30
    for found, wanted in zip(moments(x, weights)[:3], agnostic.moments(x[3000:])[:3], strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-12, atol=1e-10)
