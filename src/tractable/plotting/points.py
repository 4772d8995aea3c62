"""Rows as marks in the plane: all of them, or as many as can be told apart."""

from typing import Any

import numpy as np

__all__ = ["MOST_ROWS", "draw_rows", "how_many", "paleness", "some_rows"]

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
