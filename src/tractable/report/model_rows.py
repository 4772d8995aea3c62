"""The rows and columns that a target is predicted from."""

from typing import Any

import numpy as np

from tractable.data.names import number_of
from tractable.report.held_out import N_FOLDS
from tractable.report.repeats import rows_once
from tractable.report.rows import SAME, ChosenRows, chosen_rows, listed
from tractable.report.table import Table
from tractable.value import value

__all__ = ["ModelRows", "model_rows"]

#: Rows and classes, at most; rows, at least.
MOST_ROWS, MOST_CLASSES, LEAST_ROWS = 2_000, 12, 20


@value
class ModelRows:
    """What models learn from.

    Parameters
    ----------
    X : pandas frame
        Numbers with their holes, and categories: all that can be used, for any of them may decide.
    y : array (n,)
        Numbers, or codes of classes.
    classes : tuple of str, optional
        The classes, by their codes.
    notes : tuple of str
        What was left out.
    code : str
        Lines that make `X` and `y` of `table`.
    n_unused : int
        Columns of the table that are not in X, but for those that hold nothing or say the target outright.
    trouble : str
        Why nothing can be predicted; empty where it can.
    """

    X: Any
    y: np.ndarray
    classes: tuple[str, ...] | None
    notes: tuple[str, ...]
    code: str
    n_unused: int = 0
    trouble: str = ""


def model_rows(table: Table, target: str) -> ModelRows:
    """Return the rows whose target is known, at most 2,000 of them, and the columns that may tell it."""
    column = table.column(target)
    if not (column.is_number or column.is_category):
        return _nothing(f"{target} cannot be predicted: it is a column of kind {column.kind!r}.")
    copies = _copies(table, target) if column.is_number else []
    every = len(table.columns)
    rows = chosen_rows(table, (target, *copies), most_numbers=every, most_categories=every)
    rows = rows_once(rows, table)  # no model is asked for a row whose copy it has learned
    notes = list(rows.notes)
    if copies:
        notes.append(f"Left out, since they say the target outright: {listed(copies)}.")
    if not rows.frame.shape[1]:
        return _nothing(f"There is no other column that could tell {target}.", notes)
    y = table.frame[target].loc[rows.frame.index]
    known = y.dropna()
    classes = _classes(known, notes) if column.is_category else None
    if classes is not None:
        known = known[known.isin(classes)]
    if len(known) < len(y):
        gone = int(y.isna().sum())
        if gone:
            notes.append(f"{number_of(gone, 'row')} without a target left out.")
    if len(known) < LEAST_ROWS or known.nunique() < 2:
        why = "fewer than two different values" if known.nunique() < 2 else f"fewer than {LEAST_ROWS} rows"
        return _nothing(f"{target} cannot be predicted: {why} of it can be used.", notes)
    if len(known) > MOST_ROWS:
        known = known.sample(MOST_ROWS, random_state=0)
        notes.append(f"Models are compared on {MOST_ROWS:,} rows, chosen at random.")
    codes = known.map({name: k for k, name in enumerate(classes)}) if classes else known
    return ModelRows(
        X=rows.frame.loc[known.index],
        y=codes.to_numpy(dtype=int if classes else float),
        classes=classes,
        notes=tuple(notes),
        code=_code(rows, target, classes, sampled=len(known) == MOST_ROWS < len(y)),
        n_unused=_unused(table, {target, *copies, *rows.frame.columns}),
    )


def _classes(known: Any, notes: list[str]) -> tuple[str, ...]:
    counts = known.value_counts()
    rare = list(counts.index[counts < N_FOLDS])
    if rare:
        notes.append(f"Classes of fewer than {N_FOLDS} rows left out: {listed(rare)}.")
    kept = list(counts.index[counts >= N_FOLDS])
    if len(kept) > MOST_CLASSES:
        notes.append(f"Of {len(kept)} classes the {MOST_CLASSES} most frequent are used.")
    return tuple(sorted(kept[:MOST_CLASSES]))


def _copies(table: Table, target: str) -> list[str]:
    frame = table.numbers()
    y = frame[target]
    others = frame.drop(columns=target)
    with np.errstate(invalid="ignore", divide="ignore"):
        alike = others.corrwith(y).abs()
    return [str(name) for name in others.columns if alike[name] > SAME and others[name].notna().sum() > 2]


def _unused(table: Table, used: set[str]) -> int:
    left = [c for c in table.columns if c.name not in used and c.kind not in ("constant", "empty")]
    return len(left) + table.n_unseen


def _code(rows: ChosenRows, target: str, classes: tuple[str, ...] | None, *, sampled: bool) -> str:
    lines = [rows.code.rstrip(), f"y = table.frame[{target!r}].loc[rows.index].dropna()"]
    if classes is not None:
        lines.append(f"y = y[y.isin({list(classes)!r})]")
    if sampled:
        lines.append(f"y = y.sample({MOST_ROWS}, random_state=0)")
    lines.append("X = rows.loc[y.index]")
    if classes is not None:
        lines.append(f"y = y.map({list(classes)!r}.index)")
    return "\n".join([*lines, "y = y.to_numpy()", ""])


def _nothing(why: str, notes: Any = ()) -> ModelRows:
    return ModelRows(X=None, y=np.zeros(0), classes=None, notes=tuple(notes), code="", trouble=why)
