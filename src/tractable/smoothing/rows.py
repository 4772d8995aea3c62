"""Checks of rows, weights and lengths, and rows of a period laid out on a line."""

from typing import Any

import numpy as np


def as_rows(X: Any, weights: Any = None) -> tuple[np.ndarray, np.ndarray | None]:
    """Return finite rows (n, d), of numbers (n,) too, and weights that are not negative, (n,) or None."""
    x = _as_numbers("X", X)
    x = x[:, None] if x.ndim == 1 else x
    if x.ndim != 2 or 0 in x.shape:
        raise ValueError(f"X must be rows (n, d) or numbers (n,), not empty, got shape {x.shape}")
    if not np.isfinite(x.min()) or not np.isfinite(x.max()):
        raise ValueError("X must be finite numbers, it contains NaN or infinity")
    return x, None if weights is None else _as_weights(weights, len(x))


def as_lengths(name: str, given: Any, dim: int | None = None, *, matrix: bool = False) -> np.ndarray:
    """Return positive lengths: a number, or one for each of `dim` columns; with `matrix` also (dim, dim)."""
    h = _as_numbers(name, given)
    if matrix and h.ndim == 2 and h.shape == (dim, dim):
        return h
    wanted = "a number, or one for each column" + (", or a matrix" if matrix else "")
    if h.ndim > 1:
        raise ValueError(f"{name} must be {wanted}, got shape {h.shape}")
    if dim is not None and h.ndim and len(h) != dim:
        raise ValueError(f"{name} has {len(h)} entries, and X has {dim} columns; it must be {wanted}")
    if not (h.size and np.all((h > 0) & np.isfinite(h))):
        raise ValueError(f"{name} must be positive and finite: {wanted}; got {given!r}")
    return h if dim is None else np.array(np.broadcast_to(h, (dim,)))


def _as_weights(weights: Any, n: int) -> np.ndarray:
    w = _as_numbers("weights", weights)
    if w.shape != (n,):
        raise ValueError(f"weights must have shape ({n},), one for each row of X, got {w.shape}")
    if not (np.all(w >= 0) and np.all(np.isfinite(w)) and np.any(w > 0)):
        raise ValueError("weights must be finite and not negative, at least one of them positive")
    return w


def _as_numbers(name: str, given: Any) -> np.ndarray:
    """Return real numbers as float64; truth values are none."""
    found: np.ndarray | None
    try:
        found = np.asarray(given)
        numeric = found.dtype.kind in "iufO" and given is not None
        found = found.astype(np.float64, copy=False) if numeric else None
    except (TypeError, ValueError):
        found = None
    if found is None:
        shown = repr(given) if np.ndim(given) == 0 else f"an array of {np.asarray(given).dtype}"
        raise ValueError(f"{name} must be real numbers, got {shown}")
    return found


def unrolled(X: Any, period: Any, weights: Any = None) -> np.ndarray:
    """Return periodic columns as numbers: wrapped into one period, which is cut in its largest gap.

    Distances across the cut are lost, and all others are those on the circle, so that bandwidth rules depend
    on the spread of the rows, not on where the period begins, and left-out rows keep their neighbours.

    Parameters
    ----------
    X : array (n, d) or (n,)
        Rows, or the values of one column.
    period : number, or one (or None) a column
        The length of a period.
    weights : array (n,), optional
        Rows of weight zero do not move the cut.

    Examples
    --------
    >>> unrolled([23.0, 1.0, 26.0], 24.0).ravel().tolist()
    [23.0, 25.0, 26.0]
    """
    X, w = as_rows(X, weights)
    lengths = [period] * X.shape[1] if np.ndim(period) == 0 else list(period)
    columns = [x if t is None else _cut(x, float(t), w) for x, t in zip(X.T, lengths, strict=True)]
    return np.stack(columns, axis=1)


def _cut(x: np.ndarray, period: float, weights: np.ndarray | None) -> np.ndarray:
    """Return numbers wrapped into the period that begins after the widest gap."""
    first = x.min()
    wrapped = first + np.mod(x - first, period)  # from a row on: a remainder of the origin would cost digits
    positions = np.unique(wrapped if weights is None else wrapped[weights > 0])
    gaps = np.diff(positions, append=positions[0] + period)
    widest = int(np.argmax(gaps))
    if widest == len(positions) - 1:
        return wrapped
    return np.where(wrapped <= positions[widest], wrapped + period, wrapped)
