"""Covariance structures: what their constructors take and refuse."""

import numpy as np
import pytest

from tractable.covariance import Diagonal, Full, Isotropic, LowRankPlusDiagonal, as_structure, resolve_dims
from tractable.statistics import DiagonalMoments, Moments


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (Full, "exactly one of matrix and cholesky"),
        (lambda: Full(matrix=np.eye(2), cholesky=np.eye(2)), "exactly one of matrix and cholesky"),
        (lambda: Full(matrix=np.eye(2), jitter=0.1), "jitter is told beside cholesky"),
        (lambda: Full(matrix=np.empty((0, 0))), "matrix must be square"),
        (lambda: Full(matrix=[[1.0, 2.0], [2.0, 1.0]]), "matrix must be positive definite"),
        (lambda: Full(matrix=[np.eye(2), -np.eye(2)]), "matrix must be positive definite.*index"),
        (lambda: Full.from_cholesky([[1.0, 1.0], [0.0, 1.0]]), "cholesky must be lower triangular"),
        (lambda: Full.from_cholesky([[1.0, 0.0], [1.0, -1.0]]), "positive diagonal"),
        (lambda: Full.from_cholesky([[1.0, 0.0], [np.nan, 1.0]]), "cholesky must be finite"),
        (lambda: Full.from_precision(np.zeros((2, 2))), "precision must be positive definite"),
        (lambda: Full.jittered(-np.eye(2)), "matrix must be positive semi-definite"),
        (lambda: Diagonal(variances=[1.0, 0.0]), "variances must be positive"),
        (lambda: Diagonal(variances=1.0), "variances"),
        (lambda: Diagonal(variances=[]), "variances"),
        (lambda: Isotropic(variance=-1.0, dim=2), "variance must be positive"),
        (lambda: Isotropic(variance=1.0, dim=0), "dim must be a positive integer"),
        (lambda: Isotropic(variance=1.0, dim=1.5), "dim must be a positive integer"),
        (lambda: LowRankPlusDiagonal(factor=np.ones((2, 1)), variances=np.ones(3)), "factor must be"),
        (lambda: LowRankPlusDiagonal(factor=np.ones((3, 1)), variances=[1.0, -1.0, 1.0]), "variances"),
        (
            lambda: LowRankPlusDiagonal(factor=[[np.inf], [1.0]], variances=np.ones(2)),
            "factor must be finite",
        ),
        (lambda: LowRankPlusDiagonal(factor=np.ones((2, 3, 1)), variances=np.ones((4, 3))), "broadcast"),
        (lambda: Diagonal(variances=[1.0]) + Diagonal(variances=[1.0, 1.0]), "same dim"),
    ],
)
def test_bad_parameters_are_named(make, said):
    with pytest.raises(ValueError, match=said):
        make()


def test_jitter_is_reported_and_zero_unless_asked_for():
    assert Full(matrix=np.eye(2)).jitter == 0.0
    assert Full.jittered(np.eye(2)).jitter == 0.0
    mended = Full.jittered(np.ones((2, 2)))
    assert np.all(mended.jitter > 0)
    np.testing.assert_allclose(mended.dense(), np.ones((2, 2)) + np.diag(mended.jitter), atol=1e-15)


@pytest.mark.spec("DIST-24")
def test_number_of_free_parameters():
    assert Full(matrix=np.eye(4)).n_free == 10
    assert Diagonal(variances=np.ones(4)).n_free == 4
    assert Isotropic(variance=1.0, dim=4).n_free == 1
    assert LowRankPlusDiagonal(factor=np.eye(4)[:, :2], variances=np.ones(4)).n_free == 10


@pytest.mark.parametrize("structure", [Full, Diagonal, Isotropic, LowRankPlusDiagonal])
def test_structures_from_moments(structure, rng):
    X = rng.standard_normal((30, 4)) + 5.0
    moments = Moments.of(X)
    found = structure.from_moments(moments, ddof=1)
    np.testing.assert_allclose(found.diagonal.sum(), np.cov(X.T).trace(), rtol=1e-12)
    with pytest.raises(ValueError, match="ddof"):
        structure.from_moments(moments, ddof=30)


@pytest.mark.parametrize("structure", [Diagonal, Isotropic])
def test_diagonal_structures_need_only_the_columns(structure, rng):
    X = rng.standard_normal((30, 3))
    whole, columns = structure.from_moments(Moments.of(X)), structure.from_moments(DiagonalMoments.of(X))
    np.testing.assert_allclose(columns.diagonal, whole.diagonal, rtol=1e-12)


def test_low_rank_fit_needs_a_rank_below_the_dimension(rng):
    for rank in (0, 4):
        with pytest.raises(ValueError, match="rank"):
            LowRankPlusDiagonal.from_moments(Moments.of(rng.standard_normal((9, 4))), rank=rank)


def test_low_rank_never_forms_the_square_matrix(rng):
    """Two hundred thousand coordinates: the dense matrix would take 320 GB."""
    factor, variances = rng.standard_normal((200_000, 2)), np.full(200_000, 2.0)
    c = LowRankPlusDiagonal(factor=factor, variances=variances)
    z = c.color(rng.standard_normal((2, c.noise_dim)))
    np.testing.assert_allclose(c.multiply(c.solve(z)), z, rtol=1e-9, atol=1e-9)
    assert np.isfinite(c.log_det)
    gain, rest = c.condition([0, 1])
    assert gain.shape == (199_998, 2)
    assert rest.rank == 2


def test_conditioning_keeps_the_digits_of_strong_factors():
    """A factor 1e9 times the noise, seen twice: what is left is the noise."""
    c = LowRankPlusDiagonal(factor=[[1e9], [1e9], [1e9]], variances=[1.0, 1.0, 1.0])
    gain, rest = c.condition([0, 1])
    np.testing.assert_allclose(gain, [[0.5, 0.5]], rtol=1e-12)
    np.testing.assert_allclose(rest.dense(), [[1.5]], rtol=1e-9)


def test_a_structure_is_taken_as_it_is():
    c = Diagonal(variances=[1.0, 2.0])
    assert as_structure(c) is c
    assert isinstance(as_structure(np.eye(2)), Full)
    assert resolve_dims(slice(None, None, -1), 3) == (2, 1, 0)
