"""Dates as numbers and seasons, the order of rows in time, and the dependence of rows on those before.

Rows in time are one series, a row a time, or a panel: series of several units (stations, countries), each
with a row a time.
"""

from typing import Any

import numpy as np

from tractable.report.table import TIMES, Column, Table
from tractable.value import replace, value

#: Rows at least, and the share of different times at least, of a series in time.
MIN_ROWS, MIN_DISTINCT = 30, 0.5

#: The correlation of neighbouring rows from which a column depends on time, and its standard errors.
MIN_CORRELATION, MIN_ERRORS = 0.3, 4.0

#: Of a panel: the share of rows that are the only ones of their unit and time, rows of a unit at least on
#: average, and units at most.
MIN_SINGLE, MIN_TIMES, MAX_UNITS = 0.98, 8, 100

#: Names of months and of the days of a week, in their order.
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@value
class TimeOrder:
    """The order of the rows of a table in time."""

    column: str  # by which rows are in order
    times: np.ndarray  # (n,), of the rows of the frame
    # Of neighbouring rows, by column of numbers, where it is more than chance.
    correlations: dict[str, float]
    unit: str | None = None  # the column of the units of a panel
    units: np.ndarray | None = None  # (n,), the unit of each row of the frame, as an integer

    @property
    def order(self) -> np.ndarray:
        """Positions of the rows of the frame, unit after unit, of each the earliest first, (n,)."""
        return self._order(np.arange(len(self.times)))

    @property
    def neighbours(self) -> str:
        """The rows that are neighbours, in words."""
        if self.unit is None:
            return f"In the order of {self.column} neighbouring rows"
        return f"In the order of {self.column} neighbouring rows of the same {self.unit}"

    def depends(self, y: np.ndarray, rows: np.ndarray) -> bool:
        """Return whether a target of some rows depends on that of the row before."""
        order = self._order(rows)
        return _is_serial(y[order], None if self.units is None else self.units[rows][order])

    def _order(self, rows: np.ndarray) -> np.ndarray:
        if self.units is None:
            return np.argsort(self.times[rows], kind="stable")
        return np.lexsort((self.times[rows], self.units[rows]))


def time_order(table: Table) -> TimeOrder | None:
    """Return the order of rows in time, if a column gives one.

    A column of dates, most of them different, or a column of numbers that is named like a time and does not
    fall from row to row. In a panel a column of categories says of which unit a row is, and nearly every row
    is the only one of its unit and time.
    """
    if len(table.frame) < MIN_ROWS:
        return None
    for column in table.columns:
        times = _times(table, column)
        if times is None:
            continue
        unit, units = (None, None) if _is_series(column, times) else _units(table, times)
        if unit is None and not _is_series(column, times):
            continue
        found = TimeOrder(column=column.name, times=times, correlations={}, unit=unit, units=units)
        order = found.order
        groups = None if units is None else units[order]
        names = table.names("number", leave=column.name)
        numbers = {name: table.frame[name].to_numpy(dtype=float)[order] for name in names}
        alike = {name: lag_correlation(x, groups) for name, x in numbers.items() if _is_serial(x, groups)}
        return replace(found, correlations=alike)
    return None


def _times(table: Table, column: Column) -> np.ndarray | None:
    """Return the times of the rows as numbers, or None if a column holds no times."""
    entries = table.frame[column.name]
    if column.kind == "date":
        if entries.isna().any():
            return None
        return entries.to_numpy(dtype="datetime64[s]").astype(np.int64).astype(float)
    if not TIMES.match(column.name) or column.kind not in ("number", "identifier"):
        return None
    from pandas import to_numeric

    times = to_numeric(entries, errors="coerce").to_numpy(dtype=float)
    return times if np.isfinite(times).all() else None


def _is_series(column: Column, times: np.ndarray) -> bool:
    """Return whether times put the rows in order: most are different, and numbers do not fall."""
    if column.kind == "date":
        return len(np.unique(times)) >= MIN_DISTINCT * len(times)
    steps = np.diff(times)
    return bool((steps >= 0.0).all() and (steps > 0.0).mean() > 0.2)


def _units(table: Table, times: np.ndarray) -> tuple[str | None, np.ndarray | None]:
    """Return the column that says of which unit of a panel each row is, and the units."""
    from pandas import factorize

    for name in table.names("category", "boolean", "number"):
        if table.frame[name].nunique() > MAX_UNITS:
            continue
        codes = np.asarray(factorize(table.frame[name])[0])
        n_units = int(codes.max()) + 1
        if (codes < 0).any() or not 1 < n_units <= len(codes) / MIN_TIMES:
            continue
        single = len(np.unique(np.column_stack([codes, times]), axis=0))
        if single >= MIN_SINGLE * len(codes):
            return name, codes
    return None, None


def lag_correlation(x: np.ndarray, units: np.ndarray | None = None) -> float:
    """Return the correlation of neighbouring numbers, Σ (x_t - m)(x_{t+1} - m) / Σ (x_t - m)².

    Of a panel the sums are over all units, rows unit after unit, and m is the mean of a row's unit.

    Examples
    --------
    >>> round(lag_correlation(np.arange(100.0)), 2), round(lag_correlation(np.arange(100) % 2.0), 2)
    (0.97, -0.99)
    >>> round(lag_correlation(np.r_[np.arange(100.0), np.arange(50.0)], np.repeat([0, 1], [100, 50])), 2)
    0.97
    """
    x = np.asarray(x, dtype=np.float64)
    known = np.isfinite(x)
    units = np.zeros(len(x), dtype=int) if units is None else units
    x, units = x[known], units[known]
    x = x / (np.abs(x).max(initial=0.0) or 1.0)
    counts = np.maximum(np.bincount(units), 1)
    z = x - (np.bincount(units, x) / counts)[units] if len(x) else x
    total = float(z @ z)
    same = units[:-1] == units[1:]
    return float((z[:-1] * z[1:])[same].sum()) / total if total > 0.0 else 0.0


def _is_serial(x: np.ndarray, units: np.ndarray | None = None) -> bool:
    r = lag_correlation(x, units)
    return len(x) >= MIN_ROWS and r > MIN_CORRELATION and r * np.sqrt(len(x)) > MIN_ERRORS


def with_dates(table: Table, *, years: bool = True) -> Table:
    """Return a table with the parts of its dates as columns: years as a number, and seasons that repeat.

    A date gives its time in years; the month where the dates cover two years or more, the day of the week
    where they cover four weeks or more and days differ, and the hour where times of day differ. Without
    `years` it gives the seasons alone.

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
        for column, entries in _parts(name, table.frame[name])[0 if years else 1 :]:
            if column.name not in table.frame:
                columns.append(column)
                added[column.name] = entries
    if not columns:
        return table
    frame = table.frame.assign(**added)
    source = f"with_dates({table.source}{'' if years else ', years=False'})"
    return replace(table, columns=(*table.columns, *columns), frame=frame, source=source)


def date_of(table: Table, name: str) -> str | None:
    """Return the column of dates that a column is, or is a part of; None for others."""
    return next((date for date in table.names("date") if name == date or name.startswith(f"{date} (")), None)


def date_part(dates: Any, part: str) -> Any:
    """Return one part of each date: its time in years, its month, its day of the week, or its hour.

    Examples
    --------
    >>> import pandas as pd
    >>> dates = pd.Series(pd.to_datetime(["2020-07-01 12:30", None]))
    >>> [date_part(dates, part).tolist() for part in ("month", "weekday", "hour")]
    [['Jul', None], ['Wednesday', None], [12.5, nan]]
    """
    known = dates.dropna()
    if part == "year":
        begin = known.dt.to_period("Y").dt.start_time
        years = known.dt.year + (known - begin) / np.timedelta64(1, "D") / (365.0 + known.dt.is_leap_year)
        return years.reindex(dates.index).astype(float)
    if part == "hour":
        return (known.dt.hour + known.dt.minute / 60.0).reindex(dates.index).astype(float)
    if part == "month":
        names = known.dt.month.map(dict(enumerate(MONTHS, 1)))
    else:
        names = known.dt.day_of_week.map(dict(enumerate(DAYS)))
    return names.reindex(dates.index).astype(object).where(dates.notna(), None)


def _parts(name: str, dates: Any) -> list[tuple[Column, Any]]:
    """Return the columns that a column of dates gives, with their entries."""
    known = dates.dropna()
    if not len(known):
        return []
    found = [_number(f"{name} (year)", date_part(dates, "year"))]
    span = (known.max() - known.min()) / np.timedelta64(1, "D")
    if span >= 730.0 and known.dt.month.nunique() > 1:
        found.append(_category(f"{name} (month)", date_part(dates, "month"), MONTHS))
    if span >= 28.0 and known.dt.day_of_week.nunique() > 1 and known.dt.day.nunique() > 1:
        found.append(_category(f"{name} (weekday)", date_part(dates, "weekday"), DAYS))
    if known.dt.hour.nunique() > 1:
        found.append(_number(f"{name} (hour)", date_part(dates, "hour")))
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
    return column, entries


def _category(name: str, entries: Any, order: Any) -> tuple[Column, Any]:
    counts = entries.value_counts()
    column = Column(
        name=name,
        kind="category",
        n_missing=int(entries.isna().sum()),
        n_distinct=len(counts),
        counts=tuple((str(level), int(n)) for level, n in counts.items()),
        levels=tuple(level for level in order if level in counts.index),
    )
    return column, entries
