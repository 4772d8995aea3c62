"""The compiled whitened passes equal the obvious ones, and rows summed one by one in extended precision."""

import numpy as np
import pytest

from longdouble_mixture import lower_factor, solved, whitened_sums
from tractable.arrays.namespace import to_numpy
from tractable.primitives.em import (
    PRODUCTS,
    SQUARES,
    n_features,
    whitened_pass,
)
from tractable.primitives.em.agnostic import whitened_diagonal_pass as obvious_diagonal
from tractable.primitives.em.agnostic import whitened_pass as obvious

SIZES = [(0, 2, 3), (1, 1, 1), (63, 3, 4), (700, 5, 2), (1500, 9, 17), (300, 40, 3), (600, 130, 2)]


def problem(rng, n, d, k):
    """Rows, shift, scale, means, whiteners and log constants."""
    lower = np.tril(rng.standard_normal((k, d, d))) + 3.0 * np.eye(d)
    return (
        rng.standard_normal((n, d)), rng.standard_normal(d), rng.uniform(0.5, 2.0, d),
        rng.standard_normal((k, d)), np.linalg.inv(lower) * np.tri(d), rng.standard_normal(k),
    )  # fmt: skip


def close(found, expected, tol=1e-12):
    (sums, evidence), (total, log_p) = found, expected
    np.testing.assert_allclose(sums, np.asarray(total, float), rtol=tol, atol=10.0 * tol)
    np.testing.assert_allclose(evidence, float(log_p), rtol=tol, atol=tol)


@pytest.mark.parametrize(("n", "d", "k"), SIZES)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("white", [False, True])
def test_compiled_equals_obvious(n, d, k, weighted, white, rng):
    x, *rest = problem(rng, n, d, k)
    w = rng.integers(0, 3, n).astype(float) if weighted else None
    found = whitened_pass(x, w, *rest, white=white)
    assert found[0].shape == (k, n_features(d, PRODUCTS))
    close(found, obvious(x, w, *rest, white))


@pytest.mark.parametrize(("n", "d", "k"), SIZES)
@pytest.mark.parametrize("weighted", [False, True])
def test_compiled_diagonal_equals_obvious(n, d, k, weighted, rng):
    x, shift, scale, means, _, constants = problem(rng, n, d, k)
    w = rng.integers(0, 3, n).astype(float) if weighted else None
    given = x, w, shift, scale, means, rng.uniform(0.2, 2.0, (k, d)), constants
    found = whitened_pass(*given)
    assert found[0].shape == (k, n_features(d, SQUARES))
    close(found, obvious_diagonal(*given))


def test_diagonal_is_a_special_case(rng):
    x, shift, scale, means, _, constants = problem(rng, 400, 4, 3)
    spread = rng.uniform(0.2, 2.0, (3, 4))
    full = whitened_pass(x, None, shift, scale, means, spread[:, :, None] * np.eye(4), constants)
    squares = [0, 1, 2, 3, 4, *(5 + np.array([0, 4, 7, 9]))]
    close(
        whitened_pass(x, None, shift, scale, means, spread, constants),
        (full[0][:, squares], full[1]),
    )


def clusters(rng, separation=10.0, condition=1.0, shift=0.0, n=400, d=4, k=3):
    """Rows of several clusters, two of which overlap, and their means and covariance."""
    turn = np.linalg.qr(rng.standard_normal((d, d)))[0]
    spread = turn * np.logspace(0.0, -0.5 * np.log10(condition), d)
    centres = separation * rng.standard_normal((k, d))
    centres[1] = centres[0] + spread @ np.r_[3.0, np.zeros(d - 1)]
    x = centres[rng.integers(k, size=n)] + rng.standard_normal((n, d)) @ spread.T + shift
    return x, centres + shift, spread @ spread.T


HARD = [
    *[pytest.param({"separation": s}, id=f"separation {s:g}") for s in (1e2, 1e4, 1e6, 1e8)],
    *[pytest.param({"shift": s}, id=f"shift {s:g}") for s in (1e4, 1e8)],
    *[pytest.param({"condition": c}, id=f"condition {c:g}") for c in (1e4, 1e8, 1e12)],
]


@pytest.mark.parametrize("hard", HARD)
@pytest.mark.parametrize("white", [False, True])
def test_digits_against_extended_precision(hard, white, rng):
    x, means, covariance = clusters(rng, **hard)
    shift, scale = x.mean(axis=0), 1.0 / x.std(axis=0)
    z, means = (x - shift) * scale, (means - shift) * scale
    whitener = np.asarray(solved(lower_factor(covariance * np.outer(scale, scale)), np.eye(4)), float)
    whiteners, constants = np.tile(whitener, (3, 1, 1)), np.full(3, -0.5)
    w = rng.integers(1, 4, len(x)).astype(float)
    sums, evidence = whitened_pass(x, w, shift, scale, means, whiteners, constants, white=white)
    exact, log_p = whitened_sums(z, w, means, whiteners, constants, white=white)
    # The last digit of z - m, seen through the whitener; where rows are few sds away it is a few eps.
    tol = 1e-15 * max(10.0, np.abs(whitener).max() * np.abs(z[:, None] - means).min(axis=1).max()) * 10.0
    scales = np.abs(exact).max(axis=1, keepdims=True)
    assert np.max(np.abs(sums - exact) / scales) < tol
    assert abs(evidence / log_p - 1.0) < tol


@pytest.mark.parametrize("d", [1, 3])
def test_diagonal_digits(d, rng):
    x, means, _ = clusters(rng, separation=1e8, d=d)
    shift, scale = x.mean(axis=0), 1.0 / x.std(axis=0)
    z, means = (x - shift) * scale, (means - shift) * scale
    whiteners = np.tile(1.0 / scale, (3, 1))
    sums, evidence = whitened_pass(x, None, shift, scale, means, whiteners, np.zeros(3))
    exact, log_p = whitened_sums(z, np.ones(len(x)), means, whiteners[:, :, None] * np.eye(d), np.zeros(3))
    first, second = np.triu_indices(d)
    exact = exact[:, [*range(1 + d), *(1 + d + np.flatnonzero(first == second))]]
    np.testing.assert_allclose(sums / whiteners[0, 0], (exact / whiteners[0, 0]).astype(float), rtol=1e-12)
    np.testing.assert_allclose(evidence, float(log_p), rtol=1e-13)


def test_weights_are_repetitions(rng):
    x, *rest = problem(rng, 200, 3, 4)
    w = rng.integers(0, 4, 200)
    close(whitened_pass(x, w.astype(float), *rest), whitened_pass(np.repeat(x, w, axis=0), None, *rest))
    shift, scale, means, _, constants = rest
    rest = [shift, scale, means, np.ones((4, 3)), constants]
    close(
        whitened_pass(x, w.astype(float), *rest),
        whitened_pass(np.repeat(x, w, axis=0), None, *rest),
    )


def test_components_without_weight_are_not_looked_at(rng):
    x, shift, scale, means, whiteners, constants = problem(rng, 90, 2, 3)
    means[1], constants[1] = np.nan, -np.inf
    keep = [0, 2]
    for apply in (whitened_pass, obvious):
        sums, evidence = apply(x, None, shift, scale, means, whiteners, constants)
        expected = apply(x, None, shift, scale, means[keep], whiteners[keep], constants[keep])
        assert np.all(sums[1] == 0.0)
        close((sums[keep], evidence), expected)
    for apply in (whitened_pass, obvious_diagonal):
        sums, evidence = apply(x, None, shift, scale, means, np.ones((3, 2)), constants)
        expected = apply(x, None, shift, scale, means[keep], np.ones((2, 2)), constants[keep])
        assert np.all(sums[1] == 0.0)
        close((sums[keep], evidence), expected)


@pytest.mark.parametrize("weighted", [False, True])
def test_rows_that_no_component_explains_count_for_nothing(weighted, rng):
    x, shift, scale, means, whiteners, constants = problem(rng, 90, 2, 3)
    w = rng.uniform(0.5, 1.5, 90) if weighted else None
    far = x.copy()
    far[17] = 1e200  # whose squared distances overflow
    rest = np.delete(np.arange(90), 17)
    for apply, white in [
        (whitened_pass, whiteners), (obvious, whiteners),
        (whitened_pass, np.ones((3, 2))), (obvious_diagonal, np.ones((3, 2))),
    ]:  # fmt: skip
        with np.errstate(over="ignore", invalid="ignore"):
            sums, evidence = apply(far, w, shift, scale, means, white, constants)
        expected = apply(x[rest], None if w is None else w[rest], shift, scale, means, white, constants)[0]
        assert evidence == -np.inf
        np.testing.assert_allclose(sums, expected, rtol=1e-12, atol=1e-11)


def test_far_components_are_flushed_to_zero(rng):
    x, shift, scale, means, whiteners, constants = problem(rng, 200, 2, 2)
    constants[1] = constants[0] - 1000.0
    assert np.all(whitened_pass(x, None, shift, scale, means, whiteners, constants)[0][1] == 0.0)
    diagonal = whitened_pass(x, None, shift, scale, means, np.ones((2, 2)), constants)
    assert np.all(diagonal[0][1] == 0.0)


@pytest.mark.parametrize("white", [False, True])
def test_many_columns_have_the_same_edges(white, rng):
    x, shift, scale, means, _, constants = problem(rng, 40, 140, 4)
    whiteners = np.tril(rng.standard_normal((4, 140, 140))) / 140.0 + np.eye(140)
    means[1], constants[1] = np.nan, -np.inf
    constants[2] = constants[0] - 1e6
    x[17] = 1e200
    w = 1e-150 * rng.integers(1, 4, 40)
    given = shift, scale, means, whiteners, constants, white
    kept = np.delete(np.arange(40), 17)
    exact, _ = obvious(x[kept], w[kept], *given)
    for same in (x, np.asfortranarray(x), np.repeat(x, 2, axis=0)[::2]):
        sums, evidence = whitened_pass(same, w, *given[:-1], white=white)
        assert evidence == -np.inf
        assert np.all(sums[1:3] == 0.0)
        np.testing.assert_allclose(1e150 * sums, 1e150 * exact, rtol=1e-12, atol=1e-11)


def test_memory_order_precision_and_protection_do_not_matter(rng):
    x, *rest = problem(rng, 300, 3, 2)
    x = x.astype(np.float32).astype(float)
    expected = whitened_pass(x, None, *rest)
    frozen = x.copy()
    frozen.setflags(write=False)
    for a in rest:
        a.setflags(write=False)
    for same in (np.asfortranarray(x), np.repeat(x, 2, axis=0)[::2], frozen, x.astype(np.float32)):
        close(whitened_pass(same, None, *rest), expected)


def test_other_array_libraries(backend, rng):
    x, *rest = problem(rng, 40, 3, 2)
    w = rng.random(40)
    given = [backend.asarray(a) for a in (x, w, *rest)]
    sums, _ = whitened_pass(*given)
    assert backend.owns(sums)
    np.testing.assert_allclose(to_numpy(sums), obvious(x, w, *rest)[0], rtol=1e-12, atol=1e-12)
    rest[3] = np.ones((2, 3))
    given[5] = backend.asarray(rest[3])
    sums, _ = whitened_pass(*given)
    assert backend.owns(sums)
    np.testing.assert_allclose(to_numpy(sums), obvious_diagonal(x, w, *rest)[0], rtol=1e-12, atol=1e-12)
