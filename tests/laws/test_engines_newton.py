"""Damped Newton: downhill at every step, at rest where the gradient vanishes, whatever the units."""

import numpy as np
import pytest

from tractable.arrays.linalg import cholesky, solve_cholesky
from tractable.arrays.log_space import log1p_exp, sigmoid
from tractable.arrays.namespace import to_numpy
from tractable.engines.newton import newton


def logistic(X, t, ridge=0.0):
    """Negative log-likelihood of logistic regression, Bishop (4.90), (4.96) and (4.97)."""

    def objective(w):
        a = X @ w
        y = sigmoid(a)
        value = np.sum(log1p_exp(a) - t * a) + 0.5 * ridge * w @ w
        hessian = (X.T * (y * (1.0 - y))) @ X + ridge * np.eye(len(w))
        return value, X.T @ (y - t) + ridge * w, hessian

    return objective


def rosenbrock(x):
    a, b = x[0], x[1]
    value = 100.0 * (b - a * a) ** 2 + (1.0 - a) ** 2
    gradient = np.array([-400.0 * a * (b - a * a) - 2.0 * (1.0 - a), 200.0 * (b - a * a)])
    hessian = np.array([[1200.0 * a * a - 400.0 * b + 2.0, -400.0 * a], [-400.0 * a, 200.0]])
    return value, gradient, hessian


def quartic(x):
    return np.sum(x**4), 4.0 * x**3, np.diag(12.0 * x**2)


def double_well(x):
    return np.sum((x**2 - 1.0) ** 2), 4.0 * x * (x**2 - 1.0), np.diag(12.0 * x**2 - 4.0)


def steep(x):
    """Pure Newton diverges on √(1 + x²) from |x| > 1."""
    root = np.sqrt(1.0 + x**2)
    return np.sum(root), x / root, np.diag(1.0 / root**3)


@pytest.fixture
def table(rng):
    X = np.column_stack([np.ones(200), rng.standard_normal((200, 3))])
    return X, (rng.random(200) < sigmoid(X @ np.array([0.3, 1.0, -2.0, 0.0]))).astype(float)


PROBLEMS = {
    "rosenbrock": (rosenbrock, np.array([-1.2, 1.0])),
    "quartic": (quartic, np.array([1.0, -3.0])),
    "double well from its hill": (double_well, np.array([0.1, -0.2])),
    "steep from afar": (steep, np.array([50.0, -3.0])),
}


@pytest.mark.spec("MATH-10")
@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)
def test_descends_to_a_point_of_rest(problem):
    objective, start = problem
    result = newton(objective, start, tol=1e-14, vanishing=objective is quartic)
    assert result.converged
    assert np.all(np.diff(result.trace) <= 0.0)
    assert len(result.trace) == result.n_iter + 1
    assert result.value == result.trace[-1]
    assert result.gradient_norm <= 1e-8 * max(1.0, np.linalg.norm(objective(start)[1]))


@pytest.mark.spec("MATH-10")
def test_a_quadratic_takes_one_step(rng):
    root = rng.standard_normal((5, 5))
    A, b = root @ root.T + np.eye(5), rng.standard_normal(5)
    result = newton(lambda x: (0.5 * x @ A @ x - b @ x, A @ x - b, A), rng.standard_normal(5), max_iter=1)
    np.testing.assert_allclose(result.x, np.linalg.solve(A, b), rtol=1e-10)
    assert result.n_iter == 1


def test_logistic_regression_is_solved_to_the_last_digits(table):
    X, t = table
    result = newton(logistic(X, t), np.zeros(4), tol=1e-14)
    assert result.converged
    assert result.n_iter < 12
    assert result.gradient_norm < 1e-11


def test_one_more_step_changes_nothing(table):
    X, t = table
    first = newton(logistic(X, t), np.zeros(4))
    again = newton(logistic(X, t), first.x)
    np.testing.assert_allclose(again.x, first.x, rtol=1e-10)


@pytest.mark.parametrize("unit", [1e-100, 1e100])
def test_units_of_x_and_f_do_not_matter(table, unit):
    X, t = table
    plain = newton(logistic(X, t), np.zeros(4))
    scales = np.array([1.0, unit, 1.0, 1.0 / unit])
    moved = newton(logistic(X * scales, t), np.zeros(4))
    np.testing.assert_allclose(moved.x * scales, plain.x, rtol=1e-9)

    def scaled(x):
        value, gradient, hessian = logistic(X, t)(x)
        return unit * value, unit * gradient, unit * hessian

    np.testing.assert_allclose(newton(scaled, np.zeros(4)).x, plain.x, rtol=1e-9)


def test_collinear_columns_leave_a_flat_direction(table):
    X, t = table
    doubled = np.column_stack([X, X[:, 1]])
    result = newton(logistic(doubled, t), np.zeros(5))
    assert result.converged
    plain = newton(logistic(X, t), np.zeros(4))
    np.testing.assert_allclose(doubled @ result.x, X @ plain.x, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("far", [1e3, 1e8])
def test_a_start_of_enormous_value_does_not_hide_the_rest(far):
    """From x⁶ of 1e18 or 1e48, to a minimum of size one."""
    tilt = np.array([1.0, -2.0])

    def objective(x):
        return np.sum(x**6) - tilt @ x, 6.0 * x**5 - tilt, np.diag(30.0 * x**4)

    result = newton(objective, np.full(2, far), tol=1e-14, max_iter=200)
    assert result.converged
    np.testing.assert_allclose(result.x, np.sign(tilt) * (np.abs(tilt) / 6.0) ** 0.2, rtol=1e-9)


def test_a_loss_that_vanishes_may_be_left_at_a_share_of_its_start():
    X, t = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([0.0, 0.0, 1.0, 1.0])
    result = newton(logistic(X, t), np.zeros(1), tol=1e-6, vanishing=True)
    assert result.converged
    assert 0.0 < result.value < 1e-5 * result.trace[0]
    assert not newton(logistic(X, t), np.zeros(1), tol=1e-6, max_iter=30).converged


def test_separable_classes_stop_at_max_iter_and_say_so():
    X = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    result = newton(logistic(X, np.array([0.0, 0.0, 1.0, 1.0])), np.zeros(1), tol=0.0, max_iter=5)
    assert not result.converged
    assert result.n_iter == 5


def test_a_solver_may_stand_for_the_hessian(table):
    X, t = table
    objective = logistic(X, t, ridge=1.0)

    def structured(w):
        value, gradient, hessian = objective(w)
        lower = cholesky(hessian)
        return value, gradient, lambda g: solve_cholesky(lower, g[:, None])[:, 0]

    result = newton(structured, np.zeros(4))
    np.testing.assert_allclose(result.x, newton(objective, np.zeros(4)).x, rtol=1e-12)
    assert callable(result.curvature)


def test_a_cheap_value_spares_the_hessian():
    calls = {"value": 0, "objective": 0}

    def objective(x):
        calls["objective"] += 1
        return rosenbrock(x)

    def value(x):
        calls["value"] += 1
        return rosenbrock(x)[0]

    result = newton(objective, np.array([-1.2, 1.0]), value=value)
    np.testing.assert_allclose(result.x, [1.0, 1.0], rtol=1e-8)
    assert calls["objective"] == result.n_iter + 1 < calls["value"]


def test_an_uphill_solver_is_not_followed():
    result = newton(lambda x: (x @ x, 2.0 * x, lambda g: -g), np.array([3.0, 4.0]), max_iter=200)
    assert result.value < 1e-12


def test_matrices_of_parameters_keep_their_shape(rng):
    target = rng.standard_normal((3, 2))
    result = newton(
        lambda W: (np.sum((W - target) ** 2), 2.0 * (W - target), 2.0 * np.eye(6)), np.zeros((3, 2))
    )
    np.testing.assert_allclose(result.x, target)


def test_stays_in_the_library_of_its_start(backend):
    centre = backend.asarray(np.array([1.0, -2.0]))
    hessian = backend.asarray(np.array([[4.0, 1.0], [1.0, 3.0]]))
    start = backend.asarray(np.array([5.0, 5.0]))
    keep = to_numpy(start).copy()
    result = newton(
        lambda x: (0.5 * (x - centre) @ (hessian @ (x - centre)), hessian @ (x - centre), hessian), start
    )
    assert backend.owns(result.x)
    np.testing.assert_allclose(to_numpy(result.x), [1.0, -2.0], rtol=1e-12)
    np.testing.assert_array_equal(to_numpy(start), keep)


def test_an_indefinite_hessian_works_in_every_library(backend):
    hessian = backend.asarray(np.diag([2.0, -1e-3]))
    tilt = backend.asarray(np.array([1.0, 1.0]))
    result = newton(lambda x: (tilt @ x, tilt, hessian), backend.asarray(np.zeros(2)), max_iter=3)
    assert backend.owns(result.x)
    assert np.all(np.diff(result.trace) < 0.0)


@pytest.mark.parametrize("start", [np.array([np.nan]), np.array([np.inf])])
def test_a_start_that_is_not_finite_is_refused(start):
    with pytest.raises(ValueError, match="start must be finite"), np.errstate(invalid="ignore"):
        newton(quartic, start)


def test_a_value_that_is_not_finite_is_refused():
    with pytest.raises(ValueError, match="start must be finite"):
        newton(lambda x: (np.inf, x, np.eye(1)), np.zeros(1))


@pytest.mark.parametrize("tol", [-1.0, np.nan])
def test_a_negative_tolerance_is_refused(tol):
    with pytest.raises(ValueError, match="tol must not be negative"):
        newton(quartic, np.ones(1), tol=tol)


def test_no_steps_report_the_start():
    result = newton(quartic, np.ones(1), max_iter=0)
    assert result.n_iter == 0
    assert not result.converged
    assert newton(quartic, np.zeros(1)).converged


def test_a_last_step_without_an_evaluation_squares_the_error(table):
    objective, calls = logistic(*table), []

    def counted(x):
        calls.append(x)
        return objective(x)

    exact = newton(objective, np.zeros(4), tol=1e-20).x
    plain = newton(counted, np.zeros(4), tol=1e-6)
    n = len(calls)
    for final_tol, spared in ((0.0, 0), (1e-6, 1)):
        calls.clear()
        found = newton(counted, np.zeros(4), tol=1e-6, final_tol=final_tol)
        assert len(calls) == n - spared
        assert found.converged
        assert len(found.trace) == found.n_iter + 1
        before, after = (np.max(np.abs(x - exact)) for x in (calls[-1], found.x))
        assert before > 1e-8
        assert after < 1e-2 * before
        np.testing.assert_array_equal(found.gradient, objective(calls[-1])[1])
    np.testing.assert_allclose(found.x, plain.x, rtol=1e-3)


def test_the_search_goes_on_until_gradients_are_settled(table):
    objective, asked = logistic(*table), []

    def settled(x, gradient):
        asked.append(gradient)
        return len(asked) == 3

    first = newton(objective, np.zeros(4), tol=1e-2)
    found = newton(objective, np.zeros(4), tol=1e-2, settled=settled)
    assert found.converged
    assert len(asked) == 3
    assert found.n_iter == first.n_iter + 2
    np.testing.assert_array_equal(asked[-1], found.gradient)


def test_an_interrupted_search_keeps_the_best_point(table):
    objective, calls = logistic(*table), []

    def interrupted(x):
        calls.append(x)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return objective(x)

    found = newton(interrupted, np.zeros(4), interruptible=True)
    assert found.interrupted
    assert not found.converged
    assert found.n_iter == 2
    assert found.value == objective(found.x)[0] == found.trace[-1]
    calls.clear()
    with pytest.raises(KeyboardInterrupt):
        newton(interrupted, np.zeros(4))
