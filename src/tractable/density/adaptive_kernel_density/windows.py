"""Rows as places: equal rows are one place that counts as often as there are rows."""

from collections.abc import Callable

import numpy as np

from tractable.base import Rows
from tractable.primitives.kernel_sums import log_local_windows, window_blocks
from tractable.primitives.threads import ordered_map
from tractable.spatial.choose import as_index
from tractable.spatial.counted import Counted, nearest_counted
from tractable.spatial.index import Index
from tractable.value import value

__all__ = [
    "Places",
    "balloon",
    "index_of",
    "local_covariances",
    "neighbours_of_places",
    "places_of",
    "sample_point",
    "whitening",
]

#: A column that never varies is given so many roundings of its values as a spread.
ROUNDINGS = 8.0


@value
class Places:
    """The distinct rows, in units in which every column has mean zero and variance one."""

    points: np.ndarray  # (m, d), in the order of their first column, then of the second, …
    weights: np.ndarray  # (m,), rows at each
    middle: np.ndarray  # (d,)
    spread: np.ndarray  # (d,)
    constant: np.ndarray  # (d,), columns that do not vary

    def inside(self, x: np.ndarray) -> np.ndarray:
        """Return rows in these units."""
        return (x - self.middle) / self.spread

    def some(self, chosen: np.ndarray) -> "Places":
        """Return some of the places, in the same units."""
        return Places(
            points=np.ascontiguousarray(self.points[chosen]),
            weights=self.weights[chosen],
            middle=self.middle,
            spread=self.spread,
            constant=self.constant,
        )


def places_of(rows: Rows) -> Places:
    """Group equal rows and standardise columns, whatever their units.

    Examples
    --------
    >>> found = places_of(Rows(data=np.array([[3.0], [1.0], [3.0], [1.0]])))
    >>> found.points.ravel().tolist(), found.weights.tolist()
    ([-1.0, 1.0], [2.0, 2.0])
    """
    given = np.ones(len(rows.data)) if rows.weights is None else rows.weights
    points, number = np.unique(rows.data, axis=0, return_inverse=True)
    weights = np.bincount(number.ravel(), given, minlength=len(points))
    reach = np.ptp(points, axis=0)
    unit = np.where(reach > 0.0, reach, 1.0)
    part = (points - points[0]) / unit
    middle = weights @ part / weights.sum()
    spread = np.sqrt(weights @ (part - middle) ** 2 / weights.sum())
    centre, eps = points[0] + unit * middle, float(np.finfo(float).eps)
    rounding = ROUNDINGS * eps * np.where(centre != 0.0, np.abs(centre), 1.0)
    width = np.where(reach > 0.0, unit * spread, rounding)
    inside = (part - middle) * unit / width
    return Places(points=inside, weights=weights, middle=centre, spread=width, constant=reach == 0.0)


#: Entries of differences held at a time.
BLOCK = 2**19

#: Rows asked at a time by a thread.
ROWS = 64

#: The narrowest window, in the spread of the columns: rows that differ by less are one to the eye.
NARROWEST = 8.0 * float(np.finfo(float).eps)


def index_of(places: Places) -> Index:
    """Return the index of places."""
    return as_index(places.points)


def neighbours_of_places(places: Places, index: Index, k: int) -> Counted:
    """Return the k nearest rows of other places, for each place."""
    own = np.arange(len(places.points))
    weights = places.weights
    if np.all(weights == 1.0):
        return nearest_counted(index, places.points, min(k, len(own) - 1), None, own)
    return nearest_counted(index, places.points, k, weights, own, copies=False)


def local_covariances(at: np.ndarray, points: np.ndarray, near: Counted, shrinkage: float) -> np.ndarray:
    """Return Σ(x) = (1/K) Σ_S (x_i - x)(x_i - x)ᵀ of the neighbours S of x, drawn towards a ball, (m, d, d).

    (1 - λ) Σ + λ (tr Σ / D) I, in standard units: regular even where neighbours span no volume.
    """
    m, dim = at.shape
    found = np.empty((m, dim, dim))
    shares = near.counts / np.maximum(near.counts.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    step = max(1, BLOCK // (near.indices.shape[1] * dim))
    for start in range(0, m, step):
        part = slice(start, start + step)
        away = points[near.indices[part]] - at[part, None, :]
        found[part] = np.swapaxes(away * shares[part, :, None], 1, 2) @ away
    size = np.trace(found, axis1=1, axis2=2) / dim
    narrow = size < NARROWEST**2
    ball = np.where(narrow, NARROWEST**2, size)[:, None, None] * np.eye(dim)
    return np.where(narrow[:, None, None], ball, (1.0 - shrinkage) * found + shrinkage * ball)


def sample_point(x: np.ndarray, places: Places, covariances: np.ndarray) -> np.ndarray:
    """Return log Σ_i w_i N(x | x_i, Σ_i) at rows x (q, d), the covariances those of the places (m, d, d)."""
    whiten, log_scale = whitening(covariances)
    blocks = window_blocks(places.points)
    order = blocks.order
    heights = (np.log(places.weights / places.weights.sum()) + log_scale)[order]
    points, whiten, rates = places.points[order], whiten[order], _rates(covariances)[order]

    return _in_blocks(lambda part: log_local_windows(x[part], points, whiten, heights, blocks, rates), len(x))


def balloon(x: np.ndarray, places: Places, covariances: np.ndarray) -> np.ndarray:
    """Return log Σ_i w_i N(x | x_i, Σ(x)) at rows x (q, d), the covariances those of the rows (q, d, d)."""
    whiten, log_scale = whitening(covariances)
    blocks = window_blocks(places.points)
    points = places.points[blocks.order]
    heights, rates = np.log(places.weights / places.weights.sum())[blocks.order], _rates(covariances)

    def some(part: slice) -> np.ndarray:
        return log_local_windows(x[part], points, whiten[part], heights, blocks, rates[part], of_rows=True)

    return log_scale + _in_blocks(some, len(x))


def _rates(covariances: np.ndarray) -> np.ndarray:
    """Return 1 / (2 λ) of each covariance, λ its greatest eigenvalue: the slowest a window falls."""
    return 0.5 / np.linalg.eigvalsh(covariances)[:, -1]


def whitening(covariances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return L⁻¹ and log N(0 | 0, Σ) of covariances Σ = L Lᵀ."""
    try:
        lower = np.linalg.cholesky(covariances)
    except np.linalg.LinAlgError:
        raise ValueError(
            "shrinkage must be larger: the neighbours of a row of X span no volume without it"
        ) from None
    dim = covariances.shape[-1]
    log_det = np.sum(np.log(np.diagonal(lower, axis1=1, axis2=2)), axis=1)
    return np.linalg.inv(lower), -0.5 * dim * np.log(2.0 * np.pi) - log_det


def _in_blocks(function: Callable[[slice], np.ndarray], n_rows: int) -> np.ndarray:
    """Fill an answer for each row in blocks, on all cores."""
    out = np.empty(n_rows)

    def fill(start: int) -> None:
        part = slice(start, min(start + ROWS, n_rows))
        out[part] = function(part)

    for _ in ordered_map(fill, range(0, n_rows, ROWS)):
        pass
    return out
