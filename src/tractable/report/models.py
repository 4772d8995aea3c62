"""Which model predicts the target best, by how much, how well it knows what it knows, and from what."""

from typing import Any

import numpy as np

from tractable.report.candidates import classifiers, encoder, regressors
from tractable.report.held_out import HeldOut, Importance, compared, folds, held_out, importances
from tractable.report.model_pictures import class_pictures, comparison, importance_picture, number_pictures
from tractable.report.model_rows import ModelRows, model_rows
from tractable.report.names import number_of
from tractable.report.rows import beginning, listed
from tractable.report.section import Grid, Section
from tractable.report.table import Table
from tractable.value import replace

__all__ = ["section"]

#: A difference of so many standard errors is no chance.
CLEAR = 2.0

Ranked = list[tuple[HeldOut, float, float]]


def section(table: Table, *, target: str | None = None, rng: np.random.Generator) -> Section | None:
    """Return how well models predict the target; None without one."""
    if target is None:
        return None
    rows = model_rows(table, target)
    if rows.trouble:
        return _nothing(table, target, rows)
    found, failed = _tried(rows)
    if not found or not found[0].name.startswith("the "):
        why = f"{target} cannot be predicted: not even its mean has a density for all rows."
        return _nothing(table, target, replace(rows, trouble=why, notes=(*rows.notes, *failed)))
    ranked = compared(found)
    best = ranked[0][0]
    columns = list(rows.X.columns)
    repeats = 3 if len(columns) < 13 else 1
    worth = importances(best, rows.X, rows.y, columns, rng, repeats) if _clear(found[0], ranked) else []
    pictures = class_pictures(best, rows) if rows.classes else number_pictures(best, rows, target, rng)
    drawn = (importance_picture(worth, target),) if worth else ()
    return Section(
        key="models",
        title=f"Predicting {target}",
        done=_done(rows, target, found),
        meaning=_meaning(rows, target, found[0], ranked, worth),
        assumptions=(
            "Rows are independent, and new rows will be like these; standard errors take the folds as one "
            "set of rows. What matters to a model is what it uses, not what causes the target; columns that "
            "say the same share what they are worth."
        ),
        code=_code(table, rows, found, best.name),
        pictures=(comparison(ranked), *pictures, *drawn),
        tables=(_ranking(rows, ranked), *_worth(worth)),
        notes=(*rows.notes, *failed, *_holes(rows), *_too_good(rows, best)),
        findings={
            "best": best.name,
            "scores": {one.name: one.mean for one, _, _ in ranked},
            "differences": {one.name: [less, error] for one, less, error in ranked},
            "what_matters": {one.column: [one.loss, one.standard_error] for one in worth},
        },
    )


def _tried(rows: ModelRows) -> tuple[list[HeldOut], list[str]]:
    """Return what each model said of rows it had not seen; a model that cannot be fitted is left out."""
    candidates = classifiers() if rows.classes else regressors()
    splits = folds(rows.y, classes=bool(rows.classes))
    width = _width(rows.X)
    found, failed = [], []
    for candidate in candidates:
        if width * candidate.rows_each > 0.8 * len(rows.y):
            failed.append(f"{candidate.name} left out: too few rows for {number_of(width, 'column')}.")
            continue
        try:
            found.append(held_out(candidate, rows.X, rows.y, splits))
        except (ValueError, ArithmeticError, np.linalg.LinAlgError) as error:
            failed.append(f"{candidate.name} left out: {str(error).strip().split(chr(10))[0][:150]}.")
    return found, failed


def _width(X: Any) -> int:
    """Return how many columns there are once categories are encoded."""
    return int(encoder(X).fit_transform(X).shape[1])


def _done(rows: ModelRows, target: str, found: list[HeldOut]) -> str:
    what = "probability" if rows.classes else "predictive density"
    return (
        f"{number_of(len(found) - 1, 'model')} and {found[0].name} predicted {target} from "
        f"{number_of(rows.X.shape[1], 'column')} for {number_of(len(rows.y), 'row')}, each row by models "
        f"fitted to the other four fifths, and are compared by the log {what} they gave to what is true."
    )


def _meaning(rows: ModelRows, target: str, base: HeldOut, ranked: Ranked, worth: list[Importance]) -> str:
    best = ranked[0][0]
    if not _clear(base, ranked):
        said = f"No model predicts {target} clearly better than {base.name}"
        return f"{said}: the other columns say little about it."
    gain, error = next((-less, err) for one, less, err in ranked if one is base)
    near = [one.name for one, less, err in ranked[1:] if one is not base and -less <= CLEAR * err]
    times, what = float(np.exp(min(gain, 700.0))), "class" if rows.classes else "value"
    also = f" It cannot be told apart from {listed(near)}." if near else ""
    matters = [one.column for one in worth if one.loss > CLEAR * one.standard_error]
    most = f" What matters most: {listed(matters, 4)}." if matters else ""
    return (
        f"{best.name} predicts {target} best: the true {what} is {times:.3g} times as probable as under "
        f"{base.name} ({gain:.3f} ± {error:.3f} in logarithms). {_accuracy(rows, best)}{also}{most}"
    )


def _clear(base: HeldOut, ranked: Ranked) -> bool:
    """Tell whether the best model is better than none, beyond what chance explains."""
    return any(one is base and -less > CLEAR * error for one, less, error in ranked)


def _accuracy(rows: ModelRows, best: HeldOut) -> str:
    if rows.classes:
        proba = best.gathered(lambda said, _: said.probabilities)
        right, common = (proba.argmax(1) == rows.y).mean(), np.bincount(rows.y).max() / len(rows.y)
        return f"It finds the class of {right:.1%} of rows; the most frequent has {common:.1%}."
    inside = best.gathered(lambda said, _: np.stack(said.interval(0.9), axis=-1))
    held = np.mean((inside[:, 0] <= rows.y) & (rows.y <= inside[:, 1]))
    error = np.sqrt(np.mean((best.gathered(lambda said, _: said.mean) - rows.y) ** 2))
    return (
        f"It errs by {error:.4g} (root mean square; the standard deviation is {rows.y.std():.4g}), and its "
        f"intervals of 90% hold {held:.0%} of the rows."
    )


def _ranking(rows: ModelRows, ranked: Ranked) -> Grid:
    lines = []
    for one, less, error in ranked:
        difference = "" if one is ranked[0][0] else f"{less:.3f} ± {error:.3f}"
        lines.append((one.name, f"{one.mean:.3f} ± {one.standard_error:.3f}", difference, _also(rows, one)))
    return Grid(
        title="Models compared",
        head=("model", "log score a row", "less than the best", "right" if rows.classes else "R²"),
        rows=tuple(lines),
        note="± one standard error; of differences, from pairs: both models on the same row.",
    )


def _also(rows: ModelRows, one: HeldOut) -> str:
    if rows.classes:
        proba = one.gathered(lambda said, _: said.probabilities)
        return f"{(proba.argmax(1) == rows.y).mean():.1%}"
    rest = one.gathered(lambda said, _: said.mean) - rows.y
    return f"{1.0 - np.mean(rest**2) / rows.y.var():.3f}"


def _worth(worth: list[Importance]) -> tuple[Grid, ...]:
    if not worth:
        return ()
    rows = tuple((one.column, f"{one.loss:.3f} ± {one.standard_error:.3f}") for one in worth[:15])
    return (
        Grid(
            title="What matters",
            head=("column", "log score lost without it"),
            rows=rows,
            note="Lost when a column's entries are dealt out to other rows at random; ± one standard error.",
        ),
    )


def _holes(rows: ModelRows) -> tuple[str, ...]:
    gaps = int(rows.X.isna().to_numpy().sum())
    if not gaps:
        return ()
    native = "NaiveBayes and QuadraticDiscriminant leave" if rows.classes else "TableMixture leaves"
    them = "the missing entry" if gaps == 1 else f"the {gaps:,} missing entries"
    told = (
        f"{native} {them} open; for other models numbers are filled with the mean, with a column that says "
        "so, and a missing category is one of its own."
    )
    return (told,)


def _too_good(rows: ModelRows, best: HeldOut) -> tuple[str, ...]:
    if not rows.classes or (best.gathered(lambda said, _: said.probabilities).argmax(1) != rows.y).any():
        return ()
    return ("Every row was predicted right: a column may say the target outright.",)


def _nothing(table: Table, target: str, rows: ModelRows) -> Section:
    return Section(
        key="models",
        title=f"Predicting {target}",
        done="No models were compared.",
        meaning=rows.trouble,
        assumptions="None.",
        code=table.code,
        notes=rows.notes,
        findings={"best": None},
    )


def _code(table: Table, rows: ModelRows, found: list[HeldOut], best: str) -> str:
    which, names = ("classifiers" if rows.classes else "regressors"), [one.name for one in found]
    encoded = best in ("LinearRegression", "BayesianRidge", "LogisticRegression", "LinearDiscriminant")
    used = sorted([which, "encoder"]) if encoded else [which]
    lines = (
        f"{rows.code}splits = folds(y, classes={bool(rows.classes)})\n"
        f"tried = [one for one in {which}() if one.name in {names!r}]\n"
        "found = [held_out(one, X, y, splits) for one in tried]\n"
        "for one, less, error in compared(found):\n    print(one.name, one.mean, less, error)\n\n"
    )
    if encoded:
        options = 'shrinkage="auto"' if best == "LinearDiscriminant" else ""
        lines += (
            "encode = encoder(X).fit(X)\n"
            f"model = tractable.{best}({options}).fit(encode.transform(X), y)\n"
            "predicted = model.predict_dist(encode.transform(X))\n"
        )
    else:
        lines += (
            f'best = next(one for one in tried if one.name == "{best}")\npredicted = best.learn(X, y)(X)\n'
        )
    imports = (
        f"from tractable.report.candidates import {', '.join(used)}\n"
        "from tractable.report.held_out import compared, folds, held_out\n"
    )
    return beginning(table, imports) + lines
