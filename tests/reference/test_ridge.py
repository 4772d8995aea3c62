"""Ridge regression against the courses' numbers, the textbook formula, and scikit-learn."""

import numpy as np
import pytest
from sklearn import linear_model as sk

import tractable
from tractable import LinearRegression, Ridge, RidgeCV
from tractable.arrays import to_numpy
from tractable.linear_model import negative_log_posterior, ridge_objective, tikhonov
from tractable.testing.persistence_laws import survives_saving

X01 = np.linspace(1, 5, 15)[:, None]
Y01 = np.exp(X01[:, 0])

#: W-17: penalty, intercept, slope, Tr H, mean squared error, LOOCV, GCV.
W17 = np.array(
    [
        [0.0, -53.17848, 30.81420, 2.0, 384.32598, 579.42740, 511.67660],
        [0.01, -52.89461, 30.73134, 1.994983, 384.33769, 578.75435, 511.29748],
        [0.1, -50.46114, 30.02056, 1.951949, 385.39895, 574.74965, 509.33293],
        [1.0, -34.14587, 25.22880, 1.661598, 437.04585, 620.26518, 552.71585],
        [10.0, -5.68428, 16.24598, 1.111842, 722.08950, 938.28819, 842.33386],
    ]
)


@pytest.mark.parametrize("row", W17, ids=lambda row: f"alpha={row[0]:g}")
@pytest.mark.spec("LIN-28", "LIN-38", "E001-14", "W-17")
def test_the_courses_formula_penalises_the_intercept(row):
    alpha, intercept, slope, trace, error, _, _ = row
    model = Ridge(alpha, penalize_intercept=True).fit(X01, Y01)
    found = [model.intercept_, model.coef_[0], model.effective_dof_]
    np.testing.assert_allclose(found, [intercept, slope, trace], atol=5.1e-6)
    np.testing.assert_allclose(np.mean((Y01 - model.predict(X01)) ** 2), error, atol=5.1e-6)


@pytest.mark.parametrize(("method", "column"), [("loo", 5), ("gcv", 6)])
@pytest.mark.spec("LIN-39", "LIN-40", "LIN-41", "W-17", "W-01", "E001-17")
def test_both_criteria_choose_a_tenth(method, column):
    model = RidgeCV(W17[:, 0], method=method, penalize_intercept=True).fit(X01, Y01)
    np.testing.assert_allclose(model.cv_curve_.scores, W17[:, column], atol=5.1e-6)
    assert model.alpha_ == 0.1
    assert model.best_score_ == -model.cv_curve_.scores.min()
    np.testing.assert_allclose([model.intercept_, model.coef_[0]], W17[2, 1:3], atol=5.1e-6)


@pytest.mark.spec("E001-17")
def test_the_printed_denominator_would_give_another_number():
    model = RidgeCV([0.0], method="gcv").fit(X01, Y01)
    np.testing.assert_allclose(model.cv_curve_.scores, 511.67660, atol=5.1e-6)
    assert abs(model.cv_curve_.scores[0] * (1 - 2 / 15) - 443.45306) < 5.1e-6


@pytest.mark.parametrize(("degree", "expected"), [(1, 579.42740), (2, 91.52592), (3, 9.74838)])
@pytest.mark.spec("LIN-39", "W-01")
def test_leaving_out_polynomials_without_penalty(degree, expected):
    powers = X01 ** np.arange(1, degree + 1)
    model = RidgeCV([0.0]).fit(powers, Y01)
    np.testing.assert_allclose(model.cv_curve_.scores, expected, atol=5.1e-6)


@pytest.mark.parametrize("shape", [(60, 7), (7, 60), (20, 20)])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.spec("LIN-28")
def test_ridge_agrees_with_scikit_learn(shape, fit_intercept, weighted, rng):
    X, Y = rng.standard_normal(shape) + 1.0, rng.standard_normal((shape[0], 2))
    weights = rng.uniform(0.2, 3.0, shape[0]) if weighted else None
    ours = Ridge(0.7, fit_intercept=fit_intercept).fit(X, Y, weights)
    theirs = sk.Ridge(0.7, fit_intercept=fit_intercept, solver="svd").fit(X, Y, weights)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(Ridge(0.7).fit(X, Y[:, 0]).coef_.shape, shape[1:])


@pytest.mark.parametrize("shape", [(80, 6), (12, 40), (9, 9)])
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.spec("LIN-40")
def test_leave_one_out_agrees_with_scikit_learn(shape, fit_intercept, rng):
    X, Y = rng.standard_normal(shape) + 3.0, rng.standard_normal((shape[0], 2)) + 10.0
    alphas = np.logspace(-2, 3, 12)
    ours = RidgeCV(alphas, fit_intercept=fit_intercept).fit(X, Y)
    theirs = sk.RidgeCV(alphas, fit_intercept=fit_intercept, store_cv_results=True).fit(X, Y)
    np.testing.assert_allclose(ours.cv_curve_.scores, theirs.cv_results_.mean(axis=(0, 1)), rtol=1e-8)
    assert ours.alpha_ == theirs.alpha_
    np.testing.assert_allclose(ours.best_score_, theirs.best_score_, rtol=1e-8)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-8, atol=1e-10)
    squares = theirs.cv_results_.mean(axis=1)
    spread = squares.std(axis=0, ddof=1) / np.sqrt(len(X))
    np.testing.assert_allclose(ours.cv_curve_.standard_errors, spread, rtol=1e-6)


@pytest.mark.parametrize("shape", [(30, 4), (4, 30)])
@pytest.mark.parametrize("method", ["loo", "gcv"])
def test_the_chosen_fit_is_the_fit_of_its_penalty(shape, method, rng):
    X, y = rng.standard_normal(shape) + 3.0, rng.standard_normal(shape[0])
    chosen = RidgeCV([0.1, 1.0], method=method).fit(X, y)
    known = Ridge(chosen.alpha_).fit(X, y)
    new = rng.standard_normal((5, shape[1]))
    for name in ("coef_", "intercept_", "noise_variance_", "effective_dof_", "residual_dof_"):
        np.testing.assert_allclose(getattr(chosen, name), getattr(known, name), rtol=1e-9, atol=1e-12)
    for ask in ("predict", "predict_var", "leverage"):
        np.testing.assert_allclose(getattr(chosen, ask)(new), getattr(known, ask)(new), rtol=1e-8)


@pytest.mark.parametrize("shape", [(25, 3), (3, 25)])
@pytest.mark.parametrize("options", [{}, {"fit_intercept": False}, {"penalize_intercept": True}])
@pytest.mark.spec("LIN-38")
def test_leverages_are_the_diagonal_of_the_hat_matrix(shape, options, rng):
    X, y = rng.standard_normal(shape) + 1.0, rng.standard_normal(shape[0])
    model = Ridge(0.5, **options).fit(X, y)
    H = model.hat_matrix(X)
    np.testing.assert_allclose(H @ y, model.predict(X), rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(np.diag(H), model.leverage(X), rtol=1e-9)
    np.testing.assert_allclose(np.trace(H), model.effective_dof_, rtol=1e-9)
    new = rng.standard_normal((4, shape[1])) + 1.0
    np.testing.assert_allclose(np.diag(model.hat_matrix(new)), model.leverage(new), rtol=1e-9)


@pytest.mark.spec("LIN-29")
@pytest.mark.parametrize("shape", [(40, 5), (5, 40)])
def test_more_penalty_shorter_coefficients(shape, rng):
    X, y = rng.standard_normal(shape), rng.standard_normal(shape[0])
    alphas = np.logspace(-6, 6, 40)
    fits = [Ridge(a).fit(X, y) for a in alphas]
    assert np.all(np.diff([np.linalg.norm(f.coef_) for f in fits]) < 0)
    assert np.all(np.diff([f.effective_dof_ for f in fits]) < 0)
    assert np.all(np.diff([float(np.sum((y - f.predict(X)) ** 2)) for f in fits]) > 0)


@pytest.mark.parametrize("alpha", [1e-300, 1e-6, 1e-4, 1.0])
@pytest.mark.spec("LIN-29")
def test_collinear_columns_share_their_coefficient(alpha, rng):
    x, y = rng.standard_normal((50, 1)), rng.standard_normal(50)
    model = Ridge(alpha).fit(np.column_stack([x, x, 2 * x]), y)
    alone = Ridge(alpha / 6).fit(x, y).coef_[0]
    np.testing.assert_allclose(model.coef_, alone * np.array([1, 1, 2]) / 6, rtol=1e-7)


@pytest.mark.parametrize("shape", [(30, 4), (4, 30)])
def test_no_penalty_is_least_squares(shape, rng):
    X, Y = rng.standard_normal(shape) + 5.0, rng.standard_normal((shape[0], 2))
    plain, ridge = LinearRegression().fit(X, Y), Ridge(0.0).fit(X, Y)
    np.testing.assert_allclose(ridge.coef_, plain.coef_, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(ridge.predict(X), plain.predict(X), rtol=1e-12, atol=1e-14)
    if shape[0] > shape[1]:
        np.testing.assert_allclose(ridge.noise_variance_, plain.noise_variance_, rtol=1e-12)
        np.testing.assert_allclose(ridge.predict_interval(X), plain.predict_interval(X), rtol=1e-10)
    else:
        with pytest.raises(ValueError, match="too few rows"):
            ridge.predict_dist(X)


@pytest.mark.spec("LIN-27")
def test_a_prior_is_a_penalty(rng):
    X, y = rng.standard_normal((30, 4)), rng.standard_normal(30)
    model = Ridge.from_prior(noise_variance=0.5, prior_variance=2.0, fit_intercept=False).fit(X, y)
    assert model.alpha == 0.25
    _, gradient = negative_log_posterior(model.coef_, X, y, noise_variance=0.5, prior_variance=2.0)
    np.testing.assert_allclose(gradient, 0.0, atol=1e-12)
    for bad in (
        {"noise_variance": 0.0, "prior_variance": 1.0},
        {"noise_variance": 1.0, "prior_variance": -1},
    ):
        with pytest.raises(ValueError, match=r"noise_variance|prior_variance"):
            Ridge.from_prior(**bad)


@pytest.mark.spec("LIN-32", "BLR-13")
def test_objectives_have_the_gradient_they_say(rng):
    X, y, w = rng.standard_normal((9, 3)), rng.standard_normal(9), rng.standard_normal(3)
    step = 1e-6 * np.eye(3)
    for ask in (
        lambda w: ridge_objective(w, X, y, 0.7),
        lambda w: negative_log_posterior(w, X, y, noise_variance=0.3, prior_variance=2.0),
    ):
        slopes = [(ask(w + s)[0] - ask(w - s)[0]) / 2e-6 for s in step]
        np.testing.assert_allclose(ask(w)[1], slopes, rtol=1e-6)
    solved = Ridge(0.7, fit_intercept=False).fit(X, y).coef_
    np.testing.assert_allclose(ridge_objective(solved, X, y, 0.7)[1], 0.0, atol=1e-12)
    noise, prior = tractable.Normal(mean=X @ w, variance=0.3), tractable.Normal(mean=0.0, variance=2.0)
    expected = -noise.log_prob(y).sum() - prior.log_prob(w).sum()
    found, _ = negative_log_posterior(w, X, y, noise_variance=0.3, prior_variance=2.0)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.spec("LIN-31", "E004-15")
def test_a_matrix_penalty_carries_the_half_on_both_terms(rng):
    A, b, gamma = rng.standard_normal((12, 5)), rng.standard_normal((12, 2)), rng.standard_normal((3, 5))
    x = tikhonov(A, b, gamma)
    np.testing.assert_allclose(x, np.linalg.solve(A.T @ A + gamma.T @ gamma, A.T @ b), rtol=1e-10)
    np.testing.assert_allclose(A.T @ (A @ x - b) + gamma.T @ gamma @ x, 0.0, atol=1e-12)
    printed = np.linalg.solve(A.T @ A + 2 * gamma.T @ gamma, A.T @ b)
    np.testing.assert_allclose(tikhonov(A, b, np.sqrt(2) * gamma), printed, rtol=1e-10)
    ridge = Ridge(0.3, fit_intercept=False).fit(A, b[:, 0])
    np.testing.assert_allclose(tikhonov(A, b[:, 0], np.sqrt(0.3) * np.eye(5)), ridge.coef_, rtol=1e-10)
    # Where both together leave a direction unseen, the shortest of the solutions is taken.
    few = tikhonov(A[:2], b[:2, 0], np.zeros((1, 5)))
    np.testing.assert_allclose(few, np.linalg.pinv(A[:2]) @ b[:2, 0], rtol=1e-10)


def test_a_penalty_keeps_the_digits_of_a_qr(rng):
    """Columns of condition 1e10: their squares have lost every digit that the small penalty needs."""
    U, _ = np.linalg.qr(rng.standard_normal((40, 4)))
    V, _ = np.linalg.qr(rng.standard_normal((4, 4)))
    s, alpha = np.array([1.0, 1e-3, 1e-7, 1e-10]), 1e-16
    X, z = (U * s) @ V.T, rng.standard_normal(4)
    model = Ridge(alpha, fit_intercept=False).fit(X, U @ z)
    expected = V @ (s / (s**2 + alpha) * z)
    np.testing.assert_allclose(model.coef_, expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max())
    chosen = RidgeCV([alpha], fit_intercept=False).fit(X, U @ z)
    np.testing.assert_allclose(chosen.coef_, expected, rtol=1e-4, atol=1e-4 * np.abs(expected).max())
    squared = np.linalg.solve(X.T @ X + alpha * np.eye(4), X.T @ U @ z)
    assert np.linalg.norm(squared - expected) > 0.1 * np.linalg.norm(expected)


@pytest.mark.parametrize("shape", [(200, 4), (5, 30)])
def test_where_the_rows_are_does_not_matter(shape, rng):
    X, y = rng.standard_normal(shape), rng.standard_normal(shape[0])
    near, far = (RidgeCV([0.1, 1.0]).fit(X + shift, y + shift) for shift in (0.0, 1e7))
    np.testing.assert_allclose(far.cv_curve_.scores, near.cv_curve_.scores, rtol=1e-7)
    np.testing.assert_allclose(far.coef_, near.coef_, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(far.predict(X + 1e7) - 1e7, near.predict(X), rtol=1e-6, atol=1e-7)


@pytest.mark.spec("ASSESS-16")
def test_gcv_follows_leave_one_out(rng):
    X = rng.standard_normal((200, 30))
    y = X[:, :5] @ np.ones(5) + rng.standard_normal(200)
    alphas = np.logspace(-1, 4, 30)
    left_out, generalised = (RidgeCV(alphas, method=method).fit(X, y) for method in ("loo", "gcv"))
    np.testing.assert_allclose(generalised.cv_curve_.scores, left_out.cv_curve_.scores, rtol=0.05)
    there = np.searchsorted(alphas, [left_out.alpha_, generalised.alpha_])
    assert abs(there[0] - there[1]) <= 1


def test_a_stream_of_few_rows_is_searched_too(rng):
    X, y = rng.standard_normal((8, 20)), rng.standard_normal(8)
    whole = RidgeCV([0.1, 1.0]).fit(X, y)
    streamed = RidgeCV([0.1, 1.0]).fit([(X[:3], y[:3]), (X[3:], y[3:])])
    np.testing.assert_allclose(streamed.cv_curve_.scores, whole.cv_curve_.scores, rtol=1e-9)
    np.testing.assert_allclose(streamed.coef_, whole.coef_, rtol=1e-9, atol=1e-12)


def test_no_penalty_on_few_rows_is_the_limit_of_small_ones(rng):
    X, y = rng.standard_normal((8, 20)), rng.standard_normal(8)
    for method in ("loo", "gcv"):
        scores = RidgeCV([0.0, 1e-12], method=method).fit(X, y).cv_curve_.scores
        np.testing.assert_allclose(scores[0], scores[1], rtol=1e-9)
    many = RidgeCV([0.0, 1.0]).fit(X[:, :7], y)
    assert np.isinf(many.cv_curve_.scores[0]) or many.cv_curve_.scores[0] > many.cv_curve_.scores[1]


def test_models_of_few_rows_survive_saving(rng):
    X, y = rng.standard_normal((6, 15)), rng.standard_normal(6)
    for make in (Ridge, RidgeCV, lambda: RidgeCV(penalize_intercept=True)):
        survives_saving(make().fit(X, y), rng)


def test_a_model_of_few_rows_takes_more(rng):
    X, y = rng.standard_normal((30, 12)), rng.standard_normal(30)
    model = Ridge().fit(X[:5], y[:5])
    assert model.statistic_.factor.shape == (5, 13)
    np.testing.assert_allclose(model.partial_fit(X[5:], y[5:]).coef_, Ridge().fit(X, y).coef_, rtol=1e-10)
    merged = Ridge().fit(X[:5], y[:5]).merge(Ridge().fit(X[5:], y[5:]))
    np.testing.assert_allclose(merged.coef_, Ridge().fit(X, y).coef_, rtol=1e-10)
    plain = LinearRegression().from_statistic(Ridge().fit(X[:5], y[:5]).statistic_)
    np.testing.assert_allclose(plain.coef_, LinearRegression().fit(X[:5], y[:5]).coef_, rtol=1e-9)


@pytest.mark.parametrize("shape", [(30, 3), (4, 9)])
def test_rows_of_every_array_library(shape, backend, rng):
    X, y = rng.standard_normal(shape), rng.standard_normal(shape[0])
    for make in (lambda: Ridge(0.5), lambda: RidgeCV([0.1, 1.0]), lambda: RidgeCV([0.1, 1.0], method="gcv")):
        there = make().fit(backend.asarray(X), backend.asarray(y))
        assert backend.owns(there.coef_)
        here = make().fit(X, y)
        np.testing.assert_allclose(to_numpy(there.coef_), here.coef_, rtol=1e-9)
        answer = there.predict_dist(backend.asarray(X)).scale
        assert backend.owns(answer)
        np.testing.assert_allclose(to_numpy(answer), here.predict_dist(X).scale, rtol=1e-9)


@pytest.mark.parametrize("bad", [-1.0, np.nan, np.inf])
def test_bad_penalties_are_one_clear_error(bad, rng):
    X, y = rng.standard_normal((9, 2)), rng.standard_normal(9)
    with pytest.raises(ValueError, match="alpha must be a number from 0"):
        Ridge(bad).fit(X, y)
    with pytest.raises(ValueError, match="alphas must be numbers from 0"):
        RidgeCV([1.0, bad]).fit(X, y)
    with pytest.raises(ValueError, match="alpha must be"):
        ridge_objective(np.zeros(2), X, y, bad)


def test_other_bad_arguments_are_one_clear_error(rng):
    X, y = rng.standard_normal((9, 2)), rng.standard_normal(9)
    for alphas in ([], "many", [[1.0]]):
        with pytest.raises(ValueError, match="alphas must be"):
            RidgeCV(alphas).fit(X, y)
    with pytest.raises(ValueError, match="method must be one of"):
        RidgeCV(method="k-fold").fit(X, y)
    with pytest.raises(ValueError, match="Gamma must have 2 columns"):
        tikhonov(X, y, np.eye(3))
    with pytest.raises(ValueError, match="b must have 9 entries"):
        tikhonov(X, y[:4], np.eye(2))
    with pytest.raises(ValueError, match="A contains NaN"):
        tikhonov(X * np.nan, y, np.eye(2))
    with pytest.raises(ValueError, match="fitted without error"):
        Ridge(0.0).fit(np.arange(5.0)[:, None], np.arange(5.0) * 0).predict_dist([[1.0]])
