"""Columns of a pandas frame as arrays, without a detour through Arrow."""

from typing import Any

import numpy as np

from tractable.arrays.weights import check_weights
from tractable.data.columns import Roles, check_numeric
from tractable.data.source import Batch

__all__ = ["batch_of_pandas", "check_pandas"]


def check_pandas(frame: Any, roles: Roles) -> None:
    """Refuse feature and weight columns that hold something other than numbers."""
    bad = [name for name in roles.numeric if not _is_numeric(frame[name].dtype)]
    check_numeric((f"{name!r} ({frame[name].dtype})" for name in bad), "the frame")


def batch_of_pandas(frame: Any, roles: Roles) -> Batch:
    """Turn a few rows of a frame into the arrays a fold walks."""
    dtypes = {frame[name].dtype for name in roles.features}
    dtype = np.float32 if dtypes == {np.dtype(np.float32)} else np.float64
    if dtypes == {np.dtype(dtype)} and len(roles.features) == frame.shape[1]:
        X = frame.to_numpy()  # a view where the frame is one block
    else:
        X = np.empty((len(frame), len(roles.features)), dtype, order="F")
        for j, name in enumerate(roles.features):
            X[:, j] = _floats(frame[name])
    return Batch(X=X, y=_targets(frame, roles), weights=_weights(frame, roles))


def _is_numeric(dtype: Any) -> bool:
    if hasattr(dtype, "pyarrow_dtype"):
        from tractable.data.arrow import is_numeric

        return is_numeric(dtype.pyarrow_dtype)
    return getattr(dtype, "kind", "O") in "fiub"


def _floats(column: Any) -> np.ndarray:
    if isinstance(column.dtype, np.dtype):
        return column.to_numpy()
    return column.to_numpy(dtype=np.float64, na_value=np.nan)


def _targets(frame: Any, roles: Roles) -> np.ndarray | None:
    if roles.target is None:
        return None
    if isinstance(roles.target, tuple):
        return np.column_stack([_floats(frame[name]).astype(np.float64) for name in roles.targets])
    column = frame[roles.target]
    nullable_number = not isinstance(column.dtype, np.dtype) and _is_numeric(column.dtype)
    return _floats(column) if nullable_number and column.hasnans else np.asarray(column)


def _weights(frame: Any, roles: Roles) -> np.ndarray | None:
    if roles.weight is None:
        return None
    return check_weights(_floats(frame[roles.weight]), len(frame), name=f"weights {roles.weight!r}")
