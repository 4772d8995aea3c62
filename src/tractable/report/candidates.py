"""Candidate models of a target: each is fitted to rows and predicts distributions for new ones."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tractable.classification import LinearDiscriminant, LogisticRegression, NaiveBayes, QuadraticDiscriminant
from tractable.distributions import Normal, StudentT
from tractable.linear_model import BayesianRidge, LinearRegression
from tractable.mixture import CollapsedComponentWarning, MixtureOfRegressors, TableMixture
from tractable.neighbors import KNeighborsClassifier, KNeighborsRegressor
from tractable.report.fitted import (
    BoostedClasses,
    BoostedNumbers,
    BoostedTrees,
    EncodedModel,
    FrameModel,
    JointModel,
    NearClasses,
    NearNumbers,
    OfLogarithm,
    SameForAll,
    class_probabilities,
    coded_rows,
    encoder,
    logged,
    number_columns,
    tempered,
)
from tractable.value import value

#: A larger skewness than this is strong, and one by quantiles: that of an exponential is 2, and 0.56.
STRONG_SKEWNESS, STRONG_QUANTILE_SKEWNESS = 1.0, 0.2

#: Folds of a training set by which noise and temperature of boosted trees are found, and temperatures tried.
N_INNER, TEMPERATURES = 3, np.geomspace(0.5, 6.0, 20)

#: Columns of numbers, and patterns of missing ones, of a mixture with covariances at most.
MAX_JOINT = 12

#: From the rows of a frame to one distribution a row.
Predict = Callable[[Any], Any]

#: From a frame and the targets of its rows to a `Predict`.
Learn = Callable[[Any, np.ndarray], Predict]


@value
class Candidate:
    """A model that is compared with others.

    Parameters
    ----------
    name : str
        What the report calls the model.
    learn : callable
        ``learn(X, y)`` returns a function from new rows to distributions of their targets. X is a frame with
        missing entries and categories; y are numbers, or codes of classes.
    rows_each : float
        Rows for each encoded column that the model needs.
    """

    name: str
    learn: Learn
    rows_each: float = 0.0


def regressors() -> tuple[Candidate, ...]:
    """Return the candidates for a target of numbers; the first uses no other column."""
    return (
        Candidate(name="the mean alone", learn=_mean_alone),
        Candidate(name="linear regression", learn=_encoded(LinearRegression), rows_each=2.0),
        Candidate(name="Bayesian ridge regression", learn=_encoded(BayesianRidge)),
        Candidate(name="nearest-neighbour regression", learn=_near_numbers),
        Candidate(
            name="mixture of regressions",
            learn=_encoded(lambda: MixtureOfRegressors(2, alpha=1.0, n_init=2, random_state=0)),
            rows_each=10.0,
        ),
        Candidate(name="mixture of all columns", learn=_joint),
        Candidate(name="gradient boosting", learn=_boosted_numbers),
    )


def classifiers() -> tuple[Candidate, ...]:
    """Return the candidates for a target of classes, coded 0, 1, …; the first uses no other column."""
    return (
        Candidate(name="the base rate", learn=_base_rate),
        Candidate(name="logistic regression", learn=_encoded(LogisticRegression)),
        Candidate(
            name="linear discriminant analysis", learn=_encoded(lambda: LinearDiscriminant(shrinkage="auto"))
        ),
        Candidate(name="quadratic discriminant analysis", learn=_quadratic),
        Candidate(name="naive Bayes", learn=_naive),
        Candidate(name="nearest-neighbour voting", learn=_near_classes),
        Candidate(name="gradient boosting", learn=_boosted_classes),
    )


def _encoded(make: Callable[[], Any]) -> Learn:
    def learn(X: Any, y: np.ndarray) -> Predict:
        encode = encoder(X)
        return EncodedModel(encode=encode, model=make().fit(encode(X), y))

    return learn


def _mean_alone(X: Any, y: np.ndarray) -> Predict:  # noqa: ARG001
    stddev = max(y.std(ddof=1), 1e-6 * np.abs(y).max(), np.finfo(float).tiny)
    return SameForAll(distribution=Normal(mean=y.mean(), stddev=stddev))


def _base_rate(X: Any, y: np.ndarray) -> Predict:  # noqa: ARG001
    return SameForAll(distribution=class_probabilities(np.bincount(y)[None] / len(y))[0])


def _near_numbers(X: Any, y: np.ndarray) -> Predict:
    """Predict the mean of the neighbours, with the leave-one-out residual variance (1 - R²) var y."""
    encode = encoder(X)
    model = KNeighborsRegressor("loo").fit(*_shuffled(encode(X), y))
    r2 = float(model.loo_scores_[model.n_neighbors_ - 1])
    return NearNumbers(encode=encode, model=model, noise=float(np.sqrt(max(1.0 - r2, 1e-6) * y.var())))


def _near_classes(X: Any, y: np.ndarray) -> Predict:
    """Predict by the votes of the neighbours, and one more vote split by the base rates."""
    encode = encoder(X)
    model = KNeighborsClassifier("loo").fit(*_shuffled(encode(X), y))
    return NearClasses(encode=encode, model=model, rates=np.bincount(y) / len(y))


def _shuffled(Z: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return rows in an order that depends on their entries alone, so that ties between neighbours do too."""
    from pandas import DataFrame
    from pandas.util import hash_pandas_object

    rows = DataFrame(np.column_stack([Z, y]))
    rows["copy"] = rows.groupby(list(rows.columns)).cumcount()  # equal rows are spread among the others
    order = np.argsort(hash_pandas_object(rows, index=False), kind="stable")
    return Z[order], y[order]


def _boosted_numbers(X: Any, y: np.ndarray) -> Predict:
    """Predict by gradient-boosted trees, with Student's t noise as of residuals of rows held out."""
    from sklearn.ensemble import HistGradientBoostingRegressor
    from sklearn.model_selection import KFold, cross_val_predict

    columns, categories = _tree_columns(X)
    Z, of_categories = coded_rows(X, columns, categories), [known is not None for known in categories]
    model = HistGradientBoostingRegressor(**_tree_options(len(y), 40), categorical_features=of_categories)
    splits = KFold(N_INNER, shuffle=True, random_state=0)
    noise = StudentT.fit(y - cross_val_predict(model, Z, y, cv=splits))
    errors = StudentT(
        dof=max(float(noise.dof), 2.5),  # two moments at least, so that there is a mean to predict
        location=float(noise.location),
        scale=max(float(noise.scale), 1e-6 * float(y.std()), np.finfo(float).tiny),
    )
    return BoostedNumbers(trees=BoostedTrees.of(model.fit(Z, y), columns, categories), errors=errors)


def _boosted_classes(X: Any, y: np.ndarray) -> Predict:
    """Predict by gradient-boosted trees, with the temperature of least log loss on rows held out."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    columns, categories = _tree_columns(X)
    Z, of_categories = coded_rows(X, columns, categories), [known is not None for known in categories]
    # A round grows a tree for each class.
    model = HistGradientBoostingClassifier(**_tree_options(len(y), 30), categorical_features=of_categories)
    splits = StratifiedKFold(N_INNER, shuffle=True, random_state=0)
    proba = cross_val_predict(model, Z, y, cv=splits, method="predict_proba")
    losses = [-np.mean(tempered(proba, t).log_prob(y)) for t in TEMPERATURES]
    best = float(TEMPERATURES[int(np.argmin(losses))])
    return BoostedClasses(trees=BoostedTrees.of(model.fit(Z, y), columns, categories), temperature=best)


def _tree_columns(X: Any) -> tuple[list[str], list[tuple[Any, ...] | None]]:
    """Return the columns in the order in which trees have them, categories first, with their categories."""
    numbers = number_columns(X)
    words = [name for name in X.columns if name not in numbers]
    categories = [tuple(sorted(X[name].dropna().unique().tolist())) for name in words]
    return [*words, *numbers], [*categories, *(None for _ in numbers)]


def _tree_options(n: int, rounds: int) -> dict[str, Any]:
    """Return the options of trees boosted in so many rounds: smaller leaves where there are few rows."""
    leaf = int(np.clip(n // 20, 3, 20))
    return {
        "max_iter": rounds,
        "learning_rate": 6.0 / rounds,
        "min_samples_leaf": leaf,
        "max_leaf_nodes": 15,
        "random_state": 0,
    }


def _naive(X: Any, y: np.ndarray) -> Predict:
    """Predict by naive Bayes, from the table as it is."""
    return FrameModel(columns=tuple(X.columns), model=NaiveBayes().fit(X, y))


def _quadratic(X: Any, y: np.ndarray) -> Predict:
    """Predict by quadratic discriminants of the numbers, since a category may not vary within a class."""
    numbers = number_columns(X)
    model = QuadraticDiscriminant().fit(X[list(numbers)].to_numpy(), y)
    return FrameModel(columns=numbers, model=model, as_array=True)


def _joint(X: Any, y: np.ndarray) -> Predict:
    """Predict by a mixture of all columns and the target, conditioned on the row; BIC chooses its size.

    Numbers have covariances within a component, unless there are many, or many patterns of missing ones.
    """
    target = "the target"
    while target in X.columns:
        target += "'"
    table = X.assign(**{target: y})
    numbers = X[list(number_columns(X))]
    joint = numbers.shape[1] <= MAX_JOINT and len(numbers.isna().drop_duplicates()) <= MAX_JOINT
    sizes = [("full", k) for k in (1, 2, 4)] if joint else [("diag", k) for k in (1, 2, 4, 6)]
    options: Any = {"unseen": "missing", "random_state": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CollapsedComponentWarning)  # those are not chosen
        models = [TableMixture(k, covariance_type=shape, **options).fit(table) for shape, k in sizes]
    best = min(models, key=lambda m: (m.collapsed_.any(), m.bic(table)))
    return JointModel(columns=tuple(X.columns), model=best)


def is_skewed(x: Any) -> bool:
    """Return whether numbers are positive, strongly skewed to the right, and less so in logarithms.

    Examples
    --------
    >>> is_skewed([1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0]), is_skewed([1.0, 2.0, 3.0, 4.0, 5.0])
    (True, False)
    """
    x = np.asarray(x, dtype=np.float64)
    x = x[~np.isnan(x)]
    if len(x) < 3 or not (x > 0.0).all():
        return False
    skewness, (low, middle, high) = _skewness(x), np.quantile(x, [0.05, 0.5, 0.95])
    # By quantiles too, which a single far number does not change.
    by_quantiles = low + high - 2.0 * middle > STRONG_QUANTILE_SKEWNESS * (high - low)
    return bool(skewness > STRONG_SKEWNESS and by_quantiles and abs(_skewness(np.log(x))) < skewness)


def skewed_columns(X: Any) -> list[str]:
    """Return the columns of a frame that are replaced by their logarithms in models of a logarithm."""
    return [name for name in number_columns(X) if is_skewed(X[name])]


def log_regressors(columns: Sequence[str] = ()) -> tuple[Candidate, ...]:
    """Return the candidates of `regressors`, each as a model of the logarithm of the target.

    Parameters
    ----------
    columns : sequence of str
        Columns of X that are replaced by their logarithms; entries without a logarithm are missing.
    """
    names = {"the mean alone": "the mean of logarithms alone"}
    return tuple(
        Candidate(
            name=names.get(one.name, f"{one.name} of logarithms"),
            learn=_of_logarithm(one, list(columns)),
            rows_each=one.rows_each,
        )
        for one in regressors()
    )


def _of_logarithm(one: Candidate, columns: list[str]) -> Any:
    def learn(X: Any, y: np.ndarray) -> Predict:
        return OfLogarithm(base=one.learn(logged(X, columns), np.log(y)), columns=tuple(columns))

    return learn


def _skewness(x: np.ndarray) -> float:
    z = x / np.abs(x).max()  # so that cubes do not overflow
    z = z - z.mean()
    scale = float(np.sqrt(np.mean(z**2)))
    return float(np.mean((z / scale) ** 3)) if scale > 0.0 else 0.0
