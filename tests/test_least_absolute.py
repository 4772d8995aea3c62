"""The least sum of absolute errors: at a corner, certified, and in as many iterations as are allowed."""

import warnings
from itertools import combinations

import numpy as np
import pytest

from least_absolute_errors import least_absolute_errors
from tractable import RobustRegression
from tractable.linear_model.robust.least_absolute import best_vertex


def tables():
    """Sets of rows with ties, repeated rows, dependent columns, unlike weights; one that EM is slow on."""
    rng = np.random.default_rng(38)
    X = rng.normal(size=(100, 3))
    yield "slow", X, 1.0 + X @ [1.0, 2.0, 3.0] + rng.normal(size=100), np.ones(100)
    for _ in range(4):
        n, d = int(rng.integers(15, 60)), int(rng.integers(1, 5))
        X, ones = rng.normal(size=(n, d)), np.ones(n)
        y = 1.0 + X.sum(axis=1) + rng.normal(size=n)
        again = rng.integers(0, n, size=2 * n)
        yield "weights", X, y, 10.0 ** rng.uniform(-3.0, 3.0, n)
        yield "repeated", X[again], y[again], np.ones(2 * n)
        yield "dependent", np.column_stack([X, 2.0 * X[:, 0], ones]), y, rng.integers(0, 3, n) + 0.0
        yield "ties", rng.integers(-2, 3, (n, d)) + 0.0, rng.integers(-3, 4, n) + 0.0, ones
        yield "two values", rng.integers(0, 2, (n, d)) + 0.0, rng.integers(0, 5, n) + 0.0, ones


@pytest.mark.spec("LIN-23")
def test_the_corner_is_the_linear_programmes_and_certified():
    for kind, X, y, w in tables():
        for fit_intercept in (True, False):
            _, cost = least_absolute_errors(X, y, w, fit_intercept=fit_intercept)
            model = RobustRegression(fit_intercept=fit_intercept).fit(X, y, sample_weight=w)
            assert model.converged_, kind
            assert model.n_iter_ < 60, kind
            np.testing.assert_allclose(w @ np.abs(y - model.predict(X)), cost, rtol=1e-9, err_msg=kind)


def test_a_corner_is_certified_only_where_it_is_the_best(rng):
    """Every corner of a small set, by its errors alone and by its certificate."""
    phi, y, w = rng.normal(size=(9, 2)), rng.normal(size=9), rng.uniform(0.5, 2.0, 9)
    costs, certified = [], []
    for pair in combinations(range(9), 2):
        beta = np.linalg.solve(phi[list(pair)], y[list(pair)])
        found = best_vertex(phi, y, w, y - phi @ beta, floor=1e-14, max_steps=0)
        costs.append(found.costs[0])
        certified.append(found.optimal)
        there = best_vertex(phi, y, w, y - phi @ beta, floor=1e-14, max_steps=20)
        assert there.optimal
        assert np.all(np.diff(there.costs) < 0.0)
    assert np.flatnonzero(certified).tolist() == [int(np.argmin(costs))]


@pytest.mark.parametrize("max_iter", range(1, 12))
def test_iterations_are_counted_and_kept(max_iter):
    _, X, y, _ = next(tables())
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        model = RobustRegression(max_iter=max_iter).fit(X, y)
    assert model.n_iter_ == len(model.objective_trace_) - 1 <= max_iter
    assert bool(said) is not model.converged_
