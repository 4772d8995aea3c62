"""The log predictive density of every row under any fitted model, and the scorer that averages it."""

import inspect
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.model_selection import TimeSeriesSplit
from sklearn.pipeline import Pipeline

from tractable.arrays.namespace import to_numpy
from tractable.arrays.weights import check_weights
from tractable.data.frames import column_names, is_frame
from tractable.distributions import Normal


class DependentRowsWarning(UserWarning):
    """Rows are not independent, so that those left out of a fit are no fair test of it."""


def log_scores(estimator: Any, X: Any, y: Any = None) -> np.ndarray:
    """Return the log predictive density of each row under a fitted model, (n,).

    Of a regression log p(y | x), of a classifier log p(class | x), of a density log p(x): models of one kind
    are compared in one unit, nats a row. Models of other libraries do where they have `predict_proba`,
    `score_samples`, or a `predict` with `return_std`, whose mean and deviation are taken for a normal's.

    Parameters
    ----------
    estimator : fitted estimator
        A pipeline is one too.
    X : array or frame (n, d)
        Rows.
    y : array (n,) or (n, t), optional
        Targets or classes.

    Examples
    --------
    >>> import numpy as np, tractable
    >>> X, y = np.arange(6.0)[:, None], np.array([0.1, 0.9, 2.1, 2.9, 4.1, 4.9])
    >>> model = tractable.LinearRegression().fit(X, y)
    >>> log_scores(model, X, y).shape
    (6,)
    """
    if is_classifier(estimator):
        found = _of_classes(estimator, X, y)
    elif is_regressor(estimator):
        found = _of_targets(estimator, X, y)
    else:
        found = _of_rows(estimator, X)
    if np.isnan(found).any():
        raise ValueError(f"{_called(estimator)} gives NaN as the log density of some rows")
    return found


def log_score(estimator: Any, X: Any, y: Any = None, sample_weight: Any = None) -> float:
    """Return the mean log predictive density of rows: a scorer of any model, for ``scoring=``.

    Parameters
    ----------
    estimator, X, y
        As in `log_scores`.
    sample_weight : array (n,), optional
        How often each row counts.

    Examples
    --------
    >>> import tractable
    >>> from sklearn.model_selection import GridSearchCV
    >>> X = tractable.datasets.load("old_faithful").X
    >>> search = GridSearchCV(
    ...     tractable.GaussianMixture(random_state=0), {"n_components": [1, 2]}, scoring=log_score
    ... )
    >>> search.fit(X).best_params_
    {'n_components': 2}
    """
    each = log_scores(estimator, X, y)
    if sample_weight is None:
        return float(np.mean(each))
    weights = check_weights(sample_weight, len(each), name="sample_weight", some=True)
    return float(np.average(each, weights=np.asarray(weights)))


def _of_classes(model: Any, X: Any, y: Any) -> np.ndarray:
    labels = _targets(model, y)
    if hasattr(model, "predict_log_proba"):
        with np.errstate(divide="ignore"):
            logs = np.asarray(model.predict_log_proba(X))
    elif hasattr(model, "predict_proba"):
        with np.errstate(divide="ignore"):
            logs = np.log(np.asarray(model.predict_proba(X)))
    else:
        raise ValueError(f"{_called(model)} has no probabilities of classes (predict_proba) to be scored by")
    labels = _shaped(labels, (len(logs),))
    classes = np.asarray(model.classes_)
    order = np.argsort(classes, kind="stable")
    place = np.minimum(np.searchsorted(classes[order], labels), len(classes) - 1)
    codes = order[place]
    known = classes[codes] == labels  # a class that no training row had is impossible
    return np.where(known, logs[np.arange(len(labels)), codes], -np.inf)


def _of_targets(model: Any, X: Any, y: Any) -> np.ndarray:
    targets = _targets(model, y)
    rows, last = X, model
    if isinstance(model, Pipeline):
        rows, last = (model[:-1].transform(X) if len(model.steps) > 1 else X), model[-1]
    if hasattr(last, "predict_dist"):
        d = last.predict_dist(rows)
    elif "return_std" in inspect.signature(last.predict).parameters:
        mean, stddev = last.predict(rows, return_std=True)
        d = Normal(mean=np.asarray(mean), stddev=np.maximum(np.asarray(stddev), np.finfo(float).tiny))
    else:
        raise ValueError(
            f"{_called(last)} has no predictive distribution (predict_dist, or predict with return_std): "
            "it cannot be scored by the log density of targets"
        )
    targets = _shaped(targets, (*d.batch_shape, *d.event_shape))
    each = np.asarray(to_numpy(d.log_prob(targets)), dtype=np.float64)
    return each.reshape(len(each), -1).sum(axis=1)


def _of_rows(model: Any, X: Any) -> np.ndarray:
    if isinstance(model, Pipeline) and len(model.steps) > 1:
        raise ValueError(
            "a density in a pipeline is one of transformed columns, in other units than its rows: "
            "fit the density to the rows themselves"
        )
    if not hasattr(model, "score_samples"):
        raise ValueError(f"{_called(model)} has no log density of rows (score_samples) to be scored by")
    return np.asarray(to_numpy(model.score_samples(X)), dtype=np.float64)


def _targets(model: Any, y: Any) -> np.ndarray:
    if y is None:
        raise ValueError(f"y must be given: {_called(model)} predicts it")
    return np.asarray(y)


def _shaped(y: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """Return targets in the shape of predictions: one column and no column are the same."""
    if y.shape[:1] != shape[:1] or y.size != np.prod(shape):
        raise ValueError(f"y must have the shape of the predictions, {shape}, got {y.shape}")
    return y.reshape(shape)


def _called(model: Any) -> str:
    return type(model).__name__


#: Names of columns that say whose rows they are, and when they were.
_IDENTIFIERS = re.compile(
    r"(^|[_\W])(id|subject|patient|person|user|customer|household|school|site|batch|group|participant)s?$",
    re.IGNORECASE,
)
_TIMES = re.compile(r"(^|[_\W])(time|date|datetime|timestamp|day|year|month|hour)s?$", re.IGNORECASE)

#: Fraction of rows that repeat others, and correlation of neighbours, from which a warning is due.
REPEATED, CORRELATED = 0.02, 0.3


def dependence_of_rows(X: Any, y: Any = None, groups: Any = None, cv: Any = None) -> list[str]:
    """Return why rows may depend on each other: they repeat, follow a time, or belong to groups.

    A row that is left out of a fit is then no new one: its copy, its neighbour in time or another row of its
    group was seen. Splitters that keep these together make up for it, and are not objected to.

    Parameters
    ----------
    X : array or frame (n, d)
        Rows in their order.
    y : array (n,), optional
        Targets.
    groups : array (n,), optional
        Whose each row is.
    cv : splitter, optional
        How rows are left out.

    Returns
    -------
    list of str
        Sentences; none where nothing was found.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> dependence_of_rows(X), dependence_of_rows(np.vstack([X, X[:10]]))[0][:32]
    ([], '17% of the rows repeat others: a')
    """
    by_group = "Group" in type(cv).__name__
    in_time = isinstance(cv, TimeSeriesSplit)
    found = []
    if groups is not None and cv is not None and not by_group:
        found.append(f"rows belong to groups, which {type(cv).__name__} takes apart: use GroupKFold")
    columns = _columns(X)
    repeated = _repeated(columns, y)
    if repeated > REPEATED and groups is None:
        found.append(
            f"{repeated:.0%} of the rows repeat others: a row that is left out may be known from its copy; "
            "leave copies out, or give groups that keep them together"
        )
    if not in_time:
        found += _time(columns, y)
    if not by_group and groups is None:
        found += [
            f"column {name!r} has {_per_label(column):.1f} rows of each label: give it as groups"
            for name, column in columns.items()
            if _IDENTIFIERS.search(str(name)) and _per_label(column) >= 1.5
        ]
    return found


def _columns(X: Any) -> dict[Any, np.ndarray]:
    if is_frame(X):
        return {name: np.asarray(X[name]) for name in column_names(X)}
    rows = np.asarray(X)
    return {j: rows[:, j] for j in range(rows.shape[1])} if rows.ndim == 2 else {}


def _per_label(column: np.ndarray) -> float:
    try:
        return len(column) / max(1, len(np.unique(column)))
    except TypeError:
        return 1.0


def _repeated(columns: dict[Any, np.ndarray], y: Any) -> float:
    """Return the fraction of rows that are copies of others, 0 where chance explains them."""
    parts = [*columns.values(), *([] if y is None or np.ndim(y) != 1 else [np.asarray(y)])]
    if not _may_repeat(parts):
        return 0.0
    codes = []
    for part in parts:
        try:
            codes.append(np.unique(part, return_inverse=True)[1].reshape(-1))
        except TypeError:
            return 0.0
    if not codes or not len(codes[0]):
        return 0.0
    n = len(codes[0])
    copies = n - len(np.unique(np.stack(codes, axis=1), axis=0))
    # Rows of rounded numbers and of categories are equal by chance too: of independent columns so many pairs.
    alike = np.prod(
        [0.0 if _is_fine(x) else np.sum((np.bincount(c) / n) ** 2) for x, c in zip(parts, codes, strict=True)]
    )
    return copies / n if copies > 5.0 * 0.5 * n * n * alike else 0.0


def _may_repeat(parts: Sequence[np.ndarray]) -> bool:
    """Whether a random linear combination of numbers is the same for two rows, as it is for copies."""
    if any(part.dtype.kind not in "biuf" for part in parts):
        return True
    keys = np.zeros(len(parts[0]) if parts else 0, dtype=np.uint64)
    odd = np.random.default_rng(0).integers(2**63, size=len(parts), dtype=np.uint64) * 2 + 1
    for part, factor in zip(parts, odd, strict=True):
        x = part.astype(np.float64) + 0.0  # one zero, and one NaN
        keys += np.where(np.isnan(x), np.nan, x).view(np.uint64) * factor
    return len(np.unique(keys)) < len(keys)


def _is_fine(column: np.ndarray) -> bool:
    """Whether numbers have more digits than rounding leaves, so that equal ones are copies."""
    if column.dtype.kind != "f":
        return False
    with np.errstate(invalid="ignore", over="ignore"):
        spread = float(np.std(column[np.isfinite(column)])) if np.isfinite(column).any() else 0.0
    if not np.isfinite(spread) or spread == 0.0:
        return False
    digits = int(np.clip(3 - np.floor(np.log10(spread)), -300, 300))
    return bool(np.mean(np.round(column, digits) != column) > 0.5)


def _time(columns: dict[Any, np.ndarray], y: Any) -> list[str]:
    for name, column in columns.items():
        dated = column.dtype.kind == "M" or (column.dtype.kind in "iuf" and _TIMES.search(str(name)))
        if dated and len(column) > 2 and np.all(column[1:] >= column[:-1]):
            return [
                f"rows are in the order of column {name!r}, a time: use TimeSeriesSplit to predict what comes"
            ]
    target = None if y is None else np.asarray(y)
    if target is None or target.ndim != 1 or target.dtype.kind not in "iuf" or len(np.unique(target)) < 10:
        return []
    step = np.diff(target)
    if np.all(step >= 0) or np.all(step <= 0):
        return []  # sorted by the target
    centred = target - target.mean()
    scale = float(centred @ centred)
    r = float(centred[1:] @ centred[:-1]) / scale if scale > 0 else 0.0
    if r > max(CORRELATED, 4.0 / np.sqrt(len(target))):
        return [f"targets of neighbouring rows are correlated ({r:.2f}), as in a series: use TimeSeriesSplit"]
    return []
