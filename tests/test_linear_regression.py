"""What linear regression promises beyond the laws of all estimators."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn import linear_model
from sklearn.base import clone
from sklearn.model_selection import LeaveOneOut, cross_val_score

import tractable
from tractable import Lasso, LinearRegression, Ridge, RobustRegression
from tractable.arrays import pinv, to_numpy
from tractable.engines import least_squares
from tractable.statistics import LinearFactor

SOLVERS = ["qr", "svd", "normal"]


@pytest.fixture
def X(rng):
    return rng.standard_normal((60, 4)) @ rng.standard_normal((4, 4)) + [1.0, -3.0, 10.0, 0.0]


@pytest.fixture
def y(X, rng):
    return 2.0 + X @ [1.0, -0.5, 0.0, 3.0] + rng.standard_normal(60)


def with_ones(X):
    return np.column_stack([np.ones(len(X)), X])


# --- the solution ------------------------------------------------------------------------------------------


@pytest.mark.spec("LIN-01", "LIN-02")
def test_one_column_is_covariance_over_variance(rng):
    x = rng.gamma(2.0, size=40)
    y = 3.0 - 2.0 * x + rng.standard_normal(40)
    model = LinearRegression().fit(x[:, None], y)
    slope = np.cov(x, y, ddof=0)[0, 1] / np.var(x)
    assert model.coef_[0] == pytest.approx(slope, rel=1e-12)
    assert model.intercept_ == pytest.approx(y.mean() - slope * x.mean(), rel=1e-12)
    error = np.sum((y - model.predict(x[:, None])) ** 2)
    for other in ([0.01, 0.0], [0.0, 0.01], [-0.01, 0.005]):
        assert np.sum((y - (model.intercept_ + other[0]) - (slope + other[1]) * x) ** 2) > error


@pytest.mark.spec("LIN-03", "E001-03")
@pytest.mark.parametrize("solver", SOLVERS)
def test_the_intercept_is_a_column_of_ones(X, y, solver):
    theta = np.linalg.lstsq(with_ones(X), y, rcond=None)[0]
    model = LinearRegression(solver=solver).fit(X, y)
    np.testing.assert_allclose([model.intercept_, *model.coef_], theta, rtol=1e-9)
    as_column = LinearRegression(solver=solver, fit_intercept=False).fit(with_ones(X), y)
    np.testing.assert_allclose(as_column.coef_, theta, rtol=1e-9)
    assert as_column.intercept_ == 0.0
    np.testing.assert_allclose(model.predict(X), with_ones(X) @ theta, rtol=1e-10)


@pytest.mark.spec("LIN-05")
@pytest.mark.parametrize(
    ("model", "error"),
    [
        (LinearRegression(), lambda r, w: np.sum(r**2)),
        (Ridge(3.0), lambda r, w: np.sum(r**2) + 3.0 * np.sum(w**2)),
        (Lasso(0.1), lambda r, w: 0.5 * np.mean(r**2) + 0.1 * np.sum(np.abs(w))),
        (RobustRegression("laplace"), lambda r, w: np.sum(np.abs(r))),
    ],
    ids=lambda part: type(part).__name__,
)
def test_an_error_is_chosen_minimised_and_predicted_with(model, error, X, y, rng):
    """Three steps, one protocol: `fit` minimises the error of the model, `predict` uses the minimum."""
    model = model.fit(X, y)
    w, b = model.coef_, model.intercept_
    np.testing.assert_allclose(model.predict(X), X @ w + b, rtol=1e-10)
    least = error(y - X @ w - b, w)
    for size in (1e-3, 1e-1, 1.0):
        for step in size * rng.standard_normal((20, len(w) + 1)):
            other = w + step[1:]
            assert error(y - X @ other - b - step[0], other) >= least * (1.0 - 1e-12)


@pytest.mark.spec("LIN-04", "LIN-08")
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("solver", SOLVERS)
def test_residuals_are_orthogonal_to_every_column(X, y, solver, intercept):
    model = LinearRegression(solver=solver, fit_intercept=intercept).fit(X, y)
    residual = y - model.predict(X)
    np.testing.assert_allclose(X.T @ residual, 0.0, atol=1e-9)
    if intercept:
        assert residual.sum() == pytest.approx(0.0, abs=1e-10)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("intercept", [True, False])
def test_scikit_learn_agrees(X, y, rng, solver, intercept):
    targets = np.column_stack([y, rng.standard_normal(60), X[:, 0] ** 2])
    weights = rng.random(60)
    for target in (y, targets, targets[:, :1]):
        mine = LinearRegression(solver=solver, fit_intercept=intercept).fit(X, target, sample_weight=weights)
        theirs = linear_model.LinearRegression(fit_intercept=intercept).fit(X, target, sample_weight=weights)
        assert mine.coef_.shape == theirs.coef_.shape
        assert np.shape(mine.intercept_) == (np.shape(theirs.intercept_) if intercept else target.shape[1:])
        np.testing.assert_allclose(mine.coef_, theirs.coef_, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(
            mine.intercept_, np.broadcast_to(theirs.intercept_, target.shape[1:]), rtol=1e-9
        )
        np.testing.assert_allclose(mine.predict(X), theirs.predict(X), rtol=1e-9, atol=1e-10)
        assert mine.score(X, target) == pytest.approx(theirs.score(X, target), rel=1e-10)
    plain = linear_model.LinearRegression(fit_intercept=intercept).fit(X, y)
    mine = LinearRegression(solver=solver, fit_intercept=intercept).fit(X, y)
    assert mine.rank_ == plain.rank_
    np.testing.assert_allclose(mine.singular_, plain.singular_, rtol=1e-10)


@pytest.mark.spec("LIN-08", "LIN-09", "E001-06", "E001-07")
def test_least_squares_by_the_svd_uses_v_and_not_its_transpose():
    design = np.column_stack([[1.0, 2.0, 3.0, 4.0, 4.5], np.ones(5)])
    y = np.array([3.0, 5.0, 7.0, 9.0, 10.0])
    theta = LinearRegression(solver="svd", fit_intercept=False).fit(design, y).coef_
    np.testing.assert_allclose(theta, [2.0, 1.0], rtol=1e-13)
    U, s, Vt = np.linalg.svd(design, full_matrices=False)
    # Signs of singular vectors are free: a rotation V shows what a reflection, its own transpose, would hide.
    sign = np.array([1.0, np.linalg.det(Vt)])
    U, V = U * sign, Vt.T * sign
    np.testing.assert_allclose(V @ (U.T @ y / s), theta, rtol=1e-12)
    np.testing.assert_allclose(V.T @ (U.T @ y / s), [2.223, -0.237], atol=5e-4)  # the printed listing
    np.testing.assert_allclose(np.diag(s**-2.0) @ V @ np.diag(s) @ U.T @ y, [2.11, 45.19], atol=5e-3)


@pytest.mark.parametrize("solver", SOLVERS)
def test_all_solvers_are_one_in_moderate_condition(X, y, solver):
    fit, reference = (LinearRegression(solver=s).fit(X, y) for s in (solver, "qr"))
    for name in (
        "coef_",
        "intercept_",
        "coef_covariance_",
        "noise_variance_",
        "log_likelihood_",
        "intercept_std_error_",
    ):
        np.testing.assert_allclose(getattr(fit, name), getattr(reference, name), rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(fit.leverage(X), reference.leverage(X), rtol=1e-8)


# --- weights, targets, places and scales -------------------------------------------------------------------


def test_weights_are_repetitions_in_every_answer(X, y, rng):
    times = rng.integers(0, 4, 60)
    weighted = LinearRegression().fit(X, y, sample_weight=times)
    repeated = LinearRegression().fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    for name in (
        "coef_",
        "noise_variance_",
        "noise_variance_ml_",
        "coef_covariance_",
        "log_likelihood_",
        "residual_dof_",
    ):
        np.testing.assert_allclose(getattr(weighted, name), getattr(repeated, name), rtol=1e-9)
    assert np.sum(times * weighted.leverage(X)) == pytest.approx(5.0)
    np.testing.assert_allclose(weighted.predict_interval(X), repeated.predict_interval(X), rtol=1e-9)


def test_several_targets_are_several_fits(X, y, rng):
    Y = np.column_stack([y, 1e3 * rng.standard_normal(60)])
    both = LinearRegression().fit(X, Y)
    alone = [LinearRegression().fit(X, column) for column in Y.T]
    assert both.coef_.shape == both.coef_std_errors_.shape == (2, 4)
    assert both.coef_covariance_.shape == (2, 4, 4)
    assert both.coef_interval().shape == (2, 4, 2)
    assert both.intercept_interval().shape == (2, 2)
    assert both.predict_interval(X).shape == (60, 2, 2)
    assert both.predict_dist(X).batch_shape == (60, 2)
    for k, one in enumerate(alone):
        np.testing.assert_allclose(both.coef_[k], one.coef_, rtol=1e-9)
        np.testing.assert_allclose(both.coef_covariance_[k], one.coef_covariance_, rtol=1e-9)
        np.testing.assert_allclose(both.coef_interval()[k], one.coef_interval(), rtol=1e-9)
        np.testing.assert_allclose(both.intercept_interval()[k], one.intercept_interval(), rtol=1e-9)
        np.testing.assert_allclose(both.predict_interval(X)[:, k], one.predict_interval(X), rtol=1e-9)
    assert both.log_likelihood_ == pytest.approx(sum(one.log_likelihood_ for one in alone))


def test_a_stream_keeps_the_shape_of_its_targets(X, y):
    streamed = LinearRegression().partial_fit(X[:30], y[:30, None]).partial_fit(X[30:], y[30:, None])
    assert streamed.coef_.shape == (1, 4)
    assert streamed.predict(X).shape == (60, 1)
    assert LinearRegression().partial_fit(X, y).merge(LinearRegression().fit(X, y)).predict(X).shape == (60,)
    with pytest.raises(ValueError, match="targets"):
        streamed.partial_fit(X, np.column_stack([y, y]))


@pytest.mark.parametrize("solver", SOLVERS)
def test_far_from_the_origin_is_as_good_as_near(solver, rng):
    x = np.round(rng.standard_normal((500, 3)) * 2**20) / 2**20  # exact after the shift
    y = np.round((x @ [1.0, 2.0, -1.0] + rng.standard_normal(500)) * 2**20) / 2**20
    near, far = (
        LinearRegression(solver=solver).fit(x, y),
        LinearRegression(solver=solver).fit(x + 1e8, y + 1e8),
    )
    assert far.rank_ == 3
    np.testing.assert_allclose(far.coef_, near.coef_, rtol=1e-9)
    np.testing.assert_allclose(far.predict(x + 1e8) - 1e8, near.predict(x), atol=1e-6)
    assert far.intercept_ == pytest.approx(1e8 + near.intercept_ - 1e8 * near.coef_.sum(), abs=1e-3)
    np.testing.assert_allclose(far.noise_variance_, near.noise_variance_, rtol=1e-8)


def test_units_of_columns_do_not_matter(X, y):
    scale = np.array([1e-120, 1.0, 1e10, 1e120])
    plain, scaled = LinearRegression().fit(X, y), LinearRegression().fit(X * scale, y)
    assert scaled.rank_ == 4
    np.testing.assert_allclose(scaled.coef_ * scale, plain.coef_, rtol=1e-9)
    np.testing.assert_allclose(scaled.coef_std_errors_ * scale, plain.coef_std_errors_, rtol=1e-9)


# --- rank --------------------------------------------------------------------------------------------------


@pytest.mark.spec("LIN-08")
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("intercept", [True, False])
def test_collinear_columns_give_the_shortest_coefficients(X, y, solver, intercept):
    both = np.column_stack([X, 2.0 * X[:, 0] - X[:, 1], 100.0 * X[:, 2]])
    model = LinearRegression(solver=solver, fit_intercept=intercept).fit(both, y)
    assert model.rank_ == 4
    centred = both - both.mean(axis=0) if intercept else both
    np.testing.assert_allclose(model.coef_, pinv(centred) @ (y - y.mean() if intercept else y), rtol=1e-7)
    np.testing.assert_allclose(
        model.predict(both), LinearRegression(fit_intercept=intercept).fit(X, y).predict(X), rtol=1e-7
    )
    assert model.residual_dof_ == 60 - 4 - intercept
    inverse = np.linalg.pinv(centred)
    shortest = np.sum(inverse**2, axis=1)
    determined = np.array([False, False, False, True, False, False])
    errors = np.where(determined, np.sqrt(model.noise_variance_ * shortest), np.inf)
    np.testing.assert_allclose(model.coef_std_errors_, errors, rtol=1e-5)
    np.testing.assert_allclose(np.diag(model.coef_covariance_), errors**2, rtol=1e-5)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("intercept", [True, False])
def test_fewer_rows_than_columns_give_the_shortest_coefficients(rng, solver, intercept):
    X, y = rng.standard_normal((5, 12)) + 1.0, rng.standard_normal(5)
    model = LinearRegression(solver=solver, fit_intercept=intercept).fit(X, y)
    assert model.rank_ == 5 - intercept
    theirs = linear_model.LinearRegression(fit_intercept=intercept).fit(X, y)
    np.testing.assert_allclose(model.coef_, theirs.coef_, rtol=1e-7, atol=1e-10)
    np.testing.assert_allclose(model.predict(X), y, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("intercept", [True, False])
def test_a_wide_table_is_kept_by_its_rows(rng, intercept):
    X, y = rng.standard_normal((20, 3000)) + 1.0, rng.standard_normal(20)
    model = LinearRegression(fit_intercept=intercept).fit(X, y)
    assert model.statistic_.factor.shape == (20, 3001)
    assert model.rank_ == 20 - intercept
    theirs = linear_model.LinearRegression(fit_intercept=intercept).fit(X, y)
    np.testing.assert_allclose(model.coef_, theirs.coef_, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(model.singular_[:19], theirs.singular_[:19], rtol=1e-9)
    half = [LinearRegression(fit_intercept=intercept).fit(X[k::2, :30], y[k::2]) for k in (0, 1)]
    whole = LinearRegression(fit_intercept=intercept).fit(X[:, :30], y)
    np.testing.assert_allclose(half[0].merge(half[1]).coef_, whole.coef_, rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("condition", [1.0, 1e2, 1e3, 1e5, 1e8])
def test_wide_tables_keep_the_digits_of_an_orthogonal_decomposition(rng, condition):
    """Products of rows, refined by their residuals, where these are safe; else their QR."""
    u, v = (np.linalg.qr(rng.standard_normal(shape))[0] for shape in ((12, 12), (40, 12)))
    X = (u * np.geomspace(1.0, 1.0 / condition, 12)) @ v.T
    y = rng.standard_normal((12, 2))
    model, plain = LinearRegression().fit(X, y), LinearRegression(solver="svd").fit(X, y)
    assert model.rank_ == plain.rank_ == 11
    size = np.abs(plain.coef_).max()
    np.testing.assert_allclose(model.coef_ / size, plain.coef_ / size, atol=1e-14 * condition, rtol=0)
    rows = np.vstack([X[:3], rng.standard_normal((1, 40))])
    np.testing.assert_allclose(model.leverage(rows), [1.0, 1.0, 1.0, np.inf], rtol=1e-13 * condition)
    roots = [each._solution_.slopes_root for each in (model, plain)]
    np.testing.assert_allclose(
        roots[0] @ roots[0].T, roots[1] @ roots[1].T, atol=1e-13 * condition * np.sum(roots[1] ** 2)
    )


@pytest.mark.parametrize("row", ["a copy", "zeros", "the sum of others"])
def test_wide_tables_of_dependent_rows_have_the_least_squares_of_the_shortest_coefficients(rng, row):
    X, y = rng.standard_normal((8, 20)), rng.standard_normal(8)
    X[-1] = {"a copy": X[0], "zeros": np.zeros(20), "the sum of others": X[:-1].sum(axis=0)}[row]
    model, theirs = LinearRegression().fit(X, y), linear_model.LinearRegression().fit(X, y)
    assert model.rank_ == np.linalg.matrix_rank(X - X.mean(axis=0))
    np.testing.assert_allclose(model.coef_, theirs.coef_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.predict(X), theirs.predict(X), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_constant_column_is_no_direction(X, y, solver):
    both = np.column_stack([X, np.full(60, 0.1)])
    model = LinearRegression(solver=solver).fit(both, y)
    assert model.rank_ == 4
    np.testing.assert_allclose(model.coef_, [*LinearRegression().fit(X, y).coef_, 0.0], rtol=1e-9, atol=1e-12)
    for piece in np.array_split(np.arange(60), 7):
        model = LinearRegression(solver=solver).partial_fit(both[piece], y[piece]).merge(model)
    assert model.rank_ == 4


@pytest.mark.parametrize("constants", [(0.0,), (0.1, 0.3), (0.1, 0.1), (1e8 + 1 / 3, 1e8 / 3)], ids=str)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    "model",
    [LinearRegression(), Ridge(), tractable.RidgeCV([0.0, 1.0])],
    ids=lambda model: type(model).__name__,
)
def test_constant_columns_take_nothing_from_the_others(y, rng, constants, weighted, model):
    X, several = rng.standard_normal((60, 4)) + 3.0, np.column_stack([y, rng.standard_normal(60)])
    weights = rng.integers(0, 3, 60).astype(float) if weighted else None
    wide = np.insert(X, [1] * len(constants), constants, axis=1)
    others = np.r_[0, 1 + len(constants) : wide.shape[1]]
    plain, found = (clone(model).fit(rows, several, sample_weight=weights) for rows in (X, wide))
    np.testing.assert_allclose(found.coef_[:, others], plain.coef_, rtol=1e-9)
    np.testing.assert_allclose(np.delete(found.coef_, others, axis=1), 0.0, atol=1e-20)
    np.testing.assert_allclose(found.intercept_, plain.intercept_, rtol=1e-7)
    np.testing.assert_allclose(found.predict(wide), plain.predict(X), rtol=1e-9)
    np.testing.assert_allclose(found.leverage(wide), plain.leverage(X), rtol=1e-9)
    assert found.residual_dof_ == pytest.approx(plain.residual_dof_, rel=1e-9)
    np.testing.assert_allclose(found.coef_std_errors_[:, others], plain.coef_std_errors_, rtol=1e-9)
    alpha = getattr(found, "alpha_", getattr(model, "alpha", 0.0))
    with np.errstate(divide="ignore"):
        prior = np.sqrt(plain.noise_variance_[:, None] / np.full(len(constants), alpha))
    np.testing.assert_allclose(np.delete(found.coef_std_errors_, others, axis=1), prior, rtol=1e-9)


def test_a_column_that_nearly_is_constant_is_a_direction(y, rng):
    X, near = rng.standard_normal((60, 4)), 1.0 + 1e-12 * rng.standard_normal(60)
    model = LinearRegression().fit(np.column_stack([X, np.full((60, 2), 0.1), near]), y)
    assert model.rank_ == 5
    exact = LinearRegression().fit(np.column_stack([X, near - 1.0]), y)
    np.testing.assert_allclose(model.coef_, np.insert(exact.coef_, [4, 4], 0.0), rtol=1e-6)


@pytest.mark.parametrize("model", [LinearRegression(), Ridge(), tractable.RidgeCV()])
def test_constant_columns_alone_predict_the_mean(y, model):
    model.fit(np.full((60, 3), 0.1), y)
    np.testing.assert_allclose(model.coef_, np.zeros(3), atol=1e-12)
    np.testing.assert_allclose(model.predict(np.full((1, 3), 0.1)), np.mean(y), rtol=1e-12)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("model", [LinearRegression(), Ridge()])
@pytest.mark.parametrize(
    ("entry", "message"),
    [(np.nan, "X contains NaN"), (np.inf, "X contains infinity"), (-1e200, "squares overflow")],
)
def test_entries_of_few_long_rows_that_have_no_squares_are_refused(rng, model, entry, message):
    X, y = rng.standard_normal((8, 60)), rng.standard_normal(8)
    X[7, 59] = entry
    for weights in (None, np.ones(8)):
        with pytest.raises(ValueError, match=message):
            model.fit(X, y, sample_weight=weights)


def test_a_copy_that_differs_by_rounding_is_a_copy(rng):
    x = rng.standard_normal(50)
    X = np.column_stack([x, x + 1e8])
    assert LinearRegression().fit(X, x).rank_ == 1
    assert LinearRegression(rank_tol=0.0).fit(X, x).rank_ == 2


def test_one_row_is_its_own_prediction(X):
    model = LinearRegression().fit(X[:1], [3.0])
    assert model.rank_ == 0
    assert model.intercept_ == 3.0
    assert np.isnan(model.noise_variance_)
    with pytest.raises(ValueError, match="too few rows"):
        model.predict_interval(X)
    with pytest.raises(ValueError, match="too few rows"):
        model.coef_interval()


def test_a_constant_target_has_no_noise(X):
    model = LinearRegression().fit(X, np.zeros(60))
    np.testing.assert_array_equal(model.coef_, np.zeros(4))
    assert model.noise_variance_ == 0.0
    assert model.log_likelihood_ == np.inf
    with pytest.raises(ValueError, match="without error"):
        model.predict_dist(X)


# --- the noise and the errors ------------------------------------------------------------------------------


@pytest.mark.spec("LIN-22", "LIN-24")
def test_the_likelihood_is_greatest_at_least_squares(X, y, rng):
    model = LinearRegression().fit(X, y)
    residual = y - model.predict(X)
    assert model.noise_variance_ml_ == pytest.approx(np.mean(residual**2))
    assert model.noise_variance_ == pytest.approx(np.sum(residual**2) / (60 - 5))
    assert model.residual_dof_ == 55

    def log_likelihood(theta, variance):
        return stats.norm.logpdf(y, with_ones(X) @ theta, np.sqrt(variance)).sum()

    best = np.array([model.intercept_, *model.coef_])
    assert log_likelihood(best, model.noise_variance_ml_) == pytest.approx(model.log_likelihood_)
    for _ in range(20):
        nudged = best + 0.01 * rng.standard_normal(5)
        assert (
            log_likelihood(nudged, model.noise_variance_ml_ * np.exp(0.1 * rng.standard_normal()))
            < model.log_likelihood_
        )


def test_errors_are_those_of_the_textbook(X, y):
    model = LinearRegression().fit(X, y)
    inverse = np.linalg.inv(with_ones(X).T @ with_ones(X)) * model.noise_variance_
    np.testing.assert_allclose(model.coef_covariance_, inverse[1:, 1:], rtol=1e-9)
    np.testing.assert_allclose(model.coef_std_errors_, np.sqrt(np.diag(inverse))[1:], rtol=1e-9)
    assert model.intercept_std_error_ == pytest.approx(np.sqrt(inverse[0, 0]))
    reach = stats.t.ppf(0.975, 55) * model.coef_std_errors_
    np.testing.assert_allclose(
        model.coef_interval(0.95), np.stack([model.coef_ - reach, model.coef_ + reach], axis=-1), rtol=1e-9
    )
    with pytest.raises(ValueError, match="coverage"):
        model.coef_interval(1.0)


@pytest.mark.spec("LIN-38")
@pytest.mark.parametrize("intercept", [True, False])
def test_leverages_are_the_diagonal_of_the_hat_matrix(X, y, intercept):
    model = LinearRegression(fit_intercept=intercept).fit(X, y)
    design = with_ones(X) if intercept else X
    hat = design @ np.linalg.solve(design.T @ design, design.T)
    np.testing.assert_allclose(model.leverage(X), np.diag(hat), rtol=1e-9)
    np.testing.assert_allclose(hat @ y, model.predict(X), rtol=1e-9)
    assert model.leverage(X).sum() == pytest.approx(4 + intercept)


@pytest.mark.slow
def test_intervals_hold_what_they_promise(rng):
    """Over many data sets: coefficients, new targets and the plane; each within five standard errors."""
    repeats, n, coverage = 4000, 8, 0.8
    X = rng.standard_normal((n, 2)) + 5.0
    new = rng.standard_normal((1, 2)) + 5.0
    w, b, sigma = np.array([1.0, -2.0]), 3.0, 0.7
    Y = b + X @ w + sigma * rng.standard_normal((repeats, n))
    model = LinearRegression().fit(X, Y.T)  # a target for each data set
    target = b + new[0] @ w + sigma * rng.standard_normal(repeats)
    held = {
        "coef": _inside(model.coef_interval(coverage), w)[:, 0],
        "intercept": _inside(model.intercept_interval(coverage), b),
        "target": _inside(model.predict_interval(new, coverage)[0], target),
        "plane": _inside(model.predict_interval(new, coverage, include_noise=False)[0], b + new[0] @ w),
    }
    error = np.sqrt(coverage * (1 - coverage) / repeats)
    for name, inside in held.items():
        assert abs(inside.mean() - coverage) < 5 * error, name
    # The normal approximation, or forgetting the noise of a new target, would be noticed.
    short = (
        model.coef_[:, 0, None] + np.array([-1, 1]) * stats.norm.ppf(0.9) * model.coef_std_errors_[:, 0, None]
    )
    assert abs(_inside(short, w[0]).mean() - coverage) > 5 * error
    assert (
        _inside(model.predict_interval(new, coverage, include_noise=False)[0], target).mean()
        < coverage - 5 * error
    )
    unbiased = model.noise_variance_
    assert abs(unbiased.mean() - sigma**2) < 5 * unbiased.std() / np.sqrt(repeats)
    assert abs(model.noise_variance_ml_.mean() - sigma**2) > 5 * unbiased.std() / np.sqrt(repeats)


def _inside(interval, value):
    return (interval[..., 0] <= value) & (value <= interval[..., 1])


@pytest.mark.spec("LIN-25")
def test_the_prediction_is_the_mean_of_the_target(X, y):
    model = LinearRegression().fit(X, y)
    dist = model.predict_dist(X)
    np.testing.assert_allclose(dist.mean, model.predict(X), rtol=1e-12)
    scale = np.sqrt(model.noise_variance_ * (1 + model.leverage(X)))
    np.testing.assert_allclose(dist.log_prob(y), stats.t.logpdf(y, 55, model.predict(X), scale), rtol=1e-9)


# --- the printed example -----------------------------------------------------------------------------------


class TestExponential:
    """y = exp(x) on linspace(1, 5, 15), fitted by a line, by polynomials and by [1, x, exp x]."""

    x = np.linspace(1.0, 5.0, 15)
    y = np.exp(x)

    @staticmethod
    def leave_one_out(model, X, y):
        return np.mean(((y - model.predict(X)) / (1.0 - model.leverage(X))) ** 2)

    @pytest.mark.spec("W-01", "LIN-21", "LIN-38")
    def test_a_line(self):
        X, y = self.x[:, None], self.y
        model = LinearRegression().fit(X, y)
        np.testing.assert_allclose([model.intercept_, *model.coef_], [-53.17847902, 30.81420425], rtol=1e-9)
        assert model.noise_variance_ml_ * 15 == pytest.approx(5764.88974, rel=1e-8)
        assert model.noise_variance_ml_ == pytest.approx(384.32598, rel=1e-7)
        assert model.score(X, y) == pytest.approx(0.790124, abs=5e-7)
        loo = self.leave_one_out(model, X, y)
        assert loo == pytest.approx(579.42740, rel=1e-8)
        refits = -cross_val_score(
            LinearRegression(), X, y, cv=LeaveOneOut(), scoring="neg_mean_squared_error"
        )
        assert loo == pytest.approx(refits.mean(), rel=1e-10)
        gcv = model.noise_variance_ml_ / (1.0 - model.leverage(X).mean()) ** 2
        assert gcv == pytest.approx(511.67660, rel=1e-8)
        assert model.noise_variance_ml_ / (1.0 - model.leverage(X).mean()) == pytest.approx(
            443.45306, rel=1e-8
        )

    @pytest.mark.spec("W-01", "LIN-20", "LIN-21")
    def test_its_own_function_among_the_columns_is_found(self):
        design = np.column_stack([self.x, np.exp(self.x)])
        printed = [[1.0, 2.7183], [1.2857, 3.6173], [1.5714, 4.8135], [1.8571, 6.4054], [2.1429, 8.5238]]
        printed += [
            [2.4286, 11.3427],
            [2.7143, 15.0938],
            [3.0, 20.0855],
            [3.2857, 26.7281],
            [3.5714, 35.5674],
        ]
        np.testing.assert_allclose(design[:10], printed, atol=5e-5)
        model = LinearRegression().fit(design, self.y)
        np.testing.assert_allclose([model.intercept_, *model.coef_], [0.0, 0.0, 1.0], atol=1e-12)
        assert model.score(design, self.y) == pytest.approx(1.0, abs=1e-15)
        new = np.array([0.5, 6.0])
        np.testing.assert_allclose(
            model.predict(np.column_stack([new, np.exp(new)])), np.exp(new), rtol=1e-10
        )

    @pytest.mark.spec("W-01")
    @pytest.mark.parametrize(("degree", "r2", "loo"), [(2, 0.978058, 91.52592), (3, 0.998675, 9.74838)])
    def test_polynomials(self, degree, r2, loo):
        design = np.stack([self.x**k for k in range(1, degree + 1)], axis=1)
        model = LinearRegression().fit(design, self.y)
        assert model.score(design, self.y) == pytest.approx(r2, abs=5e-7)
        assert self.leave_one_out(model, design, self.y) == pytest.approx(loo, rel=1e-6)
        if degree == 3:
            theta = [-30.96260948, 52.07358344, -24.66414976, 4.26304438]
            np.testing.assert_allclose([model.intercept_, *model.coef_], theta, rtol=1e-8)


# --- data of other kinds -----------------------------------------------------------------------------------


def test_frames_files_and_column_names(X, y, tmp_path):
    frame = pd.DataFrame(X, columns=list("abcd")).assign(y=y, w=np.arange(60) % 3)
    frame.to_parquet(tmp_path / "rows.parquet")
    plain = LinearRegression().fit(X, y, sample_weight=frame["w"])
    source = tractable.scan(tmp_path / "rows.parquet", features=list("abcd"), target="y", weight="w")
    for model in (
        LinearRegression().fit(source),
        LinearRegression(refine=True).fit(source),
        LinearRegression().fit(frame, y="y", sample_weight="w"),
    ):
        np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-10)
        assert list(model.feature_names_in_) == list("abcd")


def test_every_array_library(backend, X, y):
    model = LinearRegression().fit(backend.asarray(X), backend.asarray(y))
    plain = LinearRegression().fit(X, y)
    assert backend.owns(model.coef_)
    for name in ("coef_", "coef_covariance_", "coef_std_errors_", "singular_", "intercept_"):
        np.testing.assert_allclose(to_numpy(getattr(model, name)), getattr(plain, name), rtol=1e-9)
    assert backend.owns(model.predict(backend.asarray(X)))
    np.testing.assert_allclose(to_numpy(model.predict(backend.asarray(X))), plain.predict(X), rtol=1e-9)
    refined = LinearRegression(refine=True).fit(backend.asarray(X), backend.asarray(y))
    np.testing.assert_allclose(to_numpy(refined.coef_), plain.coef_, rtol=1e-12)


def test_a_statistic_is_solved_as_a_value(X, y):
    fit = least_squares(LinearFactor.of(X, y), fit_intercept=False)
    np.testing.assert_allclose(fit.coef[0], np.linalg.lstsq(X, y, rcond=None)[0], rtol=1e-10)
    assert fit.intercept_std_errors[0] == 0.0


# --- what is refused ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"solver": "lu"}, "solver"),
        ({"rank_tol": -1.0}, "rank_tol"),
        ({"rank_tol": float("nan")}, "rank_tol"),
    ],
)
def test_bad_parameters_are_named(X, y, options, named):
    with pytest.raises(ValueError, match=named):
        LinearRegression(**options).fit(X, y)
    with pytest.raises(ValueError, match=named):
        LinearRegression(**options).from_statistic(LinearFactor.of(X, y))


@pytest.mark.parametrize(
    "bad", [np.full(60, np.nan), np.full(60, "a"), np.zeros(59), np.zeros((60, 2, 2)), None]
)
def test_bad_targets_are_named(X, bad):
    with pytest.raises(ValueError, match="y"):
        LinearRegression().fit(X, bad)


def test_nan_in_a_stream_is_named(X, y):
    spoiled = X.copy()
    spoiled[40, 2] = np.nan
    with pytest.raises(ValueError, match="X contains NaN"):
        LinearRegression().fit([(X[:30], y[:30]), (spoiled[30:], y[30:])])
    y[50] = np.inf
    with pytest.raises(ValueError, match="y contains NaN"):
        LinearRegression().fit([(X[:30], y[:30]), (X[30:], y[30:])])
    with pytest.raises(ValueError, match="y must be numbers"):
        LinearRegression().fit([(X, np.full(60, "a"))])


def test_other_statistics_are_refused(X):
    with pytest.raises(ValueError, match="LinearFactor"):
        LinearRegression().from_statistic(tractable.Moments.of(X))


@pytest.mark.parametrize("model", [LinearRegression(), Ridge(alpha=1e-6)], ids=["least squares", "ridge"])
@pytest.mark.parametrize("weighted", [False, True])
def test_few_rows_far_from_the_origin_lose_no_digits(model, weighted, rng):
    """Rows that are moved without rounding have the same coefficients: products need rows without a mean."""
    X = np.round(rng.standard_normal((40, 300)) * 2.0**20) / 2.0**20
    y, weights = X[:, 0] + rng.standard_normal(40), rng.integers(1, 4, 40) if weighted else None
    near = clone(model).fit(X, y, sample_weight=weights)
    far = clone(model).fit(X + 2.0**25, y, sample_weight=weights)
    np.testing.assert_allclose(far.coef_, near.coef_, rtol=0.0, atol=1e-13)
    if isinstance(model, LinearRegression):
        assert near.log_likelihood_ == far.log_likelihood_ == np.inf  # all rows are met
