"""The products of few, long rows: centred and multiplied in one pass, or as they are, and reflected."""

import numpy as np
import pytest

from tractable.engines.long_rows import HELD_ENTRIES, ReferredRows, centred_products, read_rows
from tractable.engines.spectrum import reflected, reflected_products
from tractable.value import replace


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("centred", [False, True])
def test_one_pass_centres_rows_and_multiplies_them(rng, weighted, centred):
    x = rng.standard_normal((7, 5000)) + 1e6
    weights = rng.uniform(0.5, 3.0, 7) if weighted else None
    mean, rows, products = centred_products(x, weights, centred=centred)
    expected = np.average(x, axis=0, weights=weights) if centred else np.zeros(5000)
    np.testing.assert_allclose(mean, expected, rtol=1e-15)
    plain = (x - expected) * (1.0 if weights is None else np.sqrt(weights)[:, None])
    np.testing.assert_allclose(rows, plain, atol=1e-9 * np.abs(plain).max())
    np.testing.assert_allclose(products, rows @ rows.T, rtol=1e-12, atol=1e-12 * np.trace(products))


@pytest.fixture
def many(rng):
    """More entries than are copied: blocks of columns about zero, about one, far away, and of all kinds."""
    x = rng.standard_normal((64, 20_000))
    assert x.size > HELD_ENTRIES
    shift = np.repeat([0.0, 1.0, -1e6, 0.0], 5000)
    shift[15_000::2] = 10.0 ** rng.uniform(-3, 6, 2500)
    x *= np.where(shift == 0.0, 1.0, 10.0 ** rng.uniform(-3, 0, 20_000))
    x += shift
    x[:, ::1000] = 0.1  # constant: sums of it round
    return x


def test_many_rows_are_multiplied_and_summed_uncopied(rng, many):
    mean, rows, products = read_rows(many, None)
    assert isinstance(rows, ReferredRows)
    assert rows.x is many
    assert 0.1 < rows.far.mean() < 0.9
    exact = many.astype(np.longdouble)
    exact -= exact.mean(axis=0)
    exact[:, ::1000] = 0.0
    np.testing.assert_array_equal(mean[::1000], 0.1)
    np.testing.assert_allclose(rows.centred, exact.astype(float), atol=1e-9)
    squares = np.sum(exact**2, axis=1).astype(float)
    expected = (exact[:, :10_000] @ exact[:, :10_000].T + exact[:, 10_000:] @ exact[:, 10_000:].T).astype(
        float
    )
    np.testing.assert_allclose(products, expected, atol=1e-14 * squares.max())
    np.testing.assert_array_equal(products, products.T)
    np.testing.assert_allclose(rows.squares, squares, rtol=1e-13)

    weights = rng.standard_normal((2, 64))
    sums, spread = rows.column_sums(weights), np.sqrt(np.mean(exact**2, axis=0)).astype(float)
    copied = weights @ centred_products(many, None)[1]
    error, usual = (np.abs(found - (weights @ exact).astype(float)) for found in (sums, copied))
    assert np.all(error <= usual + 1e-13 * spread)  # of every column by itself, whatever the others are
    np.testing.assert_array_equal(sums[:, ::1000], 0.0)


def test_the_digits_of_far_columns_need_their_means_subtracted_first(rng, many):
    """A planted defect: columns far from zero are summed as they are."""
    _, rows, _ = read_rows(many, None)
    weights = rng.standard_normal((2, 64))
    careless = replace(rows, far=np.zeros_like(rows.far)).column_sums(weights)
    assert np.abs(careless - weights @ rows.centred).max() > 1e-10
    assert np.abs(careless[:, ::1000]).max() > 0.0


@pytest.mark.parametrize(
    "change",
    [
        lambda x: x.__setitem__((3, 700), x[3, 700] + 1e-3),
        lambda x: x.__setitem__((slice(None), [1, 2]), x[:, [2, 1]]),
        lambda x: x.__setitem__(([1, 2], slice(None)), x[[2, 1]]),
        lambda x: x.__imul__(-1.0),
        lambda x: x.__iadd__(1e-6),
        lambda x: x.__setitem__((0, 0), np.nan),
        lambda x: x.fill(0.0),
    ],
    ids=["entry", "columns", "rows", "sign", "shift", "missing", "emptied"],
)
def test_rows_that_were_changed_are_noticed(rng, change):
    x = rng.standard_normal((64, 20_000))
    x -= x.mean(axis=0)
    _, rows, _ = read_rows(x, None)
    weights = rng.standard_normal((1, 64))
    sums, before = rows.column_sums(weights), x.copy()
    np.testing.assert_array_equal(rows.unchanged(weights, sums), rows.centred)
    change(x)
    assert rows.unchanged(weights, sums) is None
    x[:] = before
    assert rows.unchanged(weights, sums) is not None


def test_a_change_that_weighted_sums_do_not_show_is_noticed(rng):
    """Along weights that are orthogonal to those of the sums and to ones, no sum is another."""
    x, weights = rng.standard_normal((64, 20_000)), rng.standard_normal((1, 64))
    _, rows, _ = read_rows(x, None)
    sums = rows.column_sums(weights)
    hidden = np.linalg.qr(np.vstack([np.ones(64), weights]).T, mode="complete")[0][:, -1]
    x += np.outer(hidden, rng.standard_normal(20_000))
    np.testing.assert_allclose(rows.column_sums(weights), sums, atol=1e-10)
    assert rows.unchanged(weights, sums) is None


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_reflected_products_are_those_of_reflected_rows(rng, sign):
    rows, free = rng.standard_normal((6, 9)), rng.standard_normal(6)
    free *= sign * np.sign(free[0]) / np.linalg.norm(free)
    both = reflected(rows, free) @ reflected(rows, free).T
    np.testing.assert_allclose(reflected_products(rows @ rows.T, free), both, atol=1e-13 * np.trace(both))
