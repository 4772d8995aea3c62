"""What a report knows of a table: its columns, what each holds, and the rows that are kept."""

from collections.abc import Sequence
from typing import Any

from tractable.data.columns import no_column
from tractable.data.text import TableError
from tractable.value import value

__all__ = ["KINDS", "Column", "Table", "TableError", "unknown_column"]

#: What a column may hold.
KINDS = ("number", "category", "boolean", "date", "text", "constant", "empty", "identifier")


@value
class Column:
    """One column: what it is called, what it holds, and what was counted of it over all rows.

    Parameters
    ----------
    name : str
        Unique and not blank; as the file has it otherwise, so it is to be escaped where it is written.
    kind : str
        One of `KINDS`.
    n_missing : int
        Of all rows of the table.
    n_distinct : int
        How many different values there are; counted up to `most_distinct`.
    note : str
        What a reader should know of how the column was taken; empty where there is nothing.
    low, high : float, optional
        The smallest and the largest number.
    counts : tuple of (str, int)
        Of categories and truth values: how often each occurs, the most frequent first.

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
        """Whether it holds categories; truth values are two of them."""
        return self.kind in ("category", "boolean")


@value
class Table:
    """The columns of a table and the rows of it that are in memory.

    Parameters
    ----------
    columns : tuple of Column
    frame : pandas frame
        All rows, or a uniform sample of them in the order of the file, with the columns' names. Numbers are
        floats (NaN where one is missing), dates are dates, all others text (None where it is missing).
    n_rows : int
        How many rows the table has, kept or not.
    path : str
        What the table is called: the path of its file.
    notes : tuple of str
        What a reader of the report should know of how the table was read.
    source : str
        The Python expression that gives this table again.
    n_unseen : int
        Columns of the file that were not looked at.

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
        """Return the columns of numbers, as floats, but for those to `leave` (a name, or several)."""
        return self.frame[self.names("number", leave=leave)]

    def categories(self, leave: Any = ()) -> Any:
        """Return the columns of categories and of truth values, as text."""
        return self.frame[self.names("category", "boolean", leave=leave)]

    def names(self, *kinds: str, leave: Any = ()) -> list[str]:
        """Return the names of the columns of some kinds, of all when no kind is given."""
        gone = {leave} if isinstance(leave, str) else set(leave or ())
        return [c.name for c in self.columns if (not kinds or c.kind in kinds) and c.name not in gone]

    def column(self, name: str, argument: str = "target") -> Column:
        """Return what is known of a column; a name that no column has is told with the nearest one."""
        for column in self.columns:
            if column.name == name:
                return column
        raise unknown_column(name, self.names(), self.path, argument)

    @property
    def is_sample(self) -> bool:
        """Whether the rows kept are some of many."""
        return len(self.frame) < self.n_rows

    @property
    def code(self) -> str:
        """The lines that read this table again: every section's code begins with them."""
        reader = self.source.partition("(")[0]
        return f"import tractable\nfrom tractable.report import {reader}\n\ntable = {self.source}\n"


def unknown_column(name: str, names: Sequence[str], path: str, argument: str = "target") -> TableError:
    """Return what to raise where no column has a name: it says which one is nearest."""
    return TableError(no_column(name, names, argument, path))
