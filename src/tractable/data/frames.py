"""Frames of pandas, polars and pyarrow, recognised without importing any of them."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tractable.data import arrow, pandas_frame
from tractable.data.arrays import ArraySource
from tractable.data.columns import Roles, assign_roles
from tractable.data.source import Batch, Source, row_slices
from tractable.value import replace, value

__all__ = ["FrameSource", "frame_source", "is_frame"]

FRAMES = (("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "Table"), ("pyarrow", "RecordBatch"))


def is_frame(x: Any) -> bool:
    """Say whether x is a frame of a library we know, or of a class derived from one."""
    return _library(x) is not None


def frame_source(frame: Any, y: Any = None, weights: Any = None) -> "FrameSource":
    """Return the rows of a frame as a source.

    Parameters
    ----------
    frame : pandas or polars DataFrame, pyarrow Table or RecordBatch
        Columns of numbers; nulls become NaN.
    y, weights : column name, list of target names, or array, optional
        A column that is named here is no feature.

    Examples
    --------
    >>> import pandas as pd
    >>> trips = pd.DataFrame({"km": [1.5, 8.0], "fare": [7, 21]})
    >>> batch = next(frame_source(trips, y="fare").batches())
    >>> batch.X.tolist(), batch.y.tolist()
    ([[1.5], [8.0]], [7, 21])
    """
    columns = _columns(frame)
    target = y if _are_names(y, columns) else None
    weight = weights if isinstance(weights, str) else None
    roles = assign_roles(columns, None, target, weight, where="the frame", arguments=("X", "y", "weights"))
    beside = ArraySource(
        X=np.empty((len(frame), 0)),
        y=y if target is None else None,
        weights=weights if weight is None else None,
    )
    _check(frame, roles)
    return FrameSource(frame=frame, roles=roles, beside=beside)


@value
class FrameSource(Source):
    """The rows of a frame: float64, or float32 where every feature is."""

    frame: Any
    roles: Roles
    beside: ArraySource  # targets and weights that are no columns of the frame
    in_memory = True

    @property
    def n_rows(self) -> int:
        return len(self.frame)

    @property
    def n_features(self) -> int:
        return len(self.roles.features)

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        return self.roles.feature_names

    def batches(self) -> Iterator[Batch]:
        y, weights = self.beside.y, self.beside.weights
        for rows in row_slices(self.n_rows, len(self.roles.columns)):
            batch = _rows(self.frame, rows, self.roles)
            given = {
                "y": None if y is None else y[rows],
                "weights": None if weights is None else weights[rows],
            }
            yield replace(batch, **{name: part for name, part in given.items() if part is not None})

    def assign(self, y: Any = None, weights: Any = None) -> "FrameSource":
        y = (self.roles.target if self.beside.y is None else self.beside.y) if y is None else y
        kept = self.roles.weight if self.beside.weights is None else self.beside.weights
        return frame_source(self.frame, y, kept if weights is None else weights)


def _library(x: Any) -> str | None:
    ancestors = {(kind.__module__.split(".")[0], kind.__name__) for kind in type(x).__mro__}
    return next((library for library, name in FRAMES if (library, name) in ancestors), None)


def _columns(frame: Any) -> list[Any]:
    return list(frame.schema.names if _library(frame) == "pyarrow" else frame.columns)


def _are_names(y: Any, columns: list[Any]) -> bool:
    """Tell the names of target columns from an array of labels."""
    if isinstance(y, str):
        return True
    return isinstance(y, list | tuple) and len(y) > 0 and all(isinstance(n, str) and n in columns for n in y)


def _check(frame: Any, roles: Roles) -> None:
    if _library(frame) == "pandas":
        pandas_frame.check_pandas(frame, roles)
    else:
        arrow.check_types(_table(frame, slice(0, 0)).schema, roles, "the frame")


def _rows(frame: Any, rows: slice, roles: Roles) -> Batch:
    if _library(frame) == "pandas":
        return pandas_frame.batch_of_pandas(frame.iloc[rows], roles)
    table = _table(frame, rows)
    return arrow.batch_of(table, roles, arrow.common_dtype([table.schema], roles), "the frame")


def _table(frame: Any, rows: slice) -> Any:
    part = frame.slice(rows.start, rows.stop - rows.start)
    return part if _library(frame) == "pyarrow" else part.to_arrow()
