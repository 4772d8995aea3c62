"""Rows that a model stores: instance-based models are their rows."""

from typing import Any

import numpy as np
from sklearn.base import clone

from tractable.arrays.devices import placed
from tractable.arrays.namespace import (
    check_unmasked,
    is_foreign_array,
    is_numpy_array,
    namespace_of,
    to_numpy,
)
from tractable.base.parameters import check_number
from tractable.base.validation import (
    Rows,
    check_columns,
    check_query,
    check_rows,
    check_weights,
    refuse_foreign,
    require_targets,
)
from tractable.data import Source, is_streamed
from tractable.primitives import as_double
from tractable.statistics.by_class import check_one_kind


def check_stored_rows(
    estimator: Any,
    X: Any,
    y: Any = None,
    sample_weight: Any = None,
    *,
    supervised: bool = False,
    drop: bool = True,
    reset: bool = True,
) -> Rows:
    """Check rows to store, as float64 in memory; sources are read into memory.

    Rows of weight zero are left out, with `drop`; without `reset` columns are those of the fit. Targets come
    as they are given, one for each row; what they may be is the model's question.
    """
    streamed = is_streamed(X)
    if supervised and not streamed:
        require_targets(estimator, y)
    if is_foreign_array(X) and estimator._stores_tensors:  # noqa: SLF001
        return _on_device(estimator, X, y if supervised else None, sample_weight, drop=drop, reset=reset)
    refuse_foreign(X)
    carried = supervised and (streamed or isinstance(y, str))
    rows = check_rows(estimator, X, y if carried else None, sample_weight, reset=reset, supervised=carried)
    x, weights = rows.data, rows.weights
    if isinstance(x, Source):
        held = x.collect(check_one_kind)
        x, y, weights = held.X, held.y, held.weights
        if is_foreign_array(x):  # streamed to a device
            if not estimator._stores_tensors:  # noqa: SLF001
                refuse_foreign(x)
            return _on_device(estimator, x, y if supervised else None, weights, drop=drop, reset=reset)
        x = check_columns(clone(estimator), x, reset=True)
        weights = check_weights(weights, x)
    x = np.ascontiguousarray(x, dtype=np.float64)
    return _counted(x, _as_targets(y, x) if supervised else None, weights, drop=drop)


def _on_device(estimator: Any, X: Any, y: Any, sample_weight: Any, *, drop: bool, reset: bool) -> Rows:
    """Check rows to store where they are, on a device."""
    x = as_double(check_columns(estimator, X, reset=reset))
    xp, weights = namespace_of(x), check_weights(sample_weight, x)
    if y is not None:
        y = placed("y", y, x) if is_foreign_array(y) else _as_targets(y, x)
        if y.shape[:1] != x.shape[:1]:
            raise ValueError(
                f"y must have one entry a row: X has {x.shape[0]} rows, y has shape {tuple(y.shape)}"
            )
    if weights is None or bool(xp.all(weights == 1.0)):
        return Rows(data=x, y=y)
    if drop and not bool(xp.all(weights > 0.0)):
        some = xp.nonzero(weights > 0.0)[0]
        x, weights = xp.take(x, some, axis=0), xp.take(weights, some)
        y = y if y is None else y[to_numpy(some)] if is_numpy_array(y) else xp.take(y, some, axis=0)
    return Rows(data=x, y=y, weights=weights)


def check_held_columns(estimator: Any, X: Any) -> Any:
    """Check rows of a query, as float64 in C order."""
    found = check_query(estimator, X)
    return np.ascontiguousarray(found) if is_numpy_array(found) else found


def check_enough(n_neighbors: Any, rows: Rows, *, spare: int = 0, least: int = 1) -> int:
    """Return a number of neighbours that the rows can give, counted by weight; `spare` are not at hand."""
    check_number("n_neighbors", n_neighbors, least=least, whole=True)
    most = total_weight(rows) - spare
    if n_neighbors > most * (1.0 + 1e-12):
        left = f", {spare} of them left out" if spare else ""
        named = (
            "the number of rows of X, n_samples" if rows.weights is None else "the total weight of the rows"
        )
        raise ValueError(
            f"n_neighbors must be at most {named} = {most + spare:g}{left}; got n_neighbors = {n_neighbors}"
        )
    return int(n_neighbors)


def total_weight(rows: Rows) -> float:
    """Return how many rows there are, each counted as often as it weighs."""
    return float(rows.data.shape[0] if rows.weights is None else namespace_of(rows.data).sum(rows.weights))


def _as_targets(y: Any, x: Any) -> np.ndarray:
    """Return one target a row, as they are."""
    check_unmasked("y", y)
    try:
        targets = np.asarray(y)
    except ValueError as error:
        raise ValueError(f"y must be an array: {error}") from None
    if targets.shape[:1] != (x.shape[0],):
        raise ValueError(
            "y must have one entry a row: Found input variables with inconsistent numbers of samples: "
            f"X has {x.shape[0]} rows, y has shape {targets.shape}"
        )
    return targets


def _counted(x: np.ndarray, y: Any, weights: np.ndarray | None, *, drop: bool) -> Rows:
    """Leave out the rows of weight zero, and weights that are all one."""
    if weights is None or np.all(weights == 1.0):
        return Rows(data=x, y=y)
    some = weights > 0.0 if drop else np.ones(len(x), dtype=bool)
    return Rows(data=x[some], y=None if y is None else y[some], weights=weights[some])
