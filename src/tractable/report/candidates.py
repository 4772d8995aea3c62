"""Candidate models of a target: each is fitted to rows and predicts distributions for new ones."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tractable.classification import LinearDiscriminant, LogisticRegression, NaiveBayes, QuadraticDiscriminant
from tractable.distributions import Categorical, Normal, StudentT
from tractable.linear_model import BayesianRidge, LinearRegression
from tractable.mixture import CollapsedComponentWarning, MixtureOfRegressors, TableMixture
from tractable.neighbors import KNeighborsClassifier, KNeighborsRegressor
from tractable.value import value

#: The least probability of a class, so that log scores are finite.
MIN_PROBABILITY = 1e-15

#: A larger skewness than this is strong, and one by quantiles: that of an exponential is 2, and 0.56.
STRONG_SKEWNESS, STRONG_QUANTILE_SKEWNESS = 1.0, 0.2

#: Folds of a training set by which noise and temperature of boosted trees are found, and temperatures tried.
N_INNER, TEMPERATURES = 3, np.geomspace(0.5, 6.0, 20)

#: The most levels of a category that are told apart; all others are as the most frequent.
MAX_LEVELS = 20

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


def encoder(X: Any) -> Callable[[Any], np.ndarray]:
    """Return a function from frames with the columns of X to numbers, as learned from X.

    Numbers are standardised. A category is one column a level but the most frequent, of the `MAX_LEVELS` most
    frequent; an ordered one is a column for each step, which says whether an entry is beyond it, so that a
    model that shrinks coefficients takes neighbouring levels to be alike. A missing entry is the mean of each
    of them, and a column that has some gives one more that says where: one for all that have them in the same
    rows, so that the model determines its coefficient.

    Examples
    --------
    >>> from pandas import DataFrame
    >>> X = DataFrame({"x": [1.0, 3.0, 5.0, 3.0], "c": ["a", "b", "a", None]})
    >>> encoder(X)(X).round(3)
    array([[-1.414,  0.   ,  0.   ],
           [ 0.   ,  1.   ,  0.   ],
           [ 1.414,  0.   ,  0.   ],
           [ 0.   ,  0.333,  1.   ]])
    """
    numbers = [name for name in X.columns if X[name].dtype.kind == "f"]
    ordered = [name for name in X.columns if getattr(X[name].dtype, "ordered", False)]
    levels = {name: _levels(X[name]) for name in X.columns if name not in numbers and name not in ordered}
    missing = X.isna().loc[:, X.isna().any()]
    gaps = list(missing.columns[~missing.T.duplicated()])

    def columns(new: Any) -> np.ndarray:
        steps = [_steps(new[name]) for name in ordered]
        indicators = [_indicators(new[name], known) for name, known in levels.items()]
        return np.hstack([new[numbers].to_numpy(dtype=np.float64), *steps, *indicators])

    x = columns(X)
    known = ~np.isnan(x)
    count = np.maximum(known.sum(axis=0), 1)
    mean = np.where(known, x, 0.0).sum(axis=0) / count
    spread = np.sqrt((np.where(known, x - mean, 0.0) ** 2).sum(axis=0) / count)
    is_number = np.arange(x.shape[1]) < len(numbers)
    shift, scale = np.where(is_number, mean, 0.0), np.where(is_number & (spread > 0.0), spread, 1.0)

    def encode(new: Any) -> np.ndarray:
        x = columns(new)
        filled = (np.where(np.isnan(x), mean, x) - shift) / scale
        return np.hstack([filled, new[gaps].isna().to_numpy(dtype=np.float64)])

    return encode


def _levels(column: Any) -> Any:
    """Return the levels that have a column: the most frequent, without the first."""
    from pandas import Index

    counts = column.value_counts()
    counts = counts[counts > 0].sort_index().sort_values(ascending=False, kind="stable")
    return Index(list(counts.index[1:MAX_LEVELS]), dtype=object)


def _indicators(column: Any, levels: Any) -> np.ndarray:
    """Return which level each entry is, (n, levels); NaN where it is missing."""
    which = levels.get_indexer(column.astype(object))[:, None] == np.arange(len(levels))
    return np.where(column.isna().to_numpy()[:, None], np.nan, which)


def _steps(column: Any) -> np.ndarray:
    """Return whether entries of an ordered category are beyond each level; NaN where they are missing."""
    codes = np.asarray(column.cat.codes, dtype=np.float64)[:, None]
    return np.where(codes < 0.0, np.nan, codes >= np.arange(1, max(len(column.cat.categories), 2)))


def _encoded(make: Callable[[], Any]) -> Learn:
    def learn(X: Any, y: np.ndarray) -> Predict:
        encode = encoder(X)
        model = make().fit(encode(X), y)
        if hasattr(model, "classes_"):
            return lambda new: _classes(model.predict_proba(encode(new)))
        return lambda new: model.predict_dist(encode(new))

    return learn


def _mean_alone(X: Any, y: np.ndarray) -> Predict:  # noqa: ARG001
    d = Normal(mean=y.mean(), stddev=max(y.std(ddof=1), 1e-6 * np.abs(y).max(), np.finfo(float).tiny))
    return lambda new: d.expand((len(new),))


def _base_rate(X: Any, y: np.ndarray) -> Predict:  # noqa: ARG001
    rates = np.bincount(y) / len(y)
    return lambda new: _classes(np.tile(rates, (len(new), 1)))


def _near_numbers(X: Any, y: np.ndarray) -> Predict:
    """Predict the mean of the neighbours, with the leave-one-out residual variance (1 - R²) var y."""
    encode = encoder(X)
    model = KNeighborsRegressor("loo").fit(*_shuffled(encode(X), y))
    r2 = float(model.loo_scores_[model.n_neighbors_ - 1])
    noise = np.sqrt(max(1.0 - r2, 1e-6) * y.var())
    return lambda new: Normal(mean=model.predict(encode(new)), stddev=noise)


def _near_classes(X: Any, y: np.ndarray) -> Predict:
    """Predict by the votes of the neighbours, and one more vote split by the base rates."""
    encode = encoder(X)
    model = KNeighborsClassifier("loo").fit(*_shuffled(encode(X), y))
    rates, k = np.bincount(y) / len(y), model.n_neighbors_
    return lambda new: _classes((k * model.predict_proba(encode(new)) + rates) / (k + 1))


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

    model = HistGradientBoostingRegressor(**_tree_options(len(y), 40))
    Z, splits = _as_categories(X), KFold(N_INNER, shuffle=True, random_state=0)
    noise = StudentT.fit(y - cross_val_predict(model, Z, y, cv=splits))
    model.fit(Z, y)
    # Two moments at least, so that there is a mean to predict.
    dof = max(float(noise.dof), 2.5)
    scale = max(float(noise.scale), 1e-6 * float(y.std()), np.finfo(float).tiny)
    return lambda new: StudentT(
        dof=dof, location=model.predict(_as_categories(new)) + float(noise.location), scale=scale
    )


def _boosted_classes(X: Any, y: np.ndarray) -> Predict:
    """Predict by gradient-boosted trees, with the temperature of least log loss on rows held out."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.model_selection import StratifiedKFold, cross_val_predict

    # A round grows a tree for each class.
    model = HistGradientBoostingClassifier(**_tree_options(len(y), 30))
    Z, splits = _as_categories(X), StratifiedKFold(N_INNER, shuffle=True, random_state=0)
    proba = cross_val_predict(model, Z, y, cv=splits, method="predict_proba")
    losses = [-np.mean(_tempered(proba, t).log_prob(y)) for t in TEMPERATURES]
    best = float(TEMPERATURES[int(np.argmin(losses))])
    model.fit(Z, y)
    return lambda new: _tempered(model.predict_proba(_as_categories(new)), best)


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


def _tempered(proba: np.ndarray, temperature: float) -> Categorical:
    """Return classes with probabilities ∝ p^(1/T)."""
    log_p = np.log(np.maximum(proba, MIN_PROBABILITY)) / temperature
    return _classes(np.exp(log_p - log_p.max(axis=1, keepdims=True)))


def _as_categories(X: Any) -> Any:
    """Return a frame whose columns that are no numbers have the type of categories."""
    return X.astype(
        {name: "category" for name in X.columns if X[name].dtype.kind == "O" and not hasattr(X[name], "cat")}
    )


def _naive(X: Any, y: np.ndarray) -> Predict:
    """Predict by naive Bayes, from the table as it is."""
    model = NaiveBayes().fit(X, y)
    return lambda new: _classes(model.predict_proba(new))


def _quadratic(X: Any, y: np.ndarray) -> Predict:
    """Predict by quadratic discriminants of the numbers, since a category may not vary within a class."""
    numbers = [name for name in X.columns if X[name].dtype.kind == "f"]
    model = QuadraticDiscriminant().fit(X[numbers].to_numpy(), y)
    return lambda new: _classes(model.predict_proba(new[numbers].to_numpy()))


def _joint(X: Any, y: np.ndarray) -> Predict:
    """Predict by a mixture of all columns and the target, conditioned on the row; BIC chooses its size.

    Numbers have covariances within a component, unless there are many, or many patterns of missing ones.
    """
    target = "the target"
    while target in X.columns:
        target += "'"
    table = X.assign(**{target: y})
    numbers = X[[name for name in X.columns if X[name].dtype.kind == "f"]]
    joint = numbers.shape[1] <= MAX_JOINT and len(numbers.isna().drop_duplicates()) <= MAX_JOINT
    sizes = [("full", k) for k in (1, 2, 4)] if joint else [("diag", k) for k in (1, 2, 4, 6)]
    options: Any = {"unseen": "missing", "random_state": 0}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CollapsedComponentWarning)  # those are not chosen
        models = [TableMixture(k, covariance_type=shape, **options).fit(table) for shape, k in sizes]
    model = min(models, key=lambda m: (m.collapsed_.any(), m.bic(table)))

    def predict(new: Any) -> Any:
        known = model.categories_
        rows = {
            name: new[name].where(new[name].isin(known[name]), None) if name in known else new[name]
            for name in X.columns
        }
        given = model.condition({name: column.to_numpy() for name, column in rows.items()})
        return given.as_univariate()

    return predict


def _classes(proba: np.ndarray) -> Categorical:
    proba = np.maximum(proba, MIN_PROBABILITY)
    return Categorical(probabilities=proba / proba.sum(axis=1, keepdims=True))


@value
class LogTransformed:
    """The distribution of y, given that of log y: p(y) = p(log y) / y for y > 0.

    It has a median but not always a mean: if log y is Student's t, the mean of y is infinite.

    Parameters
    ----------
    base : distribution of numbers
        Of log y, one batch entry a row.

    Examples
    --------
    >>> from tractable import Normal
    >>> d = LogTransformed(base=Normal(mean=[0.0, 1.0], stddev=0.5))
    >>> d.median.round(3), d.cdf([1.0, np.e]).round(3), d.log_prob([1.0, -1.0]).round(3)
    (array([1.   , 2.718]), array([0.5, 0.5]), array([-0.226,   -inf]))
    """

    base: Any

    @property
    def batch_shape(self) -> tuple[int, ...]:
        return tuple(self.base.batch_shape)

    @property
    def median(self) -> np.ndarray:
        return _exp(self.base.icdf(0.5))

    def log_prob(self, y: Any) -> np.ndarray:
        log_y, outside = _log(y)
        return np.where(outside, -np.inf, self.base.log_prob(log_y) - log_y)

    def cdf(self, y: Any) -> np.ndarray:
        log_y, outside = _log(y)
        return np.where(outside, 0.0, self.base.cdf(log_y))

    def icdf(self, q: Any) -> np.ndarray:
        return _exp(self.base.icdf(q))

    def interval(self, coverage: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
        """Return the equal-tailed interval: the exponentials of the ends of that of log y."""
        low, high = self.base.interval(coverage)
        return _exp(low), _exp(high)


def point_prediction(d: Any) -> np.ndarray:
    """Return one number for each row: the mean, or the median if the logarithm was modelled."""
    return np.asarray(d.median if isinstance(d, LogTransformed) else d.mean)


def absolute_errors(d: Any, y: np.ndarray) -> np.ndarray:
    """Return how far predictions are from targets y; of classes, 1 where the most probable is not the true.

    Examples
    --------
    >>> from tractable import Categorical, Normal
    >>> absolute_errors(Normal(mean=[1.0, 2.0], stddev=1.0), np.array([1.5, 2.0]))
    array([0.5, 0. ])
    >>> absolute_errors(Categorical(probabilities=[[0.9, 0.1], [0.6, 0.4]]), np.array([0, 1]))
    array([0., 1.])
    """
    if isinstance(d, Categorical):
        return np.asarray(d.probabilities.argmax(axis=-1) != y, dtype=np.float64)
    return np.abs(point_prediction(d) - y)


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
    return [name for name in X.columns if X[name].dtype.kind == "f" and is_skewed(X[name])]


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
        predict = one.learn(_logged(X, columns), np.log(y))
        return lambda new: LogTransformed(base=predict(_logged(new, columns)))

    return learn


def _logged(X: Any, columns: list[str]) -> Any:
    return X.assign(**{name: np.log(X[name].where(X[name] > 0.0)) for name in columns})


def _log(y: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return logarithms, 0 for numbers that are not positive, and the mask of these."""
    y = np.asarray(y, dtype=np.float64)
    outside = y <= 0.0
    return np.log(np.where(outside, 1.0, y)), outside


def _exp(x: Any) -> np.ndarray:
    with np.errstate(over="ignore"):  # an end of an interval may overflow to infinity
        return np.exp(x)


def _skewness(x: np.ndarray) -> float:
    z = x / np.abs(x).max()  # so that cubes do not overflow
    z = z - z.mean()
    scale = float(np.sqrt(np.mean(z**2)))
    return float(np.mean((z / scale) ** 3)) if scale > 0.0 else 0.0
