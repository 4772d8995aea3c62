"""What a picture is given: axes, and rows with their targets, checked before anything is drawn."""

from collections.abc import Mapping
from typing import Any

from tractable.data import is_frame

__all__ = ["check_axes", "checked_options", "columns_by_name"]


def check_axes(ax: Any) -> None:
    """Refuse what cannot be drawn on."""
    if ax is None:
        return
    from matplotlib.axes import Axes

    if not isinstance(ax, Axes):
        raise ValueError(f"ax must be matplotlib axes, one of them, got {type(ax).__name__}")


def checked_options(x: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options with rows and targets as the model knows them.

    A target may be told by its name among the columns of the rows, as `fit` takes it. Columns that the model
    does not know are left out; targets are one for each row.
    """
    found = dict(options)
    for what in ("data", "X"):
        rows, y = found.get(what), found.get("y")
        if rows is None:
            continue
        if is_frame(rows) and hasattr(rows, "column_names"):
            rows = rows.to_pandas()  # an Arrow table, which has columns by another name
        if isinstance(y, str):
            found["y"] = target_column(rows, y, what)
            rows = rows[[name for name in rows.columns if name != y]]
        found[what] = known_columns(x, rows, what)
        _check_lengths(rows, found.get("y"), what)
    return found


def target_column(rows: Any, y: str, what: str) -> Any:
    """Return the column of targets that is called y."""
    if not is_frame(rows):
        raise ValueError(f"y must be targets, or the name of a column where {what} is a frame, got {y!r}")
    return columns_by_name(rows, [y], "y")[y]


def known_columns(x: Any, rows: Any, what: str) -> Any:
    """Return the columns of a frame that the model was fitted to, in its order."""
    names = getattr(x, "feature_names_in_", None)
    if names is None or not is_frame(rows):
        return rows
    if hasattr(x, "distribution_") and not set(names) <= set(rows.columns):
        return rows  # a density needs no more of them than are shown
    return columns_by_name(rows, list(names), what)


def columns_by_name(rows: Any, names: list[Any], what: str) -> Any:
    """Return some columns of a frame; one that is not there is named, and so are those that are."""
    there = [*rows.columns]
    for name in names:
        if name not in there:
            told = ", ".join(map(str, there[:8])) + (", …" if len(there) > 8 else "")
            raise ValueError(f"{what} needs a column {name!r}, and the columns are {told}")
    return rows[names]


def _check_lengths(rows: Any, y: Any, what: str) -> None:
    n, m = (len(part) if hasattr(part, "__len__") else None for part in (rows, y))
    if n is not None and m is not None and n != m:
        raise ValueError(f"y must have one entry for each row of {what}, got {m} for {n} rows")
