"""Quantile regression: optimal vertices, scikit-learn's and statsmodels' answers, intervals, bad input."""

import numpy as np
import pytest
import statsmodels.api as sm
from sklearn.linear_model import QuantileRegressor

from tractable import QuantileRegression


@pytest.fixture(scope="module")
def engel():
    """Income and expenditure on food of Belgian households."""
    table = sm.datasets.engel.load_pandas().data
    return table[["income"]].to_numpy(), table["foodexp"].to_numpy()


@pytest.mark.parametrize("quantile", [0.05, 0.3, 0.5, 0.9])
def test_the_answer_is_scikit_learns(engel, quantile):
    X, y = engel
    theirs = QuantileRegressor(quantile=quantile, alpha=0.0, solver="highs").fit(X, y)
    model = QuantileRegression(quantile).fit(X, y)
    assert model.converged_
    np.testing.assert_allclose(model.coef_, theirs.coef_, rtol=1e-8)
    np.testing.assert_allclose(model.intercept_, theirs.intercept_, rtol=1e-8)


@pytest.mark.parametrize("quantile", [0.02, 0.25, 0.5, 0.97])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_subgradient_holds_zero(quantile, fit_intercept, rng):
    """Multiples q - 1 … q of the rows that are fitted exactly balance those of the others."""
    X, w = rng.standard_normal((300, 4)), rng.integers(1, 4, 300).astype(float)
    y = X @ [1.0, -2.0, 0.5, 0.0] + (1.0 + np.abs(X[:, 0])) * rng.standard_t(2, 300)
    model = QuantileRegression(quantile, fit_intercept=fit_intercept).fit(X, y, w)
    A = np.column_stack([np.ones(300), X]) if fit_intercept else X
    r = y - model.predict(X)
    exact = np.abs(r) < 1e-9
    assert exact.sum() == A.shape[1]
    pull = (w * np.where(r > 0, quantile, quantile - 1.0))[~exact] @ A[~exact]
    dual = np.linalg.solve(A[exact].T, -pull) / w[exact]
    assert np.all((dual >= quantile - 1.0 - 1e-9) & (dual <= quantile + 1e-9))


def test_weights_are_repetitions(rng):
    X, w = rng.standard_normal((80, 2)), rng.integers(0, 4, 80)
    y = X @ [1.0, 2.0] + rng.standard_normal(80)
    one, other = (
        QuantileRegression(0.3).fit(X, y, w),
        QuantileRegression(0.3).fit(np.repeat(X, w, axis=0), np.repeat(y, w)),
    )
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-9)
    np.testing.assert_allclose(one.parameter_covariance_, other.parameter_covariance_, rtol=1e-9)


def test_standard_errors_allow_for_spreads_that_change(rng):
    """They are near those of many repeated tables, where equal spreads are off by a factor."""
    estimates, errors = [], []
    for _ in range(200):
        x = rng.uniform(0.0, 4.0, 300)
        model = QuantileRegression(0.75).fit(x[:, None], x + (0.2 + x) * rng.standard_normal(300))
        estimates.append(model.coef_[0])
        errors.append(model.coef_std_errors_[0])
    assert np.mean(errors) == pytest.approx(np.std(estimates), rel=0.2)


def test_the_table_names_its_covariance(engel):
    table = QuantileRegression(0.5).fit(*engel).summary()
    assert "covariance kernel" in str(table)
    assert table.names == ("intercept", "x0")


@pytest.mark.parametrize("quantile", [0.0, 1.0, -1.0, float("nan"), "half"])
def test_quantiles_are_probabilities(quantile, engel):
    with pytest.raises(ValueError, match="quantile"):
        QuantileRegression(quantile).fit(*engel)


def test_what_has_no_interval(rng):
    X = rng.standard_normal((60, 2))
    with pytest.raises(ValueError, match="no density"):
        QuantileRegression().fit(X, X @ [1.0, 2.0]).coef_interval()
    with pytest.raises(ValueError, match="too few rows"):
        QuantileRegression(0.01).fit(X, rng.standard_normal(60)).coef_interval()
    twice = QuantileRegression().fit(X[:, [0, 0, 1]], rng.standard_normal(60))
    assert np.isinf(twice.coef_std_errors_).tolist() == [True, True, False]
    with pytest.raises(ValueError, match="rows in memory"):
        QuantileRegression().fit([(X, X[:, 0])])


def test_the_table_of_an_exact_fit_says_so(rng):
    X = rng.standard_normal((40, 2))
    found = QuantileRegression(0.5).fit(X, X[:, 0]).summary()
    assert "there are no standard errors" in str(found)
