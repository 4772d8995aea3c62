"""Comparison of models by the log predictive density of rows that are left out of their fits."""

import time
import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import has_fit_parameter

from tractable.arrays.weights import check_weights
from tractable.base import check_count
from tractable.classification import LogisticRegression
from tractable.density import GaussianDensity
from tractable.linear_model import LinearRegression
from tractable.metrics import ModelComparison
from tractable.selection.leave_one_out import closed_form
from tractable.selection.scores import DependentRowsWarning, dependence_of_rows, log_scores


def compare(
    models: Mapping[str, Any] | Sequence[Any],
    X: Any,
    y: Any = None,
    *,
    cv: Any = 5,
    groups: Any = None,
    sample_weight: Any = None,
    criteria: bool = True,
) -> ModelComparison:
    """Compare models by cross-validated log predictive density, beside evidence, AIC, BIC and leave-one-out.

    All models are fitted to the same parts and score the same rows, so that differences have standard errors
    of pairs. Rows that repeat, follow a time or belong to groups make held-out scores too good: a
    `DependentRowsWarning` says so.

    Parameters
    ----------
    models : mapping of names to estimators, or sequence of estimators
        Densities, regressions or classifiers, all of one kind; of other libraries too, see `log_scores`.
    X : array or frame (n, d)
        Rows, held in memory.
    y : array (n,) or (n, t), optional
        Targets or classes.
    cv : int or splitter of scikit-learn
        The number of folds, shuffled with a fixed seed, of classes in equal proportions and without taking
        groups apart; or any splitter. Rows that are never left out, as by `TimeSeriesSplit`, do not count;
        of those left out several times the scores are averaged.
    groups : array (n,), optional
        Rows with the same label are left out together, and go together in standard errors.
    sample_weight : array (n,), optional
        How often each row counts, in fits and in scores.
    criteria : bool
        Whether the models are fitted to all rows too, for evidence, AIC, BIC and leave-one-out.

    Returns
    -------
    ModelComparison
        With `best`, `ranking`, `as_good`, `to_frame()`; printed as a table, drawn by `tractable.plot`.

    Examples
    --------
    >>> import tractable
    >>> X = tractable.datasets.load("old_faithful").X
    >>> found = compare(
    ...     {
    ...         "one": tractable.GaussianDensity(),
    ...         "two": tractable.GaussianMixture(2, random_state=0),
    ...         "kernel": tractable.KernelDensity(),
    ...     },
    ...     X,
    ... )
    >>> found.ranking
    ('two', 'kernel', 'one')
    >>> found.differences.round(1).tolist()
    [-0.5, 0.0, -0.3]
    """
    named = _named(models)
    _check_kinds(named)
    n = len(X) if hasattr(X, "__len__") else X.shape[0]
    if y is not None and len(y) != n:
        raise ValueError(f"y must have one entry a row, {n}, got {len(y)}")
    weights = (
        None if sample_weight is None else check_weights(sample_weight, n, name="sample_weight", some=True)
    )
    splitter = _splitter(cv, named, y, groups, n)
    for sentence in dependence_of_rows(X, y, groups, splitter):
        warnings.warn(sentence, DependentRowsWarning, stacklevel=2)
    sums, counts = np.zeros((n, len(named))), np.zeros(n)
    seconds = np.zeros(len(named))
    for train, test in splitter.split(X, y, groups):
        parts = [None if part is None else _safe_indexing(part, train) for part in (X, y, weights)]
        left_out, targets = _safe_indexing(X, test), None if y is None else _safe_indexing(y, test)
        counts[test] += 1.0
        for k, (name, model) in enumerate(named.items()):
            fitted, took = _fitted(name, model, *parts)
            seconds[k] += took
            sums[test, k] += _scored(name, fitted, left_out, targets)
    seen = counts > 0 if weights is None else (counts > 0) & (weights > 0)
    fits = []
    for k, (name, model) in enumerate(named.items()) if criteria else ():
        fitted, took = _fitted(name, model, X, y, weights)
        seconds[k] += took
        fits.append(fitted)
    found = [_criteria(fitted, X, y, weights) for fitted in fits] or [(np.nan,) * 4] * len(named)
    evidence, aic, bic, loo = np.array(found).T
    labels = np.arange(n) if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1]
    return ModelComparison(
        names=tuple(named),
        scores=sums[seen] / counts[seen, None],
        weights=np.ones(int(seen.sum())) if weights is None else np.asarray(weights)[seen],
        clusters=np.unique(labels.reshape(-1)[seen], return_inverse=True)[1].reshape(-1),
        log_evidence=evidence,
        aic=aic,
        bic=bic,
        loo=loo,
        seconds=seconds,
        models=tuple(fits),
    )


def _fitted(name: str, model: Any, X: Any, y: Any, weights: Any) -> tuple[Any, float]:
    started = time.perf_counter()
    fresh = clone(model)
    options = {}
    if weights is not None:
        if not has_fit_parameter(fresh, "sample_weight"):
            raise ValueError(f"model {name!r} takes no sample_weight in its fit")
        options["sample_weight"] = weights
    try:
        fitted = fresh.fit(X, **options) if y is None else fresh.fit(X, y, **options)
    except ValueError as error:
        raise ValueError(f"model {name!r} cannot be fitted: {error}") from error
    return fitted, time.perf_counter() - started


def _scored(name: str, fitted: Any, X: Any, y: Any) -> np.ndarray:
    try:
        return log_scores(fitted, X, y)
    except ValueError as error:
        raise ValueError(f"model {name!r} cannot be scored: {error}") from error


def _criteria(fitted: Any, X: Any, y: Any, weights: Any) -> tuple[float, float, float, float]:
    """Return evidence, AIC, BIC and leave-one-out of a fit to all rows; NaN where it has none."""
    last = fitted[-1] if isinstance(fitted, Pipeline) else fitted
    evidence = float(getattr(last, "log_evidence_", np.nan))
    n = float(len(X) if weights is None else weights.sum())
    likelihood, p = _likelihood(fitted, last, X, weights, n)
    aic, bic = 2.0 * p - 2.0 * likelihood, p * np.log(n) - 2.0 * likelihood
    left_out = None if last is not fitted or weights is not None else closed_form(fitted, X, y, density=True)
    loo = np.nan if left_out is None or left_out.log_density is None else float(np.mean(left_out.log_density))
    return evidence, aic, bic, loo


def _likelihood(fitted: Any, last: Any, X: Any, weights: Any, n: float) -> tuple[float, float]:
    """Return the maximum of the log-likelihood and the number of parameters; NaN where not known."""
    p = _n_parameters(last, n)
    if p is not None and hasattr(last, "log_likelihood_"):
        return float(last.log_likelihood_), p
    if p is None or not hasattr(last, "score_samples"):
        return np.nan, np.nan
    each = log_scores(fitted, X)
    return float(each.sum() if weights is None else weights @ each), p


def _n_parameters(model: Any, n: float) -> float | None:
    """Return the number of free parameters of a fit of maximum likelihood to n rows, or None."""
    if isinstance(
        model, LinearRegression
    ):  # the coefficients that the rows determine, and the noise variance
        return float(np.size(model.noise_variance_) * (n - model.residual_dof_ + 1.0))
    if isinstance(model, LogisticRegression):
        if not np.isinf(model.C) or model.class_weight is not None:
            return None  # a penalty or weights of classes: not the maximum of the likelihood
        return float((len(model.classes_) - 1) * (model.n_features_in_ + bool(model.fit_intercept)))
    if isinstance(model, GaussianDensity) and not model.ddof:
        d = len(model.location_)
        free = {"full": d * (d + 1) / 2, "diag": d, "spherical": 1}.get(model.covariance_type)
        return None if free is None else d + free
    return float(model.n_parameters_) if hasattr(model, "n_parameters_") else None


def _named(models: Any) -> dict[str, Any]:
    if isinstance(models, Mapping):
        found = {str(name): model for name, model in models.items()}
    elif hasattr(models, "fit") or not isinstance(models, Iterable):
        raise ValueError(f"models must be a mapping or a sequence of estimators, got {models!r:.60}")
    else:
        given = list(models)
        kinds = [type(model).__name__ for model in given]
        names = [k if kinds.count(k) == 1 else f"{k} {kinds[: i + 1].count(k)}" for i, k in enumerate(kinds)]
        found = dict(zip(names, given, strict=True))
    if not found:
        raise ValueError("models must hold at least one estimator")
    for name, model in found.items():
        if not hasattr(model, "fit") or isinstance(model, type):
            raise ValueError(f"models must be estimators, got {model!r:.60} as {name!r}")
    return found


def _check_kinds(named: Mapping[str, Any]) -> None:
    """Refuse log densities of different things side by side: of classes, of targets and of rows."""
    kinds: dict[str, str] = {}
    for name, model in named.items():
        kind = "classifier" if is_classifier(model) else "regression" if is_regressor(model) else "density"
        kinds.setdefault(kind, name)
    if len(kinds) > 1:
        shown = ", ".join(f"{name!r} is a {kind}" for kind, name in kinds.items())
        raise ValueError(f"models must be of one kind, whose scores are of one quantity: {shown}")


def _splitter(cv: Any, named: Mapping[str, Any], y: Any, groups: Any, n: int) -> Any:
    if hasattr(cv, "split") and not isinstance(cv, str):
        return cv
    folds = check_count("cv", cv, least=2)
    if folds > n:
        raise ValueError(f"cv must be at most the {n} rows of X, got {folds}")
    if groups is not None:
        return GroupKFold(folds)
    if y is not None and all(map(is_classifier, named.values())):
        return StratifiedKFold(folds, shuffle=True, random_state=0)
    return KFold(folds, shuffle=True, random_state=0)
