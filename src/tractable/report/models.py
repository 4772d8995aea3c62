"""Models of the target: compared by held-out log scores, with calibration and importances."""

import logging
from collections.abc import Sequence
from typing import Any

import numpy as np

from tractable.data.names import number_of
from tractable.metrics import CalibrationCurve, class_calibration, confusion_matrix
from tractable.plotting import plot
from tractable.plotting.style import COLOURS, legend
from tractable.report.candidates import (
    Candidate,
    classifiers,
    is_skewed,
    log_regressors,
    regressors,
    skewed_columns,
)
from tractable.report.fitted import LogTransformed, encoder, point_prediction
from tractable.report.held_out import (
    HeldOut,
    Importance,
    ModelRows,
    compared,
    folds,
    held_out,
    importances,
    model_rows,
)
from tractable.report.mutual_information import informative_columns
from tractable.report.page import (
    Grid,
    Picture,
    Section,
    canvas,
    capitalised,
    number_and_error,
    number_text,
    picture_of,
    sentences,
    shortened,
)
from tractable.report.rows import code_head, imports_for, listed, unused_note
from tractable.report.table import Table
from tractable.report.time_order import TimeOrder, time_order, with_dates
from tractable.value import replace

#: Standard errors from which a difference is clear.
CLEAR = 2.0

#: The R² above which a model is informative, and the importance relative to the largest that is listed.
MIN_R2, MIN_IMPORTANCE = 0.1, 0.05

#: The share of a target that a column determines if it leaks it; differences of coverage that are reported.
MIN_LEAK, MIN_MISS = 0.98, 0.03

#: Rows whose intervals are drawn, and columns whose importances are.
MAX_INTERVALS, MAX_COLUMNS = 200, 12

#: Probabilities at which quantiles are compared with the targets.
LEVELS = np.arange(1, 10) / 10.0

#: Models that integrate over missing entries.
MARGINALISING = ("naive Bayes", "quadratic discriminant analysis", "mixture of all columns")

#: How sentences begin that limit what is said of a model.
CAVEATS = ("They are too", "It never says", "Its probabilities are too")

#: Models with their difference from the best and its standard error, the best first.
Ranked = list[tuple[HeldOut, float, float]]


def section(table: Table, *, target: str | None = None, rng: np.random.Generator) -> Section | None:
    """Return how well models predict the target; None without a target."""
    if target is None:
        return None
    times, table = time_order(table), with_dates(table)
    rows = model_rows(table, target)
    if rows.reason:
        return _nothing(table, target, rows)
    if times is not None and not times.depends(rows.y, rows.X.index.to_numpy()):
        times = None
    logged = skewed_columns(rows.X) if not rows.classes and is_skewed(rows.y) else None
    in_time = None if times is None else times.times[rows.X.index]
    splits = folds(rows.y, classes=bool(rows.classes), times=in_time)
    found, failed = _compared_models(rows, logged, splits)
    bases = [one for one in found if _is_baseline(one)]
    if not bases:
        why = f"{target} cannot be predicted: not even its mean has a density for all rows."
        return _nothing(table, target, replace(rows, reason=why, notes=(*rows.notes, *failed)))
    ranked, base = compared(found), max(bases, key=lambda one: one.mean)
    best, clear, leaks = ranked[0][0], _is_clear(base, ranked), leaking_columns(rows, table.names("date"))
    columns = list(rows.X.columns)
    repeats = 3 if len(columns) < 13 else 1
    importance, unknown = _importances(best, rows, rng, repeats) if clear else ([], ())
    informative = [] if clear else [name for name in informative_columns(table, target) if name in columns]
    pictures = _class_pictures(best, rows) if rows.classes else _number_pictures(best, rows, target, rng)
    drawn = (_importance_picture(importance, rows, target),) if importance else ()
    return Section(
        key="models",
        title=f"Predicting {target}",
        done=_done(rows, target, found, times),
        meaning=_meaning(rows, target, base, ranked, importance, informative)
        + _warnings(rows, target, leaks, times),
        assumptions=(
            "Rows are independent, and new rows will be like these; standard errors take the folds as one "
            "set of rows. What matters to a model is what it uses, not what causes the target; columns that "
            "hold the same information share their importance."
        ),
        code=_code(table, rows, found, best.name, logged, repeats, times),
        pictures=(_comparison_picture(ranked), *pictures, *drawn),
        tables=(_ranking(rows, ranked), *_importance_grid(importance, rows, target)),
        notes=(
            *rows.notes,
            *unused_note(table, "text", "identifier", leave=target),
            *failed,
            *_missing_note(rows, found),
            *_best_note(rows, best),
            *unknown,
        ),
        headline=_headline(rows, target, base, ranked),
        findings={
            "best": best.name,
            "scores": {one.name: one.mean for one, _, _ in ranked},
            "differences": {one.name: [less, error] for one, less, error in ranked},
            "leaks": [*rows.copies, *(name for name, _ in leaks)],
            "in_time": None if times is None else times.column,
            "what_matters": {
                one.column: {
                    "added_error": [one.added_error, one.added_error_standard_error],
                    "log_score_lost": [one.loss, one.standard_error],
                }
                for one in importance
            },
        },
    )


def _compared_models(
    rows: ModelRows, logged: list[str] | None, splits: list[tuple[np.ndarray, np.ndarray]]
) -> tuple[list[HeldOut], list[str]]:
    """Return the held-out predictions of each candidate, and notes on those that cannot be fitted."""
    candidates: tuple[Candidate, ...] = classifiers() if rows.classes else regressors()
    if logged is not None:
        candidates = (*candidates, *log_regressors(logged))
    n, width = len(rows.y), int(encoder(rows.X)(rows.X).shape[1])
    found: list[HeldOut] = []
    too_wide: list[str] = []
    failed: list[str] = []
    for candidate in candidates:
        if width * candidate.rows_each > 0.8 * n:
            too_wide.append(candidate.name)
            continue
        try:
            found.append(held_out(candidate, rows.X, rows.y, splits))
        except (ValueError, ArithmeticError, np.linalg.LinAlgError) as error:
            logging.getLogger("tractable").info("%s left out: %r", candidate.name, error)
            failed.append(f"{capitalised(candidate.name)} left out: it cannot be fitted to these rows.")
    if too_wide:
        columns = number_of(rows.X.shape[1], "column")
        coded = f", {width:,} with one for each category" if width > rows.X.shape[1] else ""
        failed.append(f"{capitalised(listed(too_wide))} left out: too few rows ({n:,}) for {columns}{coded}.")
    return found, failed


def _importances(
    best: HeldOut, rows: ModelRows, rng: np.random.Generator, repeats: int
) -> tuple[list[Importance], tuple[str, ...]]:
    """Return what each column adds to the best model, or a note that this cannot be said of it."""
    try:
        return importances(best, rows.X, rows.y, list(rows.X.columns), rng, repeats), ()
    except (ValueError, ArithmeticError, np.linalg.LinAlgError) as error:
        logging.getLogger("tractable").info("importances to %s: %r", best.name, error)
        return [], (f"What matters is not said: {best.name} cannot predict some rows with shuffled entries.",)


def _done(rows: ModelRows, target: str, found: list[HeldOut], times: TimeOrder | None) -> str:
    what = "probability" if rows.classes else "predictive density"
    bases = [one.name for one in found if _is_baseline(one)]
    models = number_of(len(found) - len(bases), "model")
    stretches = "" if times is None else f" (the fifths are stretches of {times.column})"
    return (
        f"{listed([models, *bases])} predicted {target} from "
        f"{number_of(rows.X.shape[1], 'column')} for {number_of(len(rows.y), 'row')}, each row by models "
        f"fitted to the other four fifths{stretches}, and are compared by the log {what} they gave to what "
        "is true."
    )


def _ranking(rows: ModelRows, ranked: Ranked) -> Grid:
    lines = []
    for one, less, error in ranked:
        difference = "" if one is ranked[0][0] else f"{less:.3f} ± {error:.3f}"
        also = [f"{_accuracy(rows, one):.1%}"] if rows.classes else []
        if not rows.classes:
            also = [number_text(_mean_error(rows, one)), f"{_r_squared(rows, one):.3f}"]
        lines.append((one.name, *also, f"{one.mean:.3f} ± {one.standard_error:.3f}", difference))
    of_logs = any(isinstance(one.parts[0][2], LogTransformed) for one, _, _ in ranked)
    medians = " Predictions are means, and medians of models of logarithms." if of_logs else ""
    errors = ("right",) if rows.classes else ("mean error", "R²")
    return Grid(
        title="Models compared",
        head=("model", *errors, "log score a row", "difference from the best"),
        rows=tuple(lines),
        note=f"± one standard error; of differences, from pairs: both models on the same row.{medians}",
    )


def _importance_grid(importance: list[Importance], rows: ModelRows, target: str) -> tuple[Grid, ...]:
    if not importance:
        return ()
    lines = tuple(
        (
            one.column,
            " ± ".join(_added(rows, one)),
            f"{one.loss:.3f} ± {one.standard_error:.3f}",
        )
        for one in importance[:15]
    )
    grown = "more rows of a hundred are wrong" if rows.classes else f"errors grow, in the units of {target}"
    return (
        Grid(
            title="What matters",
            head=(
                "column",
                "wrong more often by" if rows.classes else "mean error grows by",
                "log score lost",
            ),
            rows=lines,
            note=f"When the entries of a column are shuffled among the rows, {grown}; ± one standard error.",
        ),
    )


def _added(rows: ModelRows, one: Importance) -> tuple[str, str]:
    """Return the error that was added and its standard error, of classes in rows of a hundred."""
    if rows.classes:
        return f"{100.0 * one.added_error:.1f}", f"{100.0 * one.added_error_standard_error:.1f}"
    return number_and_error(one.added_error, one.added_error_standard_error)


def _missing_note(rows: ModelRows, found: list[HeldOut]) -> tuple[str, ...]:
    n_missing = int(rows.X.isna().to_numpy().sum())
    ran = [one.name for one in found if one.name in MARGINALISING]
    if not ran:
        models = "No model marginalises"
    else:
        models = f"{capitalised(listed(ran))} {'marginalises' if len(ran) == 1 else 'marginalise'}"
    them = "the missing entry" if n_missing == 1 else f"the {n_missing:,} missing entries"
    note = (
        f"{models} {them}; for other models missing numbers are replaced by the mean, with an indicator "
        "column, and a missing category is a category of its own."
    )
    return (note,) if n_missing else ()


def _best_note(rows: ModelRows, best: HeldOut) -> tuple[str, ...]:
    """Return a note if all classes are predicted right, or half of the squared error is of a few rows."""
    if rows.classes:
        perfect = _accuracy(rows, best) == 1.0
        return ("Every row was predicted right: a column may determine the target.",) if perfect else ()
    few = dominant_rows((best.gathered(lambda d, _: point_prediction(d)) - rows.y) ** 2)
    which = f"{best.name} is of {number_of(few, 'row')}"
    return (f"Half of the squared error of {which}: R² says little of the others.",) if few else ()


def _nothing(table: Table, target: str, rows: ModelRows) -> Section:
    return Section(
        key="models",
        title=f"Predicting {target}",
        done="No models were compared.",
        meaning=rows.reason,
        assumptions="None.",
        code=table.code,
        notes=rows.notes,
        findings={"best": None},
    )


def _meaning(
    rows: ModelRows,
    target: str,
    base: HeldOut,
    ranked: Ranked,
    importance: list[Importance],
    informative: list[str],
) -> str:
    """Return which model is best, by how much, and which columns matter."""
    if not _is_clear(base, ranked):
        return _no_clear_model(rows, target, base, ranked, informative)
    best = ranked[0][0]
    gain, error = next((-less, err) for one, less, err in ranked if one is base)
    times, what = float(np.exp(min(gain, 700.0))), "class" if rows.classes else "value"
    near = _as_good(base, ranked)
    also = f" It cannot be distinguished from {listed(near)}." if near else ""
    return (
        f"{_predicts_best(base, ranked, target)} {_accuracy_text(rows, best, base)} "
        f"On average the true {what} is {number_text(times, 3)} times as probable as under {base.name} "
        f"({gain:.3f} ± {error:.3f} in logarithms).{_logarithm_text(rows, target, best)}{also}"
        f"{_what_matters(rows, importance)}"
    )


def _what_matters(rows: ModelRows, importance: list[Importance]) -> str:
    """Return the columns without which predictions are clearly worse, and by how much."""
    least = MIN_IMPORTANCE * max((one.added_error for one in importance), default=0.0)
    clear = [
        one for one in importance if one.added_error > max(least, CLEAR * one.added_error_standard_error, 0.0)
    ]
    if not clear:
        return ""
    named = [f"{one.column} ({_added(rows, one)[0]})" for one in clear]
    by = "how many more rows in a hundred it gets wrong" if rows.classes else "how much its error grows"
    return f" What matters most, by {by} if the column is shuffled: {listed(named, 4)}."


def _headline(rows: ModelRows, target: str, base: HeldOut, ranked: Ranked) -> str:
    """Return how well the best model predicts, in a sentence or two."""
    best = ranked[0][0]
    if not _is_clear(base, ranked):
        return f"No model predicts {target} clearly better than {base.name}."
    first, *others = sentences(_accuracy_text(rows, best, base))
    caveats = [one for one in others if one.startswith(CAVEATS)]
    return " ".join([_predicts_best(base, ranked, target), first, *caveats])


def _predicts_best(base: HeldOut, ranked: Ranked, target: str) -> str:
    """Return which model predicts best, or that others predict as well."""
    name = capitalised(ranked[0][0].name)
    well = "as well as any" if _as_good(base, ranked) else "best"
    return f"{name} predicts {target} {well}."


def _as_good(base: HeldOut, ranked: Ranked) -> list[str]:
    """Return the models that cannot be distinguished from the best."""
    return [
        one.name
        for one, less, error in ranked[1:]
        if not _is_baseline(one) and -less <= CLEAR * error and one.mean > base.mean
    ]


def _warnings(rows: ModelRows, target: str, leaks: list[tuple[str, float]], times: TimeOrder | None) -> str:
    """Return what a reader must know before a model is used: leaks, and dependence in time."""
    said = ""
    if rows.copies:
        each, are = ("determines", "is") if len(rows.copies) == 1 else ("each determine", "are")
        said += f"\nBeware of a leak. {listed(rows.copies)} {each} {target}, and {are} left out."
    if leaks:
        names = listed([f"{name} ({share:.1%})" for name, share in leaks])
        one = len(leaks) == 1
        each = "by itself all but determines" if one else "each all but determine"
        what = "of the rows that are right" if rows.classes else "of its variance, or of that of its ranks,"
        known = "is it" if one else "are they"
        said += (
            f"\nBeware of a leak. {names} {each} {target} (the share {what} in brackets): {known} known when "
            f"predictions are made? If not, leave {'it' if one else 'them'} out."
        )
    if times is not None:
        said += (
            f"\nBeware of time. {times.neighbours} are alike in {target}. "
            "Models were judged on stretches of time that they were not fitted to; rows that follow "
            "the last may differ more."
        )
    return said


def leaking_columns(rows: ModelRows, dates: Sequence[str] = ()) -> list[tuple[str, float]]:
    """Return the columns that by themselves all but determine the target, and how much of it.

    Of numbers, the share of the variance between the groups of a category, or the squared rank correlation
    with a number; of classes, the rows that are right if each category, or each of as many intervals of a
    number as there are classes, has its most frequent class.
    """
    found = []
    for name in rows.X.columns:
        if " (" in str(name) and str(name).partition(" (")[0] in dates:
            continue  # a time is known when predictions are made
        known = rows.X[name].notna()
        n_classes = len(rows.classes or ())
        share = 0.0
        if known.mean() >= 0.5:
            share = _determined(rows.X[name][known], rows.y[known.to_numpy()], n_classes)
        if not known.all():  # an entry may be there for some targets alone
            share = max(share, _determined(known.astype(str), rows.y, n_classes))
        usual = np.bincount(rows.y).max() / len(rows.y) if rows.classes else 0.0
        if share - usual > MIN_LEAK * (1.0 - usual):
            found.append((str(name), float(share)))
    return sorted(found, key=lambda one: -one[1])


def _determined(x: Any, y: np.ndarray, n_classes: int) -> float:
    """Return how much of a target one column determines."""
    from pandas import Series
    from sklearn.tree import DecisionTreeClassifier

    number = x.dtype.kind == "f"
    if not number and x.nunique() > 0.2 * len(x):
        return 0.0
    if n_classes:
        if number:
            tree = DecisionTreeClassifier(max_leaf_nodes=max(n_classes, 2), random_state=0)
            return float(tree.fit(x.to_numpy()[:, None], y).score(x.to_numpy()[:, None], y))
        codes = Series(y, index=x.index).groupby(x, observed=True)
        return float(codes.agg(lambda group: np.bincount(group).max()).sum() / len(y))
    if number:
        ranks = (Series(v).rank().to_numpy() for v in (x.to_numpy(), y))
        r = float(np.corrcoef(*ranks)[0, 1])
        return r * r if np.isfinite(r) else 0.0
    means = Series(y, index=x.index).groupby(x, observed=True).transform("mean")
    return float(1.0 - np.mean((y - means) ** 2) / max(y.var(), np.finfo(float).tiny))


def _is_baseline(one: HeldOut) -> bool:
    """Return whether a candidate uses no other column."""
    return one.name.startswith("the ")


def _is_clear(base: HeldOut, ranked: Ranked) -> bool:
    """Return whether the best model is clearly better than the baseline."""
    return any(one is base and -less > CLEAR * error for one, less, error in ranked)


def _accuracy(rows: ModelRows, one: HeldOut) -> float:
    return float((one.gathered(lambda d, _: d.probabilities).argmax(1) == rows.y).mean())


def _r_squared(rows: ModelRows, one: HeldOut) -> float:
    rest = one.gathered(lambda d, _: point_prediction(d)) - rows.y
    return float(1.0 - np.mean(rest**2) / rows.y.var())


def dominant_rows(x: np.ndarray) -> int:
    """Return the number of rows that make half of a sum of sizes if it is below one in a hundred, else 0.

    Examples
    --------
    >>> dominant_rows(np.r_[np.ones(300), 1000.0]), dominant_rows(np.ones(300))
    (1, 0)
    """
    total = np.cumsum(np.sort(np.abs(x))[::-1])
    half = int(np.searchsorted(total, 0.5 * total[-1])) + 1
    return half if half < 0.01 * len(x) and total[-1] > 0.0 else 0


def _no_clear_model(
    rows: ModelRows, target: str, base: HeldOut, ranked: Ranked, informative: list[str]
) -> str:
    """Return that no model is clearly better, with signs of a dependence all the same."""
    said = f"No model predicts {target} clearly better than {base.name}"
    doubts = []
    models = [one for one, _, _ in ranked if not _is_baseline(one)]
    if models and (few := dominant_rows(models[0].log_p - base.log_p)):
        doubts.append(f"half of what {models[0].name} differs by is of {number_of(few, 'row')}")
    if not rows.classes and models:
        most = max(models, key=lambda one: _r_squared(rows, one))
        explained = _r_squared(rows, most)
        if explained > MIN_R2:
            doubts.append(f"{most.name} explains {explained:.0%} of the variance")
    if informative:
        depend = "depends" if len(informative) == 1 else "depend"
        doubts.append(f"{listed(informative, 3)} {depend} on it by more than chance")
    if doubts:
        why = "; ".join(doubts)
        return f"{said}, by the log score. That is not to say that the columns tell nothing: {why}."
    if rows.n_unused:
        used, say = number_of(rows.X.shape[1], "column"), "says" if rows.X.shape[1] == 1 else "say"
        which = f"the {used} that could be used {say} little about it"
        return f"{said}: {which}; {rows.n_unused:,} could not be used."
    return f"{said}: the other columns say little about it."


def _logarithm_text(rows: ModelRows, target: str, best: HeldOut) -> str:
    if not isinstance(best.parts[0][2], LogTransformed):
        return ""
    columns = skewed_columns(rows.X)
    also = f"; of {listed(columns)} the logarithm was used too" if columns else ""
    return f" {target} was modelled by its logarithm, for it is positive and strongly skewed{also}."


def _accuracy_text(rows: ModelRows, best: HeldOut, base: HeldOut) -> str:
    if rows.classes:
        right, common = _accuracy(rows, best), np.bincount(rows.y).max() / len(rows.y)
        said = f"It finds the class of {right:.1%} of rows; the most frequent has {common:.1%}."
        return said + _missed_classes(rows, best) + _class_confidence(rows, best)
    inside = best.gathered(lambda d, _: np.stack(d.interval(0.9), axis=-1))
    held = float(np.mean((inside[:, 0] <= rows.y) & (rows.y <= inside[:, 1])))
    error, usual = _mean_error(rows, best), _mean_error(rows, base)
    said = (
        f"Its predictions are {number_text(error, 3)} off on average ({base.name}: {number_text(usual, 3)})"
    )
    if isinstance(best.parts[0][2], LogTransformed):
        centre = best.gathered(lambda d, _: point_prediction(d))
        factor = float(np.exp(np.median(np.abs(np.log(centre / rows.y)))))
        said += f", half of them within a factor of {number_text(factor, 3)} of what is true"
    said += f", and its intervals of 90% hold {held:.0%} of the rows."
    if abs(held - 0.9) > max(MIN_MISS, 3.0 * float(np.sqrt(0.09 / len(rows.y)))):
        said += f" They are too {'narrow' if held < 0.9 else 'wide'}: do not rely on them."
    return said


def _mean_error(rows: ModelRows, one: HeldOut) -> float:
    """Return the mean absolute error of the predictions, in the units of the target."""
    return float(np.mean(np.abs(one.gathered(lambda d, _: point_prediction(d)) - rows.y)))


def _class_confidence(rows: ModelRows, best: HeldOut) -> str:
    """Return a warning if a model is right more rarely, or more often, than its probabilities say."""
    proba = best.gathered(lambda d, _: d.probabilities).max(axis=1)
    right, said = _accuracy(rows, best), float(proba.mean())
    error = float(np.sqrt(np.mean(proba * (1.0 - proba)) / len(proba)))
    if abs(right - said) <= max(MIN_MISS, 3.0 * error):
        return ""
    how = "too sure" if said > right else "not sure enough"
    return f" Its probabilities are {how}: by them {said:.1%} would be right."


def _missed_classes(rows: ModelRows, best: HeldOut) -> str:
    """Return which classes are never predicted, or how often the rarest is found."""
    assert rows.classes is not None
    chosen = best.gathered(lambda d, _: d.probabilities).argmax(1)
    counts = np.bincount(rows.y, minlength=len(rows.classes))
    never = [k for k in range(len(counts)) if not (chosen == k).any()]
    if never:
        names, there = listed([rows.classes[k] for k in never]), int(counts[never].sum())
        are = "row is" if there == 1 else "rows are"
        return (
            f" It never says {names}, though {there:,} {are}: look at its probabilities, not at its choices."
        )
    rare = int(counts.argmin())
    if counts[rare] >= 0.1 * len(rows.y):
        return ""
    found = int(((chosen == rare) & (rows.y == rare)).sum())
    return f" Of the {number_of(int(counts[rare]), 'row')} of {rows.classes[rare]} it finds {found:,}."


def _code(
    table: Table,
    rows: ModelRows,
    found: list[HeldOut],
    best: str,
    logged: list[str] | None,
    repeats: int,
    times: TimeOrder | None,
) -> str:
    """Return lines that compute the section's numbers; `logged` are columns in logarithms, if tried."""
    names = [one.name for one in found]
    kind, tried = ("classifiers", "classifiers()") if rows.classes else ("regressors", "regressors()")
    if logged is not None:
        tried = f"(*regressors(), *log_regressors({logged!r}))"
    used = ["compared", "folds", "held_out", "importances", kind]
    used += ["log_regressors"] if logged is not None else []
    in_time = ""
    if times is not None:
        number = "" if table.column(times.column).kind == "date" else ".astype(float)"
        in_time = f", times=table.frame[{times.column!r}].loc[X.index]{number}.to_numpy()"
    lines = (
        f"{rows.code}splits = folds(y, classes={bool(rows.classes)}{in_time})\n"
        f"tried = [one for one in {tried} if one.name in {names!r}]\n"
        "found = [held_out(one, X, y, splits) for one in tried]\n"
        "for one, less, error in compared(found):\n    print(one.name, one.mean, less, error)\n\n"
        f"# The best: its predictions of each row, by a model that was not fitted to the row.\n"
        f"best = next(one for one in found if one.name == {best!r})\n"
    )
    lines += _class_code(rows) if rows.classes else _number_code()
    lines += (
        "rng = np.random.default_rng(0)\n"
        f"importance = importances(best, X, y, list(X.columns), rng, repeats={repeats})\n"
        "for one in importance:\n    print(one.column, one.added_error, one.loss)\n\n"
        "# Learned from all rows, for new ones in a frame with the columns of X.\n"
        f"predict = next(one for one in tried if one.name == {best!r}).learn(X, y)\n"
        "predicted = predict(X.head(3))\n"
    )
    imports = f"{imports_for(lines)}from tractable.report import {', '.join(sorted(used))}\n"
    return code_head(table, imports) + lines


def _number_code() -> str:
    return (
        "low, high = best.gathered(lambda d, rows: np.stack(d.interval(0.9), axis=-1)).T\n"
        'print("held by intervals of 90%:", np.mean((low <= y) & (y <= high)))\n'
        "below = best.gathered(lambda d, rows: d.cdf(y[rows]))\n"
        'print("below each tenth:", [float(np.mean(below <= k / 10)) for k in range(1, 10)])\n'
    )


def _class_code(rows: ModelRows) -> str:
    return (
        f"classes = np.array({list(rows.classes or ())!r})\n"
        "proba = best.gathered(lambda d, rows: d.probabilities)\n"
        "taken = classes[proba.argmax(axis=1)]\n"
        "print(tractable.metrics.confusion_matrix(classes[y], taken, classes=classes))\n"
        "print(tractable.metrics.class_calibration(classes[y], proba, classes=classes))\n"
    )


def _comparison_picture(ranked: Ranked) -> Picture:
    """Draw the difference of each model from the best, with two standard errors."""
    positions = np.arange(len(ranked))[::-1]
    less = np.array([row[1] for row in ranked])
    errors = np.array([row[2] for row in ranked])
    with canvas(height=0.9 + 0.35 * len(ranked)) as (figure, ax):
        ax.axvline(0.0, color="0.7", lw=0.8, zorder=0)
        ax.errorbar(less, positions, xerr=2.0 * errors, fmt="o", color=COLOURS[0], capsize=3)
        ax.set_yticks(positions, [row[0].name for row in ranked])
        long = any(len(row[0].name) > 24 for row in ranked)  # which leaves little room for the axis
        between = "\n" if long else " "
        ax.set(xlabel=f"log score a row, difference from the best{between}(± 2 standard errors)")
        ax.margins(y=0.12)
        return picture_of(
            figure,
            alt=f"{ranked[0][0].name} is best, then {', '.join(row[0].name for row in ranked[1:])}",
            caption="Farther right is better. A bar that reaches zero: the difference may be chance.",
        )


def _importance_picture(importance: list[Importance], rows: ModelRows, target: str) -> Picture:
    """Draw by how much errors grow without each column, with two standard errors."""
    scale = 100.0 if rows.classes else 1.0
    shown = importance[:MAX_COLUMNS]
    positions = np.arange(len(shown))[::-1]
    with canvas(height=1.0 + 0.28 * len(shown)) as (figure, ax):
        added = [scale * one.added_error for one in shown]
        ax.barh(positions, added, color=COLOURS[4], height=0.6)
        errors = [2.0 * scale * one.added_error_standard_error for one in shown]
        style = {"fmt": "none", "color": "0.2", "capsize": 2, "lw": 1}
        ax.errorbar(added, positions, xerr=errors, **style)
        ax.set_yticks(positions, [shortened(one.column, 28) for one in shown])
        ax.axvline(0.0, color="0.5", lw=0.8)
        units = (
            "more rows in a hundred are wrong"
            if rows.classes
            else f"mean error of {shortened(target)} grows by"
        )
        ax.set(xlabel=f"{units} (± 2 standard errors)")
        return picture_of(
            figure,
            alt=f"What matters for {target}: {', '.join(one.column for one in shown[:4])}",
            caption="How much worse the best model predicts when the entries of a column are shuffled.",
        )


def _number_pictures(
    best: HeldOut, rows: ModelRows, target: str, rng: np.random.Generator
) -> tuple[Picture, ...]:
    """Draw observed against predicted targets with intervals, and the calibration of quantiles."""
    mean = best.gathered(lambda d, _: point_prediction(d))
    ends = best.gathered(lambda d, _: np.stack(d.interval(0.9), axis=-1))
    pit = best.gathered(lambda d, at: d.cdf(rows.y[at]))
    n = len(rows.y)
    shown = np.sort(rng.permutation(n)[:MAX_INTERVALS])
    with canvas(height=4.0) as (figure, ax):
        ax.vlines(mean[shown], *ends[shown].T, color=COLOURS[4], lw=1, alpha=0.5, label="90% interval")
        ax.scatter(mean[shown], rows.y[shown], s=12, color=COLOURS[0], lw=0, label="rows", zorder=3)
        across = [float(mean[shown].min()), float(mean[shown].max())]
        ax.plot(across, across, color="0.4", lw=1, label="predicted")
        ax.set(xlabel=f"{target}, predicted", ylabel=target)
        if isinstance(best.parts[0][2], LogTransformed):
            ax.set(xscale="log", yscale="log")
        legend(ax)
        predicted = picture_of(
            figure,
            alt=f"{target} against its prediction, with intervals of 90%",
            caption=f"Rows that {best.name} was not fitted to: nine in ten points should be on bars.",
        )
    observed, errors = (pit[:, None] <= LEVELS).mean(axis=0), np.sqrt(LEVELS * (1.0 - LEVELS) / n)
    curve = CalibrationCurve(levels=LEVELS, observed=observed, standard_errors=errors)
    caption = "Points in the band: the fraction of targets below a quantile is its probability."
    return predicted, _calibration(curve, caption)


def _class_pictures(best: HeldOut, rows: ModelRows) -> tuple[Picture, ...]:
    """Draw the confusion matrix and the calibration of class probabilities."""
    assert rows.classes is not None
    proba = best.gathered(lambda d, _: d.probabilities)
    names = np.array([shortened(name, 16) for name in rows.classes])
    if len(set(names.tolist())) < len(names):
        names = np.array([f"{k + 1}: {name}" for k, name in enumerate(names)])
    order = np.argsort(names, kind="stable")  # scores need classes in order
    truth, said = names[rows.y], names[proba.argmax(axis=1)]
    matrix = confusion_matrix(truth, said, classes=names)
    with canvas(height=4.0) as (figure, ax):
        plot(matrix, ax=ax)
        confusions = picture_of(
            figure,
            alt=f"Confusion matrix; {matrix.accuracy:.1%} of the rows are right",
            caption=f"Rows that {best.name} was not fitted to, relative to each class.",
        )
    rare, top = _rare_class(proba, rows.y)
    curve = class_calibration(
        truth,
        proba[:, order],
        classes=names[order],
        label=None if rare is None else names[rare],
        n_bins=10 if top == 1.0 else round(5 / top),
    )
    caption = "Points on the line: predicted probabilities equal observed frequencies."
    if top < 1.0:
        caption += f" Nearly all rows are below {top:g}, so that corner is shown."
    return confusions, _calibration(curve, caption, top)


def _rare_class(proba: np.ndarray, y: np.ndarray) -> tuple[int | None, float]:
    """Return the rarer of two classes, and a bound on its probability for 99 % of the rows."""
    if proba.shape[1] != 2:
        return None, 1.0
    rare = int(np.bincount(y, minlength=2).argmin())
    reach = float(np.quantile(proba[:, rare], 0.99))
    return rare, next((top for top in (0.02, 0.05, 0.1, 0.2, 0.5) if reach < top), 1.0)


def _calibration(curve: Any, caption: str, top: float = 1.0) -> Picture:
    with canvas(width=4.4, height=4.2) as (figure, ax):
        if top < 1.0:
            plot(curve, ax=ax, bars=False)
            shown = curve.predicted < top
            high = (curve.predicted + 2.0 * curve.standard_errors)[shown]
            most = min(1.0, 1.1 * max(top, high.max(), curve.observed[shown].max()))
            ax.set(xlim=(0.0, top), ylim=(0.0, most), aspect="auto")
        else:
            plot(curve, ax=ax)
        ax.legend(frameon=False, fontsize="small", loc="upper left")
        return picture_of(figure, alt="Observed frequencies against predicted probabilities", caption=caption)
