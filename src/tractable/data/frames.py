"""Frames of pandas, polars and pyarrow, recognised without importing any of them."""

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from tractable.arrays.weights import check_weights
from tractable.data import arrow
from tractable.data.arrays import ArraySource, object_numbers
from tractable.data.columns import Roles, assign_roles, check_numeric
from tractable.data.source import Batch, ColumnSource, row_slices
from tractable.value import replace, value

FRAMES = (("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "Table"), ("pyarrow", "RecordBatch"))


def is_frame(x: Any) -> bool:
    """Whether x is a frame of pandas, polars or pyarrow, or of a class derived from one."""
    return _library(x) is not None


def column_names(frame: Any) -> list[Any]:
    """Return the names of the columns of a frame, in order."""
    return list(frame.schema.names if _library(frame) == "pyarrow" else frame.columns)


def select_columns(frame: Any, names: Sequence[Any]) -> Any:
    """Return a frame with some columns of another."""
    return frame[list(names)] if _library(frame) == "pandas" else frame.select(list(names))


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
    columns = column_names(frame)
    target = y if _are_names(y, columns) else None
    weight = weights if isinstance(weights, str) else None
    roles = assign_roles(columns, None, target, weight, where="the frame", arguments=("X", "y", "weights"))
    beside = ArraySource(
        X=np.empty((len(frame), 0)),
        y=y if target is None else None,
        weights=weights if weight is None else None,
    )
    if _library(frame) == "pandas":
        bad = [name for name in roles.numeric if not _is_numeric(frame[name])]
        check_numeric((f"{name!r} ({frame[name].dtype})" for name in bad), "the frame")
    else:
        arrow.check_types(_table(frame, slice(0, 0)).schema, roles, "the frame")
    return FrameSource(frame=frame, roles=roles, beside=beside)


def split_frame(frame: Any, y: Any = None, weights: Any = None) -> tuple[Any, Any, Any]:
    """Return a frame without the columns that y and weights name, and these; arrays stay as they are.

    Examples
    --------
    >>> import pandas as pd
    >>> trips = pd.DataFrame({"km": [1.5, 8.0], "city": ["Ulm", "Bonn"], "fare": [7, 21]})
    >>> X, y, _ = split_frame(trips, "fare")
    >>> list(X.columns), y.tolist()
    (['km', 'city'], [7, 21])
    """
    columns = column_names(frame)
    target = y if _are_names(y, columns) else None
    weight = weights if isinstance(weights, str) else None
    if target is None and weight is None:
        return frame, y, weights
    roles = assign_roles(
        columns, None, target, weight, where="the frame", arguments=("X", "y", "sample_weight")
    )
    if _library(frame) == "pandas":
        found, counted = _targets(frame, roles), None if weight is None else frame[weight]
    else:
        table = _table(frame, slice(0, len(frame)))
        found, counted = arrow.targets_of(table, roles), arrow.weights_of(table, roles, "the frame")
    held = select_columns(frame, roles.features)
    return held, y if target is None else found, weights if weight is None else np.asarray(counted)


@value
class FrameSource(ColumnSource):
    """The rows of a frame: float64, or float32 where every feature is."""

    frame: Any
    roles: Roles
    beside: ArraySource  # targets and weights that are no columns of the frame
    in_memory = True

    @property
    def n_rows(self) -> int:
        return len(self.frame)

    def batches(self) -> Iterator[Batch]:
        y, weights = self.beside.y, self.beside.weights
        for rows in row_slices(self.n_rows, len(self.roles.columns)):
            batch = _rows(self.frame, rows, self.roles)
            given = {
                "y": None if y is None else y[rows],
                "weights": None if weights is None else weights[rows],
            }
            yield replace(batch, **{name: part for name, part in given.items() if part is not None})

    def copies(self, columns: Sequence[Any]) -> Iterator[Any]:
        """Yield some columns of the frame as an Arrow table, in their own types."""
        import pyarrow as pa

        some = select_columns(self.frame, columns)
        if _library(self.frame) == "pandas":
            yield pa.Table.from_pandas(some, preserve_index=False)
        else:
            yield _table(some, slice(0, len(some)))

    def assign(self, y: Any = None, weights: Any = None) -> "FrameSource":
        y = (self.roles.target if self.beside.y is None else self.beside.y) if y is None else y
        kept = self.roles.weight if self.beside.weights is None else self.beside.weights
        return frame_source(self.frame, y, kept if weights is None else weights)


def _library(x: Any) -> str | None:
    kind: Any = type(x)
    return _library_of(kind)


@lru_cache
def _library_of(kind: Any) -> str | None:
    ancestors = {(each.__module__.split(".")[0], each.__name__) for each in kind.__mro__}
    return next((library for library, name in FRAMES if (library, name) in ancestors), None)


def _are_names(y: Any, columns: list[Any]) -> bool:
    """Whether y names target columns and is no array of labels."""
    if isinstance(y, str):
        return True
    return isinstance(y, list | tuple) and len(y) > 0 and all(isinstance(n, str) and n in columns for n in y)


def _rows(frame: Any, rows: slice, roles: Roles) -> Batch:
    if _library(frame) == "pandas":
        return _pandas_batch(frame.iloc[rows], roles)
    table = _table(frame, rows)
    return arrow.batch_of(table, roles, arrow.common_dtype([table.schema], roles), "the frame")


def _table(frame: Any, rows: slice) -> Any:
    part = frame.slice(rows.start, rows.stop - rows.start)
    return part if _library(frame) == "pyarrow" else part.to_arrow()


def _pandas_batch(frame: Any, roles: Roles) -> Batch:
    """Return some rows of a pandas frame as arrays."""
    dtypes = {frame[name].dtype for name in roles.features}
    dtype = np.float32 if dtypes == {np.dtype(np.float32)} else np.float64
    if dtypes == {np.dtype(dtype)} and len(roles.features) == frame.shape[1]:
        X = frame.to_numpy()  # a view where the frame is one block
    else:
        X = np.empty((len(frame), len(roles.features)), dtype, order="F")
        for j, name in enumerate(roles.features):
            X[:, j] = _floats(frame[name])
    weights = None
    if roles.weight is not None:
        name = f"weights {roles.weight!r}"
        weights = check_weights(_floats(frame[roles.weight]), len(frame), name=name)
    return Batch(X=X, y=_targets(frame, roles), weights=weights)


def _is_numeric_type(dtype: Any) -> bool:
    if hasattr(dtype, "pyarrow_dtype"):
        return arrow.is_numeric(dtype.pyarrow_dtype)
    return getattr(dtype, "kind", "O") in "fiub"


def _is_numeric(column: Any) -> bool:
    """Whether a column of pandas holds numbers; one of Python objects does where each of them is a number."""
    if column.dtype != object:
        return _is_numeric_type(column.dtype)
    try:
        _floats(column)
    except (TypeError, ValueError):
        return False
    return True


def object_columns_as_numbers(frame: Any) -> Any:
    """Return a frame whose columns of Python objects, if it has any, are float64, by the rule of arrays."""
    if _library(frame) != "pandas" or not any(kind == object for kind in frame.dtypes):  # noqa: E721
        return frame
    frame = frame.copy(deep=False)
    for position, kind in enumerate(frame.dtypes):
        if kind == object:  # noqa: E721
            frame.isetitem(position, _floats(frame.iloc[:, position]))
    return frame


def _floats(column: Any) -> np.ndarray:
    if column.dtype == object:
        return object_numbers(column.to_numpy(na_value=np.nan))
    if isinstance(column.dtype, np.dtype):
        return column.to_numpy()
    return column.to_numpy(dtype=np.float64, na_value=np.nan)


def _targets(frame: Any, roles: Roles) -> np.ndarray | None:
    if roles.target is None:
        return None
    if isinstance(roles.target, tuple):
        return np.column_stack([_floats(frame[name]).astype(np.float64) for name in roles.targets])
    column = frame[roles.target]
    nullable_number = not isinstance(column.dtype, np.dtype) and _is_numeric_type(column.dtype)
    return _floats(column) if nullable_number and column.hasnans else np.asarray(column)
