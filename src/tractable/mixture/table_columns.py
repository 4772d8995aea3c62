"""What the columns of a table hold, and how their values become numbers and values again."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from tractable.data import is_frame
from tractable.data.columns import check_known
from tractable.value import value

__all__ = ["KINDS", "TableColumns", "coded_frame", "columns_of", "kinds_of", "learn_columns"]

#: What a column may be.
KINDS = ("normal", "categorical", "poisson", "bernoulli")


@value
class TableColumns:
    """The columns of a table: what each is called, its kind, and the categories it has.

    Parameters
    ----------
    names : tuple of str, or None
    kinds : tuple of {"normal", "categorical", "poisson", "bernoulli"}
    categories : tuple
        For each column a tuple of values, of which position k is category k; None where a column has none, or
        where its values are the numbers 0, 1, … themselves.
    library : {"pandas", "polars"}, optional
        Whose frame the table was.
    """

    names: tuple[Any, ...] | None
    kinds: tuple[str, ...]
    categories: tuple[tuple[Any, ...] | None, ...]
    library: str | None = None

    def position(self, column: Any) -> int:
        """Return where a column stands, by its name or its position."""
        if self.names is not None and column in self.names:
            return self.names.index(column)
        if isinstance(column, (int, np.integer)) and -len(self.kinds) <= column < len(self.kinds):
            return int(column) % len(self.kinds)
        check_known([column], self.names or range(len(self.kinds)), "dims", "the table")
        raise AssertionError  # unreachable: the check has raised

    def code(self, position: int, values: Any) -> np.ndarray:
        """Return values of one column as numbers, NaN where one is missing."""
        table = self.categories[position]
        name = position if self.names is None else self.names[position]
        return (
            _numbers(values, name)
            if table is None
            else _looked_up(np.asarray(values, dtype=object), table, name)
        )

    def values(self, position: int, codes: np.ndarray) -> np.ndarray:
        """Return numbers of one column as the values they stand for."""
        kind, table = self.kinds[position], self.categories[position]
        if np.isnan(codes).any():
            raise ValueError("codes must not be missing")
        if table is not None:
            return np.asarray(table, dtype=_dtype(table))[codes.astype(np.int64)]
        if kind == "bernoulli":
            return codes > 0.5
        return codes if kind == "normal" else codes.astype(np.int64)

    def given(self, dims: Any, values: Any = None) -> dict[int, np.ndarray]:
        """Return what is known of some columns as numbers, by position."""
        if isinstance(dims, Mapping):
            if values is not None:
                raise ValueError("values must not be given twice: dims is a mapping that has them")
            known = dims
        else:
            dims = [dims] if isinstance(dims, (str, int)) else list(dims)
            values = np.asarray(values, dtype=object)
            if values.ndim < 1 or values.shape[-1] != len(dims):
                raise ValueError(f"values must have {len(dims)} entries on the last axis, got {values.shape}")
            known = {column: values[..., i] for i, column in enumerate(dims)}
        return {(j := self.position(column)): self.code(j, v) for column, v in known.items()}

    def table(self, codes: np.ndarray) -> Any:
        """Return rows of numbers as a table like the one that was read: a frame, or as they are."""
        if self.library is None:
            return codes
        names = self.names or range(codes.shape[1])
        made = {name: self.values(j, codes[:, j]) for j, name in enumerate(names)}
        if self.library == "polars":
            import polars as pl

            return pl.DataFrame({name: column.tolist() for name, column in made.items()})
        import pandas as pd

        return pd.DataFrame(made)


def learn_columns(frame: Any, kinds: Any, leave: Any = None, *, codes: bool = False) -> TableColumns:
    """Return what the columns of a frame are: as told, or else by their types.

    Text and categories are categorical, booleans Bernoulli, all other numbers normal. A column of counts does
    not look different from one of years: say that it is "poisson". With `codes`, all are categorical, and
    numbers are codes of categories.
    """
    pandas, library = _as_pandas(frame)
    if not pandas.columns.is_unique:
        raise ValueError(f"X has several columns of one name: {list(pandas.columns)}")
    names = tuple(name for name in pandas.columns if name != leave)
    told = kinds_of(["categorical"] * len(names) if codes else kinds, names, len(names))
    found = tuple(kind or _kind(pandas[name]) for name, kind in zip(names, told, strict=True))
    numbers = {name for name in names if codes and _kind(pandas[name]) in ("normal", "bernoulli")}
    tables = tuple(
        _table(pandas[name]) if kind == "categorical" and name not in numbers else None
        for name, kind in zip(names, found, strict=True)
    )
    return TableColumns(names=names, kinds=found, categories=tables, library=library)


def columns_of(names: Any, width: int, kinds: Any, default: str = "normal") -> TableColumns:
    """Return the columns of rows of numbers: as told, or else all of one kind; categories are 0, 1, …."""
    names = None if names is None else tuple(names)
    told = kinds_of(kinds, names, width)
    return TableColumns(names=names, kinds=tuple(k or default for k in told), categories=(None,) * width)


def coded_frame(frame: Any, columns: TableColumns) -> Any:
    """Return a frame as a pandas frame of floats, by the categories that its columns have."""
    import pandas as pd

    pandas, _ = _as_pandas(frame)
    known = columns.names or ()
    coded = {
        name: columns.code(known.index(name), _plain(pandas[name]))
        if name in known
        else pandas[name]  # scikit-learn will say that it does not belong here
        for name in pandas.columns
    }
    return pd.DataFrame(coded, index=pandas.index)


def kinds_of(kinds: Any, names: Sequence[Hashable] | None, width: int) -> list[str | None]:
    """Return the kind that is told of each column, None where nothing is."""
    told: list[str | None] = [None] * width
    if kinds is None:
        return told
    if isinstance(kinds, str) or not isinstance(kinds, (Mapping, Sequence)):
        raise ValueError(
            f"kinds must be a mapping from columns to kinds, or one kind a column, got {kinds!r}"
        )
    if not isinstance(kinds, Mapping):
        if len(kinds) != width:
            raise ValueError(f"kinds must have one entry a column, {width}, got {len(kinds)}")
        kinds = dict(enumerate(kinds))
    for column, kind in kinds.items():
        if kind not in KINDS:
            raise ValueError(f"kinds must be of {list(KINDS)}, got {kind!r} for {column!r}")
        if names is not None and column in names:
            told[names.index(column)] = kind
        elif isinstance(column, int) and 0 <= column < width:
            told[column] = kind
        else:
            check_known([column], names or range(width), "kinds", "the table")
    return told


def _as_pandas(frame: Any) -> tuple[Any, str]:
    if hasattr(frame, "iloc"):
        return frame, "pandas"
    library = "polars" if type(frame).__module__.startswith("polars") else "pandas"
    assert is_frame(frame)
    return frame.to_pandas(), library


def _kind(column: Any) -> str:
    dtype = column.dtype
    if hasattr(dtype, "categories"):
        return "categorical"
    if getattr(dtype, "kind", "O") == "b":
        return "bernoulli"
    if getattr(dtype, "kind", "O") in "fiu":
        return "normal"
    if getattr(dtype, "kind", "O") in "mMc":
        raise ValueError(f"X: the column {column.name!r} holds {dtype}, neither numbers nor categories")
    seen = column.dropna()
    return "bernoulli" if len(seen) and all(isinstance(v, (bool, np.bool_)) for v in seen) else "categorical"


def _table(column: Any) -> tuple[Any, ...]:
    """Return the categories of a column: those of its type, or those that occur, sorted."""
    if hasattr(column.dtype, "categories"):
        found = list(column.dtype.categories)
    else:
        found = _sorted(column.dropna().unique().tolist())
    if not found:
        raise ValueError(f"X has no observed value in the column {column.name!r}")
    return tuple(v.item() if isinstance(v, np.generic) else v for v in found)


def _sorted(values: list[Any]) -> list[Any]:
    try:
        return sorted(values)
    except TypeError:  # values of several types
        return sorted(values, key=lambda v: (type(v).__name__, str(v)))


def _plain(column: Any) -> Any:
    return column.astype(object).to_numpy()


def _numbers(values: Any, name: Any) -> np.ndarray:
    import pandas as pd

    values = np.asarray(values)
    if values.dtype == object:
        values = np.where(pd.isna(values), np.nan, values)
    try:
        return values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"X: the column {name!r} must be numbers: {error}") from None


def _looked_up(values: np.ndarray, table: tuple[Any, ...], name: Any) -> np.ndarray:
    import pandas as pd

    place = {category: float(k) for k, category in enumerate(table)}
    missing = np.asarray(pd.isna(values))
    flat = [np.nan if gone else place.get(v) for v, gone in zip(values.ravel(), missing.ravel(), strict=True)]
    if None in flat:
        unknown = values.ravel()[flat.index(None)]
        raise ValueError(f"X: the column {name!r} has no category {unknown!r}; it has {list(table)[:12]}")
    return np.asarray(flat, dtype=np.float64).reshape(values.shape)


def _dtype(table: tuple[Any, ...]) -> Any:
    alike = {type(v) for v in table}
    return object if len(alike) > 1 or str in alike else None
