"""Laws of covariance structures: every method equals its dense counterpart."""

import pickle
from functools import partial
from typing import Any

import numpy as np

from tractable.covariance import Diagonal, Full, Isotropic, LowRankPlusDiagonal, other_dims
from tractable.testing.assertions import (
    assert_frozen,
    assert_mean,
    assert_same_matrix,
    check_laws,
    correlations,
    laws_above,
    refused,
    rounding_error,
)
from tractable.value import parameters, replace


def dense_is_symmetric_positive_definite(c: Any, rng: np.random.Generator) -> None:
    """Σ = Σᵀ, with positive eigenvalues, of the declared shape."""
    dense = c.dense()
    assert dense.shape == (*c.batch_shape, c.dim, c.dim)
    np.testing.assert_array_equal(dense, np.swapaxes(dense, -1, -2))
    assert np.all(np.linalg.eigvalsh(correlations(dense)) > 0)
    assert 1 <= c.n_free <= c.dim * (c.dim + 1) // 2


def diagonal_and_log_det_are_those_of_dense(c: Any, rng: np.random.Generator) -> None:
    """The variances and the log-determinant."""
    dense = c.dense()
    np.testing.assert_allclose(c.diagonal, np.einsum("...ii->...i", dense), rtol=1e-14)
    expected = np.linalg.slogdet(correlations(dense))[1] + np.log(c.diagonal).sum(axis=-1)
    assert np.shape(c.log_det) == c.batch_shape
    np.testing.assert_allclose(c.log_det, expected, rtol=1e-12, atol=_slack(c))


def solve_and_multiply_are_those_of_dense(c: Any, rng: np.random.Generator) -> None:
    """Σ⁻¹ z and Σ z, and one undoes the other."""
    z = _vectors(c, rng)
    product = np.einsum("...ij,...j->...i", c.dense(), z)
    np.testing.assert_allclose(c.multiply(z), product, rtol=1e-10, atol=1e-12 * np.max(np.abs(product)))
    np.testing.assert_allclose(c.multiply(c.solve(z)) / _scale(c), z / _scale(c), atol=_slack(c, 10.0))
    np.testing.assert_allclose(c.precision(), np.swapaxes(c.precision(), -1, -2), rtol=0)
    by_matrix = np.einsum("...ij,...j->...i", c.precision(), z)
    np.testing.assert_allclose(by_matrix * _scale(c), c.solve(z) * _scale(c), atol=_slack(c, 10.0, of=z))


def whitening_gives_the_squared_distance(c: Any, rng: np.random.Generator) -> None:
    """|W z|² = zᵀ Σ⁻¹ z, with or without a centre."""
    z = _vectors(c, rng)
    expected = (z * c.solve(z)).sum(axis=-1)
    np.testing.assert_allclose((c.whiten(z) ** 2).sum(axis=-1), expected, rtol=_slack(c))
    np.testing.assert_allclose(c.mahalanobis(z), expected, rtol=_slack(c))
    center = _vectors(c, rng)[0]
    np.testing.assert_allclose(c.mahalanobis(z + center, center), c.mahalanobis(z), rtol=_slack(c, 10.0))


def coloring_gives_the_covariance(c: Any, rng: np.random.Generator) -> None:
    """R Rᵀ = Σ for the map from independent noise; the noise is taken linearly."""
    root = c.root()
    assert root.shape == (c.noise_dim, *c.batch_shape, c.dim)
    assert_same_matrix(np.einsum("k...i,k...j->...ij", root, root), c.dense())
    noise = rng.standard_normal((20_000, *c.batch_shape, c.noise_dim))
    z = c.color(noise) / _scale(c)
    assert_mean(z[..., :, None] * z[..., None, :], correlations(c.dense()), "products of coloured noise")


def marginals_are_blocks(c: Any, rng: np.random.Generator) -> None:
    """The structure of some coordinates is the block of the dense matrix, of the same kind."""
    keep = np.arange(c.dim)[::-1][: max(1, c.dim - 1)]
    part = c.marginal(keep)
    assert type(part) is type(c)
    np.testing.assert_array_equal(part.dense(), c.dense()[..., keep[:, None], keep])
    np.testing.assert_array_equal(c.marginal(-1).dense()[..., 0, 0], c.dense()[..., -1, -1])


def conditioning_is_the_schur_complement(c: Any, rng: np.random.Generator) -> None:
    """The gain is Σ_rg Σ_gg⁻¹ and the rest Σ_rr - Σ_rg Σ_gg⁻¹ Σ_gr, of the same kind."""
    if c.dim < 2:
        return
    given = np.array([c.dim - 1, *range(c.dim - 2)][: max(1, c.dim // 2)])
    rest = np.array(other_dims(given.tolist(), c.dim))
    unit = correlations(c.dense())
    across = unit[..., rest[:, None], given]
    gain = np.swapaxes(np.linalg.solve(unit[..., given[:, None], given], np.swapaxes(across, -1, -2)), -1, -2)
    found, left = c.condition(given)
    assert type(left) is type(c)
    ratio = _scale(c)[..., given][..., None, :] / _scale(c)[..., rest][..., :, None]
    np.testing.assert_allclose(found * ratio, gain, atol=_slack(c))
    schur = unit[..., rest[:, None], rest] - gain @ np.swapaxes(across, -1, -2)
    scale = _scale(c)[..., rest]
    np.testing.assert_allclose(
        left.dense() / scale[..., :, None] / scale[..., None, :], schur, atol=_slack(c)
    )
    nothing, same = c.condition([])
    assert nothing.shape == (*c.batch_shape, c.dim, 0)
    np.testing.assert_allclose(same.dense(), c.dense(), rtol=1e-14)


def scaling_and_adding_are_those_of_dense(c: Any, rng: np.random.Generator) -> None:
    """C Σ and Σ₁ + Σ₂, whichever stands first, with every structure."""
    assert_same_matrix(c.scaled(2.5).dense(), 2.5 * c.dense())
    assert type(c.scaled(2.5)) is type(c)
    assert type(c + c) is type(c)
    one = np.ones(c.dim)
    size = float(np.min(c.diagonal))
    for other in (
        c,
        Isotropic(variance=size, dim=c.dim),
        Diagonal(variances=size * one),
        LowRankPlusDiagonal(factor=np.sqrt(size) * one[:, None], variances=size * one),
        Full(matrix=size * (np.eye(c.dim) + 1.0)),
    ):
        assert_same_matrix((c + other).dense(), c.dense() + other.dense())
        assert_same_matrix((other + c).dense(), c.dense() + other.dense())


def parallel_adds_precisions(c: Any, rng: np.random.Generator) -> None:
    """(Σ₁⁻¹ + Σ₂⁻¹)⁻¹: of twice the same, half of it; of two, between zero and either."""
    half = c.parallel(c).dense()
    assert_same_matrix(half, 0.5 * c.dense(), within=_slack(c, 2.0))
    size = np.exp(np.log(_scale(c)).reshape(-1, c.dim).mean(axis=0))
    other = Full(matrix=size[:, None] * (np.eye(c.dim) + 1.0) * size)
    both = c.parallel(other)
    z = _vectors(c, rng)
    np.testing.assert_allclose(
        both.mahalanobis(z), c.mahalanobis(z) + other.mahalanobis(z), rtol=_slack(c, 10.0)
    )
    np.testing.assert_allclose(other.parallel(c).log_det, both.log_det, atol=_slack(c, 10.0))


def affine_maps_are_sandwiches(c: Any, rng: np.random.Generator) -> None:
    """A Σ Aᵀ."""
    A = rng.standard_normal((max(1, c.dim - 1), c.dim)) / np.max(_scale(c))
    expected = A @ c.dense() @ A.T
    np.testing.assert_allclose(
        c.affine(A).dense(), expected, rtol=1e-9, atol=1e-12 * np.max(np.abs(expected))
    )


def batch_is_a_loop(c: Any, rng: np.random.Generator) -> None:
    """A batch answers as its members would, one by one; one vector is taken for all."""
    z = _vectors(c, rng)
    for i in np.ndindex(c.batch_shape):
        one, here = c[i], (slice(None), *i)
        assert one.batch_shape == ()
        np.testing.assert_allclose(one.dense(), c.dense()[i], rtol=1e-14)
        added: Any = getattr(c, "jitter", 0.0)
        np.testing.assert_array_equal(getattr(one, "jitter", 0.0), added[i] if np.ndim(added) else added)
        np.testing.assert_allclose(one.mahalanobis(z[here]), c.mahalanobis(z)[here], rtol=_slack(c))
        np.testing.assert_allclose(one.mahalanobis(z[0][i]), c.mahalanobis(z[0][i])[i], rtol=_slack(c))
    wide = c.expand((2, *c.batch_shape))
    np.testing.assert_allclose(
        wide.mahalanobis(z[:, None]), np.stack([c.mahalanobis(z)] * 2, 1), rtol=_slack(c)
    )


def cannot_be_changed(c: Any, rng: np.random.Generator) -> None:
    """Parameters are frozen copies; a pickle is the same structure."""
    assert_frozen(c)
    again = pickle.loads(pickle.dumps(c))  # noqa: S301
    assert type(again) is type(c)
    np.testing.assert_array_equal(again.dense(), c.dense())
    np.testing.assert_array_equal(again.log_det, c.log_det)


def bad_parameters_are_refused(c: Any, rng: np.random.Generator) -> None:
    """NaN in a parameter, and coordinates that do not exist, are one ValueError that names the argument."""
    for name, x in parameters(c).items():
        if isinstance(x, np.ndarray) and x.ndim:
            bad = np.array(x)
            bad[..., -1] = np.nan
            refused(partial(replace, c, **{name: bad}), name)
    for dims in ([c.dim], [-c.dim - 1], [0, 0], [0.5], "a", []):
        refused(partial(c.marginal, dims), "dims")
    refused(partial(c.condition, range(c.dim)), "dims")
    for factor in (0.0, -1.0, np.nan, np.inf):
        refused(partial(c.scaled, factor), "factor")


COVARIANCE_LAWS = laws_above(globals())


def _vectors(c: Any, rng: np.random.Generator) -> np.ndarray:
    """A few vectors of the structure's own size and directions."""
    return c.color(rng.standard_normal((5, *c.batch_shape, c.noise_dim)))


def _scale(c: Any) -> np.ndarray:
    return np.sqrt(c.diagonal)


def _slack(c: Any, factor: float = 1.0, of: np.ndarray | None = None) -> float:
    """Return the rounding error of the structure, times a factor and the size of vectors."""
    size = 1.0 if of is None else float(np.max(np.abs(of / _scale(c))))
    return factor * rounding_error(c.dense()) * max(1.0, size)


def check_covariance(structure: Any, rng: Any = 0) -> None:
    """Run every law of covariance structures on one.

    Examples
    --------
    >>> from tractable.covariance import Diagonal
    >>> check_covariance(Diagonal(variances=[1.0, 4.0]))
    """
    check_laws(COVARIANCE_LAWS, structure, rng)
