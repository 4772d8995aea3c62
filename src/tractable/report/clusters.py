"""Which groups the rows of a table fall into, and how sure that is."""

import warnings
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from tractable.data.names import number_of
from tractable.mixture import GaussianMixture, TableMixture
from tractable.mixture.component_choice import ComponentChoice
from tractable.plotting import plot
from tractable.plotting.style import COLOURS
from tractable.report.rows import (
    ChosenRows,
    chosen_rows,
    code_head,
    deduplicated_rows,
    imports_for,
    listed,
    unused_note,
)
from tractable.report.section import Grid, Picture, Section, canvas, picture_of
from tractable.report.table import Table
from tractable.selection import select_components
from tractable.value import value

__all__ = [
    "MARKS",
    "MAX_ROWS",
    "FittedMixtures",
    "Membership",
    "curve_picture",
    "ellipse",
    "fitted_mixtures",
    "membership",
    "pair_picture",
    "section",
    "separating_pair",
    "why_no_mixture",
]

#: Numbers that set a cluster apart are told, the most telling first.
MAX_TOLD = 3

#: Closer to the mean of all rows than so many standard deviations a cluster is as usual.
USUAL = 0.5

#: A row is sure of its cluster from this probability.
SURE = 0.9

#: Clusters differ by colour and by mark.
MARKS = ("o", "s", "^", "D", "v", "P", "X", "*")

#: More points than this are drawn as pixels, and more than that not at all.
MAX_LINES, MAX_POINTS = 1_500, 4_000


#: The squared radius that holds nine tenths of a normal in the plane.
RADIUS2 = -2.0 * np.log(0.1)

#: Mixtures are fitted to at most so many rows, and asked about all.
MAX_ROWS = 2_000

#: The largest number of components that is tried, and the rows that each of them should have.
MAX_COMPONENTS, ROWS_EACH = 8, 10

SHAPES = ("full", "tied", "diag")

#: With more ways for entries to be missing than this, columns are taken as independent within a component.
MAX_PATTERNS = 12


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


@value
class FittedMixtures:
    """Mixtures of one component, of two, and so on, with their criteria.

    Parameters
    ----------
    rows : ChosenRows
    choice : ComponentChoice
        Chosen by ICL; `model("bic")` is the density that BIC chooses.
    code : str
        Lines that make `choice` of `table`.
    mixed : bool
        Whether columns are independent within a component: where there are categories, or many holes.
    n_fitted : int
        How many rows the mixtures were fitted to.
    """

    rows: ChosenRows
    choice: ComponentChoice
    code: str
    mixed: bool
    n_fitted: int

    def model(self, criterion: str) -> Any:
        """Return the mixture that a criterion chooses."""
        i, j = self.choice.place(criterion)
        return self.choice.models[i][j]


def section(table: Table, *, target: str | None = None, rng: Any) -> Section | None:
    """Return which groups a mixture finds in the rows; None where there is too little to group.

    The target takes no part: whether the groups know of it is told.
    """
    found = fitted_mixtures(table, target)
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
        code=code_head(table, imports_for(found.code))
        + found.code
        + "labels = model.predict(rows)\nprobabilities = model.predict_proba(rows)\n",
        pictures=(curve_picture(found.choice), *pair_picture(found, members, rng)),
        tables=(_sizes(members, told), *_against(table, found, members, target)),
        notes=(*_notes(found), *unused_note(table, leave=target or ())),
        findings={
            "n_clusters": len(members.sizes),
            "by_bic": int(found.model("bic").n_components),
            "sizes": members.sizes.tolist(),
            "share_sure": float((members.sure >= SURE).mean()),
            "set_apart_by": [[name for name, _, _ in row[:MAX_TOLD]] for row in told],
        },
    )


def why_not(table: Table, target: str | None) -> str:
    """Say why no clusters are looked for."""
    return f"No clusters are looked for: {why_no_mixture(table, target)}."


def membership(found: FittedMixtures) -> Membership:
    """Return the clusters of all rows under the mixture that was chosen."""
    proba = np.asarray(found.choice.best_model.predict_proba(found.rows.frame))
    sizes = np.bincount(np.argmax(proba, axis=1), minlength=proba.shape[1])
    order = np.argsort(-sizes, kind="stable")
    order = order[sizes[order] > 0]
    return Membership(proba=proba[:, order], order=order)


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


def _meaning(found: FittedMixtures, members: Membership, told: list[list[tuple[str, float, str]]]) -> str:
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


def _assumptions(found: FittedMixtures) -> str:
    inside = (
        "Within a cluster columns are independent, numbers normal and categories with shares of their own."
        if found.mixed
        else "Each cluster is an ellipsoid of normally distributed rows; skewed columns may need several."
    )
    return (
        f"{inside} Missing entries are left open, not filled in, and are taken to be missing for no reason "
        "of their own."
    )


def _told(found: FittedMixtures, members: Membership) -> list[list[tuple[str, float, str]]]:
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
        words = "; ".join(words for _, _, words in told[k][:MAX_TOLD])
        entries = (str(k + 1), f"{size:,}", f"{size / n:.0%}", f"{sure.mean():.1%}")
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


def curve_picture(choice: ComponentChoice) -> Picture:
    """Draw ICL of every mixture, and BIC of the shape that was chosen."""
    number, shape = choice.best
    with canvas() as (figure, ax):
        plot(choice, ax=ax)
        row = choice.covariance_types.index(shape)
        ax.plot(
            choice.n_components, choice.scores["bic"][row], "--", lw=1, color="0.5", label=f"BIC, {shape}"
        )
        ax.legend(frameon=False, fontsize="small")
        return picture_of(
            figure,
            alt=f"ICL against the number of components; the lowest is at {number}",
            caption="The lower, the better: ICL asks for a good density and for clusters that are apart.",
        )


def pair_picture(found: FittedMixtures, members: Any, rng: np.random.Generator) -> tuple[Picture, ...]:
    """Draw the rows in the two columns that tell the clusters apart best, with an ellipse for each."""
    numbers, k = found.rows.numbers, len(members.sizes)
    if not numbers:
        return ()
    if len(numbers) == 1:
        return (_line_picture(found, members),)
    names = separating_pair(found.rows.frame[list(numbers)], members.labels)
    x = found.rows.frame[list(names)].to_numpy(dtype=np.float64)
    shown = np.flatnonzero(~np.isnan(x).any(axis=1))
    if len(shown) > MAX_POINTS:
        shown = np.sort(rng.choice(shown, MAX_POINTS, replace=False))
    means, covariances = _plane(found.choice.best_model, names)
    with canvas(height=4.0) as (figure, ax):
        for j in range(k):
            mine = shown[members.labels[shown] == j]
            colour = COLOURS[j % len(COLOURS)]
            ax.scatter(
                *x[mine].T,
                s=12,
                lw=0,
                alpha=0.6,
                color=colour,
                marker=MARKS[j % len(MARKS)],
                label=str(j + 1),
            )
            ring = ellipse(means[members.order[j]], covariances[members.order[j]])
            ax.plot(*ring, color=colour, lw=1.5)
        ax.set(xlabel=names[0], ylabel=names[1])
        if k > 1:
            ax.legend(frameon=False, title="cluster", fontsize="small", markerscale=1.5)
        picture = picture_of(
            figure,
            alt=f"Rows by {names[0]} and {names[1]}, coloured by cluster, with an ellipse for each",
            caption=f"An ellipse holds nine tenths of its cluster. Of all pairs of columns, {names[0]} and "
            f"{names[1]} tell the clusters apart best."
            if k > 1
            else "The ellipse holds nine tenths of the rows, if they are normal.",
            pixels=len(shown) > MAX_LINES,
        )
    return (picture,)


def separating_pair(frame: Any, labels: np.ndarray) -> tuple[str, str]:
    """Return the two columns in which clusters are farthest apart, by Wilks' |W| / |T| of each pair.

    With one cluster only: the two that are most correlated.
    """
    x = frame.to_numpy(dtype=np.float64)
    spread = np.nanstd(x, axis=0)
    x = np.nan_to_num((x - np.nanmean(x, axis=0)) / np.where(spread > 0.0, spread, 1.0))
    total = x.T @ x
    first, second = np.triu_indices(x.shape[1], 1)
    if len(np.unique(labels)) < 2:
        best = int(np.argmax(np.abs(total[first, second])))
    else:
        one_hot = labels[:, None] == np.unique(labels)
        means = one_hot.T @ x / one_hot.sum(axis=0)[:, None]
        between = (means * one_hot.sum(axis=0)[:, None]).T @ means
        within = total - between + 1e-9 * len(x) * np.eye(len(total))
        t, w = (np.linalg.slogdet(_blocks(s, first, second))[1] for s in (total, within))
        best = int(np.argmin(w - t))
    return str(frame.columns[first[best]]), str(frame.columns[second[best]])


def ellipse(mean: np.ndarray, covariance: np.ndarray) -> np.ndarray:
    """Return the outline of the region that holds nine tenths of a normal in the plane, (2, 100)."""
    angle = np.linspace(0.0, 2.0 * np.pi, 100)
    variances, axes = np.linalg.eigh(covariance)
    circle = np.sqrt(RADIUS2) * np.stack([np.cos(angle), np.sin(angle)])
    return np.asarray(mean)[:, None] + (axes * np.sqrt(np.maximum(variances, 0.0))) @ circle


def _blocks(matrix: np.ndarray, i: np.ndarray, j: np.ndarray) -> np.ndarray:
    """Return the two by two blocks of a matrix at pairs of places."""
    return np.stack(
        [np.stack([matrix[i, i], matrix[i, j]], -1), np.stack([matrix[j, i], matrix[j, j]], -1)], -2
    )


def _plane(model: Any, names: tuple[str, str]) -> tuple[np.ndarray, np.ndarray]:
    """Return the means and covariances of the components in two columns."""
    parts = model.marginal(list(names)).components
    if not hasattr(parts, "parts"):
        return np.asarray(parts.mean), np.asarray(parts.covariance)
    means = np.stack([part.mean for part in parts.parts], axis=-1)
    variances = np.stack([part.variance for part in parts.parts], axis=-1)
    return means, variances[..., None] * np.eye(2)


def _line_picture(found: FittedMixtures, members: Any) -> Picture:
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
        ax.legend(frameon=False, fontsize="small")
        return picture_of(figure, alt=f"Rows by {name}, coloured by cluster")


_made: WeakKeyDictionary[Table, dict[str | None, FittedMixtures | None]] = WeakKeyDictionary()


def fitted_mixtures(table: Table, leave: str | None = None) -> FittedMixtures | None:
    """Return mixtures of the columns of a table but one; None where there is too little to fit them to.

    They are fitted once for a table: the answer does not depend on who asks.
    """
    known = _made.setdefault(table, {})
    if leave not in known:
        known[leave] = _fit_mixtures(table, leave)
    return known[leave]


def _fit_mixtures(table: Table, leave: str | None) -> FittedMixtures | None:
    room = max(1, min(20, len(table.frame) // 5))
    rows = deduplicated_rows(chosen_rows(table, leave or (), most_numbers=room), table)
    if len(rows.frame) < ROWS_EACH or not (rows.numbers or rows.categories):
        return None
    part = rows.part(MAX_ROWS)
    numbers = range(1, max(1, min(MAX_COMPONENTS, len(part) // ROWS_EACH)) + 1)
    mixed = bool(rows.categories) or len(part.isna().drop_duplicates()) > MAX_PATTERNS
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what matters of it, collapsed components, is in the choice
        choice = _tables(part, numbers) if mixed else _normals(part, numbers)
    code = rows.code + ("" if part is rows.frame else f"part = rows.sample({MAX_ROWS}, random_state=0)\n")
    lines = _table_code(numbers) if mixed else _normal_code(numbers)
    return FittedMixtures(
        rows=rows,
        choice=choice,
        code=code + lines.replace("PART", "rows" if part is rows.frame else "part"),
        mixed=mixed,
        n_fitted=len(part),
    )


def why_no_mixture(table: Table, leave: str | None = None) -> str:
    """Say why no mixture can be fitted to a table."""
    rows = deduplicated_rows(chosen_rows(table, leave or ()), table)
    if not (rows.numbers or rows.categories):
        return "there is no column of numbers, or of few categories, that varies"
    there = "is 1" if len(rows.frame) == 1 else f"are {len(rows.frame)}"
    return f"a mixture needs {ROWS_EACH} different rows with an entry, and there {there}"


def _normals(part: Any, numbers: range) -> ComponentChoice:
    shapes = SHAPES if part.shape[1] > 1 else ("full", "tied")
    start = GaussianMixture(n_init=2, random_state=0)
    return select_components(part, numbers, shapes, criterion="icl", estimator=start)


def _tables(part: Any, numbers: range) -> ComponentChoice:
    models = tuple(TableMixture(k, n_init=2, unseen="missing", random_state=0).fit(part) for k in numbers)
    scores = {
        name: np.array([[float(getattr(model, name)(part)) for model in models]])
        for name in ("bic", "icl", "aic")
    }
    return ComponentChoice(
        n_components=np.asarray(numbers),
        covariance_types=("independent columns",),
        scores=scores,
        criterion="icl",
        models=(models,),
    )


def _normal_code(numbers: range) -> str:
    return (
        "choice = tractable.select_components(\n"
        f"    PART,\n    range(1, {numbers.stop}),\n"
        '    ("full", "tied", "diag") if rows.shape[1] > 1 else ("full", "tied"),\n'
        '    criterion="icl",\n'
        "    estimator=tractable.GaussianMixture(n_init=2, random_state=0),\n)\n"
        "print(choice)\nmodel = choice.best_model\n"
    )


def _table_code(numbers: range) -> str:
    return (
        "models = [\n"
        '    tractable.TableMixture(k, n_init=2, unseen="missing", random_state=0).fit(PART)\n'
        f"    for k in range(1, {numbers.stop})\n]\n"
        "for model in models:\n"
        "    print(model.n_components, model.bic(PART), model.icl(PART))\n"
        "model = min(models, key=lambda model: (model.collapsed_.any(), model.icl(PART)))\n"
    )
