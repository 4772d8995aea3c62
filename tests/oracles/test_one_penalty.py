"""The lasso at one penalty, against the optimality conditions and coordinate descent."""

import numpy as np
import pytest
from sklearn import linear_model

from tractable import Lasso
from tractable.engines.sparse.problem import ColumnProblem, GramProblem
from tractable.engines.sparse.working_set import sparse_path


def table(n, p):
    rng = np.random.default_rng(n + p)
    X = rng.standard_normal((n, p))
    X[:, 1:] += 0.5 * X[:, :-1]
    return X, X @ (rng.standard_normal(p) * (np.arange(p) % 5 == 0)) + rng.standard_normal(n)


def problems(X, y):
    gram = GramProblem(gram=X.T @ X, moment=X.T @ y, square=float(y @ y), rank=min(X.shape))
    return gram, ColumnProblem(X=np.asfortranarray(X), y=y)


def at_one(problem, penalty, ridge=0.0, *, tol=1e-10, **options):
    """Return the coefficients at one penalty, whose gap is as small as it was asked to be."""
    path = sparse_path(problem, [penalty], ridge, tol=tol, **options)
    assert path.gaps[0] <= tol * problem.square
    return path.coefs[:, 0]


def check_conditions(X, y, coefs, penalty, ridge, positive):
    """The slope of the fit is that of the penalty where a coefficient is used, and not larger elsewhere."""
    slope = X.T @ (y - X @ coefs) - ridge * coefs
    used = coefs != 0.0
    np.testing.assert_allclose(slope[used], penalty * np.sign(coefs[used]), rtol=1e-6)
    assert ((slope if positive else np.abs(slope)) <= penalty * (1.0 + 1e-6)).all()
    assert not positive or (coefs >= 0.0).all()


@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize("ridge", [0.0, 0.3])
@pytest.mark.parametrize(("n", "p"), [(50, 3), (200, 20), (80, 120), (300, 90)])
def test_the_minimum_is_that_of_coordinate_descent(n, p, ridge, positive):
    X, y = table(n, p)
    alpha = 0.1
    peer = linear_model.ElasticNet(
        alpha=alpha * (1.0 + ridge),
        l1_ratio=1.0 / (1.0 + ridge),
        fit_intercept=False,
        tol=1e-12,
        max_iter=100_000,
        positive=positive,
    ).fit(X, y)
    for problem in problems(X, y):
        coefs = at_one(problem, n * alpha, n * alpha * ridge, positive=positive)
        np.testing.assert_allclose(coefs, peer.coef_, atol=1e-5)
        again = sparse_path(problem, [n * alpha] * 2, n * alpha * ridge, tol=1e-10, positive=positive)
        np.testing.assert_allclose(again.coefs.T, [coefs, coefs], atol=1e-12)
        assert again.n_iter[1] == 1


#: Few columns above the penalty and many, more columns than rows, more in use than rows, and slow descent.
@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize(
    ("n", "p", "share", "ridge"),
    [
        (400, 90, 0.5, 0.0),
        (400, 90, 0.01, 0.0),
        (50, 1500, 0.5, 0.0),
        (50, 1500, 0.01, 0.0),
        (30, 250, 0.02, 0.6),
        (20, 300, 0.02, 2.0),
        (50, 1500, 0.02, 1.0),
        (2000, 320, 0.01, 0.0),
        (320, 320, 0.01, 60.0),
    ],
)
def test_the_conditions_of_the_minimum_hold(n, p, share, ridge, positive):
    X, _ = table(n, p)
    X = X - X.mean(axis=0)
    y = X @ np.random.default_rng(1).uniform(1.0, 2.0, p)
    for problem in problems(X, y):
        penalty = share * np.abs(problem.moment).max()
        coefs = at_one(problem, penalty, ridge, tol=1e-12, positive=positive)
        check_conditions(X, y, coefs, penalty, ridge, positive)
    if ridge and n < 100 and not positive:
        assert np.count_nonzero(coefs) > n


@pytest.mark.parametrize("positive", [False, True])
def test_signs_are_those_of_large_coefficients_where_most_columns_are_in_use(positive):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((400, 90))
    truth = rng.uniform(1.0, 2.0, 90) * np.where(np.arange(90) % 3 == 0, -1.0, 1.0)
    problem, columns = problems(X, X @ truth + rng.standard_normal(400))
    coefs, expected = (at_one(each, 4.0, positive=positive) for each in (problem, columns))
    np.testing.assert_allclose(coefs, expected, atol=1e-10)
    assert (coefs >= 0.0).all() if positive else (np.sign(coefs) == np.sign(truth)).all()


def test_of_columns_that_are_equal_the_minimum_is_found():
    X, y = table(60, 10)
    twice = np.column_stack([X, X[:, 0]])
    for problem in problems(twice, y):
        check_conditions(twice, y, at_one(problem, 6.0), 6.0, 0.0, False)


def test_a_large_penalty_leaves_no_column():
    X, y = table(60, 10)
    for problem in problems(X, y):
        path = sparse_path(problem, [1e6])
        assert not path.coefs.any()
        assert abs(path.gaps[0]) <= 1e-14 * problem.square  # of sums that large


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_centre_within_products_is_that_of_centred_columns(order):
    X, y = table(700, 90)
    X, y = X + 3.0, y - y.mean()
    centre = X.mean(axis=0)
    plain = ColumnProblem(X=X - centre, y=y)
    problem = ColumnProblem(X=np.asarray(X, order=order), y=y, centre=centre, deviations=plain.lengths)
    new = np.array([5, 2, 80])
    some = problem.gather(problem.gather(None, new[:1]), new[1:])
    np.testing.assert_allclose(some, plain.X[:, new], atol=1e-13)
    np.testing.assert_allclose(problem.moment, plain.moment, atol=1e-10)
    coefs = np.array([[1.0, 0.5], [-2.0, 0.0], [0.0, 0.0]])
    for mine, theirs in zip(
        problem.correlations(some, new, coefs), plain.correlations(plain.X[:, new], new, coefs), strict=True
    ):
        np.testing.assert_allclose(mine, theirs, atol=1e-9)
    by_columns = problem.by_columns()
    assert by_columns.X.flags.f_contiguous
    np.testing.assert_allclose(by_columns.X, plain.X, atol=1e-13)
    np.testing.assert_array_equal(by_columns.lengths, plain.lengths)


@pytest.mark.parametrize("tol", [1e-4, 1e-10])
@pytest.mark.parametrize("alpha", [2.5, 0.1])
def test_gaps_bound_the_objective_where_few_and_many_columns_are_above_the_penalty(alpha, tol):
    X, y = table(200, 180)
    penalty, (by_products, problem) = len(y) * alpha, problems(X, y)
    path = sparse_path(problem, [penalty], tol=tol)

    def objective(w):
        return 0.5 * np.sum((y - X @ w) ** 2) + penalty * np.abs(w).sum()

    assert path.gaps[0] <= tol * problem.square
    exact = objective(at_one(by_products, penalty, tol=1e-12))
    assert objective(path.coefs[:, 0]) - exact <= path.gaps[0] + 1e-10 * problem.square


def test_descent_that_is_fast_ends_at_rounding():
    X, y = table(1000, 420)
    (by_products, problem), penalty, ridge = problems(X, y), 20.0, 500.0
    path = sparse_path(problem, [penalty], ridge, tol=1e-8)
    assert path.gaps[0] <= 1e-13 * problem.square
    np.testing.assert_allclose(path.coefs[:, 0], at_one(by_products, penalty, ridge, tol=1e-12), atol=1e-10)


def test_correlated_columns_have_the_digits_of_their_rows():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((400, 60))
    for j in range(1, 60):
        X[:, j] = 0.95 * X[:, j - 1] + 0.3 * X[:, j]
    y = X @ rng.uniform(1.0, 2.0, 60) + rng.standard_normal(400)
    by_statistic, by_rows = (Lasso(0.01, precompute=given).fit(X, y) for given in ("auto", False))
    assert (by_statistic.solver_, by_rows.solver_) == ("statistic", "rows")
    np.testing.assert_allclose(by_statistic.coef_, by_rows.coef_, atol=1e-11)
