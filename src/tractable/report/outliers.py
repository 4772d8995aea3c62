"""Which rows are strange, and which of their entries make them so."""

import warnings
from typing import Any

import numpy as np
from sklearn.base import clone

from tractable.data.names import number_of
from tractable.report.grouping import Grouping, grouping, too_little
from tractable.report.outlier_pictures import pair_of_outliers, strangeness_picture
from tractable.report.repeats import imports_for
from tractable.report.rows import beginning, listed
from tractable.report.section import Grid, Section
from tractable.report.strangeness import N_DRAWS, Blame, Strangeness, blamed, strangeness
from tractable.report.table import Table
from tractable.report.unused import not_used

__all__ = ["section"]

#: Rows that are told, the strangest ones.
MOST_TOLD = 8

#: A component of fewer rows than this share may be made of the outliers themselves.
LEAST_SHARE = 0.03

#: So many rows as strange would be expected of the model, if all rows came from it.
EXPECTED = 0.5


def section(table: Table, *, target: str | None = None, rng: np.random.Generator) -> Section | None:
    """Return the rows of lowest density under a mixture of all columns; None where none can be fitted."""
    del target  # an unusual target makes a row as strange as anything else
    found = grouping(table)
    if found is None:
        return None
    frame = found.rows.frame
    limit = max(EXPECTED / len(frame), 5.0 / N_DRAWS)
    model, strange, left = _density(found, limit, rng)
    flagged = strange.order[strange.tails[strange.order] <= limit]
    told = [(i, _blame(model, found, i)) for i in strange.order[:MOST_TOLD]]
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
            strangeness_picture(strange, limit),
            *pair_of_outliers(frame, found.rows.numbers, flagged, outlying, rng),
        ),
        tables=(_grid(table, frame, strange, told),),
        notes=(*_notes(found, strange), *not_used(table)),
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
    return f"No outliers are looked for: {too_little(table)}."


def _density(found: Grouping, limit: float, rng: np.random.Generator) -> tuple[Any, Strangeness, np.ndarray]:
    """Return a mixture of the usual rows, how strange all are under it, and the rows it was not fitted to.

    What the first fit finds very strange is left out of the second, lest outliers hide themselves.
    """
    frame = found.rows.frame
    model = _plain(found)
    left = np.zeros(len(frame), dtype=bool)
    strange = strangeness(model, frame, rng)
    for _ in range(3):
        odd = np.nan_to_num(strange.tails, nan=1.0) <= limit
        if np.array_equal(odd, left) or odd.mean() > 0.1:
            break
        again = _fitted_again(model, frame[~odd], found.n_fitted)
        if again.collapsed_.any():
            break
        model, left = again, odd
        strange = strangeness(model, frame, rng)
    return model, strange, left


def _fitted_again(model: Any, usual: Any, most: int) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(model).fit(usual if len(usual) <= most else usual.sample(most, random_state=0))


def _plain(found: Grouping) -> Any:
    """Return the mixture of lowest BIC among those whose components all have their share of the rows."""
    choice, (_, best) = found.choice, found.choice.place("bic")
    open_to = [
        (choice.scores["bic"][i, j], i, j)
        for i, fits in enumerate(choice.models)
        for j, model in enumerate(fits)
        if j <= best and model.weights_.min() >= LEAST_SHARE and not choice.collapsed[i, j]
    ]
    if not open_to:
        return choice.models[0][0]
    _, i, j = min(open_to)
    return choice.models[i][j]


def _blame(model: Any, found: Grouping, i: int) -> list[Blame]:
    row = found.rows.frame.iloc[i].dropna().to_dict()
    return blamed(model, row, found.rows.categories)


def _done(model: Any, left: np.ndarray) -> str:
    again = ", fitted without the strangest rows," if left.any() else ""
    parts = number_of(int(model.n_components), "component")
    return (
        f"The log density of each row was taken under a mixture of {parts}{again} and compared with "
        f"{N_DRAWS:,} draws from it; for the strangest rows each entry was compared with what the rest of "
        "the row leads to expect."
    )


def _meaning(frame: Any, flagged: np.ndarray, limit: float, told: list[tuple[Any, list[Blame]]]) -> str:
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


def _grid(table: Table, frame: Any, strange: Strangeness, told: list[tuple[Any, list[Blame]]]) -> Grid:
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


def _notes(found: Grouping, strange: Strangeness) -> tuple[str, ...]:
    unjudged = int(np.isnan(strange.tails).sum())
    few = f"{number_of(unjudged, 'row')} with rare patterns of missing entries not judged."
    return (*found.rows.notes, few) if unjudged else found.rows.notes


def _code(table: Table, found: Grouping, model: Any, left: np.ndarray) -> str:
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
        beginning(table, imports_for(found.code))
        + found.rows.code
        + f"model = tractable.{type(model).__name__}({model.n_components}, {options})\n"
        + f"model.fit({usual})\n"
        + "log_density = model.score_samples(rows)\n"
        + f"print(rows.assign(log_density=log_density).nsmallest({MOST_TOLD}, 'log_density'))\n"
    )


def _once_in(share: float) -> str:
    return f"one in {1.0 / share:,.0f}"


def _shown(entry: Any) -> str:
    return f"{entry:.4g}" if isinstance(entry, float) else str(entry)
