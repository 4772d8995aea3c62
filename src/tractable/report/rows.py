"""The rows and columns of a table that a model of all of them can be fitted to."""

import math
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from tractable.data.names import number_of
from tractable.report.table import Table
from tractable.value import replace, value

__all__ = [
    "ChosenRows",
    "beginning",
    "chosen_rows",
    "copied_rows",
    "equal_rows",
    "imports_for",
    "listed",
    "not_used",
    "repeated",
    "rows_once",
    "without_copies",
    "without_repeats",
]

#: A category with more levels says more about the levels than about the rows.
MOST_LEVELS = 20


#: Of a column that is emptier than this, too little is known.
LEAST_KNOWN = 0.2


#: Numbers of this size, or of one by it, have squares that a computer has no number for.
LARGEST = 1e140


#: Columns that are so much alike hold the same numbers in other units.
SAME = 0.99999


#: Rows are copies where so many times more pairs are equal than chance would make.
MUCH_MORE = 10.0


#: Columns that the chance of equal rows is judged by: those of a table depend on each other.
MOST_COLUMNS = 3


#: A column with fewer values than this is taken to be coarse: its values come again by themselves.
FEW_VALUES = 20


#: Numbers with no more digits than this after the point were rounded.
MOST_DIGITS = 6


#: Why a column of each kind may stay aside; of others a section has more to say.
REASONS = {
    "date": "a date",
    "text": "free text",
    "identifier": "names the rows",
    "category": "categories",
    "boolean": "truth values",
}


#: What models of all columns cannot use.
USUAL = ("date", "text", "identifier")


@value
class ChosenRows:
    """The part of a table that models are fitted to, and the code that gives it again.

    Parameters
    ----------
    frame : pandas frame
        Rows with at least one entry; its index are the positions of the rows in the table's frame.
    numbers, categories : tuple of str
        Which of its columns are which.
    notes : tuple of str
        What was left out.
    code : str
        Lines that make `rows` of `table`.
    """

    frame: Any
    numbers: tuple[str, ...]
    categories: tuple[str, ...]
    notes: tuple[str, ...]
    code: str

    def part(self, most: int) -> Any:
        """Return at most so many rows, chosen at random but always the same."""
        return self.frame if len(self.frame) <= most else self.frame.sample(most, random_state=0)


def chosen_rows(
    table: Table, leave: Any = (), *, most_numbers: int = 20, most_categories: int = 10
) -> ChosenRows:
    """Return the columns of a table that say something, at most so many, and the rows that have any.

    Of many columns of numbers those are taken that have most in common with the others: groups of rows and
    directions show in several columns at once.
    """
    notes: list[str] = []
    numbers = _telling(table, table.names("number", leave=leave), notes)
    numbers = _of_usual_size(table.frame, numbers, notes)
    numbers = without_copies(table.frame, numbers, notes)
    numbers = _most_common(table.frame, numbers, most_numbers, notes)
    categories = _telling(table, table.names("category", "boolean", leave=leave), notes)
    categories = _few_levels(table, categories, most_categories, notes)
    frame = table.frame[[*numbers, *categories]].dropna(how="all")
    if len(frame) < len(table.frame) and len(frame):
        notes.append(f"{number_of(len(table.frame) - len(frame), 'row')} without any entry left out.")
    return ChosenRows(
        frame=frame,
        numbers=tuple(numbers),
        categories=tuple(categories),
        notes=tuple(notes),
        code=f'rows = table.frame[{[*numbers, *categories]!r}].dropna(how="all")\n',
    )


def beginning(table: Table, imports: str = "") -> str:
    """Return the lines that a section's code begins with: the library, what else is used, and the table."""
    code = table.code if "import tractable\n" in table.code else f"import tractable\n{table.code}"
    head, _, read = code.partition("\n\n")
    return f"{head}\n{imports}\n{read}"


def listed(names: Any, most: int = 5) -> str:
    """Return names in a row, of many the first.

    Examples
    --------
    >>> listed(["a", "b", "c"]), listed("abcd", 2)
    ('a, b and c', 'a, b and 2 others')
    """
    names = [str(name) for name in names]
    if len(names) > most:
        names = [*names[:most], number_of(len(names) - most, "other")]
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1] if names else "") if part)


def without_copies(frame: Any, names: list[str], notes: list[str]) -> list[str]:
    """Return columns of which none holds the numbers of another in other units."""
    if len(names) < 2:
        return names
    alike = np.abs(_correlations(frame, names))
    kept: list[int] = []
    for j in range(len(names)):
        if not (alike[j, kept] > SAME).any():
            kept.append(j)
    gone = [name for j, name in enumerate(names) if j not in kept]
    if gone:
        notes.append(f"Left out, since another column has the same numbers in other units: {listed(gone)}.")
    return [names[j] for j in kept]


def _telling(table: Table, names: list[str], notes: list[str]) -> list[str]:
    """Return the columns that have enough entries, of which not all are the same."""
    frame = table.frame[names]
    known = frame.notna().mean().to_numpy() if len(frame) else np.zeros(len(names))
    empty = [name for name, share in zip(names, known, strict=True) if share < LEAST_KNOWN]
    if empty:
        notes.append(f"Left out, since most of their entries are missing: {listed(empty)}.")
    return [name for name in names if name not in set(empty) and frame[name].nunique() > 1]


def _of_usual_size(frame: Any, names: list[str], notes: list[str]) -> list[str]:
    """Return the columns whose squares are numbers too."""
    sizes = {name: float(frame[name].abs().max()) for name in names}
    spans = {name: float(frame[name].max() / 2 - frame[name].min() / 2) for name in names}
    kept = [name for name in names if sizes[name] < LARGEST and spans[name] > 1.0 / LARGEST]
    odd = [name for name in names if name not in set(kept)]
    if odd:
        notes.append(
            f"Left out, since the squares of their numbers are too large or too small: {listed(odd)}."
        )
    return kept


def _few_levels(table: Table, names: list[str], most: int, notes: list[str]) -> list[str]:
    many = [name for name in names if table.frame[name].nunique() > MOST_LEVELS]
    if many:
        notes.append(f"Left out, since they have more than {MOST_LEVELS} categories: {listed(many)}.")
    few = [name for name in names if name not in set(many)]
    if len(few) > most:
        notes.append(f"Of {len(few)} columns of categories the first {most} are used.")
    return few[:most]


def _most_common(frame: Any, names: list[str], most: int, notes: list[str]) -> list[str]:
    if len(names) <= most:
        return names
    shared = (_correlations(frame, names) ** 2).mean(axis=1)
    best = np.sort(np.argsort(-shared, kind="stable")[:most])
    notes.append(
        f"Of {len(names)} columns of numbers the {most} that have most in common with the others are used."
    )
    return [names[j] for j in best]


def _correlations(frame: Any, names: list[str]) -> np.ndarray:
    """Return correlations of columns, missing entries taken as the mean: for a choice of columns."""
    x = frame[names].to_numpy(dtype=np.float64)
    x = x / np.nanmax(np.abs(x), axis=0)
    x = x - np.nanmean(x, axis=0)
    x = np.where(np.isnan(x), 0.0, x)
    x = x / np.maximum(np.sqrt((x**2).sum(axis=0)), np.finfo(float).tiny)
    return np.asarray(x.T @ x)


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


def not_used(table: Table, *kinds: str, leave: Any = ()) -> tuple[str, ...]:
    """Return a sentence on the columns of some kinds, which a section makes no use of; none without any.

    Examples
    --------
    >>> import pandas as pd
    >>> from tractable.report import table_of
    >>> days = pd.date_range("2024-01-01", periods=6)
    >>> not_used(table_of(pd.DataFrame({"x": [1.5, 2.0, 2.5] * 2, "when": days, "id": range(6)})))
    ('Not used: when (a date) and id (names the rows).',)
    """
    names = table.names(*(kinds or USUAL), leave=leave)
    told = [f"{name} ({REASONS[table.column(name).kind]})" for name in names]
    return (f"Not used: {listed(told)}.",) if told else ()
