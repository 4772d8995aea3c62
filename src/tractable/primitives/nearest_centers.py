"""Lloyd's step: the nearest centre of every row, and what each centre then holds.

Rows are shifted and scaled on the way, so that data far from the origin keep their digits and no copy of them
is made. Distances are compared as |c|² - 2 c·x, by matrix products in single precision; where the two
smallest are closer than its rounding, in double precision, and at last by differences. Labels are therefore
those of exact distances, the first of equals.
"""

from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, is_numpy_array
from tractable.primitives._agnostic.nearest_centers import assign as agnostic
from tractable.value import value

__all__ = ["Assignment", "Holdings", "Movement", "assign", "holdings", "movement_of", "reassign"]


@value
class Assignment:
    """Rows given to their nearest centres."""

    labels: Any  # (n,)
    sums: Any  # (K, d), Σ w x of the rows of each centre, shifted and scaled
    counts: Any  # (K,), Σ w
    cost: Any  # Σ w |x - c|², scaled


@value
class Holdings:
    """What centres hold, given the labels of rows."""

    sums: np.ndarray
    counts: np.ndarray
    cost: float
    away: float  # the largest |x - c|² of a row that counts
    row: int  # which it is; -1 where no row counts


@value
class Movement:
    """How far centres moved since the bounds were true (Hamerly 2010), and how far they are apart."""

    half: np.ndarray  # (K,), half the distance to the nearest other centre
    move: np.ndarray  # (K,)
    drop: np.ndarray  # (K,), the largest move of another centre


def movement_of(before: np.ndarray, centers: np.ndarray) -> Movement:
    """Return how the centres moved.

    Examples
    --------
    >>> movement_of(np.array([[0.0], [4.0]]), np.array([[1.0], [4.0]])).half.round(6).tolist()
    [1.5, 1.5]
    """
    squares = np.sum(centers * centers, axis=1)
    apart = squares[:, None] + squares - 2.0 * centers @ centers.T
    np.fill_diagonal(apart, np.inf)
    # What rounding may have added is taken off: half the distance, or less.
    nearest = np.maximum(apart.min(axis=1) - 1e-15 * (centers.shape[1] + 4) * squares.max(), 0.0)
    move = np.sqrt(np.sum((centers - before) ** 2, axis=1)) * (1.0 + 1e-12)
    farthest = int(np.argmax(move))
    drop = np.full(len(move), move[farthest])
    drop[farthest] = np.max(np.delete(move, farthest), initial=0.0)
    return Movement(half=0.5 * np.sqrt(nearest) * (1.0 - 1e-12), move=move, drop=drop)


def assign(x: Array, weights: Array | None, shift: Array, scale: float, centers: Array) -> Assignment:
    """Give every row to its nearest centre: k = argmin_k |x - c_k|², the first of equals.

    Parameters
    ----------
    x : array (n, d)
    weights : array (n,) or None
        How often each row counts.
    shift : array (d,)
    scale : float
        Distances are those of ``(x - shift) * scale``.
    centers : array (K, d)
        Shifted and scaled already.

    Examples
    --------
    >>> x = np.array([[0.0], [1.0], [9.0]])
    >>> found = assign(x, None, np.zeros(1), 1.0, np.array([[0.0], [9.0]]))
    >>> found.labels.tolist(), found.sums.tolist(), found.cost
    ([0, 0, 1], [[1.0], [9.0]], 1.0)
    """
    if not is_numpy_array(x):
        return Assignment(**agnostic(x, weights, shift, scale, centers))
    n = len(x)
    labels = np.full(n, -1, np.int32)
    bounds = np.zeros(n, np.float32), np.zeros(n, np.float32)
    zeros = np.zeros(len(centers))
    still = Movement(half=zeros, move=zeros, drop=zeros)
    sums, counts, cost, _, _ = reassign(x, weights, shift, scale, centers, still, labels, *bounds)
    return Assignment(labels=labels, sums=sums, counts=counts, cost=cost)


def reassign(
    x: np.ndarray,
    weights: np.ndarray | None,
    shift: np.ndarray,
    scale: float,
    centers: np.ndarray,
    movement: Movement,
    labels: np.ndarray,
    upper: np.ndarray,
    lower: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, float, float, int]:
    """Give rows to their nearest centres where bounds on their distances leave it open.

    Labels and bounds are changed in place: `upper` bounds the distance to a row's own centre, `lower` that to
    any other. Rows without a label yet have -1.

    Returns
    -------
    sums, counts : arrays (K, d) and (K,)
        By how much Σ w x and Σ w of the rows of each centre change.
    cost : float
        Σ w |x - c|² of the rows that had no label.
    gain : float
        By how much the others that changed came nearer.
    changed : int
        How many rows have another label.
    """
    from tractable.primitives._compiled.nearest_centers import reassign as compiled

    sums, counts = np.zeros(centers.shape), np.zeros(len(centers))
    cost, gain, changed = compiled(
        *_ready(x, weights, shift, scale, centers),
        *(movement.half, movement.move, movement.drop),
        *(labels, upper, lower, sums, counts, _block(centers)),
    )
    return sums, counts, cost, gain, changed


def holdings(
    x: np.ndarray,
    weights: np.ndarray | None,
    shift: np.ndarray,
    scale: float,
    centers: np.ndarray,
    labels: np.ndarray,
) -> Holdings:
    """Return what each centre holds under the given labels, by differences alone.

    Examples
    --------
    >>> x, labels = np.array([[0.0], [3.0]]), np.zeros(2, np.int32)
    >>> found = holdings(x, None, np.zeros(1), 1.0, np.array([[1.0]]), labels)
    >>> found.cost, found.away, found.row
    (5.0, 4.0, 1)
    """
    from tractable.primitives._compiled.nearest_centers import holdings as compiled

    sums, counts = np.zeros(centers.shape), np.zeros(len(centers))
    cost, away, row = compiled(*_ready(x, weights, shift, scale, centers), labels, sums, counts)
    return Holdings(sums=sums, counts=counts, cost=cost, away=away, row=row)


def _ready(x: np.ndarray, weights: Any, shift: np.ndarray, scale: float, centers: np.ndarray) -> tuple:
    w = np.empty(0) if weights is None else np.ascontiguousarray(weights)
    x, centers = np.ascontiguousarray(x, dtype=np.float64), np.ascontiguousarray(centers)
    return x, w, np.ascontiguousarray(shift), scale, centers


def _block(centers: np.ndarray) -> int:
    """Return how many rows meet the centres at once: BLAS copies nothing while m·n·k is below a million.

    No power of two, whose columns would fall on one another in the cache.
    """
    most = 1_000_000 // max(1, centers.size)
    return 224 if most >= 224 else 160 if most >= 160 else 96
