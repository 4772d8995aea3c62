"""Columns that a section makes no use of, in words that are the same in all sections."""

from typing import Any

from tractable.report.rows import listed
from tractable.report.table import Table

__all__ = ["not_used"]

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
