"""Cross-validated predictions: rows for models, held-out log scores, comparisons and importances."""

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any

import numpy as np

from tractable.data.names import number_of
from tractable.report.candidates import Candidate, Predict
from tractable.report.fitted import absolute_errors
from tractable.report.rows import SAME, ChosenRows, chosen_rows, deduplicated_rows, listed
from tractable.report.table import Table
from tractable.value import value

#: Folds of the cross-validation.
N_FOLDS = 5

#: Rows and classes at most; rows at least.
MAX_ROWS, MAX_CLASSES, MIN_ROWS = 2_000, 12, 20


@value
class HeldOut:
    """The predictions of a model for each row, fitted to the rows of the other folds.

    Parameters
    ----------
    name : str
        What the report calls the model.
    log_p : array (n,)
        The log predictive density (of classes: probability) of each row's target.
    parts : list of (rows, Predict, distribution)
        By fold: the positions of the rows, the fitted model, and its predictions.
    """

    name: str
    log_p: np.ndarray
    parts: list[tuple[np.ndarray, Predict, Any]]

    @property
    def mean(self) -> float:
        return float(self.log_p.mean())

    @property
    def standard_error(self) -> float:
        return _error(self.log_p)

    def gathered(self, what: Any) -> np.ndarray:
        """Return ``what(distribution, rows)`` of each fold, in the order of the rows."""
        found = [(rows, np.asarray(what(predicted, rows))) for rows, _, predicted in self.parts]
        out = np.empty((len(self.log_p), *found[0][1].shape[1:]))
        for rows, values in found:
            out[rows] = values
        return out


@value
class Importance:
    """The permutation importance of a column: what is lost when its entries are permuted.

    Parameters
    ----------
    column : str
        The name of the column.
    loss : float
        Of log density, on average over rows.
    standard_error : float
        Of the loss, over rows.
    added_error : float
        By how much the mean absolute error grows, in the units of the target; of classes, the share of rows
        that are predicted wrong.
    added_error_standard_error : float
        Of the added error, over rows.
    """

    column: str
    loss: float
    standard_error: float
    added_error: float
    added_error_standard_error: float


def folds(
    y: np.ndarray, *, classes: bool, times: np.ndarray | None = None
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return the training and test rows of five folds, at random with a fixed seed, or stretches of time.

    Parameters
    ----------
    y : array (n,)
        Targets.
    classes : bool
        Whether the targets are classes, of which each fold has its share.
    times : array (n,), optional
        The time of each row: folds are stretches of it.
    """
    from sklearn.model_selection import KFold, StratifiedKFold

    if times is not None:
        # Rows of one time are all in one fold.
        before = np.searchsorted(np.sort(times), times)
        fold = before * N_FOLDS // len(times)
        return [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in np.unique(fold)]
    kind = StratifiedKFold if classes else KFold
    return list(kind(N_FOLDS, shuffle=True, random_state=0).split(np.zeros((len(y), 1)), y))


def held_out(candidate: Candidate, X: Any, y: np.ndarray, splits: Any) -> HeldOut:
    """Return the cross-validated predictions of a candidate.

    Parameters
    ----------
    candidate : Candidate
        The model.
    X, y : frame and array (n,)
        Rows and their targets.
    splits : iterable of pairs of arrays of int
        The rows to learn from and those to predict, by fold.
    """
    log_p, parts = np.empty(len(y)), []
    with quiet():
        for train, test in splits:
            predict = candidate.learn(X.iloc[train], y[train])
            predicted = predict(X.iloc[test])
            log_p[test] = predicted.log_prob(y[test])
            parts.append((test, predict, predicted))
    if not np.isfinite(log_p).all():
        raise ValueError(f"{candidate.name} gives targets no finite density")
    return HeldOut(name=candidate.name, log_p=log_p, parts=parts)


def compared(found: Sequence[HeldOut]) -> list[tuple[HeldOut, float, float]]:
    """Return models by their mean log density, each with its difference from the best.

    The standard error is that of the paired differences, in which the difficulty of rows cancels.
    """
    order = sorted(found, key=lambda one: -one.mean)
    best = order[0]
    return [(one, one.mean - best.mean, _error(one.log_p - best.log_p)) for one in order]


def importances(
    found: HeldOut, X: Any, y: np.ndarray, columns: Sequence[str], rng: np.random.Generator, repeats: int = 3
) -> list[Importance]:
    """Return the permutation importance of columns to a model, the largest added error first.

    Parameters
    ----------
    found : HeldOut
        The cross-validated predictions of the model.
    X, y : frame and array (n,)
        The rows and targets that they are of.
    columns : sequence of str
        The columns to permute, one at a time.
    rng : Generator
        Where the randomness of the permutations comes from.
    repeats : int
        Number of permutations of each column.
    """
    out = []
    usual = found.gathered(lambda d, rows: absolute_errors(d, y[rows]))
    for name in columns:
        loss, added = np.zeros(len(y)), np.zeros(len(y))
        for rows, predict, _ in found.parts:
            part = X.iloc[rows]
            for _ in range(repeats):
                permuted = part.assign(**{name: part[name].array.take(rng.permutation(len(rows)))})
                with quiet():
                    predicted = predict(permuted)
                    loss[rows] += (found.log_p[rows] - predicted.log_prob(y[rows])) / repeats
                    added[rows] += (absolute_errors(predicted, y[rows]) - usual[rows]) / repeats
        out.append(
            Importance(
                column=name,
                loss=float(loss.mean()),
                standard_error=_error(loss),
                added_error=float(added.mean()),
                added_error_standard_error=_error(added),
            )
        )
    return sorted(out, key=lambda one: (-one.added_error, -one.loss))


@contextmanager
def quiet() -> Iterator[None]:
    """Fit and predict without warnings, and without the threads of trees, which wait for each other."""
    with warnings.catch_warnings(), _openmp().limit(limits=1, user_api="openmp"):
        warnings.simplefilter("ignore")
        yield


@cache
def _openmp() -> Any:
    import sklearn.ensemble  # noqa: F401  (whose threads are to be found)
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def _error(x: np.ndarray) -> float:
    return float(x.std(ddof=1) / np.sqrt(len(x)))


@value
class ModelRows:
    """The rows and columns that models of a target are fitted to."""

    X: Any  # a frame of numbers and categories, with missing entries
    y: np.ndarray  # (n,), numbers or codes of classes
    classes: tuple[str, ...] | None  # in the order of their codes
    notes: tuple[str, ...]  # what was left out
    code: str  # lines that compute `X` and `y` from `table`
    copies: tuple[str, ...] = ()  # columns that are left out, for each determines the target
    n_unused: int = 0  # columns that are not in X, without constant ones and copies of the target
    reason: str = ""  # why the target cannot be predicted; empty if it can


def model_rows(table: Table, target: str, most: int | None = MAX_ROWS) -> ModelRows:
    """Return the rows whose target is known, at most `most` of them, chosen at random, and other columns."""
    column = table.column(target)
    if not (column.is_number or column.is_category):
        return _nothing(f"{target} cannot be predicted: it is a column of kind {column.kind!r}.")
    copies = _copies(table, target) if column.is_number else []
    every = len(table.columns)
    rows = chosen_rows(table, (target, *copies), most_numbers=every, most_categories=every)
    rows = deduplicated_rows(rows, table)  # a copy of a test row must not be a training row
    notes = list(rows.notes)
    if copies:
        which = "it determines" if len(copies) == 1 else "they determine"
        notes.append(f"Left out, since {which} the target: {listed(copies)}.")
    if not rows.frame.shape[1]:
        return _nothing(f"There is no other column to predict {target} from.", notes)
    y = table.frame[target].loc[rows.frame.index]
    known = y.dropna()
    classes = _classes(known, notes) if column.is_category else None
    if classes is not None:
        known = known[known.isin(classes)]
    if n_missing := int(y.isna().sum()):
        notes.append(f"{number_of(n_missing, 'row')} without a target left out.")
    if len(known) < MIN_ROWS or known.nunique() < 2:
        why = "fewer than two different values" if known.nunique() < 2 else f"fewer than {MIN_ROWS} rows"
        return _nothing(f"{target} cannot be predicted: {why} of it can be used.", notes)
    if most is not None and len(known) > most:
        known = known.sample(most, random_state=0)
        notes.append(f"Models are compared on {most:,} rows, chosen at random.")
    codes = known.map({name: k for k, name in enumerate(classes)}) if classes else known
    used = {target, *copies, *rows.frame.columns}
    unused = [c for c in table.columns if c.name not in used and c.kind not in ("constant", "empty")]
    return ModelRows(
        X=rows.frame.loc[known.index].astype(table.category_types(rows.categories)),
        y=codes.to_numpy(dtype=int if classes else float),
        classes=classes,
        notes=tuple(notes),
        code=_code(rows, target, classes, sampled=len(known) == MAX_ROWS < len(y)),
        copies=tuple(copies),
        n_unused=len(unused) + table.n_unseen,
    )


def _classes(known: Any, notes: list[str]) -> tuple[str, ...]:
    counts = known.value_counts()
    rare = list(counts.index[counts < N_FOLDS])
    if rare:
        notes.append(f"Classes of fewer than {N_FOLDS} rows left out: {listed(rare)}.")
    kept = list(counts.index[counts >= N_FOLDS])
    if len(kept) > MAX_CLASSES:
        notes.append(f"Of {len(kept)} classes the {MAX_CLASSES} most frequent are used.")
    return tuple(sorted(kept[:MAX_CLASSES]))


def _copies(table: Table, target: str) -> list[str]:
    frame = table.numbers()
    y = frame[target]
    others = frame.drop(columns=target)
    with np.errstate(invalid="ignore", divide="ignore"):
        largest = frame.abs().max()  # in these units squares do not overflow
        alike = (others / largest.drop(target)).corrwith(y / largest[target]).abs()
    return [str(name) for name in others.columns if alike[name] > SAME and others[name].notna().sum() > 2]


def _code(rows: ChosenRows, target: str, classes: tuple[str, ...] | None, *, sampled: bool) -> str:
    lines = [rows.code.rstrip(), f"y = table.frame[{target!r}].loc[rows.index].dropna()"]
    if classes is not None:
        lines.append(f"y = y[y.isin({list(classes)!r})]")
    if sampled:
        lines.append(f"y = y.sample({MAX_ROWS}, random_state=0)")
    types = ".astype(table.category_types(rows.columns))" if rows.categories else ""
    lines.append(f"X = rows.loc[y.index]{types}")
    if classes is not None:
        lines.append(f"y = y.map({list(classes)!r}.index)")
    return "\n".join([*lines, "y = y.to_numpy()", ""])


def _nothing(why: str, notes: Any = ()) -> ModelRows:
    return ModelRows(X=None, y=np.zeros(0), classes=None, notes=tuple(notes), code="", reason=why)
