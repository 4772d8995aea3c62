"""Gaussian windows whose covariance is that of the neighbours about a point."""

from functools import cached_property

import numpy as np

from tractable.arrays.linalg import inv_triangular
from tractable.base import Rows
from tractable.covariance import Full, LowRankPlusDiagonal
from tractable.data.blocks import map_rows
from tractable.primitives.kernel_sums import LocalWindows, WindowBlocks, window_blocks
from tractable.primitives.neighbors.kd_tree import kd_scatters
from tractable.spatial.counted import Counted, nearest_counted
from tractable.spatial.index import Index
from tractable.spatial.kd_tree import KDTree
from tractable.statistics.moments import DiagonalMoments
from tractable.statistics.standardizer import Standardizer
from tractable.value import replace, value

#: Entries of differences that a thread holds at a time.
BLOCK = 2**17

#: Rows of a block handed to a thread.
ROWS = 64

#: Columns of which the greatest eigenvalue of a window is worth its computation.
FEW_COLUMNS = 32

#: What is said of windows without volume.
NO_VOLUME = "shrinkage must be larger: the neighbours of a row of X span no volume without it"

#: The narrowest window, in standard deviations of the columns: rows that differ by less count as equal.
NARROWEST = 8.0 * float(np.finfo(float).eps)


@value
class UniqueRows:
    """The distinct rows, standardized, and how often each counts.

    Parameters
    ----------
    points : array (m, d)
        Standardized, in the order of their first column, then of the second, …
    weights : array (m,)
        Total weight of the rows at each point.
    standardizer : Standardizer
        Of the rows.
    """

    points: np.ndarray
    weights: np.ndarray
    standardizer: Standardizer

    @cached_property
    def blocks(self) -> WindowBlocks:
        """The points in blocks of neighbours."""
        return window_blocks(self.points)

    def select(self, chosen: np.ndarray) -> "UniqueRows":
        """Return some of the points, with the same standardizer."""
        return replace(self, points=np.ascontiguousarray(self.points[chosen]), weights=self.weights[chosen])


def unique_rows(rows: Rows) -> UniqueRows:
    """Group equal rows and standardize columns.

    Examples
    --------
    >>> found = unique_rows(Rows(data=np.array([[3.0], [1.0], [3.0], [1.0]])))
    >>> found.points.ravel().tolist(), found.weights.tolist()
    ([-1.0, 1.0], [2.0, 2.0])
    """
    points, number = np.unique(rows.data, axis=0, return_inverse=True)
    weights = np.bincount(number.ravel(), rows.row_weights, minlength=len(points))
    standardizer = Standardizer.from_moments(DiagonalMoments.of(points, weights))
    return UniqueRows(points=standardizer.transform(points), weights=weights, standardizer=standardizer)


def neighbors_of_unique(unique: UniqueRows, index: Index, k: int) -> Counted:
    """Return the k nearest rows at other points, for each unique row."""
    own = np.arange(len(unique.points))
    weights = unique.weights
    if np.all(weights == 1.0):
        return nearest_counted(index, unique.points, min(k, len(own) - 1), None, own)
    return nearest_counted(index, unique.points, k, weights, own, copies=False)


def window_covariances(
    unique: UniqueRows, index: Index, ks: np.ndarray, shrinkage: float
) -> list[np.ndarray]:
    """Return the covariances of the windows of all unique rows, (m, d, d), for each number of neighbours."""
    if isinstance(index, KDTree) and np.all(unique.weights == 1.0):
        ks = np.minimum(ks, len(unique.points) - 1)
        totals = kd_scatters(unique.points, index.tree, ks)
        return [shrunk(totals[:, i] / k, shrinkage) for i, k in enumerate(ks)]
    near = neighbors_of_unique(unique, index, int(ks[-1]))
    return [local_covariances(unique.points, unique.points, near.first(k), shrinkage) for k in ks]


def window_structure(
    unique: UniqueRows, index: Index, k: int, shrinkage: float
) -> Full | LowRankPlusDiagonal:
    """Return the windows of all unique rows, of low rank where neighbours are few for the columns."""
    if isinstance(index, KDTree):  # which is taken of few columns alone
        (found,) = window_covariances(unique, index, np.array([k]), shrinkage)
    else:
        near = neighbors_of_unique(unique, index, k)
        if 2 * near.indices.shape[1] < unique.points.shape[1]:
            return local_factors(unique.points, unique.points, near, shrinkage)
        found = local_covariances(unique.points, unique.points, near, shrinkage)
    return Full.from_cholesky(cholesky_of(found))


def local_covariances(at: np.ndarray, points: np.ndarray, near: Counted, shrinkage: float) -> np.ndarray:
    """Return Σ(x) = (1/K) Σ_S (x_i - x)(x_i - x)ᵀ of the neighbours S of x, shrunk to a sphere, (m, d, d)."""
    m, dim = at.shape
    total = np.maximum(near.counts.sum(axis=1), np.finfo(float).tiny)

    def scatter(part: np.ndarray) -> np.ndarray:
        away = points[near.indices[part]] - at[part, None, :]
        weights = near.counts[part] / total[part, None]
        return np.swapaxes(away * weights[:, :, None], 1, 2) @ away

    found = map_rows(scatter, np.arange(m), rows=max(1, BLOCK // (near.indices.shape[1] * dim)))
    return shrunk(found, shrinkage)


def shrunk(covariances: np.ndarray, shrinkage: float) -> np.ndarray:
    """Return (1 - λ) Σ + λ (tr Σ / D) I of standardized rows: regular where neighbours span no volume."""
    dim = covariances.shape[-1]
    size = np.trace(covariances, axis1=1, axis2=2) / dim
    narrow = size < NARROWEST**2
    ball = np.where(narrow, NARROWEST**2, size)[:, None, None] * np.eye(dim)
    return np.where(narrow[:, None, None], ball, (1.0 - shrinkage) * covariances + shrinkage * ball)


def local_factors(at: np.ndarray, points: np.ndarray, near: Counted, shrinkage: float) -> LowRankPlusDiagonal:
    """Return the covariances of `local_covariances` as F Fᵀ + v I, with a column of F a neighbour."""
    dim = at.shape[1]
    total = np.maximum(near.counts.sum(axis=1), np.finfo(float).tiny)
    root = np.sqrt(near.counts / total[:, None])
    factor = np.swapaxes((points[near.indices] - at[:, None, :]) * root[:, :, None], 1, 2)
    size = np.sum(factor**2, axis=(1, 2)) / dim
    narrow = size < NARROWEST**2
    variance = np.where(narrow, NARROWEST**2, shrinkage * size)
    if not np.all(variance > 0.0):
        raise ValueError(NO_VOLUME)
    factor *= np.where(narrow, 0.0, np.sqrt(1.0 - shrinkage))[:, None, None]
    return LowRankPlusDiagonal(factor=factor, variances=np.broadcast_to(variance[:, None], at.shape))


def sample_point(x: np.ndarray, unique: UniqueRows, covariances: np.ndarray) -> np.ndarray:
    """Return log Σ_i w_i N(x | x_i, Σ_i) at rows x (q, d), with a covariance for each point, (m, d, d)."""
    whiten, log_scale = whitening(covariances)
    heights = np.log(unique.weights / unique.weights.sum()) + log_scale
    windows = LocalWindows(
        points=unique.points, heights=heights, blocks=unique.blocks, whiten=whiten, rates=_rates(covariances)
    )
    return map_rows(windows.log_sums, x, rows=ROWS)


def balloon(x: np.ndarray, unique: UniqueRows, covariances: np.ndarray) -> np.ndarray:
    """Return log Σ_i w_i N(x | x_i, Σ(x)) at rows x (q, d), with a covariance for each row, (q, d, d)."""
    whiten, log_scale = whitening(covariances)
    heights, rates = np.log(unique.weights / unique.weights.sum()), _rates(covariances)
    windows = LocalWindows(points=unique.points, heights=heights, blocks=unique.blocks)

    def log_sums(part: np.ndarray) -> np.ndarray:
        return windows.log_sums(x[part], whiten[part], rates[part])

    return log_scale + map_rows(log_sums, np.arange(len(x)), rows=ROWS)


def _rates(covariances: np.ndarray) -> np.ndarray:
    """Return 1 / (2 λ) of each covariance, λ its greatest eigenvalue: the slowest decay of a window.

    Of many columns, where few windows can be left out, λ is bounded by the norm of the matrix.
    """
    if covariances.shape[-1] > FEW_COLUMNS:
        return 0.5 / np.linalg.norm(covariances, axis=(1, 2))
    return 0.5 / np.linalg.eigvalsh(covariances)[:, -1]


def cholesky_of(covariances: np.ndarray) -> np.ndarray:
    """Return L of covariances Σ = L Lᵀ, or refuse those without volume."""
    try:
        return np.linalg.cholesky(covariances)
    except np.linalg.LinAlgError:
        raise ValueError(NO_VOLUME) from None


def whitening(covariances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return L⁻¹ and log N(0 | 0, Σ) of covariances Σ = L Lᵀ."""
    lower = cholesky_of(covariances)
    dim = covariances.shape[-1]
    log_det = np.sum(np.log(np.diagonal(lower, axis1=1, axis2=2)), axis=1)
    return inv_triangular(lower), -0.5 * dim * np.log(2.0 * np.pi) - log_det
