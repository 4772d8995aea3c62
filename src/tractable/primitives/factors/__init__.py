"""The E-step of models with latent factors, x = W z + μ + noise, over rows with missing entries."""

from typing import Any, NamedTuple

import numpy as np

from tractable.arrays.devices import beside
from tractable.arrays.grouping import sorted_by_pattern
from tractable.arrays.linalg import product
from tractable.arrays.namespace import device, namespace_of, to_numpy
from tractable.primitives import as_double, runs_compiled
from tractable.primitives.factors import agnostic
from tractable.value import value


@value
class IncompleteRows:
    """Rows sorted by which of their entries are observed, and what every E-step sums of them alike.

    Rows in which nothing is observed are left out: they change nothing.

    Parameters
    ----------
    x : array (n, d)
        The rows, with zeros for what is missing.
    masks : array (P, d)
        Of each pattern, ones for the entries that are observed, and zeros.
    begins : array (P + 1,)
        Where the rows of each pattern begin, and where the last ones end.
    order : array (n,)
        The position of each row before sorting.
    weights : array (n,)
        How often each row counts.
    counts, sums, squares : arrays (d,)
        Σ w, Σ w x and Σ w x² over the rows in which a column is observed.
    """

    x: np.ndarray
    masks: np.ndarray
    begins: np.ndarray
    order: np.ndarray
    weights: np.ndarray
    counts: np.ndarray
    sums: np.ndarray
    squares: np.ndarray

    @classmethod
    def of(cls, x: np.ndarray, weights: np.ndarray | None = None) -> "IncompleteRows":
        """Sort rows (n, d), in which NaN is missing.

        Examples
        --------
        >>> rows = IncompleteRows.of(np.array([[1.0, 2.0], [np.nan, 3.0], [np.nan, np.nan]]))
        >>> rows.x.tolist(), rows.masks.tolist(), rows.order.tolist()
        ([[0.0, 3.0], [1.0, 2.0]], [[0.0, 1.0], [1.0, 1.0]], [1, 0])
        """
        xp = namespace_of(x)
        seen = to_numpy(~xp.isnan(x))
        some = np.flatnonzero(seen.any(axis=1))
        order, numbers, masks = sorted_by_pattern(seen[some])
        order = some[order]
        here, mask = beside((order, seen[order].astype(np.float64)), x)
        rows = xp.take(x, here, axis=0)
        w = xp.ones_like(rows[:, 0]) if weights is None else xp.take(as_double(weights), here)
        filled = xp.where(mask > 0.0, rows, 0.0)
        return cls(
            x=filled,
            masks=beside(masks.astype(np.float64), x),
            begins=np.concatenate([[0], np.cumsum(numbers)]),
            order=order,
            weights=w,
            counts=w @ mask,
            sums=w @ filled,
            squares=w @ filled**2,
        )


class FactorPass(NamedTuple):
    """What rows add to the expected statistics of latent factors z, given their observed entries x_o.

    Packed are the entries of lower triangles, row after row.
    """

    first: np.ndarray  # (d, r), Σ w E[z] over the rows in which a column is observed
    second: np.ndarray  # (d, q), Σ w E[z zᵀ] over those, packed
    cross: np.ndarray  # (d, r), Σ w x_j E[z] over those
    latent_first: np.ndarray  # (r,), Σ w E[z] over all rows
    latent_second: np.ndarray  # (q,), Σ w E[z zᵀ] over all rows, packed
    log_likelihood: float  # Σ w log p(x_o)


def factor_pass(
    rows: IncompleteRows, mean: np.ndarray, loadings: np.ndarray, noise: np.ndarray
) -> FactorPass:
    """Sum the moments of the latent factors z of rows of which entries x_o are observed.

    p(z | x_o) = N(M⁻¹ W_oᵀ D_o⁻¹ (x_o - μ_o), M⁻¹) with M = I + W_oᵀ D_o⁻¹ W_o, one small matrix for each
    pattern. M of all patterns, and what each column sums, are products of the patterns' masks with small
    matrices: BLAS does the work, O(d r²) for a pattern and O(d r) for a row.

    Parameters
    ----------
    rows : IncompleteRows
        Rows, of columns near 0 and of variances near 1.
    mean : array (d,)
        μ.
    loadings : array (d, r)
        W.
    noise : array (d,)
        The diagonal of D, positive.

    Examples
    --------
    >>> rows = IncompleteRows.of(np.array([[2.0, np.nan]]))
    >>> found = factor_pass(rows, np.zeros(2), np.ones((2, 1)), np.ones(2))
    >>> found.latent_first.tolist(), found.latent_second.tolist()  # E[z] = 1, E[z²] = 1 + 1/2
    ([1.0], [1.5])
    """
    xp, r = namespace_of(rows.x), loadings.shape[1]
    scaled, shift, matrices = _small_matrices(rows, mean, loadings, noise)
    b = product(rows.x, scaled)
    work = 8 * rows.x.shape[0] * (r + 1) ** 2
    moments: Any = agnostic.latent_moments
    if runs_compiled(rows.x, work):
        from tractable.primitives.factors.compiled import latent_moments

        moments = latent_moments
    z, first, second, explained, log_det = moments(matrices, shift, b, rows.begins, rows.weights)
    observed = xp.log(2.0 * np.pi * noise) + mean**2 / noise
    squares = rows.squares / noise - 2.0 * rows.sums * (mean / noise) + rows.counts * observed
    sums = product(rows.masks.T, xp.concat([first, second], axis=1))
    return FactorPass(
        first=sums[:, :r],
        second=sums[:, r:],
        cross=product(rows.x.T, z),
        latent_first=xp.sum(first, axis=0),
        latent_second=xp.sum(second, axis=0),
        log_likelihood=-0.5 * float(xp.sum(squares) - explained + log_det),
    )


def latent_posterior(
    rows: IncompleteRows, mean: np.ndarray, loadings: np.ndarray, noise: np.ndarray, n: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the posterior mean and covariance of the factors of n rows, (n, r) and (n, r, r).

    Rows are in the order they had before they were grouped, those without an entry included; see
    `factor_pass`.

    Examples
    --------
    >>> rows = IncompleteRows.of(np.array([[2.0, np.nan], [np.nan, np.nan]]))
    >>> means, covariances = latent_posterior(rows, np.zeros(2), np.ones((2, 1)), np.ones(2), 2)
    >>> means.tolist(), covariances.tolist()
    ([[1.0], [0.0]], [[[0.5]], [[1.0]]])
    """
    xp, r = namespace_of(rows.x), loadings.shape[1]
    scaled, shift, matrices = _small_matrices(rows, mean, loadings, noise)
    inverse = xp.linalg.inv(unpacked(matrices, r))
    pattern = beside(agnostic.patterns_of(rows.begins), inverse)
    own = xp.take(inverse, pattern, axis=0)
    means = own @ (product(rows.x, scaled) - xp.take(shift, pattern, axis=0))[:, :, None]
    # Of rows without an entry the prior, behind those with some.
    empty = np.setdiff1d(np.arange(n), rows.order)
    back = beside(np.argsort(np.concatenate([rows.order, empty])), inverse)
    eye = xp.eye(r, dtype=inverse.dtype, device=device(inverse))
    rest = xp.broadcast_to(eye, (len(empty), r, r))
    means = xp.concat([means[:, :, 0], 0.0 * rest[:, :, 0]])
    return xp.take(means, back, axis=0), xp.take(xp.concat([own, rest]), back, axis=0)


def _small_matrices(
    rows: IncompleteRows, mean: np.ndarray, loadings: np.ndarray, noise: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return D⁻¹W, (d, r); and W_oᵀ D_o⁻¹ μ_o, (P, r), and M, packed, (P, q), of each pattern."""
    xp, r = namespace_of(loadings), loadings.shape[1]
    lower = np.tril_indices(r)
    i, j, one = beside((*lower, np.equal(*lower).astype(np.float64)), loadings)
    scaled = loadings / noise[:, None]
    pairs = xp.take(scaled, i, axis=1) * xp.take(loadings, j, axis=1)
    found = product(rows.masks, xp.concat([scaled * mean[:, None], pairs], axis=1))
    return scaled, found[:, :r], found[:, r:] + one


def unpacked(triangles: np.ndarray, r: int) -> np.ndarray:
    """Return symmetric matrices (..., r, r) from their lower triangles, (..., q).

    Examples
    --------
    >>> unpacked(np.array([1.0, 2.0, 3.0]), 2).tolist()
    [[1.0, 2.0], [2.0, 3.0]]
    """
    i, j = np.tril_indices(r)
    place = np.empty((r, r), dtype=np.int64)
    place[i, j] = place[j, i] = np.arange(len(i))
    xp = namespace_of(triangles)
    found = xp.take(triangles, beside(place.ravel(), triangles), axis=-1)
    return xp.reshape(found, (*triangles.shape[:-1], r, r))
