"""Curves of scores over the number of rows or a parameter, and the choice of parameters."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn import model_selection
from sklearn.base import clone
from sklearn.pipeline import Pipeline

from tractable.arrays.random import either_seed_name
from tractable.base import check_choice
from tractable.metrics import ParameterChoice, ScoreCurve
from tractable.selection.scores import log_score


@either_seed_name
def learning_curve(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    train_sizes: Any = (0.1, 0.2, 0.4, 0.7, 1.0),
    cv: Any = 5,
    scoring: Any = None,
    groups: Any = None,
    random_state: Any = 0,
) -> ScoreCurve:
    """Return scores over the number of training rows: whether more rows would help.

    Where training and held-out scores meet, more rows do not; where they are apart, the model over-fits.
    Scikit-learn's `learning_curve`, by default with the mean log predictive density.

    Parameters
    ----------
    estimator : estimator
        Cloned for every fit.
    X, y
        Rows, and their targets.
    train_sizes : sequence
        Fractions of the training rows, or numbers of them.
    cv : int or splitter
        How rows are left out; folds of an integer are shuffled.
    scoring : str or callable, optional
        As of scikit-learn; `log_score` when not given.
    groups : array (n,), optional
        For splitters that use them.
    random_state : None or int
        How rows are shuffled.

    Examples
    --------
    >>> import tractable
    >>> X = tractable.datasets.load("old_faithful").X
    >>> curve = learning_curve(tractable.GaussianMixture(2, random_state=0), X, train_sizes=[0.2, 1.0])
    >>> curve.values, bool(curve.test.mean(axis=1)[1] > curve.test.mean(axis=1)[0])
    (array([ 43, 217]), True)
    """
    sizes, train, test = model_selection.learning_curve(
        estimator,
        X,
        y,
        train_sizes=np.asarray(train_sizes),
        cv=_shuffled(cv, random_state),
        scoring=log_score if scoring is None else scoring,
        groups=groups,
        shuffle=True,
        random_state=random_state,
        error_score="raise",
    )[:3]
    return ScoreCurve(label="training rows", values=sizes, train=train, test=test)


@either_seed_name
def validation_curve(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    param_name: str,
    param_range: Sequence[Any],
    cv: Any = 5,
    scoring: Any = None,
    groups: Any = None,
    random_state: Any = 0,
) -> ScoreCurve:
    """Return scores over a parameter: where held-out scores fall while training scores rise, it over-fits.

    Scikit-learn's `validation_curve`, by default with the mean log predictive density.

    Parameters
    ----------
    estimator, X, y, cv, scoring, groups, random_state
        As in `learning_curve`.
    param_name : str
        The parameter, ``step__name`` of a pipeline.
    param_range : sequence
        Its values.

    Examples
    --------
    >>> import tractable
    >>> X = tractable.datasets.load("old_faithful").X
    >>> curve = validation_curve(
    ...     tractable.GaussianMixture(random_state=0), X, param_name="n_components", param_range=[1, 2, 8]
    ... )
    >>> int(curve.best)
    2
    """
    if not len(param_range):
        raise ValueError("param_range must have at least one value")
    train, test = model_selection.validation_curve(
        estimator,
        X,
        y,
        param_name=param_name,
        param_range=param_range,
        cv=_shuffled(cv, random_state),
        scoring=log_score if scoring is None else scoring,
        groups=groups,
        error_score="raise",
    )
    return ScoreCurve(label=param_name, values=_as_values(param_range), train=train, test=test)


@either_seed_name
def choose_parameters(
    estimator: Any,
    grid: Mapping[str, Sequence[Any]],
    X: Any,
    y: Any = None,
    *,
    by: str = "cv",
    cv: Any = 5,
    groups: Any = None,
    random_state: Any = 0,
) -> ParameterChoice:
    """Choose parameters by cross-validation, or by the evidence of one fit each where a model has it.

    Parameters
    ----------
    estimator : estimator
        Cloned for every fit.
    grid : mapping of names to sequences, or list of them
        All combinations are tried.
    X, y
        Rows, and their targets.
    by : {"cv", "evidence"}
        The mean log predictive density of rows left out, or `log_evidence_`: of models that integrate their
        parameters out, without leaving rows out.
    cv, groups, random_state
        As in `learning_curve`.

    Examples
    --------
    >>> import numpy as np, tractable
    >>> from sklearn.pipeline import make_pipeline
    >>> x = np.linspace(-1, 1, 40)[:, None]
    >>> y = np.sin(3 * x[:, 0]) + 0.2 * np.random.default_rng(0).standard_normal(40)
    >>> model = make_pipeline(tractable.PolynomialBasis(), tractable.BayesianRidge())
    >>> grid = {"polynomialbasis__degree": [1, 3]}
    >>> [choose_parameters(model, grid, x, y, by=by).best for by in ("cv", "evidence")]
    [{'polynomialbasis__degree': 3}, {'polynomialbasis__degree': 3}]
    """
    check_choice("by", by, ("cv", "evidence"))
    candidates = tuple(model_selection.ParameterGrid(grid))
    if not candidates:
        raise ValueError("grid must have at least one combination of parameters")
    if by == "cv":
        search = model_selection.GridSearchCV(
            estimator, grid, scoring=log_score, cv=_shuffled(cv, random_state), error_score="raise"
        ).fit(X, y, groups=groups)
        found = search.cv_results_
        folds = np.stack([found[f"split{k}_test_score"] for k in range(search.n_splits_)], axis=1)
        return ParameterChoice(
            by=by,
            candidates=tuple(found["params"]),
            scores=folds.mean(axis=1),
            standard_errors=folds.std(axis=1, ddof=1) / np.sqrt(folds.shape[1]),
            best_model=search.best_estimator_,
        )
    fits = [clone(estimator).set_params(**one) for one in candidates]
    fits = [model.fit(X) if y is None else model.fit(X, y) for model in fits]
    scores = np.array([_evidence(model) for model in fits])
    return ParameterChoice(
        by=by,
        candidates=candidates,
        scores=scores,
        standard_errors=np.full(len(scores), np.nan),
        best_model=fits[int(np.argmax(scores))],
    )


def _evidence(model: Any) -> float:
    last = model[-1] if isinstance(model, Pipeline) else model
    if not hasattr(last, "log_evidence_"):
        raise ValueError(f"{type(last).__name__} has no log_evidence_: choose by='cv'")
    return float(np.sum(last.log_evidence_))


def _shuffled(cv: Any, random_state: Any) -> Any:
    if hasattr(cv, "split") or cv is None:
        return cv
    return model_selection.KFold(int(cv), shuffle=True, random_state=random_state)


def _as_values(given: Sequence[Any]) -> np.ndarray:
    numbers = all(isinstance(x, (int, float, np.number)) and not isinstance(x, bool) for x in given)
    return np.asarray(given) if numbers else np.array([str(x) for x in given], dtype=object)
