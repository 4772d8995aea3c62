"""Laws of regression tables: of every estimator with `summary`."""

import html
from collections.abc import Callable
from typing import Any

import numpy as np

from tractable.regression_tables import RegressionSummary
from tractable.testing.assertions import check_laws, laws_above, refused
from tractable.testing.estimator_laws import cloned, learn, quiet

#: Rows and columns of the examples, and rows where each is fitted again.
N_ROWS, N_COLUMNS, N_AGAIN = 150, 3, 40
#: Change of a weight, for numerical derivatives.
STEP = 1e-4


def errors_tests_and_intervals_follow_from_the_covariance(estimator: Any, rng: np.random.Generator) -> None:
    """Errors are roots of the diagonal, p-values two-sided tails, and intervals quantiles of the same t."""
    from scipy.stats import norm, t

    table = _table(estimator, *_rows(estimator, rng))
    reference = norm() if table.t_dof is None else t(table.t_dof)
    _same(table.std_errors, np.sqrt(np.diagonal(table.covariance)))
    _same(table.covariance, table.covariance.T)
    assert np.all(table.std_errors > 0.0), "a standard error is not positive"
    half = reference.isf(0.5 * (1.0 - table.coverage)) * table.std_errors
    _same(table.intervals, np.stack([table.coefficients - half, table.coefficients + half], axis=1))
    if not table.tested:
        return
    _same(table.test_values, table.coefficients / table.std_errors)
    _same(table.p_values, 2.0 * reference.sf(np.abs(table.test_values)), rtol=1e-8)
    outside = np.prod(np.sign(table.intervals), axis=1) > 0.0
    assert np.array_equal(outside, table.p_values < 1.0 - table.coverage), "intervals and tests disagree"


def coefficients_and_intervals_are_the_models(estimator: Any, rng: np.random.Generator) -> None:
    """The table has `intercept_`, `coef_`, `coef_interval` and `intercept_interval` of the model."""
    model = learn(estimator, *_rows(estimator, rng))
    with quiet():
        table = model.summary(coverage=0.8)
    slopes = table.slopes
    _same(table.coefficients[slopes], np.ravel(model.coef_))
    _same(table.intervals[slopes], np.reshape(model.coef_interval(0.8), (-1, 2)))
    assert table.coverage == 0.8
    if len(slopes) < len(table.names):
        assert table.names[0].endswith("intercept"), f"the first coefficient is {table.names[0]}"
        _same(table.coefficients[:1], np.ravel(model.intercept_)[:1])
        _same(table.intervals[0], np.ravel(model.intercept_interval(0.8))[:2])


def criteria_follow_from_the_likelihood(estimator: Any, rng: np.random.Generator) -> None:
    """AIC, BIC, likelihood ratio and R² are their definitions; what there is not is refused by name."""
    from scipy.stats import chi2, f

    table = _table(estimator, *_rows(estimator, rng))
    k, n = table.n_parameters, table.n_rows
    if table.log_likelihood is None:
        refused(lambda: table.aic, "likelihood")
    else:
        _same(table.aic, 2.0 * k - 2.0 * table.log_likelihood)
        _same(table.bic, k * np.log(n) - 2.0 * table.log_likelihood)
    if table.null_log_likelihood is not None and table.log_likelihood is not None:
        ratio = table.likelihood_ratio_test
        _same(ratio.statistic, 2.0 * (table.log_likelihood - table.null_log_likelihood))
        _same(ratio.p_value, chi2.sf(ratio.statistic, len(table.slopes)))
        assert ratio.dof == (len(table.slopes),), f"{ratio.dof} degrees of freedom for {len(table.slopes)}"
    if table.residual_squares is not None and table.total_squares is not None:
        _same(table.r2, 1.0 - table.residual_squares / table.total_squares)
        assert table.adjusted_r2 <= table.r2 <= 1.0
        if table.tested:
            test = table.f_test
            _same(test.p_value, f.sf(test.statistic, *test.dof))
            _same(
                table.wald_test([table.names[j] for j in table.slopes]).statistic, test.statistic, rtol=1e-6
            )


def rows_of_the_fit_are_counted(estimator: Any, rng: np.random.Generator) -> None:
    """Weights count rows: a row of weight 2 is two rows in every number of the table."""
    X, y = _rows(estimator, rng)
    times = rng.integers(1, 4, len(y))
    again = np.repeat(np.arange(len(y)), times)
    weighted, repeated = _table(estimator, X, y, times), _table(estimator, X[again], y[again])
    assert weighted.n_rows == len(again), f"{weighted.n_rows} rows, not {len(again)}"
    _same_tables(weighted, repeated, rtol=1e-5)


def units_of_columns_do_not_matter(estimator: Any, rng: np.random.Generator) -> None:
    """Columns in other units have the same tests, inflation and criteria; coefficients are divided."""
    X, y = _rows(estimator, rng)
    table, units = _table(estimator, X, y), 10.0 ** np.arange(-3, 3, 2)[:N_COLUMNS]
    if not table.tested:  # a penalty is of coefficients in their units
        return
    other = _table(estimator, X * units, y)
    at = table.slopes
    _same(other.coefficients[at] * _each(units, at), table.coefficients[at], rtol=1e-5)
    _same(other.std_errors[at] * _each(units, at), table.std_errors[at], rtol=1e-5)
    _same_tests(other, table, rtol=1e-5)


def origins_of_columns_change_the_intercept_alone(estimator: Any, rng: np.random.Generator) -> None:
    """Columns measured from another origin have the same slopes, standard errors and criteria."""
    X, y = _rows(estimator, rng)
    table = _table(estimator, X, y)
    if not table.has_intercept:
        return
    other = _table(estimator, X + np.array([50.0, -3.0, 7.0])[:N_COLUMNS], y)
    at = table.slopes
    _same(other.coefficients[at], table.coefficients[at], rtol=1e-5)
    _same(other.std_errors[at], table.std_errors[at], rtol=1e-5)
    if table.inflation is not None and other.inflation is not None:
        _same(other.inflation[at], table.inflation[at], rtol=1e-5)


def order_of_columns_is_the_order_of_the_table(estimator: Any, rng: np.random.Generator) -> None:
    """Columns in another order are lines in that order."""
    X, y = _rows(estimator, rng)
    table, other = _table(estimator, X, y), _table(estimator, X[:, ::-1], y)
    slopes = table.slopes.reshape(-1, N_COLUMNS)[:, ::-1].reshape(-1)
    _same(other.coefficients[other.slopes], table.coefficients[slopes], rtol=1e-5)
    _same(other.std_errors[other.slopes], table.std_errors[slopes], rtol=1e-5)


def text_page_and_frame_have_every_coefficient(estimator: Any, rng: np.random.Generator) -> None:
    """The table as text, as HTML and as a frame has a line a coefficient, with its numbers."""
    table = _table(estimator, *_rows(estimator, rng))
    frame, text, page = table.to_frame(), str(table).splitlines(), table._repr_html_()
    assert tuple(frame.index) == table.names
    _same(frame["coefficient"], table.coefficients)
    _same(frame[["low", "high"]], table.intervals)
    assert ("p_value" in frame) == table.tested, "tests of a posterior, or none of an estimate"
    for name, estimate in zip(table.names, table.coefficients, strict=True):
        assert any(line.startswith(name) and f"{estimate:.6g}" in line for line in text), name
        assert html.escape(name) in page, f"{name} is not on the page"
        assert f"{estimate:.6g}" in page, f"the estimate of {name} is not on the page"


def hc0_is_the_sandwich_by_brute_force(estimator: Any, rng: np.random.Generator) -> None:
    """HC0 is Σ (∂θ/∂wᵢ)(∂θ/∂wᵢ)ᵀ, θ the parameters of a fit in which row i counts a little more or less."""
    model, X, y = _robust(estimator, rng)
    if model is None:
        return
    moved = np.zeros((len(y), len(_parameters(model))))
    for i in range(len(y)):
        for sign in (-1.0, 1.0):
            weights = np.ones(len(y))
            weights[i] += sign * STEP
            moved[i] += sign * _parameters(learn(estimator, X, y, sample_weight=weights)) / (2.0 * STEP)
    found = model.robust_covariance(X, y, covariance="HC0")
    scale = np.sqrt(np.diagonal(found))
    _same(moved.T @ moved / scale / scale[:, None], found / scale / scale[:, None], rtol=1e-4, atol=1e-4)


def robust_covariances_are_ordered_and_clusters_of_one_row_are_hc1(
    estimator: Any, rng: np.random.Generator
) -> None:
    """HC0 ≤ HC2 ≤ HC3 in every standard error, HC1 is HC0 n / (n - p), and so are clusters of one row."""
    model, X, y = _robust(estimator, rng)
    if model is None:
        return
    found = {kind: model.robust_covariance(X, y, covariance=kind) for kind in ("HC0", "HC1", "HC2", "HC3")}
    variances = {kind: np.diagonal(each) for kind, each in found.items()}
    assert np.all(variances["HC0"] <= variances["HC2"]), "HC2 is below HC0"
    assert np.all(variances["HC2"] <= variances["HC3"]), "HC3 is below HC2"
    p = len(variances["HC0"])
    _same(found["HC1"], found["HC0"] * len(y) / (len(y) - p), rtol=1e-7)
    _same(model.robust_covariance(X, y, clusters=np.arange(len(y))), found["HC1"], rtol=1e-7)


def leverages_sum_to_the_parameters(estimator: Any, rng: np.random.Generator) -> None:
    """Leverages lie between 0 and 1 and sum to the number of parameters; Cook's distance follows."""
    model, X, y = _robust(estimator, rng)
    if model is None or not hasattr(model, "influence"):
        return
    try:
        found = model.influence(X, y)
    except ValueError:  # of this link there is none
        return
    h, p = found.leverage, len(_parameters(model))
    assert np.all((h >= 0.0) & (h <= 1.0)), "a leverage is no fraction"
    _same(np.sum(h), float(p), rtol=1e-6)
    _same(found.cooks_distance, found.studentized_internal**2 * h / (1.0 - h) / p, rtol=1e-6)
    _same(found.dffits, found.studentized * np.sqrt(h / (1.0 - h)), rtol=1e-6)


REGRESSION_TABLE_LAWS = laws_above(globals())


def check_regression_table(estimator: Any, rng: Any = 0) -> None:
    """Run every law of regression tables on an estimator with `summary`.

    Examples
    --------
    >>> import tractable
    >>> check_regression_table(tractable.LinearRegression())
    """
    check_laws(REGRESSION_TABLE_LAWS, estimator, rng)


def _rows(estimator: Any, rng: np.random.Generator, n: int = N_ROWS) -> tuple[np.ndarray, np.ndarray]:
    """Return rows and targets with noise: numbers, counts that vary much, or two classes that overlap."""
    X = rng.standard_normal((n, N_COLUMNS)) @ np.triu(np.ones((N_COLUMNS, N_COLUMNS))) + 1.0
    predictor = X @ np.linspace(0.4, -0.3, N_COLUMNS)
    tags = estimator.__sklearn_tags__()
    if tags.estimator_type == "classifier":
        return X, (predictor + rng.logistic(size=n) > np.median(predictor)).astype(int)
    if tags.target_tags.positive_only:
        return X, 1.0 + rng.poisson(np.exp(1.0 + 0.5 * predictor) * rng.gamma(2.0, 0.5, n))
    return X, 3.0 + predictor + (0.5 + 0.3 * np.abs(X[:, 0])) * rng.standard_normal(n)


def _robust(estimator: Any, rng: np.random.Generator) -> tuple[Any, np.ndarray, np.ndarray]:
    """Return the estimator fitted to few rows, and these; None where it has no robust covariances."""
    X, y = _rows(estimator, rng, N_AGAIN)
    if not hasattr(estimator, "robust_covariance"):
        return None, X, y
    model = learn(estimator, X, y)
    with quiet():
        table = model.summary()
    if not table.tested:
        return None, X, y
    try:
        model.robust_covariance(X, y, covariance="HC3")
    except ValueError:  # of this link there is none
        return None, X, y
    return model, X, y


def _table(estimator: Any, X: np.ndarray, y: np.ndarray, weights: Any = None) -> RegressionSummary:
    with quiet():
        model = cloned(estimator).fit(X, y, **({} if weights is None else {"sample_weight": weights}))
        found: RegressionSummary = model.summary()
    return found


def _parameters(model: Any) -> np.ndarray:
    """Return the intercept, where there is one, and the coefficients."""
    first = np.ravel(model.intercept_)[: int(model.fit_intercept)]
    return np.append(first, np.ravel(model.coef_))


def _each(units: np.ndarray, slopes: np.ndarray) -> np.ndarray:
    """Return the units of the columns of slopes, class after class."""
    return np.tile(units, len(slopes) // len(units))


def _same_tests(found: RegressionSummary, expected: RegressionSummary, rtol: float) -> None:
    at = expected.slopes
    if expected.tested:
        _same(found.test_values[at], expected.test_values[at], rtol=rtol)
        _same(found.p_values[at], expected.p_values[at], rtol=100.0 * rtol)
    optional: list[tuple[str, Callable[[Any], Any]]] = [
        ("log_likelihood", lambda x: x),
        ("null_log_likelihood", lambda x: x),
        ("residual_squares", lambda x: x),
        ("deviance", lambda x: x),
        ("inflation", lambda x: np.asarray(x)[at]),
    ]
    for name, part in optional:
        ours, theirs = getattr(found, name), getattr(expected, name)
        assert (ours is None) == (theirs is None), f"{name} of one table alone"
        if ours is not None:
            _same(part(ours), part(theirs), rtol=rtol)


def _same_tables(found: RegressionSummary, expected: RegressionSummary, rtol: float) -> None:
    _same(found.coefficients, expected.coefficients, rtol=rtol)
    _same(found.std_errors, expected.std_errors, rtol=rtol)
    _same(found.n_parameters, expected.n_parameters, rtol=rtol)
    _same(found.residual_dof, expected.residual_dof, rtol=rtol)
    _same_tests(found, expected, rtol)


def _same(found: Any, expected: Any, rtol: float = 1e-10, atol: float | None = None) -> None:
    expected = np.asarray(expected, dtype=np.float64)
    size = float(np.max(np.abs(expected), initial=0.0))
    np.testing.assert_allclose(
        np.asarray(found, dtype=np.float64),
        expected,
        rtol=rtol,
        atol=1e-3 * rtol * size if atol is None else atol,
    )
