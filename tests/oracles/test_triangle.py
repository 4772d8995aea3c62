"""Triangular factors: panel by panel, merged and in the array API, against one QR of all rows."""

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from tractable.arrays import to_numpy
from tractable.base import Rows
from tractable.linear_model.rows import varying_columns
from tractable.primitives.linear import (
    centred_rows,
    centred_triangle,
    joint_moments,
    merged_triangle,
    moments,
    reflect,
    safe_factor,
    triangle,
)
from tractable.primitives.linear.agnostic import centred_triangle as agnostic_centred
from tractable.primitives.linear.agnostic import moments as agnostic_moments
from tractable.primitives.linear.agnostic import triangle as agnostic
from tractable.statistics import LinearFactor

SHAPES = [(0, 3), (1, 3), (3, 3), (50, 4), (2501, 5), (40, 60), (700, 230), (5, 0)]


def assert_factors(factor, rows):
    """R is triangular, its diagonal not negative, and RᵀR the Gram matrix of the rows."""
    d = rows.shape[1]
    assert factor.shape == (d, d)
    np.testing.assert_array_equal(np.tril(factor, -1), 0.0)
    assert np.all(np.diagonal(factor) >= 0)
    gram = rows.T @ rows
    np.testing.assert_allclose(factor.T @ factor, gram, atol=1e-12 * max(1.0, np.abs(gram).max(initial=0.0)))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("twin", [triangle, agnostic])
def test_a_triangle_has_the_gram_matrix_of_its_rows(twin, shape, rng):
    rows = rng.standard_normal(shape)
    before = rows.copy()
    assert_factors(twin(rows), rows)
    np.testing.assert_array_equal(rows, before)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shape", [s for s in SHAPES if s[1]])
@pytest.mark.parametrize("twin", [centred_triangle, agnostic_centred])
def test_rows_are_centred_and_weighted_on_the_way(twin, shape, weighted, rng):
    x, y = rng.standard_normal(shape) + 3.0, rng.standard_normal((shape[0], 2))
    w = rng.integers(0, 3, shape[0]).astype(float) if weighted else None
    weight, mean, factor, _ = twin(x, y, w)
    rows, one = np.column_stack([x, y]), np.ones(shape[0]) if w is None else w
    wanted = one @ rows / max(one.sum(), 1.0)
    assert weight == one.sum()
    np.testing.assert_allclose(mean, wanted, rtol=1e-12, atol=1e-12)
    assert_factors(factor, (rows - wanted) * np.sqrt(one)[:, None])


def test_far_from_the_origin_no_digits_are_lost(rng):
    x = np.round(rng.standard_normal((5000, 3)) * 2.0**20) / 2.0**20
    near, far = (centred_triangle(rows, rows[:, :0]) for rows in (x, x + 2.0**23))  # x + 2²³ is exact
    np.testing.assert_allclose(far[1] - 2.0**23, near[1], atol=1e-9)
    np.testing.assert_allclose(far[2], near[2], rtol=1e-11, atol=1e-11)


FORMS = [centred_triangle, agnostic_centred, centred_rows, joint_moments, agnostic_moments]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("shape", [(40, 3), (9000, 3), (3000, 70)])
def test_a_mean_and_its_rest_have_the_digits_of_rows_less_a_row(form, shape, rng):
    x = np.round(rng.standard_normal(shape) * 2.0**20) / 2.0**20
    far = x + 2.0**31  # exactly
    given = (far,) if form is agnostic_moments else (far, far[:, :1])
    _, mean, _, rest = form(*given)
    exact = np.column_stack([x, x[:, :1]])[:, : len(mean)].mean(axis=0)
    np.testing.assert_allclose((mean - 2.0**31) + rest, exact, atol=1e-14)
    np.testing.assert_array_equal(mean + rest, mean)


@pytest.mark.parametrize("d", [1, 4, 230])
def test_merged_factors_are_the_factor_of_all_rows(d, rng):
    a, b, rows = (
        rng.standard_normal((2 * d, d)),
        rng.standard_normal((d // 2 + 1, d)),
        rng.standard_normal((2, d)),
    )
    first, second = triangle(a), triangle(b)
    kept = first.copy(), second.copy()
    assert_factors(merged_triangle(first, second, rows), np.concatenate([a, b, rows]))
    np.testing.assert_array_equal(first, kept[0])
    np.testing.assert_array_equal(second, kept[1])


def test_every_library_has_its_own(backend, rng):
    x, y = rng.standard_normal((30, 3)), rng.standard_normal((30, 1))
    rows, weights = np.column_stack([x, y]), rng.random(30)
    found = triangle(backend.asarray(rows))
    assert backend.owns(found)
    np.testing.assert_allclose(to_numpy(found), triangle(rows), atol=1e-12)
    given = tuple(map(backend.asarray, (x, y, weights)))
    for mine, theirs in zip(centred_triangle(x, y, weights), centred_triangle(*given), strict=True):
        assert backend.owns(theirs)
        np.testing.assert_allclose(to_numpy(theirs), mine, atol=1e-12)
    merged = merged_triangle(found, found, backend.asarray(rows[:1]))
    assert backend.owns(merged)
    np.testing.assert_allclose(to_numpy(merged), triangle(np.concatenate([rows, rows, rows[:1]])), atol=1e-12)


def test_tiny_and_huge_columns_keep_their_digits(rng):
    rows = rng.standard_normal((2000, 3)) * [1e-150, 1.0, 1e150]
    plain = triangle(rows / [1e-150, 1.0, 1e150])
    np.testing.assert_allclose(triangle(rows) / [1e-150, 1.0, 1e150], plain, rtol=1e-10)


@pytest.mark.parametrize("exponent", [-1000, -600, 500])
def test_columns_of_any_size_keep_their_digits(exponent, rng):
    rows, scale = rng.standard_normal((3000, 4)), 2.0 ** np.array([0, exponent, 0, exponent])
    np.testing.assert_allclose(triangle(rows * scale), triangle(rows) * scale, rtol=1e-12, atol=0.0)


@pytest.mark.parametrize("d", [1, 4, 230])
def test_a_factor_is_updated_by_a_few_rows(d, rng):
    first, rows = rng.standard_normal((2 * d, d)), rng.standard_normal((2, d))
    found = merged_triangle(triangle(first), np.empty((0, d)), rows)
    assert_factors(found, np.concatenate([first, rows]))


@pytest.mark.parametrize("n", [3, 400])
def test_the_factor_about_the_origin_is_that_of_the_rows_themselves(n, rng):
    """Of a triangle, and of fewer rows than columns."""
    x, y = rng.standard_normal((n, 5)) + 2.0, rng.standard_normal(n)
    statistic = LinearFactor.of(x, y, reduce=n > 5)
    assert_factors(statistic.uncentred(), np.column_stack([x, y]))


def test_factors_keep_blas_to_one_thread(rng, monkeypatch):
    """Reflections are many small products: threads of BLAS wait for each other longer than they work."""
    seen = []

    def watched(*args):
        seen.extend(lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas")
        return reflect(*args)

    monkeypatch.setattr("tractable.primitives.linear.reflect", watched)
    rows = rng.standard_normal((700, 100))
    with threadpool_limits(limits=2, user_api="blas"):
        factor = triangle(rows)
        merged_triangle(factor, factor[:0], rows[:1])
    assert set(seen) == {1}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shape", [(5, 0, 1), (40, 3, 1), (9000, 3, 2), (4000, 12, 1)])
def test_joint_moments_are_the_moments_of_all_columns(shape, weighted):
    rng = np.random.default_rng(1)
    (n, d, t), shift = shape, 1e6
    x, y = rng.standard_normal((n, d)) + shift, rng.standard_normal((n, t)) - shift
    weights = rng.integers(0, 3, n).astype(float) if weighted else None
    found, expected = joint_moments(x, y, weights), moments(np.hstack([x, y]), weights)
    for mine, plain in zip(found[:3], expected[:3], strict=True):
        np.testing.assert_allclose(mine, plain, rtol=1e-13, atol=1e-9 * n)


def test_joint_moments_of_rows_that_drift_keep_their_digits(rng):
    """Products are taken about the mean of the first rows; where others are far from it, of all rows."""
    x, y = rng.standard_normal((1400, 130)), rng.standard_normal((1400, 1))
    x[600:, :2] += 1e7
    x[:600, 2] = 0.0
    weights = np.ones(1400)
    weights[:600] = 0.0
    for given in (None, weights):
        _, mean, scatter, _ = joint_moments(x, y, given)
        _, exact_mean, exact, _ = moments(np.hstack([x, y]), given)
        lengths = np.sqrt(exact.diagonal())
        np.testing.assert_allclose(mean, exact_mean, rtol=1e-13, atol=1e-13)
        np.testing.assert_allclose(
            scatter / lengths / lengths[:, None], exact / lengths / lengths[:, None], atol=1e-12
        )


@pytest.mark.parametrize("weighted", [False, True])
def test_centred_rows_have_the_products_of_the_moments(rng, weighted):
    x, y = rng.standard_normal((30, 70)) + 1e6, rng.standard_normal((30, 2))
    weights = rng.integers(0, 3, 30).astype(float) if weighted else None
    weight, mean, rows, _ = centred_rows(x, y, weights)
    exact_weight, exact_mean, exact, _ = moments(np.hstack([x, y]), weights)
    assert weight == exact_weight
    np.testing.assert_allclose(mean, exact_mean, rtol=1e-14, atol=1e-15)
    np.testing.assert_allclose(rows.T @ rows, exact, atol=1e-7)


@pytest.mark.parametrize("correlation", [0.0, 0.9, 0.95])
def test_the_factor_of_safe_products_has_the_digits_of_a_qr(correlation):
    x = np.random.default_rng(2).standard_normal((200, 5))
    x[:, 1] = correlation * x[:, 0] + (1.0 - correlation**2) ** 0.5 * x[:, 1]
    units = 10.0 ** np.arange(-4, 6, 2)  # which lose nothing: correlations have none
    found = safe_factor((units * x).T @ (units * x))
    assert found is not None
    np.testing.assert_allclose(found / units, triangle(x), rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize(
    "scatter",
    [
        [[1.0, 0.99], [0.99, 1.0]],  # of nearly dependent columns
        [[1.0, 2.0], [2.0, 1.0]],
        [[1.0, 0.0], [0.0, 0.0]],
        [[1e300, 0.0], [0.0, 1.0]],
        [[1.0, np.nan], [np.nan, 1.0]],
    ],
)
def test_products_that_lose_digits_have_no_factor(scatter):
    assert safe_factor(np.array(scatter)) is None


def test_products_of_a_target_without_noise_have_no_factor():
    x = np.random.default_rng(3).standard_normal((50, 2))
    y = x.sum(axis=1, keepdims=True)
    noisy, exact = (np.hstack([x, y + noise * x[::-1, :1]]) for noise in (0.1, 1e-4))
    assert safe_factor(noisy.T @ noisy, 1) is not None
    assert safe_factor(exact.T @ exact, 1) is None


def test_products_with_constant_columns_have_a_factor_without_them(rng):
    x, y = (
        np.insert(rng.standard_normal((80, 4)), [1, 1, 3], [0.1, 0.3, 0.0], axis=1),
        rng.standard_normal(80),
    )
    moments = LinearFactor.moments_of(x, y)
    assert LinearFactor.of_moments(moments) is None
    varies = varying_columns(Rows(data=x))
    assert varies.tolist() == [True, False, False, True, True, False, True]
    found = LinearFactor.of_moments(moments, varies=varies)
    np.testing.assert_array_equal(found.factor, np.triu(found.factor))
    np.testing.assert_allclose(found.factor.T @ found.factor, moments.scatter, atol=1e-12)


def test_columns_that_vary_late_vary(rng):
    x = np.tile(rng.standard_normal(40), (3000, 1))
    x[[1, 16, 17, 2999], [3, 5, 8, 13]] += 1e-9
    assert np.flatnonzero(varying_columns(Rows(data=x))).tolist() == [3, 5, 8, 13]
