"""Rows of one column, and the points along it at which a curve is drawn."""

from typing import Any

import numpy as np

from tractable.plotting.rows import box_of

__all__ = ["given_rows", "line_points", "one_column"]


def given_rows(data: Any, X: Any) -> Any:
    """Return the rows to show, by either of their names."""
    if data is not None and X is not None:
        raise ValueError("data and X are the same: give one of them")
    return X if data is None else data


def one_column(X: Any, name: str) -> np.ndarray:
    """Return the one column of X."""
    found = np.asarray(X, dtype=float)
    if found.ndim == 2 and found.shape[1] == 1:
        return found[:, 0]
    if found.ndim == 1:
        return found
    raise ValueError(f"{name} must have one column to be drawn over, got shape {found.shape}")


def line_points(rows: Any, grid: Any) -> tuple[np.ndarray, np.ndarray | None]:
    """Return where a curve is drawn, along the rows or on the grid, and where the rows are."""
    at = None if rows is None else one_column(rows, "data")
    if grid is not None:
        return np.sort(one_column(grid, "grid")), at
    low, high = box_of(at[:, None], 0.05)  # type: ignore[index]
    return np.linspace(low[0], high[0], 200), at
