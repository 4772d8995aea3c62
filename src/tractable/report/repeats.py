"""Rows that are in a table more than once: copies are told from rows that are alike by chance."""

import math
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from tractable.data.names import number_of
from tractable.report.rows import ChosenRows
from tractable.report.table import Table
from tractable.value import replace

__all__ = ["copied_rows", "equal_rows", "imports_for", "repeated", "rows_once", "without_repeats"]

#: Rows are copies where so many times more pairs are equal than chance would make.
MUCH_MORE = 10.0

#: Columns that the chance of equal rows is judged by: those of a table depend on each other.
MOST_COLUMNS = 3

#: A column with fewer values than this is taken to be coarse: its values come again by themselves.
FEW_VALUES = 20

#: Numbers with no more digits than this after the point were rounded.
MOST_DIGITS = 6

_found: WeakKeyDictionary[Table, np.ndarray] = WeakKeyDictionary()


def equal_rows(table: Table) -> np.ndarray:
    """Mark the rows of a table's frame that have the same entries as an earlier one, names of rows aside."""
    compared = _compared(table)
    if compared.empty:
        return np.zeros(len(compared), dtype=bool)
    return np.asarray(compared.duplicated() & compared.notna().any(axis=1))


def copied_rows(table: Table) -> np.ndarray:
    """Mark those of them that are copies, more than chance would make; looked for once for a table."""
    if table not in _found:
        _found[table] = repeated(_compared(table))
    return _found[table]


def without_repeats(table: Table) -> Table:
    """Return a table without its copies, if any: its rows are then independent draws, as tests suppose."""
    copies = copied_rows(table)
    return replace(table, frame=table.frame[~copies].reset_index(drop=True)) if copies.any() else table


def rows_once(rows: ChosenRows, table: Table) -> ChosenRows:
    """Return the rows that a model is fitted to without copies, and the code that leaves them out."""
    copies = copied_rows(table)[rows.frame.index]
    if not copies.any():
        return rows
    told = f"{number_of(int(copies.sum()), 'copy', 'copies')} of other rows left out: each row counts once."
    return replace(
        rows,
        frame=rows.frame[~copies],
        notes=(*rows.notes, told),
        code=f"{rows.code}rows = rows[~copied_rows(table)[rows.index]]\n",
    )


def imports_for(code: str) -> str:
    """Return the line that lines of code need before them, if they leave copies out."""
    return "from tractable.report import copied_rows\n" if "copied_rows(" in code else ""


def repeated(frame: Any) -> np.ndarray:
    """Mark rows with the same entries as an earlier one, unless rows may well agree by chance.

    Two rows agree in all columns at most as often as in the three columns of numbers that tell most,

        P(equal) ≤ P(equal in a) P(equal in b) P(equal in c),

    if these are independent; copies make ten times as many pairs equal, or more. Rows of categories only,
    rows of coarse numbers, and rows without any number are alike by themselves.

    Examples
    --------
    >>> import pandas as pd
    >>> x = pd.DataFrame({"x": [0.1234567, 2.7182818, 1.4142136, 0.1234567], "c": list("aaba")})
    >>> repeated(x).tolist(), repeated(x[["c"]]).tolist()
    ([False, False, False, False], [False, False, False, False])
    >>> bool(repeated(pd.concat([pd.DataFrame({"x": [k**0.5 for k in range(50)]})] * 2)).sum() == 50)
    True
    """
    import pandas as pd

    numbers = [name for name in frame.columns if frame[name].dtype.kind in "fM"]
    if not numbers:
        return np.zeros(len(frame), dtype=bool)
    again = (frame.duplicated() & frame[numbers].notna().any(axis=1)).to_numpy()
    if not again.any():
        return again
    chances = sorted(_chance(frame[name], frame.loc[~again, name]) for name in numbers)[:MOST_COLUMNS]
    counts = np.unique(pd.util.hash_pandas_object(frame, index=False), return_counts=True)[1]
    return again & (_pairs(counts) > MUCH_MORE * _pairs(np.array([len(frame)])) * math.prod(chances))


def _chance(values: Any, once: Any) -> float:
    """Return how often two rows that are no copies agree in a column; `once` has each row once.

    Numbers rounded to steps of s around a normal of deviation σ agree with probability s / (2 √π σ).
    """
    if values.nunique() < FEW_VALUES:
        once = values
    counts = once.value_counts(dropna=False).to_numpy()
    agree = _pairs(counts) / max(_pairs(np.array([len(once)])), 1.0)
    known = once.dropna().to_numpy()
    if known.dtype.kind != "f" or len(known) < 2:
        return agree
    return max(agree, _step(known) / (2.0 * math.sqrt(math.pi) * float(known.std())))


def _step(values: np.ndarray) -> float:
    """Return the least step between numbers that were rounded, 0 where they were not."""
    scaled = values * 10.0**MOST_DIGITS
    if not np.isfinite(scaled).all() or (np.abs(scaled - np.rint(scaled)) > 1e-9 * np.abs(scaled)).any():
        return 0.0
    return float(np.diff(np.unique(values)).min())


def _pairs(counts: np.ndarray) -> float:
    return float((counts.astype(float) * (counts - 1.0)).sum()) / 2.0


def _compared(table: Table) -> Any:
    """Return the columns in which rows are compared: those that tell of a row, and do not just name it."""
    return table.frame[table.names("number", "category", "boolean", "date", "text")]
