"""Maps of the rows: their first two principal components, and t-SNE, which keeps neighbours together."""

import warnings
from typing import Any

import numpy as np

from tractable.data.names import number_of
from tractable.density import GaussianDensity
from tractable.engines.principal_components import components_of
from tractable.manifold import TSNE
from tractable.metrics import trustworthiness
from tractable.plotting.style import COLOURS, legend, legend_label
from tractable.report.clusters import grouping_of
from tractable.report.mixtures import fitted_mixtures, membership
from tractable.report.page import (
    MARKERS,
    MAX_POINTS,
    MAX_VECTOR,
    Grid,
    Picture,
    Section,
    canvas,
    picture_of,
    shortened,
)
from tractable.report.rows import (
    ChosenRows,
    chosen_rows,
    code_head,
    deduplicated_rows,
    imports_for,
    listed,
    sampled,
    unused_note,
)
from tractable.report.table import Table
from tractable.statistics import Moments, ScatterFactor
from tractable.value import value

#: Rows and columns of the map, at most.
MAX_ROWS, MAX_COLUMNS = 5_000, 60

#: Rows of a map of neighbours, steps of its search, and the share of the variance a plane alone may show.
MIN_NEAR, MAX_NEAR, NEAR_STEPS, MAX_SHOWN = 50, 1_000, 500, 0.95

#: Neighbours of a row that are compared in a map and among the rows.
NEIGHBOURS = 10

#: The kinds of columns that are not used.
UNUSED = ("category", "boolean", "date", "text", "identifier")

#: Columns that are named for each direction, and directions in the table.
MAX_NAMED, MAX_DIRECTIONS = 4, 5

#: Directions in the scree plot, columns with an arrow, and categories with a colour.
MAX_BARS, MAX_ARROWS, MAX_VALUES = 20, 6, 10


@value
class PrincipalAxes:
    """The eigenvectors of a covariance, the largest variance first.

    Parameters
    ----------
    variances : array (d,)
        The eigenvalues: the variance along each direction.
    directions : array (d, d)
        One a column; of each the largest entry is positive.
    """

    variances: np.ndarray
    directions: np.ndarray

    @property
    def explained_variance_ratio(self) -> np.ndarray:
        """The fraction of the variance along each direction, (d,)."""
        return self.variances / self.variances.sum()


@value
class NeighbourMap:
    """A map by t-SNE of some rows, and how far the neighbours in it and in the plane are neighbours."""

    rows: np.ndarray  # (n,), their positions
    embedding: np.ndarray  # (n, 2)
    trust: float  # trustworthiness of the map
    trust_of_plane: float


def section(table: Table, *, target: str | None = None, rng: np.random.Generator) -> Section | None:
    """Return the principal components of the rows; None with fewer than two columns of numbers."""
    rows = chosen_rows(table, target or (), most_numbers=MAX_COLUMNS, most_categories=0)
    rows = deduplicated_rows(rows, table)
    if len(rows.numbers) < 2 or len(rows.frame) < 3:
        return None
    part = rows.part(MAX_ROWS)
    z, n_missing, axes = _standardised(part)
    scores = z @ axes.directions[:, :2]
    names = list(rows.numbers)
    # The variances of some columns are not above those of all: the bound holds for any choice of them.
    candidates = len([name for name in table.names("number") if name != target])
    chance = chance_variance(len(z), max(len(names), candidates))
    beyond = int((axes.variances > chance).sum())
    colours, by = _colours(table, part, target)
    near = neighbour_map(z, axes)
    return Section(
        key="map",
        title="A map of the rows",
        done=_done(rows, len(part), n_missing),
        meaning=_meaning(axes, names, beyond) + _near_text(near),
        assumptions=(
            "Differences count in standard deviations of each column, all columns alike, and relations "
            "between columns are straight lines; a plane hides what the other directions hold."
        )
        + (
            " In a map of neighbours distances between groups, and their sizes, mean nothing." if near else ""
        ),
        code=_code(table, rows, part, near),
        pictures=(
            _scree_picture(axes.explained_variance_ratio, chance / len(names)),
            _map_picture(scores, axes, names, colours, by, rng),
            *([] if near is None else [_near_picture(near, colours, by)]),
        ),
        tables=(_directions(axes, names),),
        headline=None if len(names) > 2 else "",
        notes=(
            *(note for note in rows.notes if "categories" not in note),
            *unused_note(table, *UNUSED, leave=target or ()),
        ),
        findings={
            "shares": axes.explained_variance_ratio[:MAX_DIRECTIONS].tolist(),
            "n_beyond_chance": beyond,
            "trustworthiness": None if near is None else [near.trust, near.trust_of_plane],
            "directions": [_main_columns(axes, names, j)[:MAX_NAMED] for j in range(2)],
        },
    )


def neighbour_map(z: np.ndarray, axes: PrincipalAxes) -> NeighbourMap | None:
    """Return a map of standardised rows by t-SNE; None of few rows, or where the plane shows nearly all."""
    if len(z) < MIN_NEAR or axes.explained_variance_ratio[:2].sum() > MAX_SHOWN:
        return None
    rows = np.sort(np.random.default_rng(0).permutation(len(z))[:MAX_NEAR])
    part = z[rows]
    embedding = TSNE(max_iter=NEAR_STEPS, random_state=0).fit_transform(part)
    plane = part @ axes.directions[:, :2]
    trust, of_plane = (trustworthiness(part, at, n_neighbors=NEIGHBOURS) for at in (embedding, plane))
    return NeighbourMap(rows=rows, embedding=embedding, trust=trust, trust_of_plane=of_plane)


def _near_text(near: NeighbourMap | None) -> str:
    if near is None:
        return ""
    return (
        f" The map of neighbours (t-SNE of {number_of(len(near.rows), 'row')}) puts rows side by side that "
        f"are alike in all columns. Its trustworthiness is {near.trust:.2f}, that of the plane "
        f"{near.trust_of_plane:.2f}, where 1 means that the {NEIGHBOURS} nearest rows on the map are nearest "
        "in the table."
    )


def why_not(table: Table, target: str | None) -> str:
    """Return why there is no map of a table."""
    rows = chosen_rows(table, target or (), most_numbers=MAX_COLUMNS, most_categories=0)
    if rows.numbers and len(deduplicated_rows(rows, table).frame) < 3:
        return "No map of the rows: it takes three different rows with a number."
    there = "1" if rows.numbers else "none"
    besides = " besides the target" if target else ""
    return f"No map of the rows: it takes two columns of numbers that vary{besides}, and there is {there}."


def _standardised(part: Any) -> tuple[np.ndarray, int, PrincipalAxes]:
    """Return standardised rows with missing entries imputed, the number of these, and the principal axes."""
    x = part.to_numpy(dtype=np.float64)
    z = (x - np.nanmean(x, axis=0)) / np.nanstd(x, axis=0)
    n_missing = int(np.isnan(z).sum())
    if not n_missing:
        return z, 0, principal_axes(Moments.of(z))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a nearly singular covariance is good enough for a map
        normal = GaussianDensity(tol=1e-6, max_iter=100).fit(z)
    covariance = np.asarray(normal.covariance_)
    return filled(z, normal.distribution_.mean, covariance), n_missing, principal_axes(covariance)


def _colours(table: Table, part: Any, target: str | None) -> tuple[Any, str]:
    """Return the values that rows are coloured by, and their name."""
    if target is not None:
        entries = table.frame[target].loc[part.index]
        return (entries if entries.dtype.kind == "f" else _frequent(entries)), target
    found = fitted_mixtures(table)
    if found is None:
        return None, ""
    import pandas as pd

    members = membership(found)
    if not grouping_of(table, None, found, members).natural:
        return None, ""
    labels = pd.Series(members.labels + 1, index=found.rows.frame.index)
    return _frequent(
        labels.reindex(part.index).map(lambda k: None if np.isnan(k) else str(int(k)))
    ), "cluster"


def _frequent(entries: Any) -> Any:
    """Return categories in order, those that are not among the most frequent as missing."""
    from pandas import CategoricalDtype

    values = entries.value_counts().index[:MAX_VALUES].tolist()
    numbers = all(str(level).lstrip("-").isdecimal() for level in values)
    return entries.where(entries.isin(values)).astype(
        CategoricalDtype(sorted(values, key=int if numbers else str))
    )


def _done(rows: ChosenRows, n: int, n_missing: int) -> str:
    whole = "" if n == len(rows.frame) else ", chosen at random,"
    imputed = (
        f" {number_of(n_missing, 'missing entry was', 'missing entries were')} filled with what a normal "
        "distribution of all columns expects, given the rest of the row."
        if n_missing
        else ""
    )
    return (
        f"The {number_of(len(rows.numbers), 'column')} of numbers of {number_of(n, 'row')}{whole} were "
        f"standardised, and their principal axes found: the directions in which rows differ most.{imputed}"
    )


def _meaning(axes: PrincipalAxes, names: list[str], beyond: int) -> str:
    first, second = (float(ratio) for ratio in axes.explained_variance_ratio[:2])
    if len(names) == 2:
        return (
            f"The map shows both columns of numbers; its first direction holds {first:.1%} of the variance."
        )
    enough = int(np.searchsorted(np.cumsum(axes.explained_variance_ratio), 0.9 - 1e-12)) + 1
    leading = "Only the first holds" if beyond == 1 else f"The first {beyond} hold"
    return (
        f"Two directions hold {first + second:.1%} of the variance of {len(names):,} columns of numbers, the "
        f"first {first:.1%}: mostly {listed(_main_columns(axes, names, 0)[:3])}. Nine tenths of it need "
        f"{number_of(enough, 'direction')}. {leading if beyond else 'None of them holds'} more than columns "
        "without any relation would show."
    )


def _main_columns(axes: PrincipalAxes, names: list[str], j: int) -> list[str]:
    """Return the columns of a direction, those of the largest loadings first."""
    return [names[i] for i in np.argsort(-np.abs(axes.directions[:, j]), kind="stable")]


def _directions(axes: PrincipalAxes, names: list[str]) -> Grid:
    rows = []
    for j in range(min(MAX_DIRECTIONS, len(names))):
        order = np.argsort(-np.abs(axes.directions[:, j]), kind="stable")[:MAX_NAMED]
        words = ", ".join(
            f"{names[i]} {axes.directions[i, j]:+.2f}" for i in order if abs(axes.directions[i, j]) >= 0.1
        )
        held = axes.explained_variance_ratio[: j + 1].sum()
        rows.append((str(j + 1), f"{axes.explained_variance_ratio[j]:.1%}", f"{held:.1%}", words))
    return Grid(
        title="The directions",
        head=("direction", "share of the variance", "so far", "made of"),
        rows=tuple(rows),
        note="Made of: the largest entries of the direction, whose squares add up to 1.",
    )


def _code(table: Table, rows: ChosenRows, part: Any, near: NeighbourMap | None) -> str:
    sample = "" if part is rows.frame else f"rows = rows.sample({MAX_ROWS}, random_state=0)\n"
    lines = f"{rows.code}{sample}z = (rows - rows.mean()) / rows.std(ddof=0)\n"
    names = "principal_axes"
    if part.isna().to_numpy().any():
        names = "filled, principal_axes"
        lines += (
            "normal = tractable.GaussianDensity(tol=1e-6, max_iter=100).fit(z.to_numpy())\n"
            "axes = principal_axes(normal.covariance_)\n"
            "z = filled(z, normal.distribution_.mean, normal.covariance_)\n"
        )
    else:
        lines += "axes = principal_axes(tractable.Moments.of(z.to_numpy()))\nz = z.to_numpy()\n"
    lines += "print(axes.explained_variance_ratio)\nscores = z @ axes.directions[:, :2]\n"
    if near is not None:
        lines += (
            f"part = np.sort(np.random.default_rng(0).permutation(len(z))[:{MAX_NEAR}])\n"
            f"near = tractable.TSNE(max_iter={NEAR_STEPS}, random_state=0).fit_transform(z[part])\n"
            f"print(tractable.trustworthiness(z[part], near, n_neighbors={NEIGHBOURS}))\n"
        )
    imports = f"{imports_for(lines)}from tractable.report import {names}\n"
    return code_head(table, imports) + lines


def _scree_picture(ratio: np.ndarray, chance: float) -> Picture:
    """Draw the fraction of the variance along each direction, and the largest by chance."""
    shown = ratio[:MAX_BARS]
    numbers = np.arange(1, len(shown) + 1)
    with canvas() as (figure, ax):
        ax.bar(numbers, shown, color=COLOURS[0], width=0.7, label="each")
        ax.plot(numbers, np.cumsum(shown), ".-", color=COLOURS[1], label="so far")
        if chance < 1.0:
            ax.axhline(chance, color="0.4", lw=1, ls="--", label="most by chance")
        ax.set(xlabel="direction", ylabel="share of the variance", ylim=(0, 1.02))
        ax.xaxis.get_major_locator().set_params(integer=True)
        legend(ax)
        return picture_of(
            figure,
            alt=f"The first direction holds {ratio[0]:.0%} of the variance, the second {ratio[1]:.0%}",
            caption="Directions above the dashed line hold more than columns without any relation would."
            if chance < 1.0
            else "Of so few rows chance alone may give one direction nearly all.",
        )


def _map_picture(
    scores: np.ndarray, axes: PrincipalAxes, names: list[str], colours: Any, by: str, rng: np.random.Generator
) -> Picture:
    """Draw the rows along the first two directions, with arrows of the main columns."""
    shown = sampled(np.arange(len(scores)), MAX_POINTS, rng)
    with canvas(height=4.4) as (figure, ax):
        _points(figure, ax, scores[shown], None if colours is None else colours.iloc[shown], by)
        _arrows(ax, scores, axes.directions[:, :2] * np.sqrt(axes.variances[:2]), names)
        ax.set(
            xlabel=f"first direction ({axes.explained_variance_ratio[0]:.0%})",
            ylabel=f"second direction ({axes.explained_variance_ratio[1]:.0%})",
        )
        return picture_of(
            figure,
            alt=f"Rows in the plane of the first two directions{', coloured by ' + by if by else ''}",
            caption="Rows near each other are alike in these two directions; an arrow points to where a "
            "column is large, and is longer the more of its variance the map shows.",
            pixels=len(shown) > MAX_VECTOR,
        )


def _near_picture(near: NeighbourMap, colours: Any, by: str) -> Picture:
    """Draw the map of neighbours."""
    with canvas(height=4.4) as (figure, ax):
        _points(figure, ax, near.embedding, None if colours is None else colours.iloc[near.rows], by)
        ax.set(xticks=[], yticks=[], aspect="equal", adjustable="datalim")
        ax.spines[["left", "bottom"]].set_visible(False)
        return picture_of(
            figure,
            alt=f"A map of neighbours{', coloured by ' + by if by else ''}",
            caption="Rows side by side are alike in all columns together (t-SNE). How far apart groups are, "
            "and how large, means nothing here.",
            pixels=len(near.rows) > MAX_VECTOR,
        )


def _points(figure: Any, ax: Any, xy: np.ndarray, colours: Any, by: str) -> None:
    style: dict[str, Any] = {"s": 14, "lw": 0, "alpha": 0.7}
    if colours is None:
        ax.scatter(*xy.T, color=COLOURS[0], **style)
    elif colours.dtype.kind == "f":
        known = colours.notna().to_numpy()
        ax.scatter(*xy[~known].T, color="0.8", **style)
        drawn = ax.scatter(*xy[known].T, c=colours[known], cmap="viridis", **style)
        figure.colorbar(drawn, ax=ax, label=by, shrink=0.8)
    else:
        values = list(colours.cat.categories)
        rest = colours.isna().to_numpy()
        if rest.any():
            ax.scatter(*xy[rest].T, color="0.75", label="other", **style)
        for j, level in enumerate(values):
            mine, turn = (colours == level).to_numpy(), j // len(COLOURS)
            label, marker = legend_label(shortened(str(level), 16)), MARKERS[(j + turn) % len(MARKERS)]
            ax.scatter(*xy[mine].T, color=COLOURS[j % len(COLOURS)], marker=marker, label=label, **style)
        legend(ax, beside=True, head=shortened(by, 16))  # beside the map, where it covers nothing


def _arrows(ax: Any, scores: np.ndarray, loadings: np.ndarray, names: list[str]) -> None:
    """Draw arrows of the columns of the largest loadings; an arrow of length one reaches the edge."""
    lengths = np.sqrt((loadings**2).sum(axis=1))
    reach = 0.95 * float(np.abs(scores).max())
    longest = np.argsort(-lengths, kind="stable")[:MAX_ARROWS]
    tips = {int(i): reach * loadings[i] for i in longest if lengths[i] >= 0.1}
    for tip in tips.values():
        style = {"arrowstyle": "->", "color": "0.25", "lw": 1.0}
        ax.annotate("", xy=tip, xytext=(0, 0), arrowprops=style)
    if tips:
        ax.update_datalim(list(tips.values()))  # arrows may reach beyond the rows
    ax.margins(0.2)
    shown = [shortened(name, 20) for name in names]
    widths = np.array([0.02 * len(name) * 2.0 * reach for name in shown])
    for i, at in _label_positions(tips, widths, 0.06 * 2.0 * reach).items():
        side = "bottom" if at[1] >= 0 else "top"
        box = {"facecolor": "white", "edgecolor": "none", "alpha": 0.7, "pad": 0.5}
        ax.text(*at, shown[i], ha="center", va=side, fontsize=8, color="0.1", bbox=box)


def _label_positions(tips: dict[int, np.ndarray], widths: np.ndarray, height: float) -> dict[int, np.ndarray]:
    """Return positions of labels at the tips, moved outwards until none covers another."""
    placed: dict[int, np.ndarray] = {}
    for i, tip in sorted(tips.items(), key=lambda item: abs(item[1][1])):
        at = np.array(tip)
        step = height if at[1] >= 0 else -height
        while any(
            abs(at[0] - other[0]) < 0.5 * (widths[i] + widths[j]) and abs(at[1] - other[1]) < height
            for j, other in placed.items()
        ):
            at[1] += step
        placed[i] = at
    return placed


def principal_axes(covariance: Any) -> PrincipalAxes:
    """Return the principal axes of a covariance, or of the `Moments` of rows: Σ = U diag(λ) Uᵀ, λ falling.

    Examples
    --------
    >>> axes = principal_axes(Moments.of([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]]))
    >>> axes.explained_variance_ratio.round(3), axes.directions[:, 0].round(3)
    (array([1., 0.]), array([0.707, 0.707]))
    """
    matrix = np.asarray(covariance.covariance() if isinstance(covariance, Moments) else covariance)
    found = components_of(ScatterFactor(weight=1.0, mean=np.zeros(len(matrix)), scatter=matrix))
    return PrincipalAxes(variances=found.variances(), directions=found.components.T)


def filled(x: Any, mean: Any, covariance: Any) -> np.ndarray:
    """Return rows with missing entries replaced by their normal conditional mean given the rest of the row.

    E[x_m | x_o] = μ_m + Σ_mo Σ_oo⁻¹ (x_o - μ_o), one solution for all rows with the same pattern.

    Parameters
    ----------
    x : array (n, d)
        Rows; NaN is missing.
    mean, covariance : arrays (d,) and (d, d)
        μ and Σ of the normal.

    Examples
    --------
    >>> filled([[1.0, np.nan]], mean=[0.0, 0.0], covariance=[[1.0, 0.5], [0.5, 1.0]])
    array([[1. , 0.5]])
    """
    x = np.array(x, dtype=np.float64)
    mean, covariance = np.asarray(mean), np.asarray(covariance)
    patterns, which = np.unique(np.isnan(x), axis=0, return_inverse=True)
    for k, m in enumerate(patterns):
        if not m.any():
            continue
        rows, o = np.flatnonzero(which.ravel() == k), ~m
        gain = np.linalg.lstsq(covariance[np.ix_(o, o)], covariance[np.ix_(o, m)], rcond=None)[0]
        x[np.ix_(rows, m)] = mean[m] + (x[np.ix_(rows, o)] - mean[o]) @ gain
    return x


def chance_variance(n_rows: int, n_columns: int) -> float:
    """Return the largest variance along a direction of uncorrelated columns, (1 + √(d/n))².

    For standardised columns, of many rows and columns (Marčenko and Pastur 1967).

    Examples
    --------
    >>> round(chance_variance(400, 4), 12)
    1.21
    """
    return float((1.0 + np.sqrt(n_columns / n_rows)) ** 2)
