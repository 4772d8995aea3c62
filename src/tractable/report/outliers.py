"""Which rows are strange, and which of their entries make them so."""

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone

from tractable.data.names import number_of
from tractable.distributions import Mixture, Normal
from tractable.plotting.style import COLOURS
from tractable.report.clusters import MAX_LINES, MAX_POINTS, FittedMixtures, fitted_mixtures, why_no_mixture
from tractable.report.rows import code_head, imports_for, listed, unused_note
from tractable.report.section import Grid, Picture, Section, canvas, picture_of
from tractable.report.table import Table
from tractable.value import value

__all__ = [
    "N_DRAWS",
    "OutlierScores",
    "UnexpectedEntry",
    "outlier_pair_picture",
    "outlier_scores",
    "score_picture",
    "section",
    "unexpected_entries",
]

#: Rows that are told, the strangest ones.
MAX_TOLD = 8

#: A component of fewer rows than this share may be made of the outliers themselves.
MIN_SHARE = 0.03

#: So many rows as strange would be expected of the model, if all rows came from it.
EXPECTED = 0.5

#: Draws from the model that a row is compared with, fewer where few rows have the same holes.
N_DRAWS, FEWER_DRAWS = 20_000, 4_000

#: Patterns of missing entries that are looked at, and that are common.
MAX_PATTERNS, COMMON = 100, 5

#: An entry is blamed from this probability of one as strange, given the rest of the row.
BLAMED = 0.01


@value
class OutlierScores:
    """How strange rows are under a model.

    Parameters
    ----------
    tails : array (n,)
        P(log p(X) ≤ log p(x)), by draws X of the model with the holes of x; NaN for rows not judged.
    below : array (n,)
        How far log p(x) is below the middle of log p(X).
    usual : array (m,)
        The same of draws, with the holes that most rows have.
    """

    tails: np.ndarray
    below: np.ndarray
    usual: np.ndarray

    @property
    def order(self) -> np.ndarray:
        """The rows that were judged, the strangest first."""
        order = np.lexsort((-self.below, self.tails))
        return order[~np.isnan(self.tails[order])]


@value
class UnexpectedEntry:
    """An entry that the rest of its row did not lead to expect.

    Parameters
    ----------
    column : str
    entry : float or str
    expected : str
        In words: nine tenths of what was to be expected, or the likeliest category.
    tail : float
        The probability of an entry as strange or stranger, given the rest of the row.
    """

    column: str
    entry: Any
    expected: str
    tail: float


def section(table: Table, *, target: str | None = None, rng: np.random.Generator) -> Section | None:
    """Return the rows of lowest density under a mixture of all columns; None where none can be fitted."""
    del target  # an unusual target makes a row as strange as anything else
    found = fitted_mixtures(table)
    if found is None:
        return None
    frame = found.rows.frame
    limit = max(EXPECTED / len(frame), 5.0 / N_DRAWS)
    model, strange, left = _density(found, limit, rng)
    flagged = strange.order[strange.tails[strange.order] <= limit]
    told = [(i, _blame(model, found, i)) for i in strange.order[:MAX_TOLD]]
    outlying = [(i, why) for i, why in told if strange.tails[i] <= limit]
    return Section(
        key="outliers",
        title="Outliers",
        done=_done(model, left),
        meaning=_meaning(frame, flagged, limit, told),
        assumptions=(
            "Rows come from the mixture, whose components are normal; a row is strange where the density of "
            "rows like it is low. A strange row is no mistake by itself: it is one to look at. Columns that "
            "are skewed or have long tails give more of them."
        ),
        code=_code(table, found, model, left),
        pictures=(
            score_picture(strange, limit),
            *outlier_pair_picture(frame, found.rows.numbers, flagged, outlying, rng),
        ),
        tables=(_grid(table, frame, strange, told),),
        notes=(*_notes(found, strange), *unused_note(table)),
        findings={
            "n_outliers": len(flagged),
            "n_expected": limit * len(frame),
            "positions": [int(frame.index[i]) for i in flagged[:50]],
            "columns": [[blame.column for blame in why] for _, why in outlying],
        },
    )


def why_not(table: Table, target: str | None) -> str:
    """Say why no outliers are looked for."""
    del target
    return f"No outliers are looked for: {why_no_mixture(table)}."


def _density(
    found: FittedMixtures, limit: float, rng: np.random.Generator
) -> tuple[Any, OutlierScores, np.ndarray]:
    """Return a mixture of the usual rows, how strange all are under it, and the rows it was not fitted to.

    What the first fit finds very strange is left out of the second, lest outliers hide themselves.
    """
    frame = found.rows.frame
    model = _plain(found)
    left = np.zeros(len(frame), dtype=bool)
    strange = outlier_scores(model, frame, rng)
    for _ in range(3):
        odd = np.nan_to_num(strange.tails, nan=1.0) <= limit
        if np.array_equal(odd, left) or odd.mean() > 0.1:
            break
        again = _fitted_again(model, frame[~odd], found.n_fitted)
        if again.collapsed_.any():
            break
        model, left = again, odd
        strange = outlier_scores(model, frame, rng)
    return model, strange, left


def _fitted_again(model: Any, usual: Any, most: int) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(model).fit(usual if len(usual) <= most else usual.sample(most, random_state=0))


def _plain(found: FittedMixtures) -> Any:
    """Return the mixture of lowest BIC among those whose components all have their share of the rows."""
    choice, (_, best) = found.choice, found.choice.place("bic")
    open_to = [
        (choice.scores["bic"][i, j], i, j)
        for i, fits in enumerate(choice.models)
        for j, model in enumerate(fits)
        if j <= best and model.weights_.min() >= MIN_SHARE and not choice.collapsed[i, j]
    ]
    if not open_to:
        return choice.models[0][0]
    _, i, j = min(open_to)
    return choice.models[i][j]


def _blame(model: Any, found: FittedMixtures, i: int) -> list[UnexpectedEntry]:
    row = found.rows.frame.iloc[i].dropna().to_dict()
    return unexpected_entries(model, row, found.rows.categories)


def _done(model: Any, left: np.ndarray) -> str:
    again = ", fitted without the strangest rows," if left.any() else ""
    parts = number_of(int(model.n_components), "component")
    return (
        f"The log density of each row was taken under a mixture of {parts}{again} and compared with "
        f"{N_DRAWS:,} draws from it; for the strangest rows each entry was compared with what the rest of "
        "the row leads to expect."
    )


def _meaning(
    frame: Any, flagged: np.ndarray, limit: float, told: list[tuple[Any, list[UnexpectedEntry]]]
) -> str:
    expected = limit * len(frame)
    if not len(flagged):
        return (
            f"No row is stranger than chance allows: none is stranger than all but {_once_in(limit)} "
            f"draws from the model, where {expected:.2g} would be expected of {len(frame):,} rows."
        )
    first, why = told[0]
    columns = listed(dict.fromkeys(b.column for _, blames in told[: len(flagged)] for b in blames))
    entry = f"{why[0].column} is {_shown(why[0].entry)}, where {why[0].expected} was to be expected"
    are = "row is" if len(flagged) == 1 else "rows are"
    return (
        f"{len(flagged):,} {are} stranger than all but {_once_in(limit)} draws from the model, where "
        f"{expected:.2g} would be expected by chance. Strangest is row {int(frame.index[first]) + 1}: "
        f"{entry}. Columns that make rows strange: {columns}."
    )


def _grid(
    table: Table, frame: Any, strange: OutlierScores, told: list[tuple[Any, list[UnexpectedEntry]]]
) -> Grid:
    keys = table.names("identifier")[:1]
    rows = []
    for i, why in told:
        place = int(frame.index[i])
        named = [_shown(table.frame[key].iloc[place]) for key in keys]
        words = "; ".join(f"{b.column} {_shown(b.entry)} (expected {b.expected})" for b in why)
        tail = strange.tails[i]
        odds = f"1 in {1 / tail:,.0f}" if tail > 0 else f"less than 1 in {N_DRAWS:,}"
        rows.append((str(place + 1), *named, odds, f"{strange.below[i]:.1f}", words))
    return Grid(
        title="The strangest rows",
        head=("row", *keys, "as strange or stranger", "log density below usual", "because of"),
        rows=tuple(rows),
        note="Rows are counted from 1. Expected: nine tenths of what the rest of the row leads to expect, or "
        "the likeliest category; an entry that was blamed is not used to judge the next.",
    )


def _notes(found: FittedMixtures, strange: OutlierScores) -> tuple[str, ...]:
    unjudged = int(np.isnan(strange.tails).sum())
    few = f"{number_of(unjudged, 'row')} with rare patterns of missing entries not judged."
    return (*found.rows.notes, few) if unjudged else found.rows.notes


def _code(table: Table, found: FittedMixtures, model: Any, left: np.ndarray) -> str:
    params = {"n_init": 2, "random_state": 0}
    if found.mixed:
        params["unseen"] = "missing"  # type: ignore[assignment]
    else:
        params = {"covariance_type": model.covariance_type, **params}
    options = ", ".join(f"{name}={value!r}" for name, value in params.items())
    n = found.n_fitted
    away = [int(i) for i in found.rows.frame.index[left]]
    usual = f"rows.drop(index={away!r})" if away else "rows"
    if n < len(found.rows.frame) - len(away):
        usual += f".sample({n}, random_state=0)"
    return (
        code_head(table, imports_for(found.code))
        + found.rows.code
        + f"model = tractable.{type(model).__name__}({model.n_components}, {options})\n"
        + f"model.fit({usual})\n"
        + "log_density = model.score_samples(rows)\n"
        + f"print(rows.assign(log_density=log_density).nsmallest({MAX_TOLD}, 'log_density'))\n"
    )


def _once_in(share: float) -> str:
    return f"one in {1.0 / share:,.0f}"


def _shown(entry: Any) -> str:
    return f"{entry:.4g}" if isinstance(entry, float) else str(entry)


def score_picture(strange: OutlierScores, limit: float) -> Picture:
    """Draw how far rows are below the usual log density, beside draws from the model."""
    below = strange.below[~np.isnan(strange.below)]
    edge = float(np.quantile(strange.usual, 1.0 - limit))
    low = min(below.min(), strange.usual.min())
    high = max(
        edge * 1.1, float(np.quantile(below, 0.999)), low + 1e-3
    )  # all may be as strange as each other
    edges = np.linspace(low, high, 41)
    with canvas() as (figure, ax):
        ax.hist(np.minimum(below, high), bins=edges, density=True, color=COLOURS[4], alpha=0.6, label="rows")
        ax.hist(
            strange.usual, bins=edges, density=True, histtype="step", color="0.3", lw=1.2, label="expected"
        )
        ax.axvline(edge, color=COLOURS[5], lw=1.2, ls="--", label="strange from here")
        ax.set(xlabel="log density below usual", ylabel="share of rows", yticks=[])
        ax.legend(frameon=False, fontsize="small")
        return picture_of(
            figure,
            alt="A histogram of how far rows are below the usual log density",
            caption="Rows to the right of the dashed line are stranger than the model leads to expect; rows "
            "beyond the edge are counted in the last bar.",
        )


def outlier_pair_picture(
    frame: Any, numbers: tuple[str, ...], flagged: np.ndarray, told: list[Any], rng: np.random.Generator
) -> tuple[Picture, ...]:
    """Draw the rows in the two columns that are blamed most, with the strange ones circled and numbered."""
    pair = _blamed_pair(frame, numbers, told)
    if pair is None:
        return ()
    x = frame[list(pair)].to_numpy(dtype=np.float64)
    shown = np.flatnonzero(~np.isnan(x).any(axis=1))
    if len(shown) > MAX_POINTS:
        shown = np.sort(rng.choice(shown, MAX_POINTS, replace=False))
    with canvas(height=4.0) as (figure, ax):
        ax.scatter(*x[shown].T, s=10, lw=0, color="0.6", alpha=0.6)
        ax.scatter(*x[flagged].T, s=60, facecolors="none", edgecolors=COLOURS[5], linewidths=1.4)
        for i, _ in told:
            if np.isfinite(x[i]).all():
                ax.annotate(
                    str(int(frame.index[i]) + 1), x[i], xytext=(6, 4), textcoords="offset points", fontsize=8
                )
        ax.set(xlabel=pair[0], ylabel=pair[1])
        picture = picture_of(
            figure,
            alt=f"Rows by {pair[0]} and {pair[1]}, the strange ones circled",
            caption="Strange rows, circled, in the two columns that make most of them so. A row may be "
            "strange for another column.",
            pixels=len(shown) > MAX_LINES,
        )
    return (picture,)


def _blamed_pair(frame: Any, numbers: tuple[str, ...], told: list[Any]) -> tuple[str, str] | None:
    """Return the column that is blamed most and the next one, or that which is most like it."""
    counts = dict.fromkeys(numbers, 0)
    for _, why in told:
        for blame in why:
            if blame.column in counts:
                counts[blame.column] += 1
    order = sorted(numbers, key=lambda name: -counts[name])
    if len(order) < 2 or counts[order[0]] == 0:
        return None
    if counts[order[1]]:
        return order[0], order[1]
    alike = frame[list(numbers)].corr()[order[0]].drop(order[0]).abs().fillna(0.0)
    return order[0], str(alike.idxmax())


def outlier_scores(model: Any, frame: Any, rng: np.random.Generator) -> OutlierScores:
    """Return how strange rows are: rows with holes are compared with draws that have the same holes.

    Rows whose holes few other rows share are not judged.
    """
    scores = np.asarray(model.score_samples(frame))
    patterns, which, counts = np.unique(
        frame.isna().to_numpy(), axis=0, return_inverse=True, return_counts=True
    )
    drawn = model.sample(N_DRAWS, random_state=rng)[0]
    tails, below = np.full(len(frame), np.nan), np.full(len(frame), np.nan)
    common = np.argsort(-counts, kind="stable")[:MAX_PATTERNS]
    usual = {}
    for rank, k in enumerate(common):
        some = drawn if rank < COMMON else drawn[:FEWER_DRAWS]
        usual[k] = np.sort(np.asarray(model.score_samples(_with_holes(some, patterns[k], frame))))
        mine = which.ravel() == k
        tails[mine] = np.searchsorted(usual[k], scores[mine], side="right") / len(usual[k])
        below[mine] = np.median(usual[k]) - scores[mine]
    most = usual[common[0]]
    return OutlierScores(tails=tails, below=below, usual=np.median(most) - most)


def unexpected_entries(
    model: Any, row: dict[str, Any], categories: tuple[str, ...], most: int = 3
) -> list[UnexpectedEntry]:
    """Return the entries of a row (its missing ones left out) that the others did not lead to expect.

    The strangest entry is taken first and forgotten, so that it does not throw suspicion on the others.
    """
    found: list[UnexpectedEntry] = []
    known = dict(row)
    while known and len(found) < most:
        rests = {name: _rest(model, known, name, name in categories) for name in known}
        name = min(known, key=lambda one: _suspicion(rests[one], known[one]))
        tail = _suspicion(rests[name], known[name])[0]
        if found and tail > BLAMED:
            break
        found.append(
            UnexpectedEntry(column=name, entry=known.pop(name), expected=_expected(rests[name]), tail=tail)
        )
    return found


def _rest(model: Any, known: dict[str, Any], name: str, category: bool) -> Any:
    """Return the distribution of a column given the other entries: of numbers, or the share of each level."""
    given = {other: entry for other, entry in known.items() if other != name}
    rest = (model.condition(given) if given else model.distribution_).marginal([name])
    if not category:
        return _on_a_line(rest)
    levels = model.categories_[name]
    shares = np.asarray(rest.prob(np.arange(len(levels), dtype=np.float64)[:, None]))
    return dict(zip(levels, shares.tolist(), strict=True))


def _suspicion(rest: Any, entry: Any) -> tuple[float, float]:
    """Return the probability of an entry as strange, and a number that falls on where that is zero."""
    if isinstance(rest, dict):
        mine = rest.get(entry, 0.0)
        return sum(share for share in rest.values() if share <= mine * (1.0 + 1e-9)), 0.0
    tail = 2.0 * min(float(rest.cdf(entry)), float(rest.survival(entry)))
    return min(1.0, tail), -abs(float(entry) - float(rest.mean)) / float(rest.stddev)


def _expected(rest: Any) -> str:
    if isinstance(rest, dict):
        best = max(rest, key=lambda level: rest[level])
        return f"{best} ({rest[best]:.0%})"
    low, high = (float(end) for end in rest.interval(0.9))
    return f"{low:.4g} to {high:.4g}"


def _on_a_line(rest: Any) -> Any:
    """Return a mixture of one column as a mixture of numbers, which has tails and quantiles."""
    parts = rest.components
    if hasattr(parts, "parts"):
        return Mixture(weights=rest.weights, components=parts.parts[0])
    mean, stddev = parts.mean[..., 0], np.sqrt(parts.covariance[..., 0, 0])
    return Mixture(weights=rest.weights, components=Normal(mean=mean, stddev=stddev))


def _with_holes(drawn: Any, holes: np.ndarray, frame: Any) -> Any:
    """Return drawn rows as a frame with some columns empty."""
    import pandas as pd

    table = pd.DataFrame(drawn, columns=frame.columns) if isinstance(drawn, np.ndarray) else drawn
    if not holes.any():
        return table
    return table.assign(
        **{str(name): None if table[name].dtype == object else np.nan for name in frame.columns[holes]}
    )
