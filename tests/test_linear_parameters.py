"""A bad parameter of a linear model is one ValueError that names it, whatever its type."""

from contextlib import contextmanager

import numpy as np
import pytest
from sklearn.base import is_classifier

import tractable
from tractable import (
    ARDRegression,
    BayesianLinearRegression,
    BayesianRidge,
    ElasticNet,
    Lasso,
    LassoCV,
    LassoLars,
    LeastMeanSquares,
    LinearRegression,
    Ridge,
    RidgeCV,
    RobustRegression,
)

NO_NUMBER = ["a", [1, 2], np.ones(2), True, np.True_, 1j, np.nan, np.inf, -1.0]
NO_COUNT = [*NO_NUMBER, 0, 1.5]
CASES = [
    (Ridge, "alpha", [*NO_NUMBER, None]),
    (RidgeCV, "alphas", ["a", None, [], [1.0, -1.0], np.nan]),
    (RidgeCV, "method", ["a", None, [1, 2], np.ones(2)]),
    (LinearRegression, "rank_tol", [*NO_NUMBER, 1.0]),
    (LinearRegression, "solver", ["a", None, [1, 2], np.ones(2)]),
    (Lasso, "alpha", [*NO_NUMBER, None]),
    (Lasso, "tol", [*NO_NUMBER, None, 0.0]),
    (Lasso, "max_iter", [*NO_COUNT, None]),
    (Lasso, "precompute", ["a", None, [1, 2], np.ones(2)]),
    (ElasticNet, "alpha", [*NO_NUMBER, None]),
    (ElasticNet, "l1_ratio", [*NO_NUMBER, None, 1.1]),
    (ElasticNet, "tol", [*NO_NUMBER, None, 0.0]),
    (ElasticNet, "max_iter", [*NO_COUNT, None]),
    (LassoLars, "alpha", [*NO_NUMBER, None]),
    (LassoLars, "max_iter", NO_COUNT),
    (LassoCV, "eps", [*NO_NUMBER, None, 0.0, 1.0]),
    (LassoCV, "alphas", ["a", None, True, np.inf, np.nan, 0, 1.5]),
    (LassoCV, "tol", [*NO_NUMBER, None, 0.0]),
    (LassoCV, "max_iter", [*NO_COUNT, None]),
    (LassoCV, "precompute", ["a", None, [1, 2], np.ones(2)]),
    (LeastMeanSquares, "step", [*NO_NUMBER, 0.0]),
    (LeastMeanSquares, "batch_size", NO_COUNT),
    (LeastMeanSquares, "n_epochs", [*NO_COUNT, None]),
    (RobustRegression, "noise", ["a", None, [1, 2], np.ones(2)]),
    (RobustRegression, "tol", [*NO_NUMBER, None]),
    (RobustRegression, "max_iter", [*NO_COUNT, None]),
    (BayesianRidge, "tol", [*NO_NUMBER, None]),
    (BayesianRidge, "max_iter", [*NO_COUNT, None]),
    (ARDRegression, "tol", [*NO_NUMBER, None]),
    (ARDRegression, "max_iter", [*NO_COUNT, None]),
]


@pytest.fixture
def table(rng):
    X = rng.standard_normal((30, 3))
    return X, X @ [1.0, 2.0, 3.0] + rng.standard_normal(30)


@pytest.mark.parametrize(("model", "name", "bad"), CASES, ids=[f"{m.__name__}-{n}" for m, n, _ in CASES])
def test_a_bad_parameter_is_named(model, name, bad, table):
    for given in bad:
        with pytest.raises(ValueError, match=rf"^{name} must be"):
            model(**{name: given}).fit(*table)


def test_so_are_the_degrees_of_freedom_of_student_noise(table):
    for bad in [*NO_NUMBER, 0.0]:
        with pytest.raises(ValueError, match=r"^dof must be"):
            RobustRegression("student", dof=bad).fit(*table)


@pytest.mark.parametrize(
    ("path", "name", "bad"),
    [
        (tractable.lasso_path, "eps", [*NO_NUMBER, None, 0.0, 1.0]),
        (tractable.lasso_path, "n_alphas", [*NO_COUNT, None]),
        (tractable.lasso_path, "l1_ratio", [*NO_NUMBER, None, 1.1]),
        (tractable.lasso_path, "tol", [*NO_NUMBER, None, 0.0]),
        (tractable.lasso_path, "max_iter", [*NO_COUNT, None]),
        (tractable.bridge_regression, "alpha", [*NO_NUMBER, None, 0.0]),
        (tractable.bridge_regression, "q", [*NO_NUMBER, None, 0.5]),
        (tractable.bridge_regression, "tol", [*NO_NUMBER, None]),
        (tractable.bridge_regression, "max_iter", [*NO_COUNT, None]),
    ],
    ids=lambda x: getattr(x, "__name__", x if isinstance(x, str) else ""),
)
def test_and_of_a_path(path, name, bad, table):
    others = {"alpha": 0.1, "q": 1.5} if path is tractable.bridge_regression else {}
    for given in bad:
        with pytest.raises(ValueError, match=rf"^{name} must be"):
            path(*table, **{**others, name: given})


@pytest.mark.parametrize("one", [int, float, np.float32, np.int64])
def test_numbers_of_every_type_are_numbers(one, table):
    for model in (Ridge(one(1)), Lasso(one(1)), ElasticNet(one(1), l1_ratio=one(1)), LassoLars(one(1))):
        assert np.all(np.isfinite(model.fit(*table).coef_))


@pytest.mark.parametrize("model", [Ridge(), RidgeCV(), BayesianLinearRegression()], ids=str)
def test_a_penalised_intercept_needs_an_intercept(model):
    model.set_params(penalize_intercept=True, fit_intercept=False)
    with pytest.raises(ValueError, match="penalize_intercept=True needs fit_intercept=True"):
        model.fit([[0.0], [1.0], [3.0]], [1.0, 2.0, 2.5])


@pytest.mark.parametrize("size", [1e-310, 1.5e-323])
@pytest.mark.parametrize(
    "model",
    [
        tractable.ARDRegression(),
        tractable.BayesianLogisticRegression(),
        tractable.BayesianRidge(),
        tractable.LogisticRegression(fit_intercept=False),
        tractable.MixtureOfExperts(2, random_state=0),
        tractable.MixtureOfRegressors(2, random_state=0),
        tractable.Perceptron(),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.filterwarnings("ignore::UserWarning", "error::RuntimeWarning")
def test_columns_whose_reciprocals_overflow_are_refused_or_constant(model, size, rng):
    """Subnormal numbers have few digits, and no reciprocals: no silent infinity, and X is named."""
    X = rng.standard_normal((60, 3))
    y = X[:, 0] + 0.1 * rng.standard_normal(60)
    with suppress_refusal("X has columns"):
        model.fit(X * size, (y > 0.0).astype(int) if is_classifier(model) else y)
        assert np.all(np.isfinite(model.coef_))


@contextmanager
def suppress_refusal(words):
    try:
        yield
    except ValueError as error:
        if words not in str(error):
            raise
