"""Mutual information of pairs of columns of any kind, from their bins."""

import math
from typing import Any

import numpy as np

from tractable.report.rows import deduplicated
from tractable.report.table import Table
from tractable.report.time_order import date_of, with_dates
from tractable.value import value

#: Bins of a number, and categories with a bin of their own.
MAX_BINS, MAX_LEVELS = 8, 12

#: The kinds of columns that are compared.
COMPARED = ("number", "category", "boolean", "date")

#: Complete rows that a pair must have.
MIN_ROWS = 10


@value
class Pair:
    """The dependence of two columns.

    Its strength √(1 - exp(-2 I)), from 0 to 1, is the absolute correlation of two normal variables of mutual
    information I.
    """

    a: str
    b: str
    n: int  # complete rows
    information: float  # in nats, without the bias of independent columns
    strength: float
    p_value: float  # of independence, by the likelihood ratio test
    correlation: float | None = None  # of two columns of numbers
    low: float | None = None  # the ends of its interval of 95 %
    high: float | None = None


def pairwise_dependence(table: Table) -> Any:
    """Return the dependence of every pair of columns, as a frame, the strongest first.

    Dates give their month, weekday and hour too, where they have several. Numbers and dates are cut into at
    most 8 bins of equal counts, of categories the 11 most frequent have a
    bin each, and the information of a pair is

        I = Σ_ij p_ij log(p_ij / (p_i p_j)) - (r - 1)(c - 1) / (2 n),

    where the second term is the mean for independent columns of r and c bins. The `p_value` is that of 2 n
    times the first term, χ² of (r - 1)(c - 1) degrees of freedom. Pairs of numbers have their `correlation`
    too, with Fisher's interval tanh(artanh r ± 1.96 / √(n - 3)). Incomplete rows are left out, and so are
    copies of rows, if there are more equal rows than by chance: the test assumes independent rows.

    Examples
    --------
    >>> import tractable
    >>> from tractable.report import pairwise_dependence, table_of
    >>> pairs = pairwise_dependence(table_of(tractable.datasets.load("penguins").frame))
    >>> pairs[["a", "b"]].iloc[0].tolist(), bool(pairs["strength"].is_monotonic_decreasing)
    (['species', 'flipper_length_mm'], True)
    """
    import pandas as pd

    fields = ["a", "b", "n", "strength", "information", "p_value", "correlation", "low", "high"]
    rows = [[getattr(pair, field) for field in fields] for pair in pairs_of(table)]
    return pd.DataFrame(rows, columns=fields).astype({"correlation": float, "low": float, "high": float})


def pairs_of(table: Table) -> list[Pair]:
    """Return the dependence of all pairs of numbers, dates, categories and truth values, strongest first."""
    table = with_seasons(deduplicated(table))
    names = table.names(*COMPARED)
    dates = {name: date_of(table, name) for name in names}
    codes = {name: coded(table, name) for name in names}
    numbers = {name: table.frame[name].to_numpy(dtype=float) for name in table.names("number")}
    pairs = []
    for i, a in enumerate(names):
        for b in names[i + 1 :]:
            if dates[a] is not None and dates[a] == dates[b]:
                continue  # a month depends on its date
            pair = _pair(a, b, codes[a], codes[b], numbers.get(a), numbers.get(b))
            if pair is not None:
                pairs.append(pair)
    return sorted(pairs, key=lambda pair: -pair.strength)


def with_seasons(table: Table) -> Table:
    """Return a table with the months, weekdays and hours of its dates as columns."""
    return with_dates(table, years=False)


def n_pairs(table: Table) -> int:
    """Return the number of pairs of columns that are compared, but for those with few rows in common."""
    dates = [date_of(table, name) for name in table.names(*COMPARED)]
    of_one_date = sum(math.comb(dates.count(date), 2) for date in set(dates) if date is not None)
    return math.comb(len(dates), 2) - of_one_date


def coded(table: Table, name: str) -> np.ndarray:
    """Return the bin, or the category, of each entry of a column as an integer; -1 for missing entries."""
    import pandas as pd

    column, series = table.column(name), table.frame[name]
    if column.is_category:
        codes, _ = pd.factorize(series)
        frequent = np.argsort(-np.bincount(codes[codes >= 0]), kind="stable")
        bins = np.full(len(frequent) + 1, MAX_LEVELS - 1)
        bins[frequent[: MAX_LEVELS - 1]] = np.arange(min(MAX_LEVELS - 1, len(frequent)))
        bins[-1] = -1
        return bins[codes]
    if column.is_number:
        values = series.to_numpy(dtype=float)
    else:
        seconds = series.to_numpy(dtype="datetime64[s]").astype(np.int64).astype(float)
        values = np.where(series.isna().to_numpy(), np.nan, seconds)
    known = np.isfinite(values)
    n_bins = int(np.clip(math.sqrt(known.sum() / 5), 2, MAX_BINS))
    codes = np.full(len(values), -1)
    if known.any():
        edges = np.unique(np.quantile(values[known], np.arange(1, n_bins) / n_bins))
        codes[known] = np.searchsorted(edges, values[known], side="right")
    return codes


def information(a: np.ndarray, b: np.ndarray) -> tuple[float, int, int]:
    """Return Σ p_ij log(p_ij / (p_i p_j)) of codes, its degrees of freedom, and the complete rows."""
    both = (a >= 0) & (b >= 0)
    n = int(both.sum())
    if n == 0:
        return 0.0, 0, 0
    width = int(b[both].max()) + 1
    cells = np.bincount(a[both] * width + b[both], minlength=(int(a[both].max()) + 1) * width)
    counts = cells.reshape(-1, width).astype(float)
    counts = counts[counts.sum(1) > 0][:, counts.sum(0) > 0]
    expected = counts.sum(1, keepdims=True) * counts.sum(0) / n
    full = counts > 0
    total = float((counts[full] * np.log(counts[full] / expected[full])).sum()) / n
    return max(total, 0.0), (counts.shape[0] - 1) * (counts.shape[1] - 1), n


def correlation_interval(r: float, n: int) -> tuple[float, float]:
    """Return Fisher's interval of 95 %: tanh(artanh r ± 1.96 / √(n - 3))."""
    if n <= 3:
        return -1.0, 1.0
    if abs(r) > 1 - 1e-12:  # on a line, up to rounding
        return math.copysign(1.0, r), math.copysign(1.0, r)
    z, half = math.atanh(r), 1.959963984540054 / math.sqrt(n - 3)
    return math.tanh(z - half), math.tanh(z + half)


def _pair(
    a: str, b: str, codes_a: np.ndarray, codes_b: np.ndarray, x: np.ndarray | None, y: np.ndarray | None
) -> Pair | None:
    total, freedom, n = information(codes_a, codes_b)
    if n < MIN_ROWS or freedom == 0:
        return None
    net = max(total - freedom / (2 * n), 0.0)
    strength = math.sqrt(-math.expm1(-2 * net))
    found: dict[str, Any] = {}
    if x is not None and y is not None:
        r = _correlation(x, y)
        if r is not None:
            low, high = correlation_interval(r, n)
            found = {"correlation": r, "low": low, "high": high}
    p_value = _p_value(total, freedom, n)
    return Pair(a=a, b=b, n=n, information=net, strength=strength, p_value=p_value, **found)


def _p_value(information: float, freedom: int, n: int) -> float:
    """Return the p-value of the likelihood ratio 2 n I, χ² of so many degrees of freedom."""
    from scipy.special import chdtrc

    return float(chdtrc(freedom, 2.0 * n * information))


def _correlation(x: np.ndarray, y: np.ndarray) -> float | None:
    both = np.isfinite(x) & np.isfinite(y)
    x, y = (v[both] / (np.abs(v[both]).max() or 1.0) for v in (x, y))  # so that squares do not overflow
    x, y = x - x.mean(), y - y.mean()
    scale = math.sqrt(float(x @ x)) * math.sqrt(float(y @ y))
    return float(np.clip(x @ y / scale, -1, 1)) if scale > 0 else None


def informative_columns(table: Table, target: str, rate: float = 0.01) -> list[str]:
    """Return the columns that depend on the target by more than chance, the most informative first.

    The probability of selecting any independent column is `rate` (Bonferroni). With so strict a test the same
    rows may be used for models afterwards.
    """
    if target not in table.names("number", "category", "boolean"):
        return []
    names = table.names("number", "category", "boolean", "date", leave=target)
    table = deduplicated(table)
    y = coded(table, target)
    found = []
    for name in names:
        total, freedom, n = information(coded(table, name), y)
        if n >= MIN_ROWS and freedom and _p_value(total, freedom, n) < rate / len(names):
            found.append((total - freedom / (2.0 * n), name))
    return [name for _, name in sorted(found, key=lambda one: -one[0])]
