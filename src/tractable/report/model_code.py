"""The code of the models section: from the table to the ranking, the intervals and what matters."""

from tractable.report.held_out import HeldOut
from tractable.report.model_rows import ModelRows
from tractable.report.repeats import imports_for
from tractable.report.rows import beginning
from tractable.report.table import Table

__all__ = ["model_code"]


def model_code(
    table: Table, rows: ModelRows, found: list[HeldOut], best: str, logged: list[str] | None, repeats: int
) -> str:
    """Return lines that give the section's numbers again; `logged` columns where logarithms were tried."""
    names = [one.name for one in found]
    kind, tried = ("classifiers", "classifiers()") if rows.classes else ("regressors", "regressors()")
    if logged is not None:
        tried = f"(*regressors(), *log_regressors({logged!r}))"
    used = [
        "compared",
        "folds",
        "held_out",
        "importances",
        kind,
        *(["log_regressors"] if logged is not None else []),
    ]
    lines = (
        f"{rows.code}splits = folds(y, classes={bool(rows.classes)})\n"
        f"tried = [one for one in {tried} if one.name in {names!r}]\n"
        "found = [held_out(one, X, y, splits) for one in tried]\n"
        "for one, less, error in compared(found):\n    print(one.name, one.mean, less, error)\n\n"
        f"# The best: what it says of each row, by a model that has not seen the row.\n"
        f"best = next(one for one in found if one.name == {best!r})\n"
    )
    lines += _of_classes(rows) if rows.classes else _of_numbers()
    lines += (
        f"worth = importances(best, X, y, list(X.columns), np.random.default_rng(0), repeats={repeats})\n"
        "for one in worth:\n    print(one.column, one.loss, one.standard_error)\n\n"
        "# Learned from all rows, for new ones in a frame with the columns of X.\n"
        f"predict = next(one for one in tried if one.name == {best!r}).learn(X, y)\n"
        "predicted = predict(X.head(3))\n"
    )
    imports = (
        f"import numpy as np\n{imports_for(lines)}from tractable.report import {', '.join(sorted(used))}\n"
    )
    return beginning(table, imports) + lines


def _of_numbers() -> str:
    return (
        "low, high = best.gathered(lambda said, rows: np.stack(said.interval(0.9), axis=-1)).T\n"
        'print("held by intervals of 90%:", np.mean((low <= y) & (y <= high)))\n'
        "below = best.gathered(lambda said, rows: said.cdf(y[rows]))\n"
        'print("below each tenth:", [float(np.mean(below <= k / 10)) for k in range(1, 10)])\n'
    )


def _of_classes(rows: ModelRows) -> str:
    return (
        f"classes = np.array({list(rows.classes or ())!r})\n"
        "proba = best.gathered(lambda said, rows: said.probabilities)\n"
        "taken = classes[proba.argmax(axis=1)]\n"
        "print(tractable.metrics.confusion_matrix(classes[y], taken, classes=classes))\n"
        "print(tractable.metrics.class_calibration(classes[y], proba, classes=classes))\n"
    )
