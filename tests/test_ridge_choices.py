"""RidgeCV by scorers, by folds and by targets: scikit-learn's choices, scores and stored errors."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn import linear_model
from sklearn.base import clone
from sklearn.model_selection import ShuffleSplit

import tractable

ALPHAS = [0.1, 1.0, 10.0, 100.0, 1000.0]


def table(rng, n, d):
    X = rng.normal(size=(n, d)) + 1.0
    return X, X @ rng.normal(size=(d, 3)) + rng.normal(size=(n, 3)) * [1.0, 4.0, 20.0]


@pytest.mark.parametrize("shape", [(60, 5), (12, 30)], ids=str)
@pytest.mark.parametrize("several", [True, False])
@pytest.mark.parametrize(
    "options",
    [
        {"scoring": "neg_mean_absolute_error"},
        {"scoring": "r2", "store_cv_results": True},
        {"store_cv_results": True},
        {"store_cv_results": True, "fit_intercept": False},
        {"cv": 4},
        {"cv": ShuffleSplit(3, random_state=0), "scoring": "neg_mean_squared_error"},
        {"alpha_per_target": True},
    ],
    ids="-".join,
)
def test_choices_are_scikit_learns(rng, shape, several, options):
    X, Y = table(rng, *shape)
    y = Y if several else Y[:, 0]
    ours, theirs = (library.RidgeCV(ALPHAS, **options).fit(X, y) for library in (tractable, linear_model))
    np.testing.assert_array_equal(ours.alpha_, theirs.alpha_)
    for name in (
        "best_score_",
        "coef_",
        "intercept_",
        *(["cv_results_"] if "store_cv_results" in options else []),
    ):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-7, atol=1e-10)
    assert (np.ndim(ours.alpha_) == 1) == ("alpha_per_target" in options and several)
    assert np.all(-ours.best_score_ >= ours.cv_curve_.scores.min()) or np.ndim(ours.alpha_) == 1


def test_each_target_has_the_penalty_of_its_own_model(rng):
    X, Y = table(rng, 50, 6)
    for scoring in (None, "neg_mean_absolute_error"):
        joint = tractable.RidgeCV(ALPHAS, alpha_per_target=True, scoring=scoring).fit(X, Y)
        assert len(set(joint.alpha_)) > 1
        for t in range(3):
            alone = tractable.RidgeCV(ALPHAS, scoring=scoring).fit(X, Y[:, t])
            assert joint.alpha_[t] == alone.alpha_
            for name in ("best_score_", "coef_", "intercept_", "noise_variance_", "effective_dof_"):
                np.testing.assert_allclose(getattr(joint, name)[t], getattr(alone, name), rtol=1e-9)
    with pytest.raises(ValueError, match="each target has a penalty, and a hat matrix, of its own"):
        joint.predict_interval(X)
    np.testing.assert_allclose(joint.predict(X), X @ joint.coef_.T + joint.intercept_)


@pytest.mark.parametrize("shape", [(40, 4), (9, 20)], ids=str)
def test_stored_errors_are_those_of_models_without_the_row(rng, shape):
    X, Y = table(rng, *shape)
    w = rng.integers(0, 2, shape[0])
    model = tractable.RidgeCV(ALPHAS, store_cv_results=True).fit(X, Y, sample_weight=w)
    assert model.cv_results_.shape == (*Y.shape, len(ALPHAS))
    for i in (0, 3, 7):
        for k, alpha in enumerate(ALPHAS):
            without = tractable.Ridge(alpha).fit(
                np.delete(X, i, 0), np.delete(Y, i, 0), sample_weight=np.delete(w, i)
            )
            error = Y[i] - without.predict(X[i : i + 1])[0]
            np.testing.assert_allclose(model.cv_results_[i, :, k], error**2, rtol=1e-7)
    np.testing.assert_allclose(
        np.average(model.cv_results_.mean(axis=1), axis=0, weights=w), model.cv_curve_.scores
    )


def test_frames_files_and_weights_are_read(rng):
    import pandas as pd

    X, Y = table(rng, 40, 3)
    w = rng.uniform(0.2, 1.0, 40)
    frame = pd.DataFrame(X, columns=list("abc")).assign(y=Y[:, 0], w=w)
    for options in ({"cv": 3}, {"scoring": "r2"}):
        ours = tractable.RidgeCV(ALPHAS, **options).fit(frame, "y", sample_weight="w")
        theirs = linear_model.RidgeCV(ALPHAS, **options).fit(X, Y[:, 0], sample_weight=w)
        np.testing.assert_allclose(ours.best_score_, theirs.best_score_, rtol=1e-9)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9)
        batches = tractable.RidgeCV(ALPHAS, **options).fit(
            [(X[:9], Y[:9, 0], w[:9]), (X[9:], Y[9:, 0], w[9:])]
        )
        np.testing.assert_allclose(batches.coef_, ours.coef_, rtol=1e-9)


@pytest.mark.parametrize("options", [{}, {"fit_intercept": False}, {"penalize_intercept": True}], ids=str)
def test_folds_of_sparse_rows_are_those_of_dense_rows(rng, options):
    X, Y = table(rng, 40, 6)
    X[rng.random(X.shape) < 0.7] = 0.0
    w = rng.integers(0, 3, 40)
    for scoring in (None, "neg_mean_absolute_error"):
        model = tractable.RidgeCV(ALPHAS, cv=4, scoring=scoring, **options)
        dense, sparse = (clone(model).fit(x, Y, sample_weight=w) for x in (X, csr_array(X)))
        np.testing.assert_allclose(sparse.cv_curve_.scores, dense.cv_curve_.scores, rtol=1e-9)
        np.testing.assert_allclose(sparse.coef_, dense.coef_, rtol=1e-9)
        np.testing.assert_allclose(sparse.predict(csr_array(X)), dense.predict(X), rtol=1e-9)
    with pytest.raises(ValueError, match="RidgeCV takes dense rows"):
        tractable.RidgeCV(ALPHAS, scoring="r2").fit(csr_array(X), Y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scoring": "no score"}, "scoring must be a scorer of scikit-learn or its name"),
        ({"scoring": 3}, "scoring must be a scorer of scikit-learn or its name"),
        ({"cv": "no folds"}, "cv must be folds of X and y"),
        ({"cv": 3, "store_cv_results": True}, "store_cv_results=True is not taken with cv"),
        ({"cv": 3, "alpha_per_target": True}, "alpha_per_target=True is not taken with cv"),
        ({"method": "gcv", "scoring": "r2"}, 'scoring must not be given with method="gcv"'),
    ],
)
def test_what_contradicts_itself_is_refused(rng, options, message):
    X, Y = table(rng, 20, 3)
    with pytest.raises(ValueError, match=message):
        tractable.RidgeCV(ALPHAS, **options).fit(X, Y)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "options", [{}, {"fit_intercept": False}, {"penalize_intercept": True}, {"method": "gcv"}]
)
@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (np.nan, "X contains NaN; RidgeCV takes"),
        (np.inf, "X contains infinity"),
        (-1e200, "squares overflow"),
    ],
)
def test_entries_of_few_long_rows_that_have_no_squares_are_refused(rng, options, entry, message):
    X, y = rng.standard_normal((8, 600)), rng.standard_normal(8)
    for place in ((3, 5), (7, 599)):
        wrong = X.copy()
        wrong[place] = entry
        for weights in (None, np.ones(8)):
            with pytest.raises(ValueError, match=message):
                tractable.RidgeCV(**options).fit(wrong, y, sample_weight=weights)
