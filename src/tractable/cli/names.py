"""Lists of column names as one word of a command."""

import csv
import io
import shlex
from collections.abc import Iterable

__all__ = ["names_in", "shell_list"]


def names_in(text: str) -> tuple[str, ...]:
    """Return the names in a list that is separated by commas; a name that has one is put in quotes.

    Examples
    --------
    >>> names_in('km, minutes, "day, hour"')
    ('km', 'minutes', 'day, hour')
    """
    fields = next(csv.reader([text], skipinitialspace=True), [])
    return tuple(name.strip() for name in fields if name.strip())


def shell_list(names: Iterable[str]) -> str:
    """Return the list of names as a shell takes it.

    Examples
    --------
    >>> print(shell_list(["km", "minutes"]), shell_list(["km", "day, hour"]))
    km,minutes 'km,"day, hour"'
    """
    text = io.StringIO()
    csv.writer(text, lineterminator="").writerow(names)
    return shlex.quote(text.getvalue())
