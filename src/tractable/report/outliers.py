"""Outliers: rows of low density under a mixture, and the entries that make them so."""

import math
import warnings
from collections.abc import Mapping
from dataclasses import field
from functools import partial
from typing import Any

import numpy as np
from scipy.special import pdtrc
from sklearn.base import clone

from tractable.data.names import number_of
from tractable.mixture.base import information_criteria
from tractable.plotting.style import COLOURS, legend
from tractable.report.mixtures import FittedMixtures, fitted_mixtures, model_code, why_no_mixture
from tractable.report.page import (
    MAX_POINTS,
    MAX_VECTOR,
    Grid,
    Picture,
    Section,
    canvas,
    number_text,
    picture_of,
    range_text,
)
from tractable.report.rows import code_head, imports_for, listed, sampled, unused_note
from tractable.report.table import Table
from tractable.value import value

#: Rows in the table, those of the lowest density: as many as are outliers, within these numbers.
MIN_LISTED, MAX_LISTED = 3, 8

#: An end of a column that this share of the rows has exactly is a limit of the quantity.
AT_LIMIT = 0.01

#: A component of a smaller weight than this may consist of outliers.
MIN_SHARE = 0.03

#: Expected number of outliers if all rows came from the model.
EXPECTED = 0.5

#: Draws from the model that rows are compared with; fewer for rare patterns of missing entries.
N_DRAWS, FEWER_DRAWS = 20_000, 4_000

#: Patterns of missing entries that are scored, and those with `N_DRAWS` draws.
MAX_PATTERNS, COMMON = 100, 5

#: If more rows than this share are outliers, the model does not describe the table, and none is called one.
MAX_SHARE = 0.05

#: What a mixture of a table with categories leaves out, with covariances of its numbers and without.
INDEPENDENT = {
    "full": " Within a component categories are independent of each other and of the numbers.",
    "diag": " Within a component columns are independent, so that of the rest of a row only what it says "
    "about the component counts: an entry that follows from another may be called unexpected.",
}

#: If more rows than this share are outliers, and many more nearly are, columns have longer tails than the
#: model.
MANY_SHARE = 0.01

#: The probability that an entry of an outlier is a mistake, and the range of mistakes in standard deviations.
MISTAKE, MISTAKE_RANGE = 0.01, 20.0

#: Tail probabilities below this are compared by densities: they are beyond the digits of a distribution.
LEAST_TAIL = 1e-12

#: The probability that a table without outliers is said to have some.
CHANCE = 0.05

#: An entry is unexpected below this tail probability given the rest of the row.
UNEXPECTED = 0.01

#: An entry is far out by itself below this tail probability, whatever the rest of the row.
FAR = 1e-4

#: The coverage of the interval that an entry is said to be expected in.
INTERVAL = 0.9


@value
class OutlierScores:
    """Tail probabilities of the log densities of rows under a model.

    The tail of a row is P(log p(X) ≤ log p(x)), by draws X of the model with the missing pattern of x.
    """

    tails: np.ndarray  # (n,), NaN for rows that are not scored
    below: np.ndarray  # (n,), the median of log p(X) over the draws, less log p(x)
    usual: np.ndarray  # (m,), that difference for the draws with the most frequent missing pattern

    @property
    def order(self) -> np.ndarray:
        """Positions of the rows that were scored, by tail probability, the smallest first."""
        order = np.lexsort((-self.below, self.tails))
        return order[~np.isnan(self.tails[order])]

    def beyond(self, limit: float) -> np.ndarray:
        """Return the positions of the rows whose tail probability is at most a limit, in that order."""
        return self.order[self.tails[self.order] <= limit]


@value
class UnexpectedEntry:
    """An entry of low probability given the rest of its row."""

    column: str
    entry: str  # in words
    expected: str  # the interval of 90 %, or the most probable category, in words
    tail: float  # the probability of an entry as extreme


@value
class ColumnFacts:
    """What is known of the numbers of a table besides a model of them."""

    logged: tuple[str, ...] = ()  # columns whose logarithms are modelled
    years: tuple[str, ...] = ()  # columns whose numbers are written without commas
    limits: Mapping[str, tuple[float, float]] = field(
        default_factory=dict
    )  # of columns, as they are modelled
    scales: Mapping[str, float] = field(default_factory=dict)  # their standard deviations


@value
class ExtremeEntry:
    """The smallest or the largest number of a column of the whole table, farther out than chance allows."""

    column: str
    entry: float
    row: int  # in the whole table, from 1
    usual: str  # the middle 90 % of the rows, in words
    tail: float  # the probability of a number as far out


def section(table: Table, *, target: str | None = None, rng: np.random.Generator) -> Section | None:
    """Return the rows of low density under a mixture of all columns; None if none can be fitted."""
    del target  # the target is a column like any other here
    found = fitted_mixtures(table)
    if found is None:
        return None
    frame = found.rows.frame
    limit = max(EXPECTED / len(frame), 5.0 / N_DRAWS)
    model, scores, left = _density(found, max(1.0 / len(frame), 1.0 / N_DRAWS), rng)
    beyond = scores.beyond(limit)
    fits = len(beyond) <= max(MAX_SHARE * len(frame), 3)
    counted = fits and not long_tails(scores, limit)
    limit, flagged = _more_than_chance(scores, limit) if counted else (limit, beyond[:0])
    n_shown = len(flagged) if counted else len(beyond)
    facts, most = _column_facts(table, found), max(min(n_shown, MAX_LISTED), MIN_LISTED)
    first, again = _different(frame, scores.order, most)
    listed_rows = [(i, _unexpected(found, model, i, facts)) for i in first]
    outlying = [(i, why) for i, why in listed_rows if i in set(flagged.tolist())]
    unjudged = int(np.isnan(scores.tails).sum())
    few = f"{number_of(unjudged, 'row')} with rare patterns of missing entries not judged."
    ends = extreme_entries(table, found, model) if fits and table.is_sample else []
    beside = (
        _ends_text(ends, table.row_number(frame.index[scores.order[0]])) if fits and table.is_sample else ""
    )
    if counted:
        said = _meaning(table, frame, flagged, len(beyond), limit, listed_rows, outlying)
        headline = _headline(table, frame, flagged, listed_rows)
    else:
        headline = (
            f"The least probable row{_of_sample(table)} is {_first_row(table, frame, listed_rows)}."
            if fits
            else ""
        )
        said = f"{_no_fit(len(frame), beyond, model, fits=fits)} {headline}".strip()
    return Section(
        key="outliers",
        title="Outliers",
        done=_done(model, left, found.logged),
        meaning=said + beside,
        assumptions=(
            "Rows come from the mixture, whose components are normal; an outlier is a row of low density. It "
            "need not be a mistake, but is worth a look. Columns that are skewed or have long tails give "
            f"more of them.{INDEPENDENT[model.covariance_type] if found.mixed else ''}"
        ),
        code=_code(table, found, model, left),
        pictures=(
            _score_picture(scores, limit, counted=counted),
            *_scatter_picture(table, found, flagged, outlying, rng),
        ),
        tables=(_grid(table, frame, scores, listed_rows, again=again),) if fits else (),
        notes=(*found.rows.notes, *([few] if unjudged else []), *unused_note(table)),
        headline=headline + beside,
        findings={
            "n_outliers": len(flagged),
            "n_beyond": len(beyond),
            "n_expected": limit * len(frame),
            "positions": [table.row_number(frame.index[i]) - 1 for i in flagged[:50]],
            "columns": [[entry.column for entry in why] for _, why in outlying],
            "ends": [[end.column, end.row - 1] for end in ends],
        },
    )


def extreme_entries(table: Table, found: FittedMixtures, model: Any) -> list[ExtremeEntry]:
    """Return the smallest and largest numbers of the whole table that are farther out than chance allows.

    Of N rows of the model N P(X ≥ x) are at least x on average. The probability that any of the 2 p ends of
    the p columns is called far by chance is at most `CHANCE` (Bonferroni).
    """
    ends = []
    for name in found.rows.numbers:
        column, logged = table.column(name), name in found.logged
        assert column.low is not None
        assert column.high is not None
        of_column = model.distribution_.marginal([name]).as_univariate()
        usual = range_text(*table.frame[name].quantile([0.05, 0.95]), commas=not column.is_year)
        for x, row, tail in (
            (column.low, column.low_row, of_column.cdf),
            (column.high, column.high_row, of_column.survival),
        ):
            p = float(tail(np.log(x) if logged else x))
            if table.n_rows * p * 2 * len(found.rows.numbers) <= CHANCE:
                ends.append(ExtremeEntry(column=name, entry=x, row=row + 1, usual=usual, tail=p))
    return sorted(ends, key=lambda end: end.tail)


def _ends_text(ends: list[ExtremeEntry], first_row: int) -> str:
    """Return which ends of columns of the whole table are far out, besides those of the first row listed."""
    if not ends:
        return (
            " No smallest or largest number of a column of the whole table is farther out than chance allows."
        )
    end = ends[0]
    if end.row == first_row:
        columns = listed(list(dict.fromkeys(end.column for end in ends)), 4)
        return f" Smallest or largest numbers of the whole table are far out in {columns}."
    others = listed(list(dict.fromkeys(other.column for other in ends if other.column != end.column)), 4)
    more = f" Smallest or largest numbers are far out in {others}, too." if others else ""
    return (
        f" In the whole table {end.column} reaches {number_text(end.entry)}, in row {end.row:,}, where "
        f"nine in ten rows have {end.usual}.{more}"
    )


def _more_than_chance(scores: OutlierScores, limit: float) -> tuple[float, np.ndarray]:
    """Return the rows beyond a limit if they are more than chance gives, or those beyond a stricter one.

    Of n rows of the model n times the limit are beyond it on average, and their number is Poisson.
    """
    n = len(scores.order)
    for one in (limit, max(CHANCE / n, 1.0 / N_DRAWS)):
        beyond = scores.beyond(one)
        if len(beyond) and float(pdtrc(len(beyond) - 1, one * n)) <= CHANCE:
            return one, beyond
    return limit, beyond[:0]


def long_tails(scores: OutlierScores, limit: float) -> bool:
    """Return whether columns have longer tails than the model, so that a number of outliers means little.

    Mistakes are far out, and leave as many rows between the limit and ten times the limit as the model
    expects; under a model of too short tails more rows are there than chance allows.
    """
    n, n_beyond = len(scores.order), len(scores.beyond(limit))
    n_near = len(scores.beyond(10.0 * limit)) - n_beyond
    many = n_beyond > max(MANY_SHARE * n, MAX_LISTED)
    return many and float(pdtrc(n_near - 1, 9.0 * limit * n)) <= CHANCE


def _column_facts(table: Table, found: FittedMixtures) -> ColumnFacts:
    """Return what is known of the numbers of a table, besides the model."""
    numbers = found.modelled[list(found.rows.numbers)]
    return ColumnFacts(
        logged=found.logged,
        years=tuple(column.name for column in table.columns if column.is_year),
        limits={name: limits_of(numbers[name].dropna().to_numpy()) for name in numbers},
        scales={name: float(numbers[name].std(ddof=0)) for name in numbers},
    )


def limits_of(x: np.ndarray) -> tuple[float, float]:
    """Return the limits of a quantity: 0 if it is nowhere below, and ends that many rows have exactly.

    Examples
    --------
    >>> limits_of(np.r_[np.arange(90.0), np.full(10, 100.0)]), limits_of(np.arange(-5.0, 100.0))
    ((0.0, 100.0), (-inf, inf))
    """
    low, high = float(x.min()), float(x.max())
    many = max(3, AT_LIMIT * len(x))
    least = low if np.sum(x == low) >= many else (0.0 if low >= 0.0 else -np.inf)
    return least, high if np.sum(x == high) >= many else np.inf


def _unexpected(found: FittedMixtures, model: Any, i: int, facts: ColumnFacts) -> list[UnexpectedEntry]:
    """Return the unexpected entries of a row, in the units of the table."""
    row = found.modelled.iloc[i].dropna().to_dict()
    return unexpected_entries(model, row, found.rows.categories, facts=facts)


def _headline(
    table: Table, frame: Any, flagged: np.ndarray, listed_rows: list[tuple[Any, list[UnexpectedEntry]]]
) -> str:
    """Return how many rows are unusual, and what is unusual of the most extreme."""
    if not len(flagged):
        return f"No row{_of_sample(table)} is more unusual than chance allows."
    row = _first_row(table, frame, listed_rows)
    if len(flagged) == 1:
        return f"One row{_of_sample(table)} is unusual, {row}."
    return f"{len(flagged):,} rows{_of_sample(table)} are unusual, most of all {row}."


def _of_sample(table: Table) -> str:
    """Return of how many rows it is known, where not of all."""
    return f" of the {len(table.frame):,} looked at" if table.is_sample else ""


def _first_row(table: Table, frame: Any, listed_rows: list[tuple[Any, list[UnexpectedEntry]]]) -> str:
    """Return the most extreme row and its most unexpected entry, in words."""
    i, entries = listed_rows[0]
    said = "its entries are usual one by one, but not together"
    if entries:
        said = f"{entries[0].column} is {entries[0].entry}, where {entries[0].expected} was expected"
    return f"row {table.row_number(frame.index[i]):,}: {said}"


def _no_fit(n: int, beyond: np.ndarray, model: Any, *, fits: bool) -> str:
    """Return that the model does not describe the rows, or not their tails, so that none is an outlier."""
    share = f"{len(beyond):,} of {number_of(n, 'row')} ({len(beyond) / n:.0%})"
    mixture = f"the mixture of {number_of(int(model.n_components), 'component')}"
    improbable = f"{share} are improbable under {mixture}"
    if fits:
        return f"How many rows are outliers is not known: {improbable}, whose tails are too short for them."
    return (
        f"No row is called an outlier: {improbable}, which says more about the mixture than about the rows. "
        "The columns have other shapes than normal ones."
    )


def why_not(table: Table, target: str | None) -> str:
    """Return why no outliers are looked for."""
    del target
    return f"No outliers are looked for: {why_no_mixture(table)}."


def _density(
    found: FittedMixtures, limit: float, rng: np.random.Generator
) -> tuple[Any, OutlierScores, np.ndarray]:
    """Return a mixture of the rows without the most extreme, the scores of all rows, and the rows left out.

    Rows beyond the limit of one fit are left out of the next, because outliers would inflate the covariances
    (masking), and because draws of new rows are like rows that a model was not fitted to.
    """
    frame = found.modelled
    model = _robust_choice(found)
    left = found.extreme
    scores = outlier_scores(model, frame, rng, found.n_fitted)
    for _ in range(3):
        outlying = np.nan_to_num(scores.tails, nan=1.0) <= limit
        if np.array_equal(outlying, left) or outlying.mean() > 0.1:
            break
        inliers, most = frame[~outlying], found.n_fitted
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            part = inliers if len(inliers) <= most else inliers.sample(most, random_state=0)
            again = clone(model).fit(part)
        if again.collapsed_.any():
            break
        model, left = again, outlying
        scores = outlier_scores(model, frame, rng, found.n_fitted)
    return model, scores, left


def _robust_choice(found: FittedMixtures) -> Any:
    """Return the mixture of the least trimmed BIC among those without components of tiny weight.

    Only mixtures of fewer parameters than that of the least BIC are compared with it: few outliers let a
    mixture of many parameters, which spends a component on them, have a smaller BIC than the right one.
    """
    choice, (_, best) = found.choice, found.choice.position("bic")
    candidates = sorted(
        (choice.scores["bic"][i, j], i, j)
        for i, fits in enumerate(choice.models)
        for j, model in enumerate(fits)
        if j <= best and _has_no_tiny_component(model)
    )
    if not candidates:
        return choice.models[0][0]
    models = [choice.models[i][j] for _, i, j in candidates]
    simpler = [model for model in models[1:] if model.n_parameters_ < models[0].n_parameters_]
    return min([models[0], *simpler], key=partial(_trimmed_bic, found)) if simpler else models[0]


def _has_no_tiny_component(model: Any) -> bool:
    return bool(model.weights_.min() >= MIN_SHARE and not model.collapsed_.any())


def _trimmed_bic(found: FittedMixtures, model: Any) -> float:
    """Return the BIC of the rows without the least probable, fitted again; infinity where that collapses."""
    near = found.modelled[~found.extreme]
    part = near if len(near) <= found.n_fitted else near.sample(found.n_fitted, random_state=0)
    order = np.argsort(model.score_samples(part), kind="stable")
    kept = part.iloc[np.sort(order[math.ceil(MANY_SHARE * len(part)) :])]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        again = clone(model).fit(kept)
    return information_criteria(again, kept)["bic"] if _has_no_tiny_component(again) else np.inf


def _done(model: Any, left: np.ndarray, logged: tuple[str, ...]) -> str:
    again = ", fitted without the least probable rows," if left.any() else ""
    parts = number_of(int(model.n_components), "component")
    skewed = (
        f" Of {listed(logged)} the logarithm was modelled: positive and strongly skewed." if logged else ""
    )
    return (
        f"The log density of each row was taken under a mixture of {parts}{again} and compared with "
        f"{N_DRAWS:,} new rows drawn from it, whose spread includes the uncertainty of its parameters; for "
        f"the most extreme rows each entry was compared with its distribution given the others.{skewed}"
    )


def _meaning(
    table: Table,
    frame: Any,
    flagged: np.ndarray,
    n_beyond: int,
    limit: float,
    listed_rows: list[tuple[Any, list[UnexpectedEntry]]],
    outlying: list[tuple[Any, list[UnexpectedEntry]]],
) -> str:
    n, expected = len(frame), f"where {limit * len(frame):.2g} would be expected by chance"
    improbable = f"as improbable as one in {1.0 / limit:,.0f} draws from the model"
    if not len(flagged):
        are = {0: "none is", 1: "1 is"}.get(n_beyond, f"{n_beyond:,} are")
        return (
            f"No row{_of_sample(table)} is more extreme than chance allows: of {n:,} rows {are} "
            f"{improbable}, {expected}."
        )
    columns = listed(dict.fromkeys(entry.column for _, entries in outlying for entry in entries))
    rows, are = ("row", "is") if len(flagged) == 1 else ("rows", "are")
    return (
        f"{len(flagged):,} {rows}{_of_sample(table)} {are} {improbable}, {expected}. The most extreme is "
        f"{_first_row(table, frame, listed_rows)}."
    ) + (f" Columns with unexpected entries: {columns}." if columns else "")


def _different(frame: Any, order: np.ndarray, most: int) -> tuple[np.ndarray, bool]:
    """Return the first rows in an order without those equal to an earlier one, and whether there are such."""
    order = order[: 100 * most]
    again = frame.iloc[order].duplicated().to_numpy()
    kept = np.flatnonzero(~again)[:most]
    return order[kept], bool(again[: kept[-1] + 1].any())


def _grid(
    table: Table,
    frame: Any,
    scores: OutlierScores,
    listed_rows: list[tuple[Any, list[UnexpectedEntry]]],
    *,
    again: bool,
) -> Grid:
    keys = table.names("identifier")[:1]
    rows = []
    for i, why in listed_rows:
        position = int(frame.index[i])
        named = [_shown(table.frame[key].iloc[position]) for key in keys]
        words = "; ".join(f"{e.column} {e.entry} (expected {e.expected})" for e in why)
        tail = scores.tails[i]
        odds = f"1 in {1 / tail:,.0f}" if tail > 0 else f"less than 1 in {N_DRAWS:,}"
        words = words or "no entry by itself, but all of them together"
        rows.append((f"{table.row_number(position):,}", *named, odds, number_text(scores.below[i], 3), words))
    return Grid(
        title="The most extreme rows",
        head=("row", *keys, "as extreme", "log density below the median", "because of"),
        rows=tuple(rows),
        note="Rows are counted from 1. Expected: the interval of 90%, or the most probable category, given "
        "the entries of the row that are not unexpected."
        + (" Of rows with the same entries the first is listed." if again else ""),
        first="row",
    )


def _code(table: Table, found: FittedMixtures, model: Any, left: np.ndarray) -> str:
    return (
        code_head(table, imports_for(found.code))
        + model_code(found, model, found.rows.frame.index[left])
        + "log_density = model.score_samples(rows)\n"
        + f"print(rows.assign(log_density=log_density).nsmallest({MAX_LISTED}, 'log_density'))\n"
    )


def _shown(entry: Any, *, commas: bool = True) -> str:
    return number_text(entry, 6, commas=commas) if isinstance(entry, float) else str(entry)


def _score_picture(scores: OutlierScores, limit: float, *, counted: bool) -> Picture:
    """Draw a histogram of log densities below the median, of rows and of draws from the model."""
    below = scores.below[~np.isnan(scores.below)]
    threshold = float(np.quantile(scores.usual, 1.0 - limit))
    low = min(below.min(), scores.usual.min())
    farthest = min(float(np.quantile(below, 0.999)), 3.0 * threshold)
    high = max(threshold * 1.1, farthest, low + 1e-3)  # all may be equal
    edges = np.linspace(low, high, 41)
    with canvas() as (figure, ax):
        ax.hist(np.minimum(below, high), bins=edges, density=True, color=COLOURS[4], alpha=0.6, label="rows")
        style = {"histtype": "step", "color": "0.3", "lw": 1.2, "label": "expected"}
        ax.hist(scores.usual, bins=edges, density=True, **style)
        ax.axvline(
            threshold,
            color=COLOURS[5],
            lw=1.2,
            ls="--",
            label="outliers from here" if counted else "improbable from here",
        )
        ax.set(xlabel="log density below the median", ylabel="share of rows", yticks=[])
        legend(ax)
        return picture_of(
            figure,
            alt="A histogram of how far the log densities of rows are below the median",
            caption=f"Rows to the right of the dashed line are {'outliers' if counted else 'improbable'}; "
            "rows beyond the edge are counted in the last bar.",
        )


def _scatter_picture(
    table: Table, found: FittedMixtures, flagged: np.ndarray, outlying: list[Any], rng: np.random.Generator
) -> tuple[Picture, ...]:
    """Draw the rows over the two columns with most unexpected entries, with outliers circled and numbered."""
    frame = found.rows.frame
    pair = _unexpected_pair(frame, found.rows.numbers, outlying)
    if pair is None:
        return ()
    x = frame[list(pair)].to_numpy(dtype=np.float64)
    shown = sampled(np.flatnonzero(~np.isnan(x).any(axis=1)), MAX_POINTS, rng)
    with canvas(height=4.0) as (figure, ax):
        ax.scatter(*x[shown].T, s=10, lw=0, color="0.6", alpha=0.6)
        ax.scatter(*x[flagged].T, s=60, facecolors="none", edgecolors=COLOURS[5], linewidths=1.4)
        style = {"xytext": (6, 4), "textcoords": "offset points", "fontsize": 8}
        ax.set(xlabel=pair[0], ylabel=pair[1])
        ax.set(
            **{f"{axis}scale": "log" for axis, name in zip("xy", pair, strict=True) if name in found.logged}
        )
        labelled: list[
            np.ndarray
        ] = []  # where labels are, in points: one that would cover another is left out
        for i, _ in outlying:
            if not np.isfinite(x[i]).all():
                continue
            at = ax.transData.transform(x[i])
            if all(abs(at[0] - other[0]) > 30 or abs(at[1] - other[1]) > 12 for other in labelled):
                ax.annotate(str(table.row_number(frame.index[i])), x[i], **style)
                labelled.append(at)
        picture = picture_of(
            figure,
            alt=f"Rows by {pair[0]} and {pair[1]}, outliers circled",
            caption="Outliers, circled, over the two columns with most unexpected entries. A row may be an "
            "outlier for another column.",
            pixels=len(shown) > MAX_VECTOR,
        )
    return (picture,)


def _unexpected_pair(frame: Any, numbers: tuple[str, ...], outlying: list[Any]) -> tuple[str, str] | None:
    """Return the column with most unexpected entries, and the next one or the most correlated."""
    counts = dict.fromkeys(numbers, 0)
    for _, why in outlying:
        for entry in why:
            if entry.column in counts:
                counts[entry.column] += 1
    order = sorted(numbers, key=lambda name: -counts[name])
    if len(order) < 2 or counts[order[0]] == 0:
        return None
    if counts[order[1]]:
        return order[0], order[1]
    correlations = frame[list(numbers)].corr()[order[0]].drop(order[0]).abs().fillna(0.0)
    return order[0], str(correlations.idxmax())


def outlier_scores(
    model: Any, frame: Any, rng: np.random.Generator, n_fitted: int | None = None
) -> OutlierScores:
    """Return the tail probabilities of rows, compared with draws of the same missing pattern.

    Rows of rare patterns are not scored. With `n_fitted`, the number of rows of the fit, draws are as
    uncertain as its parameters.
    """
    log_density = np.asarray(model.score_samples(frame))
    missing = frame.isna().to_numpy()
    patterns, which, counts = np.unique(missing, axis=0, return_inverse=True, return_counts=True)
    drawn, labels = model.sample(N_DRAWS, random_state=rng)
    if n_fitted is not None:
        drawn = predictive_draws(model, drawn, labels, n_fitted, rng)
    tails, below = np.full(len(frame), np.nan), np.full(len(frame), np.nan)
    common = np.argsort(-counts, kind="stable")[:MAX_PATTERNS]
    usual = {}
    for rank, k in enumerate(common):
        some = drawn if rank < COMMON else drawn[:FEWER_DRAWS]
        usual[k] = np.sort(np.asarray(model.score_samples(_with_pattern(some, patterns[k], frame))))
        mine = which.ravel() == k
        tails[mine] = np.searchsorted(usual[k], log_density[mine], side="right") / len(usual[k])
        below[mine] = np.median(usual[k]) - log_density[mine]
    most = usual[common[0]]
    return OutlierScores(tails=tails, below=below, usual=np.median(most) - most)


def predictive_draws(model: Any, drawn: Any, labels: Any, n_fitted: int, rng: np.random.Generator) -> Any:
    """Return draws of a mixture with the uncertainty of its means and covariances.

    New rows of a normal with estimated parameters are distributed as Student's t: a deviation from the mean
    is √((N_k + 1) / χ²) times that of a draw, where N_k is the number of rows of the component, and χ² has
    N_k less the d columns degrees of freedom, or less one where columns are independent (Bishop 2.160).
    """
    if isinstance(drawn, np.ndarray):
        numbers = list(range(drawn.shape[1]))
        x = drawn
    else:
        numbers = [j for j, name in enumerate(drawn.columns) if model.kinds_[name] == "normal"]
        x = drawn.iloc[:, numbers].to_numpy(dtype=np.float64)
    if not numbers:
        return drawn
    means = np.asarray(model.distribution_.components.mean)[:, numbers]
    rows = np.maximum(model.weights_ * n_fitted, 1.0)
    if model.covariance_type == "tied":
        rows = np.full(len(rows), float(n_fitted))
    width = 1 if model.covariance_type == "diag" else len(numbers)
    if getattr(model, "covariance_prior", None) is not None:
        rows = rows + len(numbers) + 2.0  # its degrees of freedom
    dof = np.maximum(rows - width, 1.0)[labels]
    shape = (len(x), len(numbers) if width == 1 else 1)
    factor = np.sqrt((rows[labels] + 1.0)[:, None] / rng.chisquare(dof[:, None], shape))
    x = means[labels] + (x - means[labels]) * factor
    if isinstance(drawn, np.ndarray):
        return x
    return drawn.assign(**{drawn.columns[j]: x[:, i] for i, j in enumerate(numbers)})


def unexpected_entries(
    model: Any,
    row: dict[str, Any],
    categories: tuple[str, ...],
    most: int = 3,
    *,
    facts: ColumnFacts | None = None,
) -> list[UnexpectedEntry]:
    """Return the entries of a row (without missing ones) that are improbable given the others.

    The most improbable entry is taken first and left out of the conditions of the others; or, if this
    explains the row better, those that are far out by themselves, as where several wrong numbers agree with
    each other. If the first is not unexpected it is the only one, and there is none if it is within its
    interval of 90 %: then the entries are expected one by one, and the row is improbable by all of them
    together. What is expected of each is given the entries that are not unexpected. `facts` are what is known
    of the columns.
    """
    facts = facts or ColumnFacts()
    alone = {name: _conditional(model, {name: row[name]}, name, name in categories) for name in row}
    far = sorted(
        (name for name in row if _tail(alone[name], row[name]) <= FAR),
        key=lambda one: _rank(alone[one], row[one], facts.scales.get(one, 1.0)),
    )
    starts = [[], far[:most]] if far else [[]]
    explanations = [_improbable(model, row, categories, facts, start, most) for start in starts]
    left = max(explanations, key=lambda names: _explained(model, row, names, categories, facts))
    known = {name: entry for name, entry in row.items() if name not in left}
    for name in left if len(left) > 1 else ():  # one that the right entries lead to expect is right too
        rest = _conditional(model, {**known, name: row[name]}, name, name in categories)
        if _tail(rest, row[name]) > UNEXPECTED:
            known[name] = row[name]
    found: list[UnexpectedEntry] = []
    for name in (name for name in left if name not in known):  # given the entries that are as expected
        rest = _conditional(model, {**known, name: row[name]}, name, name in categories)
        tail, logged, commas = _tail(rest, row[name]), name in facts.logged, name not in facts.years
        if tail > (UNEXPECTED if found else 1.0 - INTERVAL):
            continue
        limits = facts.limits.get(name, (-np.inf, np.inf))
        expected = _expected(rest, limits, logged=logged, commas=commas)
        entry = float(np.exp(row[name])) if logged else row[name]
        found.append(
            UnexpectedEntry(column=name, entry=_shown(entry, commas=commas), expected=expected, tail=tail)
        )
    return found


def _improbable(
    model: Any,
    row: dict[str, Any],
    categories: tuple[str, ...],
    facts: ColumnFacts,
    left: list[str],
    most: int,
) -> list[str]:
    """Return the entries to leave out, the most improbable given the rest first, after some that are."""
    left = list(left)
    known = {name: entry for name, entry in row.items() if name not in left}
    while known and len(left) < most:
        given_rest = {name: _conditional(model, known, name, name in categories) for name in known}
        name = min(known, key=lambda one: _rank(given_rest[one], known[one], facts.scales.get(one, 1.0)))
        tail = _tail(given_rest[name], known[name])
        if tail > (UNEXPECTED if left else 1.0 - INTERVAL):
            break
        left.append(name)
        del known[name]
        if tail > UNEXPECTED:
            break
    return left


def _explained(
    model: Any, row: dict[str, Any], left: list[str], categories: tuple[str, ...], facts: ColumnFacts
) -> float:
    """Return the log density of a row whose entries `left` are mistakes, and whose others are of the model.

    log p(others) + Σ log (ε / r): a mistake has the probability ε and is uniform over the range r.
    """
    import pandas as pd

    entries = {name: entry for name, entry in row.items() if name not in left}
    ranges = [
        float(len(model.categories_[name]))
        if name in categories
        else MISTAKE_RANGE * facts.scales.get(name, 1.0)
        for name in left
    ]
    frame = pd.DataFrame([entries], columns=list(model.feature_names_in_))
    return float(model.score_samples(frame)[0]) + sum(np.log(MISTAKE / (r or 1.0)) for r in ranges)


def _conditional(model: Any, known: dict[str, Any], name: str, category: bool) -> Any:
    """Return the distribution of a number given the other entries, or the probability of each category."""
    given = {other: entry for other, entry in known.items() if other != name}
    marginal = (model.condition(given) if given else model.distribution_).marginal([name])
    if not category:
        return marginal.as_univariate()
    levels = model.categories_[name]
    probabilities = np.asarray(marginal.prob(np.arange(len(levels), dtype=np.float64)[:, None]))
    return dict(zip(levels, probabilities.tolist(), strict=True))


def _tail(rest: Any, entry: Any) -> float:
    """Return the probability of an entry as extreme."""
    if isinstance(rest, dict):
        mine = rest.get(entry, 0.0)
        return float(sum(p for p in rest.values() if p <= mine * (1.0 + 1e-9)))
    return min(1.0, 2.0 * min(float(rest.cdf(entry)), float(rest.survival(entry))))


def _rank(rest: Any, entry: Any, scale: float) -> tuple[float, float]:
    """Return how improbable an entry is: its tail, and its log density in units of the column.

    log p(row) = log p(entry | others) + log p(others): the entry of the least density leaves the most
    probable others. It decides between entries that are all far beyond what is expected, as where one wrong
    number contradicts several right ones.
    """
    tail = max(_tail(rest, entry), LEAST_TAIL)
    if isinstance(rest, dict):
        return tail, float(np.log(max(rest.get(entry, 0.0), np.finfo(float).tiny)))
    return tail, float(rest.log_prob(entry)) + float(np.log(scale or 1.0))


def _expected(rest: Any, limits: tuple[float, float], *, logged: bool, commas: bool = True) -> str:
    """Return the most probable level, or the interval of 90 % within the limits of the column, in words."""
    if isinstance(rest, dict):
        best = max(rest, key=lambda level: rest[level])
        return f"{best} ({rest[best]:.0%})"
    low, high = np.clip(rest.interval(INTERVAL), *limits).tolist()
    low, high = (float(np.exp(end)) if logged else end for end in (low, high))
    return range_text(low, high, commas=commas)


def _with_pattern(drawn: Any, missing: np.ndarray, frame: Any) -> Any:
    """Return drawn rows as a frame with some columns missing."""
    import pandas as pd

    table = pd.DataFrame(drawn, columns=frame.columns) if isinstance(drawn, np.ndarray) else drawn
    return table.mask(np.broadcast_to(missing, table.shape)) if missing.any() else table
