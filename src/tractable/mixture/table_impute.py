"""The holes of a table: what the rest of each row says of them."""

from typing import Any

import numpy as np

from tractable.distributions import Bernoulli, Categorical, Mixture, Normal
from tractable.mixture.table_columns import TableColumns

__all__ = ["drawn", "expected", "filled"]


def expected(mixture: Mixture, x: np.ndarray) -> np.ndarray:
    """Return rows of numbers with means and likeliest categories in their holes; counts are whole."""
    shares = mixture.responsibilities(x)
    found = x.copy()
    for j, part in enumerate(mixture.components.parts):  # type: ignore[attr-defined]
        holes = np.isnan(x[:, j])
        found[holes, j] = _best(part, shares[holes])
    return found


def drawn(mixture: Mixture, x: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return rows of numbers with draws in their holes: first a component, given the rest of the row."""
    edges = np.cumsum(mixture.responsibilities(x), axis=1)
    labels = np.sum(rng.random((len(x), 1)) * edges[:, -1:] >= edges[:, :-1], axis=1)
    found = x.copy()
    for j, part in enumerate(mixture.components.parts):  # type: ignore[attr-defined]
        holes = np.isnan(x[:, j])
        if holes.any():
            found[holes, j] = part[labels[holes]].sample(1, rng=rng)[0]
    return found


def filled(table: Any, columns: TableColumns, x: np.ndarray, codes: np.ndarray) -> Any:
    """Return a table with values in its holes, and all else as it was."""
    if columns.library is None or isinstance(table, (np.ndarray, list, tuple)):
        return codes
    if columns.library == "pandas" and not hasattr(table, "iloc"):
        table = table.to_pandas()
    frame = table.copy() if hasattr(table, "iloc") else table
    for j, name in enumerate(columns.names or ()):
        holes = np.isnan(x[:, j])
        if holes.any():
            frame = _with_column(frame, name, holes, columns.values(j, codes[holes, j]))
    return frame


def _best(part: Any, shares: np.ndarray) -> np.ndarray:
    if isinstance(part, Categorical):
        return np.argmax(shares @ part.probabilities, axis=1)
    mean = shares @ part.mean
    if isinstance(part, Bernoulli):
        return mean > 0.5
    return mean if isinstance(part, Normal) else np.rint(mean)


def _with_column(frame: Any, name: Any, holes: np.ndarray, values: np.ndarray) -> Any:
    if not hasattr(frame, "iloc"):
        import polars as pl

        entries = frame[name].to_list()
        for i, v in zip(np.flatnonzero(holes), values.tolist(), strict=True):
            entries[i] = v
        same = None if values.dtype.kind in "fi" else frame.schema[name]
        return frame.with_columns(pl.Series(name, entries, dtype=same, strict=False))
    column = frame[name]
    if getattr(column.dtype, "kind", "O") in "iu" and values.dtype.kind == "f":
        column = column.astype("Float64")  # a nullable integer: means are no integers
    column = column.copy()
    column[holes] = values
    frame[name] = column
    return frame
