"""Dates as numbers and seasons, the order of rows in time, and the dependence of rows on those before."""

from typing import Any

import numpy as np

from tractable.report.table import TIMES, Column, Table
from tractable.value import replace, value

#: Rows at least, and the share of different times at least, of a series in time.
MIN_ROWS, MIN_DISTINCT = 30, 0.5

#: The correlation of neighbouring rows from which a column depends on time, and its standard errors.
MIN_CORRELATION, MIN_ERRORS = 0.3, 4.0

#: Names of the days of a week, in their order.
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@value
class TimeOrder:
    """The order of the rows of a table in time."""

    column: str  # by which rows are in order
    times: np.ndarray  # (n,), of the rows of the frame
    # Of neighbouring rows, by column of numbers, where it is more than chance.
    correlations: dict[str, float]

    @property
    def order(self) -> np.ndarray:
        """Positions of the rows of the frame, the earliest first, (n,)."""
        return np.argsort(self.times, kind="stable")

    def depends(self, y: np.ndarray, rows: np.ndarray) -> bool:
        """Return whether a target of some rows depends on that of the row before."""
        return _is_serial(y[np.argsort(self.times[rows], kind="stable")])


def time_order(table: Table) -> TimeOrder | None:
    """Return the order of rows in time, if a column gives one.

    A column of dates, most of them different, or a column of numbers that is named like a time and does not
    fall from row to row.
    """
    if len(table.frame) < MIN_ROWS:
        return None
    for column in table.columns:
        times = _times(table, column)
        if times is None:
            continue
        order = np.argsort(times, kind="stable")
        names = table.names("number", leave=column.name)
        numbers = {name: table.frame[name].to_numpy(dtype=float)[order] for name in names}
        found = {name: lag_correlation(x) for name, x in numbers.items() if _is_serial(x)}
        return TimeOrder(column=column.name, times=times, correlations=found)
    return None


def _times(table: Table, column: Column) -> np.ndarray | None:
    """Return the times of the rows as numbers, or None if a column gives no order in time."""
    entries = table.frame[column.name]
    if column.kind == "date":
        if entries.isna().any() or entries.nunique() < MIN_DISTINCT * len(entries):
            return None
        return entries.to_numpy(dtype="datetime64[s]").astype(np.int64).astype(float)
    if not TIMES.match(column.name) or column.kind not in ("number", "identifier"):
        return None
    from pandas import to_numeric

    times = to_numeric(entries, errors="coerce").to_numpy(dtype=float)
    steps = np.diff(times)
    rises = np.isfinite(times).all() and (steps >= 0.0).all() and (steps > 0.0).mean() > 0.2
    return times if rises else None


def lag_correlation(x: np.ndarray) -> float:
    """Return the correlation of neighbouring numbers, Σ (x_t - m)(x_{t+1} - m) / Σ (x_t - m)².

    Examples
    --------
    >>> round(lag_correlation(np.arange(100.0)), 2), round(lag_correlation(np.arange(100) % 2.0), 2)
    (0.97, -0.99)
    """
    x = np.asarray(x, dtype=np.float64)
    x = x[np.isfinite(x)]
    x = x / (np.abs(x).max(initial=0.0) or 1.0)
    z = x - x.mean() if len(x) else x
    total = float(z @ z)
    return float(z[:-1] @ z[1:]) / total if total > 0.0 else 0.0


def _is_serial(x: np.ndarray) -> bool:
    r = lag_correlation(x)
    return len(x) >= MIN_ROWS and r > MIN_CORRELATION and r * np.sqrt(len(x)) > MIN_ERRORS


def with_dates(table: Table) -> Table:
    """Return a table with the parts of its dates as columns: years as a number, and seasons that repeat.

    A date gives its time in years; the month where the dates cover two years or more, the day of the week
    where they cover four weeks or more and days differ, and the hour where times of day differ.

    Examples
    --------
    >>> import pandas as pd
    >>> from tractable.report import table_of
    >>> days = pd.date_range("2020-01-01", periods=900)
    >>> table = with_dates(table_of(pd.DataFrame({"day": days, "x": range(0, 2700, 3)})))
    >>> [column.name for column in table.columns]
    ['day', 'x', 'day (year)', 'day (month)', 'day (weekday)']
    """
    columns, added = [], {}
    for name in table.names("date"):
        for column, entries in _parts(name, table.frame[name]):
            columns.append(column)
            added[column.name] = entries
    if not columns:
        return table
    frame = table.frame.assign(**added)
    source = f"with_dates({table.source})"
    return replace(table, columns=(*table.columns, *columns), frame=frame, source=source)


def _parts(name: str, dates: Any) -> list[tuple[Column, Any]]:
    """Return the columns that a column of dates gives, with their entries."""
    known = dates.dropna()
    if not len(known):
        return []
    start = known.min()
    begin = known.dt.to_period("Y").dt.start_time
    years = known.dt.year + (known - begin) / np.timedelta64(1, "D") / (365.0 + known.dt.is_leap_year)
    found = [_number(f"{name} (year)", years.reindex(dates.index))]
    span = (known.max() - start) / np.timedelta64(1, "D")
    if span >= 730.0 and known.dt.month.nunique() > 1:
        found.append(_category(f"{name} (month)", dates, known.dt.month.astype(str), map(str, range(1, 13))))
    if span >= 28.0 and known.dt.day_of_week.nunique() > 1 and known.dt.day.nunique() > 1:
        days = known.dt.day_of_week.map(dict(enumerate(DAYS)))
        found.append(_category(f"{name} (weekday)", dates, days, DAYS))
    if known.dt.hour.nunique() > 1:
        hours = known.dt.hour + known.dt.minute / 60.0
        found.append(_number(f"{name} (hour)", hours.reindex(dates.index)))
    return found


def _number(name: str, entries: Any) -> tuple[Column, Any]:
    known = entries.dropna()
    column = Column(
        name=name,
        kind="number",
        n_missing=int(entries.isna().sum()),
        n_distinct=int(known.nunique()),
        low=float(known.min()),
        high=float(known.max()),
    )
    return column, entries.astype(float)


def _category(name: str, dates: Any, entries: Any, order: Any) -> tuple[Column, Any]:
    counts = entries.value_counts()
    column = Column(
        name=name,
        kind="category",
        n_missing=int(dates.isna().sum()),
        n_distinct=len(counts),
        counts=tuple((str(level), int(n)) for level, n in counts.items()),
        levels=tuple(level for level in order if level in counts.index),
    )
    return column, entries.reindex(dates.index).astype(object).where(dates.notna(), None)
