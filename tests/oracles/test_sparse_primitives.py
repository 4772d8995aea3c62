"""The compiled loops of sparse fits against the obvious ones."""

import numpy as np
import pytest

from optimality import awkward
from tractable import ElasticNet, Lasso
from tractable.primitives import sparse
from tractable.primitives.sparse import agnostic as obvious
from tractable.primitives.sparse import append_row, column_descent, remove_row, solve_lasso, solve_rows


def gram_of(X, y):
    return np.ascontiguousarray(X.T @ X), X.T @ y, float(y @ y)


@pytest.mark.parametrize("ridge", [0.0, 0.7])
@pytest.mark.parametrize("positive", [False, True])
def test_newton_on_the_support_equals_coordinate_descent(rng, ridge, positive):
    for _ in range(20):
        X = rng.standard_normal((30, 8)) + rng.standard_normal((30, 1))
        gram, moment, square = gram_of(X, X @ rng.standard_normal(8) + rng.standard_normal(30))
        penalty = float(np.abs(moment).max() * 10 ** rng.uniform(-2, 0))
        options = {"ridge": ridge, "tol": 1e-13 * square, "positive": positive}
        w, _, gap = sparse.solve_lasso(gram, moment, square, penalty, **options)
        expected, _, _ = obvious.solve_lasso(
            gram, moment, square, penalty, ridge, 1e-13 * square, positive, 20_000, np.zeros(8)
        )
        np.testing.assert_allclose(w, expected, atol=1e-5 * np.abs(expected).max())
        q = moment - gram @ w
        np.testing.assert_allclose(
            gap,
            obvious.duality_gap(moment, square, penalty, ridge, positive, w, q),
            atol=1e-12 * square,
        )


def test_awkward_columns_settle_from_nothing(rng):
    for _ in range(150):
        X, y = awkward(rng)
        gram, moment, square = gram_of(X, y)
        if not np.abs(moment).max() > 0:
            continue
        penalty = float(np.abs(moment).max() * 10 ** rng.uniform(-4, 0))
        w, n_iter, _ = sparse.solve_lasso(gram, moment, square, penalty, tol=1e-10 * square)
        assert n_iter < 1000
        gap = obvious.duality_gap(moment, square, penalty, 0.0, False, w, X.T @ (y - X @ w))
        assert gap <= 2e-10 * square


def test_a_state_is_taken_up_where_it_was_left(rng):
    X = rng.standard_normal((40, 10))
    gram, moment, square = gram_of(X, X @ rng.standard_normal(10))
    state = sparse.SignedSupport(10, 10)
    state.restart(gram, moment, np.zeros(10))
    for penalty in np.abs(moment).max() * np.array([0.5, 0.1, 0.01]):
        w, _, _ = sparse.solve_lasso(gram, moment, square, penalty, tol=1e-12 * square, state=state)
        fresh, _, _ = sparse.solve_lasso(gram, moment, square, penalty, tol=1e-12 * square)
        np.testing.assert_allclose(w, fresh, atol=1e-10)
    state.restart(gram, moment, w)
    assert state.k == np.count_nonzero(w)


def test_too_few_steps_are_told(rng):
    X = rng.standard_normal((40, 10))
    gram, moment, square = gram_of(X, X @ rng.standard_normal(10))
    _, n_iter, gap = sparse.solve_lasso(gram, moment, square, 1e-3, tol=1e-12 * square, max_iter=1)
    assert n_iter == 1
    assert gap > 1e-12 * square


@pytest.mark.parametrize("k", [0, 1, 3, 4, 9])
def test_sums_of_chosen_rows(rng, k):
    matrix, which = rng.standard_normal((12, 7)), rng.permutation(12)[:k]
    weights = rng.standard_normal(k)
    for order in (matrix, np.asfortranarray(matrix), matrix[:, ::-1].copy()[:, ::-1]):
        order.setflags(write=False)
        np.testing.assert_allclose(
            sparse.weighted_rows(order, which, weights),
            obvious.weighted_rows(matrix, which, weights),
            atol=1e-13,
        )


def test_the_first_line_to_meet(rng):
    for positive in (False, True):
        for _ in range(100):
            heights, slopes = rng.uniform(-1, 1, 9), rng.uniform(-2, 2, 9)
            asked = heights, slopes, rng.random(9) < 0.7, 1.0, positive
            found, expected = sparse.first_to_enter(*asked), obvious.first_to_enter(*asked)
            assert found[1] == pytest.approx(expected[1])
            assert found[0] == expected[0] or not np.isfinite(found[1])


def test_the_first_line_to_meet_in_every_library(rng, backend):
    heights, slopes = rng.uniform(-1, 1, 9), rng.uniform(-2, 2, 9)
    free = np.ones(9, dtype=bool)
    found = sparse.first_to_enter(*map(backend.asarray, (heights, slopes, free)), 1.0, positive=False)
    assert found == pytest.approx(sparse.first_to_enter(heights, slopes, free, 1.0, positive=False))


def test_columns_come_and_go(rng):
    X = rng.standard_normal((20, 9))
    gram, factor, here = X.T @ X, np.zeros((9, 9)), []
    for step in range(40):
        if here and (rng.random() < 0.4 or len(here) == 9):
            at = int(rng.integers(len(here)))
            remove_row(factor, len(here), at)
            here.pop(at)
        else:
            j = int(rng.choice([c for c in range(9) if c not in here]))
            assert append_row(factor, len(here), gram[j, here], gram[j, j]), step
            here.append(j)
        k = len(here)
        lower = np.tril(factor[:k, :k])
        np.testing.assert_allclose(lower @ lower.T, gram[np.ix_(here, here)], atol=1e-10)
        b = rng.standard_normal(k)
        np.testing.assert_allclose(gram[np.ix_(here, here)] @ solve_rows(factor, b, k), b, atol=1e-9)


@pytest.mark.parametrize("ridge", [0.0, 0.5])
def test_a_factor_at_once_is_that_of_row_after_row(rng, ridge):
    X = rng.standard_normal((20, 9))
    X[:, 8] = X[:, 0] - X[:, 1]
    gram, which, factor = X.T @ X, np.array([6, 0, 1, 3]), np.zeros((5, 5))
    for k, j in enumerate(which):
        assert append_row(factor, k, gram[j, which[:k]], gram[j, j] + ridge)
    np.testing.assert_allclose(
        np.tril(obvious.whole_factor(gram, which, ridge)), np.tril(factor)[:4, :4], atol=1e-13
    )
    assert (obvious.whole_factor(gram, np.array([0, 1, 8]), ridge) is None) is (ridge == 0.0)
    assert obvious.whole_factor(gram, which[:0], ridge).shape == (0, 0)


def test_a_dependent_column_is_refused(rng):
    X = rng.standard_normal((20, 3))
    X = np.column_stack([X, X @ [1.0, -2.0, 0.5]])
    gram, factor = X.T @ X, np.zeros((4, 4))
    assert all(append_row(factor, j, gram[j, :j], gram[j, j]) for j in range(3))
    assert not append_row(factor, 3, gram[3, :3], gram[3, 3])


def descended(X, squares, penalty, ridge, *, tol, **options):
    """Return the gap once it is at most `tol`: descent that is slow ends before, and is taken up again."""
    gap = np.inf
    while gap > tol:
        gap, n_iter = column_descent(X, squares, penalty, ridge, tol=tol, **options)
        assert n_iter > 0
    return gap


@pytest.mark.parametrize("shape", [(30, 5), (30, 8), (300, 202), (200, 300)])  # two interpreted, two compiled
@pytest.mark.parametrize(("ridge", "positive"), [(0.0, False), (3.0, True)])
@pytest.mark.parametrize("share", [0.3, 0.01])  # of few columns in use, and of most
def test_descent_over_columns_ends_at_the_minimum(shape, ridge, positive, share):
    rng = np.random.default_rng(4)
    X = np.asfortranarray(rng.standard_normal(shape))
    X[:, 1] = 0.0  # which stays zero
    y = X[:, :3].sum(axis=1) + rng.standard_normal(shape[0])
    w, residual, penalty = np.zeros(shape[1]), y.copy(), share * np.abs(X.T @ y).max()
    options = {"positive": positive, "tol": 1e-13 * float(y @ y), "w": w, "residual": residual}
    gap = descended(X, np.sum(X**2, axis=0), penalty, ridge, **options)
    gram = {"ridge": ridge, "positive": positive, "tol": 1e-14 * float(y @ y)}
    exact = solve_lasso(X.T @ X, X.T @ y, float(y @ y), penalty, **gram)[0]
    np.testing.assert_allclose(w, exact, atol=1e-6)
    np.testing.assert_allclose(residual, y - X @ w, atol=1e-10)
    expected = obvious.duality_gap(X.T @ y, y @ y, penalty, ridge, positive, w, X.T @ residual)
    np.testing.assert_allclose(gap, expected, atol=1e-12 * float(y @ y))


@pytest.mark.parametrize("positive", [False, True])
def test_both_gaps_of_a_rough_solution_bound_the_objective(positive):
    rng = np.random.default_rng(6)
    X = np.asfortranarray(rng.standard_normal((120, 90)))
    y = X @ rng.standard_normal(90) + rng.standard_normal(120)
    penalty, ridge, squares = 0.01 * np.abs(X.T @ y).max(), 5.0, np.sum(X**2, axis=0)

    def objective(w):
        return 0.5 * np.sum((y - X @ w) ** 2) + penalty * np.abs(w).sum() + 0.5 * ridge * np.sum(w**2)

    exact = np.zeros(90)
    options = {"positive": positive, "w": exact, "residual": y.copy()}
    descended(X, squares, penalty, ridge, tol=1e-13 * float(y @ y), **options)
    for tol in (1e-2, 1e-4, 1e-6):
        for rough in (False, True):
            w = np.zeros(90)
            options = {"positive": positive, "w": w, "residual": y.copy(), "rough": rough}
            gap = descended(X, squares, penalty, ridge, tol=tol * float(y @ y), **options)
            assert -1e-12 * float(y @ y) <= objective(w) - objective(exact) <= gap <= tol * float(y @ y)


@pytest.mark.parametrize("kind", [Lasso, ElasticNet])
def test_rough_fits_of_many_columns_keep_their_tolerance(kind):
    rng = np.random.default_rng(5)
    X = rng.standard_normal((250, 400))
    y = X[:, :20].sum(axis=1) + rng.standard_normal(250)
    rough, exact = (kind(0.05, tol=tol).fit(X, y) for tol in (1e-3, 1e-10))
    assert rough.converged_
    assert exact.converged_
    assert 1e-10 * np.var(y) < rough.dual_gap_ <= 1e-3 * np.var(y)
    np.testing.assert_allclose(rough.predict(X), exact.predict(X), atol=0.1 * np.std(y))
