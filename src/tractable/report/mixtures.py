"""Mixtures of the rows of a table, fitted once and shared by clusters, map and outliers.

The questions of the page have a mixture of their own, `joint_mixture`: they are of every column and row.
Components are clusters, and low densities outliers, only without what is left out here: columns that mostly
repeat one value, copies of rows, and rows with extreme entries.
"""

import warnings
from textwrap import indent
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from tractable.mixture import GaussianMixture, TableMixture
from tractable.mixture.base import information_criteria
from tractable.mixture.selection import ComponentChoice
from tractable.report.candidates import skewed_columns
from tractable.report.rows import ChosenRows, chosen_rows, deduplicated_rows, listed
from tractable.report.table import Table
from tractable.selection import select_components
from tractable.value import replace, value

#: Rows that mixtures are fitted to, at most; clusters and outliers are of all rows.
MAX_ROWS = 2_000

#: Components of a mixture at most, and rows for each of them at least.
MAX_COMPONENTS, ROWS_EACH = 8, 10

#: Columns in which one value makes this share of the entries are left out.
MAX_REPEATED = 0.3

#: Entries so many robust standard deviations from the median are far, if at most this share of a column is.
FAR, MAX_FAR = 8.0, 0.02

#: Covariance types that are tried.
SHAPES = ("full", "tied", "diag")

#: With more patterns of missing numbers than this, columns are independent within a component.
MAX_PATTERNS = 12

#: Covariance types of mixtures of numbers and categories that are tried.
TABLE_SHAPES = ("full", "diag")


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

    rows: ChosenRows  # in the units of the table
    modelled: Any  # the same rows as the mixtures see them: logarithms, and all categories of the table
    logged: tuple[str, ...]  # the columns whose logarithms are modelled
    extreme: np.ndarray  # (n,), the rows with an entry far from all others, to which mixtures are not fitted
    choice: ComponentChoice  # by ICL; `model("bic")` is the mixture of the least BIC
    code: str  # lines that compute `choice` from `table`
    rows_code: str  # those of them that compute `rows`
    mixed: bool  # whether they are mixtures of a table: categories, many patterns of missing entries
    n_fitted: int  # number of rows of the fits

    def model(self, criterion: str) -> Any:
        """Return the mixture that minimises a criterion."""
        i, j = self.choice.position(criterion)
        return self.choice.models[i][j]


def membership(found: FittedMixtures) -> Membership:
    """Return the clusters of all rows under the chosen mixture."""
    proba = np.asarray(found.choice.best_model.predict_proba(found.modelled))
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
    rows = _mixture_rows(table, leave)
    if len(rows.frame) < ROWS_EACH or not (rows.numbers or rows.categories):
        return None
    skewed = skewed_columns(rows.frame[list(rows.numbers)])
    logged = tuple(name for name in skewed if (table.column(name).low or 0.0) > 0.0)  # of all rows
    modelled = rows.frame.astype(table.category_types(rows.categories))
    modelled = modelled.assign(**{name: np.log(modelled[name]) for name in logged})
    extreme = extreme_rows(modelled[list(rows.numbers)].to_numpy(dtype=np.float64))
    near = modelled[~extreme]
    whole = len(near) <= MAX_ROWS
    part = near if whole else near.sample(MAX_ROWS, random_state=0)
    numbers = range(1, max(1, min(MAX_COMPONENTS, len(part) // ROWS_EACH)) + 1)
    mixed, prior = bool(rows.categories) or len(part.isna().drop_duplicates()) > MAX_PATTERNS, None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # collapsed components are marked in the choice
        if mixed:
            choice, prior = _table_mixtures(part, numbers, _table_shapes(part[list(rows.numbers)]))
        else:
            shapes = SHAPES if part.shape[1] > 1 else ("full", "tied")
            choice, prior = _gaussian_mixtures(part, numbers, shapes)
    rows_code = rows.code + _modelled_code(rows, logged)
    fitted = "rows" + (f".drop(index={modelled.index[extreme].tolist()!r})" if extreme.any() else "")
    fitted += "" if whole else f".sample({MAX_ROWS}, random_state=0)"
    code = rows_code + (f"part = {fitted}\n" if fitted != "rows" else "")
    lines = _table_code(choice, prior) if mixed else _gaussian_code(choice, numbers, prior)
    return FittedMixtures(
        rows=rows,
        modelled=modelled,
        logged=logged,
        extreme=extreme,
        choice=choice,
        code=code + lines.replace("PART", "rows" if fitted == "rows" else "part"),
        rows_code=rows_code,
        mixed=mixed,
        n_fitted=len(part),
    )


def extreme_rows(x: np.ndarray) -> np.ndarray:
    """Mark rows with an entry more than eight robust standard deviations from the median of its column.

    The robust standard deviation is that of a normal with the same quartiles. If they are more than two in a
    hundred the column has long tails, and none is marked.

    Examples
    --------
    >>> extreme_rows(np.r_[np.arange(100.0), 1e4][:, None]).nonzero()[0].tolist()
    [100]
    """
    if not x.size:
        return np.zeros(len(x), dtype=bool)
    low, middle, high = np.nanquantile(x, [0.25, 0.5, 0.75], axis=0)
    with np.errstate(invalid="ignore"):
        far = (np.abs(x - middle) > FAR * (high - low) / 1.349) & (high > low)
    far &= far.mean(axis=0) <= MAX_FAR
    return np.asarray(far.any(axis=1))


def _gaussian_mixtures(part: Any, numbers: range, shapes: tuple[str, ...]) -> tuple[ComponentChoice, Any]:
    """Return mixtures of normals, and their `covariance_prior`: one if without it all of several collapse."""
    options: dict[str, Any] = {"n_init": 2, "random_state": 0}
    found = select_components(part, numbers, shapes, criterion="icl", estimator=GaussianMixture(**options))
    if len(numbers) == 1 or not found.collapsed[:, 1:].all():
        return found, None
    estimator = GaussianMixture(covariance_prior="data", **options)
    return select_components(part, numbers, shapes, criterion="icl", estimator=estimator), "data"


def _mixture_rows(table: Table, leave: str | None) -> ChosenRows:
    """Return the rows and columns of a mixture, without columns that mostly repeat one value."""
    width = max(1, min(20, len(table.frame) // 5))
    rows = deduplicated_rows(chosen_rows(table, leave or (), most_numbers=width), table)
    repeated = [name for name in rows.numbers if _repeats(rows.frame[name])]
    if not repeated:
        return rows
    numbers = tuple(name for name in rows.numbers if name not in repeated)
    note = f"Left out, since one value makes {MAX_REPEATED:.0%} of their entries or more: {listed(repeated)}."
    frame = rows.frame[[*numbers, *rows.categories]].dropna(how="all")
    code = f'{rows.code}rows = rows.drop(columns={repeated!r}).dropna(how="all")\n'
    return replace(rows, frame=frame, numbers=numbers, notes=(*rows.notes, note), code=code)


def _repeats(entries: Any) -> bool:
    """Return whether one value makes a large share of the entries, to which a component would shrink."""
    return bool(entries.value_counts(normalize=True).iloc[0] >= MAX_REPEATED)


def _modelled_code(rows: ChosenRows, logged: tuple[str, ...]) -> str:
    """Return the lines that make rows what the mixtures see."""
    lines = "rows = rows.astype(table.category_types(rows.columns))\n" if rows.categories else ""
    names = list(logged)
    return lines + (f"rows = rows.assign(**np.log(rows[{names!r}]))\n" if logged else "")


def why_no_mixture(table: Table, leave: str | None = None) -> str:
    """Return why no mixture can be fitted to a table."""
    rows = _mixture_rows(table, leave)
    if not (rows.numbers or rows.categories):
        return "there is no column of numbers, or of few categories, that varies enough"
    there = "is 1" if len(rows.frame) == 1 else f"are {len(rows.frame)}"
    return f"a mixture needs {ROWS_EACH} different rows with an entry, and there {there}"


def _table_shapes(numbers: Any) -> tuple[str, ...]:
    """Return the covariance types to try; of one number, or many patterns of missing ones, the simplest."""
    several = numbers.shape[1] > 1 and len(numbers.isna().drop_duplicates()) <= MAX_PATTERNS
    return TABLE_SHAPES if several else ("diag",)


def _table_mixtures(part: Any, numbers: range, types: tuple[str, ...]) -> tuple[ComponentChoice, Any]:
    """Return mixtures of a table, and their `covariance_prior`: one if without it all of several collapse."""
    found = _growing_mixtures(part, numbers, types, None)
    if found.collapsed.shape[1] == 1 or not found.collapsed[:, 1:].all():
        return found, None
    return _growing_mixtures(part, numbers, types, "data"), "data"


def _growing_mixtures(part: Any, numbers: range, types: tuple[str, ...], prior: Any) -> ComponentChoice:
    """Return mixtures of one component, of two, …, up to where more of them make all criteria worse."""
    models: list[list[Any]] = [[] for _ in types]
    criteria: list[list[dict[str, float]]] = [[] for _ in types]
    options: dict[str, Any] = {"covariance_prior": prior, "unseen": "missing", "n_init": 2, "random_state": 0}
    for k in numbers:
        for one, of_type, found in zip(types, models, criteria, strict=True):
            model = TableMixture(k, covariance_type=one, **options).fit(part)
            of_type.append(model)
            found.append(information_criteria(model, part))
        if k < numbers[-1] and all(_gets_worse(found) for found in criteria):
            break
    return ComponentChoice(
        n_components=np.asarray(numbers[:k]),
        covariance_types=types,
        scores={
            name: np.array([[one[name] for one in found] for found in criteria])
            for name in ("bic", "icl", "aic")
        },
        criterion="icl",
        models=tuple(map(tuple, models)),
    )


def _gets_worse(criteria: list[dict[str, float]]) -> bool:
    """Return whether the last two numbers of components are worse than an earlier one by ICL and by BIC."""
    return all(
        min(one[name] for one in criteria[-2:]) > min((one[name] for one in criteria[:-2]), default=np.inf)
        for name in ("icl", "bic")
    )


def model_code(found: FittedMixtures, model: Any, away: Any) -> str:
    """Return the lines that compute `rows` from `table`, and fit one mixture to them.

    Parameters
    ----------
    found : FittedMixtures
        The mixtures, of which `model` is one, or is like one.
    model : estimator
        The mixture.
    away : index
        The rows that it was not fitted to.
    """
    params: dict[str, Any] = {"n_init": 2, "random_state": 0}
    if found.mixed:
        params["unseen"] = "missing"
    if model.covariance_prior is not None:
        params = {"covariance_prior": model.covariance_prior, **params}
    params = {"covariance_type": model.covariance_type, **params}
    options = ", ".join(f"{name}={value!r}" for name, value in params.items())
    left = [int(i) for i in away]
    fitted = f"rows.drop(index={left!r})" if left else "rows"
    if found.n_fitted < len(found.rows.frame) - len(left):
        fitted += f".sample({found.n_fitted}, random_state=0)"
    return (
        found.rows_code
        + f"model = tractable.{type(model).__name__}({model.n_components}, {options})\n"
        + f"model.fit({fitted})\n"
    )


def _gaussian_code(choice: ComponentChoice, numbers: range, prior: str | None) -> str:
    options = "" if prior is None else f"covariance_prior={prior!r}, "
    fits = (
        "choice = tractable.select_components(\n"
        f"    PART,\n    range(1, {numbers.stop}),\n"
        '    ("full", "tied", "diag") if rows.shape[1] > 1 else ("full", "tied"),\n'
        '    criterion="icl",\n'
        f"    estimator=tractable.GaussianMixture({options}n_init=2, random_state=0),\n)\n"
    )
    return _without_warning(choice, fits) + "print(choice)\nmodel = choice.best_model\n"


def _without_warning(choice: ComponentChoice, fits: str) -> str:
    """Return the lines of fits, without the warning of components that collapsed, if some did."""
    if not choice.collapsed.any():
        return fits
    return (
        "import warnings\n\n"
        "with warnings.catch_warnings():\n"
        "    # Models with components that collapsed are not chosen.\n"
        '    warnings.simplefilter("ignore", tractable.mixture.CollapsedComponentWarning)\n'
        + indent(fits, "    ")
    )


def _table_code(choice: ComponentChoice, prior: str | None) -> str:
    options = "" if prior is None else f"covariance_prior={prior!r}, "
    fits = (
        "models = [\n"
        "    tractable.TableMixture(\n"
        f'        k, covariance_type=shape, {options}n_init=2, unseen="missing", random_state=0\n'
        "    ).fit(PART)\n"
        f"    for shape in {choice.covariance_types!r}\n"
        f"    for k in range(1, {int(choice.n_components[-1]) + 1})\n]\n"
    )
    return (
        f"{_without_warning(choice, fits)}"
        "for model in models:\n"
        "    print(model.covariance_type, model.n_components, model.bic(PART), model.icl(PART))\n"
        "model = min(models, key=lambda model: (model.collapsed_.any(), model.icl(PART)))\n"
    )
