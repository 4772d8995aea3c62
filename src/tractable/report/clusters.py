"""Which groups the rows of a table fall into, and how sure that is."""

from typing import Any

import numpy as np

from tractable.data.names import number_of
from tractable.report.cluster_pictures import curve_picture, pair_picture
from tractable.report.grouping import MOST_COMPONENTS, Grouping, grouping, too_little
from tractable.report.repeats import imports_for
from tractable.report.rows import beginning, listed
from tractable.report.section import Grid, Section
from tractable.report.table import Table
from tractable.report.unused import not_used
from tractable.value import value

__all__ = ["Membership", "membership", "section"]

#: Numbers that set a cluster apart are told, the most telling first.
MOST_TOLD = 3

#: Closer to the mean of all rows than so many standard deviations a cluster is as usual.
USUAL = 0.5

#: A row is sure of its cluster from this probability.
SURE = 0.9


@value
class Membership:
    """Rows and the clusters they belong to, the largest cluster first.

    Parameters
    ----------
    proba : array (n, K)
    order : array (K,) of int
        Which component of the mixture each cluster is.
    """

    proba: np.ndarray
    order: np.ndarray

    @property
    def labels(self) -> np.ndarray:
        """The most probable cluster of each row, from 0, (n,)."""
        return np.argmax(self.proba, axis=1)

    @property
    def sure(self) -> np.ndarray:
        """The probability of that cluster, (n,)."""
        return np.max(self.proba, axis=1)

    @property
    def sizes(self) -> np.ndarray:
        """How many rows each cluster has, (K,)."""
        return np.bincount(self.labels, minlength=self.proba.shape[1])


def section(table: Table, *, target: str | None = None, rng: Any) -> Section | None:
    """Return which groups a mixture finds in the rows; None where there is too little to group.

    The target takes no part: whether the groups know of it is told.
    """
    found = grouping(table, target)
    if found is None:
        return None
    members = membership(found)
    told = _told(found, members)
    return Section(
        key="clusters",
        title="Clusters",
        done=_done(found, target),
        meaning=_meaning(found, members, told),
        assumptions=_assumptions(found),
        code=beginning(table, imports_for(found.code))
        + found.code
        + "labels = model.predict(rows)\nprobabilities = model.predict_proba(rows)\n",
        pictures=(curve_picture(found.choice), *pair_picture(found, members, rng)),
        tables=(_sizes(members, told), *_against(table, found, members, target)),
        notes=(*_notes(found), *not_used(table, leave=target or ())),
        findings={
            "n_clusters": len(members.sizes),
            "by_bic": int(found.model("bic").n_components),
            "sizes": members.sizes.tolist(),
            "share_sure": float((members.sure >= SURE).mean()),
            "set_apart_by": [[name for name, _, _ in row[:MOST_TOLD]] for row in told],
        },
    )


def why_not(table: Table, target: str | None) -> str:
    """Say why no clusters are looked for."""
    return f"No clusters are looked for: {too_little(table, target)}."


def membership(found: Grouping) -> Membership:
    """Return the clusters of all rows under the mixture that was chosen."""
    proba = np.asarray(found.choice.best_model.predict_proba(found.rows.frame))
    sizes = np.bincount(np.argmax(proba, axis=1), minlength=proba.shape[1])
    order = np.argsort(-sizes, kind="stable")
    order = order[sizes[order] > 0]
    return Membership(proba=proba[:, order], order=order)


def _done(found: Grouping, target: str | None) -> str:
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


def _meaning(found: Grouping, members: Membership, told: list[list[tuple[str, float, str]]]) -> str:
    k, by_bic = len(members.sizes), int(found.model("bic").n_components)
    if k == 1:
        wanted = (
            f" BIC, which asks for a good density only, would take {by_bic} components, but they overlap."
        )
        more = wanted if by_bic > 1 else ""
        return f"The rows are best taken as one group: no clusters that are apart were found.{more}"
    share = float((members.sure >= SURE).mean())
    columns = list(dict.fromkeys(row[0][0] for row in told if row))
    apart = f"set apart most by {listed(columns)}" if columns else "which no column by itself sets apart"
    icl = found.choice.scores["icl"]
    gain = float(icl[:, 0].min() - icl[found.choice.place("icl")])
    also = "BIC agrees" if by_bic == k else f"BIC would take {number_of(by_bic, 'component')}"
    return (
        f"There are {k} clusters, {apart}. {share:.0%} of the rows belong to their cluster with a "
        f"probability of {SURE:.0%} or more. {also}; one group for all would have an ICL worse by "
        f"{gain:.4g}, where 10 is much."
    )


def _assumptions(found: Grouping) -> str:
    inside = (
        "Within a cluster columns are independent, numbers normal and categories with shares of their own."
        if found.mixed
        else "Each cluster is an ellipsoid of normally distributed rows; skewed columns may need several."
    )
    return (
        f"{inside} Missing entries are left open, not filled in, and are taken to be missing for no reason "
        "of their own."
    )


def _told(found: Grouping, members: Membership) -> list[list[tuple[str, float, str]]]:
    """Return for each cluster what sets it apart: a column, by how many standard deviations, in words.

    Columns in which a cluster is much like all rows are not told.
    """
    frame, labels = found.rows.frame, members.labels
    told: list[list[tuple[str, float, str]]] = []
    for k in range(len(members.sizes)):
        mine = frame[labels == k]
        rows = [_number_told(frame[name], mine[name]) for name in found.rows.numbers]
        rows += [_category_told(frame[name], mine[name]) for name in found.rows.categories]
        apart = [row for row in rows if row is not None and abs(row[1]) > USUAL]
        told.append(sorted(apart, key=lambda row: -abs(row[1])))
    return told


def _number_told(all_rows: Any, mine: Any) -> tuple[str, float, str] | None:
    x, spread = mine.mean(), float(all_rows.std(ddof=0))
    if not np.isfinite(x) or not spread > 0.0:
        return None
    z = float((x - all_rows.mean()) / spread)
    return str(mine.name), z, f"{mine.name} {x:.4g} ({'high' if z > 0.0 else 'low'})"


def _category_told(all_rows: Any, mine: Any) -> tuple[str, float, str] | None:
    overall, here = all_rows.value_counts(normalize=True), mine.value_counts(normalize=True)
    if not len(here):
        return None
    share = here.reindex(overall.index).fillna(0.0)
    z = (share - overall) / np.sqrt(overall * (1.0 - overall))
    level = z.idxmax()
    words = f"{mine.name} {level} {share[level]:.0%} (of all {overall[level]:.0%})"
    return str(mine.name), float(z[level]), words


def _sizes(members: Membership, told: list[list[tuple[str, float, str]]]) -> Grid:
    n = len(members.labels)
    rows = []
    for k, size in enumerate(members.sizes):
        sure = members.sure[members.labels == k]
        words = "; ".join(words for _, _, words in told[k][:MOST_TOLD])
        entries = (str(k + 1), f"{size:,}", f"{size / n:.0%}", f"{sure.mean():.1%}")
        rows.append((*entries, *([words or "no column by itself"] if len(members.sizes) > 1 else [])))
    head = ("cluster", "rows", "share", "how sure", "what sets it apart")
    return Grid(
        title="The clusters",
        head=head[: len(rows[0])],
        rows=tuple(rows),
        note="How sure: the mean probability with which its rows belong to it.",
    )


def _against(table: Table, found: Grouping, members: Membership, target: str | None) -> tuple[Grid, ...]:
    """Return what the clusters know of the target, which they were not shown."""
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


def _notes(found: Grouping) -> tuple[str, ...]:
    notes = list(found.rows.notes)
    model, choice = found.choice.best_model, found.choice
    if model.n_components == choice.n_components[-1] == MOST_COMPONENTS:
        notes.append("The largest number of components that was tried was chosen; there may be more.")
    if choice.collapsed.all():
        notes.append("Components shrank to single values in all mixtures: the criteria do not mean much.")
    elif choice.collapsed.any():
        notes.append(
            "In some mixtures components shrank to a single value of a column, where a likelihood has no "
            "bound; they are crossed out in the picture and left out of the choice."
        )
    return tuple(notes)
