"""What a column holds, judged by what was counted of it and by the rows that are kept."""

import re
from typing import Any

import numpy as np

from tractable.data.names import number_of
from tractable.data.text import dates_of, holds_numbers, is_text, numbers_of, trimmed
from tractable.report.table import Column
from tractable.report.tally import MOST_DISTINCT, Tally

__all__ = ["judged"]

#: Whole numbers with no more values than this, each of them frequent, are codes of categories.
FEW_CODES = 10

#: More different texts than this are no categories.
MOST_CATEGORIES = 100

#: Signs that no page can show, and those that turn the writing round, end its line, or are not seen.
STEERING = (0x61C, 0x200B, 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A), 0xFEFF)
CONTROLS = dict.fromkeys([*range(9), 11, 12, *range(14, 32), *range(127, 160), *STEERING], "\ufffd")

TRUTH = ({"true", "false"}, {"yes", "no"}, {"t", "f"}, {"y", "n"}, {"0", "1"}, {"on", "off"})
KEY = re.compile(r"(^|[_\W])(id|key|index|uuid|guid|row|rowid|nr|no)$|^unnamed: 0$", re.IGNORECASE)


def judged(name: str, tally: Tally, kept: Any, decimal: str = ".") -> tuple[Column, Any]:
    """Return what a column is, and the rows of it that are kept, as a pandas series to match.

    `kept` is an Arrow array of what the file has: numbers, truth values, dates or text.
    """
    import pandas as pd
    from pyarrow import types

    texts = trimmed(kept) if is_text(kept.type) else kept
    if types.is_temporal(kept.type) and not types.is_duration(kept.type):
        dates = pd.to_datetime(pd.Series(kept.to_pandas()), errors="coerce", utc=True)
        return _date(name, tally, dates.dt.tz_localize(None))
    kind, note = _kind(name, tally, texts)
    if kind == "number":
        numbers = numbers_of(texts, decimal)
        return _column(name, kind, tally, note, extra=_lost(tally)), pd.Series(
            np.where(np.isfinite(numbers), numbers, np.nan)
        )
    if kind in ("text", "category", "identifier"):
        dates = dates_of(texts)
        if dates is not None:
            return _date(name, tally, dates)
    return _column(name, kind, tally, note), _texts(texts)


def _kind(name: str, tally: Tally, texts: Any) -> tuple[str, str]:
    """Return the kind of a column of numbers or text, and what to say of it."""
    if tally.n_valid == 0:
        return "empty", "no entry"
    if tally.n_distinct == 1:
        return "constant", f"always {_shown(next(iter(tally.counts)))}"
    if {_shown(v).casefold() for v in tally.counts} in TRUTH:
        return "boolean", ""
    if _holds_numbers(tally):
        return _kind_of_numbers(name, tally)
    return _kind_of_texts(tally, texts)


def _holds_numbers(tally: Tally) -> bool:
    if tally.text:
        return holds_numbers(tally.n_numbers, tally.n_valid)
    return tally.n_numbers >= tally.n_valid


def _kind_of_numbers(name: str, tally: Tally) -> tuple[str, str]:
    n, different = tally.n_numbers, tally.n_distinct
    if tally.whole and tally.stepping and n >= 5:
        return "identifier", f"the numbers {tally.low:.0f} to {tally.high:.0f} in order"
    every = different >= min(n, MOST_DISTINCT)
    if tally.whole and every and KEY.search(name):
        return "identifier", "whole numbers, all different, named like a key"
    if tally.whole and different <= FEW_CODES and n >= 5 * different and not _lost(tally):
        return "category", "whole numbers of few values: taken as categories"
    lost = []
    if tally.n_unreadable:
        odd = ", ".join(repr(entry) for entry in list(tally.odd)[:3])
        lost.append(f"{number_of(tally.n_unreadable, 'entry', 'entries')} not a number ({odd})")
    if tally.n_infinite:
        lost.append(f"{number_of(tally.n_infinite, 'infinite entry', 'infinite entries')}")
    note = f"{' and '.join(lost)} taken as missing" if lost else ""
    return "number", note


def _kind_of_texts(tally: Tally, texts: Any) -> tuple[str, str]:
    n, different = tally.n_valid, tally.n_distinct
    if different <= MOST_CATEGORIES and (different <= n / 2 or different < n <= 20):
        return "category", ""
    lengths = [len(str(text)) for text in texts.slice(0, 200).drop_null().to_pylist()]
    if different >= min(n, MOST_DISTINCT) and np.mean(lengths or [0]) <= 40:
        return "identifier", "texts that are all different"
    return "text", "texts with too many values for categories"


def _date(name: str, tally: Tally, dates: Any) -> tuple[Column, Any]:
    if tally.n_valid == 0:
        return _column(name, "empty", tally, "no entry"), dates
    note = f"{dates.min():%Y-%m-%d} to {dates.max():%Y-%m-%d}"
    kind = "constant" if tally.n_distinct == 1 else "date"
    return _column(name, kind, tally, note), dates


def _column(name: str, kind: str, tally: Tally, note: str, extra: int = 0) -> Column:
    number = kind == "number"
    counts = tally.counts.most_common() if kind in ("category", "boolean") else []
    return Column(
        name=name,
        kind=kind,
        n_missing=tally.n_missing + extra,
        n_distinct=tally.n_distinct,
        note=note,
        low=tally.low if number else None,
        high=tally.high if number else None,
        counts=tuple((_shown(v), n) for v, n in counts),
    )


def _lost(tally: Tally) -> int:
    """Return how many entries of a column of numbers are none that can be used."""
    return tally.n_unreadable + tally.n_infinite


def _texts(entries: Any) -> Any:
    """Return entries as a series of text, None where one is missing."""
    import pandas as pd

    return pd.Series([None if v is None else _shown(v) for v in entries.to_pylist()], dtype=object)


def _shown(entry: Any) -> str:
    """Return an entry as text: whole numbers without a point, at most 200 letters, all of them printable."""
    if isinstance(entry, float) and entry.is_integer() and abs(entry) < 1e15:
        return str(int(entry))
    return str(entry)[:200].translate(CONTROLS)
