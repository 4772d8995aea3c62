"""Clusters of the rows, by the mixture that ICL chooses."""

import warnings
from collections.abc import Iterator
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from tractable.data.names import number_of
from tractable.mixture.selection import ComponentChoice
from tractable.plotting import plot
from tractable.plotting.regions import ellipse_points, mahalanobis_radius
from tractable.plotting.style import COLOURS, legend
from tractable.report.mixtures import (
    FittedMixtures,
    Membership,
    fitted_mixtures,
    membership,
    why_no_mixture,
)
from tractable.report.page import (
    MARKERS,
    MAX_POINTS,
    MAX_VECTOR,
    Grid,
    Picture,
    Section,
    canvas,
    number_text,
    picture_of,
)
from tractable.report.rows import code_head, imports_for, listed, sampled, unused_note
from tractable.report.table import Table
from tractable.report.time_order import TimeOrder, time_order
from tractable.value import value

#: Columns that are named as distinguishing a cluster, at most, and the largest area of a point.
MAX_NAMED, MAX_AREA = 3, 200

#: A column distinguishes a cluster if its mean differs by more standard deviations than this.
MIN_DIFFERENCE = 0.5

#: The probability from which the cluster of a row is sure.
SURE = 0.9

#: What groups must have to be called natural: by how much ICL is better than that of one group, the share of
#: sure rows, the share of resamples that find them again, and the largest density between two of them,
#: relative to the lower of their peaks.
MIN_GAIN, MIN_SURE, MIN_FOUND, MAX_VALLEY = 10.0, 0.8, 0.8, 0.8

#: Resamples, the rows of each at most, and the adjusted Rand index from which groups are the same.
N_RESAMPLES, RESAMPLED_ROWS, SAME_GROUPS = 20, 500, 0.8

#: Groups that change so much more rarely from row to row in time than at random are stretches of time.
STRETCHES = 0.2

#: What distinguishes a cluster: a column, its difference in standard deviations, and words.
Difference = tuple[str, float, str]


@value
class Grouping:
    """Whether the components of a mixture are natural groups of the rows."""

    n_components: int
    gain: float  # ICL of one component, less that of the mixture
    share_sure: float
    n_found: int  # resamples that find the same groups
    doubt: str  # why the groups are not natural; empty if they are

    @property
    def natural(self) -> bool:
        """Whether there are several groups, and no doubt about them."""
        return self.n_components > 1 and not self.doubt


def section(table: Table, *, target: str | None = None, rng: Any) -> Section | None:
    """Return the natural groups of the rows; None if there is too little data.

    The target is left out of the mixture and compared with the clusters afterwards.
    """
    found = fitted_mixtures(table, target)
    if found is None:
        return None
    members = membership(found)
    grouping = grouping_of(table, target, found, members)
    differences = _differences(found, members)
    tables = (_sizes(members, differences), *_against(table, found, members, target))
    return Section(
        key="clusters",
        title="Clusters",
        done=_done(found, target),
        meaning=_meaning(found, grouping, differences),
        assumptions=_assumptions(found),
        code=code_head(table, imports_for(found.code))
        + found.code
        + "labels = model.predict(rows)\nprobabilities = model.predict_proba(rows)\n",
        pictures=(_criterion_picture(found.choice), *_scatter_picture(found, members, grouping, rng)),
        tables=tables if grouping.natural else (),
        notes=(*_notes(found), *unused_note(table, leave=target or ())),
        headline=_headline(grouping, differences),
        findings={
            "n_clusters": len(members.sizes) if grouping.natural else 1,
            "n_components": grouping.n_components,
            "natural": grouping.natural,
            "doubt": grouping.doubt,
            "found_again": grouping.n_found,
            "by_bic": int(found.model("bic").n_components),
            "sizes": members.sizes.tolist() if grouping.natural else [int(members.sizes.sum())],
            "share_sure": grouping.share_sure,
            "set_apart_by": [[name for name, _, _ in row[:MAX_NAMED]] for row in differences],
        },
    )


#: The groupings of each table, by the column that is left out.
_groupings: WeakKeyDictionary[Table, dict[str | None, Grouping]] = WeakKeyDictionary()


def grouping_of(table: Table, leave: str | None, found: FittedMixtures, members: Membership) -> Grouping:
    """Return whether the components of the chosen mixture are natural groups; computed once for a table."""
    known = _groupings.setdefault(table, {})
    if leave not in known:
        known[leave] = _grouping(table, found, members)
    return known[leave]


def _grouping(table: Table, found: FittedMixtures, members: Membership) -> Grouping:
    icl = found.choice.scores["icl"]
    gain = float(icl[:, 0].min() - icl[found.choice.position("icl")])
    sure = float((members.confidence >= SURE).mean())
    k, n_found, doubt = len(members.sizes), 0, next(_doubts(table, found, members, gain, sure), "")
    if k > 1 and not doubt:  # resamples last, which take longest
        n_found = found_again(found, members)
        if n_found < MIN_FOUND * N_RESAMPLES:
            doubt = (
                f"the same groups were found only in {n_found} of {N_RESAMPLES} random samples of the rows"
            )
    return Grouping(n_components=k, gain=gain, share_sure=sure, n_found=n_found, doubt=doubt)


def _doubts(
    table: Table, found: FittedMixtures, members: Membership, gain: float, sure: float
) -> Iterator[str]:
    """Yield why the components of a mixture are not natural groups."""
    choice, most = found.choice, int(found.choice.n_components[-1])
    if len(members.sizes) == 1:
        larger = choice.collapsed[:, 1:]
        if larger.size and larger[choice.position("icl")[0]].all():
            among = "" if larger.all() else f" with {choice.best_model.covariance_type} covariances"
            yield f"components shrank to single values in all larger mixtures{among}"
        return
    if choice.collapsed.all():
        yield "components shrank to single values in all mixtures"
    if choice.best_model.n_components == most:
        yield f"more components describe the rows ever better, up to the {most} tried"
    if gain < MIN_GAIN:
        yield f"it is hardly better than one group (its ICL by {number_text(gain, 2)}, where 10 is much)"
    if sure < MIN_SURE:
        yield f"only {sure:.0%} of the rows belong to a component with a probability of {SURE:.0%} or more"
    times = time_order(table)
    if times is not None and _are_stretches(times, found, members):
        yield f"the components are stretches of {times.column}, through which the columns change"
    overlap, (a, b) = largest_overlap(found, members)
    if overlap > MAX_VALLEY:
        yield f"components {a + 1} and {b + 1} are not apart: about as many rows lie between as in them"


def _are_stretches(times: TimeOrder, found: FittedMixtures, members: Membership) -> bool:
    """Return whether groups change much more rarely from row to row in time than at random.

    In a panel that is from row to row of each unit.
    """
    labels = dict(zip(found.rows.frame.index.tolist(), members.labels.tolist(), strict=True))
    order = np.array([i for i in times.order.tolist() if i in labels])
    in_time = np.array([labels[i] for i in order.tolist()])
    units = np.zeros(len(order), dtype=int) if times.units is None else times.units[order]
    changes = at_random = 0.0
    for unit in np.unique(units):
        mine = in_time[units == unit]
        shares = np.bincount(mine) / len(mine)
        changes += float(np.sum(mine[1:] != mine[:-1]))
        at_random += (len(mine) - 1) * (1.0 - float(np.sum(shares**2)))
    return changes < STRETCHES * at_random


def largest_overlap(found: FittedMixtures, members: Membership) -> tuple[float, tuple[int, int]]:
    """Return the largest density between two groups relative to the lower of their peaks, and the two.

    The rows of two groups are projected on the direction Σ_w⁻¹ (μ_a - μ_b) that separates them best, and
    smoothed. Parts of one curved or elongated group have no valley between them: the ratio is one.
    """
    x, labels = _indicators(found), members.labels
    worst, pair = 0.0, (0, 0)
    for a in range(len(members.sizes)):
        for b in range(a + 1, len(members.sizes)):
            ratio = _valley(x[labels == a], x[labels == b])
            if ratio > worst:
                worst, pair = ratio, (a, b)
    return worst, pair


def _indicators(found: FittedMixtures) -> np.ndarray:
    """Return rows as standardised numbers, with indicators of categories; missing entries are the mean."""
    from pandas import get_dummies

    frame = get_dummies(found.modelled, columns=list(found.rows.categories), dtype=float)
    return _standardised(frame)


def _standardised(frame: Any) -> np.ndarray:
    """Return standardised columns of numbers, missing entries as the mean."""
    x = frame.to_numpy(dtype=np.float64)
    spread = np.nanstd(x, axis=0)
    return np.nan_to_num((x - np.nanmean(x, axis=0)) / np.where(spread > 0.0, spread, 1.0))


def _valley(a: np.ndarray, b: np.ndarray) -> float:
    if min(len(a), len(b)) < 3:
        return 0.0
    step = a.mean(axis=0) - b.mean(axis=0)
    within = (np.cov(a.T, bias=True) * len(a) + np.cov(b.T, bias=True) * len(b)) / (len(a) + len(b))
    direction = np.linalg.solve(np.atleast_2d(within) + 1e-3 * np.eye(len(step)), step)
    x, y = a @ direction, b @ direction
    ends = np.median(y), np.median(x)
    both = np.concatenate([x, y])
    # The width that smooths the wider of the two groups best, if it is normal.
    spread = max(float(np.std(x)), float(np.std(y)), 1e-12)
    h = 0.9 * spread * min(len(a), len(b)) ** -0.2
    at = np.linspace(*ends, 61)
    density = np.exp(-0.5 * ((at[:, None] - both) / h) ** 2).sum(axis=1)
    return float(density.min() / min(density[0], density[-1]))


def found_again(found: FittedMixtures, members: Membership) -> int:
    """Return in how many random samples of four fifths of the rows the same groups are found."""
    from sklearn.base import clone
    from sklearn.metrics import adjusted_rand_score

    near = found.modelled[~found.extreme]
    labels = members.labels[~found.extreme]
    n = min(int(0.8 * len(near)), RESAMPLED_ROWS)
    rng, again = np.random.default_rng(0), 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(N_RESAMPLES):
            mine = rng.permutation(len(near))[:n]
            model = clone(found.choice.best_model).set_params(random_state=int(rng.integers(2**31)))
            said = model.fit(near.iloc[mine]).predict(near)
            again += adjusted_rand_score(labels, said) >= SAME_GROUPS
    return int(again)


def why_not(table: Table, target: str | None) -> str:
    """Return why no clusters are looked for."""
    return f"No clusters are looked for: {why_no_mixture(table, target)}."


def _done(found: FittedMixtures, target: str | None) -> str:
    n, k = found.n_fitted, int(found.choice.n_components[-1])
    what = "mixtures of numbers and categories" if found.mixed else "mixtures of multivariate normals"
    whole = "" if n == len(found.rows.frame) else ", chosen at random"
    besides = f"; the target, {target}, was not shown to them" if target else ""
    columns = number_of(found.rows.frame.shape[1], "column")
    skewed = f" Of {listed(found.logged)} the logarithm was modelled." if found.logged else ""
    several = len(found.choice.covariance_types) > 1
    shapes = ", and of several shapes of their covariances," if several else ""
    return (
        f"{what.capitalize()} of 1 to {number_of(k, 'component')} were fitted to {columns} of "
        f"{number_of(n, 'row')}{whole}; of the numbers of components{shapes} the integrated "
        f"completed likelihood (ICL) chose one{besides}. Its components are called groups if they are much "
        "better than one, most rows are sure, few rows lie between them, and random samples of the rows "
        f"give the same.{skewed}{_prior_text(found)}"
    )


def _prior_text(found: FittedMixtures) -> str:
    """Return that there is a prior on the covariances, if there is."""
    if found.choice.best_model.covariance_prior is None:
        return ""
    return " A prior on the covariances keeps components from shrinking to single values."


def _headline(grouping: Grouping, differences: list[list[Difference]]) -> str:
    """Return whether the rows fall into groups; empty if the first sentence of the meaning says it."""
    if not grouping.natural:
        return ""
    columns = _setting_apart(differences)
    apart = f", set apart most by {listed(columns, 3)}" if columns else ""
    again = f"found again in {grouping.n_found} of {N_RESAMPLES} random samples of the rows"
    return f"The rows fall into {grouping.n_components} groups{apart}, {again}."


def _setting_apart(differences: list[list[Difference]]) -> list[str]:
    """Return the column in which each cluster differs most, none twice."""
    return list(dict.fromkeys(row[0][0] for row in differences if row))


def _meaning(found: FittedMixtures, grouping: Grouping, differences: list[list[Difference]]) -> str:
    k = grouping.n_components
    if k == 1 and not grouping.doubt:
        return "No groups of rows that are apart were found: the rows are best described as one group."
    if not grouping.natural:
        mixture = f"the best mixture has {number_of(k, 'component')}, but " if k > 1 else ""
        return f"There is no natural number of groups: {mixture}{grouping.doubt}."
    columns = _setting_apart(differences)
    apart = f"set apart most by {listed(columns)}" if columns else "which no column by itself sets apart"
    by_bic = int(found.model("bic").n_components)
    also = "BIC agrees" if by_bic == k else f"BIC would take {number_of(by_bic, 'component')}"
    return (
        f"The rows fall into {k} groups, {apart}. {grouping.share_sure:.0%} of the rows belong to their "
        f"group with a probability of {SURE:.0%} or more, and the groups were found again in "
        f"{grouping.n_found} of {N_RESAMPLES} random samples of the rows. {also}; one group for all would "
        f"have an ICL worse by {number_text(grouping.gain)}, where 10 is much."
    )


def _assumptions(found: FittedMixtures) -> str:
    full = found.choice.best_model.covariance_type == "full"
    apart = "categories are independent of all else" if full else "columns are independent"
    inside = (
        f"Within a cluster {apart}, numbers normal, categories of their own probabilities."
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
    return str(mine.name), z, f"{mine.name} {number_text(x)} ({'high' if z > 0.0 else 'low'})"


def _category_difference(all_rows: Any, mine: Any) -> Difference | None:
    overall, here = all_rows.value_counts(normalize=True), mine.value_counts(normalize=True)
    overall = overall[overall > 0.0]
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
        first="cluster",
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
        rows = [
            (str(k + 1), number_text(g.mean()), number_text(g.std(ddof=0), 3)) for k, g in enumerate(groups)
        ]
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
    choice = found.choice
    if found.extreme.any():
        far = number_of(int(found.extreme.sum()), "row")
        notes.append(f"{far} with an entry far from all others not used to fit the mixtures.")
    if choice.collapsed.any():
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
    found: FittedMixtures, members: Membership, grouping: Grouping, rng: np.random.Generator
) -> tuple[Picture, ...]:
    """Draw the rows over the two columns that separate the groups best, with an ellipse for each."""
    numbers, k = found.rows.numbers, len(members.sizes)
    if not numbers or not grouping.natural:
        return ()
    if len(numbers) == 1:
        return (_histogram_picture(found, members),)
    names = separating_pair(found.modelled[list(numbers)], members.labels)
    x = found.rows.frame[list(names)].to_numpy(dtype=np.float64)
    shown = sampled(np.flatnonzero(~np.isnan(x).any(axis=1)), MAX_POINTS, rng)
    means, covariances = _components(found.choice.best_model, names)
    several = False  # whether rows lie at one point, which is drawn larger
    with canvas(height=4.0) as (figure, ax):
        for j in range(k):
            mine = shown[members.labels[shown] == j]
            colour = COLOURS[j % len(COLOURS)]
            style = {"lw": 0, "alpha": 0.6, "marker": MARKERS[j % len(MARKERS)], "label": str(j + 1)}
            at, counts = np.unique(x[mine], axis=0, return_counts=True)
            several |= bool((counts > 1).any())
            ax.scatter(*at.T, s=np.minimum(12 * counts, MAX_AREA), color=colour, **style)
            component = members.order[j]
            ring = ellipse_points(means[component], covariances[component], mahalanobis_radius(0.9))
            logged = np.array([name in found.logged for name in names])
            ring = np.where(logged, np.exp(np.where(logged, ring, 0.0)), ring)
            ax.plot(*ring.T, color=colour, lw=1.5)
        ax.set(xlabel=names[0], ylabel=names[1])
        ax.set(
            **{f"{axis}scale": "log" for axis, name in zip("xy", names, strict=True) if name in found.logged}
        )
        if k > 1:
            legend(ax, head="cluster")
        picture = picture_of(
            figure,
            alt=f"Rows by {names[0]} and {names[1]}, coloured by cluster, with an ellipse for each",
            caption=f"An ellipse holds nine tenths of its cluster. Of all pairs of columns, {names[0]} and "
            f"{names[1]} tell the clusters apart best.{' A larger point is several rows.' if several else ''}"
            if k > 1
            else "The ellipse holds nine tenths of the rows, if they are normal.",
            pixels=len(shown) > MAX_VECTOR,
        )
    return (picture,)


def separating_pair(frame: Any, labels: np.ndarray) -> tuple[str, str]:
    """Return the two columns that separate the clusters best, by Wilks' |W| / |T| of each pair.

    With one cluster: the two of the largest correlation.
    """
    x = _standardised(frame)
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
    components = model.marginal(list(names)).components
    return np.asarray(components.mean), np.asarray(components.covariance)


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
