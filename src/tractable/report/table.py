"""A table of a report: its columns with their kinds and counts, and the rows in memory."""

from collections.abc import Sequence
from typing import Any

from tractable.data.columns import no_column
from tractable.data.text import TableError
from tractable.value import value

__all__ = ["KINDS", "Column", "Table", "TableError", "unknown_column"]

#: The kinds of columns.
KINDS = ("number", "category", "boolean", "date", "text", "constant", "empty", "identifier")


@value
class Column:
    """One column: its name, its kind, and counts over all rows.

    Parameters
    ----------
    name : str
        Unique and not blank, otherwise as in the file; it must be escaped in HTML.
    kind : str
        One of `KINDS`.
    n_missing : int
        Of all rows of the table.
    n_distinct : int
        Number of different values, counted up to a limit.
    note : str
        How the column was interpreted; may be empty.
    low, high : float, optional
        The smallest and the largest number.
    counts : tuple of (str, int)
        Categories and truth values with their counts, the most frequent first.

    Examples
    --------
    >>> Column(name="age", kind="number", n_missing=3, n_distinct=61, low=18.0, high=90.0).is_number
    True
    """

    name: str
    kind: str
    n_missing: int
    n_distinct: int
    note: str = ""
    low: float | None = None
    high: float | None = None
    counts: tuple[tuple[str, int], ...] = ()

    @property
    def is_number(self) -> bool:
        return self.kind == "number"

    @property
    def is_category(self) -> bool:
        """Whether it holds categories or truth values."""
        return self.kind in ("category", "boolean")


@value
class Table:
    """The columns of a table and its rows in memory.

    Parameters
    ----------
    columns : tuple of Column
    frame : pandas frame
        All rows, or a uniform sample of them in the order of the file, with the columns' names. Numbers are
        floats (NaN where one is missing), dates are dates, all others text (None where it is missing).
    n_rows : int
        Number of rows of the whole table.
    path : str
        The path of its file, or another name.
    notes : tuple of str
        How the table was read, for the report.
    source : str
        The Python expression that reads this table.
    n_unseen : int
        Number of columns of the file that were not read.

    Examples
    --------
    >>> from tractable.report import table_of
    >>> import tractable
    >>> table = table_of(tractable.datasets.load("penguins").frame)
    >>> table.n_rows, list(table.numbers().columns)
    (344, ['bill_length_mm', 'bill_depth_mm', 'flipper_length_mm', 'body_mass_g'])
    >>> list(table.categories().columns)
    ['species', 'island', 'sex', 'year']
    """

    columns: tuple[Column, ...]
    frame: Any
    n_rows: int
    path: str = "the table"
    notes: tuple[str, ...] = ()
    source: str = "table_of(frame)"
    n_unseen: int = 0

    def numbers(self, leave: Any = ()) -> Any:
        """Return the columns of numbers, as floats, without those in `leave` (a name, or several)."""
        return self.frame[self.names("number", leave=leave)]

    def categories(self, leave: Any = ()) -> Any:
        """Return the columns of categories and of truth values, as text."""
        return self.frame[self.names("category", "boolean", leave=leave)]

    def names(self, *kinds: str, leave: Any = ()) -> list[str]:
        """Return the names of the columns of some kinds, or of all columns when no kind is given."""
        left = {leave} if isinstance(leave, str) else set(leave or ())
        return [c.name for c in self.columns if (not kinds or c.kind in kinds) and c.name not in left]

    def column(self, name: str, argument: str = "target") -> Column:
        """Return a column by name; the error for an unknown name suggests the nearest one."""
        for column in self.columns:
            if column.name == name:
                return column
        raise unknown_column(name, self.names(), self.path, argument)

    @property
    def is_sample(self) -> bool:
        """Whether the rows in memory are a sample."""
        return len(self.frame) < self.n_rows

    @property
    def code(self) -> str:
        """The lines that read this table, with which the code of every section begins."""
        reader = self.source.partition("(")[0]
        return f"import tractable\nfrom tractable.report import {reader}\n\ntable = {self.source}\n"


def unknown_column(name: str, names: Sequence[str], path: str, argument: str = "target") -> TableError:
    """Return the error for an unknown column, which suggests the nearest name."""
    return TableError(no_column(name, names, argument, path))
