"""Rows of numbers between a picture and a model: in and out, by name where there are names."""

from typing import Any

import numpy as np

__all__ = [
    "MOST_ROWS",
    "box_of",
    "column_names",
    "draw_rows",
    "given_rows",
    "how_many",
    "line_points",
    "one_column",
    "paleness",
    "rows_like",
    "some_rows",
    "target_name",
]


def column_names(x: Any) -> list[str]:
    """Return what the columns of a fitted model are called."""
    named = getattr(x, "feature_names_in_", None)
    return [f"x{j}" for j in range(x.n_features_in_)] if named is None else [str(name) for name in named]


def rows_like(x: Any, rows: np.ndarray) -> Any:
    """Return rows as the model knows them: with its column names, where it has any."""
    names = getattr(x, "feature_names_in_", None)
    if names is None:
        return rows
    import pandas as pd

    return pd.DataFrame(rows, columns=names)


def target_name(y: Any) -> str:
    """Return what the targets are called, where they came with a name."""
    name = getattr(y, "name", None)
    return name if isinstance(name, str) and name else "y"


def box_of(points: np.ndarray, room: float = 0.08) -> tuple[np.ndarray, np.ndarray]:
    """Return the corners of a box about points, with some room; of a column that is constant, its size."""
    low, high = points.min(axis=0), points.max(axis=0)
    about = np.where(high == 0.0, 1.0, np.abs(high))
    margin = room * np.where(high > low, high - low, about)
    return low - margin, high + margin


#: More marks than this hide each other, and what is drawn beneath them.
MOST_ROWS = 4_000

#: Marks are opaque up to this many.
OPAQUE = 500


def some_rows(rows: np.ndarray) -> np.ndarray:
    """Return which of the rows to draw: all, or `MOST_ROWS` of them by lot, the same ones every time.

    The least and the greatest of each column are among them: the picture reaches as far as the rows do.
    """
    n = len(rows)
    if n <= MOST_ROWS:
        return np.arange(n)
    flat = np.reshape(rows, (n, -1))
    ends = np.unique([np.argmin(flat, axis=0), np.argmax(flat, axis=0)])
    others = np.random.default_rng(0).permutation(n)
    others = others[~np.isin(others, ends)]
    return np.sort(np.concatenate([ends, others])[:MOST_ROWS])


def how_many(n: int) -> str:
    """Say how many of n rows are drawn, where not all are.

    Examples
    --------
    >>> how_many(100), how_many(100_000)
    ('', '4,000 of 100,000 rows')
    """
    return f"{MOST_ROWS:,} of {n:,} rows" if n > MOST_ROWS else ""


def draw_rows(
    ax: Any, rows: np.ndarray, *, label: str | None = "data", c: Any = None, s: Any = 9.0, **style: Any
) -> Any:
    """Draw rows of two columns as dots, the paler the more there are, and say so where not all are drawn.

    Colours `c` and sizes `s` may be one for each row; other options are those of `scatter`.
    """
    n, chosen = len(rows), some_rows(rows)
    if label is not None and how_many(n):
        label = f"{label}, {how_many(n)}"
    if c is not None:
        style["c"] = np.asarray(c)[chosen]
    elif not {"color", "fc"} & style.keys():
        style["color"] = "0.6"
    sizes = s if np.ndim(s) == 0 else np.asarray(s)[chosen]
    return ax.scatter(
        *rows[chosen].T, s=sizes, label=label, **({"lw": 0.0, "alpha": paleness(len(chosen))} | style)
    )


def paleness(n: int) -> float:
    """Return how opaque each of n marks is."""
    return max(0.35, min(1.0, float(np.sqrt(OPAQUE / max(n, 1)))))


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
