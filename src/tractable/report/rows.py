"""Rows and columns of a table that models are fitted to; duplicate rows; notes and code of sections."""

import math
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from tractable.arrays.limits import LARGEST
from tractable.data.names import number_of
from tractable.report.table import Table
from tractable.value import replace, value

#: Columns of more categories than this are left out.
MAX_LEVELS = 20

#: Columns with a smaller fraction of entries than this are left out.
MIN_KNOWN = 0.2

#: Columns of a larger correlation than this hold the same numbers in other units.
SAME = 0.99999

#: Rows are copies if so many times more pairs are equal than expected by chance.
COPY_FACTOR = 10.0

#: Columns by which the probability of equal rows is bounded.
MAX_COLUMNS = 3

#: Values of a column with fewer values than this repeat by chance.
FEW_VALUES = 20

#: Numbers with at most so many decimals are taken as rounded.
MAX_DIGITS = 6

#: Why columns of each kind are not used.
REASONS = {
    "date": "a date",
    "text": "free text",
    "identifier": "names the rows",
    "category": "categories",
    "boolean": "truth values",
}

#: The kinds of columns that models of all columns cannot use.
UNUSABLE = ("date", "text", "identifier")


@value
class ChosenRows:
    """The part of a table that models are fitted to, and the code that selects it."""

    frame: Any  # rows with at least one entry, indexed by their positions in the table's frame
    numbers: tuple[str, ...]  # names of its columns
    categories: tuple[str, ...]
    notes: tuple[str, ...]  # what was left out
    code: str  # lines that compute `rows` from `table`

    def part(self, most: int) -> Any:
        """Return at most so many rows, sampled with a fixed seed."""
        return self.frame if len(self.frame) <= most else self.frame.sample(most, random_state=0)


def chosen_rows(
    table: Table, leave: Any = (), *, most_numbers: int = 20, most_categories: int = 10
) -> ChosenRows:
    """Return the columns of a table that vary, at most so many, and the rows with any entry.

    Of many columns of numbers those with the largest squared correlations with the others are taken:
    clusters and principal directions show in several columns at once.
    """
    notes: list[str] = []
    varying = set(_varying(table, table.names("number", "category", "boolean", leave=leave), notes))
    numbers = [name for name in table.names("number") if name in varying]
    numbers = _finite_squares(table.frame, numbers, notes)
    numbers = without_rescaled(table.frame, numbers, notes)
    numbers = _most_correlated(table.frame, numbers, most_numbers, notes)
    categories = [name for name in table.names("category", "boolean") if name in varying]
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


def code_head(table: Table, imports: str = "") -> str:
    """Return the first lines of a section's code: imports, and the table."""
    code = table.code if "import tractable\n" in table.code else f"import tractable\n{table.code}"
    head, _, read = code.partition("\n\n")
    return f"{head}\n{imports}\n{read}"


def sampled(positions: np.ndarray, most: int, rng: np.random.Generator) -> np.ndarray:
    """Return at most so many of the positions, in order."""
    if len(positions) <= most:
        return positions
    return np.sort(rng.choice(positions, most, replace=False))


def listed(names: Any, most: int = 5) -> str:
    """Return names as a list in words, of many the first.

    Examples
    --------
    >>> listed(["a", "b", "c"]), listed("abcd", 2)
    ('a, b and c', 'a, b and 2 others')
    """
    names = [str(name) for name in names]
    if len(names) > most:
        names = [*names[:most], number_of(len(names) - most, "other")]
    return " and ".join(part for part in (", ".join(names[:-1]), names[-1] if names else "") if part)


def without_rescaled(frame: Any, names: list[str], notes: list[str]) -> list[str]:
    """Return the columns without those that hold the numbers of another in other units."""
    if len(names) < 2:
        return names
    alike = np.abs(_correlations(frame, names))
    kept: list[int] = []
    for j in range(len(names)):
        if not (alike[j, kept] > SAME).any():
            kept.append(j)
    left = [name for j, name in enumerate(names) if j not in kept]
    if left:
        notes.append(f"Left out, since another column has the same numbers in other units: {listed(left)}.")
    return [names[j] for j in kept]


def _varying(table: Table, names: list[str], notes: list[str]) -> list[str]:
    """Return the columns that have enough entries and more than one value."""
    frame = table.frame[names]
    known = frame.notna().mean().to_numpy() if len(frame) else np.zeros(len(names))
    empty = [name for name, share in zip(names, known, strict=True) if share < MIN_KNOWN]
    if empty:
        notes.append(f"Left out, since most of their entries are missing: {listed(empty)}.")
    return [name for name in names if name not in set(empty) and frame[name].nunique() > 1]


def _finite_squares(frame: Any, names: list[str], notes: list[str]) -> list[str]:
    """Return the columns whose squares neither overflow nor underflow."""
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
    many = [name for name in names if table.frame[name].nunique() > MAX_LEVELS]
    if many:
        notes.append(f"Left out, since they have more than {MAX_LEVELS} categories: {listed(many)}.")
    few = [name for name in names if name not in set(many)]
    if len(few) > most:
        notes.append(f"Of {len(few)} columns of categories the first {most} are used.")
    return few[:most]


def _most_correlated(frame: Any, names: list[str], most: int, notes: list[str]) -> list[str]:
    if len(names) <= most:
        return names
    shared = (_correlations(frame, names) ** 2).mean(axis=1)
    best = np.sort(np.argsort(-shared, kind="stable")[:most])
    notes.append(
        f"Of {len(names)} columns of numbers the {most} that have most in common with the others are used."
    )
    return [names[j] for j in best]


def _correlations(frame: Any, names: list[str]) -> np.ndarray:
    """Return the correlations of columns, with missing entries replaced by the mean."""
    x = frame[names].to_numpy(dtype=np.float64)
    x = x / np.nanmax(np.abs(x), axis=0)
    x = x - np.nanmean(x, axis=0)
    x = np.where(np.isnan(x), 0.0, x)
    x = x / np.maximum(np.sqrt((x**2).sum(axis=0)), np.finfo(float).tiny)
    return np.asarray(x.T @ x)


#: The copies of each table.
_copies: WeakKeyDictionary[Table, np.ndarray] = WeakKeyDictionary()


def equal_rows(table: Table) -> np.ndarray:
    """Mark the rows of a table's frame with the same entries as an earlier one, identifiers aside."""
    compared = _compared(table)
    if compared.empty:
        return np.zeros(len(compared), dtype=bool)
    return np.asarray(compared.duplicated() & compared.notna().any(axis=1))


def copied_rows(table: Table) -> np.ndarray:
    """Mark the equal rows if there are more of them than by chance; computed once for a table."""
    if table not in _copies:
        _copies[table] = duplicate_mask(_compared(table))
    return _copies[table]


def deduplicated(table: Table) -> Table:
    """Return a table without copies of rows, as tests that assume independent rows need."""
    copies = copied_rows(table)
    return replace(table, frame=table.frame[~copies].reset_index(drop=True)) if copies.any() else table


def deduplicated_rows(rows: ChosenRows, table: Table) -> ChosenRows:
    """Return the rows that a model is fitted to without copies, with the code that leaves them out."""
    copies = copied_rows(table)[rows.frame.index]
    if not copies.any():
        return rows
    note = f"{number_of(int(copies.sum()), 'copy', 'copies')} of other rows left out: each row counts once."
    return replace(
        rows,
        frame=rows.frame[~copies],
        notes=(*rows.notes, note),
        code=f"{rows.code}rows = rows[~copied_rows(table)[rows.index]]\n",
    )


def imports_for(code: str) -> str:
    """Return the imports that code needs if it takes logarithms or leaves copies out."""
    numpy = "import numpy as np\n" if "np." in code else ""
    return numpy + ("from tractable.report import copied_rows\n" if "copied_rows(" in code else "")


def duplicate_mask(frame: Any) -> np.ndarray:
    """Mark rows with the same entries as an earlier one, unless so many may be equal by chance.

    Two rows agree in all columns at most as often as in the three columns of numbers that agree least,

        P(equal) ≤ P(equal in a) P(equal in b) P(equal in c),

    if these are independent. Rows are copies if at least ten times as many pairs are equal. Rows without
    numbers are never marked.

    Examples
    --------
    >>> import pandas as pd
    >>> x = pd.DataFrame({"x": [0.1234567, 2.7182818, 1.4142136, 0.1234567], "c": list("aaba")})
    >>> duplicate_mask(x).tolist(), duplicate_mask(x[["c"]]).tolist()
    ([False, False, False, False], [False, False, False, False])
    >>> bool(duplicate_mask(pd.concat([pd.DataFrame({"x": [k**0.5 for k in range(50)]})] * 2)).sum() == 50)
    True
    """
    import pandas as pd

    numbers = [name for name in frame.columns if frame[name].dtype.kind in "fM"]
    if not numbers:
        return np.zeros(len(frame), dtype=bool)
    again = (frame.duplicated() & frame[numbers].notna().any(axis=1)).to_numpy()
    if not again.any():
        return again
    chances = sorted(_chance(frame[name], frame.loc[~again, name]) for name in numbers)[:MAX_COLUMNS]
    counts = np.unique(pd.util.hash_pandas_object(frame, index=False), return_counts=True)[1]
    return again & (_pairs(counts) > COPY_FACTOR * _pairs(np.array([len(frame)])) * math.prod(chances))


def _chance(values: Any, once: Any) -> float:
    """Return the probability that two rows agree in a column; `once` has each row once.

    Numbers rounded to steps of s around a normal of deviation σ agree with probability s / (2 √π σ).
    """
    if values.nunique() < FEW_VALUES:
        once = values
    counts = once.value_counts(dropna=False).to_numpy()
    agree = _pairs(counts) / max(_pairs(np.array([len(once)])), 1.0)
    known = once.dropna().to_numpy()
    if known.dtype.kind != "f" or len(known) < 2:
        return agree
    return max(agree, _least_step(known) / (2.0 * math.sqrt(math.pi) * float(known.std())))


def _least_step(values: np.ndarray) -> float:
    """Return the least step between rounded numbers, 0 if they are not rounded."""
    scaled = values * 10.0**MAX_DIGITS
    if not np.isfinite(scaled).all() or (np.abs(scaled - np.rint(scaled)) > 1e-9 * np.abs(scaled)).any():
        return 0.0
    return float(np.diff(np.unique(values)).min())


def _pairs(counts: np.ndarray) -> float:
    return float((counts.astype(float) * (counts - 1.0)).sum()) / 2.0


def _compared(table: Table) -> Any:
    """Return the columns in which rows are compared: all but identifiers and constants."""
    return table.frame[table.names("number", "category", "boolean", "date", "text")]


def unused_note(table: Table, *kinds: str, leave: Any = ()) -> tuple[str, ...]:
    """Return a note on the columns of some kinds that a section does not use, if there are any.

    Examples
    --------
    >>> import pandas as pd
    >>> from tractable.report import table_of
    >>> days = pd.date_range("2024-01-01", periods=6)
    >>> unused_note(table_of(pd.DataFrame({"x": [1.5, 2.0, 2.5] * 2, "when": days, "id": range(6)})))
    ('Not used: when (a date) and id (names the rows).',)
    """
    names = table.names(*(kinds or UNUSABLE), leave=leave)
    reasons = [f"{name} ({REASONS[table.column(name).kind]})" for name in names]
    return (f"Not used: {listed(reasons)}.",) if reasons else ()
