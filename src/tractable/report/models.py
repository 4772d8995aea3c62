"""Which model predicts the target best, by how much, how well it knows what it knows, and from what."""

from typing import Any

import numpy as np

from tractable.data.names import number_of
from tractable.report.candidates import Candidate, classifiers, encoder, regressors
from tractable.report.held_out import HeldOut, Importance, compared, folds, held_out, importances
from tractable.report.logarithms import OfLogarithm, is_skewed, log_regressors, middle, skewed_columns
from tractable.report.model_code import model_code
from tractable.report.model_pictures import class_pictures, comparison, importance_picture, number_pictures
from tractable.report.model_rows import ModelRows, model_rows
from tractable.report.model_words import Ranked, few_rows, is_base, is_clear, meaning, r_squared, share_right
from tractable.report.rows import listed
from tractable.report.section import Grid, Section
from tractable.report.table import Table
from tractable.report.telling import telling_columns
from tractable.report.unused import not_used
from tractable.value import replace

__all__ = ["section"]


def section(table: Table, *, target: str | None = None, rng: np.random.Generator) -> Section | None:
    """Return how well models predict the target; None without one."""
    if target is None:
        return None
    rows = model_rows(table, target)
    if rows.trouble:
        return _nothing(table, target, rows)
    logged = skewed_columns(rows.X) if not rows.classes and is_skewed(rows.y) else None
    found, failed = _tried(rows, logged)
    bases = [one for one in found if is_base(one)]
    if not bases:
        why = f"{target} cannot be predicted: not even its mean has a density for all rows."
        return _nothing(table, target, replace(rows, trouble=why, notes=(*rows.notes, *failed)))
    ranked, base = compared(found), max(bases, key=lambda one: one.mean)
    best, clear = ranked[0][0], is_clear(base, ranked)
    columns = list(rows.X.columns)
    repeats = 3 if len(columns) < 13 else 1
    worth = importances(best, rows.X, rows.y, columns, rng, repeats) if clear else []
    telling = [] if clear else [name for name in telling_columns(table, target) if name in columns]
    pictures = class_pictures(best, rows) if rows.classes else number_pictures(best, rows, target, rng)
    drawn = (importance_picture(worth, target),) if worth else ()
    return Section(
        key="models",
        title=f"Predicting {target}",
        done=_done(rows, target, found),
        meaning=meaning(rows, target, base, ranked, worth, telling),
        assumptions=(
            "Rows are independent, and new rows will be like these; standard errors take the folds as one "
            "set of rows. What matters to a model is what it uses, not what causes the target; columns that "
            "say the same share what they are worth."
        ),
        code=model_code(table, rows, found, best.name, logged, repeats),
        pictures=(comparison(ranked), *pictures, *drawn),
        tables=(_ranking(rows, ranked), *_worth(worth)),
        notes=(
            *rows.notes,
            *not_used(table, leave=target),
            *failed,
            *_holes(rows),
            *_too_good(rows, best),
            *_few(rows, best),
        ),
        findings={
            "best": best.name,
            "scores": {one.name: one.mean for one, _, _ in ranked},
            "differences": {one.name: [less, error] for one, less, error in ranked},
            "what_matters": {one.column: [one.loss, one.standard_error] for one in worth},
        },
    )


def _tried(rows: ModelRows, logged: list[str] | None) -> tuple[list[HeldOut], list[str]]:
    """Return what each model said of rows it had not seen; a model that cannot be fitted is left out."""
    candidates: tuple[Candidate, ...] = classifiers() if rows.classes else regressors()
    if logged is not None:
        candidates = (*candidates, *log_regressors(logged))
    splits = folds(rows.y, classes=bool(rows.classes))
    width = _width(rows.X)
    found: list[HeldOut] = []
    failed: list[str] = []
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
    bases = [one.name for one in found if is_base(one)]
    models = number_of(len(found) - len(bases), "model")
    return (
        f"{listed([models, *bases])} predicted {target} from "
        f"{number_of(rows.X.shape[1], 'column')} for {number_of(len(rows.y), 'row')}, each row by models "
        f"fitted to the other four fifths, and are compared by the log {what} they gave to what is true."
    )


def _ranking(rows: ModelRows, ranked: Ranked) -> Grid:
    lines = []
    for one, less, error in ranked:
        difference = "" if one is ranked[0][0] else f"{less:.3f} ± {error:.3f}"
        also = f"{share_right(rows, one):.1%}" if rows.classes else f"{r_squared(rows, one):.3f}"
        lines.append((one.name, f"{one.mean:.3f} ± {one.standard_error:.3f}", difference, also))
    of_logs = any(isinstance(one.parts[0][2], OfLogarithm) for one, _, _ in ranked)
    medians = " R² is of predictions: means, and medians of models of logarithms." if of_logs else ""
    return Grid(
        title="Models compared",
        head=("model", "log score a row", "less than the best", "right" if rows.classes else "R²"),
        rows=tuple(lines),
        note=f"± one standard error; of differences, from pairs: both models on the same row.{medians}",
    )


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


def _few(rows: ModelRows, best: HeldOut) -> tuple[str, ...]:
    """Say where a sum of squares is that of a few rows."""
    if rows.classes:
        return ()
    few = few_rows((best.gathered(lambda said, _: middle(said)) - rows.y) ** 2)
    if not few:
        return ()
    which = f"{best.name} is of {number_of(few, 'row')}"
    return (f"Half of the squared error of {which}: R² says little of the others.",)


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
