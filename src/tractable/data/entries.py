"""Entries of a column, as Arrow has them: text that stands for nothing, and text that stands for numbers."""

from typing import Any

import numpy as np

__all__ = ["MISSING", "is_text", "numbers_of", "trimmed"]

#: What people write where they have nothing to write.
MISSING = (
    "", "NA", "N/A", "n/a", "na", "NaN", "nan", "NAN", "-nan", "NULL", "null", "Null", "None", "none", "nil",
    "#N/A", "#NA", "<NA>", "?", "-", "--", ".", "missing", "Missing",
)  # fmt: skip

NUMBER = r"^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$|^[+-]?(inf|Inf|INF|infinity|Infinity)$"


def trimmed(texts: Any) -> Any:
    """Return text without blanks around it, missing where it says nothing."""
    import pyarrow as pa
    from pyarrow import compute as pc

    texts = pc.utf8_trim_whitespace(texts)
    nothing = pc.is_in(texts, value_set=pa.array(MISSING, texts.type))
    return pc.if_else(nothing, pa.scalar(None, texts.type), texts)


def numbers_of(entries: Any, decimal: str = ".") -> np.ndarray:
    """Return entries as floats, NaN where one is missing or is no number."""
    import pyarrow as pa
    from pyarrow import compute as pc

    if pa.types.is_temporal(entries.type):
        return np.full(len(entries), np.nan)
    if not is_text(entries.type):
        return _floats(entries)
    if decimal == ",":
        entries = pc.replace_substring(entries, ",", ".")
    try:
        return _floats(entries)
    except pa.ArrowInvalid:  # not all of them are numbers
        readable = pc.match_substring_regex(entries, NUMBER)
        numbers = pc.if_else(readable, entries, pa.scalar(None, entries.type))
        return _floats(pc.replace_substring_regex(numbers, r"^\+", ""))


def is_text(kind: Any) -> bool:
    """Tell text of any width from other types of Arrow's."""
    from pyarrow import types

    return bool(types.is_string(kind) or types.is_large_string(kind))


def _floats(entries: Any) -> np.ndarray:
    import pyarrow as pa
    from pyarrow import compute as pc

    numbers = pc.cast(entries, pa.float64(), safe=False)
    return np.asarray(numbers.to_numpy(zero_copy_only=False), dtype=np.float64)
