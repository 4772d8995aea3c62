"""What a column of text holds: numbers, truth values, dates or words."""

import re
from typing import Any

import numpy as np

from tractable.data.entries import is_text, numbers_of, trimmed

__all__ = ["MOST", "dates_of", "holds_numbers", "text_type"]

#: How many of the entries must be readable for a column to hold numbers, or dates.
MOST = 0.95

#: Of fewer entries than this, all must be.
FEW = 20

#: Texts that other programs write for truth values.
TRUTH = ("true", "false", "True", "False", "TRUE", "FALSE")

#: How people write dates.
DATES = ("ISO8601", "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%Y/%m/%d", "%d-%m-%Y", "%d %b %Y", "%b %d, %Y")


def holds_numbers(n_numbers: int, n_valid: int) -> bool:
    """Say whether a column of text holds numbers: nearly all of its entries, of few entries all.

    Examples
    --------
    >>> holds_numbers(99, 100), holds_numbers(9, 10), holds_numbers(90, 100)
    (True, False, False)
    """
    return n_numbers >= (n_valid if n_valid < FEW else MOST * n_valid)


def text_type(texts: Any, decimal: str = ".") -> Any:
    """Return the Arrow type of what some entries of text stand for.

    Examples
    --------
    >>> import pyarrow as pa
    >>> [str(text_type(pa.array(texts))) for texts in (["1", "?", " 2"], ["1.5", "2"], ["red", "1"])]
    ['int64', 'double', 'string']
    >>> [str(text_type(pa.array(texts))) for texts in (["true"], ["2020-01-31"], ["31.1.2020"], [""])]
    ['bool', 'date32[day]', 'timestamp[s]', 'null']
    """
    import pyarrow as pa
    from pyarrow import compute as pc

    texts = trimmed(texts).drop_null()
    if not len(texts):
        return pa.null()
    if pc.all(pc.is_in(texts, value_set=pa.array(TRUTH))).as_py():
        return pa.bool_()
    numbers = numbers_of(texts, decimal)
    read = numbers[~np.isnan(numbers)]
    if holds_numbers(len(read), len(texts)):
        whole = len(read) == len(texts) and bool((np.abs(read) < 2**53).all() and (read % 1 == 0).all())
        return pa.int64() if whole else pa.float64()
    for kind in (pa.date32(), pa.timestamp("s")):
        if _is_castable(texts, kind):
            return kind
    return pa.string() if dates_of(texts) is None else pa.timestamp("s")


def dates_of(texts: Any) -> Any:
    """Return texts as a pandas series of dates where nearly all can be read as such; None elsewhere."""
    import pandas as pd

    if not is_text(texts.type):
        return None
    some = texts.drop_null()
    first = str(some[0]) if len(some) else ""
    if not re.search(r"\d[-/. ,]|[-/. ]\d", first) or len(first) < 6:
        return None
    series = pd.Series(texts.to_pylist(), dtype=object)
    for form in DATES:
        dates = pd.to_datetime(series, format=form, errors="coerce", utc=True).dt.tz_localize(None)
        if dates.notna().sum() >= MOST * series.notna().sum():
            return dates
    return None


def _is_castable(texts: Any, kind: Any) -> bool:
    import pyarrow as pa

    try:
        texts.cast(kind)
    except pa.ArrowInvalid:
        return False
    return True
