"""Models that are tried on a target: each learns from rows, and gives a distribution for new ones."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tractable.classification import (
    LinearDiscriminant,
    LogisticRegression,
    NaiveBayes,
    QuadraticDiscriminant,
)
from tractable.distributions import Categorical, Mixture, Normal
from tractable.linear_model import BayesianRidge, LinearRegression
from tractable.mixture import MixtureOfRegressors, TableMixture
from tractable.neighbors import KNeighborsClassifier, KNeighborsRegressor
from tractable.value import value

__all__ = ["Candidate", "Learn", "Predict", "classifiers", "encoder", "regressors"]

#: What a candidate gives for the rows of a frame: one distribution a row.
Predict = Callable[[Any], Any]

#: How it comes to that, from a frame and the targets of its rows.
Learn = Callable[[Any, np.ndarray], Predict]

#: A class that a model thinks impossible still has this probability: a log score can be bad, not infinite.
LEAST = 1e-15


@value
class Candidate:
    """A model that is tried, and how it is called.

    Parameters
    ----------
    name : str
    learn : callable
        ``learn(X, y)`` gives a function from new rows to distributions of their targets. X is a frame with
        missing entries and categories; y are numbers, or codes of classes.
    rows_each : float
        Rows that each encoded column should have, for the model to be worth trying.
    """

    name: str
    learn: Learn
    rows_each: float = 0.0


def regressors() -> tuple[Candidate, ...]:
    """Return what is tried on a target of numbers; the first looks at no other column."""
    return (
        Candidate(name="the mean alone", learn=_mean_alone),
        Candidate(name="LinearRegression", learn=_encoded(LinearRegression), rows_each=2.0),
        Candidate(name="BayesianRidge", learn=_encoded(BayesianRidge)),
        Candidate(name="KNeighborsRegressor", learn=_near_numbers),
        Candidate(
            name="MixtureOfRegressors",
            learn=_encoded(lambda: MixtureOfRegressors(2, n_init=2, random_state=0)),
            rows_each=10.0,
        ),
        Candidate(name="TableMixture", learn=_joint),
    )


def classifiers() -> tuple[Candidate, ...]:
    """Return what is tried on a target of classes, coded 0, 1, …; the first looks at no other column."""
    return (
        Candidate(name="the base rate", learn=_base_rate),
        Candidate(name="LogisticRegression", learn=_encoded_classes(LogisticRegression)),
        Candidate(
            name="LinearDiscriminant", learn=_encoded_classes(lambda: LinearDiscriminant(shrinkage="auto"))
        ),
        Candidate(name="QuadraticDiscriminant", learn=_quadratic),
        Candidate(name="NaiveBayes", learn=_naive),
        Candidate(name="KNeighborsClassifier", learn=_near_classes),
    )


def encoder(X: Any) -> Any:
    """Return what makes numbers of a frame's columns, not yet fitted.

    Numbers are standardised, missing ones the mean, with a column that says so; a category is one column a
    level but the first.
    """
    from sklearn.compose import ColumnTransformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    numbers = [name for name in X.columns if X[name].dtype.kind == "f"]
    levels = OneHotEncoder(drop="first", handle_unknown="ignore", sparse_output=False, max_categories=20)
    return ColumnTransformer(
        [
            ("numbers", make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), numbers),
            ("categories", levels, [name for name in X.columns if name not in numbers]),
        ]
    )


def _encoded(make: Callable[[], Any]) -> Learn:
    def learn(X: Any, y: np.ndarray) -> Predict:
        encode = encoder(X).fit(X)
        model = make().fit(encode.transform(X), y)
        return lambda new: model.predict_dist(encode.transform(new))

    return learn


def _encoded_classes(make: Callable[[], Any]) -> Learn:
    def learn(X: Any, y: np.ndarray) -> Predict:
        encode = encoder(X).fit(X)
        model = make().fit(encode.transform(X), y)
        return lambda new: _classes(model.predict_proba(encode.transform(new)))

    return learn


def _mean_alone(X: Any, y: np.ndarray) -> Predict:  # noqa: ARG001
    d = Normal(mean=y.mean(), stddev=max(y.std(ddof=1), 1e-6 * np.abs(y).max(), np.finfo(float).tiny))
    return lambda new: d.expand((len(new),))


def _base_rate(X: Any, y: np.ndarray) -> Predict:  # noqa: ARG001
    shares = np.bincount(y) / len(y)
    return lambda new: _classes(np.tile(shares, (len(new), 1)))


def _near_numbers(X: Any, y: np.ndarray) -> Predict:
    """Neighbours' mean, with a normal of the variance that leave-one-out leaves: (1 - R²) var y."""
    encode = encoder(X).fit(X)
    model = KNeighborsRegressor("loo").fit(encode.transform(X), y)
    r2 = float(model.loo_scores_[model.n_neighbors_ - 1])
    noise = np.sqrt(max(1.0 - r2, 1e-6) * y.var())
    return lambda new: Normal(mean=model.predict(encode.transform(new)), stddev=noise)


def _near_classes(X: Any, y: np.ndarray) -> Predict:
    """Votes of neighbours, and one more vote that is shared out by the base rates."""
    encode = encoder(X).fit(X)
    model = KNeighborsClassifier("loo").fit(encode.transform(X), y)
    shares, k = np.bincount(y) / len(y), model.n_neighbors_
    return lambda new: _classes((k * model.predict_proba(encode.transform(new)) + shares) / (k + 1))


def _naive(X: Any, y: np.ndarray) -> Predict:
    """Naive Bayes takes the table as it is, holes and all."""
    model = NaiveBayes().fit(X, y)
    return lambda new: _classes(model.predict_proba(new))


def _quadratic(X: Any, y: np.ndarray) -> Predict:
    """Covariances of classes: of the numbers only, for a category may not vary within a class; holes stay."""
    numbers = [name for name in X.columns if X[name].dtype.kind == "f"]
    model = QuadraticDiscriminant().fit(X[numbers].to_numpy(), y)
    return lambda new: _classes(model.predict_proba(new[numbers].to_numpy()))


def _joint(X: Any, y: np.ndarray) -> Predict:
    """A mixture of all columns and the target, given what is known of a row; BIC chooses how many parts."""
    target = "the target"
    while target in X.columns:
        target += "'"
    table = X.assign(**{target: y})
    models = (TableMixture(k, unseen="missing", random_state=0).fit(table) for k in (1, 2, 4, 6))
    model = min(models, key=lambda m: (m.collapsed_.any(), m.bic(table)))

    def predict(new: Any) -> Any:
        known = model.categories_
        rows = {
            name: new[name].where(new[name].isin(known[name]), None) if name in known else new[name]
            for name in X.columns
        }
        given = model.condition({name: column.to_numpy() for name, column in rows.items()})
        return Mixture(weights=given.weights, components=given.components.parts[0])

    return predict


def _classes(proba: np.ndarray) -> Categorical:
    proba = np.maximum(proba, LEAST)
    return Categorical(probabilities=proba / proba.sum(axis=1, keepdims=True))
