"""What searches ask of their arguments: one ValueError that names the argument."""

from typing import Any

import numpy as np

from tractable.arrays.limits import LARGEST, check_squarable, extremes, plainly_squarable
from tractable.arrays.namespace import is_foreign_array
from tractable.arrays.random import as_generator

#: Distances of i from j and of j from i agree to this fraction of the largest.
SYMMETRIC = 1e-8


def as_rows(name: str, x: Any, dim: int | None = None, *, missing: bool = False) -> np.ndarray:
    """Return x as float64 rows in one piece, of the right width; one vector is not a row.

    They are finite, but for NaN where entries may be missing.
    """
    if is_foreign_array(x):
        raise ValueError(f"{name} must be a NumPy array: arrays of other libraries are not moved silently")
    given = as_array(x)
    if given.dtype.kind not in "biuf":
        raise ValueError(f"{name} must be an array of real numbers, got {type(x).__name__}")
    if given.ndim != 2:
        raise ValueError(f"{name} must be rows, an array of two axes, got shape {given.shape}")
    rows = np.ascontiguousarray(given, dtype=np.float64)
    if dim is not None and rows.shape[1] != dim:
        raise ValueError(f"{name} must have {dim} columns as the points have, got {rows.shape[1]}")
    # One pass over rows that are fine; the extremes are NaN where an entry is.
    if plainly_squarable(rows) or (rows.size and max(map(abs, extremes(rows))) <= LARGEST):
        return rows
    if np.isinf(rows).any() if missing else not np.isfinite(rows).all():
        raise ValueError(f"{name} must be finite: it contains {'infinity' if missing else 'NaN or infinity'}")
    return check_squarable(name, rows)


def as_count(k: Any, most: int, *, excluded: bool = False) -> int:
    """Return a number of neighbours, from 1 to the number of points."""
    count = as_whole("k", k, 1)
    if count > most:
        left = ", one of them excluded" if excluded else ""
        raise ValueError(f"k must be at most the number of points, {most + excluded}{left}; got {count}")
    return count


def as_radii(r: Any, n_rows: int) -> np.ndarray:
    """Return one radius for each row."""
    given = as_array(r)
    if given.dtype.kind not in "iuf":
        raise ValueError(f"r must be a number, or one for each row, got {r!r:.60}")
    radii = given.astype(np.float64)
    if radii.shape not in {(), (n_rows,)}:
        raise ValueError(f"r must be a number or one for each of {n_rows} rows, got shape {radii.shape}")
    if np.isnan(radii).any():
        raise ValueError(f"r must be a number, got NaN in {r!r:.60}")
    if not np.all(radii >= 0.0):
        raise ValueError(f"r must not be negative, got {r!r:.60}")
    return np.ascontiguousarray(np.broadcast_to(radii, (n_rows,)))


def as_excluded(exclude: Any, n_rows: int, n_points: int) -> np.ndarray | None:
    """Return the point that each row leaves out; -1 leaves out none."""
    if exclude is None:
        return None
    points = as_array(exclude)
    if points.dtype.kind not in "iu" and points.size:
        raise ValueError(f"exclude must be whole numbers, indices of points, got {points.dtype} ones")
    if points.shape != (n_rows,):
        raise ValueError(
            f"exclude must be one whole number for each of {n_rows} rows, got shape {points.shape}"
        )
    if n_rows and not (points.min() >= -1 and points.max() < n_points):
        raise ValueError(f"exclude must be indices of points below {n_points}, or -1")
    return points.astype(np.int64)


def as_threads(n_threads: Any) -> int | None:
    """Return a number of threads; None stands for all cores."""
    return None if n_threads is None else as_whole("n_threads", n_threads, 1)


def as_seed(random_state: Any) -> int:
    """Return the seed of random trees: the given one, or one drawn."""
    try:
        generator = as_generator(random_state)
    except ValueError:
        raise ValueError(
            "random_state must be None, a whole number that is not negative, a RandomState or a Generator, "
            f"got {random_state!r}"
        ) from None
    return int(random_state if isinstance(random_state, int | np.integer) else generator.integers(2**32))


def as_whole(name: str, number: Any, least: int, most: int | None = None) -> int:
    """Return a whole number that is no less than `least`, and no more than `most`."""
    whole = isinstance(number, int | np.integer) and not isinstance(number, bool)
    if not whole or number < least or (most is not None and number > most):
        wanted = f"of at least {least}" if most is None else f"from {least} to {most}"
        raise ValueError(f"{name} must be a whole number {wanted}, got {number!r}")
    return int(number)


def as_real(name: str, number: Any, least: float, below: float) -> float:
    """Return a number from `least` to less than `below`."""
    real = isinstance(number, int | float | np.integer | np.floating) and not isinstance(number, bool)
    if not real or not least <= number < below:
        raise ValueError(f"{name} must be a number from {least:g} to less than {below:g}, got {number!r}")
    return float(number)


def as_array(x: Any) -> np.ndarray:
    """Return an array, of objects where there is none to be made."""
    try:
        return np.asarray(x)
    except (TypeError, ValueError):
        return np.full(1, None)


def check_distances(X: np.ndarray) -> None:
    """Refuse what is not a matrix of distances: square, symmetric, not negative, zero on the diagonal.

    Examples
    --------
    >>> check_distances(np.array([[0.0, 2.0], [2.0, 0.0]]))
    """
    check_square(X)
    size = float(X.max())
    if np.any(np.abs(np.diagonal(X)) > SYMMETRIC * size):
        at = int(np.argmax(np.abs(np.diagonal(X))))
        raise ValueError(
            f"X must be zero on the diagonal, and the distance of {at} from itself is {X[at, at]:g}"
        )
    apart = np.abs(X - X.T)
    if np.max(apart) > SYMMETRIC * size:
        i, j = np.unravel_index(int(np.argmax(apart)), X.shape)
        raise ValueError(
            f"X must be symmetric, and the distance of {i} from {j} is {X[i, j]:g}, of {j} from {i} "
            f"{X[j, i]:g}; (X + X.T) / 2 is symmetric"
        )


def check_square(X: np.ndarray) -> None:
    """Refuse what is not a square matrix of numbers that are not negative.

    Examples
    --------
    >>> check_square(np.array([[0.0, 2.0], [1.0, 0.0]]))
    """
    if X.shape[0] != X.shape[1]:
        raise ValueError(f'X must be a square matrix of distances with metric="precomputed", got {X.shape}')
    if np.any(X < 0.0):
        raise ValueError("X must be distances, and some are negative")
