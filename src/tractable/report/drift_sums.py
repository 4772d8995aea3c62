"""The sums that two tables are compared by: how columns are read, and what is added up of blocks of rows."""

from collections import Counter
from collections.abc import Callable, Iterator
from datetime import date
from functools import cached_property
from typing import Any

import numpy as np

from tractable.data.text import TableError
from tractable.report.joint import ROWS_EACH, joint_mixture, joint_table
from tractable.report.rows import listed
from tractable.report.table import MAX_CATEGORIES
from tractable.value import replace, value

#: Rows of each table in the sample that bins, scores and clusters are found in.
SAMPLE_ROWS = 2_000

#: Bins of a number, knots of its scores, and categories of a column that pairs are compared by.
N_BINS, N_KNOTS, MAX_LEVELS = 10, 200, 6

#: Columns that pairs and clusters are compared of, at most: the first ones.
MAX_COLUMNS = 30

#: Expected counts of a cell, rows of a pair and rows of clusters, at least, in each table.
MIN_EXPECTED, MIN_PAIR, MIN_CLUSTER = 5.0, 50, 50

#: What columns of each kind hold.
HOLDS = {"number": "numbers", "category": "words", "date": "dates", "other": "objects"}

#: Clusters at most.
MAX_CLUSTERS = 6


@value
class Blocks:
    """A table as frames that can be read again."""

    frames: Any

    @classmethod
    def of(cls, table: Any) -> "Blocks":
        return (
            table if isinstance(table, Blocks) else cls(frames=[table] if hasattr(table, "iloc") else table)
        )

    def __iter__(self) -> Iterator[Any]:
        return iter(self.frames)

    def sample(self, rng: np.random.Generator) -> Any:
        """Return a uniform sample of the rows, in no particular order: those of the smallest random keys."""
        import pandas as pd

        kept: Any = None
        for frame in self:
            keyed = frame.assign(**{KEY: rng.random(len(frame))})
            kept = keyed if kept is None else pd.concat([kept, keyed], ignore_index=True)
            if len(kept) > SAMPLE_ROWS:
                kept = kept.nsmallest(SAMPLE_ROWS, KEY)
        return pd.DataFrame() if kept is None else kept.drop(columns=KEY)

    def fold(self, plan: "DriftPlan") -> "DriftSums":
        """Return the sums of all rows."""
        total: Any = None
        for frame in self:
            part = plan(frame)
            total = part if total is None else total + part
        return total


#: The column of random keys while rows are sampled.
KEY = "\0key"


@value
class ColumnPlan:
    """How a column is compared."""

    name: str
    kind: str  # "number" or "category"
    shift: float = 0.0
    scale: float = 1.0
    edges: Any = ()  # between bins
    knots: Any = ()  # quantiles, by which numbers have scores
    levels: tuple[Any, ...] = ()  # that have an indicator in pairs
    since: Any = None  # of dates the first day, which their numbers of days count from

    @property
    def width(self) -> int:
        """Scores that the column has in pairs."""
        return 1 if self.kind == "number" else len(self.levels)

    def numbers(self, column: Any) -> np.ndarray:
        """Return the entries of a column as numbers, of dates days, NaN where one is missing."""
        if self.since is not None:
            return days_of(column, self.since)
        return column.to_numpy(dtype=np.float64, na_value=np.nan)

    def scores(self, column: Any) -> np.ndarray:
        """Return scores (n, width), NaN where an entry is missing: ranks of a number, or indicators."""
        if self.kind == "number":
            x = self.numbers(column)
            at = np.linspace(-np.sqrt(3.0), np.sqrt(3.0), len(self.knots))
            return np.where(np.isfinite(x), np.interp(x, self.knots, at), np.nan)[:, None]
        codes = words_of(column)
        found = np.array([codes == level for level in self.levels], dtype=np.float64).T
        found = found.reshape(len(codes), len(self.levels))
        return np.where(np.array([code is None for code in codes])[:, None], np.nan, found)


def days_of(column: Any, since: np.datetime64) -> np.ndarray:
    """Return how many days, and parts of them, each date of a column is after a day; NaN where it is missing.

    Times of a zone are those of UTC.

    Examples
    --------
    >>> import pandas as pd
    >>> days_of(pd.Series(pd.to_datetime(["2024-03-01 12:00", None])), np.datetime64("2024-02-28")).tolist()
    [2.5, nan]
    """
    if getattr(column.dtype, "tz", None) is not None:
        column = column.dt.tz_convert(None)
    if column.dtype.kind != "M":
        column = column.astype(object).where(column.notna(), None)
    return np.asarray((column.to_numpy(dtype="datetime64[us]") - since) / np.timedelta64(1, "D"))


def words_of(column: Any) -> np.ndarray:
    """Return the entries of a column as texts, None where one is missing; 1.0 is 1."""
    missing = column.isna().to_numpy()
    texts = [
        None if gone else str(int(v)) if isinstance(v, float) and v.is_integer() else str(v)
        for v, gone in zip(column.tolist(), missing, strict=True)
    ]
    return np.array(texts, dtype=object)


@value
class DriftPlan:
    """How two tables are compared: called with a frame, it returns the sums of its rows."""

    columns: tuple[ColumnPlan, ...]
    model: Any = None  # the mixture of the clusters
    model_columns: tuple[tuple[str, bool], ...] = ()  # its columns, and whether they are words or codes

    @cached_property
    def paired(self) -> tuple[ColumnPlan, ...]:
        """The columns that pairs are compared of."""
        return tuple(one for one in self.columns if one.width)[:MAX_COLUMNS]

    def __call__(self, frame: Any) -> "DriftSums":
        """Return the sums of a block of rows."""
        numbers: dict[str, np.ndarray] = {}
        words: dict[str, Counter[str]] = {}
        for one in self.columns:
            column = frame[one.name]
            if one.kind == "number":
                numbers[one.name] = _number_sums(one, column)
            else:
                words[one.name] = Counter(text for text in words_of(column) if text is not None)
        seen = np.array([int(frame[one.name].notna().sum()) for one in self.columns], dtype=np.int64)
        return DriftSums(
            n=len(frame),
            seen=seen,
            numbers=numbers,
            words=words,
            powers=self._powers(frame),
            members=self._members(frame),
        )

    def _powers(self, frame: Any) -> np.ndarray:
        """Return Σ u_i^a u_j^b over the rows that have both, for the a, b of `POWERS`, (9, q, q)."""
        if not self.paired:
            return np.zeros((len(POWERS), 0, 0))
        U = np.hstack([one.scores(frame[one.name]) for one in self.paired])
        seen = (~np.isnan(U)).astype(np.float64)
        U = np.where(np.isnan(U), 0.0, U)
        raised = [seen, U, U**2, U**3, U**4]
        return np.stack([raised[a].T @ raised[b] for a, b in POWERS])

    def _members(self, frame: Any) -> np.ndarray:
        """Return Σ r_k and Σ r_k² of the clusters, (2, K)."""
        if self.model is None:
            return np.zeros((2, 0))
        if not len(frame):
            return np.zeros((2, self.model.n_components))
        r = np.asarray(self.model.predict_proba(self.model_rows(frame)))
        return np.stack([r.sum(axis=0), (r**2).sum(axis=0)])

    def model_rows(self, frame: Any) -> Any:
        """Return the rows as the mixture takes them; categories it does not know are missing."""
        import pandas as pd

        found = {}
        for name, word in self.model_columns:
            column = frame[name]
            if word:
                known = pd.Index(list(self.model.categories_[name]), dtype=object)
                codes = known.get_indexer(words_of(column))
                found[name] = pd.Categorical.from_codes(codes, dtype=pd.CategoricalDtype(list(known)))
            else:
                x = column.to_numpy(dtype=np.float64, na_value=np.nan)
                found[name] = np.where(np.isfinite(x), x, np.nan)
        return pd.DataFrame(found)


#: The exponents of scores of two columns whose products are added up.
POWERS = ((0, 0), (1, 0), (2, 0), (3, 0), (4, 0), (1, 1), (2, 1), (2, 2), (3, 1))


@value
class DriftSums:
    """What is added up of one table; the sums of two blocks add to the sums of both."""

    n: int
    seen: np.ndarray  # (columns,)
    numbers: dict[str, np.ndarray]  # count, Σ z, Σ z², and the counts of bins
    words: dict[str, Counter[str]]
    powers: np.ndarray
    members: np.ndarray

    def __add__(self, other: "DriftSums") -> "DriftSums":
        return DriftSums(
            n=self.n + other.n,
            seen=self.seen + other.seen,
            numbers={name: mine + other.numbers[name] for name, mine in self.numbers.items()},
            words={name: mine + other.words[name] for name, mine in self.words.items()},
            powers=self.powers + other.powers,
            members=self.members + other.members,
        )


def _number_sums(plan: ColumnPlan, column: Any) -> np.ndarray:
    x = plan.numbers(column)
    x = x[np.isfinite(x)]
    z = (x - plan.shift) / plan.scale
    bins = np.bincount(np.searchsorted(plan.edges, x, side="left"), minlength=len(plan.edges) + 1)
    return np.concatenate([[len(z), z.sum(), (z**2).sum()], bins])


def plan_of(samples: list[Any]) -> tuple[DriftPlan, list[str], list[str]]:
    """Return how two tables are compared, sentences on columns that differ, and notes."""
    old, new = samples
    schema, notes = [], []
    for names, where in (
        ([n for n in old.columns if n not in new.columns], "old"),
        ([n for n in new.columns if n not in old.columns], "new"),
    ):
        if names:
            schema.append(f"In the {where} table alone: {listed(names, 12)}.")
    found, skipped = [], []
    for name in (n for n in old.columns if n in new.columns):
        kinds = [_kind(sample[name]) for sample in samples]
        if "empty" in kinds and kinds != ["empty", "empty"]:
            kinds = [kind for kind in kinds if kind != "empty"] * 2
        if kinds[0] != kinds[1]:
            was, now = (HOLDS[kind] for kind in kinds)
            schema.append(f"{name} holds {was} in the old table and {now} in the new.")
            continue
        parts = [sample[name] for sample in samples]
        periods = _periods(parts) if kinds[0] == "date" else ""
        if periods:
            notes.append(f"Not compared, as one period ends before the other begins: {name}, {periods}.")
            continue
        planned = None if kinds[0] in ("other", "empty") else _column_plan(name, kinds[0], parts)
        skipped += [str(name)] if planned is None else []
        found += [] if planned is None else [planned]
    if not found and not schema:
        raise TableError("the tables have no column of numbers, dates or categories in common")
    if skipped:
        notes.append(f"Not compared, without entries, or texts of too many values: {listed(skipped)}.")
    return DriftPlan(columns=tuple(found)), schema, notes


def _kind(column: Any) -> str:
    seen = column.dropna()
    if not len(seen):
        return "empty"
    if column.dtype.kind in "fiu":
        return "number"
    if column.dtype.kind == "M" or isinstance(seen.iloc[0], date):
        return "date"
    return "category" if isinstance(seen.iloc[0], (str, bool, np.bool_, float, int)) else "other"


def _first_day(parts: list[Any]) -> np.datetime64:
    """Return the first day of dates in two columns."""
    epoch = np.datetime64("1970-01-01")
    first = min(np.nanmin(days_of(part.dropna(), epoch), initial=np.inf) for part in parts)
    return epoch + np.timedelta64(int(np.floor(first)), "D")


def _periods(parts: list[Any]) -> str:
    """Return the two periods of dates if one ends before the other begins; an empty text if not."""
    since = _first_day(parts)
    ends = [np.quantile(days_of(part.dropna(), since), [0.0, 1.0]) for part in parts if part.notna().any()]
    if len(ends) < 2 or (ends[0][1] >= ends[1][0] and ends[1][1] >= ends[0][0]):
        return ""
    old, new = (" to ".join(str(since + np.timedelta64(int(day), "D")) for day in end) for end in ends)
    return f"{old} in the old table and {new} in the new"


def _column_plan(name: str, kind: str, parts: list[Any]) -> ColumnPlan | None:
    """Return how one column is compared; None if it holds texts of too many values."""
    if kind == "category":
        counts = [Counter(text for text in words_of(part) if text is not None) for part in parts]
        both = counts[0] + counts[1]
        if len(both) > MAX_CATEGORIES or 2 * len(both) > max(both.total(), 20):
            return None
        frequent = [
            level
            for level, _ in both.most_common(MAX_LEVELS)
            if all(2 * MIN_EXPECTED <= c[level] <= c.total() - 2 * MIN_EXPECTED for c in counts)
        ]
        return ColumnPlan(name=name, kind=kind, levels=tuple(frequent[: -1 if len(frequent) == 2 else None]))
    plan = ColumnPlan(name=name, kind="number", since=_first_day(parts) if kind == "date" else None)
    x = np.concatenate([plan.numbers(part) for part in parts])
    x = x[np.isfinite(x)]
    if not len(x):
        return None
    values = np.unique(x)
    if len(values) <= N_BINS:
        edges = (values[1:] + values[:-1]) / 2.0
    else:
        edges = np.unique(np.quantile(x, np.arange(1, N_BINS) / N_BINS, method="higher"))
    knots = np.quantile(x, np.linspace(0.0, 1.0, N_KNOTS))
    scale = float(x.std()) or 1.0
    plan = replace(plan, shift=float(x.mean()), scale=scale, edges=edges, knots=knots)
    return plan if len(values) > 1 else replace(plan, knots=np.array([values[0], values[0] + 1.0]))


def with_clusters(
    plan: DriftPlan, samples: list[Any], rng: np.random.Generator, progress: Callable[[str], None]
) -> tuple[DriftPlan, list[str]]:
    """Return a plan with a mixture of the columns that are compared, fitted to the rows of both samples."""
    import pandas as pd

    if min(map(len, samples)) < MIN_CLUSTER:
        return plan, []
    used = [one for one in plan.columns if one.since is None][:MAX_COLUMNS]  # as joint models, without dates
    pooled = pd.concat([sample[[one.name for one in used]] for sample in samples], ignore_index=True)
    for one in used:
        if one.kind == "category":
            pooled[one.name] = words_of(pooled[one.name])
        else:
            pooled[one.name] = pooled[one.name].astype(float) + 0.0
    try:
        table = joint_table(pooled, codes=False)
        sizes = [k for k in range(2, MAX_CLUSTERS + 1) if k * ROWS_EACH <= len(pooled)]
        model = joint_mixture(table, sizes=(1, *sizes), random_state=rng, progress=progress)
    except ValueError as error:
        return plan, [f"Clusters are not compared: {error}."]
    if model.n_components == 1:
        return plan, ["The rows make no clusters that could be compared."]
    words = {one.name for one in used if one.kind == "category"}
    columns = tuple((str(name), name in words) for name in table.frame.columns)
    return replace(plan, model=model, model_columns=columns), []
