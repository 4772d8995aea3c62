"""Rows of numbers between a picture and a model: checked, thinned out, and drawn as marks."""

from typing import Any

import numpy as np

#: Rows that are drawn at most; more marks cover each other.
MAX_ROWS = 4_000

#: Marks are opaque up to this many.
OPAQUE = 500


def column_names(x: Any) -> list[str]:
    """Return the names of the columns of a fitted model."""
    named = getattr(x, "feature_names_in_", None)
    return [f"x{j}" for j in range(x.n_features_in_)] if named is None else [str(name) for name in named]


def with_column_names(x: Any, rows: np.ndarray) -> Any:
    """Return rows as a frame with the model's column names, where it has any."""
    names = getattr(x, "feature_names_in_", None)
    if names is None:
        return rows
    import pandas as pd

    return pd.DataFrame(rows, columns=names)


def columns_by_name(rows: Any, names: list[Any], argument: str) -> Any:
    """Return some columns of a frame; the error names one that is missing and those that exist."""
    existing = [*rows.columns]
    for name in names:
        if name not in existing:
            some = ", ".join(map(str, existing[:8])) + (", …" if len(existing) > 8 else "")
            raise ValueError(f"{argument} needs a column {name!r}, and the columns are {some}")
    return rows[names]


def target_name(y: Any) -> str:
    """Return the name of the targets if they have one, else "y"."""
    name = getattr(y, "name", None)
    return name if isinstance(name, str) and name else "y"


def rows_argument(data: Any, X: Any) -> Any:
    """Return the rows to draw, which may be given as `data` or as `X`."""
    if data is not None and X is not None:
        raise ValueError("data and X are the same: give one of them")
    return X if data is None else data


def refuse_given_distances(x: Any) -> None:
    """Refuse a model of distances that were given: it has no rows to draw."""
    if x._precomputed:  # noqa: SLF001
        raise ValueError(
            "x was fitted to given distances, and has no rows to draw: draw ClassicalMDS of them"
        )


def single_column(X: Any, name: str) -> np.ndarray:
    """Return the only column of X, (n,)."""
    found = np.asarray(X, dtype=float)
    if found.ndim == 2 and found.shape[1] == 1:
        return found[:, 0]
    if found.ndim == 1:
        return found
    raise ValueError(f"{name} must have one column to be drawn over, got shape {found.shape}")


def curve_grid(rows: Any, grid: Any) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the points of a curve, `grid` or the range of the rows, and the positions of the rows."""
    at = None if rows is None else single_column(rows, "data")
    if grid is not None:
        return np.sort(single_column(grid, "grid")), at
    low, high = bounding_box(at[:, None], 0.05)  # type: ignore[index]
    return np.linspace(low[0], high[0], 200), at


def bounding_box(points: np.ndarray, margin: float = 0.08) -> tuple[np.ndarray, np.ndarray]:
    """Return the corners of a box around points, with a margin relative to the range of each column.

    For a constant column the margin is relative to its value.
    """
    low, high = points.min(axis=0), points.max(axis=0)
    size = np.where(high == 0.0, 1.0, np.abs(high))
    added = margin * np.where(high > low, high - low, size)
    return low - added, high + added


def sampled_rows(rows: np.ndarray) -> np.ndarray:
    """Return the positions of the rows to draw: all, or a sample of `MAX_ROWS` with a fixed seed.

    The minimum and maximum of each column are always included.
    """
    n = len(rows)
    if n <= MAX_ROWS:
        return np.arange(n)
    flat = np.reshape(rows, (n, -1))
    ends = np.unique([np.argmin(flat, axis=0), np.argmax(flat, axis=0)])
    others = np.random.default_rng(0).permutation(n)
    others = others[~np.isin(others, ends)]
    return np.sort(np.concatenate([ends, others])[:MAX_ROWS])


def sample_note(n: int) -> str:
    """Return how many of n rows are drawn; an empty text if all are.

    Examples
    --------
    >>> sample_note(100), sample_note(100_000)
    ('', '4,000 of 100,000 rows')
    """
    return f"{MAX_ROWS:,} of {n:,} rows" if n > MAX_ROWS else ""


def draw_rows(
    ax: Any, rows: np.ndarray, *, label: str | None = "data", c: Any = None, s: Any = 9.0, **style: Any
) -> Any:
    """Draw rows of two columns as dots; the label says so if only a sample is drawn.

    Colours `c` and sizes `s` may be one for each row; other options are those of `scatter`.
    """
    n, chosen = len(rows), sampled_rows(rows)
    if label is not None and sample_note(n):
        label = f"{label}, {sample_note(n)}"
    if c is not None:
        style["c"] = np.asarray(c)[chosen]
    elif not {"color", "fc"} & style.keys():
        style["color"] = "0.6"
    sizes = s if np.ndim(s) == 0 else np.asarray(s)[chosen]
    return ax.scatter(
        *rows[chosen].T, s=sizes, label=label, **({"lw": 0.0, "alpha": opacity(len(chosen))} | style)
    )


def opacity(n: int) -> float:
    """Return the opacity of each of n marks: 1 for few, falling as 1/√n to 0.35."""
    return max(0.35, min(1.0, float(np.sqrt(OPAQUE / max(n, 1)))))
