"""The best model of a target with all that happens to a table before it: what is kept for new tables."""

from functools import cached_property
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if

from tractable.data.columns import no_column
from tractable.data.names import clean_names
from tractable.data.table_columns import warn_unseen
from tractable.data.text import TableError, date_format, dates_of, is_text, numbers_of, trimmed
from tractable.report.candidates import classifiers, is_skewed, log_regressors, regressors, skewed_columns
from tractable.report.fitted import point_prediction
from tractable.report.held_out import model_rows, quiet
from tractable.report.reading import arrow_of
from tractable.report.table import Table, entry_text
from tractable.report.time_order import date_of, date_part, with_dates
from tractable.value import value

DATE_PARTS = ("year", "month", "weekday", "hour")
KINDS = ("number", "category", "boolean", *DATE_PARTS)


@value
class TableColumn:
    """A column that a model needs, and how its entries are read.

    Parameters
    ----------
    name : str
        In the model; the part of a date is "day (month)".
    kind : str
        "number", "category", "boolean", or the part of a date: "year", "month", "weekday" or "hour".
    source : str
        The name of the column in tables: of the date, if this is a part of one.
    levels : tuple of str
        The categories.
    ordered : bool
        Whether these are in order.
    """

    name: str
    kind: str
    source: str
    levels: tuple[str, ...] = ()
    ordered: bool = False

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"kind must be one of {', '.join(KINDS)}; got {self.kind!r}")
        if len(set(self.levels)) != len(self.levels):
            raise ValueError(f"levels must differ from each other, got {self.levels}")

    def read(self, entries: Any) -> Any:
        """Return entries, an Arrow array, as the model takes them; unknown categories are missing."""
        import pandas as pd

        if is_text(entries.type):
            entries = trimmed(entries)
        if self.kind in DATE_PARTS:
            found = date_part(_dates(entries), self.kind)
        elif self.kind == "number":
            numbers = numbers_of(entries)
            return pd.Series(np.where(np.isfinite(numbers), numbers, np.nan))
        else:
            found = self._categories(entries)
        if not self.levels:
            return found
        codes = pd.Index(list(self.levels), dtype=object).get_indexer(found)
        unknown = found.notna().to_numpy() & (codes < 0)
        if unknown.any():
            warn_unseen(self.name, found[unknown].iloc[0])
        kind = pd.CategoricalDtype(list(self.levels), ordered=self.ordered)
        return pd.Series(pd.Categorical.from_codes(codes, dtype=kind))

    def _categories(self, entries: Any) -> Any:
        """Return entries as the texts that the categories are: 14 and "14.0" are 14, TRUE is true."""
        import pandas as pd

        number = self._coded
        texts = [None if v is None else _text(v, number=number) for v in entries.to_pylist()]
        if self.kind == "boolean":
            plain = {level.casefold(): level for level in self.levels}
            texts = [text if text is None else plain.get(text.casefold(), text) for text in texts]
        return pd.Series(texts, dtype=object)

    @cached_property
    def _coded(self) -> bool:
        try:
            return bool(np.isfinite([float(level) for level in self.levels]).all())
        except ValueError:
            return False


def _text(entry: Any, *, number: bool) -> str:
    try:
        return entry_text(entry, number=number)
    except ValueError:  # a word in a column of codes
        return entry_text(entry)


def _dates(entries: Any) -> Any:
    import pandas as pd
    from pyarrow import types

    if types.is_temporal(entries.type):
        dates = pd.to_datetime(pd.Series(entries.to_pandas()), errors="coerce", utc=True)
        return dates.dt.tz_localize(None)
    form = date_format(entries)
    missing = np.datetime64("NaT", "ns")
    return pd.Series(np.full(len(entries), missing)) if form is None else dates_of(entries, form)


@value
class TablePredictor:
    """A model of one column of a table, from other columns as they are in files and frames.

    It is what `Report.predictor` returns and ``tractable report --save`` keeps: words, codes, amounts, dates
    and missing entries are read as the report read them. Columns are found by name; others are ignored. A
    category that the model has not seen is taken as missing, with a warning.

    Parameters
    ----------
    name : str
        What the report calls the model.
    target : str
        The column that it predicts.
    columns : tuple of TableColumn
        What it predicts from.
    model : callable
        From a frame of these columns to one distribution a row.
    classes : tuple of str, optional
        The categories of the target; None if it is a number.
    n_rows : int
        Rows that it was fitted to.

    Examples
    --------
    >>> import tractable
    >>> from tractable.report import best_predictor, table_of
    >>> geyser = tractable.datasets.load("old_faithful").frame
    >>> model = best_predictor(table_of(geyser), "waiting", "linear regression")
    >>> model.predict(geyser.head(3)).round(1)
    array([72.1, 52.8, 69.2])
    >>> model.predict_interval(geyser.head(1), coverage=0.9).round(1)
    array([[62.3, 81.9]])
    """

    name: str
    target: str
    columns: tuple[TableColumn, ...]
    model: Any
    classes: tuple[str, ...] | None = None
    n_rows: int = 0

    @property
    def feature_names_in_(self) -> np.ndarray:
        """The columns that tables must have."""
        return np.array(list(dict.fromkeys(column.source for column in self.columns)), dtype=object)

    @property
    def classes_(self) -> np.ndarray:
        """The categories of the target; only of a model of categories."""
        if self.classes is None:
            raise AttributeError("classes_: the target is a number")
        return np.array(self.classes, dtype=object)

    def predict_dist(self, X: Any) -> Any:
        """Return the distribution of the target of each row; categories are coded by their positions.

        Parameters
        ----------
        X : frame or Arrow table
            Rows, with at least the columns in `feature_names_in_`.
        """
        return self.model(self.rows(X))

    def predict(self, X: Any) -> np.ndarray:
        """Return the most probable category, or the mean; the median where the logarithm was modelled."""
        found = self.predict_dist(X)
        if self.classes is None:
            return point_prediction(found)
        return self.classes_[found.probabilities.argmax(axis=1)]

    @available_if(lambda self: self.classes is not None)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Return the probabilities of the categories, in the order of `classes_`."""
        return np.asarray(self.predict_dist(X).probabilities)

    @available_if(lambda self: self.classes is None)
    def predict_interval(self, X: Any, coverage: float = 0.9) -> np.ndarray:
        """Return the ends of an interval that has the target with this probability, (n, 2)."""
        return np.stack(self.predict_dist(X).interval(coverage), axis=-1)

    def rows(self, X: Any) -> Any:
        """Return the rows of a table as the model takes them: a frame of numbers and categories."""
        import pandas as pd

        if not (hasattr(X, "columns") or hasattr(X, "column_names")):
            raise TableError(f"X must be a frame with names of columns, got {type(X).__name__}")
        block, given, _ = arrow_of(X)
        names = clean_names(given)[0]
        lacking = [name for name in self.feature_names_in_ if name not in names]
        if lacking:
            raise TableError(no_column(lacking[0], names, "X", "the table"))
        found = {one.name: one.read(block.column(names.index(one.source))) for one in self.columns}
        return pd.DataFrame(found)

    def _trial_rows(self) -> Any:
        """Return some rows that the model must answer: they name each column, and the last has no entries."""
        import pandas as pd

        dates = np.array(["2000-01-01", "2001-06-30T12", "NaT"], dtype="M8[ns]")
        entries = {
            column.source: dates
            if column.kind in DATE_PARTS
            else [0.0, 1.0, None]
            if column.kind == "number"
            else [*(column.levels or ("",))[:1], *(column.levels or ("",))[-1:], None]
            for column in self.columns
        }
        return pd.DataFrame(entries)

    def __repr__(self) -> str:
        what = "number" if self.classes is None else f"category of {len(self.classes)}"
        return (
            f"TablePredictor({self.name!r}, target={self.target!r} ({what}), {len(self.columns)} columns, "
            f"{self.n_rows:,} rows)"
        )


def best_predictor(table: Table, target: str, name: str) -> TablePredictor:
    """Return a candidate of the report, fitted to all rows of a table that are in memory.

    Parameters
    ----------
    table : Table
        The table, as `read_table` or `table_of` gives it.
    target : str
        The column to predict.
    name : str
        What the report calls the model, such as "linear regression".
    """
    table = with_dates(table)
    rows = model_rows(table, target, most=None)
    if rows.reason:
        raise TableError(rows.reason)
    tried = classifiers() if rows.classes else regressors()
    if not rows.classes and is_skewed(rows.y):
        tried = (*tried, *log_regressors(skewed_columns(rows.X)))
    chosen = next((one for one in tried if one.name == name), None)
    if chosen is None:
        raise TableError(f"name must be one of {', '.join(one.name for one in tried)}; got {name!r}")
    with quiet():
        model = chosen.learn(rows.X, rows.y)
    return TablePredictor(
        name=name,
        target=target,
        columns=tuple(_column(table, column) for column in rows.X.columns),
        model=model,
        classes=rows.classes,
        n_rows=len(rows.y),
    )


def _column(table: Table, name: str) -> TableColumn:
    column, date = table.column(name), date_of(table, name)
    types = table.category_types([name]) if column.is_category else {}
    return TableColumn(
        name=name,
        kind=column.kind if date is None else name[len(date) + 2 : -1],
        source=name if date is None else date,
        levels=tuple(types[name].categories) if types else (),
        ordered=bool(types[name].ordered) if types else False,
    )
