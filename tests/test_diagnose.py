"""The three problems of a linear fit, each found where it is and not where it is not."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

mpl.use("Agg")
from matplotlib import pyplot as plt

import tractable
from tractable import LinearRegression, PolynomialBasis, Ridge, RobustRegression, diagnose


def line(rng, n=60, slope=2.0, noise=0.5):
    x = rng.uniform(-2.0, 2.0, size=(n, 1))
    return x, 1.0 + slope * x[:, 0] + noise * rng.normal(size=n)


def looked_at(X, y, model=None, **options):
    model = LinearRegression() if model is None else model
    return diagnose(model.fit(X, y), X, y, **options)


def test_a_sound_fit_has_no_problem(rng):
    found = looked_at(*line(rng))
    assert found.problems == ()
    assert str(found).count("\n") == 2


@pytest.mark.spec("LIN-12")
def test_a_signal_too_weak(rng):
    x, _ = line(rng)
    found = looked_at(x, rng.normal(size=60))
    assert found.problems == ("weak signal",)
    assert "no more than chance" in found["weak signal"].sentence
    assert found["weak signal"].numbers["r2"] < 0.15


@pytest.mark.spec("LIN-12")
def test_the_test_of_the_signal_is_scipys(rng):
    x, y = line(rng, slope=0.3)
    numbers = looked_at(x, y)["weak signal"].numbers
    oracle = stats.linregress(x[:, 0], y)
    np.testing.assert_allclose(numbers["r2"], oracle.rvalue**2, rtol=1e-10)
    np.testing.assert_allclose(numbers["p_value"], oracle.pvalue, rtol=1e-8)


@pytest.mark.slow
@pytest.mark.spec("LIN-12")
def test_the_error_of_r2_is_its_spread(rng):
    """Over 400 samples of 300 rows; the error of a standard deviation is 1/√800 of it, and a tenth for n."""
    found = []
    for _ in range(400):
        x = rng.normal(size=(300, 1))
        found.append(looked_at(x, x[:, 0] + rng.normal(size=300))["weak signal"].numbers)
    spread = np.std([f["r2"] for f in found])
    said = np.mean([f["r2_std_error"] for f in found])
    assert abs(spread / said - 1.0) < 5.0 / np.sqrt(800.0) + 0.1


@pytest.mark.spec("LIN-13")
@pytest.mark.parametrize(
    "curve", [np.square, np.exp, lambda x: x**3 - 3.0 * x], ids=["square", "exp", "cube"]
)
def test_a_relation_that_is_not_linear(curve, rng):
    x, _ = line(rng)
    y = curve(x[:, 0]) + 0.2 * rng.normal(size=60)
    found = looked_at(x, y)
    assert "not linear" in found.problems
    assert "basis functions" in found["not linear"].sentence
    cured = looked_at(x, y, make_pipeline(PolynomialBasis(5), LinearRegression()))
    assert "not linear" not in cured.problems


@pytest.mark.spec("LIN-13")
@pytest.mark.parametrize("seed", range(5))
def test_a_curve_that_the_fitted_values_do_not_show(seed):
    """Along a column, or between two, that hardly drive the prediction; the sentence says which."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 3))
    noise = 0.1 * rng.normal(size=300)
    found = looked_at(X, 3.0 * X[:, 2] + X[:, 0] ** 2 + noise)
    assert "not linear" in found.problems
    assert found["not linear"].sentence.startswith("Residuals follow the square of column 0, so basis")
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    found = looked_at(frame, 3.0 * X[:, 2] + X[:, 0] * X[:, 1] + noise)
    assert "the product of column a and column b" in found["not linear"].sentence
    assert "not linear" not in looked_at(frame, 3.0 * X[:, 2] + X[:, 0] + noise).problems


@pytest.mark.spec("LIN-13")
def test_the_test_of_a_square_is_that_of_one_more_column(rng):
    """F is t² of the coefficient of the added column, and p is shared among kinds and columns."""
    X = rng.normal(size=(40, 2)) + 3.0
    y = X[:, 0] + 0.4 * (X[:, 1] - 3.0) ** 2 + rng.normal(size=40)
    numbers = looked_at(X, y)["not linear"].numbers
    more = LinearRegression().fit(np.column_stack([X, X[:, 1] ** 2]), y)
    t = more.coef_[2] / more.coef_std_errors_[2]
    np.testing.assert_allclose(numbers["f"], t**2, rtol=1e-8)
    np.testing.assert_allclose(numbers["p_value"], 3 * 2 * 2 * stats.t.sf(abs(t), 36), rtol=1e-8)


def test_columns_are_called_what_the_steps_before_call_them(rng):
    X = rng.normal(size=(200, 2))
    y = 9.0 * X[:, 1] + X[:, 0] ** 2 + 0.2 * X[:, 0] ** 3 + 0.1 * rng.normal(size=200)
    named = looked_at(X, y, make_pipeline(PolynomialBasis(2), LinearRegression()))
    nameless = looked_at(X, y, make_pipeline(FunctionTransformer(np.negative), LinearRegression()))
    assert "the product of column P1(x0) and column P2(x0)" in named["not linear"].sentence
    assert "the square of column 0" in nameless["not linear"].sentence


def test_columns_of_two_values_and_constants_have_no_squares(rng):
    """A square of zeros and ones is the column itself, however often it is tested."""
    X = np.column_stack([rng.integers(0, 2, size=(50, 2)), np.full(50, 0.1)])
    found = looked_at(X, X[:, 0] + rng.normal(size=50))
    assert found["not linear"].numbers["f"] < 10.0
    assert not found["not linear"].present


@pytest.mark.slow
@pytest.mark.spec("LIN-12", "LIN-13")
def test_a_sound_fit_is_accused_as_often_as_the_level_says(rng):
    """Of 400 sound fits; five standard errors of the share."""
    n, level = 400, 0.1
    accused = np.zeros(2)
    for _ in range(n):
        X = rng.normal(size=(30, 2))
        found = looked_at(X, X[:, 0] + rng.normal(size=30), level=level)
        noise = looked_at(X, rng.normal(size=30), level=level)
        accused += [found["not linear"].present, not noise["weak signal"].present]
    assert np.all(np.abs(accused / n - level) < 5.0 * np.sqrt(level * (1.0 - level) / n))


@pytest.mark.spec("LIN-14")
def test_an_outlier_is_found(rng):
    x, y = line(rng)
    y[17] += 8.0
    found = looked_at(x, y)
    assert found.outliers.tolist() == [17]
    assert found["outliers"].sentence.startswith("1 row sticks out or bends the fit: row 17, ")
    assert "outliers" in found.problems


@pytest.mark.spec("LIN-14")
def test_a_row_far_out_that_bends_the_fit(rng):
    x, y = line(rng)
    x[3], y[3] = 12.0, 0.0
    found = looked_at(x, y)
    assert 3 in found.outliers
    assert np.argmax(found.leverage) == np.argmax(found.cooks_distance) == 3


@pytest.mark.spec("LIN-14")
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_influence_is_what_leaving_a_row_out_does(fit_intercept, rng):
    """Leverage, studentized residuals and Cook's distance against refits without each row."""
    X = rng.normal(size=(15, 2)) + 1.0
    y = X @ [1.0, -1.0] + rng.normal(size=15)
    model = LinearRegression(fit_intercept=fit_intercept)
    found = looked_at(X, y, model)
    p, s2, fitted = 2 + fit_intercept, model.fit(X, y).noise_variance_, model.predict(X)
    np.testing.assert_allclose(found.leverage.sum(), p)
    for i in range(15):
        keep = np.arange(15) != i
        without = LinearRegression(fit_intercept=fit_intercept).fit(X[keep], y[keep])
        spread = np.sqrt(without.noise_variance_ * (1.0 + without.leverage(X[i : i + 1])[0]))
        step = y[i] - without.predict(X[i : i + 1])[0]
        np.testing.assert_allclose(found.studentized[i], step / spread, rtol=1e-9)
        moved = np.sum((fitted - without.predict(X)) ** 2)
        np.testing.assert_allclose(found.cooks_distance[i], moved / (p * s2), rtol=1e-9)


def test_other_estimators_and_pipelines(rng):
    x, y = line(rng)
    for model in (Ridge(alpha=0.1), RobustRegression(), make_pipeline(LinearRegression())):
        assert looked_at(x, y, model).problems == ()


def test_exact_fits_have_no_outliers_and_no_curve():
    x = np.arange(9.0)[:, None]
    found = looked_at(x, 3.0 - x[:, 0])
    assert found.problems == ()
    assert not found.studentized.any()


def test_a_row_that_is_its_own_prediction():
    """A column that only one row has: its leverage is one, its residual says nothing."""
    x = np.column_stack([np.arange(9.0), np.arange(9) == 4])
    y = np.array([0.0, 1.1, 1.9, 3.2, 40.0, 5.1, 5.8, 7.1, 8.0])
    found = looked_at(x, y)
    np.testing.assert_allclose(found.leverage[4], 1.0)
    assert found.outliers.size == 0


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"y": np.ones(6)}, "vary"),
        ({"y": np.full(6, np.nan)}, "finite"),
        ({"y": np.ones((6, 2))}, "one target"),
        ({"y": np.arange(5.0)}, "one target"),
        ({"level": 0.0}, "level"),
    ],
)
def test_bad_input_is_refused(change, named):
    X = np.arange(6.0)[:, None]
    model = LinearRegression().fit(X, X[:, 0])
    with pytest.raises(ValueError, match=named):
        diagnose(model, **{"X": X, "y": X[:, 0], **change})


def test_too_few_rows_are_refused(rng):
    X, y = rng.normal(size=(4, 3)), rng.normal(size=4)
    with pytest.raises(ValueError, match="at least 6 rows for 4 parameters"):
        diagnose(LinearRegression().fit(X, y), X, y)
    with pytest.raises(KeyError):
        looked_at(*line(rng))["no such problem"]


@pytest.mark.spec("LIN-13", "LIN-14")
def test_the_picture_says_what_was_found(rng):
    x, y = line(rng)
    y[17] += 8.0
    ax = tractable.plot(looked_at(x, y))
    assert ax.get_title() == "outliers"
    assert [text.get_text() for text in ax.texts] == ["17"]
    assert tractable.plot(looked_at(*line(rng))).get_title() == "no problem found"
    plt.close("all")
