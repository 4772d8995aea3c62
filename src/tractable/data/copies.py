"""Entries of text in the Arrow types that hold them exactly: digits, leading zeros and all."""

from typing import Any

import numpy as np

from tractable.data.text import NUMBER, TRUTH, is_castable, is_text, trimmed

#: Whole numbers as a type of numbers writes them, and those that it cannot: with leading zeros, say.
WHOLE = r"^(0|-?[1-9]\d*)$"
CODED = r"^[+-]?0\d+$"

#: The digits that every whole number and every fraction may have as a float.
WHOLE_DIGITS, DIGITS = 15, 17


class ExactTypes:
    """The types that hold every entry of columns of text without loss; they are found block by block.

    Truth values are bool, whole numbers of 64 bits int64, other numbers double, dates of the form 2020-01-31
    date32. All others are text: numbers with leading zeros, signs, units or more digits than a type has.

    Examples
    --------
    >>> import pyarrow as pa
    >>> found = ExactTypes()
    >>> texts = {"id": ["123456789012345671", "NA"], "zip": ["01067", "80331"], "x": ["1.50", "2"]}
    >>> found.add(pa.table(texts))
    >>> [str(kind) for kind in found.types.values()]
    ['int64', 'string', 'double']
    >>> found.cast(pa.table(texts)).to_pylist()[1]
    {'id': None, 'zip': '80331', 'x': 2.0}
    """

    def __init__(self) -> None:
        self._fits: dict[str, set[str]] = {}
        self._empty: set[str] = set()

    def add(self, texts: Any) -> None:
        """Look at a block, an Arrow table of text; entries may stand for missing ones."""
        for name in texts.schema.names:
            if name not in self._fits:
                self._fits[name] = set(_CASTS)
                self._empty.add(name)
            entries = trimmed(texts.column(name)).drop_null()
            if len(entries):
                self._empty.discard(name)
                self._fits[name] = {kind for kind in self._fits[name] if _CASTS[kind](entries)}

    @property
    def types(self) -> dict[str, Any]:
        """The Arrow type of each column; a column without an entry is one of doubles."""
        import pyarrow as pa

        first = {name: next((k for k in _CASTS if k in fits), "string") for name, fits in self._fits.items()}
        return {n: pa.float64() if n in self._empty else pa.type_for_alias(k) for n, k in first.items()}

    def cast(self, texts: Any) -> Any:
        """Return a block in these types, null where an entry is missing; text is as it was written."""
        import pyarrow as pa
        from pyarrow import compute as pc

        columns, types = {}, self.types
        for name in texts.schema.names:
            kind = types[name]
            entries, known = texts.column(name), trimmed(texts.column(name))
            if pa.types.is_string(kind):
                known = pc.if_else(pc.is_null(known), pa.scalar(None, pa.string()), entries)
            columns[name] = known.cast(kind)
        return pa.table(columns)


def holds_codes(texts: Any) -> bool:
    """Whether whole numbers in a column of text are names: with leading zeros, or more digits than int64.

    Examples
    --------
    >>> import pyarrow as pa
    >>> [holds_codes(pa.array([text, "7"])) for text in ("01067", "12345678901234567890", "0.5", "$7")]
    [True, True, False, False]
    """
    from pyarrow import compute as pc

    entries = trimmed(texts).drop_null()
    whole = entries.filter(pc.match_substring_regex(entries, r"^[+-]?\d+$"))
    return _any(whole, CODED) or (_any(whole, r"\d{16}") and not _are_integers(whole))


def _any(texts: Any, pattern: str) -> bool:
    from pyarrow import compute as pc

    return bool(pc.any(pc.match_substring_regex(texts, pattern)).as_py())


def _all(texts: Any, pattern: str) -> bool:
    from pyarrow import compute as pc

    return bool(pc.all(pc.match_substring_regex(texts, pattern)).as_py())


def _are_truth_values(texts: Any) -> bool:
    import pyarrow as pa
    from pyarrow import compute as pc

    return bool(pc.all(pc.is_in(texts, value_set=pa.array(TRUTH, texts.type))).as_py())


def _are_integers(texts: Any) -> bool:
    return _all(texts, WHOLE) and is_castable(texts, "int64")


def _are_doubles(texts: Any) -> bool:
    from pyarrow import compute as pc

    if not _all(texts, NUMBER) or _any(texts, r"^\+|^-?0\d"):
        return False
    digits = pc.replace_substring_regex(texts, r"[eE].*$|[^\d]", "")
    digits = pc.utf8_length(pc.replace_substring_regex(digits, r"^0+", ""))
    most = pc.if_else(pc.match_substring_regex(texts, r"^-?\d+$"), WHOLE_DIGITS, DIGITS)
    return bool(pc.all(pc.less_equal(digits, most)).as_py())


def _are_dates(texts: Any) -> bool:
    return _all(texts, r"^\d{4}-\d{2}-\d{2}$") and is_castable(texts, "date32")


#: Of each type, whether it holds all entries; the first that does is taken.
_CASTS = {"bool": _are_truth_values, "int64": _are_integers, "double": _are_doubles, "date32": _are_dates}


def completed(copies: Any, frame: Any, filled: Any) -> Any:
    """Return a table in which missing entries are filled, and all others are as they were.

    Parameters
    ----------
    copies : Arrow table
        The table as its file holds it.
    frame, filled : pandas frames
        The entries as they were read, and with missing ones drawn; some may still be missing.

    Examples
    --------
    >>> import pandas as pd, pyarrow as pa
    >>> frame = pd.DataFrame({"x": [1.5, None], "zip": ["01067", "01067"]})
    >>> copies = pa.table({"x": ["1.50", "NA"], "zip": ["01067", "01067"]})
    >>> completed(copies, frame, frame.fillna({"x": 2.25})).to_pylist()
    [{'x': '1.50', 'zip': '01067'}, {'x': '2.25', 'zip': '01067'}]
    """
    import pyarrow as pa
    from pyarrow import compute as pc

    for j, name in enumerate(copies.column_names):
        drawn = (frame[name].isna() & filled[name].notna()).to_numpy()
        if drawn.any():
            column = copies.column(j).combine_chunks()
            column = column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
            column, entries = _in_one_type(column, pa.array(filled[name][drawn].tolist()))
            copies = copies.set_column(j, name, pc.replace_with_mask(column, pa.array(drawn), entries))
    return copies


def _in_one_type(column: Any, drawn: Any) -> tuple[Any, Any]:
    """Return a column and the entries that were drawn for it in the type of the column, if it holds these."""
    import pyarrow as pa

    kind = column.type
    if is_text(kind):
        if pa.types.is_boolean(drawn.type):
            drawn = _spelled(column, drawn)
        return column, drawn.cast(kind)
    if pa.types.is_integer(kind) and kind.bit_width < 64:  # a type ends where drawn numbers need not
        limits = np.iinfo(kind.to_pandas_dtype())
        drawn = pa.array(np.clip(drawn.to_numpy(zero_copy_only=False), limits.min, limits.max))
    if pa.types.is_decimal(kind) and not is_castable(drawn, kind):
        kind = pa.decimal256(76, kind.scale)  # the widest: one that was drawn has more digits than the others
    return column.cast(kind), drawn.cast(kind)


def _spelled(texts: Any, truth: Any) -> Any:
    """Return truth values as a column spells them."""
    import pyarrow as pa

    known = [text for text in trimmed(texts).unique().to_pylist() if text is not None]
    spelling = {text.lower() == "true": text for text in known}
    return pa.array([spelling.get(x, str(x)) for x in truth.to_pylist()])


def exactly_typed(tables: Any) -> list[Any]:
    """Return tables of text in the types that hold all of them exactly."""
    found = ExactTypes()
    for table in tables:
        found.add(table)
    return [found.cast(table) for table in tables]
