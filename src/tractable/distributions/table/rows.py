"""Rows of labels: columns by name, their levels, positions of entries among these; tables as text."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from tractable.arrays.batched import as_reals
from tractable.arrays.namespace import Array, is_foreign_array, namespace_of, to_numpy
from tractable.data.frames import column_names, is_frame
from tractable.distributions.checks import check_finite
from tractable.distributions.table.factor import Axis, as_axes, code_of, codes_of, level_values

#: Rows and columns of a printed table.
_MOST_PRINTED = 24


def float_dtype(X: Any) -> Any:
    """Return single precision for rows of it, else double."""
    kind = getattr(X, "dtype", None)
    return kind if kind == np.float32 else np.float64


def columns_of(X: Any, axes: Any) -> dict[str, Any]:
    """Return the columns of rows by the names of the axes."""
    wanted = None if axes is None else [name for name, _ in as_axes("axes", axes)]
    if is_frame(X) or isinstance(X, Mapping):
        names = list(X) if isinstance(X, Mapping) else column_names(X)
        lacking = [name for name in wanted or () if name not in names]
        if lacking:
            raise ValueError(f"X must have a column {lacking[0]!r}, got {', '.join(map(str, names))}")
        found = {name: X[name] for name in (names if wanted is None else wanted)}
    else:
        rows = X if is_foreign_array(X) else np.asarray(X)
        if rows.ndim != 2 or (wanted is not None and rows.shape[1] != len(wanted)):
            width = "d" if wanted is None else len(wanted)
            raise ValueError(f"X must be rows of shape (n, {width}), got {tuple(rows.shape)}")
        names = [f"x{j}" for j in range(rows.shape[1])] if wanted is None else wanted
        found = {name: rows[:, j] for j, name in enumerate(names)}
    lengths = {x.shape[0] if is_foreign_array(x) else len(x) for x in found.values()}
    if len(lengths) != 1:
        raise ValueError(f"X must have columns of one length, at least one, got {sorted(lengths)}")
    return found


def levels_of(column: Any) -> tuple[Any, ...]:
    """Return the levels of a column: its categories, or what is in it, in order where there is one."""
    categories = getattr(getattr(column, "dtype", None), "categories", None)
    if categories is not None and not callable(categories):
        return tuple(categories.tolist() if hasattr(categories, "tolist") else categories)
    found = set(
        to_numpy(column).tolist() if is_foreign_array(column) else np.asarray(column).ravel().tolist()
    )
    if any(x is None or x != x for x in found):  # noqa: PLR0124  (NaN)
        raise ValueError("X must not have missing entries")
    try:
        return tuple(sorted(found))
    except TypeError:  # kinds that do not compare
        return tuple(dict.fromkeys(np.asarray(column).ravel().tolist()))


def row_codes(axis: Axis, column: Any) -> Array:
    """Return the positions of the levels of a column, which must all be levels of the axis."""
    if is_foreign_array(column):
        x = as_reals("X", column)
        check_finite("X", x)
        codes, known = codes_of(axis[1], x)
        if not bool(namespace_of(x).all(known)):
            raise ValueError(f"X must have levels of {axis[0]!r}, {axis[1]!r:.80}")
        return codes
    column = np.asarray(column)
    if column.dtype.kind in "biuf" and level_values(axis[1]) == tuple(axis[1]):
        codes, known = codes_of(axis[1], column.astype(np.float64))
        if known.all():
            return codes
        column = column[~known][:1]  # code_of names it
    try:
        found, where = np.unique(column, return_inverse=True)
    except TypeError:  # kinds that do not compare
        found, where = column, np.arange(len(column))
    return np.array([code_of(axis, x) for x in found.tolist()], dtype=np.int64)[where.reshape(-1)]


def is_labelled(x: Any) -> bool:
    """Whether rows are of labels: a frame, a mapping of columns, or an array of text or objects."""
    return is_frame(x) or isinstance(x, Mapping) or getattr(getattr(x, "dtype", None), "kind", "f") in "OUST"


def encoded(axes: Sequence[Axis], rows: Any) -> np.ndarray:
    """Return rows of labels, in a frame, a mapping of columns or an array (n, d), as events."""
    columns = columns_of(rows, axes)
    values = [np.asarray(level_values(levels), dtype=float) for _, levels in axes]
    return np.stack(
        [v[row_codes(axis, columns[axis[0]])] for v, axis in zip(values, axes, strict=True)], axis=-1
    )


def decoded(axes: Sequence[Axis], x: np.ndarray) -> np.ndarray:
    """Return events (..., d) as an array of their labels."""
    out = np.empty(x.shape, dtype=object)
    for j, (name, levels) in enumerate(axes):
        codes, known = codes_of(levels, x[..., j])
        if not known.all():
            raise ValueError(f"x must have levels of {name!r}, {level_values(levels)}")
        labels = np.empty(len(levels), dtype=object)
        labels[:] = levels
        out[..., j] = labels[codes]
    return out


def printed(table: Any) -> str:
    """Return a table as text: the last variable across, combinations of the others down."""
    axes = (*table.given, *table.axes)
    down, (across, levels) = axes[:-1], axes[-1]
    rows = list(product(*(levels for _, levels in down)))
    cells = to_numpy(table.probabilities).reshape(len(rows), len(levels))
    show = str if table.is_exact else "{:.4g}".format
    cut = levels[:_MOST_PRINTED]
    head = [*(name for name, _ in down), *map(str, cut)]
    lines = [[*map(str, row), *map(show, cells[i, : len(cut)])] for i, row in enumerate(rows[:_MOST_PRINTED])]
    widths = [max(map(len, column)) for column in zip(head, *lines, strict=True)]
    texts = [
        "  ".join(
            cell.ljust(w) if j < len(down) else cell.rjust(w)
            for j, (cell, w) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in [head, *lines]
    ]
    more = [f"and {len(rows) - len(lines)} more rows"] if len(rows) > len(lines) else []
    more += [f"and {len(levels) - len(cut)} more columns"] if len(levels) > len(cut) else []
    named = f", given {', '.join(name for name, _ in table.given)}" if table.given else ""
    return "\n".join([*texts, *more, f"columns: {across}{named}"])
