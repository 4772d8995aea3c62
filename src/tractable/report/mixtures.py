"""Mixtures of the rows of a table, fitted once and shared by clusters, map and outliers."""

import warnings
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from tractable.mixture import GaussianMixture, TableMixture
from tractable.mixture.selection import ComponentChoice
from tractable.report.rows import ChosenRows, chosen_rows, deduplicated_rows
from tractable.report.table import Table
from tractable.selection import select_components
from tractable.value import value

#: Rows that mixtures are fitted to, at most; clusters and outliers are of all rows.
MAX_ROWS = 2_000

#: Components of a mixture at most, and rows for each of them at least.
MAX_COMPONENTS, ROWS_EACH = 8, 10

#: Covariance types that are tried.
SHAPES = ("full", "tied", "diag")

#: With more patterns of missing entries than this, columns are independent within a component.
MAX_PATTERNS = 12


@value
class Membership:
    """Probabilities of clusters for each row, the largest cluster first."""

    proba: np.ndarray  # (n, K)
    order: np.ndarray  # (K,), the component of the mixture that each cluster is

    @property
    def labels(self) -> np.ndarray:
        """The most probable cluster of each row, from 0, (n,)."""
        return np.argmax(self.proba, axis=1)

    @property
    def confidence(self) -> np.ndarray:
        """The probability of that cluster, (n,)."""
        return np.max(self.proba, axis=1)

    @property
    def sizes(self) -> np.ndarray:
        """The number of rows of each cluster, (K,)."""
        return np.bincount(self.labels, minlength=self.proba.shape[1])


@value
class FittedMixtures:
    """Mixtures of one component, of two, …, with their criteria."""

    rows: ChosenRows
    choice: ComponentChoice  # by ICL; `model("bic")` is the mixture of the least BIC
    code: str  # lines that compute `choice` from `table`
    mixed: bool  # whether columns are independent within a component (categories, many missing entries)
    n_fitted: int  # number of rows of the fits

    def model(self, criterion: str) -> Any:
        """Return the mixture that minimises a criterion."""
        i, j = self.choice.position(criterion)
        return self.choice.models[i][j]


def membership(found: FittedMixtures) -> Membership:
    """Return the clusters of all rows under the chosen mixture."""
    proba = np.asarray(found.choice.best_model.predict_proba(found.rows.frame))
    sizes = np.bincount(np.argmax(proba, axis=1), minlength=proba.shape[1])
    order = np.argsort(-sizes, kind="stable")
    order = order[sizes[order] > 0]
    return Membership(proba=proba[:, order], order=order)


#: The mixtures of each table, by the column that is left out.
_fitted: WeakKeyDictionary[Table, dict[str | None, FittedMixtures | None]] = WeakKeyDictionary()


def fitted_mixtures(table: Table, leave: str | None = None) -> FittedMixtures | None:
    """Return mixtures of the columns of a table without `leave`; None if there is too little data.

    They are fitted once for a table.
    """
    known = _fitted.setdefault(table, {})
    if leave not in known:
        known[leave] = _fit_mixtures(table, leave)
    return known[leave]


def _fit_mixtures(table: Table, leave: str | None) -> FittedMixtures | None:
    width = max(1, min(20, len(table.frame) // 5))
    rows = deduplicated_rows(chosen_rows(table, leave or (), most_numbers=width), table)
    if len(rows.frame) < ROWS_EACH or not (rows.numbers or rows.categories):
        return None
    part = rows.part(MAX_ROWS)
    numbers = range(1, max(1, min(MAX_COMPONENTS, len(part) // ROWS_EACH)) + 1)
    mixed = bool(rows.categories) or len(part.isna().drop_duplicates()) > MAX_PATTERNS
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # collapsed components are marked in the choice
        if mixed:
            choice = _table_mixtures(part, numbers)
        else:
            shapes = SHAPES if part.shape[1] > 1 else ("full", "tied")
            estimator = GaussianMixture(n_init=2, random_state=0)
            choice = select_components(part, numbers, shapes, criterion="icl", estimator=estimator)
    code = rows.code + ("" if part is rows.frame else f"part = rows.sample({MAX_ROWS}, random_state=0)\n")
    lines = _table_code(numbers) if mixed else _gaussian_code(numbers)
    return FittedMixtures(
        rows=rows,
        choice=choice,
        code=code + lines.replace("PART", "rows" if part is rows.frame else "part"),
        mixed=mixed,
        n_fitted=len(part),
    )


def why_no_mixture(table: Table, leave: str | None = None) -> str:
    """Return why no mixture can be fitted to a table."""
    rows = deduplicated_rows(chosen_rows(table, leave or ()), table)
    if not (rows.numbers or rows.categories):
        return "there is no column of numbers, or of few categories, that varies"
    there = "is 1" if len(rows.frame) == 1 else f"are {len(rows.frame)}"
    return f"a mixture needs {ROWS_EACH} different rows with an entry, and there {there}"


def _table_mixtures(part: Any, numbers: range) -> ComponentChoice:
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


def _gaussian_code(numbers: range) -> str:
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
