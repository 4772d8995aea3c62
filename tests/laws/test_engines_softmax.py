"""Softmax regression: optimal, as scikit-learn's, the same however rows are cut, and downhill all the way."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from tractable.arrays.namespace import to_numpy
from tractable.engines import fold
from tractable.engines.glm.losses import LossExpansion, Softmax
from tractable.engines.glm.softmax_regression import softmax_regression


def problem(rng, n=200, d=3, k=3):
    X = rng.standard_normal((n, d)) + 1.0
    logits = X @ rng.standard_normal((d, k))
    classes = np.argmax(logits + rng.gumbel(size=(n, k)), axis=1)
    return X, classes, np.eye(k)[classes]


def soft(rng, n=200, k=3):
    return rng.dirichlet(np.full(k, 0.5), n)


def fitted(X, targets, weights=None, **options):
    return softmax_regression(
        lambda of: fold(of, X, targets, weights=weights), targets.shape[1], X.shape[1], **options
    )


@pytest.mark.spec("MIX-08")
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(("k", "penalty"), [(2, 0.3), (3, 1.0), (5, 20.0)])
def test_hard_targets_are_scikit_learns_logistic_regression(k, penalty, fit_intercept, rng):
    X, classes, targets = problem(rng, k=k)
    w = rng.uniform(0.5, 3.0, len(X))
    ours = fitted(X, targets, w, penalty=penalty, fit_intercept=fit_intercept)
    # Two classes are one logit for scikit-learn, which has half of the squares to pay for.
    price = penalty if k > 2 else 0.5 * penalty
    theirs = LogisticRegression(
        C=1.0 / price, tol=1e-13, max_iter=10_000, solver="newton-cholesky", fit_intercept=fit_intercept
    ).fit(X, classes, sample_weight=w)
    np.testing.assert_allclose(np.exp(ours.log_prob(X)), theirs.predict_proba(X), rtol=1e-8, atol=1e-12)
    if k > 2:
        np.testing.assert_allclose(ours.coef, theirs.coef_, rtol=1e-8, atol=1e-10)
        intercept = theirs.intercept_ - np.mean(theirs.intercept_)
        np.testing.assert_allclose(ours.intercept, intercept, rtol=1e-8, atol=1e-10)
    assert ours.converged


@pytest.mark.parametrize("penalty", [0.0, 0.1, np.array([0.0, 2.0, 0.5])])
def test_the_gradient_is_zero_at_the_end(penalty, rng):
    X, targets = problem(rng)[0], soft(rng)
    w = rng.uniform(0.5, 3.0, len(X))
    fit = fitted(X, targets, w, penalty=penalty)
    error = w[:, None] * (np.exp(fit.log_prob(X)) - targets)
    np.testing.assert_allclose(error.T @ X + penalty * fit.coef, 0.0, atol=1e-8)
    np.testing.assert_allclose(error.sum(axis=0), 0.0, atol=1e-8)
    np.testing.assert_allclose([*fit.coef.sum(axis=0), fit.intercept.sum()], 0.0, atol=1e-12)


def test_expansions_are_derivatives(rng):
    """Against central differences, whose error is of the order of the step squared."""
    X, targets, w = problem(rng, n=40)[0], soft(rng, 40), rng.uniform(0.5, 3.0, 40)
    coef, step, each = rng.standard_normal((3, 3)), 1e-5, Softmax.of(3, overparametrised=True)

    def at(v):
        return LossExpansion.of(X, targets, w, loss=each, coef=v)

    here = at(coef)
    for k in range(3):
        for j in range(3):
            unit = np.zeros((3, 3))
            unit[k, j] = step
            up, down = at(coef + unit), at(coef - unit)
            np.testing.assert_allclose((up.value - down.value) / (2 * step), here.gradient[k, j], atol=1e-7)
            slope = (up.gradient - down.gradient) / (2 * step)
            np.testing.assert_allclose(slope, here.curvature[3 * k + j].reshape(3, 3), atol=1e-7)


def test_rows_may_be_cut_anyhow(rng):
    X, targets, w = problem(rng)[0], soft(rng), rng.uniform(0.5, 3.0, 200)
    coef, each = rng.standard_normal((3, 3)), Softmax.of(3, overparametrised=True)
    whole = LossExpansion.of(X, targets, w, loss=each, coef=coef)
    parts = np.array_split(np.arange(200), [0, 3, 50, 51])
    pieces = [LossExpansion.of(X[i], targets[i], w[i], loss=each, coef=coef) for i in parts]
    total = sum(pieces[1:], pieces[0])
    np.testing.assert_allclose(total.value, whole.value)
    np.testing.assert_allclose(total.gradient, whole.gradient, atol=1e-11)
    np.testing.assert_allclose(total.curvature, whole.curvature, atol=1e-11)


def test_weights_are_repetitions(rng):
    X, targets, times = problem(rng)[0], soft(rng), rng.integers(0, 4, 200)
    weighted = fitted(X, targets, times.astype(float), penalty=0.1)
    repeated = fitted(np.repeat(X, times, axis=0), np.repeat(targets, times, axis=0), penalty=0.1)
    np.testing.assert_allclose(weighted.coef, repeated.coef, rtol=1e-9)


def test_soft_targets_are_weighted_rows_of_every_class(rng):
    X, targets = problem(rng)[0], soft(rng)
    shared = fitted(X, targets, penalty=0.1)
    labelled = fitted(np.repeat(X, 3, axis=0), np.tile(np.eye(3), (200, 1)), targets.ravel(), penalty=0.1)
    np.testing.assert_allclose(shared.coef, labelled.coef, rtol=1e-9)


@pytest.mark.spec("E000-56")
def test_a_search_cut_short_is_no_worse_than_its_start(rng):
    """As an M-step, one step of it makes a generalised EM."""
    X, _, targets = problem(rng)
    start = 30.0 * rng.standard_normal((3, 4))
    start -= start.mean(axis=0)
    losses = [fitted(X, targets, start=start, max_iter=n).loss for n in range(6)]
    assert np.all(np.diff(losses) < 0)


def test_classes_that_never_mix():
    """Without a penalty the coefficients grow until they explain all; with one they are finite."""
    X, targets = np.arange(6.0)[:, None], np.eye(2)[[0, 0, 0, 1, 1, 1]]
    assert fitted(X, targets, max_iter=30).loss < 1e-6
    assert np.abs(fitted(X, targets, penalty=0.1).coef).max() < 3.0


def test_one_class_is_certain(rng):
    fit = fitted(problem(rng)[0], np.ones((200, 1)), penalty=0.1)
    assert fit.coef.tolist() == [[0.0, 0.0, 0.0]]
    assert fit.loss == 0.0


@pytest.mark.parametrize("scale", [1e-100, 1e100])
def test_units_of_columns_make_no_difference(scale, rng):
    X, _, targets = problem(rng)
    plain, scaled = fitted(X, targets), fitted(X * scale, targets)
    np.testing.assert_allclose(scaled.coef * scale, plain.coef, rtol=1e-8)


def test_stays_in_the_library_of_its_start(backend, rng):
    X, targets = problem(rng)[0], soft(rng)
    rows, shares, start = (backend.asarray(part) for part in (X, targets, np.zeros((3, 4))))
    fit = softmax_regression(lambda of: fold(of, rows, shares), 3, 3, penalty=0.1, start=start)
    assert backend.owns(fit.coef)
    assert backend.owns(fit.log_prob(rows))
    np.testing.assert_allclose(to_numpy(fit.coef), fitted(X, targets, penalty=0.1).coef, rtol=1e-9)
