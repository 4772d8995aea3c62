"""The lasso at one penalty by its active set, against the optimality conditions and coordinate descent."""

import numpy as np
import pytest
from sklearn import linear_model

from tractable import Lasso
from tractable.engines.sparse import active_set as engine
from tractable.engines.sparse.active_set import active_set, crowded, descent
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
        given = problem, n * alpha, n * alpha * ridge
        found = active_set(*given, 1e-10 * problem.square, positive=positive)
        assert found is not None
        coefs, gap, n_steps = found
        np.testing.assert_allclose(coefs, peer.coef_, atol=1e-5)
        assert gap <= 1e-10 * problem.square
        assert n_steps >= 1
        near = active_set(*given, 1e-10 * problem.square, positive=positive, start=coefs)
        np.testing.assert_allclose(near[0], coefs, atol=1e-12)
        assert near[2] == 1


@pytest.mark.parametrize("positive", [False, True])
def test_where_most_columns_are_in_use_the_signs_of_least_squares_are_the_first_guess(positive):
    rng = np.random.default_rng(1)
    X = rng.standard_normal((400, 90))
    truth = rng.uniform(1.0, 2.0, 90) * np.where(np.arange(90) % 3 == 0, -1.0, 1.0)
    problem, columns = problems(X, X @ truth + rng.standard_normal(400))
    given = 4.0, 0.0, 1e-10 * problem.square
    coefs, gap, n_steps = active_set(problem, *given, positive=positive)
    expected, _, one_by_one = active_set(columns, *given, positive=positive)
    np.testing.assert_allclose(coefs, expected, atol=1e-10)
    assert gap <= 1e-10 * problem.square
    assert (coefs >= 0.0).all() if positive else (np.sign(coefs) == np.sign(truth)).all()
    assert n_steps <= (one_by_one if positive else 3)


@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize(("n", "p", "alpha"), [(30, 250, 0.02), (20, 300, 0.1), (50, 1500, 0.02)])
def test_systems_of_rows_have_the_optimality_conditions(n, p, alpha, positive):
    X, y = table(n, p)
    X, y = X - X.mean(axis=0), y - y.mean()
    problem = ColumnProblem(X=X, y=y)
    penalty, ridge = n * alpha, n * alpha
    coefs, gap, _ = active_set(problem, penalty, ridge, 1e-10 * problem.square, positive=positive)
    assert gap <= 1e-10 * problem.square
    used = coefs != 0.0
    assert positive or np.count_nonzero(used) > n
    slope = X.T @ (y - X @ coefs) - ridge * coefs
    np.testing.assert_allclose(slope[used], penalty * np.sign(coefs[used]), atol=1e-9 * n)
    assert ((slope if positive else np.abs(slope)) <= penalty + 1e-4 * n).all()


def test_dependent_columns_and_too_few_steps_are_left_to_the_path():
    X, y = table(60, 10)
    twice = np.column_stack([X, X[:, 0]])
    for problem in problems(twice, y):
        assert active_set(problem, 6.0, 0.0, 1e-8 * problem.square) is None
        path = sparse_path(problem, [6.0], tol=1e-10)
        assert path.gaps[0] <= 1e-10 * problem.square
    for problem in problems(X, y):
        assert active_set(problem, 0.5, 0.0, 1e-8 * problem.square, max_iter=0) is None


def test_a_large_penalty_leaves_no_column():
    X, y = table(60, 10)
    for problem in problems(X, y):
        coefs, gap, _ = active_set(problem, 1e6, 0.0, 1e-8 * problem.square)
        assert not coefs.any()
        assert abs(gap) <= 1e-14 * problem.square  # of sums that large


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
    np.testing.assert_allclose(problem.keep(some, np.array([0, 2])), plain.X[:, [5, 80]], atol=1e-13)
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
@pytest.mark.parametrize(("alpha", "many"), [(2.5, False), (0.1, True)])
def test_descent_where_many_columns_are_above_the_penalty_has_the_minimum_of_the_active_set(alpha, many, tol):
    X, y = table(200, 180)
    problem, penalty = ColumnProblem(X=X, y=y), len(y) * alpha
    assert crowded(problem, penalty, False) is many
    exact = active_set(problem, penalty, 0.0, 1e-12 * problem.square)
    path = sparse_path(problem, [penalty], tol=tol)

    def objective(w):
        return 0.5 * np.sum((y - X @ w) ** 2) + penalty * np.abs(w).sum()

    assert path.gaps[0] <= tol * problem.square
    assert objective(path.coefs[:, 0]) - objective(exact[0]) <= path.gaps[0] + 1e-10 * problem.square


def test_descent_that_is_fast_ends_at_rounding():
    X, y = table(1000, 420)
    problem, penalty, ridge = ColumnProblem(X=X, y=y), 20.0, 500.0
    assert crowded(problem, penalty, False)
    path = sparse_path(problem, [penalty], ridge, tol=1e-8)
    assert path.gaps[0] <= 1e-13 * problem.square
    exact = active_set(problem, penalty, ridge, 1e-12 * problem.square)
    np.testing.assert_allclose(path.coefs[:, 0], exact[0], atol=1e-10)


@pytest.mark.parametrize("positive", [False, True])
@pytest.mark.parametrize(("n", "p", "share", "ridge"), [(2000, 320, 0.01, 0.0), (320, 320, 0.01, 60.0)])
def test_conjugate_gradients_where_descent_is_slow_have_the_optimality_conditions(
    n, p, share, ridge, positive, monkeypatch
):
    turns = []
    plain = engine._conjugate_gradients
    monkeypatch.setattr(
        engine, "_conjugate_gradients", lambda *given: turns.append(plain(*given)) or turns[-1]
    )
    X, _ = table(n, p)
    y = X @ np.random.default_rng(1).uniform(1.0, 2.0, p)
    problem = ColumnProblem(X=np.asfortranarray(X), y=y)
    penalty = share * np.abs(problem.moment).max()
    coefs, gap, _ = descent(problem, penalty, ridge, 1e-10 * problem.square, positive=positive)
    assert any(solved for _, solved in turns)
    assert gap <= 1e-13 * problem.square
    slope = X.T @ (y - X @ coefs) - ridge * coefs
    used = coefs != 0.0
    np.testing.assert_allclose(slope[used], penalty * np.sign(coefs[used]), rtol=1e-6)
    assert ((slope if positive else np.abs(slope)) <= penalty * (1.0 + 1e-6)).all()


def test_correlated_columns_have_the_digits_of_their_rows():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((400, 60))
    for j in range(1, 60):
        X[:, j] = 0.95 * X[:, j - 1] + 0.3 * X[:, j]
    y = X @ rng.uniform(1.0, 2.0, 60) + rng.standard_normal(400)
    by_statistic, by_rows = (Lasso(0.01, precompute=given).fit(X, y) for given in ("auto", False))
    assert (by_statistic.solver_, by_rows.solver_) == ("statistic", "rows")
    np.testing.assert_allclose(by_statistic.coef_, by_rows.coef_, atol=1e-11)
