"""Rows of numbers between a picture and a model: in and out, by name where there are names."""

from typing import Any

import numpy as np

__all__ = ["box_of", "column_names", "rows_like", "target_name"]


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
