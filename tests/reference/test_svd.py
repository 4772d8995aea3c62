"""Singular value decompositions against LAPACK's and the theorems about them."""

import numpy as np
import pytest

from tractable.arrays import pinv, svd_from_gram, thin_svd, truncated_svd

SHAPES = [(6, 3), (3, 6), (4, 4), (5, 1), (1, 5)]


def assert_decomposes(svd, a, atol=1e-12):
    k = min(a.shape)
    assert svd.left.shape == (a.shape[0], k)
    assert svd.right.shape == (a.shape[1], k)
    np.testing.assert_allclose(svd.dense(), a, atol=atol)
    np.testing.assert_allclose(svd.left.T @ svd.left, np.eye(k), atol=1e-12)
    np.testing.assert_allclose(svd.right.T @ svd.right, np.eye(k), atol=1e-12)
    assert np.all(svd.singular >= 0)
    assert np.all(np.diff(svd.singular) <= 0)


@pytest.mark.spec("LIN-06", "LIN-09")
@pytest.mark.parametrize("shape", SHAPES)
def test_thin_svd_rebuilds_its_matrix(shape, rng):
    a = rng.standard_normal(shape)
    assert_decomposes(thin_svd(a), a)


@pytest.mark.spec("LIN-07", "E001-05")
@pytest.mark.parametrize("shape", SHAPES)
def test_the_gram_matrix_gives_the_same_decomposition(shape, rng):
    a = rng.standard_normal(shape)
    svd, lapack = svd_from_gram(a), thin_svd(a)
    assert_decomposes(svd, a)
    np.testing.assert_allclose(svd.singular, lapack.singular, rtol=1e-10)
    sign = np.sign(np.sum(svd.right * lapack.right, axis=0))
    np.testing.assert_allclose(svd.right * sign, lapack.right, atol=1e-10)
    # A v_i = σ_i u_i
    np.testing.assert_allclose(a @ svd.right, svd.left * svd.singular, atol=1e-12)


@pytest.mark.spec("LIN-07")
@pytest.mark.parametrize("rank", [0, 1, 2])
def test_gram_and_schmidt_complete_what_has_no_image(rank, rng):
    a = rng.standard_normal((6, rank)) @ rng.standard_normal((rank, 4))
    svd = svd_from_gram(a)
    assert_decomposes(svd, a)
    assert np.sum(svd.singular > 0) == rank


@pytest.mark.spec("LIN-10")
def test_no_matrix_of_rank_k_is_nearer(rng):
    a = rng.standard_normal((7, 5))
    s = np.linalg.svd(a, compute_uv=False)
    for k in range(6):
        best = truncated_svd(a, k)
        assert np.linalg.matrix_rank(best.dense()) == k
        distance = np.sum((a - best.dense()) ** 2)
        assert distance == pytest.approx(np.sum(s[k:] ** 2), abs=1e-12)
        for _ in range(20):
            other = best.left + 0.1 * rng.standard_normal(best.left.shape)
            nearest = other @ np.linalg.lstsq(other, a, rcond=None)[0]  # the best with these columns
            assert np.sum((a - nearest) ** 2) >= distance - 1e-12


@pytest.mark.spec("LIN-11", "E001-08")
def test_of_centred_rows_the_right_vectors_are_the_principal_directions(rng):
    rows = (
        rng.standard_normal((200, 3))
        @ np.diag([5.0, 1.0, 0.2])
        @ np.linalg.qr(rng.standard_normal((3, 3)))[0]
    )
    centred = rows - rows.mean(axis=0)
    svd = thin_svd(centred)
    covariance = np.cov(rows.T)
    np.testing.assert_allclose(covariance @ svd.right, svd.right * svd.singular**2 / 199, atol=1e-10)
    scores = svd.left * svd.singular
    np.testing.assert_allclose(scores, centred @ svd.right, atol=1e-12)
    np.testing.assert_allclose(np.cov(scores.T), np.diag(svd.singular**2 / 199), atol=1e-10)


@pytest.mark.spec("LIN-26")
@pytest.mark.parametrize("rank", [0, 1, 3])
@pytest.mark.parametrize("shape", [(6, 3), (3, 6)])
def test_the_four_conditions_of_penrose(shape, rank, rng):
    a = rng.standard_normal((shape[0], rank)) @ rng.standard_normal((rank, shape[1]))
    inverse = pinv(a)
    np.testing.assert_allclose(a @ inverse @ a, a, atol=1e-12)
    np.testing.assert_allclose(inverse @ a @ inverse, inverse, atol=1e-12)
    np.testing.assert_allclose((a @ inverse).T, a @ inverse, atol=1e-12)
    np.testing.assert_allclose((inverse @ a).T, inverse @ a, atol=1e-12)
    if rank == min(shape):
        closed = np.linalg.inv(a.T @ a) @ a.T if shape[0] > shape[1] else a.T @ np.linalg.inv(a @ a.T)
        np.testing.assert_allclose(inverse, closed, atol=1e-10)


@pytest.mark.spec("LIN-26", "LIN-09")
def test_the_pseudo_inverse_solves_least_squares(rng):
    a, b = rng.standard_normal((8, 3)), rng.standard_normal(8)
    np.testing.assert_allclose(pinv(a) @ b, np.linalg.lstsq(a, b, rcond=None)[0], rtol=1e-10)


@pytest.mark.parametrize("function", [thin_svd, svd_from_gram, pinv, lambda a: truncated_svd(a, 1)])
@pytest.mark.parametrize("bad", [[1.0, 2.0], [[np.nan, 1.0]], [[np.inf]]])
def test_what_is_no_matrix_is_refused(function, bad):
    with pytest.raises(ValueError, match="a must be"):
        function(np.array(bad))


@pytest.mark.parametrize("k", [-1, 4])
def test_impossible_ranks_are_refused(k):
    with pytest.raises(ValueError, match="k must be"):
        truncated_svd(np.ones((3, 5)), k)
