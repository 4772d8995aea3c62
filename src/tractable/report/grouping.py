"""Mixtures fitted to the columns of a table, each number of components once for all sections."""

import warnings
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from tractable.mixture import GaussianMixture, TableMixture
from tractable.mixture.selection import ComponentChoice
from tractable.report.repeats import rows_once
from tractable.report.rows import ChosenRows, chosen_rows
from tractable.report.table import Table
from tractable.selection import select_components
from tractable.value import value

__all__ = ["MOST_ROWS", "Grouping", "grouping", "too_little"]

#: Mixtures are fitted to at most so many rows, and asked about all.
MOST_ROWS = 2_000

#: The largest number of components that is tried, and the rows that each of them should have.
MOST_COMPONENTS, ROWS_EACH = 8, 10

SHAPES = ("full", "tied", "diag")

#: With more ways for entries to be missing than this, columns are taken as independent within a component.
MOST_PATTERNS = 12


@value
class Grouping:
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


_made: WeakKeyDictionary[Table, dict[str | None, Grouping | None]] = WeakKeyDictionary()


def grouping(table: Table, leave: str | None = None) -> Grouping | None:
    """Return mixtures of the columns of a table but one; None where there is too little to fit them to.

    They are fitted once for a table: the answer does not depend on who asks.
    """
    known = _made.setdefault(table, {})
    if leave not in known:
        known[leave] = _grouping(table, leave)
    return known[leave]


def _grouping(table: Table, leave: str | None) -> Grouping | None:
    room = max(1, min(20, len(table.frame) // 5))
    rows = rows_once(chosen_rows(table, leave or (), most_numbers=room), table)
    if len(rows.frame) < ROWS_EACH or not (rows.numbers or rows.categories):
        return None
    part = rows.part(MOST_ROWS)
    numbers = range(1, max(1, min(MOST_COMPONENTS, len(part) // ROWS_EACH)) + 1)
    mixed = bool(rows.categories) or len(part.isna().drop_duplicates()) > MOST_PATTERNS
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what matters of it, collapsed components, is in the choice
        choice = _tables(part, numbers) if mixed else _normals(part, numbers)
    code = rows.code + ("" if part is rows.frame else f"part = rows.sample({MOST_ROWS}, random_state=0)\n")
    lines = _table_code(numbers) if mixed else _normal_code(numbers)
    return Grouping(
        rows=rows,
        choice=choice,
        code=code + lines.replace("PART", "rows" if part is rows.frame else "part"),
        mixed=mixed,
        n_fitted=len(part),
    )


def too_little(table: Table, leave: str | None = None) -> str:
    """Say why no mixture can be fitted to a table."""
    rows = rows_once(chosen_rows(table, leave or ()), table)
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
