"""Dependence of pairs of columns: all pairs in a table, reversals within groups, and pictures."""

import math
from typing import Any

import numpy as np

from tractable.data.names import number_of
from tractable.plotting.style import COLOURS, legend_label
from tractable.report.mutual_information import (
    MAX_LEVELS,
    MIN_ROWS,
    Pair,
    coded,
    correlation_interval,
    n_pairs,
    pairs_of,
    with_seasons,
)
from tractable.report.overview import density_of, view_limits
from tractable.report.page import Grid, Picture, Section, canvas, percent_text, picture_of, shortened
from tractable.report.rows import deduplicated, listed, sampled
from tractable.report.table import Table
from tractable.report.time_order import time_order
from tractable.value import value

#: Pairs in the table, pairs with a picture, and columns in the matrix of all pairs.
MAX_ROWS, MAX_PICTURES, MAX_COLUMNS = 15, 6, 30

#: Pairs that are examined within groups.
MAX_WITHIN = 200

CODE = """
from tractable.report import pairwise_dependence

print(pairwise_dependence(table).head(15))
"""


#: Rows of a group, and the size of a correlation within groups, at least.
MIN_GROUP_ROWS, MIN_CORRELATION = 10, 0.1

#: Points of a scatter plot, and categories that are drawn.
MAX_POINTS, MAX_CLASSES = 2000, 6


@value
class Reversal:
    """A pair of numbers whose correlation within groups `by` has the other sign, with its interval."""

    pair: Pair
    by: str
    n: int  # rows that have both numbers and are in a group
    overall: float  # the correlation over these rows
    within: float
    low: float
    high: float


def section(table: Table, *, target: str | None = None, rng: np.random.Generator) -> Section | None:
    """Return the dependence of all pairs of columns; None if there are not two to compare."""
    once = with_seasons(deduplicated(table))
    pairs = pairs_of(once)
    if not pairs:
        return None
    of_target = [pair for pair in pairs if target in (pair.a, pair.b)]
    certain = _more_than_chance(pairs)
    pictured = _pictured([pair for pair in pairs if pair in certain], of_target)
    reversed_pairs = reversals(once, [pair for pair in pairs if pair in certain][:MAX_WITHIN])
    groups = {one.pair: one.by for one in reversed_pairs}
    times = time_order(table)
    in_time = times is not None and len(times.correlations) > 1
    return Section(
        key="dependence",
        title="What depends on what",
        done=(
            f"{_count_of(pairs, once)} compared on one scale: numbers and dates in bins of "
            "as many rows each, categories as they are, and the mutual information I of each pair, less "
            "what chance gives, as strength √(1 − exp(−2 I)). For two normal numbers that is the size of "
            "their correlation. Pairs of numbers have their correlation too, with an interval of 95%. Of "
            "the pairs said to be more than chance 1% are expected to be false discoveries (Benjamini and "
            "Hochberg)."
        ),
        meaning=_meaning(pairs, certain, of_target, target, in_time=in_time) + _reversal_text(reversed_pairs),
        assumptions=(
            "Rows are independent draws. Strength measures dependence of any shape; correlation measures "
            "linear dependence, and its interval assumes numbers that are about normal. "
            "Neither says which column is the cause, and two columns may depend on each other through a "
            "third only."
        ),
        code=f"{table.code}{CODE}" + "".join(map(_code, reversed_pairs[:1])),
        pictures=(
            *picture_of_strengths(once, pairs, MAX_COLUMNS),
            *(picture_of_pair(once, pair, rng, target, groups.get(pair)) for pair in pictured),
        ),
        tables=(
            _grid("The strongest pairs", pairs[:MAX_ROWS]),
            *(
                [_grid(f"Dependence of {target} on each column", of_target[:MAX_ROWS], target)]
                if of_target and len(pairs) > 1
                else []
            ),
        ),
        notes=_notes(table, once),
        headline=_headline(pairs, certain, of_target, target),
        findings=_findings(pairs, certain, of_target, reversed_pairs),
    )


def why_not(table: Table, target: str | None) -> str:
    """Return why no pairs of columns are compared."""
    del target
    names = table.names("number", "category", "boolean", "date")
    if len(names) < 2:
        there = "is 1" if names else "is none"
        return f"No columns are compared: it takes two that hold numbers, dates or categories; there {there}."
    return f"No columns are compared: a pair needs {MIN_ROWS} different rows that have both entries."


def _more_than_chance(pairs: list[Pair], rate: float = 0.01) -> set[Pair]:
    """Return pairs with a false discovery rate of at most `rate` (Benjamini and Hochberg 1995)."""
    ordered = sorted(pairs, key=lambda pair: pair.p_value)
    accepted = [i for i, pair in enumerate(ordered, 1) if pair.p_value <= rate * i / len(ordered)]
    return set(ordered[: max(accepted, default=0)])


def _count_of(pairs: list[Pair], table: Table) -> str:
    """Return how many of the pairs of columns are compared, in words."""
    every = n_pairs(table)
    if len(pairs) == every:
        return f"All {every:,} pairs of columns were" if every > 1 else "The two columns were"
    return (
        f"{len(pairs):,} of {every:,} pairs of columns (all but those with few rows in common, or a column "
        f"whose entries are nearly all the same) {'were' if len(pairs) > 1 else 'was'}"
    )


def _pictured(pairs: list[Pair], of_target: list[Pair]) -> list[Pair]:
    """Return the pairs to draw: up to half of them with the target, none twice."""
    shown = [pair for pair in of_target if pair in set(pairs)][: MAX_PICTURES // 2]
    others = [pair for pair in pairs if pair not in set(shown)]
    return (shown + others)[:MAX_PICTURES]


def _meaning(
    pairs: list[Pair], certain: set[Pair], of_target: list[Pair], target: str | None, *, in_time: bool = False
) -> str:
    best = pairs[0]
    if not certain:
        none = (
            f"{best.a} and {best.b} do not"
            if len(pairs) == 1
            else f"None of the {len(pairs):,} pairs of columns"
        )
        return f"{none} depend on each other by more than chance would give."
    measured = f"strength {best.strength:.2f}{_with_correlation(best)}"
    # Two series that go up and down by themselves look related: the tests assume independent rows.
    alone = ", if rows were independent; trends in time alone make many of these" if in_time else ""
    if len(pairs) == 1:
        return f"{best.a} and {best.b} depend on each other by more than chance{alone}: {measured}."
    count = "All" if len(certain) == len(pairs) else f"{len(certain):,} of"
    parts = [
        f"{count} {len(pairs):,} pairs of columns depend on each other by more than chance{alone}.",
        f"The strongest is {best.a} with {best.b}: {measured}.",
    ]
    if target is not None and of_target:
        informative = [pair for pair in of_target if pair in certain][:3]
        names = [f"{_other(pair, target)} ({pair.strength:.2f})" for pair in informative]
        most = f"The columns most informative about {target}: {', '.join(names)}."
        parts.append(most if names else f"No single column is informative about {target}.")
    copies = [pair for pair in pairs if pair.correlation is not None and abs(pair.correlation) > 0.999]
    if copies:
        same = ", ".join(f"{pair.a} and {pair.b}" for pair in copies[:3])
        parts.append(f"Nearly linear functions of each other: {same}.")
    return " ".join(parts)


def _headline(pairs: list[Pair], certain: set[Pair], of_target: list[Pair], target: str | None) -> str:
    """Return the strongest dependence, of the target if there is one."""
    if not certain:
        return _meaning(pairs, certain, of_target, target)
    told = [pair for pair in of_target if pair in certain][:3]
    if target is not None and told:
        return f"{target} depends most on {listed([_other(pair, target) for pair in told])}."
    best = pairs[0]
    return f"The strongest dependence is that of {best.a} and {best.b}{_with_correlation(best)}."


def _reversal_text(reversed_pairs: list[Reversal]) -> str:
    """Return which correlations have the other sign within groups."""
    if not reversed_pairs:
        return ""
    sentences = [
        f"The correlation of {one.pair.a} and {one.pair.b} is {one.overall:.2f} over the {one.n:,} rows in "
        f"groups of {one.by}, but {one.within:.2f} ({one.low:.2f} to {one.high:.2f}) among rows of the same "
        f"{one.by}."
        for one in reversed_pairs[:2]
    ]
    others = len(reversed_pairs) - 2
    more = f" The same holds for {number_of(others, 'other pair')}." if others > 0 else ""
    return f"\nBeware of groups. {' '.join(sentences)}{more}"


def _code(one: Reversal) -> str:
    return f"print(table.frame.groupby({one.by!r})[[{one.pair.a!r}, {one.pair.b!r}]].corr())\n"


def _with_correlation(pair: Pair) -> str:
    if pair.correlation is None:
        return ""
    r, interval = _correlation(pair)
    return f", correlation {r} ({interval})"


def _other(pair: Pair, target: str | None) -> str:
    return pair.b if pair.a == target else pair.a


def _grid(title: str, pairs: list[Pair], target: str | None = None) -> Grid:
    """Return a table of pairs; of those with the target only the other column is named."""
    names = ("column", "and column") if target is None else ("column",)
    numbers = any(pair.correlation is not None for pair in pairs)
    rows = tuple(
        (
            *((pair.a, pair.b) if target is None else (_other(pair, target),)),
            f"{pair.strength:.2f}",
            *(_correlation(pair) if numbers else ()),
            "<0.001" if pair.p_value < 0.001 else f"{pair.p_value:.3f}",
            f"{pair.n:,}",
        )
        for pair in pairs
    )
    head = (*names, "strength", *(("correlation", "95% interval") if numbers else ()), "p", "rows")
    note = "p: how often independent columns would depend as much; for each pair by itself."
    return Grid(title=title, head=head, rows=rows, note=note)


def _correlation(pair: Pair) -> tuple[str, str]:
    if pair.correlation is None:
        return "", ""
    ends = pair.low, pair.high
    decimals = next(k for k in range(2, 7) if k == 6 or f"{ends[0]:.{k}f}" != f"{ends[1]:.{k}f}")
    r, low, high = (f"{x:z.{decimals}f}" for x in (pair.correlation, *ends))
    return r, f"{low} to {high}"


def _notes(table: Table, once: Table) -> tuple[str, ...]:
    left = table.names("text", "identifier")
    notes = [f"Not compared, since they have too many different values: {listed(left)}."] if left else []
    if len(once.frame) < len(table.frame):
        copies = number_of(len(table.frame) - len(once.frame), "copy", "copies")
        notes.append(f"{copies} of other rows left out: the tests assume independent rows.")
    return tuple(notes)


def _findings(
    pairs: list[Pair], certain: set[Pair], of_target: list[Pair], reversed_pairs: list[Reversal]
) -> dict[str, Any]:
    def described(pair: Pair) -> dict[str, Any]:
        found = {"columns": [pair.a, pair.b], "strength": round(pair.strength, 4)}
        if pair.correlation is not None:
            found["correlation"] = round(pair.correlation, 4)
        return found

    return {
        "pairs": len(pairs),
        "more_than_chance": len(certain),
        "strongest": [described(pair) for pair in pairs[:5]],
        "of_target": [described(pair) for pair in of_target[:5]],
        "reversed_within_groups": [
            {"columns": [one.pair.a, one.pair.b], "by": one.by, "within": round(one.within, 4)}
            for one in reversed_pairs
        ],
    }


def reversals(table: Table, pairs: list[Pair]) -> list[Reversal]:
    """Return the pairs of numbers whose correlation has the other sign within groups, the strongest first.

    The correlation within groups is that of the pooled deviations from the means of the groups, and compared
    with the correlation over the same rows; both must be at least 0.1 in size, and neither interval of 95 %
    may contain 0. Each pair has the groups of its largest one.
    """
    found = []
    groups = {name: coded(table, name) for name in table.names("category", "boolean")}
    for pair in pairs:
        if pair.correlation is None or pair.low is None or pair.high is None or pair.low * pair.high <= 0:
            continue
        x, y = (table.frame[name].to_numpy(dtype=float) for name in (pair.a, pair.b))
        within = [_within(pair, name, x, y, codes) for name, codes in groups.items()]
        other_sign = [one for one in within if one is not None]
        found += sorted(other_sign, key=lambda one: -abs(one.within))[:1]
    return sorted(found, key=lambda one: -abs(one.within))


def _within(pair: Pair, by: str, x: np.ndarray, y: np.ndarray, codes: np.ndarray) -> Reversal | None:
    both = np.isfinite(x) & np.isfinite(y) & (codes >= 0)
    x, y, codes = x[both], y[both], codes[both]
    counts = np.bincount(codes)
    full = counts[codes] >= MIN_GROUP_ROWS
    x, y, codes = x[full], y[full], codes[full]
    groups = len(np.unique(codes))
    if groups < 2 or len(x) - groups < MIN_GROUP_ROWS:
        return None
    overall, within = _pearson(x, y, np.zeros_like(codes)), _pearson(x, y, codes)
    low, high = correlation_interval(
        within, len(x) - groups + 1
    )  # each further mean takes a degree of freedom
    ends = correlation_interval(overall, len(x))
    significant = (
        low * high > 0 and ends[0] * ends[1] > 0 and min(abs(within), abs(overall)) >= MIN_CORRELATION
    )
    if not significant or overall * within > 0:
        return None
    return Reversal(pair=pair, by=by, n=len(x), overall=overall, within=within, low=low, high=high)


def _pearson(x: np.ndarray, y: np.ndarray, codes: np.ndarray) -> float:
    """Return the correlation of the deviations from the means of groups."""
    x, y = _deviations(x, codes), _deviations(y, codes)
    scale = math.sqrt(float(x @ x)) * math.sqrt(float(y @ y))
    return float(x @ y) / scale if scale > 0 else 0.0


def _deviations(values: np.ndarray, codes: np.ndarray) -> np.ndarray:
    values = values / (np.abs(values).max() or 1.0)
    means = np.bincount(codes, weights=values) / np.maximum(np.bincount(codes), 1)
    return values - means[codes]


def picture_of_pair(
    table: Table, pair: Pair, rng: np.random.Generator, target: str | None = None, groups: str | None = None
) -> Picture:
    """Draw two columns against each other: points, densities by category, or frequencies by category.

    The target is on the vertical axis. Points are coloured by the column `groups`, or by a categorical
    target.
    """
    a, b = (pair.b, pair.a) if pair.a == target else (pair.a, pair.b)
    ordered = [name for name in (a, b) if not table.column(name).is_category]
    if len(ordered) == 2:
        if groups is None and target is not None and table.column(target).is_category:
            groups = target
        return _points(table, a, b, pair, rng, groups)
    if len(ordered) == 1:
        return _by_category(table, ordered[0], b if ordered[0] == a else a, pair)
    return _frequencies(table, a, b, pair)


def picture_of_strengths(table: Table, pairs: list[Pair], most: int) -> tuple[Picture, ...]:
    """Draw the strengths of all pairs as a matrix, ordered so that dependent columns are neighbours."""
    names = list(dict.fromkeys(name for pair in pairs for name in (pair.a, pair.b)))
    if len(names) < 3:
        return ()
    names = names[:most]
    index = {name: i for i, name in enumerate(names)}
    strengths = np.full((len(names), len(names)), np.nan)  # of a date and its month there is none
    for pair in pairs:
        if pair.a in index and pair.b in index:
            i, j = index[pair.a], index[pair.b]
            strengths[i, j] = strengths[j, i] = pair.strength
    order = _linkage_order(np.nan_to_num(strengths))
    names, strengths = [names[i] for i in order], strengths[np.ix_(order, order)]
    size = len(names)
    with canvas(width=min(2.6 + 0.42 * size, 9.0), height=min(1.6 + 0.36 * size, 8.0)) as (figure, ax):
        mesh = ax.imshow(strengths, cmap="Blues", vmin=0, vmax=1, aspect="auto")
        labels = [shortened(n) for n in names]
        ax.set_xticks(range(size), labels, rotation=45, ha="right", rotation_mode="anchor")
        ax.set_yticks(range(size), labels)
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
        for (i, j), strength in np.ndenumerate(strengths) if size <= 14 else ():
            if np.isfinite(strength):
                shade = "white" if strength > 0.6 else "0.25"
                style = {"ha": "center", "va": "center", "color": shade, "fontsize": 8}
                ax.text(j, i, f"{strength:.2f}", **style)
        figure.colorbar(mesh, ax=ax, label="strength", shrink=0.8)
        caption = "Strength of dependence of each pair, columns that depend on each other side by side."
        if len(index) < len(table.names("number", "category", "boolean", "date")):
            caption += f" The {size} columns of the strongest pairs are shown."
        alt = f"matrix of the strengths of {size} columns"
        return (picture_of(figure, alt=alt, caption=caption, wide=True),)


def _linkage_order(strengths: np.ndarray) -> list[int]:
    """Return an order of columns with strong pairs next to each other (average linkage)."""
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    distances = 1.0 - strengths
    np.fill_diagonal(distances, 0.0)
    tree = linkage(squareform(distances, checks=False), "average", optimal_ordering=True)
    return [int(i) for i in leaves_list(tree)]


def _points(
    table: Table, a: str, b: str, pair: Pair, rng: np.random.Generator, groups: str | None
) -> Picture:
    rows = table.frame[[a, b]].dropna()
    rows = rows.iloc[sampled(np.arange(len(rows)), MAX_POINTS, rng)]
    style: dict[str, Any] = {"ms": 2.6, "mew": 0, "alpha": 0.5 if len(rows) > 200 else 0.75, "ls": ""}
    with canvas(width=3.6, height=2.9 + 0.3 * (groups is not None)) as (figure, ax):
        if groups is None:
            ax.plot(rows[a], rows[b], marker="o", color=COLOURS[0], **style)
        else:
            _coloured(ax, table, rows, groups, style)
            figure.legend(loc="outside upper center", ncols=3, frameon=False, fontsize=7.5, markerscale=2)
        ax.set(xlabel=shortened(a), ylabel=shortened(b))
        if "date" in (table.column(a).kind, table.column(b).kind):
            figure.autofmt_xdate()
        else:
            ax.locator_params(nbins=5)
        shown = f", {len(rows):,} rows shown" if len(rows) < pair.n else ""
        by = f", coloured by {groups}" if groups is not None else ""
        return _finished(figure, f"{a} and {b}", pair, by + shown, pixels=len(rows) > 1000)


def _coloured(ax: Any, table: Table, rows: Any, groups: str, style: dict[str, Any]) -> None:
    """Draw points in the colours of their groups, those of rare groups in grey."""
    style = {**style, "alpha": 0.75}
    of_row = table.frame.loc[rows.index, groups]
    levels = [name for name, _ in table.column(groups).counts[:MAX_CLASSES]]
    a, b = rows.columns
    rare = rows[~of_row.isin(levels)]
    if len(rare):
        ax.plot(rare[a], rare[b], marker="o", color="0.6", label="others", **style)
    for k, level in enumerate(levels):
        some = rows[of_row == level]
        ax.plot(some[a], some[b], marker="o", color=COLOURS[k], label=legend_label(shortened(level)), **style)


def _by_category(table: Table, number: str, category: str, pair: Pair) -> Picture:
    """Draw the density of the number for each of the most frequent categories, one above the other."""
    frame = table.frame[[number, category]].dropna()
    levels = _shown_levels(table, category)
    groups = [(level, _as_numbers(frame.loc[frame[category] == level, number])) for level in levels]
    groups = [(level, values) for level, values in groups if len(values)]
    every = np.concatenate([values for _, values in groups])
    low, high, _ = view_limits(every)
    x = np.linspace(low - 0.08 * (high - low), high + 0.08 * (high - low), 200)
    tall = 0.42 if len(groups) <= MAX_CLASSES else 0.24
    with canvas(width=3.6, height=max(1.8, 0.8 + tall * len(groups))) as (figure, ax):
        for i, (_, values) in enumerate(groups):
            _ridge(ax, x, values, -i, COLOURS[i % 6])
        ax.set_yticks([-i for i in range(len(groups))], [shortened(level) for level, _ in groups])
        ax.tick_params(axis="y", length=0)
        ax.spines["left"].set_visible(False)
        ax.set_title(f"{shortened(number)} by {shortened(category)}", fontsize=9, loc="left")
        if table.column(number).kind == "date":
            ax.xaxis.axis_date()
            figure.autofmt_xdate()
        hidden = len(table.column(category).counts) - len(groups)
        shown = f", without {number_of(hidden, 'rarer category', 'rarer categories')}" if hidden else ""
        return _finished(figure, f"{number} by {category}", pair, shown)


def _shown_levels(table: Table, category: str) -> list[str]:
    """Return the most frequent categories, or all that are in an order, as months are."""
    column = table.column(category)
    if column.levels and len(column.levels) <= MAX_LEVELS:
        return list(column.levels)
    return [name for name, _ in column.counts[:MAX_CLASSES]]


def _ridge(ax: Any, x: np.ndarray, values: np.ndarray, base: float, colour: str) -> None:
    """Draw one density on its base line, or ticks if there are too few values."""
    if len(np.unique(values)) < 5:
        ax.plot(values, np.full(len(values), base + 0.1), "|", ms=8, color=colour)
        return
    height, _ = density_of(values, None, x)
    height = height / (height.max() or 1.0)  # all values may be outside the limits
    ax.fill_between(x, base, base + 0.85 * height, color=colour, alpha=0.45, lw=0)
    ax.plot(x, base + 0.85 * height, color=colour, lw=1.2)
    ax.plot([np.median(values)] * 2, [base, base + 0.3], color="0.15", lw=1.2)


def _frequencies(table: Table, a: str, b: str, pair: Pair) -> Picture:
    """Draw the frequencies of the categories of b for each category of a."""
    frame = table.frame[[a, b]].dropna()
    rows = _shown_levels(table, a) if table.column(a).levels else []
    rows = rows or [name for name, _ in table.column(a).counts[: 2 * MAX_CLASSES]]
    parts = [name for name, _ in table.column(b).counts[:MAX_CLASSES]]
    with canvas(width=3.6, height=max(1.9, 1.15 + 0.24 * len(rows))) as (figure, ax):
        left = np.zeros(len(rows))
        of_row = [frame.loc[frame[a] == row, b] for row in rows]
        for k, part in enumerate(parts):
            share = np.array([float((given == part).mean()) if len(given) else 0.0 for given in of_row])
            style = {"color": COLOURS[k % 8], "height": 0.75, "label": legend_label(shortened(part))}
            ax.barh(range(len(rows)), share, left=left, **style)
            left += share
        if (left < 1 - 1e-9).any():
            ax.barh(range(len(rows)), 1 - left, left=left, color="0.85", height=0.75, label="others")
        ax.set_yticks(range(len(rows)), [shortened(row) for row in rows])
        ax.invert_yaxis()
        ax.xaxis.set_major_formatter(lambda v, _: percent_text(v))
        ax.set_ylabel(shortened(a))
        figure.legend(title=shortened(b), loc="outside lower center", ncols=3, frameon=False, fontsize=7.5)
        return _finished(figure, f"shares of {b} by {a}", pair, "")


def _finished(figure: Any, what: str, pair: Pair, more: str, *, pixels: bool = False) -> Picture:
    text = f"{what}: strength {pair.strength:.2f}{_with_correlation(pair)}"
    return picture_of(figure, alt=text, caption=f"{text}{more}", pixels=pixels)


def _as_numbers(series: Any) -> np.ndarray:
    if series.dtype.kind == "M":
        from matplotlib.dates import date2num

        return np.asarray(date2num(series.to_numpy()))
    return np.asarray(series.to_numpy(dtype=float))
