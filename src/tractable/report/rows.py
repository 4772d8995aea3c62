"""The rows and columns of a table that a model of all of them can be fitted to."""

from typing import Any

import numpy as np

from tractable.data.names import number_of
from tractable.report.table import Table
from tractable.value import value

__all__ = ["ChosenRows", "beginning", "chosen_rows", "listed", "without_copies"]

#: A category with more levels says more about the levels than about the rows.
MOST_LEVELS = 20

#: Of a column that is emptier than this, too little is known.
LEAST_KNOWN = 0.2

#: Numbers of this size, or of one by it, have squares that a computer has no number for.
LARGEST = 1e140

#: Columns that are so much alike hold the same numbers in other units.
SAME = 0.99999


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
