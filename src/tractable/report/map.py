"""A map of the rows: the plane in which they differ most."""

import warnings
from typing import Any

import numpy as np

from tractable.data.names import number_of
from tractable.density import GaussianDensity
from tractable.report.clusters import membership
from tractable.report.grouping import grouping
from tractable.report.map_pictures import map_picture, scree_picture
from tractable.report.principal import PrincipalAxes, chance_variance, filled, principal_axes
from tractable.report.repeats import imports_for, rows_once
from tractable.report.rows import ChosenRows, beginning, chosen_rows, listed
from tractable.report.section import Grid, Section
from tractable.report.table import Table
from tractable.report.unused import not_used
from tractable.statistics import Moments

__all__ = ["section"]

#: Rows and columns that the map is made of, at most.
MOST_ROWS, MOST_COLUMNS = 5_000, 60

#: What has no place in a map.
NO_NUMBERS = ("category", "boolean", "date", "text", "identifier")

#: Columns that are told for each direction, and directions that are told.
MOST_TOLD, MOST_DIRECTIONS = 4, 5


def section(table: Table, *, target: str | None = None, rng: np.random.Generator) -> Section | None:
    """Return the plane in which rows differ most; None with fewer than two columns of numbers."""
    rows = chosen_rows(table, target or (), most_numbers=MOST_COLUMNS, most_categories=0)
    rows = rows_once(rows, table)
    if len(rows.numbers) < 2 or len(rows.frame) < 3:
        return None
    part = rows.part(MOST_ROWS)
    z, gaps, axes = _standardised(part)
    scores = z @ axes.directions[:, :2]
    names = list(rows.numbers)
    beyond = int((axes.variances > chance_variance(len(z), len(names))).sum())
    colours, by = _colours(table, part, target)
    return Section(
        key="map",
        title="A map of the rows",
        done=_done(rows, len(part), gaps),
        meaning=_meaning(axes, names, beyond),
        assumptions=(
            "Differences count in standard deviations of each column, all columns alike, and relations "
            "between columns are straight lines; a plane hides what the other directions hold."
        ),
        code=_code(table, rows, part),
        pictures=(
            scree_picture(axes.shares, chance_variance(len(z), len(names)) / len(names)),
            map_picture(scores, axes, names, colours, by, rng),
        ),
        tables=(_directions(axes, names),),
        notes=_notes(table, rows, target),
        findings={
            "shares": axes.shares[:MOST_DIRECTIONS].tolist(),
            "n_beyond_chance": beyond,
            "directions": [_told(axes, names, j)[:MOST_TOLD] for j in range(2)],
        },
    )


def why_not(table: Table, target: str | None) -> str:
    """Say why there is no map of a table."""
    rows = chosen_rows(table, target or (), most_numbers=MOST_COLUMNS, most_categories=0)
    if rows.numbers and len(rows_once(rows, table).frame) < 3:
        return "No map of the rows: it takes three different rows with a number."
    there = "1" if rows.numbers else "none"
    return f"No map of the rows: it takes two columns of numbers that vary, and there is {there}."


def _standardised(part: Any) -> tuple[np.ndarray, int, PrincipalAxes]:
    """Return rows in standard units with their holes filled, how many holes there were, and the axes."""
    x = part.to_numpy(dtype=np.float64)
    z = (x - np.nanmean(x, axis=0)) / np.nanstd(x, axis=0)
    gaps = int(np.isnan(z).sum())
    if not gaps:
        return z, 0, principal_axes(Moments.of(z))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a covariance near to singular is good enough for a map
        normal = GaussianDensity(tol=1e-6, max_iter=100).fit(z)
    covariance = np.asarray(normal.covariance_)
    return filled(z, normal.distribution_.mean, covariance), gaps, principal_axes(covariance)


def _colours(table: Table, part: Any, target: str | None) -> tuple[Any, str]:
    """Return what rows are coloured by, and what it is called."""
    if target is not None:
        return table.frame[target].loc[part.index], target
    found = grouping(table)
    if found is None:
        return None, ""
    import pandas as pd

    labels = pd.Series(membership(found).labels + 1, index=found.rows.frame.index)
    return labels.reindex(part.index).map(lambda k: None if np.isnan(k) else str(int(k))), "cluster"


def _done(rows: ChosenRows, n: int, gaps: int) -> str:
    whole = "" if n == len(rows.frame) else ", chosen at random"
    holes = (
        f" {number_of(gaps, 'missing entry was', 'missing entries were')} filled with what a normal "
        "distribution of all columns expects, given the rest of the row."
        if gaps
        else ""
    )
    return (
        f"The {number_of(len(rows.numbers), 'column')} of numbers of {number_of(n, 'row')}{whole} were "
        f"standardised, and their principal axes found: the directions in which rows differ most.{holes}"
    )


def _meaning(axes: PrincipalAxes, names: list[str], beyond: int) -> str:
    first, second = (float(share) for share in axes.shares[:2])
    enough = int(np.searchsorted(np.cumsum(axes.shares), 0.9 - 1e-12)) + 1
    some = f"{number_of(beyond, 'direction')} {'holds' if beyond == 1 else 'hold'}"
    return (
        f"The map shows {first + second:.0%} of the variance, {first:.0%} along its first direction, which "
        f"is mostly {listed(_told(axes, names, 0)[:3])}; nine tenths need {number_of(enough, 'direction')} "
        f"of {len(names)}. {some if beyond else 'No direction holds'} more than columns without any relation "
        "would show."
    )


def _told(axes: PrincipalAxes, names: list[str], j: int) -> list[str]:
    """Return the columns that make up a direction, the most important first."""
    return [names[i] for i in np.argsort(-np.abs(axes.directions[:, j]), kind="stable")]


def _directions(axes: PrincipalAxes, names: list[str]) -> Grid:
    rows = []
    for j in range(min(MOST_DIRECTIONS, len(names))):
        order = np.argsort(-np.abs(axes.directions[:, j]), kind="stable")[:MOST_TOLD]
        words = ", ".join(
            f"{names[i]} {axes.directions[i, j]:+.2f}" for i in order if abs(axes.directions[i, j]) >= 0.1
        )
        held = axes.shares[: j + 1].sum()
        rows.append((str(j + 1), f"{axes.shares[j]:.1%}", f"{held:.1%}", words))
    return Grid(
        title="The directions",
        head=("direction", "share of the variance", "so far", "made of"),
        rows=tuple(rows),
        note="Made of: the largest entries of the direction, whose squares add up to 1.",
    )


def _notes(table: Table, rows: ChosenRows, target: str | None) -> tuple[str, ...]:
    kept = tuple(note for note in rows.notes if "categories" not in note)
    return (*kept, *not_used(table, *NO_NUMBERS, leave=target or ()))


def _code(table: Table, rows: ChosenRows, part: Any) -> str:
    sample = "" if part is rows.frame else f"rows = rows.sample({MOST_ROWS}, random_state=0)\n"
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
    lines += "print(axes.shares)\nplaces = z @ axes.directions[:, :2]\n"
    imports = f"{imports_for(lines)}from tractable.report import {names}\n"
    return beginning(table, imports) + lines
