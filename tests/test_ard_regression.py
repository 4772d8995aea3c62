"""What automatic relevance determination promises beyond the laws of all estimators."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.linalg import null_space
from sklearn import linear_model
from sklearn.exceptions import ConvergenceWarning

from tractable import ARDRegression, BayesianRidge
from tractable.linear_model import NoiseVanishedWarning
from tractable.linear_model.bayes import ard as search

FLAT = {"alpha_1": 0.0, "alpha_2": 0.0, "lambda_1": 0.0, "lambda_2": 0.0}
STRONG = {"alpha_1": 2.0, "alpha_2": 0.5, "lambda_1": 1.0, "lambda_2": 0.3}


def as_if_known(model, X):
    """The predictive variance with the likeliest noise for the true one, as scikit-learn has it."""
    return model.noise_variance_ * model.predict_dist(X).scale ** 2 / model._plug_in_[0]


def made(rng, n, d, told=2):
    X = rng.standard_normal((n, d)) + 1.0
    return X, 1.0 + X[:, :told] @ np.linspace(2.0, 1.0, told) + 0.5 * rng.standard_normal(n)


@pytest.mark.parametrize("shape", [(80, 6), (40, 40), (15, 30)])
def test_scikit_learn_agrees(rng, shape):
    X, y = made(rng, *shape)
    # Where scikit-learn begins, stops and prunes is in units of standardised data.
    X, y = X / np.sqrt(np.mean(X**2, axis=0)), y / y.std()
    for threshold in (1e4, 50.0):
        # Fewer rows than columns end without noise, where scikit-learn loses digits; the way is compared.
        steps = 40 if shape[0] > shape[1] else 3
        options = {"fit_intercept": False, "threshold_lambda": threshold, "max_iter": steps}
        theirs = linear_model.ARDRegression(**options).fit(X, y)
        mine = quietly(ARDRegression(**options), X, y)
        kept = theirs.lambda_ < threshold
        np.testing.assert_array_equal(mine.pruned_, ~kept)
        for name in ("coef_", "alpha_", "lambda_", "sigma_", "n_iter_"):
            np.testing.assert_allclose(
                getattr(mine, name), getattr(theirs, name), rtol=1e-5, atol=1e-8, err_msg=name
            )
        mean, spread = theirs.predict(X, return_std=True)
        np.testing.assert_allclose(mine.predict(X), mean, rtol=1e-6)
        np.testing.assert_allclose(as_if_known(mine, X), spread**2, rtol=1e-5)


def test_a_free_intercept_is_scikit_learns_fit_of_contrasts(rng):
    """Integrated out it leaves N - 1 orthonormal contrasts of the rows, where scikit-learn counts N rows."""
    X, y = made(rng, 80, 6)
    X, y = X / X.std(axis=0), y / y.std()
    contrasts = null_space(np.ones((1, 80))).T
    options = {"threshold_lambda": 50.0, "max_iter": 2000, "tol": 1e-9}
    theirs = linear_model.ARDRegression(fit_intercept=False, **options).fit(contrasts @ X, contrasts @ y)
    mine = ARDRegression(**options).fit(X, y)
    kept = theirs.lambda_ < 50.0
    np.testing.assert_array_equal(mine.pruned_, ~kept)
    for name in ("coef_", "alpha_", "sigma_"):
        np.testing.assert_allclose(getattr(mine, name), getattr(theirs, name), rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(mine.lambda_[kept], theirs.lambda_[kept], rtol=1e-5)
    mean, spread = theirs.predict(X - X.mean(axis=0), return_std=True)
    np.testing.assert_allclose(mine.predict(X), y.mean() + mean, rtol=1e-6)
    np.testing.assert_allclose(as_if_known(mine, X), spread**2 + 1 / (80 * mine.alpha_), rtol=1e-5)


def quietly(model, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y)


@pytest.mark.parametrize("hyper", [{}, FLAT, STRONG])
@pytest.mark.parametrize("intercept", [True, False])
def test_units_do_not_matter(rng, intercept, hyper):
    X, y = made(rng, 200, 6)

    def fitted(X, y, **hyper):
        options = {"fit_intercept": intercept, "compute_score": True, "threshold_lambda": 200.0}
        return ARDRegression(**options, **hyper).fit(X, y)

    plain = fitted(X, y, **hyper)
    assert 0 < plain.pruned_.sum() < 5 or hyper == STRONG
    each = np.array([1e-3, 1e5, 1.0, 1e4, 1e-3, 10.0])
    for c in (1e-3, 1e5, 1e-70, 1e90):
        taller = fitted(X, c * y, **hyper)
        np.testing.assert_allclose(taller.predict(X), c * plain.predict(X), rtol=1e-6)
        np.testing.assert_allclose(taller.predict_var(X), c**2 * plain.predict_var(X), rtol=1e-6)
        assert taller.alpha_ * c**2 == pytest.approx(plain.alpha_, rel=1e-6)
        assert taller.log_evidence_ == pytest.approx(
            plain.log_evidence_ - (200 - intercept) * np.log(c), rel=1e-9
        )
        for units in (c, each):
            wider = fitted(units * X, y, **hyper)
            np.testing.assert_allclose(wider.predict(units * X), plain.predict(X), rtol=1e-6)
            np.testing.assert_array_equal(wider.pruned_, plain.pruned_)
            np.testing.assert_allclose(wider.lambda_ / units**2, plain.lambda_, rtol=1e-6)
            np.testing.assert_allclose(wider.scores_, plain.scores_, rtol=1e-9)


def test_columns_that_do_not_matter_are_pruned(rng):
    X, y = made(rng, 300, 12)
    names = [f"x{i}" for i in range(12)]
    model = ARDRegression(threshold_lambda=500.0).fit(pd.DataFrame(X, columns=names), y)
    assert not model.pruned_[:2].any()
    assert model.pruned_[2:].sum() >= 8
    assert np.all(model.coef_[model.pruned_] == 0.0)
    relative = model.lambda_ * y.var() / X.var(axis=0)
    assert np.all(relative[model.pruned_] >= 500.0)
    assert np.all(relative[~model.pruned_] < 500.0)
    posterior = model.posterior_
    assert posterior.names[:3] == ("intercept", "x0", "x1")
    assert posterior.dim == 1 + (~model.pruned_).sum()
    np.testing.assert_allclose(posterior.covariance[1:, 1:], model.sigma_, rtol=1e-9)
    plain = BayesianRidge().fit(X, y)
    assert model.gamma_ < plain.gamma_
    assert model.log_evidence_ > plain.log_evidence_


@pytest.mark.parametrize("shape", [(50, 5), (8, 20)])
def test_the_evidence_is_the_density_of_the_targets(rng, shape):
    X, y = made(rng, *shape)
    model = quietly(ARDRegression(fit_intercept=False, compute_score=True, max_iter=5, **FLAT), X, y)
    kept = ~model.pruned_
    covariance = np.eye(shape[0]) / model.alpha_ + (X[:, kept] / model.lambda_[kept]) @ X[:, kept].T
    expected = stats.multivariate_normal(np.zeros(shape[0]), covariance).logpdf(y)
    assert model.log_evidence_ == pytest.approx(expected, rel=1e-8)
    assert model.scores_[-1] == pytest.approx(expected, rel=1e-8)
    assert len(model.scores_) == model.n_iter_ + 1
    assert model.scores_[-1] > model.scores_[0]
    S = np.linalg.inv(model.alpha_ * X[:, kept].T @ X[:, kept] + np.diag(model.lambda_[kept]))
    np.testing.assert_allclose(model.sigma_, S, rtol=1e-6, atol=1e-10)
    assert model.gamma_ == pytest.approx(np.sum(1 - model.lambda_[kept] * np.diag(S)), rel=1e-7)


def test_a_fixed_point_is_a_peak_of_the_evidence(rng):
    X, y = made(rng, 60, 3, told=3)
    model = ARDRegression(fit_intercept=False, tol=1e-10, threshold_lambda=1e8, **FLAT).fit(X, y)

    def evidence(prior, noise):
        covariance = np.eye(60) / noise + (X / prior) @ X.T
        return stats.multivariate_normal(np.zeros(60), covariance).logpdf(y)

    best = evidence(model.lambda_, model.alpha_)
    for i in range(3):
        for factor in (0.8, 1.25):
            other = model.lambda_ * np.where(np.arange(3) == i, factor, 1.0)
            assert evidence(other, model.alpha_) < best
    assert max(evidence(model.lambda_, model.alpha_ * f) for f in (0.95, 1.05)) < best


def test_columns_that_nearly_follow_from_others_keep_their_digits(rng):
    """Where a Gram matrix would lose them, the QR of the rows is taken: as the same with exact arithmetic."""
    mpmath = pytest.importorskip("mpmath")
    x = rng.standard_normal(40)
    X = np.column_stack([x, x + 1e-7 * rng.standard_normal(40)])
    y = x + 1e-3 * rng.standard_normal(40)
    model = quietly(ARDRegression(fit_intercept=False, max_iter=1, **FLAT), X, y)
    with mpmath.workdps(60):
        A, b = mpmath.matrix(X.tolist()), mpmath.matrix(y.tolist())
        prior = mpmath.diag([mpmath.mpf(float(v)) for v in model.lambda_])
        noise = mpmath.mpf(float(model.alpha_))
        exact = mpmath.lu_solve(noise * A.T * A + prior, noise * A.T * b)
    np.testing.assert_allclose(model.coef_, [float(v) for v in exact], rtol=1e-6)


def test_everything_may_be_pruned(rng):
    X = rng.standard_normal((200, 3))
    y = 5.0 + rng.standard_normal(200)
    with pytest.warns(UserWarning, match="every column was pruned"):
        model = ARDRegression(threshold_lambda=1.5).fit(X, y)
    assert model.pruned_.all()
    np.testing.assert_allclose(model.predict(X), y.mean())
    assert model.sigma_.shape == (0, 0)
    assert model.posterior_.dim == 1
    np.testing.assert_allclose(as_if_known(model, X), (1 + 1 / 200) / model.alpha_, rtol=1e-10)
    with pytest.warns(UserWarning, match="every column was pruned"):
        bare = ARDRegression(threshold_lambda=1.5, fit_intercept=False).fit(X, y - y.mean())
    assert bare.pruned_.all()
    with pytest.raises(ValueError, match="pruned"):
        bare.posterior_  # noqa: B018


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("at", [0.0, 1.0, 0.1, 1e5 / 3.0])
def test_a_column_that_does_not_vary_is_pruned(rng, at, intercept):
    """It was kept, with the precision that the search began with, and made predictions unsure."""
    X, y = made(rng, 100, 4)
    still = np.column_stack([X[:, :2], np.full(100, at), X[:, 2:]])
    plain = ARDRegression(fit_intercept=intercept).fit(X, y)
    if not intercept and at:
        assert not ARDRegression(fit_intercept=False).fit(still, y).pruned_[2]  # it stands for the intercept
        return
    model = ARDRegression(fit_intercept=intercept, compute_score=True).fit(still, y)
    np.testing.assert_array_equal(np.delete(model.pruned_, 2), plain.pruned_)
    assert model.pruned_[2]
    assert (model.coef_[2], model.lambda_[2]) == (0.0, np.inf)
    assert model.log_evidence_ == pytest.approx(plain.log_evidence_)
    assert model.gamma_ == pytest.approx(plain.gamma_)
    far = still + 1e3 * (np.arange(5) == 2)
    for found, expected in zip(
        model.predict(far, return_std=True), plain.predict(X, return_std=True), strict=True
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-6)
    parts = (ARDRegression(fit_intercept=intercept).fit(still[i::2], y[i::2]) for i in (0, 1))
    merged = next(parts).merge(next(parts))
    np.testing.assert_array_equal(merged.pruned_, model.pruned_)


def test_a_column_may_begin_to_vary(rng):
    X, y = made(rng, 100, 2)
    first = np.column_stack([np.ones(100), X[:, 1]])
    model = ARDRegression().fit(first, y)
    assert model.pruned_[0]
    model.partial_fit(X, y)
    assert not model.pruned_[0]


def test_columns_that_do_not_vary_may_be_all_there_are(rng):
    y = 5.0 + rng.standard_normal(30)
    with pytest.warns(UserWarning, match="every column was pruned"):
        model = ARDRegression().fit(np.full((30, 2), 0.1), y)
    np.testing.assert_allclose(model.predict([[0.1, 7.0]]), y.mean())
    assert model.noise_variance_ == pytest.approx(y.var(), rel=0.1)


def test_exactly_linear_targets_are_said_to_be_so(rng):
    X = rng.standard_normal((30, 3))
    with pytest.warns(NoiseVanishedWarning, match="vanished"):
        model = ARDRegression(**FLAT).fit(X, 1.0 + X @ [1.0, 2.0, 3.0])
    assert model.noise_vanished_
    np.testing.assert_allclose(model.coef_, [1.0, 2.0, 3.0], rtol=1e-6)
    assert np.all(np.isfinite([model.alpha_, model.gamma_, model.log_evidence_, *model.lambda_]))


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"max_iter": 0}, "max_iter"),
        ({"tol": -1.0}, "tol"),
        ({"alpha_2": -1.0}, "alpha_2"),
        ({"threshold_lambda": 0.0}, "threshold_lambda"),
    ],
)
def test_bad_parameters_are_one_clear_error(rng, options, named):
    with pytest.raises(ValueError, match=named):
        ARDRegression(**options).fit(*made(rng, 20, 3))


def test_a_search_that_is_cut_short_says_so(rng):
    with pytest.warns(ConvergenceWarning, match="max_iter=2"):
        model = ARDRegression(max_iter=2, tol=1e-12).fit(*made(rng, 30, 4))
    assert not model.converged_


def test_columns_are_pruned_in_any_units(rng):
    X, y = made(rng, 100, 20, told=3)
    pruned = ARDRegression().fit(X, y).pruned_
    assert pruned.sum() >= 5
    for wide, tall in [(1e5, 1.0), (1e-5, 1.0), (1.0, 1e-4), (1e5, 1e-5), (1e60, 1e-60)]:
        np.testing.assert_array_equal(ARDRegression().fit(wide * X, tall * y).pruned_, pruned)


def test_an_interruption_keeps_the_best_so_far(rng, monkeypatch):
    calls, posterior = iter(range(100)), search._posterior

    def interrupted(*args):
        if next(calls) == 5:
            raise KeyboardInterrupt
        return posterior(*args)

    X, y = made(rng, 40, 6)
    monkeypatch.setattr(search, "_posterior", interrupted)
    model = ARDRegression(tol=1e-9)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert (model.n_iter_, model.converged_) == (4, False)
    monkeypatch.undo()
    with pytest.warns(ConvergenceWarning):
        cut = ARDRegression(tol=1e-9, max_iter=4).fit(X, y)
    np.testing.assert_array_equal(model.coef_, cut.coef_)
