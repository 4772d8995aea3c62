"""Pictures of pairs of columns: points, densities by category, shares, and the map of all strengths."""

from typing import Any

import numpy as np

from tractable.plotting.labels import legend_name
from tractable.plotting.style import COLOURS
from tractable.report.marginals import cut_name, density_of, view
from tractable.report.mutual_information import Pair
from tractable.report.section import Picture, canvas, picture_of
from tractable.report.table import Table

__all__ = ["picture_of_pair", "picture_of_strengths"]

#: Points of a scatter, and categories that are drawn.
MOST_POINTS = 2000
MOST_CLASSES = 6


def picture_of_pair(
    table: Table, pair: Pair, rng: np.random.Generator, target: str | None = None, groups: str | None = None
) -> Picture:
    """Draw two columns against each other, as their kinds allow; the target is what is told of.

    Points are coloured by a column of `groups`, or by the target where it has categories.
    """
    a, b = (pair.b, pair.a) if pair.a == target else (pair.a, pair.b)
    ordered = [name for name in (a, b) if not table.column(name).is_category]
    if len(ordered) == 2:
        groups = (
            target if groups is None and target is not None and table.column(target).is_category else groups
        )
        return _points(table, a, b, pair, rng, groups)
    if len(ordered) == 1:
        return _by_category(table, ordered[0], b if ordered[0] == a else a, pair)
    return _shares(table, a, b, pair)


def picture_of_strengths(table: Table, pairs: list[Pair], most: int) -> tuple[Picture, ...]:
    """Draw the strengths of all pairs as a map, columns that depend on each other next to each other."""
    names = list(dict.fromkeys(name for pair in pairs for name in (pair.a, pair.b)))
    if len(names) < 3:
        return ()
    names = names[:most]
    place = {name: i for i, name in enumerate(names)}
    strengths = np.eye(len(names))
    for pair in pairs:
        if pair.a in place and pair.b in place:
            i, j = place[pair.a], place[pair.b]
            strengths[i, j] = strengths[j, i] = pair.strength
    order = _beside(strengths)
    names, strengths = [names[i] for i in order], strengths[np.ix_(order, order)]
    size = len(names)
    with canvas(width=min(2.6 + 0.42 * size, 9.0), height=min(1.6 + 0.36 * size, 8.0)) as (figure, ax):
        mesh = ax.imshow(
            np.where(np.eye(size) > 0, np.nan, strengths), cmap="Blues", vmin=0, vmax=1, aspect="auto"
        )
        ax.set_xticks(
            range(size), [cut_name(n) for n in names], rotation=45, ha="right", rotation_mode="anchor"
        )
        ax.set_yticks(range(size), [cut_name(n) for n in names])
        ax.tick_params(length=0)
        ax.spines[:].set_visible(False)
        if size <= 14:
            for i in range(size):
                for j in range(size):
                    if i != j:
                        shade = "white" if strengths[i, j] > 0.6 else "0.25"
                        ax.text(
                            j,
                            i,
                            f"{strengths[i, j]:.2f}",
                            ha="center",
                            va="center",
                            color=shade,
                            fontsize=7.5,
                        )
        figure.colorbar(mesh, ax=ax, label="strength", shrink=0.8)
        caption = "Strength of dependence of each pair, columns that depend on each other side by side."
        if len(place) < len(set(table.names("number", "category", "boolean", "date"))):
            caption += f" The {size} columns of the strongest pairs are shown."
        return (
            picture_of(figure, alt=f"map of the strengths of {size} columns", caption=caption, wide=True),
        )


def _beside(strengths: np.ndarray) -> list[int]:
    """Return an order of columns that puts those of strong pairs next to each other (average linkage)."""
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    apart = 1.0 - strengths
    np.fill_diagonal(apart, 0.0)
    tree = linkage(squareform(apart, checks=False), "average", optimal_ordering=True)
    return [int(i) for i in leaves_list(tree)]


def _points(
    table: Table, a: str, b: str, pair: Pair, rng: np.random.Generator, groups: str | None
) -> Picture:
    rows = table.frame[[a, b]].dropna()
    if len(rows) > MOST_POINTS:
        rows = rows.iloc[np.sort(rng.choice(len(rows), MOST_POINTS, replace=False))]
    style: dict[str, Any] = {"ms": 2.6, "mew": 0, "alpha": 0.5 if len(rows) > 200 else 0.75, "ls": ""}
    with canvas(width=3.6, height=2.9 + 0.3 * (groups is not None)) as (figure, ax):
        if groups is None:
            ax.plot(rows[a], rows[b], marker="o", color=COLOURS[0], **style)
        else:
            _coloured(ax, table, rows, groups, style)
            figure.legend(loc="outside upper center", ncols=3, frameon=False, fontsize=7.5, markerscale=2)
        ax.set(xlabel=cut_name(a), ylabel=cut_name(b))
        if "date" in (table.column(a).kind, table.column(b).kind):
            figure.autofmt_xdate()
        else:
            ax.locator_params(nbins=5)
        shown = f", {len(rows):,} rows shown" if len(rows) < pair.n else ""
        by = f", coloured by {groups}" if groups is not None else ""
        return _finished(figure, f"{a} and {b}", pair, by + shown, pixels=len(rows) > 1000)


def _coloured(ax: Any, table: Table, rows: Any, groups: str, style: dict[str, Any]) -> None:
    """Draw points in the colour of their group, those of rare groups in grey."""
    style = {**style, "alpha": 0.75}
    of_row = table.frame.loc[rows.index, groups]
    levels = [name for name, _ in table.column(groups).counts[:MOST_CLASSES]]
    a, b = rows.columns
    rare = rows[~of_row.isin(levels)]
    if len(rare):
        ax.plot(rare[a], rare[b], marker="o", color="0.6", label="others", **style)
    for k, level in enumerate(levels):
        some = rows[of_row == level]
        ax.plot(some[a], some[b], marker="o", color=COLOURS[k], label=legend_name(cut_name(level)), **style)


def _by_category(table: Table, number: str, category: str, pair: Pair) -> Picture:
    """Draw a density of the number for each of the most frequent categories, one above the other."""
    frame = table.frame[[number, category]].dropna()
    levels = [name for name, _ in table.column(category).counts[:MOST_CLASSES]]
    groups = [(level, _as_numbers(frame.loc[frame[category] == level, number])) for level in levels]
    groups = [(level, values) for level, values in groups if len(values)]
    every = np.concatenate([values for _, values in groups])
    low, high, _ = view(every)
    x = np.linspace(low - 0.08 * (high - low), high + 0.08 * (high - low), 200)
    with canvas(width=3.6, height=max(1.8, 0.8 + 0.42 * len(groups))) as (figure, ax):
        for i, (_, values) in enumerate(groups):
            _ridge(ax, x, values, -i, COLOURS[i % 6])
        ax.set_yticks([-i for i in range(len(groups))], [cut_name(level) for level, _ in groups])
        ax.tick_params(axis="y", length=0)
        ax.spines["left"].set_visible(False)
        ax.set_title(f"{cut_name(number)} by {cut_name(category)}", fontsize=9, loc="left")
        if table.column(number).kind == "date":
            ax.xaxis.axis_date()
            figure.autofmt_xdate()
        hidden = len(table.column(category).counts) - len(groups)
        shown = f", without {hidden} rarer categories" if hidden else ""
        return _finished(figure, f"{number} by {category}", pair, shown)


def _ridge(ax: Any, x: np.ndarray, values: np.ndarray, base: float, colour: str) -> None:
    """Draw one density standing on its line, or points where there are too few values for one."""
    if len(np.unique(values)) < 5:
        ax.plot(values, np.full(len(values), base + 0.1), "|", ms=8, color=colour)
        return
    height, _ = density_of(values, None, x)
    height = height / (height.max() or 1.0)  # all may be beyond the picture
    ax.fill_between(x, base, base + 0.85 * height, color=colour, alpha=0.45, lw=0)
    ax.plot(x, base + 0.85 * height, color=colour, lw=1.2)
    ax.plot([np.median(values)] * 2, [base, base + 0.3], color="0.15", lw=1.2)


def _shares(table: Table, a: str, b: str, pair: Pair) -> Picture:
    """Draw, for each category of a, the shares of the categories of b."""
    frame = table.frame[[a, b]].dropna()
    rows = [name for name, _ in table.column(a).counts[: 2 * MOST_CLASSES]]
    parts = [name for name, _ in table.column(b).counts[:MOST_CLASSES]]
    with canvas(width=3.6, height=max(1.9, 1.15 + 0.24 * len(rows))) as (figure, ax):
        left = np.zeros(len(rows))
        of_row = [frame.loc[frame[a] == row, b] for row in rows]
        for k, part in enumerate(parts):
            share = np.array([float((given == part).mean()) if len(given) else 0.0 for given in of_row])
            ax.barh(
                range(len(rows)),
                share,
                left=left,
                color=COLOURS[k % 8],
                height=0.75,
                label=legend_name(cut_name(part)),
            )
            left += share
        if (left < 1 - 1e-9).any():
            ax.barh(range(len(rows)), 1 - left, left=left, color="0.85", height=0.75, label="others")
        ax.set_yticks(range(len(rows)), [cut_name(row) for row in rows])
        ax.invert_yaxis()
        ax.xaxis.set_major_formatter(lambda v, _: f"{v:.0%}")
        ax.set_ylabel(cut_name(a))
        figure.legend(title=cut_name(b), loc="outside lower center", ncols=3, frameon=False, fontsize=7.5)
        return _finished(figure, f"shares of {b} by {a}", pair, "")


def _finished(figure: Any, what: str, pair: Pair, more: str, *, pixels: bool = False) -> Picture:
    said = f"strength {pair.strength:.2f}"
    if pair.correlation is not None:
        said += f", correlation {pair.correlation:.2f} ({pair.low:.2f} to {pair.high:.2f})"
    return picture_of(figure, alt=f"{what}: {said}", caption=f"{what}: {said}{more}", pixels=pixels)


def _as_numbers(series: Any) -> np.ndarray:
    if series.dtype.kind == "M":
        from matplotlib.dates import date2num

        return np.asarray(date2num(series.to_numpy()))
    return np.asarray(series.to_numpy(dtype=float))
