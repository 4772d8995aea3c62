"""Clusters of the rows, by the mixture that ICL chooses."""

from typing import Any

import numpy as np

from tractable.data.names import number_of
from tractable.mixture.selection import ComponentChoice
from tractable.plotting import plot
from tractable.plotting.regions import ellipse_points, mahalanobis_radius
from tractable.plotting.style import COLOURS, legend
from tractable.report.mixtures import (
    MAX_COMPONENTS,
    FittedMixtures,
    Membership,
    fitted_mixtures,
    membership,
    why_no_mixture,
)
from tractable.report.page import MARKERS, MAX_POINTS, MAX_VECTOR, Grid, Picture, Section, canvas, picture_of
from tractable.report.rows import code_head, imports_for, listed, sampled, unused_note
from tractable.report.table import Table

#: Columns that are named as distinguishing a cluster, at most.
MAX_NAMED = 3

#: A column distinguishes a cluster if its mean differs by more standard deviations than this.
MIN_DIFFERENCE = 0.5

#: The probability from which the cluster of a row is sure.
SURE = 0.9

#: What distinguishes a cluster: a column, its difference in standard deviations, and words.
Difference = tuple[str, float, str]


def section(table: Table, *, target: str | None = None, rng: Any) -> Section | None:
    """Return the clusters of the rows; None if there is too little data.

    The target is left out of the mixture and compared with the clusters afterwards.
    """
    found = fitted_mixtures(table, target)
    if found is None:
        return None
    members = membership(found)
    differences = _differences(found, members)
    return Section(
        key="clusters",
        title="Clusters",
        done=_done(found, target),
        meaning=_meaning(found, members, differences),
        assumptions=_assumptions(found),
        code=code_head(table, imports_for(found.code))
        + found.code
        + "labels = model.predict(rows)\nprobabilities = model.predict_proba(rows)\n",
        pictures=(_criterion_picture(found.choice), *_scatter_picture(found, members, rng)),
        tables=(_sizes(members, differences), *_against(table, found, members, target)),
        notes=(*_notes(found), *unused_note(table, leave=target or ())),
        findings={
            "n_clusters": len(members.sizes),
            "by_bic": int(found.model("bic").n_components),
            "sizes": members.sizes.tolist(),
            "share_sure": float((members.confidence >= SURE).mean()),
            "set_apart_by": [[name for name, _, _ in row[:MAX_NAMED]] for row in differences],
        },
    )


def why_not(table: Table, target: str | None) -> str:
    """Return why no clusters are looked for."""
    return f"No clusters are looked for: {why_no_mixture(table, target)}."


def _done(found: FittedMixtures, target: str | None) -> str:
    n, k = found.n_fitted, int(found.choice.n_components[-1])
    what = "mixtures of rows with independent columns" if found.mixed else "mixtures of multivariate normals"
    whole = "" if n == len(found.rows.frame) else ", chosen at random"
    besides = f"; the target, {target}, was not shown to them" if target else ""
    columns = number_of(found.rows.frame.shape[1], "column")
    shapes = "" if found.mixed else ", and of several shapes of their covariances,"
    return (
        f"{what.capitalize()} of 1 to {number_of(k, 'component')} were fitted to {columns} of "
        f"{number_of(n, 'row')}{whole}; of the numbers of components{shapes} the integrated "
        f"completed likelihood (ICL) chose one{besides}."
    )


def _meaning(found: FittedMixtures, members: Membership, differences: list[list[Difference]]) -> str:
    k, by_bic = len(members.sizes), int(found.model("bic").n_components)
    if k == 1:
        wanted = (
            f" BIC, which asks for a good density only, would take {by_bic} components, but they overlap."
        )
        more = wanted if by_bic > 1 else ""
        return f"The rows are best taken as one group: no clusters that are apart were found.{more}"
    share = float((members.confidence >= SURE).mean())
    columns = list(dict.fromkeys(row[0][0] for row in differences if row))
    apart = f"set apart most by {listed(columns)}" if columns else "which no column by itself sets apart"
    icl = found.choice.scores["icl"]
    gain = float(icl[:, 0].min() - icl[found.choice.position("icl")])
    also = "BIC agrees" if by_bic == k else f"BIC would take {number_of(by_bic, 'component')}"
    return (
        f"There are {k} clusters, {apart}. {share:.0%} of the rows belong to their cluster with a "
        f"probability of {SURE:.0%} or more. {also}; one group for all would have an ICL worse by "
        f"{gain:.4g}, where 10 is much."
    )


def _assumptions(found: FittedMixtures) -> str:
    inside = (
        "Within a cluster columns are independent, numbers normal, categories of their own probabilities."
        if found.mixed
        else "Each cluster is an ellipsoid of normally distributed rows; skewed columns may need several."
    )
    return f"{inside} Missing entries are marginalised, not imputed, and assumed to be missing at random."


def _differences(found: FittedMixtures, members: Membership) -> list[list[Difference]]:
    """Return the columns in which each cluster differs from all rows, the largest differences first."""
    frame, labels = found.rows.frame, members.labels
    differences: list[list[Difference]] = []
    for k in range(len(members.sizes)):
        mine = frame[labels == k]
        rows = [_number_difference(frame[name], mine[name]) for name in found.rows.numbers]
        rows += [_category_difference(frame[name], mine[name]) for name in found.rows.categories]
        large = [row for row in rows if row is not None and abs(row[1]) > MIN_DIFFERENCE]
        differences.append(sorted(large, key=lambda row: -abs(row[1])))
    return differences


def _number_difference(all_rows: Any, mine: Any) -> Difference | None:
    x, spread = mine.mean(), float(all_rows.std(ddof=0))
    if not np.isfinite(x) or not spread > 0.0:
        return None
    z = float((x - all_rows.mean()) / spread)
    return str(mine.name), z, f"{mine.name} {x:.4g} ({'high' if z > 0.0 else 'low'})"


def _category_difference(all_rows: Any, mine: Any) -> Difference | None:
    overall, here = all_rows.value_counts(normalize=True), mine.value_counts(normalize=True)
    if not len(here):
        return None
    share = here.reindex(overall.index).fillna(0.0)
    z = (share - overall) / np.sqrt(overall * (1.0 - overall))
    level = z.idxmax()
    words = f"{mine.name} {level} {share[level]:.0%} (of all {overall[level]:.0%})"
    return str(mine.name), float(z[level]), words


def _sizes(members: Membership, differences: list[list[Difference]]) -> Grid:
    n = len(members.labels)
    rows = []
    for k, size in enumerate(members.sizes):
        confidence = members.confidence[members.labels == k]
        words = "; ".join(words for _, _, words in differences[k][:MAX_NAMED])
        entries = (str(k + 1), f"{size:,}", f"{size / n:.0%}", f"{confidence.mean():.1%}")
        rows.append((*entries, *([words or "no column by itself"] if len(members.sizes) > 1 else [])))
    head = ("cluster", "rows", "share", "how sure", "what sets it apart")
    return Grid(
        title="The clusters",
        head=head[: len(rows[0])],
        rows=tuple(rows),
        note="How sure: the mean probability with which its rows belong to it.",
    )


def _against(
    table: Table, found: FittedMixtures, members: Membership, target: str | None
) -> tuple[Grid, ...]:
    """Return the target by cluster; the clusters were found without it."""
    if target is None or len(members.sizes) < 2:
        return ()
    column, y = table.column(target), table.frame[target].loc[found.rows.frame.index]
    groups = [y[members.labels == k] for k in range(len(members.sizes))]
    head: tuple[str, ...]
    rows: list[tuple[str, ...]]
    if column.is_number:
        head = ("cluster", f"mean of {target}", "standard deviation")
        rows = [(str(k + 1), f"{g.mean():.4g}", f"{g.std(ddof=0):.3g}") for k, g in enumerate(groups)]
    elif column.is_category and y.nunique() <= 12:
        levels = list(y.value_counts().index)
        head = ("cluster", *map(str, levels))
        counts = [[f"{int((g == level).sum()):,}" for level in levels] for g in groups]
        rows = [(str(k + 1), *row) for k, row in enumerate(counts)]
    else:
        return ()
    return (Grid(title=f"Clusters and {target}", head=head, rows=tuple(rows)),)


def _notes(found: FittedMixtures) -> tuple[str, ...]:
    notes = list(found.rows.notes)
    model, choice = found.choice.best_model, found.choice
    if model.n_components == choice.n_components[-1] == MAX_COMPONENTS:
        notes.append("The largest number of components that was tried was chosen; there may be more.")
    if choice.collapsed.all():
        notes.append("Components shrank to single values in all mixtures: the criteria do not mean much.")
    elif choice.collapsed.any():
        notes.append(
            "In some mixtures components shrank to a single value of a column, where a likelihood has no "
            "bound; they are crossed out in the picture and left out of the choice."
        )
    return tuple(notes)


def _criterion_picture(choice: ComponentChoice) -> Picture:
    """Draw the ICL of every mixture, and the BIC of the chosen covariance type."""
    number, shape = choice.best
    with canvas() as (figure, ax):
        plot(choice, ax=ax)
        row = choice.covariance_types.index(shape)
        style = {"ls": "--", "lw": 1, "color": "0.5", "label": f"BIC, {shape}"}
        ax.plot(choice.n_components, choice.scores["bic"][row], **style)
        legend(ax)
        return picture_of(
            figure,
            alt=f"ICL against the number of components; the lowest is at {number}",
            caption="The lower, the better: ICL asks for a good density and for clusters that are apart.",
        )


def _scatter_picture(
    found: FittedMixtures, members: Membership, rng: np.random.Generator
) -> tuple[Picture, ...]:
    """Draw the rows over the two columns that separate the clusters best, with an ellipse for each."""
    numbers, k = found.rows.numbers, len(members.sizes)
    if not numbers:
        return ()
    if len(numbers) == 1:
        return (_histogram_picture(found, members),)
    names = separating_pair(found.rows.frame[list(numbers)], members.labels)
    x = found.rows.frame[list(names)].to_numpy(dtype=np.float64)
    shown = sampled(np.flatnonzero(~np.isnan(x).any(axis=1)), MAX_POINTS, rng)
    means, covariances = _components(found.choice.best_model, names)
    with canvas(height=4.0) as (figure, ax):
        for j in range(k):
            mine = shown[members.labels[shown] == j]
            colour = COLOURS[j % len(COLOURS)]
            style = {"s": 12, "lw": 0, "alpha": 0.6, "marker": MARKERS[j % len(MARKERS)]}
            ax.scatter(*x[mine].T, color=colour, label=str(j + 1), **style)
            component = members.order[j]
            ring = ellipse_points(means[component], covariances[component], mahalanobis_radius(0.9))
            ax.plot(*ring.T, color=colour, lw=1.5)
        ax.set(xlabel=names[0], ylabel=names[1])
        if k > 1:
            legend(ax, head="cluster")
        picture = picture_of(
            figure,
            alt=f"Rows by {names[0]} and {names[1]}, coloured by cluster, with an ellipse for each",
            caption=f"An ellipse holds nine tenths of its cluster. Of all pairs of columns, {names[0]} and "
            f"{names[1]} tell the clusters apart best."
            if k > 1
            else "The ellipse holds nine tenths of the rows, if they are normal.",
            pixels=len(shown) > MAX_VECTOR,
        )
    return (picture,)


def separating_pair(frame: Any, labels: np.ndarray) -> tuple[str, str]:
    """Return the two columns that separate the clusters best, by Wilks' |W| / |T| of each pair.

    With one cluster: the two of the largest correlation.
    """
    x = frame.to_numpy(dtype=np.float64)
    spread = np.nanstd(x, axis=0)
    x = np.nan_to_num((x - np.nanmean(x, axis=0)) / np.where(spread > 0.0, spread, 1.0))
    total = x.T @ x
    pairs = np.stack(np.triu_indices(x.shape[1], 1), axis=1)
    if len(np.unique(labels)) < 2:
        first, second = pairs[np.argmax(np.abs(total[pairs[:, 0], pairs[:, 1]]))]
    else:
        one_hot = labels[:, None] == np.unique(labels)
        means = one_hot.T @ x / one_hot.sum(axis=0)[:, None]
        between = (means * one_hot.sum(axis=0)[:, None]).T @ means
        within = total - between + 1e-9 * len(x) * np.eye(len(total))
        rows, columns = pairs[:, :, None], pairs[:, None, :]  # of the 2 × 2 block of each pair
        t, w = (np.linalg.slogdet(matrix[rows, columns])[1] for matrix in (total, within))
        first, second = pairs[np.argmin(w - t)]
    return str(frame.columns[first]), str(frame.columns[second])


def _components(model: Any, names: tuple[str, str]) -> tuple[np.ndarray, np.ndarray]:
    """Return the means and covariances of the components over two columns."""
    parts = model.marginal(list(names)).components
    if not hasattr(parts, "parts"):
        return np.asarray(parts.mean), np.asarray(parts.covariance)
    means = np.stack([part.mean for part in parts.parts], axis=-1)
    variances = np.stack([part.variance for part in parts.parts], axis=-1)
    return means, variances[..., None] * np.eye(2)


def _histogram_picture(found: FittedMixtures, members: Membership) -> Picture:
    name = found.rows.numbers[0]
    x = found.rows.frame[name].to_numpy(dtype=np.float64)
    known = ~np.isnan(x)
    edges = np.histogram_bin_edges(x[known], bins=min(40, max(5, int(np.sqrt(known.sum())))))
    with canvas() as (figure, ax):
        groups = [x[known & (members.labels == k)] for k in range(len(members.sizes))]
        colours = [COLOURS[k % len(COLOURS)] for k in range(len(groups))]
        labels = [f"cluster {k + 1}" for k in range(len(groups))]
        ax.hist(groups, bins=edges, stacked=True, color=colours, label=labels, alpha=0.8)
        ax.set(xlabel=name, ylabel="rows")
        legend(ax)
        return picture_of(figure, alt=f"Rows by {name}, coloured by cluster")
