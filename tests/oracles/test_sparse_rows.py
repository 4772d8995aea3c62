"""Products, moments and distances of sparse rows, against the same rows made dense."""

import numpy as np
import pytest
from scipy import sparse

from tractable import primitives
from tractable.engines.lsqr import lsqr
from tractable.primitives import kmeans
from tractable.primitives import sparse_rows as blocks_of
from tractable.primitives.kmeans import agnostic
from tractable.primitives.sparse_rows import (
    StandardizedSparse,
    sparse_moments,
    sparse_quantiles,
    sparse_squared_distances,
)
from tractable.statistics import DiagonalMoments


@pytest.fixture
def rows(rng):
    return sparse.random(40, 7, 0.3, format="csr", rng=rng)


@pytest.mark.parametrize("intercept", [False, True])
def test_products(rows, intercept, rng):
    shift, scale, root = rng.random(7), rng.random(7), rng.random(40)
    Z = StandardizedSparse(X=rows, shift=shift, scale=scale, root=root, intercept=intercept)
    z = (rows.toarray() - shift) * scale
    z = (np.column_stack([np.ones(40), z]) if intercept else z) * root[:, None]
    assert Z.shape == z.shape
    for v in (rng.random(z.shape[1]), rng.random((z.shape[1], 3))):
        np.testing.assert_allclose(Z @ v, z @ v, rtol=1e-12, atol=1e-12)
    for r in (rng.random(40), rng.random((3, 40))):
        np.testing.assert_allclose(r @ Z, r @ z, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("form", ["csr", "csc"])
def test_both_products_of_one_pass(rows, form, intercept, rng, monkeypatch):
    """Compiled, in several blocks, they are the products that SciPy gives one after the other."""
    shift, scale, root = rng.random(7), rng.random(7), rng.random(40)
    monkeypatch.setattr(blocks_of, "BLOCK_ENTRIES", 8)
    monkeypatch.setattr(blocks_of, "BLOCK_ENTRIES_A_COLUMN", 1)
    for given in ({"scale": scale, "root": root}, {}):
        Z = StandardizedSparse(X=rows.asformat(form), shift=shift, intercept=intercept, **given)
        v, u = rng.random(Z.shape[1]), rng.random(40)
        kept = u.copy()
        want = Z @ v - 0.3 * u
        for work in (np.inf, 0):
            monkeypatch.setattr(primitives, "COMPILED_WORK", work)
            r, back = Z.residual_products(v, u, 0.3)
            np.testing.assert_allclose(r, want, rtol=1e-12, atol=1e-12)
            np.testing.assert_allclose(back, want @ Z, rtol=1e-12, atol=1e-12)
        np.testing.assert_array_equal(u, kept)


@pytest.mark.parametrize("alpha", [0.0, 0.7])
@pytest.mark.parametrize("shape", [(40, 7), (7, 40)])
def test_lsqr_finds_the_shortest_least_squares(shape, alpha, rng):
    X = sparse.random(*shape, 0.3, format="csr", rng=rng)
    X = sparse.hstack([X, X[:, :2]], format="csr")  # dependent columns
    Z = StandardizedSparse(X=X, shift=np.asarray(X.mean(axis=0)).ravel())
    dense, y = Z @ np.eye(X.shape[1]), rng.standard_normal(shape[0])
    found = lsqr(Z, y, alpha, tol=1e-13, max_iter=1000)
    penalty = np.sqrt(alpha) * np.eye(X.shape[1])
    want = np.linalg.lstsq(np.vstack([dense, penalty]), np.append(y, np.zeros(X.shape[1])), rcond=1e-12)[0]
    assert found.converged
    np.testing.assert_allclose(found.x, want, rtol=1e-9, atol=1e-10)


def test_lsqr_of_what_has_no_part_in_the_columns(rows):
    Z = StandardizedSparse(X=rows, shift=np.asarray(rows.mean(axis=0)).ravel())
    for y in (np.zeros(40), np.ones(40)):
        assert np.abs(lsqr(Z, y, tol=1e-12, max_iter=100).x).max() < 1e-12
    assert not lsqr(Z, np.arange(40.0), tol=0.0, max_iter=2).converged


def test_products_of_columns(rows, rng):
    shift, scale, root = rng.random(7), rng.random(7), rng.random(40)
    Z = StandardizedSparse(X=rows.tocsc(), shift=shift, scale=scale, root=root)
    z = (rows.toarray() - shift) * scale * root[:, None]
    some, others = Z.columns(np.array([5, 1])), Z.columns(np.array([0, 1, 2]))
    np.testing.assert_allclose(some.gram(others), z[:, [5, 1]].T @ z[:, :3], rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(some.beside(others) @ np.eye(5), z[:, [5, 1, 0, 1, 2]], atol=1e-14)


@pytest.mark.parametrize("weighted", [False, True])
def test_sums_over_entries_and_moments(rows, weighted, rng):
    w = rng.integers(0, 3, 40).astype(float) if weighted else np.ones(40)
    z = (rows.toarray() - 0.2) * 3.0
    Z = StandardizedSparse(X=rows, shift=np.full(7, 0.2), scale=np.full(7, 3.0), intercept=True)
    want = w @ np.column_stack([np.ones(40), np.minimum(np.abs(z), 1.0)])
    np.testing.assert_allclose(Z.column_sums(lambda x: np.minimum(np.abs(x), 1.0), w), want, rtol=1e-12)
    _, mean, scatter = sparse_moments(rows, w)
    dense = DiagonalMoments.of(rows.toarray(), w)
    np.testing.assert_allclose(mean, dense.mean, rtol=1e-12)
    np.testing.assert_allclose(scatter, dense.scatter, rtol=1e-12)
    np.testing.assert_allclose((DiagonalMoments.of(rows, w)).scatter, dense.scatter, rtol=1e-12)


def test_moments_far_from_the_origin_keep_their_digits(rng):
    x = 1e7 + rng.standard_normal((50, 2))
    np.testing.assert_allclose(sparse_moments(sparse.csr_array(x))[2], 50 * x.var(axis=0), rtol=1e-9)


def test_squares_that_underflow_are_refused(rows):
    with pytest.raises(ValueError, match="underflow"):
        DiagonalMoments.of(1e-200 * rows)
    DiagonalMoments.of(0.0 * rows)
    DiagonalMoments.of(sparse.csr_array(np.full((5, 2), 3.0)))


@pytest.mark.parametrize("density", [0.1, 0.24, 0.3, 0.9])
def test_quantiles(density, rng):
    rows = sparse.random(41, 9, density, format="csr", rng=rng)
    rows.data[::2] *= -1.0
    want = np.quantile(rows.toarray(), [0.25, 0.5, 0.75], axis=0)
    np.testing.assert_allclose(sparse_quantiles(rows, [0.25, 0.5, 0.75]), want, atol=1e-15)


def test_distances_of_near_points_keep_their_digits(rows, rng):
    points = rows.toarray()[:4] + np.array([0.0, 1e-9, 1e-4, 1.0])[:, None] * rng.standard_normal((4, 7))
    want = np.sum((rows.toarray()[:, None] - points) ** 2, axis=2)
    np.testing.assert_allclose(sparse_squared_distances(rows, points), want, rtol=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_native_assignments_are_those_of_dense_rows(weighted, dtype, rng):
    x = np.where(rng.random((300, 12)) < 0.4, rng.standard_normal((300, 12)), 0.0) + 2.0 * np.eye(300, 12)
    rows, w = sparse.csr_array(x.astype(dtype)), rng.random(300) if weighted else None
    points, nothing, before = x[:5] + 0.0, np.zeros(12), None
    labels, bounds = np.full(300, -1, np.int32), (np.zeros(300, np.float32), np.zeros(300, np.float32))
    for _ in range(4):
        want = labels.copy()
        found = kmeans.reassign(rows, w, nothing, 1.0, points, before, labels, bounds)
        wanted = agnostic.sparse_reassign(rows, w, points, want)
        np.testing.assert_array_equal(labels, want)
        for mine, theirs in zip(found, wanted, strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-9)
        held = kmeans.cluster_sums(rows, w, nothing, 1.0, points, labels)
        wanted = agnostic.sparse_cluster_sums(rows, w, points, labels)
        for mine, theirs in zip(
            (held.sums, held.counts, held.cost, held.away, held.row), wanted, strict=True
        ):
            np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-9)
        before, points = points, held.sums / held.counts[:, None]


def test_a_column_that_sparse_rows_do_not_have_is_refused(rng):
    rows = sparse.csr_array(np.eye(6))
    rows.indices[3] = 77
    with pytest.raises(ValueError, match="beyond its columns"):
        kmeans.assign(rows, None, np.zeros(6), 1.0, np.eye(6)[:2])
