"""Overview of a table: kinds of columns, missing entries, duplicates, and marginal distributions."""

import math
from itertools import pairwise
from typing import Any

import numpy as np

from tractable.arrays.limits import is_squarable
from tractable.data.names import number_of
from tractable.plotting.style import COLOURS, legend_label
from tractable.report.candidates import is_skewed
from tractable.report.page import (
    Grid,
    Picture,
    Section,
    canvas,
    number_text,
    percent_text,
    picture_of,
    shortened,
)
from tractable.report.rows import copied_rows, deduplicated, equal_rows, listed
from tractable.report.table import MAX_DISTINCT, Column, Table
from tractable.report.time_order import TimeOrder, time_order

#: Columns with a picture, and columns that are named in a sentence.
MAX_PICTURES, FEW = 24, 4

#: Kinds of columns in words, singular and plural.
KIND_WORDS = {
    "number": ("of numbers", "of numbers"),
    "category": ("of categories", "of categories"),
    "boolean": ("of truth values", "of truth values"),
    "date": ("of dates", "of dates"),
    "text": ("of free text", "of free text"),
    "constant": ("constant", "constant"),
    "empty": ("empty", "empty"),
    "identifier": ("that names the rows", "that name the rows"),
}

#: Categories with a bar of their own.
MAX_BARS = 10

#: Columns that are drawn over time, and units of a panel that have a colour each.
MAX_SERIES, MAX_LINES = 6, 8

#: A value that makes this share of a column has a bar of its own, beside the density of the others.
MIN_SPIKE = 0.2

#: Numbers of at most so many values, most of them repeated, are drawn as plain bars, of a least width.
MAX_HEAPS, MIN_BAR = 40, 0.008

#: A bar that is so many times as high as the next is cut off, so that the others can be seen.
MAX_RATIO = 5.0

#: Numbers with fewer values than this are drawn as bars, or as points if there are few rows.
FEW_VALUES, MAX_DOTS = 8, 30

#: From so many values on the bandwidth follows the improved Sheather-Jones rule.
MANY_VALUES = 100

#: Rows of each number on average whose heaps are not chance, and how much larger a bandwidth is without them.
MANY_COPIES, HEAP_FACTOR = 10, 5.0

#: The share of numbers that are whole if they are mostly so.
MOSTLY = 0.8

#: The normal quantile of bands and intervals of 90 %.
Z = 1.6448536269514722


def section(table: Table, *, target: str | None = None, rng: np.random.Generator) -> Section:  # noqa: ARG001
    """Describe each column, the target first."""
    shown = sorted(table.columns, key=lambda column: column.name != target)
    drawable = [column for column in shown if column.is_number or column.is_category]
    pictured = sorted(drawable, key=lambda column: (column.name != target, column.is_category))[:MAX_PICTURES]
    few = f"{len(pictured)} of {len(drawable)} columns are pictured, numbers first."
    once = deduplicated(table)  # copies would make the bandwidth too small
    pictures = [_column_picture(once, column) for column in pictured]
    times = time_order(table)
    series = () if times is None or not times.correlations else (_series_picture(table, times),)
    drawn = [*(picture for picture in pictures if picture is not None), *series]
    return Section(
        key="overview",
        title="What is in the table",
        done=_done(table, once, pictured),
        meaning=_meaning(table) + _repeats(table) + _in_time(times),
        headline=_gaps(table),
        assumptions=(
            "Rows are independent draws, so that bands and intervals show what chance alone would change; "
            "densities are smooth at the scale of the bandwidth; the kind of a column is inferred from its "
            "entries and may be wrong."
        ),
        code=_code(once, pictured),
        pictures=tuple(drawn),
        tables=(_columns_grid(table, shown),),
        notes=() if len(pictured) == len(drawable) else (few,),
        findings=_findings(table),
    )


def _done(table: Table, once: Table, pictured: list[Column]) -> str:
    counted = "All entries were counted, and the kind of each column was inferred from them. "
    which = "different rows" if once is not table else "rows that are kept"
    sampled = f" (of the {len(once.frame):,} {which})" if once.is_sample else ""
    numbers = [column for column in pictured if column.is_number]
    smooth = [column for column in numbers if _shows_density(once, column)]
    if smooth:
        counted += (
            f"Numbers{sampled} are smoothed by a kernel density, whose bandwidth is chosen by the improved "
            "Sheather-Jones rule (Silverman's for fewer than 100 values), from each number once where many "
            "are equal by chance, and is not below the step of rounded numbers; the band holds each height "
            "with 90% probability, and grey bars are a histogram. "
        )
    if len(smooth) < len(numbers):
        counted += "Numbers of few values are shown as they are. "
    if any(column.is_category for column in pictured):
        counted += "Categories are counted, with intervals of 90% for their shares."
    return counted.strip()


def _meaning(table: Table) -> str:
    by_kind = {kind: table.names(kind) for kind in KIND_WORDS}
    parts = [f"{len(names)} {KIND_WORDS[kind][len(names) > 1]}" for kind, names in by_kind.items() if names]
    kind, first = next((kind, len(names)) for kind, names in by_kind.items() if names)
    if kind not in ("constant", "empty"):  # the others need not say that they are columns
        parts[0] = parts[0].replace(" ", " column " if first == 1 else " columns ", 1)
    sentences = [f"{number_of(table.n_rows, 'row')}; {listed(parts, len(parts))}."]
    sentences.append(_gaps(table) or "No entry is missing.")
    useless = [*by_kind["constant"], *by_kind["empty"]]
    if useless:
        sentences.append(f"Constant or empty columns: {listed(useless, FEW)}.")
    return " ".join(sentences)


def _gaps(table: Table) -> str:
    """Return in which columns entries are missing, those with most first; nothing if none is."""
    gaps = sorted((c for c in table.columns if c.n_missing), key=lambda c: -c.n_missing)
    if not gaps:
        return ""
    shown = FEW if len(gaps) > FEW + 1 else FEW + 1
    worst = [f"{c.name} ({_percent(c.n_missing / table.n_rows)})" for c in gaps[:shown]]
    more = [f"{len(gaps) - shown} more"] if len(gaps) > shown else []
    return f"Entries are missing in {listed([*worst, *more], FEW + 1)}."


def _percent(share: float) -> str:
    """Return a share in percent, never 0 where there is one."""
    return f"{share:.1%}" if share >= 0.0005 else "<0.1%"


def _repeats(table: Table) -> str:
    """Return how many rows have the same entries as an earlier one, with a warning if they are copies."""
    equal, copies = int(equal_rows(table).sum()), int(copied_rows(table).sum())
    if not equal:
        return ""
    kept = number_of(len(table.frame), "row")
    among = f" of the {kept} that are kept" if table.is_sample else f" of {kept}"
    aside = ", the columns that name rows aside" if table.names("identifier") else ""
    has = "has" if equal == 1 else "have"
    said = f"{equal:,}{among} {has} the same entries as an earlier row{aside}"
    if not copies:
        return f" {said}, as may be by chance where there are few different values."
    more = " In the whole table there will be more." if table.is_sample else ""
    return (
        f"\nBeware of copies. {said}, more than chance would make.{more} Sections that assume independent "
        "rows use each once and say so; if the rows are not copies, what distinguishes them is not in the "
        "table."
    )


def _in_time(times: TimeOrder | None) -> str:
    """Return a warning if neighbouring rows are alike."""
    if times is None or not times.correlations:
        return ""
    names = sorted(times.correlations, key=lambda name: -times.correlations[name])
    among = f" in {names[0]}" if len(names) > 1 else ""
    return (
        f"\nBeware of time. {times.neighbours} are alike in "
        f"{listed(names, FEW)} (correlation {times.correlations[names[0]]:.2f}{among}). They say less "
        "than as many independent rows would: bands, intervals and tests are too sure."
    )


def _series_picture(table: Table, times: TimeOrder) -> Picture:
    """Draw the columns that depend on time as lines over it."""
    names = sorted(times.correlations, key=lambda name: -times.correlations[name])[:MAX_SERIES]
    frame = table.frame.iloc[times.order]
    entries = frame[times.column]
    t = entries.to_numpy() if table.column(times.column).kind == "date" else entries.to_numpy(dtype=float)
    units = np.zeros(len(frame), dtype=int) if times.units is None else times.units[times.order]
    n_units, names_of_units = int(units.max()) + 1, []
    if n_units <= MAX_LINES:
        first = [int(np.argmax(units == k)) for k in range(n_units)]
        names_of_units = [
            "" if times.unit is None else shortened(str(frame[times.unit].iloc[i])) for i in first
        ]
    with canvas(rows=len(names), width=9.0, height=0.7 + 1.1 * len(names), sharex=True, squeeze=False) as (
        figure,
        axes,
    ):
        for ax, name in zip(axes[:, 0], names, strict=True):
            _lines(ax, t, frame[name].to_numpy(dtype=float), units, names_of_units)
            ax.set_title(shortened(name), fontsize=9, loc="left", fontweight="bold")
            ax.locator_params(axis="y", nbins=4)
        axes[-1, 0].set_xlabel(times.column)
        if table.column(times.column).is_year:
            axes[-1, 0].locator_params(axis="x", integer=True)
        caption = "Columns over time."
        if times.unit is not None:
            caption = f"Columns over time, a line for each {times.unit}."
        if len(names_of_units) > 1:
            handles, labels = axes[0, 0].get_legend_handles_labels()
            place = {"loc": "outside upper center", "ncols": 8, "frameon": False, "fontsize": 7.5}
            figure.legend(handles, labels, **place)
        return picture_of(figure, alt=f"{listed(names)} over {times.column}", caption=caption, wide=True)


def _lines(ax: Any, t: np.ndarray, x: np.ndarray, units: np.ndarray, names: list[str]) -> None:
    """Draw a line for each unit of a panel, in colours if they are few; `names` are those of few."""
    for k in np.unique(units):
        mine = units == k
        style = {"color": COLOURS[k % len(COLOURS)], "label": legend_label(names[k])} if names else {}
        ax.plot(t[mine], x[mine], **{"color": COLOURS[0], "lw": 1, "alpha": 1.0 if names else 0.4, **style})


def _columns_grid(table: Table, shown: list[Column]) -> Grid:
    rows = tuple(
        (
            column.name,
            column.kind,
            f"{column.n_missing:,} ({_percent(column.n_missing / table.n_rows)})"
            if column.n_missing
            else "0",
            f">{MAX_DISTINCT:,}" if column.n_distinct > MAX_DISTINCT else f"{column.n_distinct:,}",
            _values(table, column),
            column.note if column.kind != "constant" else "",
        )
        for column in shown
    )
    return Grid(title="Columns", head=("column", "kind", "missing", "different", "values", "note"), rows=rows)


def _values(table: Table, column: Column) -> str:
    """Return the range and median of numbers, the most frequent categories, or the constant value."""
    if column.is_number:
        middle = float(np.nanmedian(table.frame[column.name]))
        ends = (math.nan if end is None else end for end in (column.low, column.high))
        low, high, median = (number_text(x, 6, commas=not column.is_year) for x in (*ends, middle))
        return f"{low} to {high}, median {median}"
    if column.is_category:
        some = ", ".join(f"{shortened(name, 24)} ({count:,})" for name, count in column.counts[:FEW])
        return some + (", …" if len(column.counts) > FEW else "")
    return column.note if column.kind == "constant" else ""


def _code(table: Table, pictured: list[Column]) -> str:
    lines = ["for column in table.columns:", "    print(column.name, column.kind, column.n_missing)"]
    number = next((c for c in pictured if c.is_number and _shows_plain_density(table, c)), None)
    category = next((c for c in pictured if c.is_category), None)
    if number is not None:
        model = _smoothed(_values_of(table, number.name), number.low)
        bounds = "" if model.bounds is None else f", bounds={model.bounds!r}"
        lines += [
            "",
            f"x = table.frame[[{number.name!r}]].dropna()",
            f"density = tractable.KernelDensity(bandwidth={model.bandwidth_[0]:.6g}{bounds}).fit(x)",
            "tractable.plot(density, data=x)",
        ]
    if category is not None:
        lines += ["", f"print(table.column({category.name!r}).counts)"]
    return table.code + "\n" + "\n".join(lines) + "\n"


def _findings(table: Table) -> dict[str, Any]:
    return {
        "kinds": {column.name: column.kind for column in table.columns},
        "missing": {column.name: column.n_missing for column in table.columns if column.n_missing},
        "equal_rows": int(equal_rows(table).sum()),
        "copies": int(copied_rows(table).sum()),
    }


def _column_picture(table: Table, column: Column) -> Picture | None:
    """Draw the marginal distribution of a column; None if it has no values."""
    if column.is_category:
        known = table.n_rows - column.n_missing
        return _bars(column.name, list(column.counts), known, levels=column.levels)
    values = _values_of(table, column.name)
    if len(values) == 0 or not _is_drawable(values):
        return None
    if _shows_density(table, column):
        return _heaps(column, values) if _is_heaped(values) else _curve(column, values)
    if len(values) <= MAX_DOTS:
        return _dots(column.name, values)
    shown, counts = np.unique(values, return_counts=True)
    bars = [(number_text(v, 6), int(n)) for v, n in zip(shown, counts, strict=True)]
    levels = tuple(text for text, _ in bars)
    values_of = {text: (float(v), float(v)) for text, v in zip(levels, shown, strict=True)}
    return _bars(column.name, bars, len(values), "different values", levels=levels, standing_for=values_of)


def _shows_density(table: Table, column: Column) -> bool:
    """Return whether a column has numbers of enough values for a density."""
    if not column.is_number:
        return False
    values = _values_of(table, column.name)
    return _is_drawable(values) and len(np.unique(values)) >= FEW_VALUES


def _shows_plain_density(table: Table, column: Column) -> bool:
    """Return whether a column is drawn as one density on a linear axis."""
    if not _shows_density(table, column):
        return False
    values = _values_of(table, column.name)
    return not (_is_heaped(values) or is_skewed(values[values != 0.0]) or spike(values))


def _is_drawable(values: np.ndarray) -> bool:
    """Return whether the squares of numbers neither overflow nor underflow."""
    largest = float(np.abs(values).max(initial=0.0))
    return largest == 0.0 or is_squarable(largest)


def _smoothed(values: np.ndarray, low: float | None = None) -> Any:
    """Return a kernel density of numbers.

    If the least number is between 0 and two bandwidths, 0 is a bound of the support.
    """
    from tractable.density import KernelDensity

    h = max(_bandwidth(values), _step(values))
    bounds = (0.0, None) if low is not None and 0.0 <= low < 2.0 * h else None
    return KernelDensity(bandwidth=h, bounds=bounds).fit(values[:, None])


def _bandwidth(values: np.ndarray) -> float:
    """Return the bandwidth by the improved Sheather-Jones rule, for fewer than 100 values by Silverman's.

    The rule takes heaps of equal numbers for narrow modes. Where it gives much more if each number counts
    once, and no number has many rows on average, heaps are chance, and that is the bandwidth.

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=400)
    >>> heaped = np.r_[x, np.full(40, 0.3)]  # as where 0.3 is a limit of the instrument
    >>> bool(_bandwidth(heaped) > 0.5 * _bandwidth(x))
    True
    """
    from tractable.density import KernelDensity

    def by(rule: str, x: np.ndarray) -> float:
        return float(KernelDensity(bandwidth=rule).fit(x[:, None]).bandwidth_[0])

    if len(values) < MANY_VALUES:
        return by("silverman", values)
    h, shown = by("isj", values), np.unique(values)
    if len(shown) == len(values) or len(values) >= MANY_COPIES * len(shown):
        return h
    once = min(by("isj" if len(shown) >= MANY_VALUES else "silverman", shown), by("silverman", values))
    return once if once > HEAP_FACTOR * h else h


def density_of(values: np.ndarray, low: float | None, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the density at x and its standard error, √(p(x) R(K) / (n h)) with R(K) = 1 / (2 √π)."""
    model = _smoothed(values, low)
    height = np.exp(model.score_samples(x[:, None]))
    error = np.sqrt(height / (2.0 * math.sqrt(math.pi) * len(values) * float(model.bandwidth_[0])))
    return height, error


def _values_of(table: Table, name: str) -> np.ndarray:
    """Return the finite numbers of a column."""
    values = table.frame[name].to_numpy(dtype=float)
    return values[np.isfinite(values)]


def _step(values: np.ndarray) -> float:
    """Return the step between rounded numbers, 0 if most are different.

    Logarithms of whole numbers have larger steps where numbers are small: nine in ten numbers have one at
    most as large. Of numbers that are mostly whole, some of them with decimals, the step is 1.

    Examples
    --------
    >>> _step(np.repeat(np.arange(20) / 4.0, 3)), round(_step(np.log10(np.repeat([1.0, 2.0, 3.0], 9))), 2)
    (0.25, 0.3)
    >>> _step(np.r_[np.repeat(np.arange(20.0), 9), np.arange(20) + 0.4])
    1.0
    """
    shown, counts = np.unique(values, return_counts=True)
    if len(shown) > 0.7 * len(values) or len(shown) < 2:
        return 0.0
    gaps = np.diff(shown)
    nearest = np.minimum(np.append(gaps, np.inf), np.insert(gaps, 0, np.inf))
    whole = float(counts[shown == np.rint(shown)].sum() >= MOSTLY * len(values))
    return max(float(np.quantile(np.repeat(nearest, counts), 0.9)), whole)


def _is_heaped(values: np.ndarray) -> bool:
    """Return whether numbers are of few values, most of them repeated."""
    n_values = len(np.unique(values))
    return n_values <= MAX_HEAPS and len(values) >= 5 * n_values


def _heaps(column: Column, values: np.ndarray) -> Picture:
    """Draw the frequency of each number as a bar."""
    name = column.name
    shown, counts = np.unique(values, return_counts=True)
    width = max(0.8 * float(np.diff(shown).min()), MIN_BAR * float(np.ptp(shown)))
    with canvas(width=3.6, height=2.3) as (figure, ax):
        drawn = ax.bar(shown, counts / len(values), width=width, color=COLOURS[0])
        _finish(ax, name)
        caption = f"{_moments_text(column, values)}; a bar for each of {len(shown)} values"
        most, second = np.sort(counts)[[-1, -2]] / len(values)
        if most > MAX_RATIO * second:
            ax.set_ylim(0.0, 2.0 * second)
            caption += f"; {most:.0%} are {number_text(shown[counts.argmax()])}, a bar that is cut off"
        bars = _named(drawn, [(float(v), float(v)) for v in shown])
        return picture_of(
            figure, alt=f"frequencies of {name}: {caption}", caption=caption, bars=bars, column=name
        )


def _moments_text(column: Column, values: np.ndarray) -> str:
    mean, spread = number_text(values.mean(), commas=not column.is_year), number_text(values.std(ddof=1))
    return f"mean {mean}, standard deviation {spread}, n = {len(values):,}"


def _finish(ax: Any, name: str) -> None:
    ax.set_title(shortened(name), fontsize=10, loc="left", fontweight="bold")
    ax.set_ylim(bottom=0)
    ax.set_yticks([])
    ax.spines["left"].set_visible(False)
    if ax.get_xscale() == "linear":
        ax.locator_params(axis="x", nbins=6)


def spike(values: np.ndarray) -> tuple[float, float] | None:
    """Return the most frequent value and its share, if it is large and there are many others.

    Examples
    --------
    >>> spike(np.r_[np.zeros(50), np.arange(1.0, 51.0)]), spike(np.arange(100.0))
    ((0.0, 0.5), None)
    """
    shown, counts = np.unique(values, return_counts=True)
    share = float(counts.max() / len(values))
    often = share >= MIN_SPIKE and len(shown) >= FEW_VALUES
    return (float(shown[counts.argmax()]), share) if often else None


def _curve(column: Column, values: np.ndarray) -> Picture:
    """Draw a density with its band: of logarithms if numbers are skewed, with a bar at a spike."""
    found = spike(values)
    rest = values if found is None else values[values != found[0]]
    if len(np.unique(rest)) < FEW_VALUES:
        found, rest = None, values
    logged = is_skewed(rest[rest != 0.0])
    zeros = int(np.sum(rest == 0.0)) if logged else 0
    rest = rest[rest != 0.0] if logged else rest
    z = np.log10(rest) if logged else rest
    low, high, outside = view_limits(z)
    margin = 0.08 * (high - low)
    start = max(low - margin, 0.0) if low >= 0 and not logged else low - margin
    x = np.linspace(start, high + margin, 240)
    height, error = density_of(z, None if logged else column.low, x)
    inside = z[(z >= low) & (z <= high)]
    scale = len(rest) / len(values)  # the density of all rows, the spike aside
    with canvas(width=3.6, height=2.3) as (figure, ax):
        bins = int(np.clip(math.ceil(2.0 * len(inside) ** (1.0 / 3.0)), 6, 40))
        counts, edges = np.histogram(inside, bins=bins, range=(low, high))

        def at(v: np.ndarray) -> np.ndarray:
            return 10.0**v if logged else v

        ax.stairs(scale * counts / (len(rest) * np.diff(edges)), at(edges), fill=True, color="0.88")
        lower, upper = np.maximum(height - Z * error, 0), height + Z * error
        ax.fill_between(at(x), scale * lower, scale * upper, color=COLOURS[0], alpha=0.25, lw=0)
        ax.plot(at(x), scale * height, color=COLOURS[0], lw=1.5)
        if logged:
            ax.set_xscale("log")
        if found is not None and not (logged and found[0] <= 0.0):
            ax.plot([found[0]] * 2, [0.0, ax.get_ylim()[1]], color=COLOURS[5], lw=3)
        _finish(ax, column.name)
        caption = _moments_text(column, values)
        if found is not None:
            of = " (not drawn: no logarithm)" if logged and found[0] <= 0.0 else ", the bar"
            caption += f"; {found[1]:.0%} are {number_text(found[0])}{of}"
        if logged:
            caption += f"; logarithmic axis{f' without {zeros:,} that are 0' if zeros else ''}"
        if outside:
            caption += f"; {number_of(outside, 'far value is', 'far values are')} beyond the picture"
        ends = [(float(a), float(b)) for a, b in pairwise(at(edges))]
        bars = _named(_targets(ax, ends), ends)
        return picture_of(
            figure,
            alt=f"density of {column.name}: {caption}",
            caption=caption,
            bars=bars,
            column=column.name,
        )


def _targets(ax: Any, ends: list[tuple[float, float]]) -> Any:
    """Return what is to be clicked for the rows of each bin: bars that are not seen, as high as the axes."""
    height = ax.get_ylim()[1]
    low, high = np.array(ends).T
    view = ax.get_xlim()
    found = ax.bar(low, height, width=high - low, align="edge", fc="none", ec="none")
    ax.set(xlim=view, ylim=(0.0, height))
    return found


def _named(drawn: Any, bars: list[Any]) -> tuple[Any, ...]:
    """Name the bars of a drawing, so that the page finds them, and return what they stand for."""
    for i, (patch, _) in enumerate(zip(drawn, bars, strict=False)):
        patch.set_gid(f"bar-{i}")
    return tuple(bars)


def view_limits(values: np.ndarray) -> tuple[float, float, int]:
    """Return the range to draw, two middle 98 % ranges beyond them at most, and the values outside it."""
    low, high = float(values.min()), float(values.max())
    a, b = np.quantile(values, [0.01, 0.99])
    if b > a:
        low, high = max(low, a - 2.0 * (b - a)), min(high, b + 2.0 * (b - a))
    return low, high, int(((values < low) | (values > high)).sum())


def _dots(name: str, values: np.ndarray) -> Picture:
    """Draw each number as a point, equal ones stacked."""
    shown, counts = np.unique(values, return_counts=True)
    x, height = np.repeat(shown, counts), np.concatenate([np.arange(count) for count in counts])
    with canvas(width=3.6, height=min(1.1 + 0.12 * counts.max(), 2.6)) as (figure, ax):
        ax.plot(x, height, "o", ms=6, mew=0, alpha=0.8, color=COLOURS[0])
        ax.set_title(shortened(name), fontsize=10, loc="left", fontweight="bold")
        ax.set_yticks([])
        ax.set_ylim(-0.8, max(counts.max(), 1.8) - 0.2)
        ax.spines["left"].set_visible(False)
        ax.margins(x=0.08)
        ax.locator_params(axis="x", nbins=6)
        caption = number_of(len(values), "value")
        if len(shown) < len(values):
            caption += f", {len(shown)} of them different"
        words = ", ".join(map(number_text, values[:5])) + (", …" if len(values) > 5 else "")
        return picture_of(figure, alt=f"points of {name}: {words}", caption=caption)


def _bars(
    name: str,
    counts: list[tuple[str, int]],
    n: int,
    things: str = "categories",
    *,
    levels: tuple[str, ...] = (),
    standing_for: dict[str, Any] | None = None,
) -> Picture:
    """Draw the frequencies of categories, or of few numbers, with Wilson intervals of 90 %."""
    most = MAX_BARS if len(counts) > MAX_BARS + 1 else len(counts)  # no bar for "1 other"
    shown, rest = _in_order(counts[:most], levels), sum(count for _, count in counts[most:])
    labels = [shortened(label) for label, _ in shown]
    numbers = np.array([count for _, count in shown], dtype=float)
    if rest:
        labels.append(f"{len(counts) - most} others")
        numbers = np.append(numbers, rest)
    low, high = _wilson(numbers, n)
    positions, share = np.arange(len(labels))[::-1], numbers / n
    with canvas(width=3.6, height=max(1.3, 0.75 + 0.2 * len(labels))) as (figure, ax):
        drawn = ax.barh(positions, share, color=COLOURS[4], height=0.72)
        ax.hlines(positions, low, high, color=COLOURS[7], lw=1.2)
        ax.set_yticks(positions, labels)
        ax.tick_params(axis="y", length=0)
        ax.xaxis.set_major_formatter(lambda v, _: percent_text(v))
        ax.locator_params(axis="x", nbins=5)
        ax.set_title(shortened(name), fontsize=10, loc="left", fontweight="bold")
        words = ", ".join(f"{label} {part:.0%}" for label, part in zip(labels[:3], share[:3], strict=True))
        caption = f"{len(counts)} {things}, n = {n:,}"
        bars = _named(drawn, [(standing_for or {}).get(label, label) for label, _ in shown])
        return picture_of(figure, alt=f"shares of {name}: {words}", caption=caption, bars=bars, column=name)


def _in_order(counts: list[tuple[str, int]], levels: tuple[str, ...]) -> list[tuple[str, int]]:
    """Return categories in their order, if they have one."""
    return sorted(counts, key=lambda pair: levels.index(pair[0])) if levels else counts


def _wilson(counts: np.ndarray, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return Wilson's interval of frequencies: those p for which |p̂ - p| ≤ z √(p (1 - p) / n)."""
    p, z2 = counts / n, Z * Z
    centre = (p + z2 / (2 * n)) / (1 + z2 / n)
    half = Z * np.sqrt(p * (1 - p) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    return centre - half, centre + half
