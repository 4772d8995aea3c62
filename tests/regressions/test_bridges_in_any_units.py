"""Bridges of large and small units were wrong in silence; `max_iter` was not obeyed, nor its end told."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from tractable import bridge_regression

POWERS = [1.0, 1.05, 1.5, 2.0, 3.0, 8.0]


@pytest.fixture
def rows(rng):
    X = rng.normal(size=(50, 4))
    return X, 1.0 + X @ [1.0, 2.0, 3.0, 0.0] + 0.5 * rng.normal(size=50)


UNITS = [(1.0, 1e100), (1.0, 1e-100), (1e-60, 1.0), (1e60, 1e-60), (1e20, 1e-40)]


def same_penalty(q, wide, tall):
    """With w in units of tall / wide, a penalty of alpha tall² (tall / wide)^-q is the same one: its log."""
    return np.log(0.3) + 2.0 * np.log(tall) - q * np.log(tall / wide)


CASES = [(q, *units) for q in POWERS for units in UNITS if abs(same_penalty(q, *units)) < 690.0]


@pytest.mark.parametrize(("q", "wide", "tall"), CASES)
def test_units_do_not_matter(rows, q, wide, tall):
    X, y = rows
    unit, alpha = tall / wide, np.exp(same_penalty(q, wide, tall))
    plain = bridge_regression(X, y, 0.3, q)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit = bridge_regression(wide * X, tall * y, alpha, q)
    assert fit.converged
    np.testing.assert_allclose(fit.coef / unit, plain.coef, rtol=1e-6, atol=1e-9)
    assert fit.intercept / tall == pytest.approx(plain.intercept)
    assert fit.objective / tall / tall == pytest.approx(plain.objective)


@pytest.mark.parametrize("q", [1.0, 1.05, 1.5, 1.9])
@pytest.mark.parametrize("tall", [1e50, 1e100, 1e148])
def test_large_targets_outweigh_a_penalty_that_grows_slower(rows, q, tall):
    X, y = rows
    plain = np.linalg.lstsq(X - X.mean(axis=0), y - y.mean())[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit = bridge_regression(X, tall * y, 1e-3, q)
    assert fit.converged
    slack = 1e-2 if q == 1.9 else 1e-3
    np.testing.assert_allclose(fit.coef / tall, plain, atol=slack)
    assert fit.objective > 0.0


@pytest.mark.parametrize("tall", [1e100, 1e148])
def test_large_targets_and_a_penalty_that_grows_faster(rows, tall):
    """The slope of the fit is that of the penalty, in logarithms."""
    X, y = rows
    q = 4.0
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fit = bridge_regression(X, tall * y, 1.0, q)
    assert fit.converged
    unit = np.abs(fit.coef).max()
    slope = (X - X.mean(axis=0)).T @ (y - y.mean() - (X - X.mean(axis=0)) @ (fit.coef / tall)) / 50
    power = q * np.sign(fit.coef) * (np.abs(fit.coef) / unit) ** (q - 1.0)
    np.testing.assert_allclose(slope / np.exp((q - 1.0) * np.log(unit) - np.log(tall)), power, rtol=1e-6)


@pytest.mark.parametrize("q", POWERS)
def test_steps_are_counted_and_too_few_are_told(rng, q):
    X = rng.normal(size=(30, 20)) + rng.normal(size=(30, 1))
    y = X[:, :10].sum(axis=1) + rng.normal(size=30)
    n_iters, told = [], []
    for max_iter in (1, 2, 3):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            fit = bridge_regression(X, y, 0.02, q, max_iter=max_iter)
        assert fit.n_iter <= max_iter
        assert [w.category for w in said] == ([] if fit.converged else [ConvergenceWarning])
        n_iters.append(fit.n_iter)
        told.append(fit.converged)
    if q not in (1.0, 2.0):
        assert n_iters[0] == 1
        assert not told[0]
