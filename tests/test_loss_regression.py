"""Regression by any loss: the minimum, whatever loss, weights and source; and what is refused."""

import array_api_strict
import numpy as np
import pytest
from scipy.optimize import minimize

import tractable
from tractable.arrays.namespace import to_numpy
from tractable.engines.glm import (
    Gamma,
    Huber,
    Logistic,
    Loss,
    LossExpansion,
    LossTerms,
    NegativeBinomial,
    Poisson,
    Probit,
    Quantile,
    Softmax,
    Student,
    Tukey,
    loss_regression,
)


class LogCosh(Loss):
    """log cosh(y - η): a loss of one's own, with a value, a slope and a curvature."""

    def terms(self, eta, y):
        r, slope = np.abs(eta - y), np.tanh(eta - y)
        value = r + np.log1p(np.exp(-2.0 * r)) - np.log(2.0)
        return LossTerms(value=value, slope=slope, curvature=1.0 - slope**2)


class SlopeAlone(Loss):
    """The squared error without its curvature."""

    def terms(self, eta, y):
        return LossTerms(value=0.5 * (eta - y) ** 2, slope=eta - y)


def problem(rng, loss, n=300):
    X = rng.standard_normal((n, 3)) * [1.0, 10.0, 0.1] + [0.0, 5.0, -1.0]
    eta = 0.3 * (X - X.mean(axis=0)) @ [1.0, -0.1, 5.0]
    draw = {
        Logistic: lambda: (eta > rng.logistic(size=n)).astype(int),
        Probit: lambda: (eta > rng.standard_normal(n)).astype(int),
        Poisson: lambda: rng.poisson(np.exp(eta)).astype(float),
        NegativeBinomial: lambda: rng.poisson(np.exp(eta) * rng.gamma(2.0, 0.5, n)).astype(float),
        Gamma: lambda: np.exp(eta) * rng.gamma(2.0, 0.5, n),
    }
    return X, draw.get(type(loss), lambda: eta + 0.2 * rng.standard_t(3.0, n))()


CASES = [
    Logistic(),
    Probit(),
    Poisson(),
    NegativeBinomial(dispersion=0.5),
    Gamma(),
    Huber(),
    Student(dof=3.0),
]


@pytest.mark.parametrize("alpha", [0.0, 0.3])
@pytest.mark.parametrize(
    "loss", [*CASES, Tukey(), LogCosh(), SlopeAlone()], ids=lambda loss: type(loss).__name__
)
def test_no_coefficients_cost_less(loss, alpha, rng):
    X, y = problem(rng, loss)
    w = rng.integers(0, 4, len(y)).astype(float)
    found = loss_regression(loss, X, y, sample_weight=w, alpha=alpha)

    def cost(b):
        values = loss.terms(b[0] + X @ b[1:], y).value
        return np.average(values, weights=w) + 0.5 * alpha * np.sum(b[1:] ** 2)

    here = np.append(found.intercept, found.coef)
    assert found.converged
    assert found.objective == pytest.approx(cost(here), rel=1e-9)
    least = minimize(
        cost, here, method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-13, "maxiter": 4000}
    )
    assert found.objective <= least.fun + 1e-9
    np.testing.assert_allclose(found.predict(X), here[0] + X @ here[1:])


@pytest.mark.parametrize("loss", [Huber(), Poisson()], ids=lambda loss: type(loss).__name__)
def test_weights_and_batches_are_rows(loss, rng):
    X, y = problem(rng, loss, 80)
    w = rng.integers(0, 3, 80)
    whole = loss_regression(loss, np.repeat(X, w, axis=0), np.repeat(y, w))
    weighted = loss_regression(loss, X, y, sample_weight=w.astype(float))
    batches = [(X[part], y[part], w[part].astype(float)) for part in np.array_split(np.arange(80), 3)]
    for found in (weighted, loss_regression(loss, batches)):
        np.testing.assert_allclose(found.coef, whole.coef, rtol=1e-6)
        np.testing.assert_allclose(found.intercept, whole.intercept, rtol=1e-6)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("loss", CASES, ids=lambda loss: type(loss).__name__)
def test_arrays_of_another_library_have_the_same_expansion(loss, weighted, rng):
    X, y = problem(rng, loss, 30)
    w = rng.uniform(size=30) if weighted else None
    ours = LossExpansion.of(X, y, w, loss=loss, coef=np.full((1, 3), 0.1))
    rows, targets, coef = (array_api_strict.asarray(part) for part in (X, y, np.full((1, 3), 0.1)))
    counted = None if w is None else array_api_strict.asarray(w)
    theirs = LossExpansion.of(rows, targets, counted, loss=loss, coef=coef)
    for name in ("value", "gradient", "curvature"):
        np.testing.assert_allclose(
            to_numpy(getattr(theirs, name)), getattr(ours, name), rtol=1e-10, err_msg=name
        )


def test_many_rows_begin_with_a_sample(rng):
    X, y = problem(rng, LogCosh(), 4000)
    few = loss_regression(LogCosh(), X, y, sample_weight=np.full(4000, 3.0))
    many = loss_regression(LogCosh(), np.tile(X, (3, 1)), np.tile(y, 3))
    np.testing.assert_allclose(many.coef, few.coef, rtol=1e-5)
    assert many.n_iter <= few.n_iter


def test_estimators_find_the_same(rng):
    X, y = problem(rng, Logistic())
    ours, theirs = (
        loss_regression(Logistic(), X, y, alpha=1.0 / 300.0),
        tractable.LogisticRegression().fit(X, y),
    )
    np.testing.assert_allclose(ours.coef, theirs.coef_[0], rtol=1e-7)
    X, y = problem(rng, Poisson())
    e = rng.uniform(0.5, 2.0, 300)
    ours = loss_regression(Poisson(), X, np.column_stack([y, e]))
    theirs = tractable.PoissonRegression().fit(X, y, exposure=e)
    np.testing.assert_allclose(ours.coef, theirs.coef_, rtol=1e-7)
    y = np.digitize(X[:, 0] + rng.standard_normal(300), [-0.5, 0.5])
    ours = loss_regression(Softmax.of(3, overparametrised=True), X, y, alpha=1.0 / 300.0)
    theirs = tractable.LogisticRegression().fit(X, y)
    np.testing.assert_allclose(ours.coef, theirs.coef_, rtol=1e-4, atol=1e-5)
    assert ours.predict(X).shape == (300, 3)


def test_without_an_intercept(rng):
    X, y = problem(rng, Huber())
    found = loss_regression(Huber(), X, y, fit_intercept=False)
    assert found.intercept == 0.0
    slope = Huber().terms(X @ found.coef, y).slope
    np.testing.assert_allclose(slope @ X / np.sum(np.abs(X), axis=0), 0.0, atol=1e-5)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"loss": Quantile()}, "loss must have a slope everywhere"),
        ({"alpha": -1.0}, "alpha must be"),
        ({"y": None}, "y must be given"),
        ({"X": np.array([[1.0], [np.nan]])}, "X contains NaN"),
        ({"y": np.array([1.0, np.inf])}, "y contains NaN or infinity"),
        ({"sample_weight": np.zeros(2)}, "sample_weight must have a positive entry"),
    ],
)
def test_what_is_refused(arguments, message):
    given = {"loss": Huber(), "X": np.ones((2, 1)), "y": np.zeros(2), **arguments}
    with pytest.raises(ValueError, match=message):
        loss_regression(given.pop("loss"), given.pop("X"), given.pop("y"), **given)
