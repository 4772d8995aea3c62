"""Weights of linear models are frequencies in every output: a weight of three is a row given three times."""

import warnings

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import tractable
from tractable import LeastMeanSquares, LinearRegression, Ridge, RidgeCV


@pytest.fixture
def table(rng):
    X = rng.standard_normal((30, 3)) * [1.0, 5.0, 0.2] + [0.0, 3.0, 1.0]
    y = X @ [1.0, -0.3, 2.0] + 0.1 * X[:, 0] ** 2 + rng.standard_normal(30)
    y[4] += 6.0
    return X, y, rng.integers(0, 4, 30)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("step", [False, True])
def test_a_diagnosis_counts_rows_by_their_weights(table, intercept, step):
    X, y, weights = table
    model = LinearRegression(fit_intercept=intercept)
    repeated = np.repeat(np.arange(30), weights)
    if step:
        pipeline = make_pipeline(StandardScaler(with_mean=False), model)
        pipeline.fit(X[repeated], y[repeated])
        model = pipeline
    else:
        model.fit(X, y, sample_weight=weights)
    short = tractable.diagnose(model, X, y, sample_weight=weights)
    long = tractable.diagnose(model, X[repeated], y[repeated])
    for name in ("fitted", "residuals", "leverage", "studentized", "cooks_distance"):
        np.testing.assert_allclose(getattr(short, name)[repeated], getattr(long, name), rtol=1e-9, atol=1e-12)
    assert set(short.outliers) == set(repeated[long.outliers])
    for a, b in zip(short.findings, long.findings, strict=True):
        assert a.present == b.present
        for name in set(a.numbers) - {"n_outliers", "leverage", "cooks_distance"}:
            np.testing.assert_allclose(a.numbers[name], b.numbers[name], rtol=1e-8, err_msg=name)


def test_weights_of_one_diagnose_as_none(table):
    X, y, _ = table
    model = LinearRegression().fit(X, y)
    plain, ones = (tractable.diagnose(model, X, y, sample_weight=w) for w in (None, np.ones(30)))
    assert str(plain) == str(ones)


def test_bad_weights_of_a_diagnosis_are_refused(table):
    X, y, _ = table
    model = LinearRegression().fit(X, y)
    for bad in (-np.ones(30), np.ones(29), np.full(30, np.nan)):
        with pytest.raises(ValueError, match="weight"):
            tractable.diagnose(model, X, y, sample_weight=bad)


@pytest.mark.parametrize(
    "model",
    [
        LinearRegression(),
        LinearRegression(fit_intercept=False),
        Ridge(3.0),
        Ridge(3.0, fit_intercept=False),
        Ridge(3.0, penalize_intercept=True),
        RidgeCV(),
    ],
    ids=str,
)
def test_the_hat_matrix_gives_the_fitted_values_of_weighted_rows(table, model):
    for rows in (30, 3):
        X, y, weights = (part[:rows] for part in table)
        weights = weights + 1
        model.fit(X, y, sample_weight=weights)
        hat = model.hat_matrix(X, weights)
        np.testing.assert_allclose(hat @ y, model.predict(X), rtol=1e-9)
        parameters = (
            model.effective_dof_ if hasattr(model, "effective_dof_") else weights.sum() - model.residual_dof_
        )
        np.testing.assert_allclose(np.trace(hat), parameters, rtol=1e-9)
        np.testing.assert_allclose(np.diag(hat), weights * model.leverage(X), rtol=1e-9)


@pytest.mark.parametrize("model", [LinearRegression(), Ridge(0.01)], ids=str)
def test_weights_that_count_too_few_rows_are_said_to(table, model):
    X, y, _ = table
    with pytest.warns(UserWarning, match="sample_weight sums to 1, .*frequencies"):
        model.fit(X, y, sample_weight=np.full(30, 1 / 30))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X, y)
        model.fit(X, y, sample_weight=np.full(30, 0.9))
        model.fit(X[:2], y[:2])  # few rows are fitted exactly: nothing is wrong with weights


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    "options", [{}, {"standardize": True}, {"batch_size": 5}, {"average": True}], ids=str
)
def test_steps_of_least_mean_squares_are_those_of_memory_from_a_source(table, options):
    X, y, weights = table
    for factor in (1.0, 100.0):
        w = factor * (weights + 1)
        model = LeastMeanSquares(shuffle=False, n_epochs=20, step=0.01, **options)
        held = model.fit(X, y, sample_weight=w)
        coef, intercept = held.coef_, held.intercept_
        source = [tractable.data.Batch(X=X, y=y, weights=w)]
        streamed = LeastMeanSquares(shuffle=False, n_epochs=20, step=0.01, **options).fit(source)
        np.testing.assert_allclose(streamed.coef_, coef, rtol=1e-9)
        np.testing.assert_allclose(streamed.intercept_, intercept, rtol=1e-9)


def test_a_bayesian_mixture_has_no_criterion_of_maximum_likelihood():
    model = tractable.BayesianGaussianMixture(2)
    for name in ("aic", "bic", "icl"):
        assert not hasattr(model, name)
        with pytest.raises(AttributeError, match="compare lower_bound_"):
            getattr(model, name)
